//! Messages between the window and the executor thread, and the setup of both threads.

use std::path::PathBuf;
use std::sync::Arc;

use uuid::Uuid;

use super::Faults;
use super::calls::CallRun;
use crate::authorization::{ApprovedPlan, SecretInputs};
use crate::autonomy::{LoopOrder, LoopOutcome};
use crate::evidence::EvidenceLocation;
use crate::plan::ShownPlan;
use crate::risk::Policy;
use crate::run::{ExecutionResult, Failure, Review, RunEvent, SecretQuestion};

/// Called after every message for the window; must not block.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// The setup of both threads.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The location of the evidence.
    pub location: EvidenceLocation,
    /// The folder of the inbox.
    pub inbox: PathBuf,
    /// The policy from the person's settings.
    pub policy: Policy,
    /// The panics that were planted for a test.
    pub faults: Faults,
}

/// A command to the executor thread.
#[derive(Debug)]
pub enum Command {
    /// Runs a plan.
    Run {
        /// The plan with its approval.
        approved: Box<ApprovedPlan>,
        /// The file from which the plan was read.
        file: Option<PathBuf>,
        /// The secret inputs of the plan.
        secret_inputs: SecretInputs,
        /// The agent's command that waits for the run, if one does.
        call: Option<CallRun>,
        /// The step in which the run is cut off, as a power cut would; only for the tour.
        cut_off_in: Option<usize>,
    },
    /// Runs a bounded loop (SPEC §10). Meanwhile [`super::Worker::control`] can stop it, and
    /// [`super::Worker::answer_plan`] passes the decisions about its plans.
    Loop(Box<LoopOrder>),
}

/// The plan of an attempt, sent before its authorization.
#[derive(Debug, Clone)]
pub struct PlanProposal {
    /// The loop.
    pub loop_id: Uuid,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The maximum number of attempts.
    pub max_attempts: u32,
    /// The plan.
    pub plan: Arc<ShownPlan>,
    /// The review of the plan.
    pub review: Arc<Review>,
}

/// An event for the window.
#[derive(Debug)]
pub enum Event {
    /// An event of the run, or of the loop and its runs.
    Run(RunEvent),
    /// The run has ended, or was refused before anything ran.
    Finished(Result<Box<ExecutionResult>, Failure>),
    /// The planner of a loop proposed a plan that could run. [`RunEvent::AuthorizationNeeded`] follows if a person
    /// must authorize it, [`RunEvent::AuthorizationDecided`] if an authorization class covers it.
    Proposed(Box<PlanProposal>),
    /// The loop has ended, or was refused before anything was recorded.
    LoopFinished(Result<Box<LoopOutcome>, Failure>),
    /// A program of the run asks for a secret. The answer goes back through [`super::Worker::answer_secret`].
    SecretNeeded {
        /// The id of the question.
        id: Uuid,
        /// The question.
        question: SecretQuestion,
    },
    /// The question was answered, or nothing waits for its answer any more.
    SecretSettled {
        /// The id of the question.
        id: Uuid,
    },
    /// The run was cut off, as its command asked for.
    CutOff,
    /// The executor thread panicked, which interrupted its run. It is ready for another command.
    Panicked {
        /// The message of the panic.
        message: String,
    },
}
