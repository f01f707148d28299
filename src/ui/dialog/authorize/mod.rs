//! The authorization dialog: everything that an authorization covers, shown before it is given. What matters most comes
//! first: the figures, what asks and what cannot be restored, the walls, then each step and file. The digests are folded.

mod covered;
mod entries;
mod figures;
mod fleet;
mod sentences;
#[cfg(test)]
mod tests;
mod traits;
mod waiting;

use std::sync::Arc;

use egui::{Id, Ui};
use uuid::Uuid;

use self::entries::{Entries, entries_ui};
use self::figures::{Figure, figures_ui};
use self::sentences::{alike, by_reason, failing, lasting, remarks};
pub use self::waiting::WaitingAgent;
use super::{Answer, Answers, DialogShape, PromptId, READ_FIRST, question_ui};
use crate::authorization::{FileState, Signing};
use crate::plan::{
    Finding, Mode, Severity, ShownPlan, ToolCall, ToolClass, drawable_lines, prose, visible_name,
};
use crate::run::{FileFate, PlanRejection, PreviewedSteps, Review};
use crate::ui::plan::{
    Gutter, PlanAttempt, ReviewsView, WALLS, WallLines, answers_ui, finding_sentence, indented,
    lines_ui, wall_lines,
};
use crate::ui::{Action, DialogAction, Look, Now, Text, Tone, controls, format, icon, widgets};

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
    /// The agent that waits for the plan, which is its call.
    agent: Option<WaitingAgent>,
    /// What the authorization leads to, if an agent waits for it.
    waits: Option<String>,
    /// With which key the authorization will be signed; empty if it is not.
    signing: String,
    /// What other persons have answered, a line for each.
    answers: Vec<(Tone, String)>,
    /// Who asks for the person's signature; `None` if the person authorizes a run of their own.
    asked_by: Option<String>,
    /// The warning about other runs in the workspace.
    pub other_runs: Option<String>,
    /// For how long the authorization is valid if the run does not begin: `30 min`.
    pub expiry: String,
    /// Each reason to ask for confirmation, with the numbers of its steps.
    pub asks: Vec<String>,
    /// The walls of the steps; `None` when no step has any.
    pub walls: Option<WallLines>,
    /// The steps with letters that look like others.
    alike: Vec<String>,
    figures: Vec<Figure>,
    /// The steps that may change something that the evidence cannot restore: `Steps 2, 4`.
    lasting: String,
    /// The steps whose precondition does not hold now: `Step 3`; empty if all may hold.
    failing: String,
    /// The findings about the plan that are not errors: whether each is a warning, and its text.
    findings: Vec<(bool, String)>,
    /// Who rejected this plan before, when, and why; empty if nobody has.
    rejected: String,
    /// What the previews say about failures, one sentence each, and whether it is a warning.
    remarks: Vec<(bool, String)>,
    /// Every step.
    steps: Entries,
    /// The steps that are listed while the others are folded; `None` if none are folded.
    unfolded: Option<Entries>,
    files: Entries,
    /// Each file whose present content is covered, with the digest of the content; one line each.
    pub inputs: Arc<str>,
}

