//! The dialog that asks whether to trust the commands that a workspace names. It shows all of them in full.

use egui::Ui;

use super::{Answer, Answers, DialogShape, PromptId, READ_FIRST, question_ui};
use crate::risk::RiskLevel;
use crate::run::{CommandReview, CommandsReview};
use crate::ui::plan::{command_ui, indented, risk_chip, risk_icon};
use crate::ui::{Action, DialogAction, Text, Tone, format, icon, widgets};

pub(super) fn trust_ui(
    ui: &mut Ui,
    prompt: PromptId,
    (workspace, view, of_plan): (&str, &CommandsReview, bool),
    actions: &mut Vec<Action>,
) {
    let title = if view.trusted { "You trust these commands" } else { "Trust these commands?" };
    let risk = view.commands.iter().map(|command| command.risk.level).max();
    let shape = DialogShape {
        title,
        risk,
        chip_prefix: "worst: ",
        width: 680.0,
        subject: None,
        word: None,
    };
    let decide = |trusted| DialogAction::Trust { digest: view.digest, trusted };
    let answers = if view.trusted {
        // Withdrawing trust is a safe answer too.
        let hint = "None of them runs until you trust them again.";
        let stop = Answer::safe(Some(icon::PROHIBIT), "Stop trusting", hint, decide(false));
        Answers { safe: vec![Answer::leave("Close"), stop], approve: None }
    } else {
        let ready = view.faults.is_empty();
        let hint = if ready { READ_FIRST } else { "Correct the file first." };
        let trust = Answer::approve(icon::SIGNATURE, "Trust these commands", hint, decide(true));
        Answers { safe: vec![Answer::leave("Not now")], approve: Some(Answer { ready, ..trust }) }
    };
    question_ui(
        ui,
        prompt,
        &shape,
        actions,
        |_| answers,
        |ui, _, _, _| {
            indented(ui, |ui| body_ui(ui, workspace, view, of_plan));
        },
    );
}

fn body_ui(ui: &mut Ui, workspace: &str, view: &CommandsReview, of_plan: bool) {
    let text = "The commands come from the file countersign.toml of the workspace, not from you: whoever can \
                change that file decides what they are. You are asked again as soon as it changes. A plan that \
                runs them still needs your authorization.";
    let of_loop = " A loop also verifies with them by itself, under the authorization of its plan.";
    let text = if of_plan { text.to_owned() } else { format!("{text}{of_loop}") };
    widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
    ui.add_space(2.0);
    widgets::fact(ui, "workspace", workspace, Text::Mono);
    widgets::fact(ui, "file digest", view.digest.to_string(), Text::SmallMono);
    for fault in &view.faults {
        widgets::remark(ui, icon::FAILED, Tone::Danger, fault);
    }
    for (index, command) in view.commands.iter().enumerate() {
        ui.add_space(4.0);
        workspace_command_ui(ui, index, command, of_plan);
    }
}

fn workspace_command_ui(ui: &mut Ui, index: usize, command: &CommandReview, of_plan: bool) {
    ui.horizontal_wrapped(|ui| {
        widgets::heading(ui, &command.name);
        risk_chip(command.risk.level).ui(ui);
    });
    command_ui(ui, ("trust", index), &command.command, Some(&command.risk));
    let used = match command.steps.len() {
        _ if !of_plan => String::new(),
        0 => "not run by this plan · ".to_owned(),
        _ => {
            let steps: Vec<_> = command.steps.iter().map(|step| (step + 1).to_string()).collect();
            let noun = if steps.len() == 1 { "step" } else { "steps" };
            format!("run by {noun} {} · ", steps.join(", "))
        }
    };
    let seconds = usize::try_from(command.timeout_seconds).unwrap_or(usize::MAX);
    let time = match seconds {
        _ if seconds.is_multiple_of(60) => format::counted(seconds / 60, "minute"),
        _ => format::counted(seconds, "second"),
    };
    let text = format!("{used}time limit {time} · matcher: {}", command.matcher);
    widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
    if command.risk.level > RiskLevel::Safe {
        let tone = Tone::from(command.risk.level);
        widgets::remark(ui, risk_icon(command.risk.level), tone, &command.risk.reason);
    }
}
