//! The output of all steps of the run, in order of arrival, below the steps.
//!
//! Lines are not wrapped, so that all rows have the same height and only the visible ones are laid out.
//! The pane follows the end of the output until the person scrolls.

use egui::{
    Align, CornerRadius, Key, Layout, Rect, Role, ScrollArea, Sense, Stroke, Ui, Vec2b, WidgetInfo,
    pos2, vec2,
};

use super::code::{Piece, paint};
use super::{PlanView, outcome_look, step_row};
use crate::run::{Outcome, Part, Phase, StepState, Stream, TranscriptLine};
use crate::ui::{
    Action, Command, PlanAction, Text, Theme, controls, format, icon, scroll, theme, widgets,
};

/// The width of the stream name in front of a line, in points.
const GUTTER: f32 = 62.0;
/// The height of the pane's header, in points.
const HEADER: f32 = 32.0;

pub(super) fn output_pane_ui(ui: &mut Ui, view: &PlanView<'_>, actions: &mut Vec<Action>) {
    // The pane keeps the height that the person chose, whatever its content.
    ui.set_min_height(ui.available_height());
    header_ui(ui, view, actions);
    let transcript = &view.output.transcript;
    // A first row says how many lines were dropped, if any were.
    let first_line = usize::from(transcript.left_out() > 0);
    let count = transcript.lines().len() + first_line;
    if count == 0 {
        let text = "The output of the steps appears here, in order of arrival.";
        let offer = (icon::CLOSE, "Close the output");
        if widgets::empty_state(ui, icon::TERMINAL, ("No output", text), offer) {
            actions.push(Action::Do(Command::ToggleOutput));
        }
        return;
    }
    let advance = ui.ctx().fonts_mut(|fonts| fonts.glyph_width(&Text::Mono.font(), 'M')).max(1.0);
    let width = GUTTER + advance * transcript.longest() as f32 + 16.0;
    ScrollArea::new(Vec2b::TRUE)
        .id_salt(("output of", view.run.run_id))
        .auto_shrink([false, false])
        .stick_to_bottom(true)
        .show_viewport(ui, |ui, viewport| {
            let visible = ui.clip_rect();
            take_keys(ui, visible);
            // The horizontal scroll bar lies over the end of the contents.
            let below = if width > visible.width() { theme::SCROLL_BAR } else { 0.0 };
            let height = theme::CODE_ROW * count as f32 + below;
            let size = vec2(width.max(visible.width()), height);
            let (all, _) = ui.allocate_exact_size(size, Sense::hover());
            keep_position(ui, view.output.transcript.left_out(), count, viewport.bottom());
            let first = (viewport.top() / theme::CODE_ROW).floor().max(0.0) as usize;
            let last = (viewport.bottom() / theme::CODE_ROW).ceil().max(0.0) as usize;
            for row in first..last.min(count) {
                let top = all.top() + theme::CODE_ROW * row as f32;
                let rect =
                    Rect::from_min_size(pos2(all.left(), top), vec2(size.x, theme::CODE_ROW));
                let Some(index) = row.checked_sub(first_line) else {
                    let lines = format::counted(transcript.left_out() as usize, "line");
                    let text =
                        format!("{lines} before this are not shown; the evidence has all of them.");
                    remark_ui(ui, rect, &text);
                    continue;
                };
                let Some(line) = transcript.lines().get(index) else { continue };
                match line.part {
                    Part::Heading => heading_ui(ui, rect, view, line.step_index, actions),
                    Part::Remark => remark_ui(ui, rect, &line.text),
                    Part::Host(outcome) => host_ui(ui, rect, outcome, &line.text),
                    Part::Output(stream) => {
                        let before = index.checked_sub(1).and_then(|it| transcript.lines().get(it));
                        let same_stream = before.is_some_and(|it| it.part == line.part);
                        line_ui(ui, rect, line, stream, !same_stream || row == first);
                    }
                }
            }
        });
}

/// Makes the pane focusable, and scrolls it by keys while it has the focus.
fn take_keys(ui: &Ui, visible: Rect) {
    let id = ui.scope_id().with("lines");
    let response = ui.interact(visible, id, Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::List, true, "Output of the run"));
    if response.clicked() {
        response.request_focus();
    }
    let keys = [&scroll::VERTICAL_KEYS[..], &[Key::ArrowRight, Key::ArrowLeft]].concat();
    if let Some(delta) = scroll::by_key_of(ui, &response, &keys) {
        ui.scroll_with_delta_animation(delta, egui::style::ScrollAnimation::none());
    }
}

/// Scrolls so that the visible lines do not move while older lines are dropped, if the person has scrolled back.
/// `left_out` is the number of dropped lines.
fn keep_position(ui: &Ui, left_out: u64, count: usize, bottom: f32) {
    let id = ui.scope_id().with("place");
    let before = ui.data_mut(|data| {
        let before = data.get_temp::<(u64, usize)>(id);
        data.insert_temp(id, (left_out, count));
        before
    });
    let Some((left_out_before, count_before)) = before else { return };
    let dropped_height = left_out.saturating_sub(left_out_before) as f32 * theme::CODE_ROW;
    let at_end = bottom + theme::CODE_ROW > theme::CODE_ROW * count_before as f32;
    if dropped_height > 0.0 && !at_end {
        ui.scroll_with_delta_animation(
            vec2(0.0, dropped_height),
            egui::style::ScrollAnimation::none(),
        );
    }
}