impl AuthorizeView {
    /// The dialog for an authorization of this plan, as reviewed, that is valid for `ttl_ms` milliseconds.
    pub fn new(
        plan: Arc<ShownPlan>,
        review: Arc<Review>,
        continues: Option<Uuid>,
        attempt: Option<PlanAttempt>,
        other_runs: Option<String>,
        ttl_ms: i64,
        previewed: &PreviewedSteps,
    ) -> Self {
        let input = |(path, state): (&String, &FileState)| {
            let state = match state {
                FileState::Absent => "does not exist yet".to_owned(),
                FileState::Content(digest) => digest.to_string(),
            };
            format!("{}\n    {state}", visible_name(path))
        };
        let inputs: Vec<_> = review.binding.inputs.iter().map(input).collect();
        let folded = traits::foldable(&plan, &review, previewed);
        let fates = file_fates(&plan, &review, previewed);
        let unfolded = |index| folded.binary_search(&index).is_err();
        Self {
            continues,
            attempt,
            agent: None,
            waits: None,
            signing: String::new(),
            answers: Vec::new(),
            asked_by: None,
            other_runs,
            expiry: format::remaining(ttl_ms),
            asks: by_reason(&review.asks),
            walls: review.walls.as_ref().and_then(wall_lines),
            alike: alike(&plan),
            figures: figures::of(&plan, &review, &fates, previewed),
            lasting: lasting(&plan, &review),
            failing: failing(&plan, &review),
            findings: Vec::new(),
            rejected: String::new(),
            remarks: remarks(previewed),
            steps: Entries::of_steps(&plan, &review, previewed, |_| true),
            unfolded: (folded.len() > 1)
                .then(|| Entries::of_steps(&plan, &review, previewed, unfolded)),
            files: Entries::of_files(&review, &fates),
            inputs: inputs.join("\n").into(),
            plan,
            review,
        }
    }

    /// The dialog with these findings about the plan. With errors, nothing can be authorized.
    #[must_use]
    pub fn with_findings(self, findings: &[Finding]) -> Self {
        let findings = findings.iter().filter(|finding| finding.severity != Severity::Error);
        let steps = &self.plan.steps;
        let text = |it: &Finding| (it.severity == Severity::Warning, finding_sentence(it, steps));
        // A stable sort: warnings first, each kind in the order of the plan.
        let mut findings: Vec<_> = findings.map(text).collect();
        findings.sort_by_key(|(is_warning, _)| !is_warning);
        let mut figures = self.figures;
        if self.plan.is_revert() && findings.iter().any(|(is_warning, _)| *is_warning) {
            figures::qualify(&mut figures);
        }
        Self { findings, figures, ..self }
    }

    /// The dialog about a call that this agent waits for.
    #[must_use]
    pub fn with_agent(self, agent: Option<WaitingAgent>, now: &Now) -> Self {
        let mut figures = self.figures;
        if agent.as_ref().is_some_and(|it| it.acts) {
            figures::made_by_agent(&mut figures);
        }
        let waits = agent.as_ref().map(|it| it.sentences(now));
        Self { agent, waits, figures, ..self }
    }

    /// The dialog about an authorization that is signed with this key, if it signs authorizations.
    #[must_use]
    pub fn with_signing(self, signing: Option<&Signing>) -> Self {
        let signing = signing.filter(|signing| signing.of_authorizations());
        Self { signing: signing.map(sentences::signing).unwrap_or_default(), ..self }
    }

    /// The dialog with the answers of other persons.
    #[must_use]
    pub fn with_answers(self, reviews: &ReviewsView<'_>) -> Self {
        Self { answers: reviews.answers().to_vec(), ..self }
    }

    /// The dialog about a request of somebody else, which is signed and not run.
    #[must_use]
    pub fn with_request(self, by: Option<&str>, signing: Option<&Signing>) -> Self {
        let Some(by) = by else { return self };
        let asked_by = if by.trim().is_empty() { "whoever asks" } else { by };
        let signing = signing.map(sentences::answering).unwrap_or_default();
        Self { asked_by: Some(visible_name(asked_by).into_owned()), signing, ..self }
    }

    /// The dialog with the rejection of this plan that was recorded before, if any.
    #[must_use]
    pub fn with_rejection(self, rejection: Option<&PlanRejection>, now: &Now) -> Self {
        let rejected = rejection.map(|it| sentences::rejected(it, now)).unwrap_or_default();
        Self { rejected, ..self }
    }
}

pub(super) fn authorize_ui(
    ui: &mut Ui,
    prompt: PromptId,
    view: &AuthorizeView,
    actions: &mut Vec<Action>,
) {
    let shape = DialogShape {
        title: match view.asked_by {
            Some(_) => "Sign exactly this plan?",
            None => "Authorize exactly this plan?",
        },
        risk: view.review.impact.worst,
        chip_prefix: "worst: ",
        width: 760.0,
        subject: None,
        word: None,
    };
    // A loop runs the plan at once, so the text of the button includes running it.
    let text = match (&view.asked_by, view.attempt) {
        (Some(_), _) => "Sign",
        (None, Some(_)) => "Authorize and run",
        (None, None) => "Authorize",
    };
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
        |ui, _, id, _| indented(ui, |ui| body_ui(ui, view, id.with("unfolded"))),
    );
}

