//! The short dialogs: closing the window while a run, a loop or an agent is under way or plans are queued, and rejecting
//! a plan.

use std::cell::RefCell;
use std::time::Duration;

use egui::{Margin, TextEdit, Ui};

use super::arming::DELAY_MS;
use super::{
    AfterRejection, Answer, Answers, DialogShape, Entered, PromptId, Subject, question_ui,
};
use crate::plan::Digest;
use crate::ui::plan::indented;
use crate::ui::{Action, DialogAction, Text, Tone, format, icon, widgets};

pub(super) fn close_ui(
    ui: &mut Ui,
    prompt: PromptId,
    (under_way, queued): (Option<&'static str>, usize),
    actions: &mut Vec<Action>,
) {
    let title = match under_way {
        Some(noun) => format!("Stop the {noun} and close?"),
        None => "Empty the queue and close?".to_owned(),
    };
    let shape = DialogShape {
        title: &title,
        risk: None,
        chip_prefix: "",
        width: 480.0,
        subject: None,
        word: None,
    };
    let (stay, text, hint) = match under_way {
        Some(noun) => {
            let hint = format!("The {noun} is stopped, then the window closes.");
            ("Keep running", "Stop and close", hint)
        }
        None => {
            let hint = "The queued plans do not run. Then the window closes.".to_owned();
            ("Keep it open", "Empty and close", hint)
        }
    };
    let leave = Answer::leave(stay);
    let stop = Answer::safe(Some(icon::STOP), text, &hint, DialogAction::StopAndClose);
    let answers = Answers { safe: vec![leave], approve: Some(stop) };
    question_ui(
        ui,
        prompt,
        &shape,
        actions,
        |_| answers,
        |ui, _, _, _| {
            indented(ui, |ui| {
                if under_way == Some("agent") {
                    let text = "An agent is at work. Closing ends it now, with every process it started. What it asks \
                                for stays undecided, and what it has sent already stays written.";
                    widgets::paragraph(ui, text, Text::Body, Tone::Plain);
                } else if let Some(noun) = under_way {
                    let waiting = if noun == "loop" { "plan or step" } else { "step" };
                    let text = format!(
                        "A {noun} is under way. Closing stops it now, with every process it started; the step under \
                         way is recorded as cancelled. A {waiting} that waits for your answer stays unanswered."
                    );
                    widgets::paragraph(ui, text, Text::Body, Tone::Plain);
                }
                if queued > 0 {
                    let verb = if queued == 1 { "waits" } else { "wait" };
                    let text = format!(
                        "{} {verb} in the queue and would not run. The queue is not kept: authorize again what is \
                         still to run.",
                        format::counted(queued, "plan")
                    );
                    widgets::paragraph(ui, text, Text::Body, Tone::Plain);
                }
            });
        },
    );
}

pub(super) fn reject_ui(
    ui: &mut Ui,
    prompt: PromptId,
    subject: Subject,
    (digest, name, then): (Digest, &str, AfterRejection),
    actions: &mut Vec<Action>,
) {
    let refuses = then == AfterRejection::RequesterIsTold;
    let shape = DialogShape {
        title: if refuses { "Refuse to sign this plan?" } else { "Reject this plan?" },
        risk: None,
        chip_prefix: "",
        width: 520.0,
        subject: Some(subject),
        word: None,
    };
    let answers = |entered: &Entered| {
        let reason = entered.typed.trim().to_owned();
        let ready = !reason.is_empty();
        let action = |replan| DialogAction::Reject { digest, reason: reason.clone(), replan };
        let mut safe = vec![Answer::leave("Not now")];
        let replan = then == AfterRejection::AnotherPlan;
        if replan {
            let hint = "The loop ends. Enter the reason first.";
            let end = Answer::safe(Some(icon::STOP), "Reject and end", hint, action(false));
            safe.push(Answer { ready, ..end });
        }
        let text = match then {
            AfterRejection::AnotherPlan => "Reject, plan again",
            AfterRejection::RequesterIsTold => "Refuse",
            _ => "Reject",
        };
        let reject =
            Answer::approve(icon::PROHIBIT, text, "Enter the reason first.", action(replan));
        Answers { safe, approve: Some(Answer { ready, ..reject }) }
    };
    let submitted = RefCell::new(None);
    question_ui(ui, prompt, &shape, actions, answers, |ui, entered, id, allowed| {
        let reason = entered.typed.trim();
        if entered.applied && allowed.approve && !reason.is_empty() {
            let replan = then == AfterRejection::AnotherPlan;
            submitted.replace(Some(DialogAction::Reject {
                digest,
                reason: reason.to_owned(),
                replan,
            }));
        }
        indented(ui, |ui| {
            widgets::paragraph(ui, name, Text::Strong, Tone::Plain);
            let text = match then {
                AfterRejection::Nothing => "The rejection and its reason are kept in the evidence.",
                AfterRejection::RequesterIsTold => {
                    "Your words are signed with your key, for the person who asks. Nothing is recorded here."
                }
                AfterRejection::AgentIsTold => {
                    "The agent gets the reason and goes on without the call. The rejection and its reason are kept in the \
                     evidence."
                }
                AfterRejection::AnotherPlan => {
                    "The planner gets the reason and makes another plan, or the loop ends. The rejection and its \
                     reason are kept in the evidence."
                }
                AfterRejection::LoopEnds => {
                    "This was the last attempt: the loop ends. The rejection and its reason are kept in the evidence."
                }
            };
            widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
            let label = widgets::line(ui, "Reason (required)", Text::Meta, Tone::Dim);
            let edit = TextEdit::multiline(&mut entered.typed)
                .id(id.with("reason"))
                .desired_rows(4)
                .desired_width(f32::INFINITY)
                .margin(Margin::symmetric(10, 8));
            let field = ui.add(edit).labelled_by(label.id);
            // Once answers count and the person has paused, so that nothing goes in that was meant for something else.
            if !(allowed.safe && allowed.text) {
                ui.ctx().request_repaint_after(Duration::from_millis(DELAY_MS / 5));
            } else if ui.memory(|memory| memory.focused().is_none()) {
                field.request_focus();
                // So that the person sees it without a movement of the pointer.
                ui.ctx().request_repaint();
            }
        });
    });
    actions.extend(submitted.take().map(Action::Dialog));
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable as _;

    use crate::ui::tests::window;

    #[test]
    fn closing_names_what_is_under_way() {
        let agent = window("close-agent", [1280.0, 800.0]);
        assert!(agent.query_by_label("Stop the agent and close?").is_some());
        assert!(agent.query_by_label_contains("An agent is at work.").is_some());
        for (scene, noun) in [("close", "run"), ("loop-close", "loop")] {
            let harness = window(scene, [1280.0, 800.0]);
            assert!(harness.query_by_label(&format!("Stop the {noun} and close?")).is_some());
            let text = format!("A {noun} is under way. Closing stops it now");
            assert!(harness.query_by_label_contains(&text).is_some(), "{scene}");
        }
    }
}
