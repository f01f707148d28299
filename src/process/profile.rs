//! What a program is started as (SPEC §7.5). There is no default: every start says it.

use std::path::PathBuf;

use super::walls::RunWalls;
use crate::authorization::{StepWalls, WallLevel};

/// What a program is started as.
#[derive(Clone, Copy)]
pub(crate) enum Profile<'a> {
    /// A command of a plan.
    Step(Behind<'a>),
    /// A build, a check, and what was built.
    Build(Behind<'a>),
    /// A planner.
    Planner(Behind<'a>),
    /// An agent that uses tools of its own.
    #[expect(dead_code, reason = "nothing starts an agent yet; its walls are those of a planner")]
    Agent(Behind<'a>),
    /// A client of the person that reaches another host: no walls.
    Client,
    /// A program of the person beside this one: no walls.
    Beside,
}

/// The walls that a program gets.
#[derive(Clone, Copy)]
pub(crate) struct Behind<'a> {
    /// What was approved.
    pub(crate) step: &'a StepWalls,
    /// What all steps of a run share.
    pub(crate) run: &'a RunWalls,
    /// Folders of this program in which it writes besides.
    pub(crate) write: &'a [PathBuf],
}

impl<'a> Profile<'a> {
    /// The walls to put it behind; none for a program that has none.
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
