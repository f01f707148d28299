//! Keeps the code rows of the last frame, so that a megabyte of text is wrapped once and not in every frame.
//!
//! The sources of the rows are stored with them and compared in full, not by hash: a person signs for what is
//! shown, so the rows of a different text must never be used, not even after a deliberate hash collision.

use std::collections::HashMap;
use std::sync::Arc;

use egui::cache::CacheTrait;
use egui::{AsIdSalt, Id, Ui};

use super::code::CodeRow;

struct Kept {
    sources: Vec<Arc<str>>,
    columns: usize,
    rows: Arc<Vec<CodeRow>>,
    used_in: u32,
}

/// Rows by the place where they are shown; dropped after a frame that does not use them.
#[derive(Default)]
struct RowCache {
    frame: u32,
    kept: HashMap<Id, Kept>,
}

impl RowCache {
    fn get(
        &mut self,
        place: Id,
        sources: &[impl AsRef<str>],
        columns: usize,
    ) -> Option<Arc<Vec<CodeRow>>> {
        let kept = self.kept.get_mut(&place)?;
        let same = kept.sources.len() == sources.len()
            && kept
                .sources
                .iter()
                .zip(sources)
                .all(|(kept, source)| is_same(kept, source.as_ref()));
        if kept.columns != columns || !same {
            return None;
        }
        kept.used_in = self.frame;
        Some(Arc::clone(&kept.rows))
    }
}

/// Whether two texts are equal. The pointer comparison avoids reading a shared text, which cannot change.
fn is_same(kept: &str, source: &str) -> bool {
    std::ptr::eq(kept, source) || kept == source
}

impl CacheTrait for RowCache {
    fn update(&mut self) {
        let frame = self.frame;
        self.kept.retain(|_, kept| kept.used_in == frame);
        self.frame = self.frame.wrapping_add(1);
    }

    fn len(&self) -> usize {
        self.kept.len()
    }
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
    let known =
        ui.memory_mut(|memory| memory.caches.cache::<RowCache>().get(place, sources, columns));
    if let Some(rows) = known {
        return rows;
    }
    let rows = Arc::new(make());
    let sources = sources.iter().cloned().map(Into::into).collect();
    ui.memory_mut(|memory| {
        let cache = memory.caches.cache::<RowCache>();
        let kept = Kept { sources, columns, rows: Arc::clone(&rows), used_in: cache.frame };
        cache.kept.insert(place, kept);
    });
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
