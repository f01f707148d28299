//! The times of a run as a picture: a row for each step, with a hatched bar while it waited for a person and a filled
//! bar while its tool worked; or the same as a table.

use egui::{Align2, Id, Rect, Sense, Stroke, Ui, pos2, vec2};

use super::EvidenceView;
use super::bars::{open_end, pause_band, wait_bar, work_bar};
use super::results::{CHANGED, known_look, run_ui};
use crate::plan::{one_line, visible_name};
use crate::run::{StepTimes, TimeSpan, Waterfall, tick_label, ticks};
use crate::ui::{
    Action, EvidenceAction, PlanAction, Text, Theme, Tone, controls, format, rows, theme, widgets,
};

/// The height of a step, in points.
const HEIGHT: f32 = 28.0;
/// The height of the axis above the steps, in points.
const AXIS: f32 = 22.0;
/// The width of the column with the duration or of a number of the table, in points.
const NUMBER: f32 = 86.0;
/// Below this width, in points, the picture has no column with durations, and the table no outcome.
const NARROW: f32 = 520.0;

/// How the person wants to see the times. Lasts until the window closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Choice {
    as_table: bool,
    without_waiting: bool,
}

fn choice_id() -> Id {
    Id::unique("how the times of a run are shown")
}

pub(super) fn times_ui(
    ui: &mut Ui,
    times: &Waterfall,
    view: &EvidenceView<'_>,
    actions: &mut Vec<Action>,
) {
    let mut choice: Choice = ui.data(|data| data.get_temp(choice_id())).unwrap_or_default();
    let before = choice;
    head_ui(ui, times, view, &mut choice, actions);
    if choice != before {
        ui.data_mut(|data| data.insert_temp(choice_id(), choice));
    }
    let columns = Columns::of(ui, times, choice);
    if choice.as_table {
        table_head_ui(ui, &columns);
    } else {
        axis_ui(ui, &columns);
    }
    widgets::line_below(ui);
    let is_selected = |step: &StepTimes| view.selected == Some(step.listed.row.execution_id);
    let reveal = view.scroll_to_selected.then(|| times.steps.iter().position(is_selected));
    rows::rows_ui(ui, "times", HEIGHT, times.steps.len(), reveal.flatten(), |ui, rect, index| {
        let Some(step) = times.steps.get(index) else { return };
        if step_ui(ui, rect, (step, index), &columns, is_selected(step)) {
            let id = step.listed.row.execution_id;
            actions.push(Action::Evidence(EvidenceAction::Open(id)));
        }
    });
}

/// The run, what its time was spent on, and the choices.
fn head_ui(
    ui: &mut Ui,
    times: &Waterfall,
    view: &EvidenceView<'_>,
    choice: &mut Choice,
    actions: &mut Vec<Action>,
) {
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), theme::ROW), Sense::hover());
    let counts = format::counted(times.run.step_count, "step");
    let counts = format!("{} of {counts}", format::count(times.steps.len() as u64));
    let verb = format!("Show the run {}", times.run.plan_name);
    if run_ui(ui, rect, &times.run, &counts, view.now, &verb) {
        actions.push(Action::Plan(PlanAction::OpenRun(times.run.run_id)));
    }
    widgets::line_below(ui);
    widgets::margins(8, 6).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 4.0;
        widgets::paragraph(ui, times.sentence(), Text::Body, Tone::Plain);
        ui.horizontal_wrapped(|ui| {
            for (name, as_table) in [("Picture", false), ("Table", true)] {
                if widgets::view_choice(ui, name, choice.as_table == as_table) {
                    choice.as_table = as_table;
                }
            }
            if times.waited_ms > 0 && !choice.as_table {
                ui.add_space(12.0);
                for (name, without) in [("Whole time", false), ("Without waiting", true)] {
                    if widgets::view_choice(ui, name, choice.without_waiting == without) {
                        choice.without_waiting = without;
                    }
                }
            }
            if !choice.as_table {
                ui.add_space(12.0);
                legend_ui(ui, times, choice.without_waiting);
            }
        });
    });
    widgets::line_below(ui);
}

/// The meaning of the bars.
fn legend_ui(ui: &mut Ui, times: &Waterfall, without_waiting: bool) {
    let theme = Theme::of(ui);
    let mut entry = |name: &str, draw: &dyn Fn(&Ui, Rect)| {
        let width = 20.0 + Text::Small.width_of(ui, name) + 10.0;
        let (rect, _) = ui.allocate_exact_size(vec2(width, 18.0), Sense::hover());
        let swatch =
            Rect::from_center_size(pos2(rect.left() + 7.0, rect.center().y), vec2(14.0, 10.0));
        draw(ui, swatch);
        let parts = [(name, Text::Small, theme.dim)];
        let left = pos2(rect.left() + 20.0, rect.center().y);
        widgets::paint_parts(ui, left, rect.width() - 20.0, &parts);
    };
    entry("working", &|ui, rect| work_bar(ui, rect, Tone::Accent));
    if times.waited_ms > 0 && !without_waiting {
        entry("waiting for a person", &wait_bar);
    }
    if !times.pauses.is_empty() && !without_waiting {
        entry("paused", &pause_band);
    }
    if times.steps.iter().any(StepTimes::is_open) {
        entry("no end recorded", &|ui, rect| open_end(ui, rect));
    }
}

