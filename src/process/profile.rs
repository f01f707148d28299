//! The kind of a program, which decides whether it runs behind walls (SPEC §7.5). There is no default: every
//! caller chooses one.

use std::path::PathBuf;

use super::walls::RunWalls;
use crate::authorization::{StepWalls, WallLevel};

/// The kind of a program.
#[derive(Clone, Copy)]
pub(crate) enum Profile<'a> {
    /// A command of a plan step.
    Step(Behind<'a>),
    /// A build, a check, or a program that was built.
    Build(Behind<'a>),
    /// A planner.
    Planner(Behind<'a>),
    /// An agent that uses tools of its own.
    #[expect(dead_code, reason = "nothing starts an agent yet; its walls are those of a planner")]
    Agent(Behind<'a>),
    /// A client program of the person that connects to another host: no walls.
    Client,
    /// A program of the person that runs independently of this one: no walls.
    Beside,
}

/// The walls that one program gets.
#[derive(Clone, Copy)]
pub(crate) struct Behind<'a> {
    /// The walls that the person approved for this step.
    pub(crate) step: &'a StepWalls,
    /// The walls that all steps of the run share.
    pub(crate) run: &'a RunWalls,
    /// More folders that this program may write to.
    pub(crate) write: &'a [PathBuf],
}

impl<'a> Profile<'a> {
    /// The walls of this program; `None` when it runs without walls.
    pub(super) fn walls(self) -> Option<Behind<'a>> {
        match self {
            Self::Step(behind)
            | Self::Build(behind)
            | Self::Planner(behind)
            | Self::Agent(behind) => Some(behind).filter(Behind::are_wanted),
            Self::Client | Self::Beside => None,
        }
    }
}

impl Behind<'_> {
    fn are_wanted(&self) -> bool {
        !self.step.open && self.step.level != WallLevel::None
    }
}
