//! The walls of an agent that is talked to while it works (SPEC §7.5, §13).

use std::path::Path;

use super::agents;
use super::planner::enforcement;
use crate::authorization::{StepWalls, WallLevel};
use crate::engine::planner_walls;
use crate::risk::{PlannerNeeds, Policy};
use crate::tools::{AgentCommand, ToolError, Toolbox, Unsupported};

/// An agent that can be started behind its walls.
pub struct WalledAgent {
    /// The tools of the workspace, with the walls of the agent.
    pub toolbox: Toolbox,
    /// Its program.
    pub command: AgentCommand,
    /// Its walls.
    pub walls: StepWalls,
    /// What it may do and what enforces this, as a sentence.
    pub limits: String,
}

/// What the agent with this command may do: what the settings say of a planner of this name; else it reads the workspace
/// and uses the network, which it needs for its model. Its own folder is always writable, without its settings.
fn needs_of(words: &[String], policy: &Policy) -> PlannerNeeds {
    let program = words.first().map_or("", String::as_str);
    let file = program.rsplit('/').next().unwrap_or(program);
    let line = words.join(" ");
    let named = [line.as_str(), program, file].into_iter().find_map(|it| policy.planners.get(it));
    let default = || PlannerNeeds { network: true, ..PlannerNeeds::default() };
    let needs = named.cloned().unwrap_or_else(default);
    // Whatever the settings give it: a file that it writes itself is one that nobody has seen.
    let write = needs.write.into_iter().filter(|path| path != ".").collect();
    PlannerNeeds { agent_folder: agents::folder_of(file), write, ..needs }
}

impl WalledAgent {
    /// The agent with this command in a workspace, which it can read and not write. `own_folders` are the folders of
    /// Countersign.
    ///
    /// # Errors
    /// The workspace cannot be opened, the program is not there, or a path that the settings grant it cannot be granted.
    pub fn new<'f>(
        words: &[String],
        workspace: &Path,
        policy: &Policy,
        own_folders: impl IntoIterator<Item = &'f Path>,
    ) -> Result<Self, ToolError> {
        let toolbox = Toolbox::open(workspace, policy)?.without_folders(own_folders);
        let command = toolbox.agent_command(words)?;
        let needs = needs_of(words, policy);
        let (walls, mut place) = planner_walls(&toolbox, policy, &needs)
            .map_err(|why| Unsupported { what: format!("the agent's walls: {why}") })?;
        // Walls may hide the folder of temporary files, in which the program or a file that it is given may be.
        place.read_only.push(command.program.clone());
        let files = command.arguments.iter().map(Path::new);
        place.read_only.extend(files.filter(|it| it.is_absolute() && it.is_file()).map(Into::into));
        let toolbox = toolbox.with_walls(place);
        let limits = format!("{needs}; {}", enforcement(walls.level, policy));
        Ok(Self { toolbox, command, walls, limits })
    }

    /// Whether walls keep the agent from changing the workspace by itself.
    pub fn is_held(&self) -> bool {
        self.walls.level != WallLevel::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_setting_lets_an_agent_write_the_workspace() {
        let of = |words: &[&str], policy: &Policy| {
            let words: Vec<String> = words.iter().map(|it| (*it).to_owned()).collect();
            needs_of(&words, policy)
        };
        let mut policy = Policy::default();
        let needs = of(&["/opt/gemini", "--acp"], &policy);
        assert!(needs.network && needs.read && needs.write.is_empty());
        assert!(needs.agent_folder.unwrap().folder.ends_with(".gemini"));
        let write = vec![".".to_owned(), "/cache".to_owned()];
        let set = PlannerNeeds { write, ..PlannerNeeds::default() };
        policy.planners.insert("my-agent".to_owned(), set);
        let needs = of(&["./my-agent"], &policy);
        assert!(!needs.network && needs.agent_folder.is_none());
        assert_eq!(needs.write, ["/cache"]);
    }
}
