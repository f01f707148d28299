//! One plan on the page: its review, what its person said, its run. Pure but for ids.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use uuid::Uuid;

use super::attempt::AttemptOf;
use super::diagnostics::DiagnosticsSession;
use crate::authorization::{ApprovedPlan, Change, Grants, PlanAuthorization, SinceBoot};
use crate::plan::{self, Dialect, Digest, Finding, Mode, ShownPlan};
use crate::run::{
    ConfirmationRequest, ExecutionDetail, Failure, Pace, Phase, Preview, Review, RunEvent, RunFate,
    RunState, StepState, Steps, Transcript,
};
use crate::ui::action::Tab;
use crate::ui::dialog::{AuthorizeView, authorize_view};
use crate::ui::plan::{Approval, Figures};
use crate::worker::{OpenedPlan, Replayed, Simulation};

/// One plan on the page.
#[derive(Debug, Clone)]
pub(super) struct PlanSession {
    pub(super) path: Option<PathBuf>,
    /// The workspace the person chose; none for the default one.
    pub(super) workspace: Option<PathBuf>,
    /// What they grant beyond the walls of its steps.
    pub(super) grants: Grants,
    pub(super) digest: Digest,
    pub(super) plan: Option<Arc<ShownPlan>>,
    /// What there is to count in it.
    pub(super) figures: Figures,
    pub(super) findings: Vec<Finding>,
    pub(super) review: Option<Arc<Review>>,
    /// What an approval of exactly this plan and review would cover, once somebody asks.
    pub(super) question: OnceCell<Arc<AuthorizeView>>,
    /// The run that the plan, or the recorded run itself, continues.
    pub(super) continues: Option<Uuid>,
    pub(super) approval: Approval,
    /// The answer itself, while it can still be used.
    pub(super) authorization: Option<PlanAuthorization>,
    pub(super) run: RunState,
    /// What it has printed.
    pub(super) transcript: Transcript,
    /// How its step under way is getting on.
    pub(super) pace: Pace,
    /// Whether what it prints is shown below the steps.
    pub(super) shows_output: bool,
    /// The run's whole duration, once it is over.
    pub(super) elapsed_ms: Option<i64>,
    pub(super) selected: usize,
    pub(super) scroll_to_selected: bool,
    /// Whether the selection follows the run; ends when the person picks a step.
    pub(super) follow: bool,
    pub(super) tab: Tab,
    pub(super) diagnostics: DiagnosticsSession,
    pub(super) previews: BTreeMap<usize, Preview>,
    /// What all its steps would do together, once somebody asked.
    pub(super) simulation: Option<Simulated>,
    /// Whether the page shows that instead of the steps.
    pub(super) shows_simulation: bool,
    pub(super) executions: BTreeMap<Uuid, ExecutionDetail>,
    /// What was asked for and could not be had; asked for again when the person looks at it anew.
    pub(super) without_preview: BTreeSet<usize>,
    pub(super) without_record: BTreeSet<Uuid>,
    /// Whether the question of the step under way is not in front: closed without an answer, or asked in
    /// the step's card until the person wants to run what needs the question.
    pub(super) dismissed: bool,
    /// Whether the card of the step that waits is to be brought into view.
    pub(super) reveal_card: bool,
    /// The step that was answered and has not gone on yet.
    pub(super) answered: Option<usize>,
    /// The attempt of a bounded loop whose plan it is.
    pub(super) attempt: Option<AttemptOf>,
}

/// A simulation that was asked for.
#[derive(Debug, Clone)]
pub(super) struct Simulated {
    /// What came of it; none while it is under way.
    pub(super) outcome: Option<Result<Simulation, Failure>>,
    /// Whether the plan, its workspace or a file it uses has changed since it was asked for.
    pub(super) stale: bool,
}

impl PlanSession {
    /// A session for a plan file that was opened.
    pub(super) fn opened(opened: OpenedPlan, workspace: Option<PathBuf>) -> Self {
        Self {
            path: Some(opened.path),
            workspace,
            grants: Grants::default(),
            digest: opened.digest,
            figures: opened.plan.as_deref().map(Figures::of).unwrap_or_default(),
            plan: opened.plan,
            findings: opened.findings,
            review: opened.review,
            question: OnceCell::new(),
            continues: opened.continues,
            approval: Approval::None,
            authorization: None,
            run: RunState::default(),
            transcript: Transcript::default(),
            pace: Pace::default(),
            shows_output: false,
            elapsed_ms: None,
            selected: 0,
            scroll_to_selected: false,
            follow: true,
            tab: Tab::default(),
            diagnostics: DiagnosticsSession::default(),
            previews: BTreeMap::new(),
            simulation: None,
            shows_simulation: false,
            executions: BTreeMap::new(),
            without_preview: BTreeSet::new(),
            without_record: BTreeSet::new(),
            dismissed: false,
            reveal_card: false,
            answered: None,
            attempt: None,
        }
    }

