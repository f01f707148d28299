//! Queries about plans: opening one in its workspace, previewing its steps, and simulating it.

use std::any::TypeId;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use uuid::Uuid;

use super::files::read_unlinked;
use super::inbox::{Held, held};
use super::{
    GivenSignature, OpenedRequest, PlanFile, PlanRead, Query, QueryContext, QueryError, Revised,
    Setup, follow_up_plans, read_plan_file, revisions, workspace_of,
};
use crate::authorization::{PlanChoices, SecretInputs};
use crate::engine::{
    FollowUp, FollowUpError, PreviewBatch, PreviewPosition, Simulation, WorkspaceChoice,
    preview_batch, preview_step, review_trusting, review_until, simulate_shown,
};
use crate::plan::{Code, Digest, Finding, Plan, ShownPlan, parse};
use crate::risk::Policy;
use crate::run::{PlanRejection, Preview, Review, RunSummary};
use crate::tools::ToolError;

/// Reads, parses and reviews a plan file.
pub struct OpenPlan {
    /// The file.
    pub path: PathBuf,
    /// The workspace that the person chose, or `None` for the default one.
    pub workspace: Option<PathBuf>,
    /// What else the person chose for the plan.
    pub choices: PlanChoices,
    /// The digest of the version for which they were chosen; `None` if they do not depend on it.
    pub chosen_for: Option<Digest>,
}

/// A plan file that was opened.
#[derive(Debug, Clone)]
pub struct OpenedPlan {
    /// The file.
    pub path: PathBuf,
    /// The plan; `None` if the file contains nothing that can be shown as one.
    pub plan: Option<Arc<ShownPlan>>,
    /// The digest of the file's bytes; of an empty file if the file cannot be read.
    pub digest: Digest,
    /// The findings of the parser and of the review.
    pub findings: Vec<Finding>,
    /// The review; `None` if there is no plan or it cannot be reviewed.
    pub review: Option<Arc<Review>>,
    /// The run that the plan continues or reverts, if the file is an unchanged follow-up plan of that run.
    pub continues: Option<Uuid>,
    /// The rejection of exactly these bytes, if nobody has authorized them since.
    pub rejected: Option<PlanRejection>,
    /// What is special about a plan in the inbox.
    pub held: Option<Held>,
    /// What a person changed, if the plan is a revision of another file.
    pub revised: Option<Arc<Revised>>,
    /// The request for a signature that the file is; its plan does not run here.
    pub request: Option<Arc<OpenedRequest>>,
    /// The answer to a request that the file is, which has no plan.
    pub signature: Option<Arc<GivenSignature>>,
    /// The answers about the plan that have come back to the folder for them.
    pub answers: Vec<Arc<GivenSignature>>,
}

impl OpenedPlan {
    /// The result for a file without a readable plan.
    pub fn without_plan(path: PathBuf) -> Self {
        Self {
            path,
            plan: None,
            digest: Digest::of(&[]),
            findings: Vec::new(),
            review: None,
            continues: None,
            rejected: None,
            held: None,
            revised: None,
            request: None,
            signature: None,
            answers: Vec::new(),
        }
    }

    /// The file that the person opened: of a revision the one that was revised.
    pub fn base(&self) -> &Path {
        self.revised.as_ref().map_or(&self.path, |revised| &revised.base)
    }
}

impl Query for OpenPlan {
    type Answer = OpenedPlan;

    fn run(self, context: &mut QueryContext) -> Result<OpenedPlan, QueryError> {
        context.open(self)
    }

    fn failure(&self) -> String {
        format!("{} cannot be opened.", self.path.display())
    }

    fn plan(&self) -> PlanRead<'_> {
        PlanRead::File(&self.path)
    }
}

/// As [`OpenPlan`], for the plan on the page, which is reviewed again. A plan that the person has just chosen is opened
/// all the same.
pub struct ReviewPlan(pub OpenPlan);

impl Query for ReviewPlan {
    type Answer = OpenedPlan;

    fn run(self, context: &mut QueryContext) -> Result<OpenedPlan, QueryError> {
        context.open(self.0)
    }

    fn failure(&self) -> String {
        self.0.failure()
    }
}

/// As [`OpenPlan`], for a plan of the queue whose turn has come. The page may show another plan, whose queries go on.
pub struct OpenQueued(pub OpenPlan);

impl Query for OpenQueued {
    type Answer = OpenedPlan;
    const FAILURE: &str = "The next plan of the queue cannot be read.";
    /// It is not stopped when the person opens another plan.
    const OWN_THREAD: bool = true;

    fn run(self, context: &mut QueryContext) -> Result<OpenedPlan, QueryError> {
        context.open(self.0)
    }
}

/// Rebuilds a follow-up plan from a recorded run, stores it as a file, and opens it.
pub struct OpenFollowUp {
    /// The id of the run. For a revert, the id of a run, an execution or a loop.
    pub id: Uuid,
    /// The kind of the plan.
    pub follow_up: FollowUp,
}

