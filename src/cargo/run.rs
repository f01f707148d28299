//! Runs cargo in a project.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{OUTPUT_BYTES, Project};
use crate::authorization::StepWalls;
use crate::plan::Code;
use crate::process;
use crate::process::{Finished, Launcher, Leftovers, ProcessError, Profile, Program};
use crate::run::{StopSignal, Stream};
use crate::workspace::Workspace;

/// Time limit of commands of cargo that only read manifests.
pub(crate) const LOCATE_TIMEOUT: Duration = Duration::from_secs(60);

/// The user's cargo for one step.
#[derive(Clone, Copy)]
pub(crate) struct Cargo<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) launcher: &'a Launcher,
    /// The time limit of a check.
    pub(crate) check_timeout: Duration,
    /// The walls approved for the step.
    pub(crate) walls: &'a StepWalls,
    /// Set when a person requests *Stop now*.
    pub(crate) stop: &'a StopSignal,
    /// Receives output as text while it is printed.
    pub(crate) output: &'a dyn Fn(Stream, &str),
}

impl Cargo<'_> {
    /// Runs cargo and waits until it ends.
    ///
    /// # Errors
    /// When cargo is missing or cannot be started.
    pub(crate) fn run(
        &self,
        project: &Project,
        arguments: &[&str],
        (timeout, leftovers): (Duration, Leftovers),
    ) -> Result<Finished, ProcessError> {
        let program = self.launcher.cargo()?;
        let program = Program {
            profile: Profile::Build(self.launcher.walls_for(self.walls)),
            program: OsStr::new(&program),
            arguments,
            input: None,
            folder: &project.folder,
            environment: &self.launcher.environment(),
            unset: &[],
            leftovers: self.launcher.leftovers(leftovers),
            timeout,
            output_limit: OUTPUT_BYTES,
        };
        let failed = ProcessError::not_started("cargo", Code::CargoCheck);
        process::run(&program, self.stop, self.output).map_err(failed)
    }

    /// As [`Self::run`], without streaming the output and with [`LOCATE_TIMEOUT`] as the time limit.
    pub(crate) fn run_quietly(
        &self,
        project: &Project,
        arguments: &[&str],
        leftovers: Leftovers,
    ) -> Result<Finished, ProcessError> {
        let quiet = Cargo { output: &|_, _| {}, ..*self };
        quiet.run(project, arguments, (LOCATE_TIMEOUT, leftovers))
    }

    /// The folder to which relative file names in cargo's messages refer; `None` if cargo does not report
    /// it.
    pub(crate) fn root_of(&self, project: &Project) -> Option<PathBuf> {
        if project.is_workspace {
            return Some(project.folder.clone());
        }
        let arguments = ["locate-project", "--workspace", "--message-format=plain"];
        let found = self.run_quietly(project, &arguments, Leftovers::Stay).ok()?;
        let manifest = std::str::from_utf8(&found.stdout).ok()?;
        let manifest = manifest.trim_end_matches(['\r', '\n']);
        Path::new(manifest).parent().filter(|root| root.is_absolute()).map(Into::into)
    }
}

impl Launcher {
    /// The absolute path of the user's cargo. Relative folders in `PATH` are skipped, because they would
    /// refer to the workspace.
    pub(crate) fn cargo(&self) -> Result<PathBuf, ProcessError> {
        self.programs.find("cargo").ok_or_else(|| ProcessError::Missing {
            program: "cargo",
            place: self.programs.where_searched("cargo"),
            code: Code::CargoCheck,
        })
    }
}
