//! All output of the run, in order of arrival, below the steps.
//!
//! Lines are not wrapped and have the same height, so that fifty thousand lines cost no more than the visible ones.
//! The pane follows the end of the output until the person scrolls.

use egui::{
    Align, CornerRadius, Key, Layout, Modifiers, Rect, Role, ScrollArea, Sense, Stroke, Ui, Vec2b,
    WidgetInfo, pos2, vec2,
};

use super::code::{Piece, paint};
use super::{PlanView, outcome_look, step_row};
use crate::run::{Outcome, Part, Phase, StepState, Stream, TranscriptLine};
use crate::ui::action::{Action, PlanAction};
use crate::ui::artifact::keep_keyboard;
use crate::ui::commands::Command;
use crate::ui::scroll;
use crate::ui::theme::{self, Text, Theme};
use crate::ui::{format, icon, widgets};

/// The width of the stream name in front of a line, in points.
const GUTTER: f32 = 62.0;
/// The height of the pane's header, in points.
const HEAD: f32 = 32.0;

pub(super) fn output_pane_ui(ui: &mut Ui, view: &PlanView<'_>, actions: &mut Vec<Action>) {
    // The pane keeps the height that the person chose, whatever its content.
    ui.set_min_height(ui.available_height());
    head_ui(ui, view, actions);
    let transcript = &view.output.transcript;
    let extra = usize::from(transcript.left_out() > 0);
    let count = transcript.lines().len() + extra;
    if count == 0 {
        let text = "The output of the steps appears here, in order of arrival.";
        widgets::empty_state(ui, icon::TERMINAL, "No output", text);
        return;
    }
    let advance = ui.ctx().fonts_mut(|fonts| fonts.glyph_width(&Text::Mono.font(), 'M')).max(1.0);
    let width = GUTTER + advance * transcript.longest() as f32 + 16.0;
    ScrollArea::new(Vec2b::TRUE)
        .id_salt(("output of", view.run.run_id))
        .auto_shrink([false, false])
        .stick_to_bottom(true)
        .show_viewport(ui, |ui, viewport| {
            let seen = ui.clip_rect();
            take_keys(ui, seen);
            let size = vec2(width.max(seen.width()), theme::CODE_ROW * count as f32);
            let (whole, _) = ui.allocate_exact_size(size, Sense::hover());
            keep_place(ui, view.output.transcript.left_out(), count, viewport.bottom());
            let first = (viewport.top() / theme::CODE_ROW).floor().max(0.0) as usize;
            let last = (viewport.bottom() / theme::CODE_ROW).ceil().max(0.0) as usize;
            for row in first..last.min(count) {
                let top = whole.top() + theme::CODE_ROW * row as f32;
                let place =
                    Rect::from_min_size(pos2(whole.left(), top), vec2(size.x, theme::CODE_ROW));
                let Some(index) = row.checked_sub(extra) else {
                    let lines = format::counted(transcript.left_out() as usize, "line");
                    let text =
                        format!("{lines} before this are not shown; the evidence has all of them.");
                    remark_ui(ui, place, &text);
                    continue;
                };
                let Some(line) = transcript.lines().get(index) else { continue };
                match line.part {
                    Part::Heading => heading_ui(ui, place, view, line.step_index, actions),
                    Part::Remark => remark_ui(ui, place, &line.text),
                    Part::Output(stream) => {
                        let before = index.checked_sub(1).and_then(|at| transcript.lines().get(at));
                        let goes_on = before.is_some_and(|it| it.part == line.part);
                        line_ui(ui, place, line, stream, !goes_on || row == first);
                    }
                }
            }
        });
}

/// Scrolls the pane with the usual keys while it has the focus, which it gets by Tab or a click.
fn take_keys(ui: &Ui, seen: Rect) {
    let id = ui.scope_id().with("lines");
    let response = ui.interact(seen, id, Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::List, true, "Output of the run"));
    if response.clicked() {
        response.request_focus();
    }
    if !response.has_focus() {
        return;
    }
    keep_keyboard(ui, id);
    widgets::focus_ring(ui, &response);
    let keys = [&scroll::VERTICAL_KEYS[..], &[Key::ArrowRight, Key::ArrowLeft]].concat();
    if let Some(by) = scroll::pressed(ui.ctx(), seen.height(), &keys) {
        ui.scroll_with_delta_animation(by, egui::style::ScrollAnimation::none());
    }
    if ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape)) {
        response.surrender_focus();
    }
}

/// Keeps the visible lines in place while older lines are dropped, if the person has scrolled back.
fn keep_place(ui: &Ui, left_out: u64, count: usize, bottom: f32) {
    let id = ui.scope_id().with("place");
    let before = ui.data_mut(|data| {
        let before = data.get_temp::<(u64, usize)>(id);
        data.insert_temp(id, (left_out, count));
        before
    });
    let Some((left_out_before, count_before)) = before else { return };
    let gone = left_out.saturating_sub(left_out_before) as f32 * theme::CODE_ROW;
    let at_end = bottom + theme::CODE_ROW > theme::CODE_ROW * count_before as f32;
    if gone > 0.0 && !at_end {
        ui.scroll_with_delta_animation(vec2(0.0, gone), egui::style::ScrollAnimation::none());
    }
}

