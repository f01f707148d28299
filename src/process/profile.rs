//! The kind of a program, which decides whether it runs behind walls (SPEC §7.5). There is no default: every
//! caller chooses one.

use std::path::PathBuf;

use super::walls::RunWalls;
use crate::authorization::{StepWalls, WallLevel};

/// The kind of a program, and the walls of the kinds that have some.
#[derive(Clone, Copy)]
pub(crate) enum Profile<'a> {
    /// A command of a plan step.
    Step(ProgramWalls<'a>),
    /// A build, a check, or a program that was built.
    Build(ProgramWalls<'a>),
    /// A planner.
    Planner(ProgramWalls<'a>),
    /// An agent that uses tools of its own.
    Agent(ProgramWalls<'a>),
    /// A client program of the person that connects to another host: no walls.
    Client,
    /// A program of the person that runs independently of Countersign: no walls.
    Detached,
}

/// The walls that one program gets.
#[derive(Clone, Copy)]
pub(crate) struct ProgramWalls<'a> {
    /// The walls that the person approved for this step.
    pub(crate) step: &'a StepWalls,
    /// The walls that all steps of the run share.
    pub(crate) run: &'a RunWalls,
    /// More folders that this program may write to.
    pub(crate) write: &'a [PathBuf],
}

impl<'a> Profile<'a> {
    /// The walls of this program; `None` when it runs without walls.
    pub(super) fn walls(self) -> Option<ProgramWalls<'a>> {
        match self {
            Self::Step(walls) | Self::Build(walls) | Self::Planner(walls) | Self::Agent(walls) => {
                Some(walls).filter(|it| !it.step.open && it.step.level != WallLevel::None)
            }
            Self::Client | Self::Detached => None,
        }
    }
}