impl Query for OpenFollowUp {
    type Answer = OpenedPlan;
    const FAILURE: &str = "The follow-up plan cannot be made.";

    fn run(self, context: &mut QueryContext) -> Result<OpenedPlan, QueryError> {
        let Self { id, follow_up } = self;
        let (_, bytes) = follow_up.plan(&mut context.evidence, id, &context.setup.policy)?;
        let stored =
            follow_up_plans::store(&context.setup.location.evidence, id, follow_up, &bytes);
        context.open_stored(stored)
    }

    fn plan(&self) -> PlanRead<'_> {
        PlanRead::New
    }

    /// The topic of [`OpenPlan`], because the page shows only the plan that was requested last.
    fn topic() -> TypeId {
        OpenPlan::topic()
    }
}

/// Previews one step as if the steps before it had run.
pub struct PreviewStep {
    /// The plan.
    pub plan: Arc<ShownPlan>,
    /// The workspace of its review.
    pub workspace: PathBuf,
    /// The index of the step, from 0.
    pub step_index: usize,
}

impl Query for PreviewStep {
    type Answer = Preview;

    fn run(self, context: &mut QueryContext) -> Result<Preview, QueryError> {
        let Self { plan, workspace, step_index } = &self;
        let QueryContext { setup: Setup { policy, location, .. }, stop, .. } = context;
        Ok(preview_step(plan, workspace, policy, Some(location), *step_index, stop)?)
    }

    fn failure(&self) -> String {
        format!("What step {} would do is not known.", self.step_index + 1)
    }
}

/// Previews some successive steps of a plan, for a short time.
pub struct PreviewSteps {
    /// The plan.
    pub plan: Arc<ShownPlan>,
    /// The workspace of its review.
    pub workspace: PathBuf,
    /// The step to begin with, and the changes of those before it.
    pub position: Box<PreviewPosition>,
}

impl Query for PreviewSteps {
    type Answer = PreviewBatch;

    fn run(self, context: &mut QueryContext) -> Result<PreviewBatch, QueryError> {
        let Self { plan, workspace, position } = self;
        let QueryContext { setup: Setup { policy, location, .. }, stop, .. } = context;
        Ok(preview_batch(&plan, &workspace, policy, Some(location), position, stop)?)
    }
}

/// Simulates all steps of a plan together.
pub struct Simulate {
    /// The plan.
    pub plan: Arc<ShownPlan>,
    /// The workspace of its review.
    pub workspace: PathBuf,
}

impl Query for Simulate {
    type Answer = Simulation;
    const FAILURE: &str = "The plan cannot be simulated.";

    fn run(self, context: &mut QueryContext) -> Result<Simulation, QueryError> {
        let Self { plan, workspace } = &self;
        let QueryContext { setup: Setup { policy, location, .. }, stop, .. } = context;
        Ok(simulate_shown(plan, workspace, policy, Some(location), stop)?)
    }
}

impl QueryContext {
    /// Opens a plan that was stored below the evidence folder, or says why it could not be.
    pub(super) fn open_stored(
        &mut self,
        stored: io::Result<PathBuf>,
    ) -> Result<OpenedPlan, QueryError> {
        let path = follow_up_plans::written(stored)?;
        let choices = PlanChoices::default();
        self.open(OpenPlan { path, workspace: None, choices, chosen_for: None })
    }

