//! What a person orders from a bounded loop, and what comes out of it (SPEC §10).

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use uuid::Uuid;

use super::PlanAuthorizer;
use crate::authorization::{AuthorizationClass, Method};
use crate::engine::{
    Clock, ConfirmationCallback, ControlHandle, ProgressCallback, WorkspaceChoice,
};
use crate::evidence::EvidenceLocation;
use crate::plan::{ShownPlan, VerifyScope};
use crate::risk::Policy;
use crate::run::{AskSecret, AttemptRecord, Failure, LookScope, StopReason, TerminalPort};
use crate::tools::PlannerProgram;

/// A bounded loop that a person starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopOrder {
    /// The goal, in words for the planner.
    pub goal: String,
    /// The planner: a command, or the name of a built-in one.
    pub planner: String,
    /// How long the planner may take for one answer.
    pub planner_timeout: Duration,
    /// The limit of attempts, at least 1.
    pub max_attempts: u32,
    /// The scope of the loop's own verification, or `None` to skip it.
    pub verify: Option<VerifyScope>,
    /// The workspace of the plans.
    pub workspace: WorkspaceChoice,
    /// The class of plans that the person authorizes in advance.
    pub class: Option<AuthorizationClass>,
    /// What the planner may look at before it plans.
    pub looks: LookScope,
    /// The SSH destination of the goal's host. Command plans run there, whatever target they name.
    pub target: Option<String>,
    /// Whether the loop ends with the first valid plan, which is then not run.
    pub plan_only: bool,
}

/// The order of a loop, with everything that is needed to run it.
#[derive(Debug, Clone)]
pub struct LoopSetup {
    /// The order of the person.
    pub order: LoopOrder,
    /// The planner's process.
    pub program: PlannerProgram,
    /// How the person authorized the class, if there is one.
    pub method: Method,
    /// The folders of settings, key and evidence.
    pub location: EvidenceLocation,
    /// The person's policy.
    pub policy: Policy,
}

/// Callbacks and controls of a loop.
pub struct LoopDeps {
    /// Source of wall-clock and monotonic time.
    pub clock: Arc<dyn Clock>,
    /// Asks a person before a step.
    pub confirmation: Box<dyn ConfirmationCallback>,
    /// Progress callback of the loop and its runs.
    pub progress: Arc<dyn ProgressCallback>,
    /// Pause, resume, cancel and stop. A stop and a cancel end the loop.
    pub control: ControlHandle,
    /// Authorizes each plan.
    pub authorizer: Box<dyn PlanAuthorizer>,
    /// The terminal of the person, for steps that ask for one; `None` where there is none.
    pub terminal: Option<TerminalPort>,
    /// Asks the person for passwords, passphrases and codes; `None` where nobody can be asked.
    pub secrets: Option<Arc<dyn AskSecret>>,
    /// Asks the person for the passphrase of the key that signs; `None` where nobody can be asked.
    pub passphrase: Option<Arc<dyn AskSecret>>,
}

/// Result of a loop.
#[derive(Debug, Serialize)]
pub struct LoopOutcome {
    /// The loop.
    pub loop_id: Uuid,
    /// The goal of the loop.
    pub goal: String,
    /// Why it ended.
    pub stop_reason: StopReason,
    /// Its attempts, in order.
    pub attempts: Vec<AttemptRecord>,
    /// The plan of the last attempt; rejected plans included.
    #[serde(skip)]
    pub plan: Option<ShownPlan>,
    /// Why the loop is not, or not completely, recorded in the evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_recorded: Option<Failure>,
    /// The runs whose end is not signed although the settings ask for it (SPEC §14), in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_signed: Vec<UnsignedEnd>,
}

impl LoopOutcome {
    /// What is not recorded and not signed, as sentences for the person.
    pub fn shortcomings(&self) -> Vec<String> {
        let failure = self.not_recorded.iter();
        let not_recorded = failure.map(|it| format!("Not recorded: {} {}", it.code, it.message));
        not_recorded.chain(self.not_signed.iter().map(UnsignedEnd::sentence)).collect()
    }
}

/// A run whose end is not signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnsignedEnd {
    /// The run.
    pub run_id: Uuid,
    /// Why it is not signed.
    pub reason: String,
}

impl UnsignedEnd {
    /// The run and the reason, for the person.
    pub fn sentence(&self) -> String {
        format!("The end of run {} is not signed: {}", self.run_id, self.reason)
    }
}