    /// A session for a run from the records.
    pub(super) fn replayed(replayed: Replayed) -> Self {
        let (mut run, mut transcript) = (RunState::default(), Transcript::default());
        for event in &replayed.events {
            run.apply(event);
            transcript.apply(event);
        }
        run.run_id = Some(replayed.summary.run_id);
        if replayed.summary.fate == RunFate::Interrupted {
            run.interrupt();
        }
        let failed = run.steps.stopped_at();
        // Of an interrupted run, the step whose outcome nobody knows.
        let selected = failed.or_else(|| {
            (run.phase == Phase::Interrupted && run.current_step < run.steps.len())
                .then_some(run.current_step)
        });
        let summary = replayed.summary;
        let opened = OpenedPlan {
            path: PathBuf::new(),
            plan: replayed.plan,
            digest: summary.plan_digest,
            findings: Vec::new(),
            review: None,
            continues: summary.parent_run,
        };
        Self {
            path: None,
            approval: Approval::Recorded,
            elapsed_ms: summary.ended_at_ms.map(|end| end - summary.started_at_ms),
            run,
            selected: selected.unwrap_or(0),
            scroll_to_selected: selected.is_some(),
            tab: Tab::Output,
            ..Self::opened(opened, Some(summary.workspace.into()))
        }
    }

