//! Lays out the rows of a long diff over several frames, so that a diff of a hundred thousand lines delays no
//! frame. A diff within the limits of one frame is complete in its first frame.

use std::sync::Arc;

use egui::{AsIdSalt, Ui};

use super::diff_layout::{LaidOutRow, Layout, PART_BYTES};
use super::row_cache::FrameCache;
use crate::run::DiffLine;

/// The maximum number of lines laid out in one frame; this takes some milliseconds.
const LINES_PER_FRAME: usize = 10_000;
/// About this many bytes of text are wrapped in one frame, which takes as long as laying out [`LINES_PER_FRAME`] lines.
const BYTES_PER_FRAME: usize = 4 * PART_BYTES;

/// The key of a layout. Diffs with equal keys have equal rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LayoutKey {
    /// The path of the file, and its states before and after, which have the digests of its contents.
    pub(super) sources: [String; 3],
    pub(super) columns: usize,
    pub(super) side_by_side: bool,
}

/// The rows laid out so far.
pub(super) struct Rows {
    pub(super) layout: Arc<Layout>,
    pub(super) rows: Arc<Vec<LaidOutRow>>,
    /// The number of lines that are not laid out yet, as an estimate of the missing rows.
    pub(super) remaining_lines: usize,
}

/// The progress of a layout, stored between frames.
struct Progress {
    key: LayoutKey,
    layout: Arc<Layout>,
    rows: Arc<Vec<LaidOutRow>>,
    /// The index of the next line.
    next: usize,
    /// The number of bytes of the line at `next` that are laid out.
    from: usize,
}

/// The rows of these lines that are laid out so far; requests another frame until all are. `id_salt`
/// distinguishes several uses in the same part of the window.
pub(super) fn incremental_rows(
    ui: &Ui,
    id_salt: impl AsIdSalt,
    key: LayoutKey,
    lines: &[DiffLine],
) -> Rows {
    let id = ui.scope_id().with(id_salt);
    let rows = ui.memory_mut(|memory| {
        let cache = memory.caches.cache::<FrameCache<Progress>>();
        let mut progress = match cache.remove(id) {
            Some(progress) if progress.key == key => progress,
            _ => Progress {
                layout: Arc::new(Layout::new(&key, lines)),
                key,
                rows: Arc::default(),
                next: 0,
                from: 0,
            },
        };
        let end = lines.len().min(progress.next + LINES_PER_FRAME);
        let mut remaining_bytes = BYTES_PER_FRAME;
        // This is the only reference, because the frame that used the rows last has dropped its own.
        if let Some(rows) = Arc::get_mut(&mut progress.rows) {
            while progress.next < end && remaining_bytes > 0 {
                // A line that fits into one row needs no wrapping.
                let bytes = lines.get(progress.next).map_or(0, |line| line.text.len());
                if bytes > progress.key.columns {
                    let part = PART_BYTES.min(bytes.saturating_sub(progress.from));
                    remaining_bytes = remaining_bytes.saturating_sub(part);
                }
                match progress.layout.push(lines, progress.next, progress.from, rows) {
                    Some(from) => progress.from = from,
                    None => (progress.next, progress.from) = (progress.next + 1, 0),
                }
            }
        }
        let rows = Rows {
            layout: Arc::clone(&progress.layout),
            rows: Arc::clone(&progress.rows),
            remaining_lines: lines.len() - progress.next,
        };
        cache.insert(id, progress);
        rows
    });
    if rows.remaining_lines > 0 {
        ui.ctx().request_repaint();
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::LineKind;

    // Another diff in the same part of the window starts from its first line.
    #[test]
    fn long_diff_grows_frame_by_frame() {
        let lines: Vec<_> = (1..=2 * LINES_PER_FRAME + 10)
            .map(|number| DiffLine {
                kind: LineKind::Added,
                before: None,
                after: Some(number),
                text: format!("line {number}"),
                missing_newline: false,
            })
            .collect();
        let ctx = egui::Context::default();
        let frame = |after: &str, count: usize| {
            let mut shown = (0, 0);
            let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
                let sources = ["a.txt".to_owned(), "absent".to_owned(), after.to_owned()];
                let key = LayoutKey { sources, columns: 80, side_by_side: false };
                let rows = incremental_rows(ui, "diff", key, &lines[..count]);
                shown = (rows.rows.len(), rows.remaining_lines);
            });
            output.textures_delta.clear();
            shown
        };
        let all = lines.len();
        assert_eq!(frame("x", 10), (10, 0), "a short one is complete at once");
        assert_eq!(frame("y", all), (LINES_PER_FRAME, LINES_PER_FRAME + 10));
        assert_eq!(frame("y", all), (2 * LINES_PER_FRAME, 10));
        assert_eq!(frame("y", all), (all, 0));
        assert_eq!(frame("y", all), (all, 0));
        assert_eq!(frame("z", all), (LINES_PER_FRAME, LINES_PER_FRAME + 10));
    }

    #[test]
    fn ten_megabyte_line_grows_frame_by_frame() {
        let text = "0123456789".repeat(1 << 20);
        let line = DiffLine {
            kind: LineKind::Added,
            before: None,
            after: Some(1),
            text,
            missing_newline: false,
        };
        let lines = [line];
        let ctx = egui::Context::default();
        let mut frames = Vec::new();
        for _ in 0..100 {
            let mut shown = (0, 0);
            let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
                let sources = ["a.txt", "absent", "x"].map(str::to_owned);
                let key = LayoutKey { sources, columns: 80, side_by_side: false };
                let rows = incremental_rows(ui, "diff", key, &lines);
                shown = (rows.rows.len(), rows.remaining_lines);
            });
            output.textures_delta.clear();
            frames.push(shown);
            if shown.1 == 0 {
                break;
            }
        }
        let max = BYTES_PER_FRAME / 80 + BYTES_PER_FRAME / PART_BYTES;
        assert!(frames[0].0 <= max && frames[0].1 == 1, "{:?}", frames[0]);
        let grows = |pair: &[(usize, usize)]| pair[1].0 > pair[0].0 && pair[1].0 - pair[0].0 <= max;
        assert!(frames.windows(2).all(grows), "{frames:?}");
        assert_eq!(frames.len(), (10_usize << 20).div_ceil(BYTES_PER_FRAME));
        assert_eq!(frames.last().unwrap().1, 0);
    }
}
