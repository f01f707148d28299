//! The status bar: the worker's state, its progress, and whether evidence is recorded.

use egui::{
    Align, Button, CornerRadius, CursorIcon, Layout, Rect, Role, Sense, Stroke, Ui, WidgetInfo,
    pos2, vec2,
};

use super::loop_page::state_look;
use super::plan::fate_look;
use super::{
    Action, Command, Icon, Text, Theme, Tone, access, controls, format, icon, theme, widgets,
};
use crate::run::text::capitalized;
use crate::run::{LoopPhase, LoopState, Phase, RunFate, RunState};

/// The content of the status bar.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(test, derive(serde::Serialize))]
pub struct StatusView {
    /// The icon of the state.
    #[cfg_attr(test, serde(skip))]
    pub icon: Icon,
    /// The tone of the state.
    pub tone: Tone,
    /// The worker's state.
    pub text: String,
    /// The number of finished steps and of all steps of the shown run.
    pub progress: Option<(usize, usize)>,
    /// Whether evidence is recorded, or why not.
    pub evidence: String,
    /// Whether every write to the evidence has succeeded so far.
    pub evidence_sound: bool,
    /// The time since the run or the loop began, or the duration of a finished run, in milliseconds.
    pub elapsed_ms: Option<i64>,
    /// Whether that is the time of a run that is over.
    pub is_over: bool,
    /// The command that leads to what waits for the person.
    pub leads_to: Option<Command>,
}

impl StatusView {
    /// The status of a loop between its runs. `trouble` is the error that prevented writing evidence.
    pub fn of_loop(state: &LoopState, now_ms: i64, trouble: Option<&str>) -> Self {
        let (icon, word, tone) = state_look(state);
        let attempt = state.attempts.len().max(1);
        Self {
            icon,
            tone,
            text: format!("Loop, attempt {attempt} of {}: {word}", state.max_attempts),
            progress: None,
            evidence: trouble.unwrap_or("evidence recorded").to_owned(),
            evidence_sound: trouble.is_none(),
            elapsed_ms: (state.started_at_ms > 0).then(|| now_ms - state.started_at_ms),
            is_over: false,
            leads_to: match &state.phase {
                LoopPhase::AwaitingAuthorization(_) => Some(Command::OpenAttempt),
                LoopPhase::AwaitingAnswer(_) => Some(Command::GoLoop),
                _ => None,
            },
        }
    }

    /// The status of a run at `now_ms`, in Unix milliseconds. `ended_ms` is the duration of a finished run;
    /// `trouble` is the error that prevented writing evidence.
    pub fn new(run: &RunState, now_ms: i64, ended_ms: Option<i64>, trouble: Option<&str>) -> Self {
        let step = run.current_step + 1;
        let total = run.steps.len();
        let ended = |fate| {
            let (icon, word, tone) = fate_look(fate, run.tally());
            (icon, tone, capitalized(word))
        };
        let (icon, tone, text) = match &run.phase {
            Phase::Idle => (icon::DONE, Tone::Dim, "Ready".to_owned()),
            Phase::Running => {
                (icon::RUNNING, Tone::Accent, format!("Running step {step} of {total}"))
            }
            Phase::AwaitingConfirmation(request) => {
                let step = request.step_index + 1;
                (icon::HAND, Tone::Caution, format!("Waiting for you: step {step} of {total}"))
            }
            Phase::Paused => (icon::PAUSE, Tone::Caution, format!("Paused before step {step}")),
            Phase::Ended(status) => ended(RunFate::Ended(*status)),
            Phase::Interrupted => ended(RunFate::Interrupted),
        };
        let shown = run.phase != Phase::Idle;
        let elapsed = if run.is_active() { Some(now_ms - run.started_at_ms) } else { ended_ms };
        Self {
            icon,
            tone,
            text,
            progress: shown.then(|| (run.steps.done() - run.tally().denied, total)),
            evidence: match trouble {
                Some(trouble) => trouble.to_owned(),
                None if shown => "evidence recorded".to_owned(),
                None => String::new(),
            },
            evidence_sound: trouble.is_none(),
            elapsed_ms: elapsed.filter(|_| shown),
            is_over: !run.is_active(),
            leads_to: matches!(run.phase, Phase::AwaitingConfirmation(_))
                .then_some(Command::AnswerStep),
        }
    }

    /// The same run, with the name of its plan.
    #[must_use]
    pub fn of_plan(self, name: &str) -> Self {
        Self { text: format!("{}, “{}”", self.text, format::short_name(name)), ..self }
    }

    /// The same state where nothing is under way, with the number of plans that wait in the inbox.
    #[must_use]
    pub fn with_inbox(self, waiting: usize) -> Self {
        if waiting == 0 || self.leads_to.is_some() || !self.is_over {
            return self;
        }
        let verb = if waiting == 1 { "waits" } else { "wait" };
        let text = format!("{} {verb} in the inbox", format::counted(waiting, "plan"));
        let leads_to = Some(Command::OpenWaiting);
        Self { icon: icon::ENVELOPE, tone: Tone::Accent, text, leads_to, ..self }
    }

    /// Whether a window that is too low for every bar still shows this one: it says more than the bar of the page.
    pub(super) fn is_needed(&self) -> bool {
        !self.evidence_sound || self.leads_to.is_some()
    }

