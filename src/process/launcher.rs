//! The settings with which programs of one workspace are started: their lookup, their walls and their
//! environment.

use std::path::PathBuf;

use super::walls::RunWalls;
use super::{Leftovers, ProgramWalls, Programs};
use crate::authorization::StepWalls;

/// The settings with which programs of one workspace are started.
pub(crate) struct Launcher {
    /// Looks up programs in `PATH`.
    pub(crate) programs: Programs,
    /// The walls that all programs share. Dropping them ends the processes that walled programs left running.
    pub(crate) walls: RunWalls,
    /// Variables added to the environment of every program.
    environment: Vec<(&'static str, String)>,
}

impl Launcher {
    /// The settings for a workspace, whose path must be absolute and without symbolic links.
    pub(crate) fn new(workspace: PathBuf, walls: RunWalls) -> Self {
        Self { programs: Programs { workspace, original: None }, walls, environment: Vec::new() }
    }

    /// The settings for a copy of the workspace, in the folder `workspace`: cargo writes all build output to
    /// `target`, even if the user has configured another folder. With `traces`, Rust programs print a full
    /// backtrace when they panic.
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

    /// The treatment of processes that a program leaves running: `default`, or [`Leftovers::End`] on a copy of
    /// the workspace, because the copy will be deleted.
    pub(crate) fn leftovers(&self, default: Leftovers) -> Leftovers {
        if self.programs.original.is_some() { Leftovers::End } else { default }
    }

    /// The walls of a program of this step.
    pub(crate) fn walls_for<'a>(&'a self, step: &'a StepWalls) -> ProgramWalls<'a> {
        ProgramWalls { step, run: &self.walls, write: &[] }
    }
}
