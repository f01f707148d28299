//! What the window says to the two threads, and what they say to it.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use super::answers::{Content, LoopReplayed, OpenedPlan, Replayed, ToSave};
use super::editor::EditorPlace;
use super::faults::Faults;
use crate::authorization::{ApprovedPlan, AuthorizationClass, Grants, PlanAuthorization};
use crate::autonomy::{LoopOutcome, VerifyChoice};
use crate::engine::Simulation;
use crate::evidence::EvidenceLocation;
use crate::plan::{Digest, Plan, ShownPlan};
use crate::risk::Policy;
use crate::run::{
    Answered, Attempt, CommandsReview, ExecutionDetail, ExecutionResult, Failure, LoopPlace,
    LoopSummary, PlaceReview, PlanDifference, Preview, Question, Reconciled, Review, RunEvent,
    RunSummary, SearchPage, SearchQuery, SourceLine, TargetState, VerifyReport, Way,
};

/// Called after every message for the window; must not block.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// What both threads need to know.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Where the evidence is.
    pub location: EvidenceLocation,
    /// What the person has settled in advance.
    pub policy: Policy,
    /// Panics that a test planted.
    pub faults: Faults,
}

/// What the worker is told.
#[derive(Debug)]
pub enum Command {
    /// Run this plan.
    Run {
        /// The plan with its approval.
        approved: Box<ApprovedPlan>,
        /// The file from which it was read.
        file: Option<PathBuf>,
    },
    /// Run a bounded loop (SPEC §10). While it is under way, [`super::Worker::control`] stops it and
    /// [`super::Worker::answer_plan`] answers for its plans.
    Loop(Box<LoopOrder>),
}

/// A bounded loop that a person wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopOrder {
    /// What it is to reach, in words for the planner.
    pub goal: String,
    /// Who makes the plans: a command, or the name of a planner that is built in.
    pub planner: String,
    /// How long the planner may take for one answer.
    pub planner_timeout: Duration,
    /// How often it is asked at most, at least 1.
    pub max_attempts: u32,
    /// Whether the loop verifies by itself.
    pub verify: VerifyChoice,
    /// The workspace that the person chose; a relative folder of plans to replay is one of it.
    pub workspace: PathBuf,
    /// The class of plans that the person authorizes in advance.
    pub class: Option<AuthorizationClass>,
}

/// The plan of an attempt, as a person is to see it before it runs.
#[derive(Debug, Clone)]
pub struct Proposed {
    /// The loop.
    pub loop_id: Uuid,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// Of so many.
    pub max_attempts: u32,
    /// The plan.
    pub plan: Arc<ShownPlan>,
    /// What there is to know about it.
    pub review: Arc<Review>,
    /// How it differs from the plan of the attempt before.
    pub difference: Option<PlanDifference>,
    /// What of it is outside the authorization class; empty where there is none, or where it is inside.
    pub outside: Vec<String>,
}

/// What the worker tells.
#[derive(Debug)]
pub enum Event {
    /// Something happened in the run, or in the loop and its runs.
    Run(RunEvent),
    /// The run returned, or was refused before anything ran.
    Finished(Result<Box<ExecutionResult>, Failure>),
    /// A loop has a plan that could run. [`RunEvent::AuthorizationNeeded`] follows where it waits for an
    /// answer, [`RunEvent::AuthorizationDecided`] where it was authorized in advance.
    Proposed(Box<Proposed>),
    /// The loop returned; or it never began, and nothing is recorded.
    LoopFinished(Result<Box<LoopOutcome>, Failure>),
    /// The worker panicked; the run it was in is interrupted. The worker is ready for another one.
    Panicked {
        /// The panic's message.
        message: String,
    },
}

