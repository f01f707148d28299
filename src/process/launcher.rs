//! How programs of one workspace are started: where they are found, behind which walls, in which environment.

use std::path::PathBuf;

use crate::authorization::StepWalls;

use super::walls::RunWalls;
use super::{Behind, Leftovers, Programs};

/// How programs of one workspace are started.
pub(crate) struct Launcher {
    /// Where they are found.
    pub(crate) programs: Programs,
    /// The walls of everything that is started, for as long as this lives.
    pub(crate) walls: RunWalls,
    /// What they find in their environment besides.
    environment: Vec<(&'static str, String)>,
}

impl Launcher {
    /// For a workspace, whose path is absolute and without links.
    pub(crate) fn new(workspace: PathBuf, walls: RunWalls) -> Self {
        Self { programs: Programs { workspace, original: None }, walls, environment: Vec::new() }
    }

    /// For a copy of the workspace at `workspace`: everything that is built goes to `target`, whatever the
    /// settings of the user say. With `traces`, programs tell where they were when they panic.
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

    /// What programs find in their environment besides.
    pub(crate) fn environment(&self) -> Vec<(&str, &str)> {
        self.environment.iter().map(|(name, value)| (*name, value.as_str())).collect()
    }

    /// What becomes of processes that a program leaves: nothing works on a copy that is to be removed.
    pub(crate) fn leftovers(&self, usual: Leftovers) -> Leftovers {
        if self.programs.original.is_some() { Leftovers::End } else { usual }
    }

    /// The walls of one program.
    pub(crate) fn behind<'a>(&'a self, step: &'a StepWalls) -> Behind<'a> {
        Behind { step, run: &self.walls, write: &[] }
    }
}
