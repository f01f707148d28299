//! The dialog that asks whether identical calls of one session of an agent are allowed.

use egui::Ui;

use super::{Answer, Answers, DialogShape, PromptId, READ_FIRST, question_ui};
use crate::authorization::RuleTime;
use crate::plan::{drawable, prose};
use crate::risk::RiskLevel;
use crate::run::{AgentSession, SessionCall};
use crate::ui::action::AgentsAction;
use crate::ui::plan::{call_look, indented};
use crate::ui::{Action, DialogAction, Now, PlanAction, Text, Tone, format, icon, widgets};

/// The number of earlier calls that are listed.
const LISTED: usize = 8;

/// What the dialog shows.
#[derive(Debug, Clone)]
pub struct SessionRuleView<'a> {
    /// The session.
    pub session: &'a AgentSession,
    /// The call.
    pub call: &'a SessionCall,
    /// The walls behind which it ran.
    pub walls: String,
    /// How long the rule is to count.
    pub time: RuleTime,
    /// The current time.
    pub now: &'a Now,
}

pub(super) fn session_rule_ui(
    ui: &mut Ui,
    prompt: PromptId,
    view: &SessionRuleView<'_>,
    actions: &mut Vec<Action>,
) {
    let shape = DialogShape {
        title: "Allow identical calls in this session?",
        risk: Some(RiskLevel::Safe),
        chip_prefix: "",
        width: 640.0,
        subject: None,
        word: None,
    };
    let SessionRuleView { session, call, time, .. } = view;
    let action = DialogAction::MakeRule { key: session.key, number: call.number, time: *time };
    let answers = Answers {
        safe: vec![Answer::leave("Not now")],
        approve: Some(Answer::approve(icon::SEAL, "Allow identical calls", READ_FIRST, action)),
    };
    let mut chosen = None;
    question_ui(
        ui,
        prompt,
        &shape,
        actions,
        |_| answers,
        |ui, _, _, _| {
            indented(ui, |ui| chosen = body_ui(ui, view));
        },
    );
    let choose = |time| Action::Plan(PlanAction::Agents(AgentsAction::ChooseTime(time)));
    actions.extend(chosen.map(choose));
}

/// Draws what the rule is about. Returns the time that was chosen now.
fn body_ui(ui: &mut Ui, view: &SessionRuleView<'_>) -> Option<RuleTime> {
    let SessionRuleView { session, call, walls, time, now } = view;
    let text = format!(
        "Each identical call is then run at once, without asking you: by Countersign, behind the same walls, and \
         recorded with this rule. {} gets its output.",
        prose(&session.agent)
    );
    widgets::paragraph(ui, text, Text::Body, Tone::Plain);
    ui.add_space(4.0);
    let command = call.call.command.as_deref().unwrap_or(&call.call.subject);
    widgets::fact(ui, "command", drawable(command), Text::Mono);
    widgets::fact(ui, "tool", drawable(&call.call.tool), Text::Mono);
    let workspace = call.call.workspace.display().to_string();
    widgets::fact(ui, "folder", drawable(&workspace), Text::Mono);
    let name = match session.session.is_empty() {
        true => prose(&session.agent).into_owned(),
        false => format!("{}, {}", prose(&session.agent), drawable(&session.session)),
    };
    widgets::fact(ui, "session", name, Text::Body);
    widgets::fact(ui, "walls", drawable(walls), Text::Mono);
    ui.add_space(4.0);
    let text = "Identical is a call of the same process of the agent, in the same session and folder, with the same \
                tool and arguments. Only the description may differ. What is in the files that the command reads may \
                differ, too.";
    widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
    ui.add_space(4.0);
    widgets::heading(ui, "How long");
    let mut chosen = None;
    ui.horizontal_wrapped(|ui| {
        for it in RuleTime::ALL {
            if widgets::choice(ui, it.words(), it == *time).clicked() {
                chosen = Some(it);
            }
        }
    });
    ui.add_space(4.0);
    let identical: Vec<&SessionCall> =
        call.call.identity.iter().flat_map(|it| session.identical(it)).collect();
    let kept = match session.forgotten() {
        0 => String::new(),
        _ => format!(" (of the last {})", session.calls.len()),
    };
    let text = format!("Identical calls in this session so far{kept}: {}", identical.len());
    widgets::heading(ui, &text);
    for call in identical.iter().rev().take(LISTED) {
        let ((look_icon, _, tone), words) = call_look(call);
        let at = now.second(call.call.at_ms);
        widgets::remark(ui, look_icon, tone, format!("{at}  {words}"));
    }
    if let Some(more) = identical.len().checked_sub(LISTED).filter(|more| *more > 0) {
        let text = format!("and {}", format::counted(more, "earlier call"));
        widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
    }
    ui.add_space(4.0);
    let text = "You can take the rule back on the page of the session. It also ends with this window, and if the \
                settings, the risk of the command, or its walls change.";
    widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
    chosen
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::ui::tests::window;

    /// It shows the whole call, what it would have been about and how long, and is made as it is shown.
    #[test]
    fn the_dialog_shows_what_the_rule_is_about() {
        let mut harness = window("session-rule", [1280.0, 800.0]);
        for text in [
            "git status --short && git log --oneline -n 20 -- src/parser",
            "/home/ada/src/parser",
            "Identical calls in this session so far: 3",
            "14:04:19  succeeded, by a rule",
            "You can take the rule back",
        ] {
            assert!(harness.query_all_by_label_contains(text).next().is_some(), "{text}");
        }
        harness.get_by_label("1 hour").click();
        harness.run_ok();
        let hour = Action::Plan(PlanAction::Agents(AgentsAction::ChooseTime(RuleTime::Hour)));
        assert_eq!(harness.state().actions, [hour]);
        harness.run_steps(20);
        harness.get_by_label("Allow identical calls").click();
        harness.run_ok();
        let made = harness.state().actions.iter().find_map(|action| match action {
            Action::Dialog(DialogAction::MakeRule { number, time, .. }) => Some((*number, *time)),
            _ => None,
        });
        assert_eq!(made, Some((1, RuleTime::Quarter)));
    }
}
