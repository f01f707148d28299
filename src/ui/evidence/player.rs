//! A recorded run, played back: the steps as they were at a moment, what a person answered, and what the step printed.

use egui::{
    CornerRadius, FocusDirection, Key, Modifiers, Rect, Role, ScrollArea, Sense, Stroke, Ui,
    WidgetInfo, pos2, vec2,
};

use super::EvidenceView;
use super::results::{CHANGED, error_line, known_look, run_ui};
use crate::plan::{one_line, visible_name};
use crate::run::{DecidedBy, DecisionRecord, Playback, StepPhase};
use crate::ui::action::PlayerAction;
use crate::ui::plan::{Gutter, cached_rows, code_rows_ui, columns, text_rows};
use crate::ui::{
    Action, EvidenceAction, Icon, Look, PlanAction, Text, Theme, Tone, artifact, controls, format,
    icon, rows, scroll, theme, widgets,
};

/// The height of a step, in points.
const HEIGHT: f32 = 28.0;
/// Below this width, in points, the output is below the steps.
const NARROW: f32 = 640.0;
/// The speeds that can be chosen.
pub(super) const SPEEDS: [u8; 4] = [1, 2, 4, 8];

/// The state of the player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlayerView {
    /// The time of the playback, in milliseconds.
    pub at_ms: i64,
    /// Whether it goes on by itself.
    pub is_playing: bool,
    /// How many times as fast as usual it is.
    pub speed: u8,
}

impl Default for PlayerView {
    fn default() -> Self {
        Self { at_ms: 0, is_playing: false, speed: 1 }
    }
}

pub(super) fn player_ui(
    ui: &mut Ui,
    playback: &Playback,
    view: &EvidenceView<'_>,
    actions: &mut Vec<Action>,
) {
    let player = view.player;
    if player.is_playing {
        ui.ctx().request_repaint();
    }
    let mut act = Vec::new();
    keys(ui, playback, player, &mut act);
    let run = &playback.times.run;
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), theme::ROW), Sense::hover());
    let counts = format::counted(playback.times.steps.len(), "recorded step");
    if run_ui(ui, rect, run, &counts, view.now, &format!("Show the run {}", run.plan_name)) {
        actions.push(Action::Plan(PlanAction::OpenRun(run.run_id)));
    }
    widgets::line_below(ui);
    widgets::margins(8, 8).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 6.0;
        controls_ui(ui, playback, player, &mut act);
        bar_ui(ui, playback, player, &mut act);
    });
    widgets::line_below(ui);
    let height = ui.available_height();
    if ui.available_width() < NARROW {
        ui.allocate_ui(vec2(ui.available_width(), height * 0.45), |ui| {
            steps_ui(ui, playback, player, &mut act);
        });
        widgets::line_below(ui);
        current_ui(ui, playback, player, &mut act);
    } else {
        let all = ui.available_rect_before_wrap();
        let (left, right) = all.split_left_right_at_fraction(0.5);
        ui.scope_builder(egui::UiBuilder::new().max_rect(left), |ui| {
            steps_ui(ui, playback, player, &mut act);
        });
        ui.scope_builder(egui::UiBuilder::new().max_rect(right), |ui| {
            current_ui(ui, playback, player, &mut act);
        });
        ui.painter().vline(right.left(), all.y_range(), Stroke::new(1.0, Theme::of(ui).line));
    }
    actions.extend(act.into_iter().map(|it| Action::Evidence(EvidenceAction::Play(it))));
}

/// The start of the next step, or of the one before.
fn step_by(playback: &Playback, player: PlayerView, forward: bool) -> PlayerAction {
    let current = playback.current(player.at_ms);
    let at_ms = match (current, forward) {
        (None, true) => playback.start_of(0),
        (Some(step), true) => playback.start_of(step + 1),
        (None | Some(0), false) => 0,
        (Some(step), false) => playback.start_of(step - 1),
    };
    PlayerAction::Seek(at_ms)
}

/// Space plays and pauses, the arrow keys go to the next step and to the one before, plus and minus change the speed.
fn keys(ui: &Ui, playback: &Playback, player: PlayerView, act: &mut Vec<PlayerAction>) {
    let is_busy = ui.ctx().text_edit_focused()
        || egui::Popup::is_any_open(ui.ctx())
        || ui.memory(|memory| memory.top_modal_layer().is_some())
        || artifact::has_keyboard(ui.ctx());
    if is_busy {
        return;
    }
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    // On a button, Space presses that.
    let is_free = ui.memory(|memory| memory.focused().is_none());
    if is_free && pressed(Key::Space) {
        act.push(PlayerAction::Toggle);
    }
    for (key, forward) in [(Key::ArrowLeft, false), (Key::ArrowRight, true)] {
        if pressed(key) {
            // egui has seen the key already, and would take the keyboard to the next control.
            ui.memory_mut(|memory| memory.move_focus(FocusDirection::None));
            act.push(step_by(playback, player, forward));
        }
    }
    for (key, faster) in [(Key::Plus, true), (Key::Equals, true), (Key::Minus, false)] {
        if pressed(key) {
            act.push(PlayerAction::Speed(next_speed(player.speed, faster)));
        }
    }
}

