//! The table of diagnostics: a header that sorts, and rows of which only the visible ones are drawn.

use egui::{Align2, CornerRadius, Rect, Sense, Ui, pos2, vec2};

use super::copy::location;
use super::listing::Entry;
use super::{Column, DiagnosticsView, baseline_look, diagnostic, level_look};
use crate::plan::drawable;
use crate::run::{BaselineState, DiagnosticArtifact};
use crate::ui::action::DiagnosticsAction;
use crate::ui::{Action, Text, Theme, controls, format, rows, widgets};

/// The height of a row, in points.
const ROW: f32 = 28.0;
/// The height of the header, in points.
const HEAD: f32 = 26.0;
/// The left and right margin of the columns, in points.
const MARGIN: f32 = 16.0;
/// The space between two columns, in points.
const GAP: f32 = 12.0;

/// Below this width, in points, a table has no column for the code.
const NARROW: f32 = 500.0;

/// A column with its name, its left edge and its width, in points.
type ColumnLayout = (Column, &'static str, f32, f32);

/// The columns in a table of this width. `compared` adds the column with the results of the comparison.
fn columns(width: f32, compared: bool) -> Vec<ColumnLayout> {
    let inner = width - 2.0 * MARGIN;
    // In a narrow table, the other columns are narrower in favour of the message.
    // A very narrow one has no room for the code, which the selected diagnostic shows.
    let (severity, code, file_share, least_file) = match inner {
        ..NARROW => (74.0, 0.0, 0.24, 80.0),
        ..800.0 => (74.0, 68.0, 0.24, 120.0),
        _ => (84.0, 96.0, 0.3, 120.0),
    };
    let file = (inner * file_share).clamp(least_file, 320.0);
    let (baseline, gaps) = if compared {
        (if code > 0.0 { 100.0 } else { 88.0 }, 4.0 * GAP)
    } else {
        (0.0, 3.0 * GAP)
    };
    let message = (inner - severity - code - file - baseline - gaps).max(80.0);
    let columns = [
        (Column::Severity, "Severity", severity),
        (Column::Code, "Code", code),
        (Column::Message, "Message", message),
        (Column::File, "File", file),
        (Column::BaselineState, "Change", baseline),
    ];
    let mut left = MARGIN;
    let columns = columns.into_iter().take(if compared { 5 } else { 4 });
    columns
        .filter(|(column, ..)| *column != Column::Code || code > 0.0)
        .map(|(column, name, width)| {
            let layout = (column, name, left, width);
            left += width + GAP;
            layout
        })
        .collect()
}

pub(super) fn table_ui(ui: &mut Ui, view: &DiagnosticsView<'_>, actions: &mut Vec<Action>) {
    let columns = columns(ui.available_width(), view.listing.base.is_some());
    header_ui(ui, view, &columns, actions);
    widgets::line_below(ui);
    let shown = &view.listing.shown;
    let reveal = view.listing.selected.filter(|_| view.scroll_to_selected);
    rows::rows_ui(ui, "diagnostics", ROW, shown.len(), reveal, |ui, rect, index| {
        let Some(entry) = shown.get(index) else { return };
        let Some(it) = diagnostic(view.run, entry.position) else { return };
        let selected = view.listing.selected == Some(index);
        if row_ui(ui, rect, *entry, it, (selected, index), &columns) {
            actions.push(Action::Diagnostics(DiagnosticsAction::Select(entry.position)));
        }
    });
}

fn header_ui(
    ui: &mut Ui,
    view: &DiagnosticsView<'_>,
    columns: &[ColumnLayout],
    actions: &mut Vec<Action>,
) {
    let theme = Theme::of(ui);
    let size = vec2(ui.available_width(), HEAD);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    ui.painter().rect_filled(rect, CornerRadius::ZERO, theme.panel);
    for (column, name, left, width) in columns {
        let cell = Rect::from_min_size(
            pos2(rect.left() + left - 4.0, rect.top() + 2.0),
            vec2(width + 4.0, HEAD - 4.0),
        );
        let response = ui.interact(cell, ui.scope_id().with(*name), Sense::click());
        let sorted = view.options.sort == *column;
        let color = if sorted || response.hovered() { theme.text } else { theme.dim };
        let arrow = match (sorted, view.options.reversed) {
            (false, _) => "",
            (true, false) => "↓",
            (true, true) => "↑",
        };
        let parts = [(*name, Text::Meta, color), (arrow, Text::Meta, theme.accent)];
        let start = pos2(rect.left() + left, rect.center().y);
        widgets::paint_parts(ui, start, *width, &parts);
        let label = || format!("Sort by {}", name.to_lowercase());
        if controls::selectable(ui, &response, sorted, label) {
            actions.push(Action::Diagnostics(DiagnosticsAction::SortBy(*column)));
        }
        if *column == Column::BaselineState {
            response.on_hover_text("Compared with an earlier check of this run.");
        }
    }
}

/// Draws a row. Returns whether it was clicked.
fn row_ui(
    ui: &mut Ui,
    rect: Rect,
    entry: Entry,
    it: &DiagnosticArtifact,
    (selected, index): (bool, usize),
    columns: &[ColumnLayout],
) -> bool {
    let theme = Theme::of(ui);
    let response = ui.interact(rect, ui.scope_id().with(entry.position), Sense::click());
    rows::row_background(ui, &response, selected);
    let (icon, level, tone) = level_look(it.level);
    let gone = entry.baseline == Some(BaselineState::Gone);
    // A diagnostic that is gone needs no action, so it is dimmed.
    let plain = if gone { theme.dim } else { theme.text };
    let mut message_truncated = false;
    let icon_cell = |start: egui::Pos2, width: f32, icon, size, color, part| {
        widgets::paint_icon(ui, pos2(start.x + 7.0, start.y), icon, size, color);
        widgets::paint_parts(ui, pos2(start.x + 20.0, start.y), width - 20.0, &[part]);
    };
    for (column, _, left, width) in columns {
        let start = pos2(rect.left() + left, rect.center().y);
        match column {
            Column::Severity => {
                let color = if gone { theme.dim } else { theme.tone(tone) };
                let part = (it.tool_level.as_str(), Text::Meta, theme.dim);
                icon_cell(start, *width, icon, 15.0, color, part);
            }
            Column::Code => {
                let parts = [(it.code.as_deref().unwrap_or("–"), Text::SmallMono, theme.dim)];
                widgets::paint_parts(ui, start, *width, &parts);
            }
            Column::Message => {
                let line = it.message.lines().next().unwrap_or_default();
                (_, message_truncated) =
                    widgets::paint_parts(ui, start, *width, &[(line, Text::Body, plain)]);
            }
            Column::File => {
                let text = if it.file_name.is_empty() { "–".to_owned() } else { location(it) };
                let max_chars = (width / Text::SmallMono.digit_width(ui)).max(4.0) as usize;
                // The end of the path and the line number matter most.
                let text = format::end_of(&drawable(&text), max_chars).into_owned();
                let font = Text::SmallMono.font();
                ui.painter().text(start, Align2::LEFT_CENTER, text, font, plain);
            }
            Column::BaselineState => {
                if let Some(state) = entry.baseline {
                    let (icon, word, tone) = baseline_look(state);
                    let color = theme.tone(tone);
                    icon_cell(start, *width, icon, 14.0, color, (word, Text::Meta, color));
                }
            }
        }
    }
    let clicked = controls::list_row(ui, &response, (selected, index), || {
        let code = it.code.as_ref().map_or_else(String::new, |code| format!(" {code}"));
        let baseline =
            entry.baseline.map_or_else(String::new, |it| format!(", {}", baseline_look(it).1));
        let name = format!("{level}{code}: {}, {}{baseline}", it.message, location(it));
        drawable(&name).into_owned()
    });
    if message_truncated {
        rows::row_tooltip(&response, false, crate::plan::drawable_lines(&it.message));
    }
    clicked
}
