//! `walls`: prints the walls of this computer, and records grants to every plan in a workspace.

use serde_json::json;

use super::opening::{current_folder, evidence_location, policy, workspace};
use super::output::Output;
use super::refusal::Refusal;
use super::{Exit, args};
use crate::authorization::Grants;
use crate::engine::{Clock as _, SystemClock, check_grants, local_wall_level};
use crate::evidence::WallsDecision;
use crate::plan::quoted;
use crate::run::AnsweredBy;
use crate::tools::Toolbox;

/// Records or revokes grants if requested, and prints the current state.
///
/// # Errors
/// The workspace cannot be opened, a path cannot be granted, or the evidence cannot be used.
pub(super) fn walls(command: &args::WallsCommand, out: &mut Output) -> Result<Exit, Refusal> {
    let policy = policy()?;
    let choice = workspace(command.workspace.workspace.as_deref(), &current_folder()?);
    let location = evidence_location(&command.common.folder)?;
    let toolbox = Toolbox::open(&choice.folder, &policy)
        .map_err(|error| {
            Refusal::usage(error.to_string(), "Name another folder with --workspace.")
        })?
        .without_folders(location.folders());
    let folder = toolbox.workspace().to_string_lossy();
    let grants = command.walls.add_grants(policy.clone()).grants;
    // Grants are added to earlier ones; only `--forget` revokes.
    let decided = match (grants.is_empty(), command.forget) {
        (false, _) => Some(Some(&grants)),
        (true, true) => Some(None),
        (true, false) => None,
    };
    if let Some(grants) = decided {
        grants
            .map_or(Ok(()), |grants| check_grants(&toolbox, grants))
            .map_err(|why| Refusal::usage(why, "Grant another path."))?;
        location.store()?.record_walls(&WallsDecision {
            workspace: &folder,
            grants,
            by: AnsweredBy::CommandLine,
            timestamp_ms: SystemClock::default().now_ms(),
        })?;
    }
    let remembered: Option<Grants> = location.open()?.remembered_walls(toolbox.workspace())?;
    let (level, why_not_better) = local_wall_level();
    if out.json() {
        out.document(&json!({
            "level": level,
            "why_not_better": why_not_better,
            "setting": policy.walls,
            "workspace": folder,
            "remembered": remembered,
        }));
        return Ok(Exit::Done);
    }
    let why = why_not_better.map_or_else(String::new, |why| format!(" ({why})"));
    out.line(&quoted(&format!("Walls of this computer: {level}{why}")));
    out.line(&format!("Setting: {}", policy.walls.as_str()));
    out.line(&quoted(&format!("Workspace: {folder}")));
    let remembered = remembered.unwrap_or_default();
    out.line(&quoted(&format!("Granted to every plan in this workspace: {remembered}")));
    Ok(Exit::Done)
}