fn next_speed(speed: u8, faster: bool) -> u8 {
    let found = match faster {
        true => SPEEDS.into_iter().find(|it| *it > speed),
        false => SPEEDS.into_iter().rev().find(|it| *it < speed),
    };
    found.unwrap_or(speed)
}

fn controls_ui(ui: &mut Ui, playback: &Playback, player: PlayerView, act: &mut Vec<PlayerAction>) {
    let has_room = ui.available_width() >= NARROW;
    let place = widgets::rich(place_words(playback, player), Text::Mono, Theme::of(ui).dim);
    // The words are centred beside the button only if the row has its height from the start.
    let usual = std::mem::replace(&mut ui.spacing_mut().interact_size.y, theme::BUTTON);
    ui.horizontal_wrapped(|ui| {
        let (icon, name) =
            if player.is_playing { (icon::PAUSE, "Pause") } else { (icon::PLAY, "Play") };
        if widgets::button(ui, Look::Plain, Some(icon), name, true).clicked() {
            act.push(PlayerAction::Toggle);
        }
        for (icon, name, forward) in
            [(icon::LEFT, "Previous step", false), (icon::RIGHT, "Next step", true)]
        {
            if widgets::icon_button(ui, icon, name).clicked() {
                act.push(step_by(playback, player, forward));
            }
        }
        for speed in SPEEDS {
            if widgets::view_choice(ui, &format!("{speed}×"), player.speed == speed) {
                act.push(PlayerAction::Speed(speed));
            }
        }
        if has_room {
            ui.add_space(6.0);
            ui.label(place.clone());
        }
    });
    ui.spacing_mut().interact_size.y = usual;
    if !has_room {
        ui.label(place);
    }
}

/// Where the playback is, in the time of the run.
fn place_words(playback: &Playback, player: PlayerView) -> String {
    let at = format::duration(playback.run_ms(player.at_ms));
    let all = format::duration(playback.times.total_ms);
    let step = playback.current(player.at_ms).map_or(0, |step| step + 1);
    format!("{at} of {all}, step {step} of {}", playback.times.steps.len())
}

