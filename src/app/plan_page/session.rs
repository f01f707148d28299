//! One plan on the page: its review, the decision about it, and its run.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use uuid::Uuid;

use super::approval::error_of;
use super::ended_run::EndedRun;
use super::previews::BackgroundPreviews;
use super::reviews::Reviews;
use super::seen::Seen;
use super::step_list::FilteredSteps;
use super::step_pane::StepPane;
use crate::app::diagnostics_page::DiagnosticsPage;
use crate::authorization::{Change, PlanAuthorization, PlanChoices};
use crate::plan;
use crate::plan::{Dialect, Finding, Mode, ShownPlan};
use crate::run::{
    ConfirmationRequest, Phase, PreviewedSteps, RunEvent, RunState, RunStatus, StepState,
};
use crate::ui::commands::RUNS_ELSEWHERE;
use crate::ui::dialog::AuthorizeView;
use crate::ui::plan::{
    Approval, PlanAttempt, RecordedRun, Revising, RunOutput, Simulated, StepCounts,
};
use crate::worker::OpenedPlan;

/// One plan on the page.
#[derive(Debug)]
pub struct PlanSession {
    /// The plan and its review, as read last. The path is empty for a plan without a file.
    pub opened: OpenedPlan,
    /// The id of this reading and review. The address of a review could be that of an earlier one.
    pub review_id: Uuid,
    /// The workspace that the person chose or that a recorded run had; `None` for the default one.
    pub workspace: Option<PathBuf>,
    /// What else the person chose for the run.
    pub choices: PlanChoices,
    /// Whether the person has chosen something that no review covers yet.
    pub(super) has_new_choice: bool,
    /// The numbers of faulty steps, of steps that change files, and of steps that run a command.
    pub step_counts: StepCounts,
    /// The content of the authorization dialog, computed on first use.
    pub authorize_view: OnceCell<Arc<AuthorizeView>>,
    pub approval: Approval,
    /// The authorization, while it can still be used.
    pub authorization: Option<PlanAuthorization>,
    pub run: RunState,
    /// Whether the page has shown the end of the run.
    pub end_was_seen: bool,
    /// The run's duration, once it is over.
    pub elapsed_ms: Option<i64>,
    pub output: RunOutput,
    pub pane: StepPane,
    /// The previews of all steps.
    pub previewed: BackgroundPreviews,
    /// The previews and the findings when the run began.
    pub(super) before_run: Option<(PreviewedSteps, Vec<Finding>)>,
    /// What the page shows of a run that is over, computed on first use.
    pub(super) ended_run: OnceCell<EndedRun>,
    /// The list of steps, with its filter.
    pub steps: FilteredSteps,
    pub diagnostics: DiagnosticsPage,
    /// The simulation, once requested.
    pub simulation: Option<Simulated>,
    pub confirmation: ConfirmationState,
    /// What the person is changing in the plan.
    pub revising: Revising,
    /// The attempt of a bounded loop that proposed this plan.
    pub attempt: Option<PlanAttempt>,
    /// What the person has looked at.
    pub seen: Seen,
    /// The warning about other runs in the workspace.
    pub other_runs: Option<String>,
    /// What is known about a recorded run besides its events.
    pub recorded: Option<RecordedRun>,
    /// The signatures of other persons.
    pub(super) reviews: Reviews,
}

/// How the pending confirmation is shown, and whether it was answered.
#[derive(Debug, Clone, Default)]
pub struct ConfirmationState {
    /// Whether the dialog is closed: the person closed it without an answer, or it was not opened, because a guided
    /// step is confirmed in its card.
    pub dialog_closed: bool,
    /// Whether to scroll to the card of the step in the next frame.
    pub reveal_card: bool,
    /// The step whose confirmation was answered, until the next step or confirmation.
    pub answered: Option<usize>,
    /// The files that are no longer as the question shows them.
    pub changed: Vec<String>,
    /// The watched change after which these files were last compared.
    pub checked_at_ms: Option<i64>,
}

/// Why a plan cannot be authorized without signatures of other persons.
const NEEDS_SIGNATURES: &str = "It needs the signatures of other persons first.";
/// Why a plan cannot be authorized while steps that matter were not looked at.
const LOOK_FIRST: &str = "First look at each step that asks, is dangerous or has no walls.";

impl PlanSession {
    /// A session for a plan file that was opened.
    pub fn from_opened(opened: OpenedPlan, workspace: Option<PathBuf>) -> Self {
        Self {
            review_id: Uuid::new_v4(),
            workspace,
            choices: PlanChoices::default(),
            has_new_choice: false,
            step_counts: opened.plan.as_deref().map(StepCounts::of).unwrap_or_default(),
            authorize_view: OnceCell::new(),
            approval: Approval::None,
            authorization: None,
            run: RunState::default(),
            end_was_seen: false,
            elapsed_ms: None,
            output: RunOutput::default(),
            pane: StepPane::default(),
            previewed: BackgroundPreviews::default(),
            before_run: None,
            ended_run: OnceCell::new(),
            steps: FilteredSteps::default(),
            diagnostics: DiagnosticsPage::default(),
            simulation: None,
            confirmation: ConfirmationState::default(),
            revising: Revising::default(),
            attempt: None,
            seen: Seen::default(),
            other_runs: None,
            recorded: None,
            reviews: Reviews::default(),
            opened,
        }
    }

