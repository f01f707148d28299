//! What is proposed: plan files as pure data (SPEC §1).
//!
//! [`parse`] turns bytes into a [`Plan`] and every finding there is. Anyone may call it. Absent on
//! purpose: the clock, the file system, anything about who said yes ([`crate::authorization`]) and
//! how dangerous a step is ([`crate::risk`]).

mod action;
mod action_text;
mod call;
mod code;
mod command;
mod command_text;
mod continuation;
mod destination;
mod digest;
mod finding;
mod headline;
pub mod limits;
mod needs;
mod parse;
mod paths;
mod precondition;
mod revert;
mod schema;
mod shown;
mod tool;
mod visible;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use action::{
    Build, Edit, HistoryOperation, InspectQuery, Metadata, MutateBatch, OptLevel, PlannerFailure,
    Simulation, VERSION as ACTION_PLAN_VERSION, VerifyScope,
};
pub use action_text::{Batch, batch_plan};
pub use call::ToolCall;
pub use code::Code;
pub use command::{Outlook, RiskLevel, StatedRisk};
pub use command_text::rollback;
pub use continuation::{Continuation, continuation};
pub use destination::{Destination, DestinationError};
pub use digest::{Digest, DigestError};
pub use finding::{Finding, Severity, is_valid};
pub use needs::Needs;
pub use parse::{locate, parse};
pub use paths::{COMMANDS_FILE, NamedPath, PathRole};
pub use precondition::{Precondition, Subject, WORDS as PRECONDITION_WORDS};
pub use revert::revert;
pub use shown::{ShownPlan, ShownStep};
pub use tool::{ArgumentSpec, Holds, SPECS as TOOLS, Tool, ToolClass, ToolSpec};
pub use visible::{is_hidden, visible, visible_lines};

/// Which form of plan file this was (SPEC §1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// Steps that name tools (SPEC §1.1).
    StepPlan,
    /// Commands of a shell (SPEC §1.2).
    CommandPlan,
    /// Actions on the program (SPEC §1.3).
    ActionPlan,
}

/// What the plan's author says it is for; never changes what runs (SPEC §1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "the four words of SPEC §1.1")]
pub enum Intent {
    Read,
    Mutate,
    Query,
    Explain,
}

impl Intent {
    /// The words of a plan file.
    pub const WORDS: [&'static str; 4] = ["READ", "MUTATE", "QUERY", "EXPLAIN"];

    /// The intent as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "READ",
            Self::Mutate => "MUTATE",
            Self::Query => "QUERY",
            Self::Explain => "EXPLAIN",
        }
    }
}

/// How a run is led (SPEC §7.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Steps run on and stop where the rules say so.
    #[default]
    Automatic,
    /// The person starts each step.
    Guided,
}

impl Mode {
    /// The mode as it is written in data.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Automatic => "automatic",
            Self::Guided => "guided",
        }
    }
}

/// A plan without faults: each step has its typed call. As a [`ShownPlan`] it may be faulty.
///
/// It carries its exact bytes, because those are what a person authorizes and what the executor
/// reads again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan<C = ToolCall> {
    /// The plan's id, or one derived from its digest.
    pub plan_id: String,
    /// Which form of plan file this was.
    pub dialect: Dialect,
    /// What its author says it is for.
    pub intent: Option<Intent>,
    /// A short name for people.
    pub title: Option<String>,
    /// Who or what wrote it, as the file says; not verified.
    pub created_by: Option<String>,
    /// The evidence queries that the author looked at (`Q1`..`Q8`).
    pub evidence_referenced: Vec<String>,
    /// How its author wants the run to be led.
    pub mode: Mode,
    /// The SSH destination on which its commands run; none for this machine.
    pub target: Option<String>,
    /// What a command plan says besides its steps.
    pub outlook: Outlook,
    /// What the planner of an action plan says of it.
    pub metadata: Metadata,
    /// A planner's word that it has no plan; there are no steps then.
    pub failure: Option<PlannerFailure>,
    /// The steps, in the order in which they run.
    pub steps: Vec<Step<C>>,
    /// The exact bytes of the file.
    pub source: Arc<[u8]>,
    /// Their digest.
    pub digest: Digest,
}

