//! What a review found out about a plan in its workspace (SPEC §1.4, §2): data for the screen and
//! for the approval's binding. Made by the engine.

use std::path::PathBuf;

use serde::Serialize;

use crate::authorization::Binding;
use crate::plan::Finding;
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
    /// What the workspace and the policy add to the plan's own findings.
    pub findings: Vec<Finding>,
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
