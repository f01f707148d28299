//! Every recorded change of one file, from the oldest to the newest, each with the run that made it and the lines that
//! it changed.

use egui::{Rect, ScrollArea, Sense, Ui, pos2, vec2};

use super::EvidenceView;
use super::results::{CHANGED, known_look};
use crate::plan::drawable;
use crate::run::{FileHistory, Known, RecordedChange};
use crate::ui::plan::lines_of_change_ui;
use crate::ui::{
    Action, EvidenceAction, Text, Theme, Tone, controls, format, icon, rows, scroll, theme, widgets,
};

pub(super) fn file_history_ui(
    ui: &mut Ui,
    history: &FileHistory,
    view: &EvidenceView<'_>,
    actions: &mut Vec<Action>,
) {
    let area = ScrollArea::vertical().id_salt("history of a file").auto_shrink([false, false]);
    area.show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        if history.left_out > 0 {
            let older = format::counted(history.left_out, "older change");
            let text = format!("{older} left out. `countersign evidence file` lists all.");
            widgets::margins(8, 8).show(ui, |ui| {
                widgets::remark(ui, icon::INFO, Tone::Caution, text);
            });
            widgets::line_below(ui);
        }
        for (index, change) in history.changes.iter().enumerate() {
            ui.push_id(("change", index), |ui| change_ui(ui, (change, index), view, actions));
        }
        scroll::by_key(ui);
    });
}

fn change_ui(
    ui: &mut Ui,
    (change, index): (&RecordedChange, usize),
    view: &EvidenceView<'_>,
    actions: &mut Vec<Action>,
) {
    if change.changed_between {
        let text = "The file was not as the change before had left it: something else had changed it in between.";
        widgets::margins(6, 6).show(ui, |ui| {
            widgets::remark(ui, icon::WARNING, Tone::Caution, text);
        });
        widgets::line_below(ui);
    }
    let id = change.listed.row.execution_id;
    let selected = view.selected == Some(id);
    let size = vec2(ui.available_width(), theme::ROW);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    if selected && view.scroll_to_selected {
        ui.scroll_to_rect(rect, Some(egui::Align::Min));
    }
    rows::row_background(ui, &response, selected);
    let name = head_ui(ui, rect, change, view);
    if controls::list_row(ui, &response, (selected, index), || name.clone()) {
        actions.push(Action::Evidence(EvidenceAction::Open(id)));
    }
    widgets::reveal_focused(ui, &response);
    rows::row_tooltip(&response, false, "Click for the execution that made this change.");
    match &change.difference {
        Ok(lines) if change.before != change.after => {
            lines_of_change_ui(ui, "lines", lines);
        }
        Ok(_) => {}
        Err(reason) => {
            widgets::margins(2, 8).show(ui, |ui| {
                widgets::remark(ui, icon::INFO, Tone::Dim, reason.sentence());
            });
        }
    }
    ui.add_space(6.0);
    widgets::line_below(ui);
}

/// Paints what happened, when and by which run. Returns the accessible name.
fn head_ui(ui: &Ui, rect: Rect, change: &RecordedChange, view: &EvidenceView<'_>) -> String {
    let theme = Theme::of(ui);
    let row = &change.listed.row;
    let (icon, outcome, tone) = if change.listed.changed { CHANGED } else { known_look(row.known) };
    let middle = rect.center().y;
    widgets::paint_icon(ui, pos2(rect.left() + 26.0, middle), icon, 17.0, theme.tone(tone));
    let first = rect.top() + 15.0;
    let when = view.now.moment(row.timestamp_ms);
    let right = pos2(rect.right() - 18.0, first);
    let right =
        rect.right() - 34.0 - widgets::paint_right(ui, right, (&when, Text::Mono, theme.dim));
    let left = rect.left() + 46.0;
    let (added, removed) = change.line_counts().unzip();
    let added = added.map(|number| format!("+{number}")).unwrap_or_default();
    let removed = removed.map(|number| format!("−{number}")).unwrap_or_default();
    let what = match row.known {
        Known::Outcome(_) => change.word().to_owned(),
        Known::Interrupted | Known::Running => format!("about to be {}", change.word()),
    };
    let mode = change.mode_change().map(|mode| format!("mode {mode}")).unwrap_or_default();
    let parts = [
        (what.as_str(), Text::Strong, theme.text),
        (added.as_str(), Text::Mono, theme.safe),
        (removed.as_str(), Text::Mono, theme.danger),
        (mode.as_str(), Text::Mono, theme.dim),
    ];
    let parts: Vec<_> = parts.into_iter().filter(|(text, ..)| !text.is_empty()).collect();
    widgets::paint_parts(ui, pos2(left, first), (right - left).max(0.0), &parts);
    let by = format!("{}, step {} of {}", row.tool_name, row.step_index + 1, change.plan_name);
    let second = format!("{by} · {outcome}");
    let width = (rect.right() - 18.0 - left).max(0.0);
    let line = [(second.as_str(), Text::Meta, theme.dim)];
    widgets::paint_parts(ui, pos2(left, rect.top() + 32.0), width, &line);
    let counts = [added, removed].join(" ");
    drawable(&format!("{what} {counts} {mode} {when}, by {by}, {outcome}")).into_owned()
}
