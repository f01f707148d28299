//! How long one step took in each run: a bar for each execution, the oldest first, and the median as a line.

use egui::{Rect, Sense, Stroke, Ui, pos2, vec2};

use super::EvidenceView;
use super::bars::work_bar;
use super::results::{CHANGED, known_look};
use crate::plan::{drawable, one_line};
use crate::run::{ListedExecution, StepDurations, took_ms};
use crate::ui::{Action, EvidenceAction, Text, Theme, Tone, controls, format, icon, rows, widgets};

/// The height of an execution, in points.
const HEIGHT: f32 = 26.0;
/// The width of the columns with the time, with the outcome, and with the duration, in points.
const WHEN: f32 = 150.0;
const OUTCOME: f32 = 120.0;
const TOOK: f32 = 86.0;
/// Below this width, in points, the outcome is an icon only.
const NARROW: f32 = 560.0;

pub(super) fn durations_ui(
    ui: &mut Ui,
    found: &StepDurations,
    view: &EvidenceView<'_>,
    actions: &mut Vec<Action>,
) {
    widgets::margins(8, 8).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 4.0;
        let is_command = found.tool_name == "shell";
        let about = if is_command { one_line(&found.about) } else { drawable(&found.about) };
        widgets::line(ui, format!("{} {about}", found.tool_name), Text::Mono, Tone::Plain);
        widgets::paragraph(ui, sentence(found), Text::Body, Tone::Plain);
        if found.left_out > 0 {
            let older = format::counted(found.left_out, "older execution");
            let text = format!("{older} left out. `countersign evidence durations` lists all.");
            widgets::remark(ui, icon::INFO, Tone::Caution, text);
        }
    });
    widgets::line_below(ui);
    let is_selected = |it: &ListedExecution| view.selected == Some(it.row.execution_id);
    let reveal = view.scroll_to_selected.then(|| found.executions.iter().position(is_selected));
    let count = found.executions.len();
    rows::rows_ui(ui, "durations", HEIGHT, count, reveal.flatten(), |ui, rect, index| {
        let Some(execution) = found.executions.get(index) else { return };
        if row_ui(ui, rect, (execution, index), found, view) {
            let id = execution.row.execution_id;
            actions.push(Action::Evidence(EvidenceAction::Open(id)));
        }
    });
}

/// The number of executions, the median and the range.
fn sentence(found: &StepDurations) -> String {
    let times = format::counted(found.executions.len(), "execution");
    match (found.median_ms, found.shortest_ms.zip(found.longest_ms)) {
        (Some(median), Some((shortest, longest))) => format!(
            "{times}: median {}, from {} to {}",
            format::duration(median),
            format::duration(shortest),
            format::duration(longest)
        ),
        _ => format!("{times}; its tool was never called"),
    }
}

fn row_ui(
    ui: &mut Ui,
    rect: Rect,
    (execution, index): (&ListedExecution, usize),
    found: &StepDurations,
    view: &EvidenceView<'_>,
) -> bool {
    let theme = Theme::of(ui);
    let row = &execution.row;
    let (icon, word, tone) = if execution.changed { CHANGED } else { known_look(row.known) };
    let selected = view.selected == Some(row.execution_id);
    let response = ui.interact(rect, ui.scope_id().with(row.execution_id), Sense::click());
    rows::row_background(ui, &response, selected);
    let middle = rect.center().y;
    let when = view.now.moment(row.timestamp_ms);
    let left = rect.left() + 18.0;
    widgets::paint_parts(ui, pos2(left, middle), WHEN - 8.0, &[(&when, Text::Mono, theme.dim)]);
    let left = left + WHEN;
    widgets::paint_icon(ui, pos2(left + 8.0, middle), icon, 15.0, theme.tone(tone));
    let for_word = if rect.width() >= NARROW { OUTCOME } else { 22.0 };
    if rect.width() >= NARROW {
        let parts = [(word, Text::Small, theme.dim)];
        widgets::paint_parts(ui, pos2(left + 22.0, middle), for_word - 26.0, &parts);
    }
    let took = took_ms(execution);
    let text = took.map_or_else(|| "–".to_owned(), format::duration);
    let right = rect.right() - 18.0;
    widgets::paint_right(ui, pos2(right, middle), (&text, Text::Mono, theme.text));
    let mut track = rect.shrink2(vec2(0.0, 7.0));
    track.min.x = left + for_word + 8.0;
    track.max.x = (right - TOOK).max(track.min.x + 1.0);
    let longest = found.longest_ms.unwrap_or_default().max(1);
    let width = |ms: i64| track.width() * (ms as f64 / longest as f64).clamp(0.0, 1.0) as f32;
    if let Some(took) = took {
        let mut bar = track;
        bar.max.x = bar.min.x + width(took).max(2.0);
        let tone = if tone == Tone::Danger || tone == Tone::Caution { tone } else { Tone::Accent };
        work_bar(ui, bar, tone);
    }
    if let Some(median) = found.median_ms {
        let x = track.left() + width(median);
        ui.painter().vline(x, rect.y_range(), Stroke::new(1.0, theme.text));
    }
    let name = || match took {
        Some(took) => format!("{when}, {word}, took {}", format::duration(took)),
        None => format!("{when}, {word}, its tool was not called"),
    };
    controls::list_row(ui, &response, (selected, index), name)
}
