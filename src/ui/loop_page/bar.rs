//! The content of the bar below a loop or its form, with the commands that start and stop it.

use super::model::{state_look, stop_sentences, stop_word, waiting_step};
use super::{FormView, LoopView, Shown, TimelineView};
use crate::run::LoopPhase;
use crate::ui::plan::Bar;
use crate::ui::{Command, Situation, Tone, format, icon};

/// Computes the content of the bar.
pub fn bar(view: &LoopView<'_>, situation: &Situation) -> Bar {
    match &view.shown {
        Shown::Reading => Bar::new(icon::CLOCK, Tone::Dim, "Reading the loop", ""),
        Shown::Form(view) => Bar { primary: Some(Command::StartLoop), ..form_bar(view, situation) },
        Shown::Loop(timeline) => {
            let is_active = !timeline.shown.recorded && !timeline.shown.state.is_over();
            let waits = waiting_step(&timeline.shown.state).and(situation.asking);
            let primary = match waits {
                Some(_) if is_active => Some(Command::AnswerStep),
                _ => (is_active && situation.attempt_waits).then_some(Command::OpenAttempt),
            };
            let others = match is_active {
                true => vec![Command::StopNow],
                false => vec![Command::LoopAgain, Command::RevertLoop],
            };
            Bar { primary, others, ..loop_bar(timeline) }
        }
    }
}

fn form_bar(view: &FormView<'_>, situation: &Situation) -> Bar {
    let form = view.form;
    let faults = form.faults().len();
    match (&form.refusal, form.start_attempted && faults > 0) {
        (Some(refusal), _) => {
            Bar::new(icon::WARNING, Tone::Danger, "The loop could not begin", refusal)
        }
        (None, true) => {
            let title = format!("{} to correct", format::counted(faults, "field"));
            let detail = "Each fault is shown below its field.";
            Bar::new(icon::WARNING, Tone::Caution, title, detail)
        }
        (None, false) if situation.form_lacks.is_some() && !situation.looping => {
            let lacks = situation.form_lacks.unwrap_or_default();
            Bar::new(icon::INFO, Tone::Dim, lacks.trim_end_matches('.'), form.announcement())
        }
        (None, false) if situation.folders_unusable.is_some() && !situation.looping => {
            let title = situation.folders_unusable.unwrap_or_default();
            let detail = "No loop can start there. The fault is shown below the field.";
            Bar::new(icon::WARNING, Tone::Caution, title, detail)
        }
        // The form names that run. The bar has no room for it besides what starting does.
        (None, false) if view.other_runs.is_some() && !situation.looping => {
            let title = "Another run is under way in the workspace";
            Bar::new(icon::WARNING, Tone::Caution, title, form.announcement())
        }
        (None, false) => {
            let title =
                if situation.looping { "Another loop is under way" } else { "Nothing has started" };
            Bar::new(icon::INFO, Tone::Dim, title, form.announcement())
        }
    }
}

fn loop_bar(timeline: &TimelineView<'_>) -> Bar {
    let state = &timeline.shown.state;
    let (icon, word, tone) = state_look(state);
    if timeline.shown.stopping && !state.is_over() {
        let detail = "Everything that the loop started is being stopped.";
        return Bar::new(icon::STOP, Tone::Caution, "Stopping", detail);
    }
    let title = match &state.phase {
        LoopPhase::Ended(reason) => {
            let [happened, _] = stop_sentences(reason);
            if reason.is_unverified() {
                let title = "Ended: completed, not verified";
                return Bar::new(icon::WARNING, Tone::Caution, title, happened);
            }
            let title = format!("Ended: {}", stop_word(reason.code));
            return Bar::new(icon, tone, title, happened);
        }
        LoopPhase::Interrupted => {
            let detail = "The loop will not resume by itself.";
            return Bar::new(icon, tone, "Interrupted", detail);
        }
        LoopPhase::AwaitingAuthorization(_) | LoopPhase::AwaitingAnswer(_) => "Waiting for you",
        _ if waiting_step(state).is_some() => "Waiting for you",
        _ if timeline.shown.recorded => "Runs in another window",
        _ => "Under way",
    };
    let attempt = format!("Attempt {} of {}", state.attempts.len(), state.max_attempts);
    let detail = match (&state.phase, waiting_step(state)) {
        (LoopPhase::Elsewhere, _) => attempt,
        (_, Some(step)) => format!("{attempt}: step {step} waits for your answer"),
        _ => format!("{attempt}: {word}"),
    };
    Bar::new(icon, tone, title, detail)
}
