//! A plan and its steps, as parsed from a file.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::inputs;
use super::words::words;
use super::{
    CommandInput, Dialect, Digest, Fleet, Metadata, Needs, PlanInput, PlanNotes, PlannerFailure,
    Precondition, StatedRisk, Tool, ToolCall,
};

words! {
    /// The purpose that the author states. It never changes what runs (SPEC §1.1).
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
        /// The program starts each step after the one before it. Confirmations still pause the run.
        #[default]
        Automatic = "automatic",
        /// The person starts each step.
        Guided = "guided",
    }
}

/// A valid plan, in which each step has a typed call. A [`super::ShownPlan`] may be faulty.
///
/// It contains the exact bytes of its file: a person authorizes these bytes, and the executor parses them again.
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
    /// The evidence queries (`Q1` to `Q8`) that the author states to have used.
    pub evidence_referenced: Vec<String>,
    /// The mode that the author requests.
    pub mode: Mode,
    /// The SSH destination on which the plan's commands run; `None` for this computer.
    pub target: Option<String>,
    /// The hosts of a plan that runs on several of them; `target` then describes them in a few words.
    pub fleet: Option<Fleet>,
    /// The notes of a command plan.
    pub notes: PlanNotes,
    /// The planner's metadata of an action plan.
    pub metadata: Metadata,
    /// The planner's report that it has no plan. A valid plan with a failure has no steps.
    pub failure: Option<PlannerFailure>,
    /// The values that a person gives before signing.
    pub inputs: Vec<PlanInput>,
    /// How many persons must have signed before the plan runs, with the one who authorizes it; 0 if the plan does not say.
    pub signatures_required: usize,
    /// The steps, in the order in which they run.
    pub steps: Vec<Step<C>>,
    /// The exact bytes of the file.
    pub source: Arc<[u8]>,
    /// The digest of `source`.
    pub digest: Digest,
}

impl<C> Plan<C> {
    /// The steps, counted from 0, that run only if this step succeeded: their preconditions name it, or a step that
    /// needs it.
    pub fn needing(&self, index: usize) -> Vec<usize> {
        let mut ids: Vec<&str> = self.steps.get(index).map(|it| &*it.step_id).into_iter().collect();
        let mut needing = Vec::new();
        for step in self.steps.iter().skip(index + 1) {
            if let Precondition::StepSucceeded(id) = &step.precondition
                && ids.contains(&id.as_str())
            {
                ids.push(&step.step_id);
                needing.push(step.step_index);
            }
        }
        needing
    }

    /// The title, or the id if there is none.
    pub fn name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.plan_id)
    }

    /// The inputs that a command of the plan gets.
    pub fn inputs_of(&self, command: &str) -> Vec<CommandInput> {
        inputs::of_command(command, &self.inputs)
    }

    /// Whether the plan is a single undo of a named checkpoint.
    pub fn is_revert(&self) -> bool {
        let [step] = self.steps.as_slice() else { return false };
        let undoes = step.arguments.get("operation").is_some_and(|it| it == "undo");
        step.tool_name == Tool::History.name()
            && undoes
            && step.arguments.contains_key("checkpoint")
    }

    /// The loop that the plan undoes as a whole; `None` for any other plan.
    pub fn reverted_loop(&self) -> Option<uuid::Uuid> {
        let step = self.steps.first().filter(|_| self.is_revert())?;
        step.arguments.get("checkpoint")?.strip_prefix("loop:")?.parse().ok()
    }

    /// How the plan relates to the run from which it was made, in lower case: `reverts run ID`, `reverts loop ID` or
    /// `continues run ID`. With `digits`, ids are cut to this many characters.
    pub fn relation(&self, run: uuid::Uuid, digits: Option<usize>) -> String {
        let (relation, id) = match (self.reverted_loop(), self.is_revert()) {
            (Some(id), _) => ("reverts loop", id),
            (None, true) => ("reverts run", run),
            (None, false) => ("continues run", run),
        };
        let mut id = id.to_string();
        id.truncate(digits.unwrap_or(id.len()));
        format!("{relation} {id}")
    }
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step<C = ToolCall> {
    /// The step's id, or one derived from its position.
    pub step_id: String,
    /// The index in the plan, from 0. It is shown counting from 1.
    pub step_index: usize,
    /// The name of the tool in the plan, even if there is no such tool.
    pub tool_name: String,
    /// The arguments as texts. Numbers of a step plan keep their spelling; values of an action's request that are not
    /// texts are JSON.
    pub arguments: BTreeMap<String, String>,
    /// The typed call.
    pub call: C,
    /// The condition that must hold just before the step.
    pub precondition: Precondition,
    /// The text of the precondition in the plan.
    pub precondition_text: String,
    /// Whether the author requires a confirmation.
    pub requires_confirmation: bool,
    /// A short display name.
    pub title: Option<String>,
    /// The author's reason for the step.
    pub reason: Option<String>,
    /// The author's statement about its risk.
    pub stated: StatedRisk,
    /// The expected output, which is shown beside the real output and never evaluated.
    pub expected_output: Option<String>,
    /// The access beyond the walls that the author requests; `None` if the plan does not state any.
    pub needs: Option<Needs>,
    /// The position of the step in the plan file.
    pub place: StepPlace,
}

impl<C> Step<C> {
    /// Whether the step verifies the command of the step just before it. It is skipped if that step is skipped.
    pub fn is_verification(&self) -> bool {
        matches!(self.place, StepPlace::Verification(_))
    }

    /// The JSON pointer to one argument of the step. Without `argument`: the pointer to all arguments, to the request
    /// of an action, or to the command of a command plan.
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

/// The position of a step in its plan file: the index in `steps` or `actions`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepPlace {
    /// A step of a step plan.
    Step(usize),
    /// The command of a step of a command plan.
    Command(usize),
    /// The verification command of a step of a command plan.
    Verification(usize),
    /// An action of an action plan.
    Action(usize),
}
