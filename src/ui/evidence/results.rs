//! The search results, as rows of which only the visible ones are drawn.

use super::EvidenceView;
use crate::plan::drawable;
use crate::run::{Execution, Known, ListedExecution, SearchHit};
use crate::ui::plan::outcome_look;
use crate::ui::{
    Action, EvidenceAction, Icon, Now, Text, Theme, Tone, controls, format, icon, rows, theme,
    widgets,
};
use egui::text::{LayoutJob, TextWrapping};
use egui::{Rect, Sense, Ui, pos2};

/// The icon, word and colour of the known outcome of an execution.
pub fn known_look(known: Known) -> (Icon, &'static str, Tone) {
    match known {
        Known::Outcome(outcome) => outcome_look(outcome),
        Known::Interrupted => (icon::WARNING, "interrupted, outcome unknown", Tone::Danger),
        Known::Running => (icon::RUNNING, "running", Tone::Accent),
    }
}

pub(super) fn results_ui(ui: &mut Ui, view: &EvidenceView<'_>, actions: &mut Vec<Action>) {
    let Some(page) = view.page else { return };
    let shown = page.hits.len();
    let more = page.total.saturating_sub(shown as u64);
    let rows = shown + usize::from(more > 0);
    let is_selected = |hit: &SearchHit| Some(hit.listed.row.execution_id) == view.selected;
    let reveal = view.scroll_to_selected.then(|| page.hits.iter().position(is_selected)).flatten();
    rows::rows_ui(ui, "results", theme::ROW, rows, reveal, |ui, rect, index| {
        if let Some(hit) = page.hits.get(index) {
            let (listed, selected) = (&hit.listed, is_selected(hit));
            let opened = row_ui(ui, rect, listed, selected, view.now, |ui, start, width, word| {
                second_line_ui(ui, start, width, hit, word);
            });
            if opened {
                actions.push(Action::Evidence(EvidenceAction::Open(hit.listed.row.execution_id)));
            }
        } else {
            more_ui(ui, rect, more, actions);
        }
    });
}

/// The last row, which reads more hits.
fn more_ui(ui: &mut Ui, rect: Rect, more: u64, actions: &mut Vec<Action>) {
    let theme = Theme::of(ui);
    let response = ui.interact(rect, ui.scope_id().with("more hits"), Sense::click());
    rows::row_background(ui, &response, false);
    let text = format!("Show more: {} left", format::count(more));
    let parts = [(text.as_str(), Text::Body, theme.accent)];
    let start = pos2(rect.left() + 46.0, rect.center().y);
    widgets::paint_parts(ui, start, rect.width() - 60.0, &parts);
    if controls::painted_button(ui, &response, || text.clone()) {
        actions.push(Action::Evidence(EvidenceAction::More));
    }
}

/// Below this width, in points, a row shows its subject before the tool and omits the duration.
const NARROW: f32 = 460.0;
/// The width of the tool column, in points.
const TOOL: f32 = 132.0;

/// The icon, word and colour of a record that was changed after it was written. They replace those of its outcome,
/// because such a record proves nothing.
pub(super) const CHANGED: (Icon, &str, Tone) =
    (icon::WARNING, "changed after it was written", Tone::Danger);

/// The second line of such a record.
pub(super) const WAS_CHANGED: &str = "This record was changed after it was written.";

/// Draws an execution as a row. `draw_second_line` gets the left end of the line, its width, and the word for the
/// outcome. Returns whether the row was clicked.
pub(super) fn row_ui(
    ui: &mut Ui,
    rect: Rect,
    ListedExecution { row, changed }: &ListedExecution,
    selected: bool,
    now: &Now,
    draw_second_line: impl FnOnce(&Ui, egui::Pos2, f32, &str),
) -> bool {
    let theme = Theme::of(ui);
    let (icon, word, tone) = if *changed { CHANGED } else { known_look(row.known) };
    let response = ui.interact(rect, ui.scope_id().with(row.execution_id), Sense::click());
    rows::row_background(ui, &response, selected);
    let middle = rect.center().y;
    widgets::paint_icon(ui, pos2(rect.left() + 26.0, middle), icon, 17.0, theme.tone(tone));
    let mut right = rect.right() - 18.0;
    // A narrow list has no room for durations; the details of the open execution show its duration.
    if rect.width() > NARROW {
        if let Some(duration) = row.duration_ms {
            let text = format::duration(duration);
            widgets::paint_right(ui, pos2(right, middle), (&text, Text::Mono, theme.dim));
        }
        right -= 70.0;
    }
    let when = now.moment(row.timestamp_ms);
    right -= widgets::paint_right(ui, pos2(right, middle), (&when, Text::Mono, theme.dim));
    let left = rect.left() + 46.0;
    let width = (right - 16.0 - left).max(0.0);
    let start = pos2(left, rect.top() + 15.0);
    let tool = (&*row.tool_name, Text::Body, theme.text);
    let subject = (&*row.about, Text::Mono, theme.text);
    if rect.width() > NARROW {
        widgets::paint_parts(ui, start, TOOL - 8.0, &[tool]);
        widgets::paint_parts(ui, pos2(left + TOOL, start.y), (width - TOOL).max(0.0), &[subject]);
    } else {
        widgets::paint_parts(ui, start, width, &[subject, tool]);
    }
    draw_second_line(ui, pos2(left, rect.top() + 32.0), width, word);
    controls::selectable(ui, &response, selected, || {
        format!("{} {}, {word}, {when}", row.tool_name, drawable(&row.about))
    })
}

/// Draws the excerpt around the first match, with the matches marked; without one the error, or else the outcome. For
/// a record that was changed, only that is shown.
fn second_line_ui(ui: &Ui, left_center: egui::Pos2, width: f32, hit: &SearchHit, word: &str) {
    let theme = Theme::of(ui);
    let mut job =
        LayoutJob { wrap: TextWrapping::truncate_at_width(width), ..LayoutJob::default() };
    let mut append = |text: &str, marked: bool| {
        let color = if marked { theme.text } else { theme.dim };
        let mut format = widgets::text_format(Text::SmallMono, color);
        if marked {
            format.background = theme.chip(Tone::Caution, theme.background);
        }
        job.append(&drawable(text), 0.0, format);
    };
    if hit.listed.changed {
        append(WAS_CHANGED, true);
    } else if hit.excerpt.is_empty() {
        let step = || {
            format!(
                "{word}, step {} of plan {}",
                hit.listed.row.step_index + 1,
                hit.listed.row.plan_id
            )
        };
        append(&error_line(&hit.listed.row).unwrap_or_else(step), false);
    } else {
        append(&format!("{}: ", hit.found_in), false);
        let mut end = 0;
        for mark in &hit.marks {
            let (Some(before), Some(marked)) =
                (hit.excerpt.get(end..mark.start), hit.excerpt.get(mark.clone()))
            else {
                continue;
            };
            append(before, false);
            append(marked, true);
            end = mark.end;
        }
        append(hit.excerpt.get(end..).unwrap_or_default(), false);
    }
    widgets::paint_galley(ui, left_center, ui.painter().layout_job(job));
}

/// The code and the first line of the error of an execution; `None` if it has no error.
pub(super) fn error_line(row: &Execution) -> Option<String> {
    let message = row.error_message.as_ref()?;
    Some(format::error(row.error_code, message.lines().next().unwrap_or_default()))
}
