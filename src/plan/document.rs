//! A plan and its steps, as they were read from a file.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::words::words;
use super::{
    Dialect, Digest, Metadata, Needs, PlanNotes, PlannerFailure, Precondition, StatedRisk, Tool,
    ToolCall,
};

words! {
    /// The author's stated purpose; never changes what runs (SPEC §1.1).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "UPPERCASE")]
    #[expect(missing_docs, reason = "the four words of SPEC §1.1")]
    pub enum Intent {
        Read = "READ",
        Mutate = "MUTATE",
        Query = "QUERY",
        Explain = "EXPLAIN",
    }
}

words! {
    /// Who starts the steps of a run (SPEC §7.4).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Mode {
        /// Steps run one after the other and stop where the rules require it.
        #[default]
        Automatic = "automatic",
        /// The person starts each step.
        Guided = "guided",
    }
}

/// A plan without faults: each step has its typed call. As a [`super::ShownPlan`] it may be faulty.
///
/// It carries its exact bytes, because those are what a person authorizes and what the executor
/// reads again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan<C = ToolCall> {
    /// The plan's id, or one derived from its digest.
    pub plan_id: String,
    /// The dialect of the file.
    pub dialect: Dialect,
    /// The author's stated purpose.
    pub intent: Option<Intent>,
    /// A short display name.
    pub title: Option<String>,
    /// The stated author; not verified.
    pub created_by: Option<String>,
    /// The evidence queries the author consulted (`Q1`..`Q8`).
    pub evidence_referenced: Vec<String>,
    /// The mode the author asks for.
    pub mode: Mode,
    /// The SSH destination on which its commands run; none for this machine.
    pub target: Option<String>,
    /// What a command plan says besides its steps.
    pub notes: PlanNotes,
    /// The planner's metadata of an action plan.
    pub metadata: Metadata,
    /// The planner's report that it has no plan; then there are no steps.
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

    /// Whether the plan is a single undo of a named checkpoint.
    pub fn is_revert(&self) -> bool {
        let [step] = self.steps.as_slice() else { return false };
        let undoes = step.arguments.get("operation").is_some_and(|it| it == "undo");
        step.tool_name == Tool::History.name()
            && undoes
            && step.arguments.contains_key("checkpoint")
    }
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step<C = ToolCall> {
    /// The step's id, or one derived from its place.
    pub step_id: String,
    /// Its index from 0; screens count from 1.
    pub step_index: usize,
    /// The tool as the plan names it, also when there is no such tool.
    pub tool_name: String,
    /// The arguments exactly as the plan gives them; numbers as decimal text.
    pub arguments: BTreeMap<String, String>,
    /// The typed call.
    pub call: C,
    /// What must hold just before the step.
    pub precondition: Precondition,
    /// The precondition as the plan words it.
    pub precondition_text: String,
    /// Whether the author asks for a confirmation.
    pub requires_confirmation: bool,
    /// A short display name.
    pub title: Option<String>,
    /// The author's reason for the step.
    pub reason: Option<String>,
    /// The author's statement about its risk.
    pub stated: StatedRisk,
    /// The expected output; shown beside the real one, never evaluated.
    pub expected_output: Option<String>,
    /// What the author asks for beyond the walls; `None` where nothing is stated.
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
