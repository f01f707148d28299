//! A diff, unified or side by side.

use egui::{Id, Ui};

use super::change_jump::{Jumping, jump_buttons_ui};
use super::code::{incremental_rows_ui, pairs_ui};
use super::diff_layout::LaidOutRow;
use super::incremental_rows::{LayoutKey, Rows, incremental_rows};
use super::selection::Selecting;
use super::{Gutter, columns};
use crate::run::{DiffLine, FileChange};
use crate::ui::{Tone, icon, widgets};

/// Draws the lines of a change. `id_salt` distinguishes several uses in the same part of the window.
pub(super) fn diff_ui(
    ui: &mut Ui,
    id_salt: impl egui::AsIdSalt + Copy,
    change: &FileChange,
    lines: &[DiffLine],
    jumping: &mut Jumping,
) {
    // The states before and after determine the diff.
    let (before, after) = (format!("{:?}", change.before), format!("{:?}", change.after));
    let side_by_side = is_side_by_side(ui);
    let (gutter, width) = if side_by_side {
        (Gutter::one(Gutter::largest(lines)), ui.available_width() / 2.0)
    } else {
        (Gutter::of_diff(lines), ui.available_width())
    };
    let sources = [change.path.clone(), before, after];
    // A selection holds places in these lines, and must not be shown in others.
    let area = ui.scope_id().with(("selected in", id_salt, &sources));
    let key = LayoutKey { sources, columns: columns(ui, width, gutter), side_by_side };
    let Rows { layout, rows, remaining_lines } = incremental_rows(ui, id_salt, key, lines);
    if layout.is_unmarked(lines) {
        let text = "Too long for colours and for marks of changed words; the text is complete.";
        widgets::remark(ui, icon::INFO, Tone::Dim, text);
    }
    if layout.is_uncompared {
        let text = "Too long to find changed lines that look like the lines they replace.";
        widgets::remark(ui, icon::WARNING, Tone::Caution, text);
    }
    let row = |index: usize| rows.get(index).and_then(|row| layout.row(lines, row));
    let selecting = Selecting::new(ui, area, lines, &layout.spelled);
    if side_by_side {
        let count = rows.len() / 2 + remaining_lines;
        let area = pairs_ui(ui, ("beside", id_salt), count, gutter, selecting, row);
        jumping.add(
            area,
            lines,
            rows.chunks(2).map(|pair| pair.iter().filter_map(LaidOutRow::line)),
        );
    } else {
        let count = rows.len() + remaining_lines;
        let area = incremental_rows_ui(ui, id_salt, count, gutter, Some(selecting), row);
        jumping.add(area, lines, rows.iter().map(LaidOutRow::line));
    }
}

/// The id of the person's choice between unified and side by side, which lasts until the window closes.
fn side_by_side_id() -> Id {
    Id::unique("differences side by side")
}

fn is_side_by_side(ui: &Ui) -> bool {
    ui.data(|data| data.get_temp(side_by_side_id())).unwrap_or(false)
}

/// The choice between unified and side by side.
pub(super) fn layout_ui(ui: &mut Ui, list: Id) {
    let current = is_side_by_side(ui);
    // The choice must not be higher than the line with the path.
    ui.spacing_mut().button_padding.y = 0.0;
    ui.spacing_mut().interact_size.y = 18.0;
    jump_buttons_ui(ui, list);
    // Listed in reverse, because this layout goes from right to left.
    for (name, choice) in [("Side by side", true), ("Unified", false)] {
        if widgets::view_choice(ui, name, current == choice) {
            ui.data_mut(|data| data.insert_temp(side_by_side_id(), choice));
        }
    }
}
