//! The authorization dialog: everything that an authorization covers, shown before it is given.

use std::sync::Arc;

use egui::{Align, Layout, Ui};
use uuid::Uuid;

use super::arming::{DANGEROUS_DELAY_MS, DELAY_MS};
use super::{PromptId, Shape, padded, question_ui};
use crate::authorization::FileState;
use crate::plan::visible;
use crate::plan::{Digest, Mode, ShownPlan};
use crate::risk::RiskLevel;
use crate::run::Review;
use crate::ui::action::{Action, DialogAction};
use crate::ui::format;
use crate::ui::icon;
use crate::ui::plan::{
    Gutter, WallLines, code_rows_ui, columns, kept_rows, lines_ui, risk_icon, text_rows,
    wall_lines, whole_ui,
};
use crate::ui::theme::{Text, Tone};
use crate::ui::widgets::{self, Chip, Look};

/// The content of one authorization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorizeView {
    /// The plan's name.
    pub name: String,
    /// Its id.
    pub plan_id: String,
    /// The digest of its exact bytes.
    pub digest: Digest,
    /// How many steps it has.
    pub steps: usize,
    /// The run that this plan follows up.
    pub continues: Option<Uuid>,
    /// Whether the plan undoes the changes of that run instead of continuing it.
    pub reverts: bool,
    /// The workspace folder.
    pub workspace: String,
    /// How the run is controlled.
    pub mode: Mode,
    /// Where remote steps run.
    pub target: String,
    /// The digest of the settings that affect confirmations and limits.
    pub policy: Digest,
    /// How long the authorization is valid before the run begins, in words.
    pub expiry: String,
    /// Each file whose present content is covered, with the digest of the content; one line each.
    pub inputs: Arc<str>,
    /// The files that would be written, one line each.
    pub writes: Arc<str>,
    /// Each reason to ask for confirmation, with its steps.
    pub asks: Vec<String>,
    /// The walls of the steps that are covered; `None` when no step has any.
    pub walls: Option<WallLines>,
    /// The number of steps with effects that cannot be reverted from the evidence.
    pub irreversible: usize,
    /// The highest risk of any step.
    pub worst: Option<RiskLevel>,
    /// The number of this attempt of a bounded loop, and the largest number of attempts. The plan runs as
    /// soon as it is authorized.
    pub attempt: Option<(u32, u32)>,
}

/// What an authorization of this plan, as reviewed, would cover for `ttl_ms` milliseconds.
pub fn authorize_view(
    plan: &ShownPlan,
    review: &Review,
    continues: Option<Uuid>,
    ttl_ms: i64,
) -> AuthorizeView {
    let binding = &review.binding;
    AuthorizeView {
        name: plan.name().to_owned(),
        plan_id: plan.plan_id.clone(),
        digest: plan.digest,
        steps: plan.steps.len(),
        continues,
        reverts: plan.is_revert(),
        workspace: binding.workspace.clone(),
        mode: binding.mode,
        target: binding
            .target
            .as_ref()
            .map_or_else(|| "this computer".to_owned(), ToString::to_string),
        policy: binding.policy,
        expiry: format!("{}, unless the run has begun", format::remaining(ttl_ms)),
        inputs: binding
            .inputs
            .iter()
            .map(|(path, state)| {
                let state = match state {
                    FileState::Absent => "absent now".to_owned(),
                    FileState::Content(digest) => digest.to_string(),
                };
                // The untruncated digest, below its path.
                format!("{}\n    {state}", visible(path))
            })
            .collect::<Vec<_>>()
            .join("\n")
            .into(),
        writes: review
            .impact
            .files
            .iter()
            .map(|path| visible(path))
            .collect::<Vec<_>>()
            .join("\n")
            .into(),
        asks: by_reason(&review.asks),
        walls: review.walls.as_ref().and_then(wall_lines),
        irreversible: review.impact.irreversible,
        worst: review.impact.worst,
        attempt: None,
    }
}

pub(super) fn authorize_ui(
    ui: &mut Ui,
    prompt: PromptId,
    view: &AuthorizeView,
    actions: &mut Vec<Action>,
) {
    let dangerous = view.worst.is_some_and(|worst| worst >= RiskLevel::Dangerous);
    let shape = Shape {
        title: "Authorize exactly this plan?",
        chip: view.worst.map(|worst| {
            Chip::new(risk_icon(worst), format!("worst: {}", worst.as_str()), worst.into())
        }),
        delay_ms: if dangerous { DANGEROUS_DELAY_MS } else { DELAY_MS },
        width: 680.0,
    };
    question_ui(
        ui,
        prompt,
        &shape,
        actions,
        |ui, asked, actions| {
            let hold_back = asked.allowed.hold_back;
            if widgets::button(ui, Look::Plain, None, "Not now", hold_back)
                .on_hover_text("Close this; nothing is decided.")
                .clicked()
            {
                actions.push(Action::Dialog(DialogAction::LeaveUndecided));
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let enabled = asked.allowed.approve;
                // A loop continues at once, so the button says that it also runs the plan.
                let text = if view.attempt.is_some() { "Authorize and run" } else { "Authorize" };
                if widgets::button(ui, Look::Primary, Some(icon::SIGNATURE), text, enabled)
                    .on_disabled_hover_text("One moment: read it first.")
                    .clicked()
                {
                    actions.push(Action::Dialog(DialogAction::Authorize(view.digest)));
                }
            });
        },
        |ui, _| padded(ui, |ui| body_ui(ui, view)),
    );
}

