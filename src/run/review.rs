//! What a review found out about a plan in its workspace (SPEC §1.4, §2): data for the screen and
//! for the approval's binding. Made by the engine.

use std::path::PathBuf;

use serde::Serialize;

use crate::authorization::Binding;
use crate::plan::{Code, Digest, Finding, Severity};
use crate::risk::{RiskLevel, Verdict};

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
