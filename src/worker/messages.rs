//! The messages between the window and the executor thread, and what both threads are started with.

use std::path::PathBuf;
use std::sync::Arc;

use uuid::Uuid;

use super::faults::Faults;
use crate::authorization::ApprovedPlan;
use crate::autonomy::{LoopOrder, LoopOutcome};
use crate::evidence::EvidenceLocation;
use crate::plan::ShownPlan;
use crate::risk::Policy;
use crate::run::{ExecutionResult, Failure, Review, RunEvent};

/// Called after every message for the window; must not block.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// What both threads are started with.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Where the evidence is.
    pub location: EvidenceLocation,
    /// What the person has settled in advance.
    pub policy: Policy,
    /// Panics that a test planted.
    pub faults: Faults,
}

/// A command to the executor thread.
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

/// The plan of an attempt, before it runs.
#[derive(Debug, Clone)]
pub struct PlanProposal {
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
}

/// An event for the window.
#[derive(Debug)]
pub enum Event {
    /// Something happened in the run, or in the loop and its runs.
    Run(RunEvent),
    /// The run returned, or was refused before anything ran.
    Finished(Result<Box<ExecutionResult>, Failure>),
    /// A loop has a plan that could run. [`RunEvent::AuthorizationNeeded`] follows where it waits for an
    /// answer, [`RunEvent::AuthorizationDecided`] where it was authorized in advance.
    Proposed(Box<PlanProposal>),
    /// The loop returned; or it never began, and nothing is recorded.
    LoopFinished(Result<Box<LoopOutcome>, Failure>),
    /// The worker panicked; the run it was in is interrupted. The worker is ready for another one.
    Panicked {
        /// The panic's message.
        message: String,
    },
}