impl<C> Plan<C> {
    /// The title, or the id where there is none.
    pub fn name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.plan_id)
    }
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step<C = ToolCall> {
    /// The step's id, or one derived from its place.
    pub step_id: String,
    /// Its place, from 0; screens count from 1.
    pub step_index: usize,
    /// The tool as the plan names it, also when there is no such tool.
    pub tool_name: String,
    /// The arguments exactly as the plan gives them; numbers as decimal text.
    pub arguments: BTreeMap<String, String>,
    /// The typed call.
    pub call: C,
    /// What must hold just before.
    pub precondition: Precondition,
    /// The precondition as the plan words it.
    pub precondition_text: String,
    /// Whether the author wants a person to be asked.
    pub requires_confirmation: bool,
    /// A short name for people.
    pub title: Option<String>,
    /// Why the author wants this step.
    pub reason: Option<String>,
    /// What the author says about its risk.
    pub stated: StatedRisk,
    /// What the author expects it to print; shown beside what it prints, never judged.
    pub expected_output: Option<String>,
    /// What its author says that it needs beyond the walls; none where they say nothing.
    pub needs: Option<Needs>,
    /// Where it stands in the plan file.
    pub place: StepPlace,
}

impl<C> Step<C> {
    /// Whether it verifies the step just before it, and is skipped with that one.
    pub fn is_verification(&self) -> bool {
        matches!(self.place, StepPlace::Verification(_))
    }

    /// The JSON pointer to the step, or to one of its arguments.
    pub fn pointer(&self, argument: Option<&str>) -> String {
        match (self.place, argument) {
            (StepPlace::Step(index), None) => format!("/steps/{index}/arguments"),
            (StepPlace::Step(index), Some(name)) => format!("/steps/{index}/arguments/{name}"),
            (_, Some("target")) => "/target".to_owned(),
            (StepPlace::Command(index), name) => {
                let name = match name {
                    Some("timeout_seconds") => "timeoutSeconds",
                    Some(name) => name,
                    None => "command",
                };
                format!("/steps/{index}/{name}")
            }
            (StepPlace::Action(index), None) => format!("/actions/{index}/request"),
            (StepPlace::Action(index), Some(name)) => format!("/actions/{index}/request/{name}"),
            (StepPlace::Verification(index), Some("cwd")) => format!("/steps/{index}/cwd"),
            (StepPlace::Verification(index), _) => format!("/steps/{index}/verificationCommand"),
        }
    }
}

/// Where a step stands in its plan file, by the index of the file's `steps` or `actions`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepPlace {
    /// A step of a step plan.
    Step(usize),
    /// The command of a step of a command plan.
    Command(usize),
    /// The verification command of a step of a command plan.
    Verification(usize),
    /// An action of an action plan, by the index of `actions`.
    Action(usize),
}

/// What a plan file turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// The plan; where the findings have an error, as much of it as can be shown.
    pub plan: Result<Plan, Option<ShownPlan>>,
    /// Everything there is to say about it, by place in the file.
    pub findings: Vec<Finding>,
    /// The digest of the bytes.
    pub digest: Digest,
}

impl Parsed {
    /// True when the plan may be authorized, as far as its bytes say.
    pub fn is_valid(&self) -> bool {
        self.plan.is_ok()
    }

    /// The same with the plan's commands on this destination; see [`ShownPlan::on_target`].
    #[must_use]
    pub fn on_target(self, target: Option<&str>) -> Self {
        let plan = match self.plan {
            Ok(plan) => Ok(plan.on_target(target)),
            Err(faulty) => Err(faulty.map(|plan| plan.on_target(target))),
        };
        Self { plan, ..self }
    }

    /// The plan as it is shown, also a faulty one.
    pub fn into_shown(self) -> Option<ShownPlan> {
        self.plan.map_or_else(|faulty| faulty, |plan| Some(plan.into()))
    }
}
