//! Lays out the rows of a long diff over several frames, so that a diff of a hundred thousand lines delays no
//! frame. A diff of usual length is complete in its first frame.

use std::sync::Arc;

use egui::{AsIdSalt, Ui};

use super::diff::{Laid, Layout, PART};
use super::row_cache::ByPlace;
use crate::run::DiffLine;

/// The number of lines laid out in one frame; this takes some milliseconds.
const LINES: usize = 10_000;
/// The bytes of text wrapped in one frame; this takes about as long as laying out [`LINES`] lines.
const BYTES: usize = 4 * PART;

/// The key of a layout; equal keys have equal rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    /// The file and its states before and after. The key is exact because states are digests.
    pub(super) sources: [String; 3],
    pub(super) columns: usize,
    pub(super) beside: bool,
}

/// The rows laid out so far.
pub(super) struct Rows {
    pub(super) layout: Arc<Layout>,
    pub(super) laid: Arc<Vec<Laid>>,
    /// The number of lines that are not laid out yet. It is an estimate of the missing rows.
    pub(super) left: usize,
}

struct Kept {
    wanted: Wanted,
    layout: Arc<Layout>,
    laid: Arc<Vec<Laid>>,
    next: usize,
    /// The number of bytes of the line at `next` that are laid out.
    from: usize,
}

/// The rows of these lines that are laid out so far; requests another frame until all are. `place`
/// distinguishes several uses in the same part of the window.
pub(super) fn growing_rows(
    ui: &Ui,
    place: impl AsIdSalt,
    wanted: Wanted,
    lines: &[DiffLine],
) -> Rows {
    let place = ui.scope_id().with(place);
    let rows = ui.memory_mut(|memory| {
        let cache = memory.caches.cache::<ByPlace<Kept>>();
        let mut kept = match cache.take(place) {
            Some(kept) if kept.wanted == wanted => kept,
            _ => Kept {
                layout: Arc::new(Layout::new(&wanted, lines)),
                wanted,
                laid: Arc::default(),
                next: 0,
                from: 0,
            },
        };
        let until = lines.len().min(kept.next + LINES);
        let mut room = BYTES;
        // This is the only reference: the frame that used the rows last has dropped its own.
        if let Some(laid) = Arc::get_mut(&mut kept.laid) {
            while kept.next < until && room > 0 {
                // A line that fits into one row needs no wrapping.
                let bytes = lines.get(kept.next).map_or(0, |line| line.text.len());
                if bytes > kept.wanted.columns {
                    room = room.saturating_sub(PART.min(bytes.saturating_sub(kept.from)));
                }
                match kept.layout.push(lines, kept.next, kept.from, laid) {
                    Some(from) => kept.from = from,
                    None => (kept.next, kept.from) = (kept.next + 1, 0),
                }
            }
        }
        let rows = Rows {
            layout: Arc::clone(&kept.layout),
            laid: Arc::clone(&kept.laid),
            left: lines.len() - kept.next,
        };
        cache.keep(place, kept);
        rows
    });
    if rows.left > 0 {
        ui.ctx().request_repaint();
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::LineKind;

    #[test]
    fn a_long_difference_grows_frame_by_frame_and_begins_anew_for_another() {
        let lines: Vec<_> = (1..=2 * LINES + 10)
            .map(|number| DiffLine {
                kind: LineKind::Added,
                before: None,
                after: Some(number),
                text: format!("line {number}"),
                missing_newline: false,
            })
            .collect();
        let ctx = egui::Context::default();
        let frame = |to: &str, count: usize| {
            let mut shown = (0, 0);
            let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
                let sources = ["a.txt".to_owned(), "absent".to_owned(), to.to_owned()];
                let wanted = Wanted { sources, columns: 80, beside: false };
                let rows = growing_rows(ui, "place", wanted, &lines[..count]);
                shown = (rows.laid.len(), rows.left);
            });
            output.textures_delta.clear();
            shown
        };
        let all = lines.len();
        assert_eq!(frame("x", 10), (10, 0), "a short one is whole at once");
        assert_eq!(frame("y", all), (LINES, LINES + 10));
        assert_eq!(frame("y", all), (2 * LINES, 10));
        assert_eq!(frame("y", all), (all, 0));
        assert_eq!(frame("y", all), (all, 0));
        assert_eq!(frame("z", all), (LINES, LINES + 10));
    }

    #[test]
    fn a_line_of_ten_megabytes_grows_frame_by_frame_too() {
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
                let wanted = Wanted { sources, columns: 80, beside: false };
                let rows = growing_rows(ui, "place", wanted, &lines);
                shown = (rows.laid.len(), rows.left);
            });
            output.textures_delta.clear();
            frames.push(shown);
            if shown.1 == 0 {
                break;
            }
        }
        let most = BYTES / 80 + BYTES / PART;
        assert!(frames[0].0 <= most && frames[0].1 == 1, "{:?}", frames[0]);
        let grows = |two: &[(usize, usize)]| two[1].0 > two[0].0 && two[1].0 - two[0].0 <= most;
        assert!(frames.windows(2).all(grows), "{frames:?}");
        assert_eq!(frames.len(), (10_usize << 20).div_ceil(BYTES));
        assert_eq!(frames.last().unwrap().1, 0);
    }
}