/// Where the parts of a row are, and the scale of time.
struct Columns<'a> {
    choice: Choice,
    /// The width of number, icon and name, in points.
    name: f32,
    /// The width of what is right of the bars, in points.
    right: f32,
    /// When each step begins in the picture, in milliseconds.
    starts: Vec<i64>,
    total_ms: i64,
    pauses: &'a [TimeSpan],
    has_room: bool,
}

impl<'a> Columns<'a> {
    fn of(ui: &Ui, times: &'a Waterfall, choice: Choice) -> Self {
        let width = ui.available_width();
        let (starts, total_ms) = match choice.without_waiting {
            true => times.without_waiting(),
            false => (times.steps.iter().map(|step| step.begun_ms).collect(), times.total_ms),
        };
        let has_room = width >= NARROW;
        let numbers = if choice.as_table { 3.0 } else { f32::from(u8::from(has_room)) };
        Self {
            choice,
            // A narrow table has nothing between names and numbers.
            name: if choice.as_table && !has_room {
                (width - numbers * NUMBER - 18.0).max(130.0)
            } else {
                (width * 0.36).clamp(130.0, 360.0)
            },
            right: numbers * NUMBER + 18.0,
            starts,
            total_ms,
            pauses: if choice.without_waiting { &[] } else { &times.pauses },
            has_room,
        }
    }

    /// The place of the bars in a row.
    fn track(&self, row: Rect) -> Rect {
        let mut track = row;
        track.min.x = row.left() + self.name;
        track.max.x = (row.right() - self.right).max(track.min.x + 1.0);
        track
    }

    /// The part of the track during a span of time. Even the shortest one stays visible.
    fn bar(&self, track: Rect, span: TimeSpan) -> Rect {
        let x = |ms: i64| {
            let share = ms as f64 / self.total_ms.max(1) as f64;
            track.left() + track.width() * share.clamp(0.0, 1.0) as f32
        };
        let left = x(span.from_ms).min(track.right() - 2.0);
        let right = x(span.to_ms).max(left + 2.0);
        Rect::from_x_y_ranges(left..=right, track.shrink2(vec2(0.0, 8.0)).y_range())
    }

    fn ticks(&self, track: Rect) -> Vec<(f32, i64)> {
        let most = (track.width() / 90.0).max(1.0) as usize;
        let place = |ms: i64| {
            let share = ms as f64 / self.total_ms.max(1) as f64;
            (track.left() + track.width() * share as f32, ms)
        };
        ticks(self.total_ms, most).into_iter().map(place).collect()
    }
}

fn axis_ui(ui: &mut Ui, columns: &Columns<'_>) {
    let theme = Theme::of(ui);
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), AXIS), Sense::hover());
    let track = columns.track(rect);
    let middle = rect.center().y;
    let title = [("step", Text::Small, theme.dim)];
    widgets::paint_parts(ui, pos2(rect.left() + 18.0, middle), 60.0, &title);
    let mut end = track.left();
    for (x, ms) in std::iter::once((track.left(), 0)).chain(columns.ticks(track)) {
        let label = if ms == 0 { "0".to_owned() } else { tick_label(ms) };
        let half = Text::Small.width_of(ui, &label) / 2.0;
        // The first and the last label must not leave the track.
        let center = x.max(track.left() + half).min(track.right().max(track.left() + half) + half);
        if ms > 0 && center - half < end + 8.0 {
            continue;
        }
        end = center + half;
        ui.painter().text(
            pos2(center, middle),
            Align2::CENTER_CENTER,
            label,
            Text::Small.font(),
            theme.dim,
        );
    }
    if columns.has_room {
        let right = pos2(rect.right() - 18.0, middle);
        widgets::paint_right(ui, right, ("worked", Text::Small, theme.dim));
    }
}

fn table_head_ui(ui: &mut Ui, columns: &Columns<'_>) {
    let theme = Theme::of(ui);
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), AXIS), Sense::hover());
    let middle = rect.center().y;
    let title = [("step", Text::Small, theme.dim)];
    widgets::paint_parts(ui, pos2(rect.left() + 18.0, middle), 60.0, &title);
    let track = columns.track(rect);
    if columns.has_room {
        let outcome = [("outcome", Text::Small, theme.dim)];
        widgets::paint_parts(ui, pos2(track.left() + 8.0, middle), track.width(), &outcome);
    }
    for (index, name) in ["worked", "waited", "began after"].into_iter().enumerate() {
        let right = rect.right() - 18.0 - NUMBER * index as f32;
        widgets::paint_right(ui, pos2(right, middle), (name, Text::Small, theme.dim));
    }
}

