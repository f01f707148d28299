//! The search results, as rows of which only the visible ones are drawn.

use std::collections::HashMap;
use std::ops::Range;

use super::EvidenceView;
use super::team::short_origin;
use crate::plan::{drawable, one_line, visible_name};
use crate::run::{Execution, Known, ListedExecution, RunSummary, SearchHit, SearchPage};
use crate::ui::plan::{fate_text, outcome_look, run_look};
use crate::ui::{
    Action, EvidenceAction, Icon, Now, PlanAction, Text, Theme, Tone, controls, format, icon, rows,
    theme, widgets,
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
    let left = page.counts.total.saturating_sub(page.hits.len() as u64);
    // Records that cannot be read are neither hits nor counted.
    let left = Some(left).filter(|left| !page.counts.is_partial && *left > 0);
    let has_more = page.next.is_some();
    let lines = view.lines;
    let team = view.of_team();
    let is_selected = |index: usize, hit: &SearchHit| match team {
        Some(team) => team.open == Some(index),
        None => Some(hit.listed.row.execution_id) == view.selected,
    };
    let hit_at = |index: usize| page.hits.get(index);
    let run_at = |index: Option<usize>| page.runs.get(index?);
    let is_line = |line: &ResultLine| match line {
        ResultLine::Hit { hit, .. } => hit_at(*hit).is_some_and(|it| is_selected(*hit, it)),
        ResultLine::Run { .. } => false,
    };
    let reveal = view.scroll_to_selected.then(|| lines.iter().position(is_line)).flatten();
    let count = lines.len() + usize::from(has_more);
    rows::rows_ui(ui, "results", theme::ROW, count, reveal, |ui, rect, line| {
        match lines.get(line) {
            Some(ResultLine::Run { run, hits }) => {
                let hits = page.hits.get(hits.clone()).unwrap_or_default();
                if let Some(run) = run_at(Some(*run)) {
                    let (all, number) = (view.text.trim().is_empty(), hits.len());
                    let first_id = hits.first().map(|hit| hit.listed.row.execution_id);
                    let counts = counts(number, run.step_count, all);
                    ui.push_id(("run of", first_id), |ui| {
                        let verb = format!("Show the run {}", run.plan_name);
                        if run_ui(ui, rect, run, &counts, view.now, &verb) {
                            actions.push(Action::Plan(PlanAction::OpenRun(run.run_id)));
                        }
                    });
                }
            }
            Some(ResultLine::Hit { hit: index, run }) => {
                let Some(hit) = hit_at(*index) else { return };
                let (listed, selected) = (&hit.listed, is_selected(*index, hit));
                let origin = team.and_then(|team| team.origins.get(*index));
                // Two computers may have an execution with the same id.
                let from = origin.map(|it| format!(", from {}", short_origin(it)));
                let said = (selected, line, from.as_deref().unwrap_or_default());
                let opened = ui.push_id(origin, |ui| {
                    row_ui(ui, rect, listed, said, view.now, |ui, start, width, _| {
                        second_line_ui(ui, start, width, hit, (run_at(*run), origin));
                    })
                });
                if opened.inner {
                    let id = hit.listed.row.execution_id;
                    actions.push(Action::Evidence(match team {
                        Some(_) => EvidenceAction::OpenHit(*index),
                        None => EvidenceAction::Open(id),
                    }));
                }
            }
            None => more_ui(ui, rect, left, actions),
        }
    });
}

/// A line of the list. Hits and runs are named by their index in the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResultLine {
    /// A run, above these hits.
    Run {
        /// The run.
        run: usize,
        /// Its hits.
        hits: Range<usize>,
    },
    /// A hit.
    Hit {
        /// The hit.
        hit: usize,
        /// Its run, if that is known.
        run: Option<usize>,
    },
}

