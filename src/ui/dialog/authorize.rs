//! The authorization dialog: everything that an authorization covers, shown before it is given.

use std::sync::Arc;

use egui::Ui;
use uuid::Uuid;

use super::{Answer, Answers, DialogShape, PromptId, READ_FIRST, question_ui};
use crate::authorization::FileState;
use crate::plan::{Mode, ShownPlan, visible};
use crate::run::Review;
use crate::ui::plan::{
    GroupedSteps, Gutter, PlanAttempt, WallLines, cached_rows, code_rows_ui, columns, full_text_ui,
    indented, lines_ui, text_rows, wall_lines,
};
use crate::ui::{Action, DialogAction, Text, Tone, format, icon, widgets};

/// The content of the authorization dialog.
#[derive(Debug, Clone)]
pub struct AuthorizeView {
    /// The plan.
    pub plan: Arc<ShownPlan>,
    /// The review of the plan. Its binding is what the authorization covers.
    pub review: Arc<Review>,
    /// The run that this plan continues or reverts.
    pub continues: Option<Uuid>,
    /// The attempt of a bounded loop. Its plan runs as soon as it is authorized.
    pub attempt: Option<PlanAttempt>,
    /// For how long the authorization is valid if the run does not begin, as a sentence part.
    pub expiry: String,
    /// Each file whose present content is covered, with the digest of the content; one line each.
    pub inputs: Arc<str>,
    /// The files that would be written, one line each.
    pub writes: Arc<str>,
    /// Each reason to ask for confirmation, with the numbers of its steps.
    pub asks: Vec<String>,
    /// The walls of the steps; `None` when no step has any.
    pub walls: Option<WallLines>,
}

impl AuthorizeView {
    /// The dialog for an authorization of this plan, as reviewed, that is valid for `ttl_ms` milliseconds.
    pub fn new(
        plan: Arc<ShownPlan>,
        review: Arc<Review>,
        continues: Option<Uuid>,
        attempt: Option<PlanAttempt>,
        ttl_ms: i64,
    ) -> Self {
        let input = |(path, state): (&String, &FileState)| {
            let state = match state {
                FileState::Absent => "does not exist yet".to_owned(),
                FileState::Content(digest) => digest.to_string(),
            };
            format!("{}\n    {state}", visible(path))
        };
        let lines = |lines: Vec<_>| Arc::from(lines.join("\n"));
        let writes = review.impact.files.iter().map(|path| visible(path).into_owned());
        Self {
            continues,
            attempt,
            expiry: format!("{}; the run must begin within this time", format::remaining(ttl_ms)),
            inputs: lines(review.binding.inputs.iter().map(input).collect()),
            writes: lines(writes.collect()),
            asks: by_reason(&review.asks),
            walls: review.walls.as_ref().and_then(wall_lines),
            plan,
            review,
        }
    }
}

pub(super) fn authorize_ui(
    ui: &mut Ui,
    prompt: PromptId,
    view: &AuthorizeView,
    actions: &mut Vec<Action>,
) {
    let shape = DialogShape {
        title: "Authorize exactly this plan?",
        risk: view.review.impact.worst,
        chip_prefix: "worst: ",
        width: 680.0,
    };
    // A loop runs the plan at once, so the text of the button includes running it.
    let text = if view.attempt.is_some() { "Authorize and run" } else { "Authorize" };
    let action = DialogAction::Authorize(view.plan.digest);
    let answers = Answers {
        safe: vec![Answer::leave("Not now")],
        approve: Some(Answer::approve(icon::SIGNATURE, text, READ_FIRST, action)),
    };
    question_ui(
        ui,
        prompt,
        &shape,
        actions,
        |_| answers,
        |ui, _, _| indented(ui, |ui| body_ui(ui, view)),
    );
}

fn body_ui(ui: &mut Ui, view: &AuthorizeView) {
    let AuthorizeView { plan, review, .. } = view;
    let binding = &review.binding;
    full_text_ui(ui, "name", plan.name(), |ui, name| {
        widgets::paragraph(ui, name, Text::Strong, Tone::Plain);
    });
    let text = "Your authorization covers what is listed here. If any of it changes before the run \
                begins, the authorization is void.";
    widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
    // The walls come first because grants may reach beyond the workspace.
    if let Some(walls) = &view.walls {
        lines_ui(ui, walls);
    }
    ui.add_space(2.0);
    widgets::fact(ui, "plan", &plan.plan_id, Text::Mono);
    widgets::fact(ui, "plan digest", plan.digest.to_string(), Text::SmallMono);
    widgets::fact(ui, "steps", format::counted(plan.steps.len(), "step"), Text::Body);
    if let Some(run_id) = view.continues {
        let relation = if plan.is_revert() { "reverts" } else { "continues" };
        widgets::fact(ui, relation, format!("run {run_id}"), Text::Mono);
    }
    widgets::fact(ui, "workspace", &binding.workspace, Text::Mono);
    let target = binding.target.as_ref().map(ToString::to_string);
    widgets::fact(ui, "runs on", target.as_deref().unwrap_or("this computer"), Text::Body);
    let mode = match binding.mode {
        Mode::Automatic => "automatic: steps run on until one must ask",
        Mode::Guided => "guided: you start each step",
    };
    widgets::fact(ui, "mode", mode, Text::Body);
    widgets::fact(ui, "settings digest", binding.policy.to_string(), Text::SmallMono);
    match view.attempt {
        Some(it) => {
            let number = format!("attempt {} of {}", it.attempt.number, it.max_attempts);
            let text = format!("{number}; it runs as soon as you authorize it");
            widgets::fact(ui, "loop", text, Text::Body);
        }
        None => widgets::fact(ui, "valid for", &view.expiry, Text::Body),
    }
    let title = "Files that must not change before the run";
    let irreversible = review.impact.irreversible;
    let none = match irreversible {
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
    ui.add_space(4.0);
    widgets::heading(ui, "What can be restored");
    if irreversible > 0 {
        let text = format!(
            "{} may change something that the evidence cannot restore.",
            format::counted(irreversible, "step")
        );
        widgets::remark(ui, icon::WARNING, Tone::Caution, text);
    } else {
        let text = "Replaced contents are kept in the evidence, byte for byte.";
        widgets::remark(ui, icon::REVERT, Tone::Safe, text);
    }
}

/// The distinct reasons to ask for confirmation, each with its step numbers. `asks` has the reason of each step.
fn by_reason(asks: &[Option<String>]) -> Vec<String> {
    let mut reasons = GroupedSteps::default();
    for (index, reason) in asks.iter().enumerate() {
        reasons.add(index, reason.iter().map(|reason| (0, reason.clone())));
    }
    reasons.lines()
}

/// A complete list of any length, of which only the visible rows are drawn.
fn list(ui: &mut Ui, title: &str, text: &Arc<str>, empty: &str) {
    ui.add_space(4.0);
    widgets::heading(ui, title);
    if text.is_empty() {
        widgets::paragraph(ui, empty, Text::Body, Tone::Dim);
        return;
    }
    let columns = columns(ui, ui.available_width(), Gutter::NONE);
    let rows = cached_rows(ui, title, &[Arc::clone(text)], columns, || text_rows(text, columns));
    code_rows_ui(ui, title, &rows, Gutter::NONE);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_grouped_by_reason() {
        let asks = ["a", "", "b", "a", "a", "", "a", "a", "a"];
        let asks = asks.map(|reason| (!reason.is_empty()).then(|| reason.to_owned()));
        assert_eq!(by_reason(&asks), ["Steps 1, 4, 5, 7–9: a", "Step 3: b"]);
    }
}
