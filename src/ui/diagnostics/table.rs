//! The table: a header that sorts, and rows of which only the visible ones are drawn.

use egui::{Align2, CornerRadius, Rect, Sense, Ui, pos2, vec2};

use super::copy::place;
use super::listing::{Column, Entry, diagnostic};
use super::{DiagnosticsView, level_look, standing_look};
use crate::plan::visible;
use crate::run::{BaselineState, DiagnosticArtifact};
use crate::ui::action::{Action, DiagnosticsAction};
use crate::ui::controls;
use crate::ui::format;
use crate::ui::rows;
use crate::ui::theme::{Text, Theme};
use crate::ui::widgets;

/// The height of a row, in points.
const ROW: f32 = 28.0;
/// The height of the header, in points.
const HEAD: f32 = 26.0;
/// The left and right margin of the columns, in points.
const MARGIN: f32 = 16.0;
/// The space between two columns, in points.
const GAP: f32 = 12.0;

/// A column with its name, its left edge and its width, in points.
type Placed = (Column, &'static str, f32, f32);

/// The columns in a table of this width.
fn columns(width: f32, compared: bool) -> Vec<Placed> {
    let inner = width - 2.0 * MARGIN;
    // In a narrow table, other columns are narrower in favour of the message.
    let (severity, code, share) =
        if inner < 800.0 { (74.0, 68.0, 0.24) } else { (84.0, 96.0, 0.3) };
    let place = (inner * share).clamp(120.0, 320.0);
    let (standing, gaps) = if compared { (100.0, 4.0 * GAP) } else { (0.0, 3.0 * GAP) };
    let message = (inner - severity - code - place - standing - gaps).max(80.0);
    let columns = [
        (Column::Severity, "Severity", severity),
        (Column::Code, "Code", code),
        (Column::Message, "Message", message),
        (Column::File, "File", place),
        (Column::BaselineState, "Since first check", standing),
    ];
    let mut left = MARGIN;
    let placed =
        columns.into_iter().take(if compared { 5 } else { 4 }).map(|(column, name, width)| {
            let at = (column, name, left, width);
            left += width + GAP;
            at
        });
    placed.collect()
}

pub(super) fn table_ui(ui: &mut Ui, view: &DiagnosticsView<'_>, actions: &mut Vec<Action>) {
    let columns = columns(ui.available_width(), view.listing.base.is_some());
    head_ui(ui, view, &columns, actions);
    widgets::line_below(ui);
    let shown = &view.listing.shown;
    let reveal = view.listing.selected.filter(|_| view.scroll_to_selected);
    rows::rows_ui(ui, "diagnostics", ROW, shown.len(), reveal, |ui, rect, index| {
        let Some(entry) = shown.get(index) else { return };
        let Some(it) = diagnostic(view.run, entry.place) else { return };
        let selected = view.listing.selected == Some(index);
        if row_ui(ui, rect, *entry, it, selected, &columns) {
            actions.push(Action::Diagnostics(DiagnosticsAction::Pick(entry.place)));
        }
    });
}

fn head_ui(ui: &mut Ui, view: &DiagnosticsView<'_>, columns: &[Placed], actions: &mut Vec<Action>) {
    let theme = Theme::of(ui);
    let size = vec2(ui.available_width(), HEAD);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    ui.painter().rect_filled(rect, CornerRadius::ZERO, theme.panel);
    for (column, name, left, width) in columns {
        let place = Rect::from_min_size(
            pos2(rect.left() + left - 4.0, rect.top() + 2.0),
            vec2(width + 4.0, HEAD - 4.0),
        );
        let response = ui.interact(place, ui.scope_id().with(*name), Sense::click());
        let sorted = view.sight.sort == *column;
        let color = if sorted || response.hovered() { theme.text } else { theme.dim };
        let arrow = match (sorted, view.sight.reversed) {
            (false, _) => "",
            (true, false) => "↓",
            (true, true) => "↑",
        };
        let parts = [(*name, Text::Meta, color), (arrow, Text::Meta, theme.accent)];
        let at = pos2(rect.left() + left, rect.center().y);
        widgets::paint_parts(ui, at, *width, &parts);
        let label = || match column {
            Column::BaselineState => "Sort by what changed".to_owned(),
            _ => format!("Sort by {}", name.to_lowercase()),
        };
        if controls::selectable(ui, &response, sorted, label) {
            actions.push(Action::Diagnostics(DiagnosticsAction::SortBy(*column)));
        }
    }
}

fn row_ui(
    ui: &mut Ui,
    rect: Rect,
    entry: Entry,
    it: &DiagnosticArtifact,
    selected: bool,
    columns: &[Placed],
) -> bool {
    let theme = Theme::of(ui);
    let response = ui.interact(rect, ui.scope_id().with(entry.place), Sense::click());
    rows::row_background(ui, &response, selected);
    let (icon, level, tone) = level_look(it.level);
    let gone = entry.standing == Some(BaselineState::Gone);
    // A diagnostic that is gone needs no action, so it is dimmed.
    let plain = if gone { theme.dim } else { theme.text };
    let mut cut_message = false;
    let icon_cell = |at: egui::Pos2, width: f32, icon, size, color, part| {
        widgets::paint_icon(ui, pos2(at.x + 7.0, at.y), icon, size, color);
        widgets::paint_parts(ui, pos2(at.x + 20.0, at.y), width - 20.0, &[part]);
    };
    for (column, _, left, width) in columns {
        let at = pos2(rect.left() + left, rect.center().y);
        match column {
            Column::Severity => {
                let color = if gone { theme.dim } else { theme.tone(tone) };
                let part = (it.tool_level.as_str(), Text::Meta, theme.dim);
                icon_cell(at, *width, icon, 15.0, color, part);
            }
            Column::Code => {
                let parts = [(it.code.as_deref().unwrap_or("–"), Text::SmallMono, theme.dim)];
                widgets::paint_parts(ui, at, *width, &parts);
            }
            Column::Message => {
                let line = it.message.lines().next().unwrap_or_default();
                (_, cut_message) =
                    widgets::paint_parts(ui, at, *width, &[(line, Text::Body, plain)]);
            }
            Column::File => {
                let text = if it.file_name.is_empty() { "–".to_owned() } else { place(it) };
                let room = (width / Text::SmallMono.digit_width(ui)).max(4.0) as usize;
                // The end of the path and the line number matter most.
                let text = format::end_of(&visible(&text), room).into_owned();
                let font = Text::SmallMono.font();
                ui.painter().text(at, Align2::LEFT_CENTER, text, font, plain);
            }
            Column::BaselineState => {
                if let Some(standing) = entry.standing {
                    let (icon, word, tone) = standing_look(standing);
                    let color = theme.tone(tone);
                    icon_cell(at, *width, icon, 14.0, color, (word, Text::Meta, color));
                }
            }
        }
    }
    let clicked = controls::selectable(ui, &response, selected, || {
        let code = it.code.as_ref().map_or_else(String::new, |code| format!(" {code}"));
        let standing =
            entry.standing.map_or_else(String::new, |it| format!(", {}", standing_look(it).1));
        let name = format!("{level}{code}: {}, {}{standing}", it.message, place(it));
        visible(&name).into_owned()
    });
    if cut_message {
        response.on_hover_text(crate::plan::visible_lines(&it.message));
    }
    clicked
}
