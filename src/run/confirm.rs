//! What a person is asked before a step, and what they can say (SPEC §3).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::authorization::StepWalls;
use crate::plan::words::words;
use crate::plan::{Needs, visible};
use crate::risk::Verdict;

use super::preview::Preview;

/// Everything a person must see before they answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfirmationRequest {
    /// The run.
    pub run_id: Uuid,
    /// The step.
    pub step_id: String,
    /// Its place, from 0.
    pub step_index: usize,
    /// How many steps the plan has.
    pub step_count: usize,
    /// The tool's name.
    pub tool: String,
    /// The plan's own title or reason for the step, if any.
    pub purpose: Option<String>,
    /// The plan's reason for the step, where it has a title besides.
    pub explanation: Option<String>,
    /// The arguments, exactly.
    pub arguments: BTreeMap<String, String>,
    /// The host for remote steps.
    pub target: Option<String>,
    /// Who, where and by which key that host is, in one line.
    pub host: Option<String>,
    /// The folder in which the step works.
    pub cwd: String,
    /// Who runs it there.
    pub user: String,
    /// How dangerous it is and why.
    pub risk: Verdict,
    /// The plan author's own warning.
    pub warning: Option<String>,
    /// Why the person is asked.
    pub why: String,
    /// Whether that is for more than being guided: then nothing runs without the question in front of
    /// everything else (SPEC §7.1).
    pub required: bool,
    /// Whether that is only because the step has no walls, and it calls for no more than caution (SPEC §7.5).
    pub unwalled: bool,
    /// What the step asks for beyond its walls, where it runs on this computer.
    pub needs: Option<Needs>,
    /// The walls that it gets; none where it starts no process on this computer.
    pub walls: Option<StepWalls>,
    /// Whether the person goes through the plan step by step, and may do this one themselves (SPEC §7.4).
    pub guided: bool,
    /// What the step would do, on the present bytes.
    pub preview: Preview,
}

impl ConfirmationRequest {
    /// The word that a person types before a dangerous step: the host, or the name of the first file
    /// that the step changes or names, or of the folder where a command runs, or the tool where there is
    /// none of these.
    pub fn target_word(&self) -> &str {
        if let Some(target) = &self.target {
            return target.rsplit('@').next().unwrap_or(target);
        }
        let changed = self.preview.changes.first().map(|change| change.path.as_str());
        let argument = ["path", "file", "file_path", "plan_file", "root"]
            .iter()
            .find_map(|name| self.arguments.get(*name).map(String::as_str));
        let folder = self.command().map(|_| self.cwd.as_str());
        changed
            .or(argument)
            .or(folder)
            .and_then(|path| path.rsplit(['/', '\\']).find(|part| !part.trim().is_empty()))
            .unwrap_or(&self.tool)
    }

    /// The command that would run, where the step is one.
    pub fn command(&self) -> Option<&str> {
        let command = self.arguments.get("command")?;
        (self.tool == "shell").then_some(command.as_str())
    }

    /// Whether it may be answered so: only who is guided through a plan does a step by hand.
    pub fn offers(&self, decision: Decision) -> bool {
        self.guided || decision != Decision::DoneByHand
    }

    /// Whether what was typed is [`Self::target_word`]: as it is, or as it is shown, because what is
    /// hidden in a name can be neither seen nor typed. Space around it does not count.
    pub fn names_target(&self, typed: &str) -> bool {
        let (typed, word) = (typed.trim(), self.target_word());
        typed == word.trim() || typed == visible(word).trim()
    }
}

words! {
    /// The answers to a [`ConfirmationRequest`]: the first three to any, the last one in guided mode.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Decision {
        /// Run this step.
        Approve = "approve",
        /// Leave it out and go on.
        Skip = "skip",
        /// Deny it and end the run.
        Cancel = "cancel",
        /// The person has done it themselves: no tool is called, and the run goes on (SPEC §7.4).
        DoneByHand = "done_by_hand",
    }
}

/// Who answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBy {
    /// A person in the window.
    Window,
    /// A person at the terminal.
    Terminal,
    /// A flag of the command line.
    CommandLine,
    /// A callback of a test.
    Test,
}

/// An answer with its origin; what the evidence keeps of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// The answer.
    pub decision: Decision,
    /// Who gave it.
    pub by: AnsweredBy,
    /// Why, in the person's words; may be empty.
    pub note: String,
}

words! {
    /// What a person can do to a whole run (SPEC §3).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Control {
        /// Wait at the next step boundary.
        Pause = "pause",
        /// Go on.
        Resume = "resume",
        /// From the next step on, wait for the person at each one (SPEC §7.4). There is no way back.
        GoOnGuided = "go_on_guided",
        /// End after the step that is running.
        CancelAfterStep = "cancel_after_step",
        /// End now, with the process tree of the step that is running.
        StopNow = "stop_now",
    }
}
