//! Rows of code that were laid out in the last frame, so that a megabyte is wrapped once and not
//! in every frame.
//!
//! What the rows were made from is kept beside them and compared in full: a person signs for what
//! is shown here, so the rows of another text must never stand in, not even by a chosen collision
//! of hashes.

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

/// Rows by the place where they are shown; forgotten when a frame goes by without them.
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

/// Whether two texts are equal; a shared one is not read again for that, and cannot have changed.
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

/// The rows that `make` makes of these sources in so many columns; made again only when one of them
/// is different from the last frame. `place` tells apart what is shown in the same part of the window.
/// A long text that stays the same is best shared, as `Arc<str>`: then no frame reads it.
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
        // A frame without them, and they are gone.
        frame("egret", 40, false);
        frame("egret", 40, true);
        let texts = [("heron", 80), ("egret", 80), ("egret", 40), ("egret", 40)];
        assert_eq!(made, texts.map(|(text, columns)| (text.to_owned(), columns)));
    }
}
