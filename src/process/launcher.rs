//! The settings with which programs of one workspace are started: their lookup, their walls and their
//! environment.

use std::path::PathBuf;

use crate::authorization::StepWalls;

use super::walls::RunWalls;
use super::{Behind, Leftovers, Programs};

/// The settings with which programs of one workspace are started.
pub(crate) struct Launcher {
    /// Looks up programs in `PATH`.
    pub(crate) programs: Programs,
    /// The walls of all programs that are started. Dropping them ends the processes that steps left running.
    pub(crate) walls: RunWalls,
    /// Variables added to the environment of every program.
    environment: Vec<(&'static str, String)>,
}

impl Launcher {
    /// The settings for a workspace, whose path must be absolute and without symbolic links.
    pub(crate) fn new(workspace: PathBuf, walls: RunWalls) -> Self {
        Self { programs: Programs { workspace, original: None }, walls, environment: Vec::new() }
    }

    /// The settings for a copy of the workspace at `workspace`: all build output goes to `target`, even if
    /// the user has configured another folder. With `traces`, programs print a backtrace when they panic.
    pub(crate) fn on_copy(
        &self,
        workspace: PathBuf,
        target: String,
        traces: bool,
        walls: RunWalls,
    ) -> Self {
        let mut environment =
            vec![("CARGO_TARGET_DIR", target.clone()), ("CARGO_BUILD_BUILD_DIR", target)];
        if traces {
            environment.push(("RUST_BACKTRACE", "full".to_owned()));
        }
        let original = Some(self.programs.workspace.clone());
        Self { programs: Programs { workspace, original }, walls, environment }
    }

    /// Variables added to the environment of every program.
    pub(crate) fn environment(&self) -> Vec<(&str, &str)> {
        self.environment.iter().map(|(name, value)| (*name, value.as_str())).collect()
    }

    /// The treatment of processes that a program leaves running: `usual`, or on a copy of the workspace,
    /// which will be deleted, [`Leftovers::End`].
    pub(crate) fn leftovers(&self, usual: Leftovers) -> Leftovers {
        if self.programs.original.is_some() { Leftovers::End } else { usual }
    }

    /// The walls of one program of this step.
    pub(crate) fn behind<'a>(&'a self, step: &'a StepWalls) -> Behind<'a> {
        Behind { step, run: &self.walls, write: &[] }
    }
}
