//! The query that checks the folders of a bounded loop before its start, so that the form can show what would prevent
//! the start (SPEC §9, §10). No program is started and no file is written.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::{ModelSettings, Query, QueryContext, QueryError};
use crate::autonomy::{agent_program, planner_limits};
use crate::engine::workspace_commands;
use crate::plan::{ToolCall, VerifyScope};
use crate::run::{CommandsReview, LoopPlace, PlaceFault, PlaceReview};
use crate::tools::Toolbox;

/// The maximum number of directory entries that are checked for a plan. A folder with more entries is accepted.
const MAX_ENTRIES: usize = 100_000;

/// Checks the folders of a loop before its start.
pub struct ReviewLoopFolders(pub LoopPlace);

impl Query for ReviewLoopFolders {
    type Answer = PlaceReview;
    const FAILURE: &str = "The folders of the form cannot be checked.";

    fn run(self, context: &mut QueryContext) -> Result<PlaceReview, QueryError> {
        Ok(context.review_folders(self.0))
    }
}

impl QueryContext {
    fn review_folders(&mut self, place: LoopPlace) -> PlaceReview {
        let workspace_fault = folder_fault(&place.workspace);
        // If the workspace has a fault, a folder of plans in it gets no fault of its own.
        let plans = place.plans.iter().find(|it| workspace_fault.is_none() || it.is_absolute());
        let plans = plans.map(|plans| place.workspace.join(plans));
        let mut review = PlaceReview {
            workspace: String::new(),
            workspace_fault,
            plans_fault: plans.and_then(|plans| plans_fault(&plans)),
            planner: Ok(String::new()),
            model: None,
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
            let LoopPlace { planner, looks, .. } = &review.place;
            review.planner = planner_limits(planner, *looks, &toolbox, &self.setup.policy);
        }
        let agent = agent_program(&review.place.planner);
        if let Some(agent) = agent.filter(|agent| toolbox.find_command(agent).is_none()) {
            let missing = toolbox.missing_command_message(agent);
            review.planner = Err(format!("{missing}: install {agent}, or add its folder to PATH"));
        }
        if review.place.planner.trim().split(':').next() == Some("openai-compatible") {
            review.model = self.model();
            if review.model.is_none() {
                let missing =
                    "no model is set: name its server and the model in the settings, in [model]";
                review.planner = Err(missing.to_owned());
            }
        }
        review.commands = self.commands_in(&toolbox);
        let has_commands = |scope: &VerifyScope| {
            let commands = toolbox.now().commands_of(&ToolCall::Verify { scope: *scope });
            commands.is_ok_and(|commands| !commands.is_empty())
        };
        let scopes = [VerifyScope::Local, VerifyScope::Full];
        review.verified_by = scopes.into_iter().filter(has_commands).collect();
        review
    }

    /// The model in the settings and its server; `None` if there is none.
    pub(super) fn model(&self) -> Option<String> {
        let settings = ModelSettings::of(&self.setup.policy);
        settings.overridden(|name| std::env::var(name).ok()).server()
    }

    /// The commands that a workspace names, and whether they are trusted now; `None` if it names none.
    ///
    /// # Errors
    /// Why the commands cannot be read, as a message.
    fn commands_in(&mut self, toolbox: &Toolbox) -> Result<Option<CommandsReview>, String> {
        let read = workspace_commands(toolbox.workspace(), &self.setup.policy);
        let (folder, commands) = read.map_err(|error| error.to_string())?;
        let Some(mut commands) = commands else { return Ok(None) };
        // If the evidence cannot be read, nothing is trusted; a later attempt to record trust then reports the error.
        let trusted = self.evidence.trusted_commands();
        let key = (folder, commands.digest);
        commands.trusted = trusted.is_ok_and(|trusted| trusted.contains(&key));
        Ok(Some(commands))
    }
}

/// Why this folder cannot be used; `None` if it can.
fn folder_fault(folder: &Path) -> Option<PlaceFault> {
    match fs::metadata(folder) {
        Ok(metadata) if metadata.is_dir() => None,
        Ok(_) => Some(PlaceFault::NoFolder),
        Err(error) if error.kind() == ErrorKind::NotFound => Some(PlaceFault::Missing),
        Err(error) => Some(PlaceFault::Unusable(error.to_string())),
    }
}

/// Why this folder has no plan to replay; `None` if it contains a file ending in `.json`. The files are not read.
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
    let has_plan = entries.by_ref().take(MAX_ENTRIES).any(is_plan) || entries.next().is_some();
    (!has_plan).then_some(PlaceFault::NoPlans)
}
