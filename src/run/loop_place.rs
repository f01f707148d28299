//! The folders and the planner that a person names for a bounded loop, and the check of them before it starts (SPEC
//! §9, §10). Pure.

use std::path::PathBuf;

use super::{CommandsReview, LookScope};
use crate::plan::VerifyScope;

/// How long a planner may take for one answer if the person does not say, in seconds.
pub const PLANNER_TIMEOUT_S: u32 = 120;
/// The same for a planner that is an agent: it reads files before it plans.
pub const AGENT_TIMEOUT_S: u32 = 600;

/// What a loop verifies after an attempt if the person chose nothing: the quick check; nothing if the goal is about a host
/// (`target`, an SSH destination), because no check of the workspace can tell what commands changed there.
pub fn default_verify(target: Option<&str>) -> Option<VerifyScope> {
    target.is_none().then_some(VerifyScope::Local)
}

/// The folders and the planner of a bounded loop, as a person names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopPlace {
    /// The workspace folder.
    pub workspace: PathBuf,
    /// The folder of the plans to replay; a relative path is relative to the workspace.
    pub plans: Option<PathBuf>,
    /// The planner, as `loop --planner` takes it; empty if none is named yet.
    pub planner: String,
    /// What the planner may look at before it plans.
    pub looks: LookScope,
}

/// The result of checking a [`LoopPlace`] at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceReview {
    /// What was checked.
    pub place: LoopPlace,
    /// The workspace folder, absolute and without links; empty if it has a fault.
    pub workspace: String,
    /// Why no loop can work in the workspace, if so.
    pub workspace_fault: Option<PlaceFault>,
    /// Why no plan can be replayed, if so.
    pub plans_fault: Option<PlaceFault>,
    /// What the planner may do in the workspace and which walls enforce that, or why it cannot be started there, in
    /// words.
    pub planner: Result<String, String>,
    /// The model that the planner asks, and its server; `None` for other planners.
    pub model: Option<String>,
    /// The commands of the workspace, `None` if it names none, or why they cannot be read.
    pub commands: Result<Option<CommandsReview>, String>,
    /// The verification scopes for which the workspace names a command.
    pub verified_by: Vec<VerifyScope>,
}

/// Why a folder cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaceFault {
    /// The path does not exist.
    Missing,
    /// The path is no folder.
    NoFolder,
    /// The folder contains no plan.
    NoPlans,
    /// Another error, with the system's message.
    Unusable(String),
}

impl PlaceFault {
    /// What is wrong with the folder, and what to do.
    pub fn sentence(&self) -> String {
        match self {
            Self::Missing => {
                "There is no such folder. Type the whole path of a folder, or choose one."
                    .to_owned()
            }
            Self::NoFolder => "This is a file. Name a folder.".to_owned(),
            Self::NoPlans => {
                "No plan is in this folder: none of its files ends in .json.".to_owned()
            }
            Self::Unusable(why) => format!("{why}. Name another folder."),
        }
    }
}

impl PlaceReview {
    /// Why no loop can start there, as a sentence; `None` if one can.
    pub fn refusal(&self) -> Option<&'static str> {
        match (&self.workspace_fault, &self.plans_fault) {
            (Some(PlaceFault::Missing), _) => Some("The workspace folder does not exist."),
            (Some(PlaceFault::NoFolder), _) => Some("The workspace is not a folder."),
            (Some(_), _) => Some("The workspace folder cannot be opened."),
            (None, Some(PlaceFault::Missing)) => Some("The folder with the plans does not exist."),
            (None, Some(PlaceFault::NoFolder)) => Some("The path of the plans is not a folder."),
            (None, Some(PlaceFault::NoPlans)) => {
                Some("The folder with the plans contains no plan.")
            }
            (None, Some(_)) => Some("The folder with the plans cannot be read."),
            (None, None) if self.planner.is_err() => Some("The planner cannot run here."),
            (None, None) => None,
        }
    }
}
