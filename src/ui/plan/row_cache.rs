//! Caches code rows from frame to frame, so that a megabyte of text is wrapped once and not in every frame.
//!
//! The sources of the rows are stored with them and compared in full, not by hash: a person signs for what is shown, so
//! the rows of a different text must never be used, not even after a deliberate hash collision.

use std::collections::HashMap;
use std::sync::Arc;

use egui::cache::CacheTrait;
use egui::{AsIdSalt, Id, Ui};

use super::CodeRow;

/// Values by id; dropped after a frame that does not use them.
pub(super) struct FrameCache<T> {
    frame: u32,
    /// The values, each with the frame that used it last.
    values: HashMap<Id, (u32, T)>,
}

impl<T> Default for FrameCache<T> {
    fn default() -> Self {
        Self { frame: 0, values: HashMap::new() }
    }
}

impl<T> FrameCache<T> {
    pub(super) fn remove(&mut self, id: Id) -> Option<T> {
        self.values.remove(&id).map(|(_, value)| value)
    }

    /// Stores a value until the end of the next frame.
    pub(super) fn insert(&mut self, id: Id, value: T) {
        self.values.insert(id, (self.frame, value));
    }
}

impl<T: Send + Sync + 'static> CacheTrait for FrameCache<T> {
    fn update(&mut self) {
        let frame = self.frame;
        self.values.retain(|_, (used_in, _)| *used_in == frame);
        self.frame = self.frame.wrapping_add(1);
    }

    fn len(&self) -> usize {
        self.values.len()
    }
}

/// Cached rows with everything that determines them.
struct CachedRows {
    sources: Vec<Arc<str>>,
    columns: usize,
    rows: Arc<Vec<CodeRow>>,
}

impl CachedRows {
    fn is_for(&self, sources: &[impl AsRef<str>], columns: usize) -> bool {
        let mut pairs = self.sources.iter().zip(sources);
        self.columns == columns
            && self.sources.len() == sources.len()
            && pairs.all(|(cached, source)| is_same(cached, source.as_ref()))
    }
}

/// Whether two texts are equal. The pointer comparison avoids reading a shared text, which cannot change.
fn is_same(cached: &str, source: &str) -> bool {
    std::ptr::eq(cached, source) || cached == source
}

/// Returns the rows that `make` creates from these sources for this number of columns. They are created again only when
/// a source or the number changes. `id_salt` distinguishes several uses in the same part of the window. Pass long
/// constant texts as `Arc<str>`, so that no frame compares them byte by byte.
pub fn cached_rows<S: AsRef<str> + Clone + Into<Arc<str>>>(
    ui: &Ui,
    id_salt: impl AsIdSalt,
    sources: &[S],
    columns: usize,
    make: impl FnOnce() -> Vec<CodeRow>,
) -> Arc<Vec<CodeRow>> {
    let id = ui.scope_id().with(id_salt);
    let known = ui.memory_mut(|memory| {
        let cache = memory.caches.cache::<FrameCache<CachedRows>>();
        let cached = cache.remove(id).filter(|cached| cached.is_for(sources, columns))?;
        let rows = Arc::clone(&cached.rows);
        cache.insert(id, cached);
        Some(rows)
    });
    if let Some(rows) = known {
        return rows;
    }
    let rows = Arc::new(make());
    let sources = sources.iter().cloned().map(Into::into).collect();
    let cached = CachedRows { sources, columns, rows: Arc::clone(&rows) };
    ui.memory_mut(|memory| memory.caches.cache::<FrameCache<CachedRows>>().insert(id, cached));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_rebuilt_for_another_text_or_width() {
        let ctx = egui::Context::default();
        let mut made = Vec::new();
        let mut frame = |text: &str, columns, used: bool| {
            let mut rows = Arc::default();
            let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
                if used {
                    rows = cached_rows(ui, "text", &[text], columns, || {
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