/// Names one request to the desk, so that a late answer can be told from the latest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// What the desk is asked.
#[derive(Debug)]
pub enum Request {
    /// Read, parse and review a plan file.
    Open {
        /// The file.
        path: PathBuf,
        /// The workspace the person chose, or the default one.
        workspace: Option<PathBuf>,
        /// What they grant beyond the walls of its steps.
        grants: Grants,
    },
    /// What one step would do, after the steps before it.
    Preview {
        /// The plan.
        plan: Arc<ShownPlan>,
        /// The workspace of its review.
        workspace: PathBuf,
        /// The step.
        step_index: usize,
    },
    /// What all steps of a plan would do together.
    Simulate {
        /// The plan.
        plan: Arc<ShownPlan>,
        /// The workspace of its review.
        workspace: PathBuf,
    },
    /// Record an answer to a plan.
    Record {
        /// The answer.
        authorization: Box<PlanAuthorization>,
        /// The plan.
        plan: Box<Plan>,
    },
    /// Record whether the person trusts, from now on, what was shown of the commands of this workspace.
    Trust(String, Box<CommandsReview>, bool),
    /// Record what every plan in this workspace is granted beyond its walls from now on; none to take it back.
    RememberWalls(String, Option<Grants>),
    /// The latest runs.
    Runs {
        /// At most this many.
        limit: usize,
    },
    /// The events of a run, from its records.
    Replay {
        /// The run.
        run_id: Uuid,
    },
    /// Open the plan of an old run again, from its recorded bytes.
    Again {
        /// The run.
        run_id: Uuid,
    },
    /// Open a plan of what an old run left undone.
    Continue {
        /// The run.
        run_id: Uuid,
    },
    /// Open the plan that would take back what an old run did.
    RollBack {
        /// The run.
        run_id: Uuid,
    },
    /// Open the plan that brings the files of a run's interrupted steps somewhere.
    Settle {
        /// The run.
        run_id: Uuid,
        /// Where.
        way: Way,
    },
    /// Open the plan that would bring back the files that an old run or one of its steps changed.
    Revert {
        /// The run or the execution.
        id: Uuid,
    },
    /// Compare the interrupted steps of a run with the disk, and record what was found.
    Reconcile {
        /// The run.
        run_id: Uuid,
    },
    /// What is at the place of a loop that is to start.
    Place(LoopPlace),
    /// The latest bounded loops.
    Loops {
        /// At most this many.
        limit: usize,
    },
    /// A bounded loop in full, with the events of it and of its runs.
    ReplayLoop {
        /// The loop.
        loop_id: Uuid,
    },
    /// Take back what was authorized in advance; plans of a loop that is under way are asked about from then
    /// on.
    RevokeClass {
        /// The class.
        class_id: Uuid,
    },
    /// Search the evidence.
    Search(Box<SearchQuery>),
    /// One execution in full.
    Execution(Uuid),
    /// The whole of an artifact that is not inline.
    Blob(Digest),
    /// A question about one file, symbol or diagnostic.
    Ask(Question),
    /// Lines of a file of a workspace, as it is now.
    Source {
        /// The workspace.
        workspace: PathBuf,
        /// The file, as the records name it.
        file: String,
        /// The numbers of the lines, from 1.
        wanted: Vec<RangeInclusive<usize>>,
    },
    /// Show a place in the person's editor.
    Edit {
        /// The workspace.
        workspace: PathBuf,
        /// The command in the settings.
        command: String,
        /// The place.
        place: EditorPlace,
    },
    /// Write a content to a file of the person's choice.
    Save {
        /// The file.
        file: PathBuf,
        /// The content.
        what: ToSave,
    },
    /// Try a host, because a person asks for it. It may take a minute, and other requests are answered
    /// meanwhile.
    CheckTarget {
        /// The SSH destination.
        destination: String,
        /// The workspace, whose own programs are not taken.
        workspace: PathBuf,
    },
    /// Recompute the chain.
    Verify,
    /// Write a file of the window's own, such as its settings, whole or not at all.
    Keep {
        /// The file.
        file: PathBuf,
        /// What it shall hold.
        text: String,
    },
}

/// What the desk answers.
#[derive(Debug)]
pub enum Reply {
    /// To [`Request::Place`].
    Place(Box<PlaceReview>),
    /// To [`Request::Loops`].
    Loops(Vec<LoopSummary>),
    /// To [`Request::ReplayLoop`].
    LoopReplayed(Box<LoopReplayed>),
    /// To [`Request::RevokeClass`].
    ClassRevoked {
        /// Whether it still held.
        revoked: bool,
    },
    /// To [`Request::Open`], [`Request::Again`], [`Request::Continue`] and [`Request::RollBack`].
    Opened(Box<OpenedPlan>),
    /// To [`Request::Preview`].
    Preview {
        /// The step.
        step_index: usize,
        /// What it would do.
        preview: Box<Preview>,
    },
    /// To [`Request::Simulate`].
    Simulated(Box<Simulation>),
    /// To [`Request::Record`].
    Recorded,
    /// To [`Request::Trust`] and [`Request::RememberWalls`].
    Trusted,
    /// To [`Request::Runs`].
    Runs(Vec<RunSummary>),
    /// To [`Request::Replay`].
    Replayed(Box<Replayed>),
    /// To [`Request::Reconcile`].
    Reconciled {
        /// The run.
        run_id: Uuid,
        /// Each file of its interrupted steps; empty when there is none.
        found: Vec<Reconciled>,
    },
    /// To [`Request::Search`].
    Page(Box<SearchPage>),
    /// To [`Request::Execution`].
    Execution {
        /// The execution.
        detail: Box<ExecutionDetail>,
        /// The attempt of a bounded loop that its run is of.
        attempt: Option<Attempt>,
    },
    /// To [`Request::Blob`].
    Blob {
        /// Which.
        digest: Digest,
        /// What there is of it.
        content: Content,
    },
    /// To [`Request::Ask`].
    Answered(Box<Answered>),
    /// To [`Request::Source`]; else why there are no lines.
    Source(Result<Vec<SourceLine>, Failure>),
    /// To [`Request::Edit`].
    Editing,
    /// To [`Request::Save`].
    Saved,
    /// To [`Request::CheckTarget`].
    Target {
        /// The SSH destination.
        destination: String,
        /// How it answers.
        state: Box<TargetState>,
    },
    /// To [`Request::Verify`].
    Verified(VerifyReport),
    /// To [`Request::Keep`].
    Kept,
    /// The request could not be answered.
    Failed(Failure),
    /// The reader panicked over the request; it is ready for another one.
    Panicked {
        /// The panic's message.
        message: String,
    },
}