    /// The plan file; `None` for a recorded plan or the plan of a loop.
    pub fn path(&self) -> Option<&Path> {
        Some(&*self.opened.path).filter(|path| !path.as_os_str().is_empty())
    }

    /// The plan's name; without a plan, the name of its file.
    pub fn name(&self) -> &str {
        let file = || self.opened.path.file_name().and_then(|name| name.to_str());
        self.opened.plan.as_ref().map_or_else(|| file().unwrap_or_default(), |plan| plan.name())
    }

    /// Whether the run is over and has an id, so that it can have follow-up plans.
    pub fn is_over(&self) -> bool {
        self.run.is_over() && self.run.run_id.is_some()
    }

    /// Whether the run is over and did not complete.
    pub fn is_unfinished(&self) -> bool {
        self.is_over() && self.run.phase != Phase::Ended(RunStatus::Completed)
    }

    /// Why the plan cannot be authorized now; `None` if it can.
    pub fn not_authorizable(&self) -> Option<&'static str> {
        let untrusted = self.opened.review.as_ref().and_then(|review| review.untrusted());
        self.not_rejectable().or(match untrusted {
            Some(_) => Some("It would run commands that you do not trust yet."),
            None if self.lacks_inputs() => Some("Fill in its inputs first."),
            None if !plan::is_valid(&self.opened.findings) => {
                Some("Correct the errors listed above.")
            }
            None if self.reviews.missing() > 0 => Some(NEEDS_SIGNATURES),
            None if self.seen.looked_at.missing > 0 => Some(LOOK_FIRST),
            None => self.revising.unfinished(),
        })
    }

    /// Whether the plan can be authorized, or the request signed, once the steps that matter were looked at.
    pub fn must_look_first(&self) -> bool {
        [self.not_authorizable(), self.not_signable()].contains(&Some(LOOK_FIRST))
    }

    /// Whether the plan lacks nothing but signatures of other persons.
    pub fn lacks_signatures(&self) -> bool {
        self.not_authorizable() == Some(NEEDS_SIGNATURES)
    }

    /// Why the person cannot sign the request that is shown; `None` if they can.
    pub fn not_signable(&self) -> Option<&'static str> {
        let look_first = (self.seen.looked_at.missing > 0).then_some(LOOK_FIRST);
        self.not_refusable().or(look_first)
    }

    /// Why nothing can be decided about the plan now; `None` if it can be rejected.
    pub fn not_rejectable(&self) -> Option<&'static str> {
        match self.attempt {
            _ if self.approval == Approval::Recorded => self.not_simulatable(),
            _ if self.run.is_active() => Some("Its run is under way."),
            Some(attempt) if !attempt.waits => {
                Some("It belongs to a loop that does not wait for an answer.")
            }
            _ if self.approval.is_pending() => Some("Your answer is being recorded."),
            _ => self.not_simulatable(),
        }
    }

    /// Why the plan cannot be simulated; `None` if it can.
    pub fn not_simulatable(&self) -> Option<&'static str> {
        match (&self.opened.plan, &self.opened.review) {
            _ if self.opened.request.is_some() => {
                Some("It is a request of somebody else: nothing of it runs here.")
            }
            _ if self.runs_elsewhere() => Some(RUNS_ELSEWHERE),
            _ if self.approval == Approval::Recorded => {
                Some("This is a run from the records. Run it again, or continue from here.")
            }
            (None, _) => Some("The file cannot be read as a plan."),
            (_, None) if self.lacks_workspace() => Some("Choose the workspace of the plan first."),
            (_, None) => Some("It could not be reviewed in its workspace."),
            _ => None,
        }
    }

    /// Whether this is a plan in the inbox for which nobody has named a workspace.
    fn lacks_workspace(&self) -> bool {
        let held = self.opened.held.as_ref();
        held.is_some_and(|held| held.lacks_workspace()) && self.workspace.is_none()
    }

    /// Whether the run executes the commands of a command plan one after another, without a confirmation of each.
    pub fn is_automatic(&self) -> bool {
        let is_automatic = |plan: &Arc<ShownPlan>| {
            plan.dialect == Dialect::CommandPlan && plan.mode == Mode::Automatic
        };
        self.opened.plan.as_ref().is_some_and(is_automatic) && !self.run.became_guided
    }

    /// Applies a new review of the same file. Returns the changes to what an approval covers.
    pub fn apply_review(&mut self, opened: OpenedPlan) -> Vec<Change> {
        let mut changes = Vec::new();
        if opened.digest != self.opened.digest {
            changes.push(Change {
                what: "plan bytes".to_owned(),
                approved: self.opened.digest.to_string(),
                now: opened.digest.to_string(),
            });
        }
        // The new review is compared with the approval; without an approval, with the previous review.
        let covered = match (&self.authorization, &self.opened.review) {
            (Some(authorization), _) => Some(&authorization.binding),
            (None, Some(review)) => Some(&review.binding),
            (None, None) => None,
        };
        if let (Some(covered), Some(review)) = (covered, &opened.review) {
            changes.extend(covered.changes(&review.binding));
        }
        let was_approved = matches!(self.approval, Approval::Approved { .. });
        self.has_new_choice = false;
        // An approval that was recorded after a first review with errors must not survive the next one.
        let is_new = was_approved || plan::is_valid(&self.opened.findings);
        changes.extend(error_of(&opened).filter(|_| is_new));
        if let Some(simulation) = &mut self.simulation {
            simulation.stale |= opened.digest != self.opened.digest
                || match (&self.opened.review, &opened.review) {
                    (Some(old), Some(new)) => {
                        old.workspace != new.workspace
                            || !old.binding.changes(&new.binding).is_empty()
                    }
                    (old, new) => old.is_some() != new.is_some(),
                };
        }
        if (was_approved || self.is_void_by_choice()) && !changes.is_empty() {
            self.approval = Approval::Void(changes.clone());
            self.authorization = None;
        }
        if opened.digest != self.opened.digest {
            self.run = RunState::default();
            self.elapsed_ms = None;
        }
        if !self.run.is_over() {
            self.pane.previews.clear();
        }
        self.pane.previews.forget_failed();
        self.previewed = BackgroundPreviews::default();
        self.step_counts = opened.plan.as_deref().map(StepCounts::of).unwrap_or_default();
        self.ended_run = OnceCell::new();
        self.choices.end_with_version(Some(self.opened.digest), opened.digest);
        if opened.digest != self.opened.digest {
            self.revising.follow(opened.plan.as_deref());
        }
        self.opened = opened;
        self.review_id = Uuid::new_v4();
        self.authorize_view = OnceCell::new();
        let count = self.opened.plan.as_ref().map_or(0, |plan| plan.steps.len());
        self.pane.selected = self.pane.selected.min(count.saturating_sub(1));
        changes
    }

    /// Applies an event of the run. Returns whether a confirmation is needed.
    pub fn apply_event(&mut self, event: &RunEvent, now_ms: i64) -> bool {
        self.run.apply(event);
        self.output.transcript.apply(event);
        self.output.timer.apply(event, now_ms);
        match event {
            RunEvent::StepStarted { step_index, .. } => {
                self.confirmation.answered = None;
                self.pane.follow(*step_index);
            }
            RunEvent::ConfirmationNeeded { request } => {
                // Without a plan there is no list of steps for a card.
                self.confirmation.dialog_closed = request.guided && self.opened.plan.is_some();
                self.confirmation.answered = None;
                self.confirmation.changed.clear();
                if request.guided {
                    self.pane.follow(request.step_index);
                }
                self.pane.previews.store(request.step_index, Some(request.preview.clone()));
                return true;
            }
            _ => {}
        }
        false
    }

    /// Shows what the steps would do now, instead of what they did in a run that is over.
    pub fn leave_ended_run(&mut self) {
        if self.run.is_over() {
            self.run = RunState::default();
            self.elapsed_ms = None;
            self.pane.previews.clear();
            self.previewed = BackgroundPreviews::default();
        }
    }

    /// Shows the list of steps instead of the simulation.
    pub fn hide_simulation(&mut self) {
        if let Some(simulation) = &mut self.simulation {
            simulation.is_shown = false;
        }
    }

    /// The workspace to which the file names in the results of the run are relative.
    pub fn reviewed_workspace(&self) -> Option<PathBuf> {
        let reviewed = self.opened.review.as_ref().map(|review| review.workspace.clone());
        reviewed.or_else(|| self.workspace.clone())
    }

    /// The confirmation that the run waits for, unless the person has answered it.
    pub fn request(&self) -> Option<&ConfirmationRequest> {
        match &self.run.phase {
            Phase::AwaitingConfirmation(request) if self.runs_here() => Some(request.as_ref())
                .filter(|it| self.confirmation.answered != Some(it.step_index)),
            _ => None,
        }
    }

    /// The execution id of the selected step, once the step has a result.
    pub fn selected_execution(&self) -> Option<Uuid> {
        match self.run.steps.get(self.pane.selected)? {
            StepState::Done(result) => Some(result.execution_id),
            StepState::Waiting | StepState::Running => None,
        }
    }
}