/// `unfolded` is where the window keeps whether the person has unfolded the steps that only read.
fn body_ui(ui: &mut Ui, view: &AuthorizeView, unfolded: Id) {
    figures::name_ui(ui, &prose(view.plan.name()));
    context_ui(ui, view);
    ui.add_space(6.0);
    if !view.rejected.is_empty() {
        widgets::remark(ui, icon::PROHIBIT, Tone::Danger, drawable_lines(&view.rejected));
    }
    // Before the figures, which say nothing of what the plan's checks found.
    for (is_warning, text) in &view.findings {
        let (icon, tone) =
            if *is_warning { (icon::WARNING, Tone::Caution) } else { (icon::INFO, Tone::Dim) };
        widgets::remark(ui, icon, tone, text);
    }
    figures_ui(ui, &view.figures);
    ui.add_space(6.0);
    if let Some(warning) = &view.other_runs {
        widgets::remark(ui, icon::WARNING, Tone::Caution, warning);
    }
    for step in &view.alike {
        widgets::remark(ui, icon::WARNING, Tone::Danger, step);
    }
    if !view.failing.is_empty() {
        let text =
            format!("The precondition of {} does not hold now.", view.failing.to_lowercase());
        widgets::remark(ui, icon::WARNING, Tone::Danger, text);
    }
    for (is_warning, text) in &view.remarks {
        let (icon, tone) =
            if *is_warning { (icon::WARNING, Tone::Danger) } else { (icon::CLOCK, Tone::Dim) };
        widgets::remark(ui, icon, tone, text);
    }
    for reason in &view.asks {
        widgets::remark(ui, icon::HAND, Tone::Accent, reason);
    }
    match (&view.waits, view.attempt) {
        (Some(text), _) => widgets::remark(ui, icon::ROBOT, Tone::Accent, text),
        _ if !view.asks.is_empty() || view.asked_by.is_some() => {}
        (None, Some(_)) => {
            let text = "No step asks: all run as soon as you authorize.";
            widgets::remark(ui, icon::INFO, Tone::Dim, text);
        }
        (None, None) => {
            let text = "No step asks: all run once you press Run.";
            widgets::remark(ui, icon::INFO, Tone::Dim, text);
        }
    }
    answers_ui(ui, &view.answers);
    if !view.signing.is_empty() {
        widgets::remark(ui, icon::SIGNATURE, Tone::Accent, &view.signing);
    }
    if !view.lasting.is_empty() && !view.agent.as_ref().is_some_and(|it| it.acts) {
        let text =
            format!("{} may change something that the evidence cannot restore.", view.lasting);
        widgets::remark(ui, icon::WARNING, Tone::Caution, text);
    }
    if let Some(walls) = &view.walls {
        lines_ui(ui, walls);
    }
    if let Some(fleet) = &view.review.fleet {
        fleet::fleet_ui(ui, fleet);
    }
    if let Some(host) = &view.review.binding.target {
        let text = format!("Commands on {} run without walls.", visible_name(&host.to_string()));
        widgets::remark(ui, WALLS, Tone::Caution, text);
    }
    steps_ui(ui, view, unfolded);
    if view.files.len() > 0 {
        list_heading(ui, "Files");
        entries_ui(ui, "files", &view.files, Gutter::NONE);
    } else if view.review.impact.irreversible == 0 {
        widgets::paragraph(ui, "No step changes a file.", Text::Meta, Tone::Dim);
    }
    ui.add_space(6.0);
    let whose = if view.asked_by.is_some() { "their" } else { "your" };
    let title = format!(
        "What exactly it covers: the plan's bytes, {whose} settings, and {}",
        format::counted(view.review.binding.inputs.len(), "file"),
    );
    controls::folded(ui, &title, "covered", |ui| covered::covered_ui(ui, view));
}