    pub(super) fn open(&mut self, query: OpenPlan) -> Result<OpenedPlan, QueryError> {
        let OpenPlan { path, workspace, mut choices, chosen_for } = query;
        let stored = revisions::find(&self.setup.location.evidence, &path);
        // A revision has the workspace and everything else of the file that was revised.
        let base = stored.as_ref().map_or(&*path, revisions::Stored::base).to_owned();
        let held = held(&self.setup.inbox, &base);
        let policy = || self.setup.policy.clone();
        let read = match &held {
            Some(held) => {
                // Without a workspace, only the file itself is read; the person chooses one then.
                let folder = held.workspace(workspace.as_deref()).map(|it| it.folder);
                read_unlinked(&base, &folder.unwrap_or_default(), &policy)
            }
            None => {
                let folder = workspace_of(&base, workspace.as_deref()).folder;
                read_plan_file(&base, &folder, &policy)
            }
        };
        let notes = held.as_ref().map(Held::notes).unwrap_or_default();
        let mut opened = OpenedPlan { held, ..OpenedPlan::without_plan(path) };
        let read = match stored {
            Some(stored) => {
                let (file, revised) = stored.instead_of(read);
                opened.revised = Some(Arc::new(revised));
                Ok(file)
            }
            None => read,
        };
        let PlanFile { bytes, findings, .. } = match read {
            Ok(file) => file,
            Err(unusable) => {
                opened.findings = unusable.findings;
                return Ok(opened);
            }
        };
        if self.open_review(&bytes, &mut opened).is_some() {
            return Ok(opened);
        }
        let mut parsed = parse(&bytes);
        opened.digest = parsed.digest;
        choices.end_with_version(chosen_for, opened.digest);
        self.setup.policy.choices = choices.run;
        self.setup.policy.grants.clone_from(&choices.grants);
        opened.findings = findings;
        opened.findings.extend(notes);
        opened.findings.append(&mut parsed.findings);
        if parsed.plan == Err(None) {
            return Ok(opened);
        }
        // If the evidence cannot be read, recording the next decision reports that.
        opened.rejected = self.evidence.rejection_of(&opened.digest).ok().flatten();
        let base_bytes = opened.revised.as_ref().map_or(&*bytes, |revised| &revised.plan.source);
        let origin = self.origin(&base, base_bytes)?;
        // A follow-up plan gets the target of its run, which may differ from the one in the plan file.
        let parsed = match &origin {
            Some((_, _, run)) => parsed.on_target(run.target.as_deref()),
            None => parsed,
        };
        let parsed = choices.apply(parsed);
        let linked = origin.as_ref().filter(|(follow_up, ..)| follow_up.is_linked());
        opened.continues = linked.map(|(_, _, run)| run.run_id);
        let of_suggestion = self.suggesting_run(&base, base_bytes)?;
        let run = origin.as_ref().map(|(_, _, run)| run).or(of_suggestion.as_ref());
        let choice = match (&workspace, run, &opened.held) {
            (chosen, _, Some(held)) => match held.workspace(chosen.as_deref()) {
                Ok(choice) => choice,
                Err(missing) => {
                    opened.findings.push(Held::finding(missing));
                    opened.plan = parsed.into_shown().map(Arc::new);
                    return Ok(opened);
                }
            },
            (None, Some(run), None) => WorkspaceChoice::of_run(run),
            _ => workspace_of(&base, workspace.as_deref()),
        };
        // No longer than the review, because this thread keeps its policy.
        self.setup.policy.secret_inputs = choices.secret_inputs;
        let reviewed = self.review(&parsed.plan, &choice);
        self.setup.policy.secret_inputs = SecretInputs::default();
        opened.plan = parsed.into_shown().map(Arc::new);
        self.read_answers(&mut opened);
        match reviewed {
            Ok(review) => {
                opened.findings.extend(review.iter().flat_map(|it| it.findings.iter().cloned()));
                opened.review = review.map(Arc::new);
                if let Some((follow_up, id, _)) = origin {
                    let (evidence, policy) = (&mut self.evidence, &self.setup.policy);
                    let warnings = follow_up.warnings(evidence, id, &choice.folder, policy)?;
                    opened.findings.extend(warnings);
                }
            }
            Err(error) if error.code() == Code::Cancelled => return Err(error.into()),
            Err(error) => {
                opened.findings.push(Finding::error(error.code(), "", error.to_string()));
            }
        }
        Ok(opened)
    }

    /// Reviews a plan with the recorded decisions about trust; `None` if no part of it can be reviewed. If the
    /// evidence cannot be read, nothing is trusted; a later attempt to record trust then reports the error.
    fn review(
        &mut self,
        plan: &Result<Plan, Option<ShownPlan>>,
        choice: &WorkspaceChoice,
    ) -> Result<Option<Review>, ToolError> {
        let (setup, stop) = (&mut self.setup, &self.stop);
        let location = &setup.location;
        let review = |plan: &Plan, policy: &Policy| {
            review_until(plan, choice, policy, Some(location), true, stop)
        };
        let trust = || Ok(self.evidence.trust().unwrap_or_default());
        review_trusting(plan, &mut setup.policy, review, trust)
    }

    /// The run whose check suggested a stored plan; `None` for any other plan.
    fn suggesting_run(
        &mut self,
        path: &Path,
        bytes: &[u8],
    ) -> Result<Option<RunSummary>, FollowUpError> {
        let evidence = &self.setup.location.evidence;
        let Some(run_id) = follow_up_plans::suggested_in(evidence, path, bytes) else {
            return Ok(None);
        };
        Ok(self.evidence.run(run_id)?)
    }

    /// The kind, the id and the run of a stored follow-up plan. `None` if the file is no stored plan, or if rebuilding
    /// the plan fails or gives other bytes. Errors of the evidence are returned.
    fn origin(
        &mut self,
        path: &Path,
        bytes: &[u8],
    ) -> Result<Option<(FollowUp, Uuid, RunSummary)>, FollowUpError> {
        let Some((id, follow_up)) = follow_up_plans::origin(&self.setup.location.evidence, path)
        else {
            return Ok(None);
        };
        match follow_up.plan(&mut self.evidence, id, &self.setup.policy) {
            Ok((run, rebuilt)) => Ok((rebuilt == bytes).then_some((follow_up, id, run))),
            Err(error @ FollowUpError::Evidence(_)) => Err(error),
            // The run is not in this evidence, or there is nothing left to do. The file is opened like any other.
            Err(_) => Ok(None),
        }
    }
}
