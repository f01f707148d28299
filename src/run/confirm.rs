//! The question that a person answers before a step, its answers, and the controls of a whole run (SPEC §3).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Preview;
use crate::authorization::StepWalls;
use crate::plan::Needs;
use crate::plan::words::words;
use crate::risk::Verdict;

/// A question about one step, with everything that a person must see before they answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfirmationRequest {
    /// The run.
    pub run_id: Uuid,
    /// The step.
    pub step_id: String,
    /// The index of the step, from 0.
    pub step_index: usize,
    /// The number of steps in the plan.
    pub step_count: usize,
    /// The tool's name.
    pub tool: String,
    /// The plan's own title or reason for the step, if any.
    pub purpose: Option<String>,
    /// The plan's reason for the step, if the step has both a title and a reason.
    pub explanation: Option<String>,
    /// The arguments, exactly.
    pub arguments: BTreeMap<String, String>,
    /// The SSH destination of the plan, if its commands run on a remote host.
    pub target: Option<String>,
    /// User, address and key of that host in one line, once it is reached.
    pub host: Option<String>,
    /// The folder in which the step runs, on the host where it runs.
    pub cwd: String,
    /// The user that the step runs as, on the host where it runs.
    pub user: String,
    /// The risk of the step and the reasons for it.
    pub risk: Verdict,
    /// The plan author's own warning.
    pub warning: Option<String>,
    /// Why the person is asked.
    pub why: String,
    /// Whether the question is asked in automatic mode too. The window then shows it in front of everything else (SPEC
    /// §7.1). In guided mode each step already asks, so the choice adds no second question.
    pub required: bool,
    /// Whether the missing walls are the only reason to ask, and the risk calls for no more than caution (SPEC §7.5).
    pub unwalled: bool,
    /// The access beyond the walls that the plan requests; `None` for a step on a remote host.
    pub needs: Option<Needs>,
    /// The walls of the step; `None` if it starts no process on this computer.
    pub walls: Option<StepWalls>,
    /// The steps, counted from 0, that run only if this one succeeded. If it is skipped, the run ends at the first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needed_by: Vec<usize>,
    /// Whether the run is guided: the person decides about every step, and may do a step by hand (SPEC §7.4).
    pub guided: bool,
    /// Whether an agent runs the step by itself if it may. Such a question is in no record.
    #[serde(skip)]
    pub run_by_agent: bool,
    /// What the step would do to the present files.
    pub preview: Preview,
}

impl ConfirmationRequest {
    /// The command, if the step is a shell command.
    pub fn command(&self) -> Option<&str> {
        let command = self.arguments.get("command")?;
        (self.tool == "shell").then_some(command.as_str())
    }

    /// What skipping the step means for later ones, as a sentence; `None` if no step needs it.
    pub fn skipping(&self) -> Option<String> {
        let numbers: Vec<_> = self.needed_by.iter().map(|index| (index + 1).to_string()).collect();
        let (steps, need) = match numbers.as_slice() {
            [] => return None,
            [one] => (format!("Step {one}"), "needs"),
            [rest @ .., last] => (format!("Steps {} and {last}", rest.join(", ")), "need"),
        };
        let first = numbers.first()?;
        Some(format!("{steps} {need} this one: if you skip it, the run ends at step {first}."))
    }

    /// Whether the person can give this answer. Only a guided run offers [`Decision::DoneByHand`].
    pub fn offers(&self, decision: Decision) -> bool {
        self.guided || decision != Decision::DoneByHand
    }
}

words! {
    /// The answers to a [`ConfirmationRequest`]. [`Decision::DoneByHand`] is only for a guided run.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Decision {
        /// Run this step.
        Approve = "approve",
        /// Skip this step and continue.
        Skip = "skip",
        /// Deny this step and end the run.
        Cancel = "cancel",
        /// The person has done the step by hand: no tool is called, and the run continues (SPEC §7.4).
        DoneByHand = "done_by_hand",
    }
}

/// Through which interface the answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBy {
    /// The window.
    Window,
    /// The terminal.
    Terminal,
    /// A flag of the command line.
    CommandLine,
    /// A callback of a test.
    Test,
}

/// A decision with its origin, as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// The decision.
    pub decision: Decision,
    /// Through which interface it came.
    pub by: AnsweredBy,
    /// The person's reason; may be empty.
    pub note: String,
}

words! {
    /// What a person can request for a whole run (SPEC §3).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Control {
        /// Pause at the next step boundary.
        Pause = "pause",
        /// Continue after a pause.
        Resume = "resume",
        /// Switch to guided mode from the next step on (SPEC §7.4). A run cannot switch back.
        GoOnGuided = "go_on_guided",
        /// End the run after the current step.
        CancelAfterStep = "cancel_after_step",
        /// End the run and the process tree of the current step immediately.
        StopNow = "stop_now",
    }
}