    /// Why the plan cannot be authorized now; none when it can.
    pub(super) fn not_authorizable(&self) -> Option<&'static str> {
        if self.approval == Approval::Recorded {
            return Some("This is a run from the records. Run it again, or continue from here.");
        }
        if self.run.is_active() {
            return Some("Its run is under way.");
        }
        if self.attempt.is_some_and(|attempt| !attempt.waits) {
            return Some("It is the plan of a loop, which does not wait for it.");
        }
        if self.approval == Approval::Recording {
            return Some("Your answer is being written down.");
        }
        match (&self.plan, &self.review) {
            (None, _) => Some("The file cannot be read as a plan."),
            (Some(_), Some(review)) if review.untrusted().is_some() => {
                Some("It would run commands that you do not trust yet.")
            }
            _ if !plan::is_valid(&self.findings) => Some("Its findings contain errors."),
            (_, None) => Some("It could not be reviewed in its workspace."),
            _ => None,
        }
    }

    /// Why what its steps would do together cannot be told; none when it can.
    pub(super) fn not_simulatable(&self) -> Option<&'static str> {
        if self.approval == Approval::Recorded {
            return Some("This is a run from the records. Run it again, or continue from here.");
        }
        match (&self.plan, &self.review) {
            (None, _) => Some("The file cannot be read as a plan."),
            (_, None) => Some("It could not be reviewed in its workspace."),
            _ => None,
        }
    }

    /// What an approval would cover for `ttl_ms` milliseconds; none without a review.
    pub(super) fn question(&self, ttl_ms: i64) -> Option<Arc<AuthorizeView>> {
        let (plan, review) = (self.plan.as_ref()?, self.review.as_ref()?);
        // Ten thousand files are listed once, not in every frame.
        let make = || {
            let attempt = self.attempt.map(|it| (it.attempt, it.max_attempts));
            let view = authorize_view(plan, review, self.continues, ttl_ms);
            Arc::new(AuthorizeView { attempt, ..view })
        };
        Some(Arc::clone(self.question.get_or_init(make)))
    }

    /// Whether its run goes through commands by itself.
    pub(super) fn is_automatic(&self) -> bool {
        let Some(plan) = &self.plan else { return false };
        let goes_on = plan.dialect == Dialect::CommandPlan && plan.mode == Mode::Automatic;
        goes_on && !self.run.became_guided
    }

    /// Takes in a new look at the same file. Gives what an approval covered and is different now.
    pub(super) fn reviewed(&mut self, opened: OpenedPlan) -> Vec<Change> {
        let mut changes = Vec::new();
        if opened.digest != self.digest {
            changes.push(Change {
                what: "plan bytes".to_owned(),
                approved: self.digest.to_string(),
                now: opened.digest.to_string(),
            });
        }
        // An approval is compared with what it covers itself; without one, with what was shown.
        let covered = match (&self.authorization, &self.review) {
            (Some(authorization), _) => Some(&authorization.binding),
            (None, Some(review)) => Some(&review.binding),
            (None, None) => None,
        };
        if let (Some(covered), Some(review)) = (covered, &opened.review) {
            changes.extend(covered.changes(&review.binding));
        }
        if let Some(simulation) = &mut self.simulation {
            simulation.stale |= opened.digest != self.digest
                || match (&self.review, &opened.review) {
                    (Some(then), Some(now)) => {
                        then.workspace != now.workspace
                            || !then.binding.changes(&now.binding).is_empty()
                    }
                    (then, now) => then.is_some() != now.is_some(),
                };
        }
        let approved = matches!(self.approval, Approval::Approved { .. });
        if approved && (!changes.is_empty() || !plan::is_valid(&opened.findings)) {
            self.approval = Approval::Void(changes.clone());
            self.authorization = None;
        }
        if opened.digest != self.digest {
            self.run = RunState::default();
            self.elapsed_ms = None;
        }
        if !self.run.is_over() {
            self.previews.clear();
        }
        self.without_preview.clear();
        self.digest = opened.digest;
        self.figures = opened.plan.as_deref().map(Figures::of).unwrap_or_default();
        self.plan = opened.plan;
        self.findings = opened.findings;
        self.review = opened.review;
        self.continues = opened.continues;
        self.question = OnceCell::new();
        let count = self.plan.as_ref().map_or(0, |plan| plan.steps.len());
        self.selected = self.selected.min(count.saturating_sub(1));
        changes
    }

    /// Takes in that an answer was written down.
    pub(super) fn answered(&mut self, authorization: PlanAuthorization) {
        use crate::authorization::AuthorizationStatus::{Approved, Pending, Rejected};
        if authorization.plan_digest != self.digest {
            return;
        }
        match &authorization.status {
            Approved => {
                self.approval = Approval::Approved {
                    at_ms: authorization.decided_at_ms,
                    until_ms: authorization.expires_at_ms,
                };
                self.authorization = Some(authorization);
                // The last run's marks would look like those of the run to come.
                self.run = RunState::default();
                self.elapsed_ms = None;
            }
            Rejected { reason } => {
                self.approval = Approval::Rejected(reason.clone());
                self.authorization = None;
            }
            Pending => {}
        }
    }

    /// Lets an approval end when its time has run out; how long it lasts yet, in milliseconds.
    pub(super) fn expire(&mut self, now_ms: i64, since_boot: &SinceBoot) -> Option<i64> {
        let Approval::Approved { at_ms, .. } = self.approval else { return None };
        let authorization = self.authorization.as_ref()?;
        let left_ms = authorization.left_ms(now_ms, since_boot);
        if left_ms > 0 {
            // Told by the wall clock, and never longer than it lasts.
            self.approval = Approval::Approved { at_ms, until_ms: now_ms + left_ms };
            return Some(left_ms);
        }
        self.approval = Approval::Expired;
        self.authorization = None;
        None
    }

    /// Hands the approval out for its one run.
    pub(super) fn start(&mut self) -> Option<ApprovedPlan> {
        let plan = Arc::unwrap_or_clone(self.plan.clone()?).complete()?;
        let authorization = self.authorization.take()?;
        self.approval = Approval::Used { at_ms: authorization.decided_at_ms };
        // Shown as running from the click on, although its first record is still to come.
        self.run = RunState {
            phase: Phase::Running,
            steps: Steps::waiting(plan.steps.len()),
            started_at_ms: authorization.decided_at_ms,
            ..RunState::default()
        };
        self.transcript = Transcript::default();
        self.shows_output |= plan.dialect == Dialect::CommandPlan;
        self.elapsed_ms = None;
        self.executions.clear();
        // A run is looked at step by step.
        self.shows_simulation = false;
        self.follow = true;
        Some(ApprovedPlan { plan, authorization })
    }

    /// Takes in what happened in the run. True when a question came up.
    pub(super) fn happened(&mut self, event: &RunEvent, now_ms: i64) -> bool {
        self.run.apply(event);
        self.transcript.apply(event);
        self.pace.apply(event, now_ms);
        match event {
            RunEvent::StepStarted { step_index, .. } => {
                self.answered = None;
                if self.follow {
                    self.select(*step_index);
                }
            }
            RunEvent::ConfirmationNeeded { request } => {
                // Without a plan there is no list in which a card could stand.
                self.dismissed = request.guided && self.plan.is_some();
                self.answered = None;
                if request.guided && self.follow {
                    self.select(request.step_index);
                }
                self.previews.insert(request.step_index, request.preview.clone());
                return true;
            }
            _ => {}
        }
        false
    }

    /// Forgets what could not be had of the step that is looked at.
    pub(super) fn ask_anew(&mut self) {
        self.without_preview.remove(&self.selected);
        if let Some(id) = self.selected_execution() {
            self.without_record.remove(&id);
        }
    }

    /// Looks at a step.
    pub(super) fn select(&mut self, index: usize) {
        self.selected = index;
        self.scroll_to_selected = true;
    }

    /// The step that waits for an answer, from 0.
    pub(super) fn asking(&self) -> Option<usize> {
        self.request().map(|request| request.step_index)
    }

    /// What is asked about it.
    pub(super) fn request(&self) -> Option<&ConfirmationRequest> {
        match &self.run.phase {
            Phase::AwaitingConfirmation(request) => {
                Some(request.as_ref()).filter(|it| self.answered != Some(it.step_index))
            }
            _ => None,
        }
    }

    /// The evidence id of the selected step, once it has one.
    pub(super) fn selected_execution(&self) -> Option<Uuid> {
        match self.run.steps.get(self.selected)? {
            StepState::Done(result) => Some(result.execution_id),
            StepState::Waiting | StepState::Running => None,
        }
    }
}
