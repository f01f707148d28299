//! The bar with which a loop is started and stopped.

use egui::{Align, Layout, Stroke, Ui};

use super::model::phase_look;
use super::{Form, LoopView, Shown, TimelineView};
use crate::run::LoopPhase;
use crate::ui::action::Action;
use crate::ui::commands::{Command, Situation, command_button};
use crate::ui::format;
use crate::ui::icon::{self, Icon};
use crate::ui::plan::{BarText, bar_text_ui};
use crate::ui::theme::{self, Theme, Tone};
use crate::ui::widgets::Look;

/// Icon, tone, a short title, and a sentence of detail.
type State = (Icon, Tone, String, String);

pub(super) fn bar_ui(
    ui: &mut Ui,
    view: &LoopView<'_>,
    situation: &Situation,
    actions: &mut Vec<Action>,
) {
    let theme = Theme::of(ui);
    let rect = ui.max_rect();
    let line = Stroke::new(1.0, theme.line);
    ui.painter().hline(ui.clip_rect().x_range(), rect.top(), line);
    let (icon, tone, title, detail) = match &view.shown {
        Shown::Reading => (icon::CLOCK, Tone::Dim, "One moment".to_owned(), String::new()),
        Shown::Form(view) => of_form(view.form, situation),
        Shown::Loop(timeline) => of_loop(timeline),
    };
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        ui.set_min_height(theme::ACTION_BAR);
        let mut button = |ui: &mut Ui, command, look| {
            command_button(ui, command, look, None, situation, actions);
        };
        match &view.shown {
            Shown::Form(_) => button(ui, Command::StartLoop, Look::Primary),
            Shown::Loop(timeline)
                if !timeline.shown.recorded && !timeline.shown.state.is_over() =>
            {
                button(ui, Command::StopNow, Look::Plain);
                if situation.attempt_waits {
                    button(ui, Command::OpenAttempt, Look::Primary);
                }
            }
            Shown::Loop(_) => button(ui, Command::LoopAgain, Look::Plain),
            Shown::Reading => {}
        }
        let (title, detail) = (&*title, &*detail);
        // The effect of starting must be readable, so the text may take two rows.
        bar_text_ui(ui, &BarText { icon, tone, title, detail, more: "", rows: 2 });
    });
}

fn of_form(form: &Form, situation: &Situation) -> State {
    let faults = form.faults().len();
    match (&form.refusal, form.tried && faults > 0) {
        (Some(refusal), _) => {
            let title = "The loop could not begin".to_owned();
            (icon::WARNING, Tone::Danger, title, refusal.clone())
        }
        (None, true) => {
            let title = format!("{} to correct", format::counted(faults, "field"));
            let detail = "Each fault is shown below its field.".to_owned();
            (icon::WARNING, Tone::Caution, title, detail)
        }
        (None, false) if situation.no_place.is_some() && !situation.looping => {
            let title = situation.no_place.unwrap_or_default().to_owned();
            let detail = "No loop can start there. The fault is shown below the field.".to_owned();
            (icon::WARNING, Tone::Caution, title, detail)
        }
        (None, false) => {
            let title =
                if situation.looping { "Another loop is under way" } else { "Nothing has started" };
            (icon::INFO, Tone::Dim, title.to_owned(), form.announcement())
        }
    }
}

fn of_loop(timeline: &TimelineView<'_>) -> State {
    let state = &timeline.shown.state;
    let (icon, word, tone) = phase_look(&state.phase);
    if timeline.shown.stopping && !state.is_over() {
        let detail = "Everything that the loop started is being stopped.".to_owned();
        return (icon::STOP, Tone::Caution, "Stopping".to_owned(), detail);
    }
    let title = match &state.phase {
        LoopPhase::Ended(reason) => {
            let title = format!("Ended: {}", reason.code.as_str());
            return (icon, tone, title, reason.code.meaning().to_owned());
        }
        LoopPhase::Interrupted => {
            let detail = "The loop will not resume by itself.".to_owned();
            return (icon, tone, "Interrupted".to_owned(), detail);
        }
        LoopPhase::AwaitingAuthorization(_) => "Waiting for you",
        _ => "Under way",
    };
    let attempt = format!("Attempt {} of {}", state.attempts.len(), state.max_attempts);
    (icon, tone, title.to_owned(), format!("{attempt}: {word}"))
}
