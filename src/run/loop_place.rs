//! Where a bounded loop is to work, and what is found there before it starts (SPEC §9, §10). Pure.

use std::path::PathBuf;

use super::review::CommandsReview;
use crate::plan::VerifyScope;

/// Where a bounded loop is to work, as a person names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopPlace {
    /// The workspace folder.
    pub workspace: PathBuf,
    /// The folder with the plans, where they are replayed; a relative one is one of the workspace.
    pub plans: Option<PathBuf>,
    /// The planner, as `loop --planner` names it; empty where none is named yet.
    pub planner: String,
}

/// What was found there, at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceReview {
    /// The place that was looked at.
    pub place: LoopPlace,
    /// The workspace folder, absolute and without links; empty where it has a fault.
    pub workspace: String,
    /// Why no loop can work in the workspace.
    pub workspace_fault: Option<PlaceFault>,
    /// Why no plan can be replayed.
    pub plans_fault: Option<PlaceFault>,
    /// What the planner may do there and what holds it to that, or why it cannot be asked there, in words.
    pub planner: Result<String, String>,
    /// The commands that the workspace names; none where it names none, or why they cannot be read.
    pub commands: Result<Option<CommandsReview>, String>,
    /// What a loop can verify by some of them.
    pub verified_by: Vec<VerifyScope>,
}

/// Why a folder is of no use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaceFault {
    /// Nothing is there.
    Missing,
    /// Something else is there.
    NoFolder,
    /// No plan is in it.
    NoPlans,
    /// The system says why.
    Unusable(String),
}

impl PlaceFault {
    /// What is wrong with the folder, and what to do.
    pub fn sentence(&self) -> String {
        match self {
            Self::Missing => {
                "There is no such folder. Type its whole path, or choose it.".to_owned()
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
    /// Why no loop can start there, in a sentence; none where one can.
    pub fn refusal(&self) -> Option<&'static str> {
        match (&self.workspace_fault, &self.plans_fault) {
            (Some(PlaceFault::Missing), _) => Some("The workspace folder does not exist."),
            (Some(PlaceFault::NoFolder), _) => Some("The workspace is no folder."),
            (Some(_), _) => Some("The workspace folder cannot be opened."),
            (None, Some(PlaceFault::Missing)) => Some("The folder with the plans does not exist."),
            (None, Some(PlaceFault::NoFolder)) => Some("What is to hold the plans is no folder."),
            (None, Some(PlaceFault::NoPlans)) => Some("The folder with the plans holds none."),
            (None, Some(_)) => Some("The folder with the plans cannot be read."),
            (None, None) if self.planner.is_err() => Some("The planner cannot be asked here."),
            (None, None) => None,
        }
    }
}