/// Where the plan comes from, where it runs and how, and for how long the authorization is valid.
fn context_ui(ui: &mut Ui, view: &AuthorizeView) {
    let binding = &view.review.binding;
    let author = view.plan.created_by.as_ref().map(|it| format!("proposed by {}", prose(it)));
    let target = binding.target.as_ref().map(ToString::to_string);
    let target = target.or_else(|| view.plan.target.clone());
    let computer = if view.asked_by.is_some() { "on their computer" } else { "on this computer" };
    let target = target.map_or(computer.to_owned(), |it| format!("on {}", visible_name(&it)));
    let mode = match binding.mode {
        Mode::Automatic => "automatic: steps run on until one must ask",
        Mode::Guided => "guided: you start each step",
    };
    let run = view.continues.map(|run| view.plan.relation(run, None));
    let attempt = view
        .attempt
        .map(|it| format!("attempt {} of {} of a loop", it.attempt.number, it.max_attempts));
    let workspace = format!("in {}", visible_name(&binding.workspace));
    let asks = binding.choices.ask_every_step.then(|| "asks before every step".to_owned());
    let parts = [author, Some(workspace), Some(target), Some(mode.to_owned()), asks, run, attempt];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    widgets::paragraph(ui, parts.join("  ·  "), Text::Meta, Tone::Dim);
    let text = match (view.attempt, &view.asked_by) {
        (_, Some(by)) => format!(
            "You sign that exactly this may run once, where {by} asks for it. If anything listed here changes before, your \
             signature is void. The steps are those that you sign; what they do is what the other computer says."
        ),
        (Some(_), None) => "It runs as soon as you authorize it. If anything here changes before, the authorization is void.".to_owned(),
        (None, None) => format!(
            "Your authorization covers what is listed here, for one run that begins within {}. If any of it changes \
             before, the authorization is void.",
            view.expiry
        ),
    };
    widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
}

/// Lists the steps; those that are folded only if the person unfolds them.
fn steps_ui(ui: &mut Ui, view: &AuthorizeView, unfolded: Id) {
    list_heading(ui, "What will run");
    let mut shown = &view.steps;
    if let Some(rest) = &view.unfolded {
        let count = format::counted(view.steps.len() - rest.len(), "step");
        let mut is_unfolded = ui.data(|data| data.get_temp(unfolded)).unwrap_or(false);
        let (icon, text) = if is_unfolded {
            (
                icon::DOWN,
                format!(
                    "{count} that only read and do not ask are shown in their places. Fold them"
                ),
            )
        } else {
            (icon::RIGHT, format!("{count} only read and do not ask. Show them"))
        };
        let button = widgets::button(ui, Look::Bare, Some(icon), &text, true);
        widgets::reveal_focused(ui, &button);
        if button.clicked() {
            is_unfolded = !is_unfolded;
            ui.data_mut(|data| data.insert_temp(unfolded, is_unfolded));
        }
        if !is_unfolded {
            shown = rest;
        }
    }
    entries_ui(ui, "steps", shown, Gutter::of_list(view.steps.len()));
}

fn list_heading(ui: &mut Ui, title: &str) {
    ui.add_space(6.0);
    widgets::heading(ui, title);
}

/// What becomes of each file that the steps name as written.
fn file_fates(plan: &ShownPlan, review: &Review, previewed: &PreviewedSteps) -> Vec<FileFate> {
    // No other tool deletes files that it names as written.
    let may_delete = |index: usize| {
        let call = plan.steps.get(index).and_then(|step| step.call.as_ref());
        let call = call.filter(|call| call.class() == ToolClass::Mutate)?;
        Some(matches!(call, ToolCall::History { .. } | ToolCall::MutateBatch(_)))
    };
    previewed.fates(&review.impact.files, &review.binding.inputs, may_delete)
}
