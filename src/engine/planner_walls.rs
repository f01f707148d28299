//! The walls of a planner (SPEC §7.5).

use super::walls::{Folders, Location, level_error, level_for};
use crate::authorization::{RunChoices, StepWalls, WallLevel};
use crate::process::walls::WallPaths;
use crate::risk::{PlannerNeeds, Policy};
use crate::tools::Toolbox;

/// The walls of a planner, and the access to its workspace: hidden, read-only or writable.
///
/// # Errors
/// When a path cannot be made writable, or the settings require walls that this computer does not have; as a
/// sentence.
pub fn planner_walls(
    toolbox: &Toolbox,
    policy: &Policy,
    needs: &PlannerNeeds,
) -> Result<(StepWalls, WallPaths), String> {
    // What is chosen for a run does not hold for the planner.
    let policy = &Policy { choices: RunChoices::default(), ..policy.clone() };
    let (level, why) = level_for(policy);
    if let Some(error) = level_error(policy, level, why) {
        return Err(error);
    }
    let folders = Folders::new(toolbox);
    let mut write = Vec::new();
    let mut writes_workspace = false;
    for path in &needs.write {
        let refuse = |why: &str| format!("{path} cannot be granted: {why}");
        match folders.resolve(path).map_err(|why| refuse(&why))? {
            Location::Outside(resolved) => write.push(resolved.path),
            Location::Workspace => writes_workspace = true,
            // The workspace is writable as a whole or not at all.
            Location::InWorkspace => {
                return Err(refuse(
                    "it is in the workspace, which a planner may write as a whole (`.`) or not at all",
                ));
            }
        }
    }
    let mut paths = WallPaths::default();
    if let Some(agent) = &needs.agent_folder {
        let folder = folders.resolve_agent_folder(&agent.folder).map_err(|why| {
            format!("{}, the agent's folder, cannot be granted: {why}", agent.folder.display())
        })?;
        paths.read_only.extend(agent.read_only.iter().map(|name| folder.join(name)));
        write.push(folder.to_string_lossy().into_owned());
    }
    write.sort();
    write.dedup();
    if !needs.read {
        paths.hidden.push(toolbox.workspace().to_owned());
    } else if !writes_workspace {
        paths.read_only.push(toolbox.workspace().to_owned());
    }
    if level == WallLevel::None {
        return Ok((StepWalls::NONE.clone(), paths));
    }
    Ok((StepWalls { level, network: needs.network, write, ..StepWalls::default() }, paths))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authorization::WallSetting;
    use crate::risk::AgentFolder;

    #[test]
    fn a_planner_writes_the_whole_workspace_or_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let toolbox = Toolbox::open(folder.path(), &Policy::default()).unwrap();
        let walls = |path: &str| {
            let needs = PlannerNeeds { write: vec![path.to_owned()], ..PlannerNeeds::default() };
            planner_walls(&toolbox, &Policy::default(), &needs)
        };
        let (_, paths) = walls(".").unwrap();
        assert!(paths.read_only.is_empty() && paths.hidden.is_empty());
        for inside in ["target", "./src/x"] {
            assert!(walls(inside).unwrap_err().contains("as a whole"), "{inside}");
        }
    }

    // Its folder is a sensitive path, which no setting can grant.
    #[test]
    fn an_agent_writes_its_folder_without_its_settings() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        for name in ["space", ".codex"] {
            std::fs::create_dir(top.join(name)).unwrap();
        }
        let toolbox = Toolbox::open(&top.join("space"), &Policy::default()).unwrap();
        let own = top.join(".codex").to_string_lossy().into_owned();
        let agent = |folder| PlannerNeeds {
            agent_folder: Some(AgentFolder { folder, read_only: vec!["config.toml", "rules"] }),
            ..PlannerNeeds::default()
        };
        let walls = |needs| planner_walls(&toolbox, &Policy::default(), &needs);
        let (step, paths) = walls(agent(top.join(".codex"))).unwrap();
        if step.level != WallLevel::None {
            assert_eq!(step.write, std::slice::from_ref(&own));
        }
        for name in [".codex/config.toml", ".codex/rules", "space"] {
            assert!(paths.read_only.contains(&top.join(name)), "{name} {paths:?}");
        }
        let named = PlannerNeeds { write: vec![own], ..PlannerNeeds::default() };
        assert!(walls(named).unwrap_err().contains("sensitive"));
        // A variable must not make it the home folder, or one that has the workspace in it.
        let home = std::env::home_dir().unwrap();
        assert!(walls(agent(home)).unwrap_err().contains("your home folder"));
        assert!(walls(agent(top)).unwrap_err().contains("the workspace is in it"));
    }

    #[test]
    fn no_walls_for_a_run_leave_those_of_its_planner() {
        let folder = tempfile::tempdir().unwrap();
        let toolbox = Toolbox::open(folder.path(), &Policy::default()).unwrap();
        let choices = RunChoices { walls: Some(WallSetting::Off), ..RunChoices::default() };
        let chosen = Policy { choices, ..Policy::default() };
        let of = |policy| planner_walls(&toolbox, policy, &PlannerNeeds::default()).unwrap().0;
        assert_eq!(of(&chosen), of(&Policy::default()));
    }
}