/// The lines that show a page: the hits, with their run above each group of hits of one run. Compute them once for each
/// page, which may have many thousand hits.
pub fn result_lines(page: &SearchPage) -> Vec<ResultLine> {
    let runs: HashMap<_, _> =
        page.runs.iter().enumerate().map(|(index, run)| (run.run_id, index)).collect();
    let run_of = |hit: &SearchHit| hit.listed.row.run_id;
    let mut lines = Vec::with_capacity(page.hits.len() + page.runs.len());
    let mut start = 0;
    for group in page.hits.chunk_by(|hit, next| run_of(hit) == run_of(next)) {
        let hits = start..start + group.len();
        start = hits.end;
        let run = group.first().and_then(|hit| runs.get(&run_of(hit)).copied());
        lines.extend(run.map(|run| ResultLine::Run { run, hits: hits.clone() }));
        lines.extend(hits.map(|hit| ResultLine::Hit { hit, run }));
    }
    lines
}

/// How many executions of a run are listed below it; `all` states whether the search lists every execution.
fn counts(number: usize, steps: usize, all: bool) -> String {
    match format::counted(steps, "step") {
        steps if all => format!("{} of {steps}", format::count(number as u64)),
        // The search may find some of them only, and the others may have run as well.
        steps => format!("{} · {steps}", format::counted(number, "hit")),
    }
}

/// A run as a row: its title and end, where and when it ran, and `counts`. `verb` says what a click does. Returns whether
/// it was clicked.
pub(super) fn run_ui(
    ui: &mut Ui,
    rect: Rect,
    run: &RunSummary,
    counts: &str,
    now: &Now,
    verb: &str,
) -> bool {
    let theme = Theme::of(ui);
    let response = ui.interact(rect, ui.scope_id().with(run.run_id), Sense::click());
    let fill = if response.hovered() { theme.hover } else { theme.panel };
    ui.painter().rect_filled(rect, egui::CornerRadius::ZERO, fill);
    let (icon, _, tone) = run_look(run);
    let first = rect.top() + 15.0;
    widgets::paint_icon(
        ui,
        pos2(rect.left() + 26.0, rect.center().y),
        icon,
        17.0,
        theme.tone(tone),
    );
    let when = now.moment(run.started_at_ms);
    let right = rect.right() - 18.0;
    let right =
        right - widgets::paint_right(ui, pos2(right, first), (&when, Text::Mono, theme.dim));
    let left = rect.left() + 46.0;
    let title = [(&*run.plan_name, Text::Strong, theme.text)];
    widgets::paint_parts(ui, pos2(left, first), (right - 16.0 - left).max(0.0), &title);
    let host = run.target.as_ref().map(|host| format!(" · on {host}")).unwrap_or_default();
    let place = format!("{counts} · {}{host} · {}", fate_text(run), run.workspace);
    let width = (rect.right() - 18.0 - left).max(0.0);
    let parts = [(place.as_str(), Text::Meta, theme.dim)];
    widgets::paint_parts(ui, pos2(left, rect.top() + 32.0), width, &parts);
    controls::painted_button(ui, &response, || verb.to_owned())
}

