//! The query that checks the folders of a bounded loop before it starts, so that the form can show what would prevent
//! it (SPEC §9, §10). It runs and writes nothing.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::query_thread::{Query, QueryContext, QueryError};
use crate::autonomy::planner_limits;
use crate::engine::workspace_commands;
use crate::plan::{ToolCall, VerifyScope};
use crate::run::{CommandsReview, LoopPlace, PlaceFault, PlaceReview};
use crate::tools::Toolbox;

/// The maximum number of names that are read. If a folder has more, it is assumed that a plan is among the rest.
const MAX_NAMES: usize = 100_000;

/// Checks the folders of a loop before it starts.
pub struct ReviewPlace(pub LoopPlace);

impl Query for ReviewPlace {
    type Answer = PlaceReview;
    const FAILURE: &str = "The folders of the form cannot be checked.";

    fn run(self, context: &mut QueryContext) -> Result<PlaceReview, QueryError> {
        Ok(context.place(self.0))
    }
}

impl QueryContext {
    fn place(&mut self, place: LoopPlace) -> PlaceReview {
        let workspace_fault = folder_fault(&place.workspace);
        // If the workspace is missing, a relative folder in it gets no fault of its own.
        let plans = place.plans.iter().find(|it| workspace_fault.is_none() || it.is_absolute());
        let plans = plans.map(|plans| place.workspace.join(plans));
        let mut review = PlaceReview {
            workspace: String::new(),
            workspace_fault,
            plans_fault: plans.and_then(|plans| plans_fault(&plans)),
            planner: Ok(String::new()),
            commands: Ok(None),
            verified_by: Vec::new(),
            place,
        };
        if review.workspace_fault.is_some() {
            return review;
        }
        let toolbox = match Toolbox::open(&review.place.workspace, &self.setup.policy) {
            Ok(toolbox) => toolbox,
            Err(error) => {
                review.workspace_fault = Some(PlaceFault::Unusable(error.to_string()));
                return review;
            }
        };
        review.workspace = toolbox.workspace().to_string_lossy().into_owned();
        if !review.place.planner.is_empty() {
            review.planner = planner_limits(&review.place.planner, &toolbox, &self.setup.policy);
        }
        review.commands = self.commands_in(&toolbox);
        let runs_some = |scope: &VerifyScope| {
            let commands = toolbox.now().commands_of(&ToolCall::Verify { scope: *scope });
            commands.is_ok_and(|commands| !commands.is_empty())
        };
        let scopes = [VerifyScope::Local, VerifyScope::Full];
        review.verified_by = scopes.into_iter().filter(runs_some).collect();
        review
    }

    /// The commands that a workspace names, and whether they are trusted now.
    fn commands_in(&mut self, toolbox: &Toolbox) -> Result<Option<CommandsReview>, String> {
        let found = workspace_commands(toolbox.workspace(), &self.setup.policy);
        let (folder, found) = found.map_err(|error| error.to_string())?;
        let Some(mut commands) = found else { return Ok(None) };
        // If the evidence cannot be read, nothing is trusted; recording trust then fails with the reason.
        let trusted = self.evidence.trusted_commands();
        let file = (folder, commands.digest);
        commands.trusted = trusted.is_ok_and(|trusted| trusted.contains(&file));
        Ok(Some(commands))
    }
}

/// Why this folder cannot be used, if so.
fn folder_fault(folder: &Path) -> Option<PlaceFault> {
    match fs::metadata(folder) {
        Ok(metadata) if metadata.is_dir() => None,
        Ok(_) => Some(PlaceFault::NoFolder),
        Err(error) if error.kind() == ErrorKind::NotFound => Some(PlaceFault::Missing),
        Err(error) => Some(PlaceFault::Unusable(error.to_string())),
    }
}

/// Why no plan of this folder can be replayed, if so. The plans themselves are not read.
fn plans_fault(folder: &Path) -> Option<PlaceFault> {
    if let Some(fault) = folder_fault(folder) {
        return Some(fault);
    }
    let mut entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return Some(PlaceFault::Unusable(error.to_string())),
    };
    let is_plan = |entry: std::io::Result<fs::DirEntry>| {
        entry.is_ok_and(|entry| entry.path().extension().is_some_and(|it| it == "json"))
    };
    let found = entries.by_ref().take(MAX_NAMES).any(is_plan) || entries.next().is_some();
    (!found).then_some(PlaceFault::NoPlans)
}