fn head_ui(ui: &mut Ui, view: &PlanView<'_>, actions: &mut Vec<Action>) {
    let theme = Theme::of(ui);
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), HEAD), Sense::hover());
    ui.painter().rect_filled(rect, CornerRadius::ZERO, theme.panel);
    ui.painter().hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, theme.line));
    let printed = view.output.transcript.printed() as usize;
    let lines = if printed > 0 { format::counted(printed, "line") } else { String::new() };
    let parts = [("Output", Text::Strong, theme.text), (&*lines, Text::Meta, theme.dim)];
    let left = pos2(rect.left() + 18.0, rect.center().y);
    widgets::paint_parts(ui, left, (rect.width() - 120.0).max(0.0), &parts);
    let buttons = egui::UiBuilder::new()
        .max_rect(rect.shrink2(vec2(12.0, 0.0)))
        .layout(Layout::right_to_left(Align::Center));
    ui.scope_builder(buttons, |ui| {
        if widgets::icon_button(ui, icon::CLOSE, "Hide the output").clicked() {
            actions.push(Action::Do(Command::ToggleOutput));
        }
        if printed > 0 && widgets::icon_button(ui, icon::COPY, "Copy all output").clicked() {
            actions.push(Action::Plan(PlanAction::CopyOutput));
        }
    });
}

/// The heading of a step's output: its state, what it does, and at the right its exit code and duration.
fn heading_ui(ui: &Ui, place: Rect, view: &PlanView<'_>, index: usize, actions: &mut Vec<Action>) {
    let theme = Theme::of(ui);
    let Some(row) = step_row(view, index) else { return };
    // The heading stays in place during horizontal scrolling.
    let seen = ui.clip_rect();
    let rect = Rect::from_x_y_ranges(seen.x_range(), place.y_range());
    let response = ui.interact(rect, ui.scope_id().with(("heading", index)), Sense::click());
    let ground = if response.hovered() { theme.hover } else { theme.raised };
    ui.painter().rect_filled(rect, CornerRadius::ZERO, ground);
    let middle = rect.center().y;
    widgets::paint_icon(ui, pos2(rect.left() + 24.0, middle), row.icon, 14.0, theme.tone(row.tone));
    let how = how_it_went(view, index);
    let right = pos2(rect.right() - 16.0, middle);
    let tone = if row.tone == theme::Tone::Danger { theme.danger } else { theme.dim };
    let taken = right.x - widgets::paint_right(ui, right, &how, Text::SmallMono, tone);
    let left = rect.left() + 40.0;
    let number = format!("{}", row.number);
    let parts = [
        (number.as_str(), Text::Mono, theme.dim),
        (row.verb.as_str(), Text::Body, theme.text),
        (&*row.object, Text::Mono, theme.text),
    ];
    widgets::paint_parts(ui, pos2(left, middle), (taken - 16.0 - left).max(0.0), &parts);
    widgets::focus_ring(ui, &response);
    response.widget_info(|| {
        let name = format!("Output of step {}, {}, {how}", row.number, row.state);
        WidgetInfo::labeled(Role::Button, true, name)
    });
    if response.clicked() {
        actions.push(Action::Plan(PlanAction::SelectStep(index)));
    }
}

fn how_it_went(view: &PlanView<'_>, index: usize) -> String {
    match view.run.steps.get(index) {
        // Nothing was executed for this step.
        Some(StepState::Done(result))
            if matches!(result.outcome, Outcome::Skipped | Outcome::DoneByHand) =>
        {
            outcome_look(result.outcome).1.to_owned()
        }
        Some(StepState::Done(result)) => {
            let code = result.exit_code.map(|code| format!("exit {code}  "));
            format!("{}{}", code.unwrap_or_default(), format::duration(result.duration_ms))
        }
        Some(StepState::Running) if matches!(view.run.phase, Phase::AwaitingConfirmation(_)) => {
            "waits for you".to_owned()
        }
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

fn remark_ui(ui: &Ui, place: Rect, text: &str) {
    let theme = Theme::of(ui);
    let at = pos2(place.left() + GUTTER, place.center().y);
    widgets::paint_parts(ui, at, f32::INFINITY, &[(text, Text::Small, theme.dim)]);
    set_name(ui, place, text.to_owned());
}

/// Sets the accessible name of a line.
fn set_name(ui: &Ui, place: Rect, words: String) {
    let id = ui.scope_id().with(("line", place.top() as i64));
    let response = ui.interact(place.intersect(ui.clip_rect()), id, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &words));
}

fn line_ui(ui: &Ui, place: Rect, line: &TranscriptLine, stream: Stream, marked: bool) {
    let theme = Theme::of(ui);
    let middle = place.center().y;
    if stream == Stream::Stderr {
        let bar = Rect::from_min_size(place.left_top(), vec2(3.0, place.height()));
        ui.painter().rect_filled(bar, CornerRadius::ZERO, theme.caution);
        if marked {
            let at = pos2(place.left() + GUTTER - 10.0, middle);
            widgets::paint_right(ui, at, "stderr", Text::SmallMono, theme.caution);
        }
    }
    let mut pieces = Vec::with_capacity(2 * line.inks.len() + 1);
    let mut end = 0;
    for (range, style) in &line.inks {
        let before = line.text.get(end..range.start).unwrap_or_default();
        let styled = line.text.get(range.clone()).unwrap_or_default();
        let (colour, underline) = theme.ink(*style, theme.text);
        pieces.push(Piece::plain(before, theme.text));
        pieces.push(Piece { underline, ..Piece::plain(styled, colour) });
        end = range.end;
    }
    pieces.push(Piece::plain(line.text.get(end..).unwrap_or_default(), theme.text));
    pieces.retain(|piece| !piece.text.is_empty());
    paint(ui, pos2(place.left() + GUTTER, middle), pieces);
    let stream = if stream == Stream::Stderr { "stderr: " } else { "" };
    set_name(ui, place, format!("{stream}{}", line.text));
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
        let picked = Action::Plan(PlanAction::SelectStep(0));
        assert!(harness.state().actions.contains(&picked), "{:?}", harness.state().actions);
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
