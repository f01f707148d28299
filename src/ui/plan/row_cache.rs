//! Keeps the code rows of the last frame, so that a megabyte of text is wrapped once and not in every frame.
//!
//! The sources of the rows are stored with them and compared in full, not by hash: a person signs for what is
//! shown, so the rows of a different text must never be used, not even after a deliberate hash collision.

use std::collections::HashMap;
use std::sync::Arc;

use egui::cache::CacheTrait;
use egui::{AsIdSalt, Id, Ui};

use super::code::CodeRow;

/// Values by the place where they are shown; dropped after a frame that does not use them.
pub(super) struct ByPlace<T> {
    frame: u32,
    kept: HashMap<Id, (u32, T)>,
}

impl<T> Default for ByPlace<T> {
    fn default() -> Self {
        Self { frame: 0, kept: HashMap::new() }
    }
}

impl<T> ByPlace<T> {
    pub(super) fn take(&mut self, place: Id) -> Option<T> {
        self.kept.remove(&place).map(|(_, value)| value)
    }

    /// Keeps a value until the end of the next frame.
    pub(super) fn keep(&mut self, place: Id, value: T) {
        self.kept.insert(place, (self.frame, value));
    }
}

impl<T: Send + Sync + 'static> CacheTrait for ByPlace<T> {
    fn update(&mut self) {
        let frame = self.frame;
        self.kept.retain(|_, (used_in, _)| *used_in == frame);
        self.frame = self.frame.wrapping_add(1);
    }

    fn len(&self) -> usize {
        self.kept.len()
    }
}

struct Kept {
    sources: Vec<Arc<str>>,
    columns: usize,
    rows: Arc<Vec<CodeRow>>,
}

impl Kept {
    fn is_of(&self, sources: &[impl AsRef<str>], columns: usize) -> bool {
        let mut pairs = self.sources.iter().zip(sources);
        self.columns == columns
            && self.sources.len() == sources.len()
            && pairs.all(|(kept, source)| is_same(kept, source.as_ref()))
    }
}

/// Whether two texts are equal. The pointer comparison avoids reading a shared text, which cannot change.
fn is_same(kept: &str, source: &str) -> bool {
    std::ptr::eq(kept, source) || kept == source
}

/// Returns the rows that `make` creates from these sources for this number of columns. They are created again
/// only when a source or the width changes. `place` distinguishes several uses in the same part of the
/// window. Pass long constant texts as `Arc<str>`, so that no frame compares them byte by byte.
pub fn kept_rows<S: AsRef<str> + Clone + Into<Arc<str>>>(
    ui: &Ui,
    place: impl AsIdSalt,
    sources: &[S],
    columns: usize,
    make: impl FnOnce() -> Vec<CodeRow>,
) -> Arc<Vec<CodeRow>> {
    let place = ui.scope_id().with(place);
    let known = ui.memory_mut(|memory| {
        let cache = memory.caches.cache::<ByPlace<Kept>>();
        let kept = cache.take(place).filter(|kept| kept.is_of(sources, columns))?;
        let rows = Arc::clone(&kept.rows);
        cache.keep(place, kept);
        Some(rows)
    });
    if let Some(rows) = known {
        return rows;
    }
    let rows = Arc::new(make());
    let sources = sources.iter().cloned().map(Into::into).collect();
    let kept = Kept { sources, columns, rows: Arc::clone(&rows) };
    ui.memory_mut(|memory| memory.caches.cache::<ByPlace<Kept>>().keep(place, kept));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_made_once_and_again_when_text_or_width_differ() {
        let ctx = egui::Context::default();
        let mut made = Vec::new();
        let mut frame = |text: &str, columns, used: bool| {
            let mut rows = Arc::default();
            let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
                if used {
                    rows = kept_rows(ui, "place", &[text], columns, || {
                        made.push((text.to_owned(), columns));
                        crate::ui::plan::text_rows(text, columns)
                    });
                }
            });
            output.textures_delta.clear();
            rows.iter().map(|row| row.text.clone()).collect::<String>()
        };
        for text in ["heron", "heron", "egret", "egret"] {
            assert_eq!(frame(text, 80, true), text);
        }
        frame("egret", 40, true);
        // After one frame without them the rows are dropped.
        frame("egret", 40, false);
        frame("egret", 40, true);
        let texts = [("heron", 80), ("egret", 80), ("egret", 40), ("egret", 40)];
        assert_eq!(made, texts.map(|(text, columns)| (text.to_owned(), columns)));
    }
}