fn header_ui(ui: &mut Ui, view: &PlanView<'_>, actions: &mut Vec<Action>) {
    let theme = Theme::of(ui);
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), HEADER), Sense::hover());
    ui.painter().rect_filled(rect, CornerRadius::ZERO, theme.panel);
    ui.painter().hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, theme.line));
    let lines = view.output.transcript.printed() as usize;
    let count = if lines > 0 {
        format!("{} printed", format::counted(lines, "line"))
    } else {
        String::new()
    };
    let parts = [("Output", Text::Strong, theme.text), (&*count, Text::Meta, theme.dim)];
    let left = pos2(rect.left() + 18.0, rect.center().y);
    widgets::paint_parts(ui, left, (rect.width() - 120.0).max(0.0), &parts);
    let buttons = egui::UiBuilder::new()
        .max_rect(rect.shrink2(vec2(12.0, 0.0)))
        .layout(Layout::right_to_left(Align::Center));
    ui.scope_builder(buttons, |ui| {
        if widgets::icon_button(ui, icon::CLOSE, "Hide the output").clicked() {
            actions.push(Action::Do(Command::ToggleOutput));
        }
        if lines > 0 && widgets::icon_button(ui, icon::COPY, "Copy all output").clicked() {
            actions.push(Action::Plan(PlanAction::CopyOutput));
        }
    });
}

/// Draws the heading of a step's output: its state, what it does, and at the right its exit code and duration.
fn heading_ui(
    ui: &Ui,
    row_rect: Rect,
    view: &PlanView<'_>,
    index: usize,
    actions: &mut Vec<Action>,
) {
    let theme = Theme::of(ui);
    let Some(row) = step_row(view, index) else { return };
    // The heading does not scroll horizontally.
    let rect = Rect::from_x_y_ranges(ui.clip_rect().x_range(), row_rect.y_range());
    let response = ui.interact(rect, ui.scope_id().with(("heading", index)), Sense::click());
    let background = if response.hovered() { theme.hover } else { theme.raised };
    ui.painter().rect_filled(rect, CornerRadius::ZERO, background);
    let middle = rect.center().y;
    widgets::paint_icon(ui, pos2(rect.left() + 24.0, middle), row.icon, 14.0, theme.tone(row.tone));
    let summary = result_summary(view, index);
    let right = pos2(rect.right() - 16.0, middle);
    let color = if row.tone == theme::Tone::Danger { theme.danger } else { theme.dim };
    let summary_left =
        right.x - widgets::paint_right(ui, right, (&summary, Text::SmallMono, color));
    let left = rect.left() + 40.0;
    let number = format!("{}", row.number);
    let parts = [
        (number.as_str(), Text::Mono, theme.dim),
        (row.verb.as_str(), Text::Body, theme.text),
        (&*row.object, Text::Mono, theme.text),
        (row.place.as_deref().unwrap_or_default(), Text::Small, theme.dim),
    ];
    widgets::paint_parts(ui, pos2(left, middle), (summary_left - 16.0 - left).max(0.0), &parts);
    let name = || format!("Output of step {}, {}, {summary}", row.number, row.state);
    if controls::painted_button(ui, &response, name) {
        actions.push(Action::Plan(PlanAction::SelectStep(index)));
    }
}

/// The exit code and duration of a finished step, the time for which a step has run, or another state; empty for a step
/// that has not begun.
fn result_summary(view: &PlanView<'_>, index: usize) -> String {
    match view.run.steps.get(index) {
        // Nothing was executed for this step.
        Some(StepState::Done(result)) if result.outcome.never_started() => {
            outcome_look(result.outcome).1.to_owned()
        }
        Some(StepState::Done(result)) => {
            let code = result.exit_code.map(|code| format!("exit {code}  "));
            format!("{}{}", code.unwrap_or_default(), format::duration(result.duration_ms))
        }
        Some(StepState::Running) if matches!(view.run.phase, Phase::AwaitingConfirmation(_)) => {
            "waits for you".to_owned()
        }
        // The evidence of a step has its times once it has ended.
        Some(StepState::Running) if view.runs_elsewhere() => "running".to_owned(),
        Some(StepState::Running) if view.run.is_active() => {
            let now = view.now.ms;
            let idle = view.output.timer.idle_ms(now);
            let idle = idle.map(|ms| format!(", silent for {}", format::clock(ms)));
            let elapsed = format::clock(view.output.timer.elapsed_ms(now));
            format!("running {elapsed}{}", idle.unwrap_or_default())
        }
        _ => String::new(),
    }
}

fn remark_ui(ui: &Ui, rect: Rect, text: &str) {
    let theme = Theme::of(ui);
    let start = pos2(rect.left() + GUTTER, rect.center().y);
    widgets::paint_parts(ui, start, f32::INFINITY, &[(text, Text::Small, theme.dim)]);
    set_name(ui, rect, text.to_owned());
}