    /// The same run, if it is under way in another window or command.
    pub fn of_another_window(self) -> Self {
        let text = "Runs in another window".to_owned();
        Self { icon: icon::RUNNING, tone: Tone::Dim, text, leads_to: None, ..self }
    }
}

pub(super) fn status_bar_ui(ui: &mut Ui, view: &StatusView, actions: &mut Vec<Action>) {
    let theme = Theme::of(ui);
    let bar = ui.max_rect();
    let x = ui.clip_rect().x_range();
    ui.painter().hline(x, bar.top() + 0.5, Stroke::new(1.0, theme.line));
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        ui.set_min_height(theme::STATUS_BAR);
        widgets::icon_ui(ui, vec2(16.0, 20.0), view.icon, 16.0, theme.tone(view.tone));
        let color = if view.tone == Tone::Dim { theme.dim } else { theme.text };
        match view.leads_to {
            Some(command) => link_ui(ui, &view.text, command, actions),
            None => {
                let said = ui.label(widgets::rich(&view.text, Text::Meta, color));
                access::announce(&said, false);
            }
        }
        let elapsed = view.elapsed_ms.map(|elapsed| elapsed_text(elapsed, view.is_over));
        let of_clock = elapsed.map_or(0.0, |(text, kind)| kind.width_of(ui, &text)) + 40.0;
        if let Some((done, total)) = view.progress {
            if ui.available_width() > of_clock + 130.0 {
                ui.add_space(8.0);
                progress_ui(ui, done, total);
            }
            ui.label(widgets::rich(format!("{done} of {total}"), Text::Meta, theme.dim));
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if let Some(elapsed) = view.elapsed_ms {
                let (text, kind) = elapsed_text(elapsed, view.is_over);
                ui.label(widgets::rich(text, kind, theme.dim));
            }
            if !view.evidence.is_empty() {
                let (icon, tone, color) = if view.evidence_sound {
                    (icon::DATABASE, theme.safe, theme.dim)
                } else {
                    (icon::WARNING, theme.danger, theme.danger)
                };
                let room = ui.available_width() - 24.0;
                let is_short = Text::Meta.width_of(ui, &view.evidence) <= room;
                if is_short {
                    ui.label(widgets::rich(&view.evidence, Text::Meta, color));
                }
                let (rect, response) = ui.allocate_exact_size(vec2(16.0, 20.0), Sense::hover());
                widgets::paint_icon(ui, rect.center(), icon, 15.0, tone);
                if !is_short {
                    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &view.evidence));
                    response.on_hover_text(&view.evidence);
                }
            }
        });
    });
}

/// How long a run has taken so far, in a font whose digits do not move, or all in all, with the time for answers.
fn elapsed_text(elapsed_ms: i64, is_over: bool) -> (String, Text) {
    match is_over {
        true => (format!("{} in all", format::duration(elapsed_ms)), Text::Meta),
        false => (format!("for {}", format::clock(elapsed_ms)), Text::Mono),
    }
}

/// The state as a link to what waits for the person.
fn link_ui(ui: &mut Ui, text: &str, command: Command, actions: &mut Vec<Action>) {
    let text_of_link = widgets::rich(text, Text::Meta, Theme::of(ui).accent).underline();
    let link = ui.add(Button::new(text_of_link).frame(false));
    let response = link.on_hover_cursor(CursorIcon::PointingHand);
    if controls::painted_button(ui, &response, || text.to_owned()) {
        actions.push(Action::Do(command));
    }
    access::announce(&response, true);
    response.on_hover_text(command.spec().tooltip_text(ui));
}

fn progress_ui(ui: &mut Ui, done: usize, total: usize) {
    let theme = Theme::of(ui);
    let width = (ui.available_width() * 0.25).clamp(40.0, 180.0);
    let (rect, response) = ui.allocate_exact_size(vec2(width, 6.0), Sense::hover());
    let radius = CornerRadius::same(3);
    ui.painter().rect_filled(rect, radius, theme.line);
    let part = if total == 0 { 0.0 } else { done as f32 / total as f32 };
    let right = rect.left() + rect.width() * part;
    let filled = Rect::from_min_max(rect.min, pos2(right, rect.bottom()));
    ui.painter().rect_filled(filled, radius, theme.accent);
    response.widget_info(|| {
        let text = format!("{done} of {total} steps done");
        WidgetInfo::labeled(Role::ProgressIndicator, true, text)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Outcome, RunEvent};
    use crate::ui::tests::fixture;

    #[test]
    fn a_denied_step_is_not_done() {
        let mut run = RunState::default();
        run.apply(&RunEvent::RunStarted {
            run_id: uuid::Uuid::nil(),
            plan_id: String::new(),
            step_count: 5,
            timestamp_ms: 0,
        });
        for (index, outcome) in [Outcome::Succeeded, Outcome::Denied].into_iter().enumerate() {
            let result = fixture::result(&fixture::plan(), index, outcome, 1);
            run.apply(&RunEvent::StepCompleted { result });
        }
        assert_eq!(StatusView::new(&run, 0, None, None).progress, Some((1, 5)));
    }

    #[test]
    fn a_time_does_not_read_as_one_of_the_day() {
        assert_eq!(elapsed_text(4_000, false).0, "for 00:00:04");
        assert_eq!(elapsed_text(215, true).0, "215 ms in all");
    }
}
