//! Replaces the walls on systems where they are not supported yet.

use std::ffi::OsString;
use std::io;
use std::process::{Command, ExitCode, ExitStatus};
use std::time::Duration;

use super::super::Program;
use super::{WallProbe, WallReport};
use crate::authorization::WallLevel;

/// Empty: no state lasts for a run.
#[derive(Debug, Default)]
pub(super) struct State;

impl State {
    pub(super) fn end(&self) -> Vec<String> {
        Vec::new()
    }
}

impl WallProbe {
    /// Always the level *none*.
    pub fn of_this_computer() -> &'static Self {
        static FOUND: std::sync::LazyLock<WallProbe> = std::sync::LazyLock::new(|| WallProbe {
            level: WallLevel::None,
            why_not_better: Some("there are no walls on this system yet".to_owned()),
        });
        &FOUND
    }
}

/// Always `None`: there is no helper here.
pub fn start_helper(_: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    None
}

/// A walled program. It has no values, because no program can run behind walls here.
pub(in crate::process) enum Walled {}

impl Walled {
    /// Refuses to start a program that needs walls.
    pub(in crate::process) fn of(program: &Program<'_>, _: &str) -> io::Result<Option<Self>> {
        match program.profile.walls() {
            None => Ok(None),
            Some(_) => Err(io::Error::other("there are no walls on this system yet")),
        }
    }

    pub(in crate::process) fn command(&mut self) -> Command {
        match *self {}
    }

    pub(in crate::process) fn wait_until_started(&mut self, _: Duration) -> io::Result<()> {
        match *self {}
    }

    pub(in crate::process) fn new_session(&mut self, _: &mut Command) {
        match *self {}
    }

    pub(in crate::process) fn status(&self, _: Option<ExitStatus>) -> Option<ExitStatus> {
        match *self {}
    }

    pub(in crate::process) fn report(&self) -> WallReport {
        match *self {}
    }
}
