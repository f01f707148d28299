//! What a review found out about a plan in its workspace (SPEC §1.4, §2): data for the screen and
//! for the approval's binding. Made by the engine.

use std::path::PathBuf;

use serde::Serialize;

use crate::authorization::{Binding, Grants, StepWalls, WallLevel};
use crate::plan::{Code, Digest, Finding, Needs, Severity};
use crate::risk::{RiskLevel, Verdict, WallSetting};

/// A plan looked at in its workspace, under a policy, at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// The workspace folder, absolute.
    pub workspace: PathBuf,
    /// Why this folder, as a sentence.
    pub workspace_reason: String,
    /// What an approval given now would cover.
    pub binding: Binding,
    /// One verdict for each step.
    pub risks: Vec<Verdict>,
    /// One verdict for each command of the plan's rollback, which does not run with it.
    pub rollback: Vec<Verdict>,
    /// One state for each step.
    pub preconditions: Vec<PreconditionState>,
    /// For each step, why a person will be asked; `None` when nobody will be.
    pub asks: Vec<Option<String>>,
    /// The walls of its steps; none where the review starts no process.
    pub walls: Option<WallsReview>,
    /// The whole plan in a few figures.
    pub impact: Impact,
    /// The commands that the workspace names, where a step would run some of them (SPEC §9).
    pub workspace_commands: Option<CommandsReview>,
    /// What the workspace and the policy add to the plan's own findings.
    pub findings: Vec<Finding>,
}

impl Review {
    /// Why the plan waits for trust and for nothing else: it would run commands that nobody trusts.
    pub fn untrusted(&self) -> Option<&Finding> {
        self.workspace_commands.as_ref().filter(|commands| !commands.trusted)?;
        let mut errors = self.findings.iter().filter(|it| it.severity == Severity::Error);
        let first = errors.next().filter(|it| it.code == Code::NotAuthorized)?;
        errors.all(|it| it.code == Code::NotAuthorized).then_some(first)
    }
}

impl Review {
    /// The walls of a step; none where it starts no process on this computer, or the review starts none.
    pub fn walls_of(&self, step_index: usize) -> Option<&StepWallsReview> {
        self.walls.as_ref()?.steps.get(step_index)?.as_ref()
    }
}

/// The walls behind which a plan would run (SPEC §7.5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WallsReview {
    /// What the settings want.
    pub setting: WallSetting,
    /// How strong walls are here; none where they are off, or where no step would have any.
    pub level: WallLevel,
    /// Why they are not stronger, where that was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not_better: Option<String>,
    /// What is granted to every plan in this workspace, by an earlier decision; it is among the grants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remembered: Option<Grants>,
    /// For each step, its walls; none for one that starts no process on this computer.
    pub steps: Vec<Option<StepWallsReview>>,
}

impl WallsReview {
    /// Whether any step has walls at all.
    pub fn concerns_any(&self) -> bool {
        self.steps.iter().any(Option::is_some)
    }

    /// What is proposed for any of the steps.
    pub fn proposed(&self) -> Needs {
        let mut all = Needs::default();
        self.steps.iter().flatten().for_each(|step| all.add(&step.proposed));
        all
    }

    /// Whether something is proposed that nobody has granted.
    pub fn proposes(&self) -> bool {
        self.steps.iter().flatten().any(|step| !step.proposed.is_empty())
    }
}

/// The walls of one step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepWallsReview {
    /// What an approval given now would cover.
    pub walls: StepWalls,
    /// What the plan asks for, with absolute paths; an approval grants it.
    pub needs: Needs,
    /// Whether what was proposed is granted.
    pub granted: bool,
    /// What its programs are known to need and nobody has granted.
    pub proposed: Needs,
    /// Why they need it.
    pub reasons: Vec<String>,
}

/// The commands of a workspace, which nothing runs unless a person trusts the file that names them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommandsReview {
    /// The digest of the file's exact bytes: what is trusted.
    pub digest: Digest,
    /// Whether the person trusts it, in this workspace.
    pub trusted: bool,
    /// Every command of the file.
    pub commands: Vec<CommandReview>,
    /// What is wrong with the file, with line and column; one that has a fault is not used.
    pub faults: Vec<String>,
}

/// One command of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommandReview {
    /// What it is for, for instance `verify.local`.
    pub name: String,
    /// The command.
    pub command: String,
    /// When it is ended, in seconds.
    pub timeout_seconds: u64,
    /// How what it says is read.
    pub matcher: String,
    /// How dangerous it is.
    pub risk: Verdict,
    /// The steps that would run it, from 0.
    pub steps: Vec<usize>,
}

/// Whether a precondition would hold now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum PreconditionState {
    /// It asks for nothing.
    None,
    /// It holds.
    Holds {
        /// What was found.
        found: String,
    },
    /// It does not hold now; it is checked again just before the step.
    Fails {
        /// What was found instead.
        found: String,
    },
    /// Only the run can tell.
    Later {
        /// Why.
        reason: String,
    },
}

/// The whole plan in a few figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Impact {
    /// Files that would be written, by path inside the workspace, sorted.
    pub files: Vec<String>,
    /// Hosts that would be reached.
    pub hosts: Vec<String>,
    /// The worst risk of any step; none when there is no step.
    pub worst: Option<RiskLevel>,
    /// How many steps will ask a person.
    pub asks: usize,
    /// How many steps do something whose effect cannot be restored from the evidence.
    pub irreversible: usize,
}