/// The whole playback as a bar with a mark where each step begins. A click or a drag goes to a place.
fn bar_ui(ui: &mut Ui, playback: &Playback, player: PlayerView, act: &mut Vec<PlayerAction>) {
    let theme = Theme::of(ui);
    let size = vec2(ui.available_width(), 18.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
    let track = rect.shrink2(vec2(0.0, 6.0));
    ui.painter().rect_filled(track, CornerRadius::same(3), theme.line);
    let length = playback.length_ms().max(1);
    let share = (player.at_ms as f64 / length as f64).clamp(0.0, 1.0) as f32;
    let x = track.left() + track.width() * share;
    let played = Rect::from_x_y_ranges(track.left()..=x, track.y_range());
    let tint = theme.background.lerp_to_gamma(theme.accent, 0.7);
    ui.painter().rect_filled(played, CornerRadius::same(3), tint);
    for mark in playback.marks() {
        let at = track.left() + track.width() * mark;
        ui.painter().vline(at, track.y_range(), Stroke::new(1.0, theme.background));
    }
    ui.painter().circle_filled(pos2(x, rect.center().y), 6.0, theme.accent);
    let name = format!("Place in the run: {}", place_words(playback, player));
    response.widget_info(|| WidgetInfo::labeled(Role::Slider, true, &name));
    widgets::focus_ring(ui, &response);
    if let Some(pointer) =
        response.interact_pointer_pos().filter(|_| response.clicked() || response.dragged())
    {
        let share = f64::from((pointer.x - track.left()) / track.width().max(1.0));
        act.push(PlayerAction::Seek((share.clamp(0.0, 1.0) * length as f64) as i64));
    }
}

/// The look of a step at this moment.
fn look(playback: &Playback, step: usize, at_ms: i64) -> (Icon, &'static str, Tone) {
    let of_step = playback.times.steps.get(step);
    match playback.phase(step, at_ms) {
        StepPhase::NotBegun => (icon::WAITING, "not begun", Tone::Dim),
        StepPhase::Asking => (icon::HAND, "waiting for a person", Tone::Caution),
        StepPhase::Working => (icon::RUNNING, "working", Tone::Accent),
        StepPhase::Ended => match of_step {
            Some(step) if step.listed.changed => CHANGED,
            Some(step) => known_look(step.listed.row.known),
            None => (icon::WAITING, "not begun", Tone::Dim),
        },
    }
}

fn steps_ui(ui: &mut Ui, playback: &Playback, player: PlayerView, act: &mut Vec<PlayerAction>) {
    let current = playback.current(player.at_ms);
    let reveal = current.filter(|_| player.is_playing);
    let steps = &playback.times.steps;
    rows::rows_ui(ui, "played steps", HEIGHT, steps.len(), reveal, |ui, rect, index| {
        let Some(step) = steps.get(index) else { return };
        let theme = Theme::of(ui);
        let row = &step.listed.row;
        let (icon, word, tone) = look(playback, index, player.at_ms);
        let response = ui.interact(rect, ui.scope_id().with(("played", index)), Sense::click());
        let is_current = current == Some(index);
        rows::row_background(ui, &response, is_current);
        let middle = rect.center().y;
        let number = (row.step_index + 1).to_string();
        let right = pos2(rect.left() + 42.0, middle);
        widgets::paint_right(ui, right, (&number, Text::Mono, theme.dim));
        widgets::paint_icon(ui, pos2(rect.left() + 58.0, middle), icon, 15.0, theme.tone(tone));
        let is_command = row.tool_name == "shell";
        let about = if is_command { one_line(&row.about) } else { visible_name(&row.about) };
        let begun = playback.phase(index, player.at_ms) != StepPhase::NotBegun;
        let color = if begun { theme.text } else { theme.dim };
        let parts = [(&*about, Text::Mono, color), (&*row.tool_name, Text::Small, theme.dim)];
        let left = rect.left() + 72.0;
        widgets::paint_parts(ui, pos2(left, middle), rect.right() - 12.0 - left, &parts);
        let name = || format!("Step {number} {} {about}, {word}", row.tool_name);
        if controls::list_row(ui, &response, (is_current, index), name) {
            act.push(PlayerAction::Seek(playback.start_of(index)));
        }
    });
}

/// The step that has changed last: the answer about it, how it ended, and what it printed.
fn current_ui(ui: &mut Ui, playback: &Playback, player: PlayerView, act: &mut Vec<PlayerAction>) {
    let Some(index) = playback.current(player.at_ms) else {
        let text =
            "Space plays and pauses. The arrow keys go to the next step and to the one before.";
        let offer = (icon::PLAY, "Go to the first step");
        if widgets::empty_state(ui, icon::PLAY, ("Before the first step", text), offer) {
            act.push(PlayerAction::Seek(playback.start_of(0)));
        }
        return;
    };
    let Some(step) = playback.times.steps.get(index) else { return };
    let row = &step.listed.row;
    let phase = playback.phase(index, player.at_ms);
    let area = ScrollArea::vertical().id_salt(("played", index)).auto_shrink([false, false]);
    area.show(ui, |ui| {
        widgets::margins(10, 8).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 6.0;
            let (icon, word, tone) = look(playback, index, player.at_ms);
            let is_command = row.tool_name == "shell";
            let about = if is_command { one_line(&row.about) } else { visible_name(&row.about) };
            widgets::line(ui, format!("{} {about}", row.tool_name), Text::Strong, Tone::Plain);
            widgets::remark(ui, icon, tone, word);
            let answer = playback.answers.get(index).and_then(Option::as_ref);
            if let Some(answer) = answer.filter(|_| phase != StepPhase::Asking) {
                let by = DecidedBy { place: place_word(answer.by).to_owned(), user: None };
                let decision = answer.decision.as_str().to_owned();
                let note = String::new();
                let record = DecisionRecord { decision, by, note, timestamp_ms: 0 };
                let waited = format::duration(step.waited_ms);
                let mut text = format!("{}, after {waited}", record.sentence());
                if !answer.note.is_empty() {
                    text.push_str(&format!("\n{}", answer.note));
                }
                widgets::remark(ui, icon::HAND, Tone::Dim, text);
            }
            if phase == StepPhase::Ended
                && let Some(error) = error_line(row)
            {
                widgets::paragraph(ui, error, Text::Body, Tone::Plain);
            }
        });
        if phase == StepPhase::Ended {
            output_ui(ui, playback, index);
        }
        scroll::by_key(ui);
    });
}

fn place_word(by: crate::run::AnsweredBy) -> &'static str {
    match by {
        crate::run::AnsweredBy::Window => "window",
        crate::run::AnsweredBy::Terminal => "terminal",
        crate::run::AnsweredBy::CommandLine => "command_line",
        crate::run::AnsweredBy::Test => "test",
    }
}

/// What a step printed, as its record has it.
fn output_ui(ui: &mut Ui, playback: &Playback, index: usize) {
    let Some(result) = playback.results.get(index).and_then(Option::as_ref) else { return };
    let streams = [("stdout", &result.stdout), ("stderr", &result.stderr)];
    let mut has_output = false;
    for (name, text) in streams {
        let Some(text) = text.as_ref().filter(|text| !text.is_empty()) else { continue };
        has_output = true;
        widgets::margins(4, 2).show(ui, |ui| {
            widgets::heading(ui, name);
        });
        let columns = columns(ui, ui.available_width(), Gutter::NONE);
        let rows =
            cached_rows(ui, (name, index), &[text.as_str()], columns, || text_rows(text, columns));
        code_rows_ui(ui, (name, index), &rows, Gutter::NONE);
    }
    if !has_output {
        widgets::margins(4, 4).show(ui, |ui| {
            widgets::paragraph(ui, "It printed nothing.", Text::Body, Tone::Dim);
        });
    }
}
