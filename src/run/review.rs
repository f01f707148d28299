//! Result of reviewing a plan in its workspace (SPEC §1.4, §2): data for the screen and for the binding of an
//! approval. The engine creates it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::FleetReview;
use crate::authorization::{Binding, Grants, StepWalls, WallLevel};
use crate::plan::{Code, Digest, Finding, Needs, Severity, ToolCall, ToolClass};
use crate::risk::{RiskLevel, Verdict, WallSetting};

/// A review of a plan in its workspace, under a policy, at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    /// The workspace folder, absolute.
    pub workspace: PathBuf,
    /// Why this folder is the workspace, as a sentence.
    pub workspace_reason: String,
    /// What an approval given now would cover.
    pub binding: Binding,
    /// One verdict for each step.
    pub risks: Vec<Verdict>,
    /// One verdict for each command of the plan's rollback, which does not run with it.
    pub rollback: Vec<Verdict>,
    /// One state for each step.
    pub preconditions: Vec<PreconditionState>,
    /// For each step, why a person will be asked; `None` if nobody will be.
    pub asks: Vec<Option<String>>,
    /// The walls of the steps; `None` if the review starts no processes.
    pub walls: Option<WallsReview>,
    /// What an approval covers if the plan runs on several hosts; `None` if it does not, or the review starts no processes.
    pub fleet: Option<FleetReview>,
    /// Figures about the whole plan.
    pub impact: Impact,
    /// The commands that the workspace names, if a step would run some of them (SPEC §9).
    pub workspace_commands: Option<CommandsReview>,
    /// Findings from the workspace and the policy, in addition to the plan's own.
    pub findings: Vec<Finding>,
}

impl Review {
    /// The error about untrusted workspace commands, if it is the only reason why the plan cannot be authorized.
    pub fn untrusted(&self) -> Option<&Finding> {
        self.workspace_commands.as_ref().filter(|commands| !commands.trusted)?;
        let mut errors = self.findings.iter().filter(|it| it.severity == Severity::Error);
        let first = errors.next().filter(|it| it.code == Code::NotAuthorized)?;
        errors.all(|it| it.code == Code::NotAuthorized).then_some(first)
    }
}

impl Review {
    /// Whether the precondition of a step does not hold now.
    pub fn fails_precondition(&self, step_index: usize) -> bool {
        let state = self.preconditions.get(step_index);
        matches!(state, Some(PreconditionState::Fails { .. }))
    }

    /// The walls of a step; `None` if it starts no process on this computer, or the review starts none.
    pub fn walls_of(&self, step_index: usize) -> Option<&StepWallsReview> {
        self.walls.as_ref()?.steps.get(step_index)?.as_ref()
    }
}

/// The walls behind which a plan would run (SPEC §7.5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WallsReview {
    /// The mode that the settings select.
    pub setting: WallSetting,
    /// The strength of the walls on this computer; none if they are off, or no step would have any.
    pub level: WallLevel,
    /// Why the walls are not stronger, if that was determined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not_better: Option<String>,
    /// The access that an earlier decision granted to every plan in this workspace. The grants of the steps include it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remembered: Option<Grants>,
    /// For each step, its walls; `None` if it starts no process on this computer.
    pub steps: Vec<Option<StepWallsReview>>,
}

impl WallsReview {
    /// Whether any step has walls to review.
    pub fn concerns_any(&self) -> bool {
        self.steps.iter().any(Option::is_some)
    }

    /// Everything that is proposed for the steps.
    pub fn proposed(&self) -> Needs {
        let mut all = Needs::default();
        self.steps.iter().flatten().for_each(|step| all.add(&step.proposed));
        all
    }

    /// Whether anything is proposed that is not granted.
    pub fn proposes(&self) -> bool {
        self.steps.iter().flatten().any(|step| !step.proposed.is_empty())
    }
}

/// The walls of one step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepWallsReview {
    /// What an approval given now would cover.
    pub walls: StepWalls,
    /// The access beyond the walls that the plan requests, with absolute paths; an approval grants it.
    pub needs: Needs,
    /// Whether an earlier decision granted what was proposed.
    pub granted: bool,
    /// The access that the programs of the step are known to need and that is not granted yet.
    pub proposed: Needs,
    /// Why the programs need that access.
    pub reasons: Vec<String>,
}

/// The commands of a workspace. None of them runs unless a person trusts the file that names them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandsReview {
    /// The digest of the file's exact bytes, which is what a person trusts.
    pub digest: Digest,
    /// Whether the person trusts the file in this workspace.
    pub trusted: bool,
    /// Every command of the file.
    pub commands: Vec<CommandReview>,
    /// What is wrong with the file, with line and column; a file with a fault is not used.
    pub faults: Vec<String>,
}

/// One command of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandReview {
    /// The purpose of the command, for instance `verify.local`.
    pub name: String,
    /// The command.
    pub command: String,
    /// The time limit, in seconds.
    pub timeout_seconds: u64,
    /// How diagnostics are read from the output.
    pub matcher: String,
    /// The risk of the command.
    pub risk: Verdict,
    /// The indices of the steps that would run the command, from 0.
    pub steps: Vec<usize>,
}

/// Whether a precondition holds now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum PreconditionState {
    /// The step has no precondition.
    None,
    /// The precondition holds.
    Holds {
        /// What was found.
        found: String,
    },
    /// The precondition does not hold now. It is checked again just before the step.
    Fails {
        /// What was found instead.
        found: String,
    },
    /// The precondition can be checked only during the run.
    Later {
        /// Why it cannot be checked now.
        reason: String,
    },
}

/// Figures about a whole plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Impact {
    /// The files that would be written, by path inside the workspace, sorted.
    pub files: Vec<String>,
    /// The hosts that would be reached.
    pub hosts: Vec<String>,
    /// The highest risk of any step; `None` if there is no step.
    pub worst: Option<RiskLevel>,
    /// The number of steps about which a person will be asked.
    pub asks: usize,
    /// The number of steps with an effect that cannot be restored from the evidence.
    pub irreversible: usize,
}

/// Whether a call may have effects that cannot be undone with contents from the evidence.
pub fn cannot_be_restored(call: &ToolCall, risk: &Verdict) -> bool {
    match call.class() {
        // A simulation that runs nothing changes only a copy.
        ToolClass::Check => call.may_change_anything(),
        ToolClass::Command => risk.level > RiskLevel::Safe,
        ToolClass::Read | ToolClass::Mutate => false,
    }
}