/// Draws a step. Returns whether it was clicked.
fn step_ui(
    ui: &mut Ui,
    rect: Rect,
    (step, index): (&StepTimes, usize),
    columns: &Columns<'_>,
    selected: bool,
) -> bool {
    let theme = Theme::of(ui);
    let row = &step.listed.row;
    let look = if step.listed.changed { CHANGED } else { known_look(row.known) };
    let (icon, word, tone) = look;
    let response = ui.interact(rect, ui.scope_id().with(row.execution_id), Sense::click());
    rows::row_background(ui, &response, selected);
    let middle = rect.center().y;
    let number = (row.step_index + 1).to_string();
    widgets::paint_right(ui, pos2(rect.left() + 42.0, middle), (&number, Text::Mono, theme.dim));
    widgets::paint_icon(ui, pos2(rect.left() + 58.0, middle), icon, 15.0, theme.tone(tone));
    let is_command = row.tool_name == "shell";
    let about = if is_command { one_line(&row.about) } else { visible_name(&row.about) };
    let subject = [(&*about, Text::Mono, theme.text), (&row.tool_name, Text::Small, theme.dim)];
    let left = rect.left() + 72.0;
    widgets::paint_parts(ui, pos2(left, middle), columns.name - 72.0 - 12.0, &subject);
    if columns.choice.as_table {
        numbers_ui(ui, rect, step, columns, word);
    } else {
        bars_ui(ui, rect, (step, index), columns, tone);
    }
    let name = || {
        let subject = format!("{} {about}", row.tool_name);
        format!("Step {number} {subject}, {word}, {}", times_words(step))
    };
    let clicked = controls::list_row(ui, &response, (selected, index), name);
    rows::row_tooltip(&response, false, format!("{about}\n{word}, {}", times_words(step)));
    clicked
}

/// When a step began, how long it waited, and how long it worked, in words.
fn times_words(step: &StepTimes) -> String {
    let mut words = format!("began {} after the start", format::duration(step.begun_ms));
    if step.waited_ms > 0 {
        let waited = format::duration(step.waited_ms);
        words.push_str(&format!(", waited {waited} for a person"));
    }
    match step.worked_ms {
        Some(worked) => words.push_str(&format!(", worked {}", format::duration(worked))),
        None if step.is_open() => words.push_str(", its end is not recorded"),
        None => words.push_str(", its tool was not called"),
    }
    words
}

fn numbers_ui(ui: &Ui, rect: Rect, step: &StepTimes, columns: &Columns<'_>, word: &str) {
    let theme = Theme::of(ui);
    let middle = rect.center().y;
    let track = columns.track(rect);
    if columns.has_room {
        let outcome = [(word, Text::Meta, theme.dim)];
        widgets::paint_parts(ui, pos2(track.left() + 8.0, middle), track.width() - 8.0, &outcome);
    }
    let waited = (step.waited_ms > 0).then_some(step.waited_ms);
    let numbers = [step.worked_ms, waited, Some(step.begun_ms)];
    for (index, ms) in numbers.into_iter().enumerate() {
        let text = ms.map_or_else(|| "–".to_owned(), format::duration);
        let color = if ms.is_some() { theme.text } else { theme.dim };
        let right = rect.right() - 18.0 - NUMBER * index as f32;
        widgets::paint_right(ui, pos2(right, middle), (&text, Text::Mono, color));
    }
}

fn bars_ui(
    ui: &Ui,
    rect: Rect,
    (step, index): (&StepTimes, usize),
    columns: &Columns<'_>,
    tone: Tone,
) {
    let theme = Theme::of(ui);
    let track = columns.track(rect);
    let line = Stroke::new(1.0, theme.line);
    for (x, _) in columns.ticks(track) {
        ui.painter().vline(x, rect.y_range(), line);
    }
    for pause in columns.pauses {
        let bar = columns.bar(track, *pause);
        pause_band(ui, Rect::from_x_y_ranges(bar.x_range(), rect.y_range()));
    }
    let moved = columns.starts.get(index).copied().unwrap_or(step.begun_ms);
    let waited = if columns.choice.without_waiting { 0 } else { step.waited_ms };
    if waited > 0 {
        let span = TimeSpan { from_ms: moved, to_ms: moved + waited };
        wait_bar(ui, columns.bar(track, span));
    }
    let from_ms = moved + waited;
    if let Some(worked) = step.worked_ms {
        let tone = if tone == Tone::Danger || tone == Tone::Caution { tone } else { Tone::Accent };
        work_bar(ui, columns.bar(track, TimeSpan { from_ms, to_ms: from_ms + worked }), tone);
    } else if step.is_open() {
        open_end(ui, columns.bar(track, TimeSpan { from_ms, to_ms: columns.total_ms }));
    }
    if columns.has_room {
        let text = step.worked_ms.map_or_else(|| "–".to_owned(), format::duration);
        let right = pos2(rect.right() - 18.0, rect.center().y);
        widgets::paint_right(ui, right, (&text, Text::Mono, theme.dim));
    }
}