fn body_ui(ui: &mut Ui, view: &AuthorizeView) {
    whole_ui(ui, "name", &view.name, |ui, name| {
        widgets::paragraph(ui, name, Text::Strong, Tone::Plain);
    });
    let text = "Your signature covers what is listed here. If any of it changes before the run \
                begins, the signature is void.";
    widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
    // The walls come first because grants may reach beyond the workspace.
    if let Some(walls) = &view.walls {
        lines_ui(ui, walls);
    }
    ui.add_space(2.0);
    widgets::fact(ui, "plan", view.plan_id.as_str(), Text::Mono);
    widgets::fact(ui, "bytes", view.digest.to_string(), Text::SmallMono);
    widgets::fact(ui, "steps", format::counted(view.steps, "step"), Text::Body);
    if let Some(run_id) = view.continues {
        let how = if view.reverts { "reverts" } else { "continues" };
        widgets::fact(ui, how, format!("run {run_id}"), Text::Mono);
    }
    widgets::fact(ui, "workspace", &view.workspace, Text::Mono);
    widgets::fact(ui, "runs on", &view.target, Text::Body);
    let mode = match view.mode {
        Mode::Automatic => "automatic: steps run on until one must ask",
        Mode::Guided => "guided: you start each step",
    };
    widgets::fact(ui, "mode", mode, Text::Body);
    widgets::fact(ui, "settings", view.policy.to_string(), Text::SmallMono);
    match view.attempt {
        Some((attempt, most)) => {
            let text = format!("attempt {attempt} of {most}; it runs as soon as you authorize it");
            widgets::fact(ui, "loop", text, Text::Body);
        }
        None => widgets::fact(ui, "valid for", &view.expiry, Text::Body),
    }
    let title = "Files whose present content is covered";
    let none = match view.irreversible {
        0 => "No step changes a file.",
        _ => "None: what the steps change cannot be predicted.",
    };
    list(ui, title, &view.inputs, none);
    if !view.writes.is_empty() {
        list(ui, "Files that will be written", &view.writes, "");
    }
    ui.add_space(4.0);
    widgets::heading(ui, "What will still ask you");
    if view.asks.is_empty() {
        let text = match view.attempt {
            Some(_) => "No step asks: all run as soon as you authorize.",
            None => "No step asks: all run once you press Run.",
        };
        widgets::remark(ui, icon::INFO, Tone::Dim, text);
    }
    for reason in &view.asks {
        widgets::remark(ui, icon::HAND, Tone::Accent, reason);
    }
    if view.irreversible > 0 {
        let text = format!(
            "{} may do something that the evidence cannot restore.",
            format::counted(view.irreversible, "step")
        );
        widgets::remark(ui, icon::WARNING, Tone::Caution, text);
    } else {
        let text = "Replaced contents are kept in the evidence, byte for byte.";
        widgets::remark(ui, icon::REVERT, Tone::Safe, text);
    }
}

/// Each reason to ask once, with its step numbers in words; the input has the reason of each step.
fn by_reason(asks: &[Option<String>]) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<usize>)> = Vec::new();
    for (index, why) in asks.iter().enumerate() {
        let Some(why) = why else { continue };
        match reasons.iter_mut().find(|(reason, _)| reason == why) {
            Some((_, numbers)) => numbers.push(index + 1),
            None => reasons.push((why, vec![index + 1])),
        }
    }
    let sentence = |(why, numbers): (_, Vec<_>)| format!("{}: {why}", steps_in_words(&numbers));
    reasons.into_iter().map(sentence).collect()
}

/// Ascending step numbers, with ranges joined: `Steps 2, 4–7`.
pub(crate) fn steps_in_words(numbers: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let parts: Vec<_> = runs
        .iter()
        .map(|&(first, last)| match last - first {
            0 => first.to_string(),
            1 => format!("{first}, {last}"),
            _ => format!("{first}–{last}"),
        })
        .collect();
    let noun = if numbers.len() == 1 { "Step" } else { "Steps" };
    format!("{noun} {}", parts.join(", "))
}

/// An untruncated list of any length, drawn only where visible.
fn list(ui: &mut Ui, title: &str, text: &Arc<str>, empty: &str) {
    ui.add_space(4.0);
    widgets::heading(ui, title);
    if text.is_empty() {
        widgets::paragraph(ui, empty, Text::Body, Tone::Dim);
        return;
    }
    let columns = columns(ui, ui.available_width(), Gutter::NONE);
    let rows = kept_rows(ui, title, &[Arc::clone(text)], columns, || text_rows(text, columns));
    code_rows_ui(ui, title, &rows, Gutter::NONE);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_ask_for_the_same_reason_are_named_together() {
        let asks = ["a", "", "b", "a", "a", "", "a", "a", "a"];
        let asks = asks.map(|why| (!why.is_empty()).then(|| why.to_owned()));
        assert_eq!(by_reason(&asks), ["Steps 1, 4, 5, 7–9: a", "Step 3: b"]);
    }
}