/// Draws the name of a host above its output.
fn host_ui(ui: &Ui, rect: Rect, outcome: Outcome, host: &str) {
    let theme = Theme::of(ui);
    let (icon, word, tone) = outcome_look(outcome);
    let middle = rect.center().y;
    let left = rect.left() + GUTTER;
    ui.painter().hline(left..=rect.right(), rect.top() + 0.5, Stroke::new(1.0, theme.line));
    widgets::paint_icon(ui, pos2(left - 14.0, middle), icon, 14.0, theme.tone(tone));
    widgets::paint_parts(
        ui,
        pos2(left, middle),
        f32::INFINITY,
        &[(host, Text::SmallMono, theme.dim)],
    );
    set_name(ui, rect, format!("Host {host}, {word}"));
}

/// Sets the accessible name of a line.
fn set_name(ui: &Ui, rect: Rect, name: String) {
    let id = ui.scope_id().with(("line", rect.top() as i64));
    let response = ui.interact(rect.intersect(ui.clip_rect()), id, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &name));
}

/// Draws a line of output. `names_stream` writes `stderr` in front of a line from standard error.
fn line_ui(ui: &Ui, rect: Rect, line: &TranscriptLine, stream: Stream, names_stream: bool) {
    let theme = Theme::of(ui);
    let middle = rect.center().y;
    if stream == Stream::Stderr {
        let bar = Rect::from_min_size(rect.left_top(), vec2(3.0, rect.height()));
        ui.painter().rect_filled(bar, CornerRadius::ZERO, theme.caution);
        if names_stream {
            let right = pos2(rect.left() + GUTTER - 10.0, middle);
            widgets::paint_right(ui, right, ("stderr", Text::SmallMono, theme.caution));
        }
    }
    let mut pieces = Vec::with_capacity(2 * line.styles.len() + 1);
    let mut end = 0;
    for (range, style) in &line.styles {
        let before = line.text.get(end..range.start).unwrap_or_default();
        let styled = line.text.get(range.clone()).unwrap_or_default();
        let (colour, underline) = theme.ansi_style(*style, theme.text);
        pieces.push(Piece::plain(before, theme.text));
        pieces.push(Piece { underline, ..Piece::plain(styled, colour) });
        end = range.end;
    }
    pieces.push(Piece::plain(line.text.get(end..).unwrap_or_default(), theme.text));
    pieces.retain(|piece| !piece.text.is_empty());
    paint(ui, pos2(rect.left() + GUTTER, middle), pieces);
    let stream = if stream == Stream::Stderr { "stderr: " } else { "" };
    set_name(ui, rect, format!("{stream}{}", line.text));
}

#[cfg(test)]
mod tests {
    use egui::{Key, Modifiers};
    use egui_kittest::kittest::Queryable as _;

    use crate::ui::action::{Action, PlanAction};
    use crate::ui::tests::window;

    const LAST: &str = "stderr:  --> src/lexer.rs:41:9";

    #[test]
    fn output_follows_its_end_until_scrolled() {
        let mut harness = window("output-many", [1280.0, 800.0]);
        assert!(
            harness.query_all_by_label_contains("lines before this are not shown").count() == 0
        );
        assert!(harness.query_by_label_contains("Output of step 3").is_none());
        harness.get_by_label("Output of the run").focus();
        harness.run_ok();
        harness.key_press(Key::Home);
        harness.run_ok();
        assert_eq!(harness.query_all_by_label_contains("are not shown").count(), 1);
        harness.key_press(Key::End);
        harness.run_ok();
        assert!(harness.query_all_by_label_contains("stderr: ").count() > 0);
    }

    #[test]
    fn output_marks_stderr_and_links_steps() {
        let mut harness = window("output-failed", [1280.0, 1200.0]);
        assert!(harness.query_all_by_label(LAST).count() > 0);
        let heading = "Output of step 1, succeeded, 12 ms";
        harness.get_by_label(heading).click();
        harness.run_ok();
        let select = Action::Plan(PlanAction::SelectStep(0));
        assert!(harness.state().actions.contains(&select), "{:?}", harness.state().actions);
    }

    #[test]
    fn heading_shows_running_and_silent_time() {
        for (name, text) in [
            ("command-running", "running 00:01:23, silent for 00:00:42"),
            ("output", "running 00:01:23"),
        ] {
            let mut harness = window(name, [1280.0, 800.0]);
            harness.get_by_label("Output of the run").focus();
            harness.run_ok();
            harness.key_press(Key::Home);
            harness.run_ok();
            harness.get_by_label(&format!("Output of step 3, running, {text}"));
        }
    }

    #[test]
    fn key_hides_and_shows_the_output() {
        let mut harness = window("output", [1280.0, 800.0]);
        for shown in [false, true] {
            harness.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, Key::O);
            harness.run_ok();
            assert_eq!(harness.query_by_label("Copy all output").is_some(), shown);
        }
    }
}