/// The last row, which reads more hits; with how many are left, once they are counted.
fn more_ui(ui: &mut Ui, rect: Rect, left: Option<u64>, actions: &mut Vec<Action>) {
    let theme = Theme::of(ui);
    let response = ui.interact(rect, ui.scope_id().with("more hits"), Sense::click());
    rows::row_background(ui, &response, false);
    let text = match left {
        Some(left) => format!("Show more: {} left", format::count(left)),
        None => "Show more".to_owned(),
    };
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
/// outcome. The row is at the place `index` of its list. `more` is said after everything else. Returns whether the row was clicked.
pub(super) fn row_ui(
    ui: &mut Ui,
    rect: Rect,
    ListedExecution { row, changed }: &ListedExecution,
    (selected, index, more): (bool, usize, &str),
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
        let mut width = 0.0;
        if let Some(duration) = row.duration_ms.and_then(|it| row.known.took(it)) {
            let text = (&*format::duration(duration), Text::Mono, theme.dim);
            width = widgets::paint_right(ui, pos2(right, middle), text);
        }
        // The times stand below each other, except beside a long duration.
        right -= (width + 14.0).max(70.0);
    }
    let when = now.moment(row.timestamp_ms);
    right -= widgets::paint_right(ui, pos2(right, middle), (&when, Text::Mono, theme.dim));
    let left = rect.left() + 46.0;
    let width = (right - 16.0 - left).max(0.0);
    let start = pos2(left, rect.top() + 15.0);
    let tool = (&*row.tool_name, Text::Body, theme.text);
    let is_command = row.tool_name == "shell";
    let about = if is_command { one_line(&row.about) } else { visible_name(&row.about) };
    let subject = (&*about, Text::Mono, theme.text);
    if rect.width() > NARROW {
        widgets::paint_parts(ui, start, TOOL - 8.0, &[tool]);
        widgets::paint_parts(ui, pos2(left + TOOL, start.y), (width - TOOL).max(0.0), &[subject]);
    } else {
        widgets::paint_parts(ui, start, width, &[subject, tool]);
    }
    draw_second_line(ui, pos2(left, rect.top() + 32.0), width, word);
    controls::list_row(ui, &response, (selected, index), || {
        format!("{} {}, {word}, {when}{more}", row.tool_name, about)
    })
}

/// Draws the excerpt around the first match, with the matches marked; without one the error, or else the outcome. For
/// a record that was changed, only that is shown.
fn second_line_ui(
    ui: &Ui,
    left_center: egui::Pos2,
    width: f32,
    hit: &SearchHit,
    (run, origin): (Option<&RunSummary>, Option<&String>),
) {
    let theme = Theme::of(ui);
    let mut job =
        LayoutJob { wrap: TextWrapping::truncate_at_width(width), ..LayoutJob::default() };
    let mut append = |text: &str, marked: bool| {
        let color = if marked { theme.text } else { theme.dim };
        let mut format = widgets::text_format(Text::SmallMono, color);
        if marked {
            format.background = theme.chip(Tone::Caution, theme.background);
            format.underline = theme.mark_line();
        }
        job.append(&drawable(text), 0.0, format);
    };
    if let Some(origin) = origin {
        append(&format!("{} · ", short_origin(origin)), false);
    }
    if hit.listed.changed {
        append(WAS_CHANGED, true);
    } else if hit.excerpt.is_empty() {
        let step = || {
            let number = hit.listed.row.step_index + 1;
            run.map_or_else(
                || format!("step {number} of plan {}", hit.listed.row.plan_id),
                |run| format!("step {number} of {}", run.step_count),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::tests::window;

    #[test]
    fn hits_are_not_counted_as_steps() {
        assert_eq!(counts(1, 20, false), "1 hit · 20 steps");
        assert_eq!(counts(2, 1, false), "2 hits · 1 step");
        assert_eq!(counts(3, 20, true), "3 of 20 steps");
    }

    #[test]
    fn each_group_of_hits_is_below_its_run() {
        let harness = window("evidence", [1280.0, 800.0]);
        let view = harness.state().scene.view().evidence;
        let mut page = view.page.unwrap().clone();
        assert_eq!(view.lines, result_lines(&page));
        let known = page.hits[0].clone();
        let mut unknown = known.clone();
        unknown.listed.row.run_id = uuid::Uuid::from_u128(404);
        page.hits = vec![known.clone(), known.clone(), unknown, known];
        let run_id = page.hits[0].listed.row.run_id;
        let run = page.runs.iter().position(|run| run.run_id == run_id);
        assert!(run.is_some());
        let heading = |hits| ResultLine::Run { run: run.unwrap(), hits };
        let hit = |hit, run| ResultLine::Hit { hit, run };
        assert_eq!(
            result_lines(&page),
            [heading(0..2), hit(0, run), hit(1, run), hit(2, None), heading(3..4), hit(3, run)]
        );
    }
}
