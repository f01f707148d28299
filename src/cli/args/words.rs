//! The values that options accept, as written on the command line.

use std::path::PathBuf;
use std::str::FromStr;

use clap::ValueEnum;

use crate::plan::{Destination, DestinationError, Dialect, VerifyScope};
use crate::risk::EngineChoice;

/// An engine as it is named on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum EngineWord {
    /// The external one where a codegraph.db newer than the sources is there, else the embedded one
    Auto,
    /// The built-in grammars
    Embedded,
    /// magellan's codegraph.db and the program splice
    External,
}

impl From<EngineWord> for EngineChoice {
    fn from(word: EngineWord) -> Self {
        match word {
            EngineWord::Auto => Self::Auto,
            EngineWord::Embedded => Self::Embedded,
            EngineWord::External => Self::External,
        }
    }
}

/// The value of `--target`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum TargetWord {
    /// This computer.
    Local,
    /// Another host.
    Host(Destination),
}

impl FromStr for TargetWord {
    type Err = DestinationError;

    fn from_str(text: &str) -> Result<Self, DestinationError> {
        if text == "local" { Ok(Self::Local) } else { Destination::parse(text).map(Self::Host) }
    }
}

impl TargetWord {
    /// The SSH destination; `None` for this computer.
    pub(in crate::cli) fn destination(&self) -> Option<&str> {
        match self {
            Self::Local => None,
            Self::Host(host) => Some(host.as_str()),
        }
    }
}

/// Who answers confirmations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Confirm {
    /// Run the step
    Approve,
    /// Run a step that is asked about only because it has no walls and calls for no more than caution; ask
    /// about any other on a terminal, and deny it without one
    Caution,
    /// Leave the step out and go on
    Skip,
    /// Deny the step, which ends the run
    Cancel,
    /// Ask on the terminal
    Ask,
}

/// The value of `--allow`: a grant to every step of a run beyond its walls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum AllowWord {
    /// The network of this computer.
    Network,
    /// Writing to this folder or file.
    Write(PathBuf),
}

impl FromStr for AllowWord {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            None if text == "network" => Ok(Self::Network),
            Some(("write", path)) if !path.is_empty() => Ok(Self::Write(path.into())),
            _ => Err("grant `network`, or `write=PATH` with a path".to_owned()),
        }
    }
}

/// A dialect as it is named on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(in crate::cli) enum DialectWord {
    /// Steps that name tools
    #[value(alias = "step-plan", alias = "step")]
    StepPlan,
    /// Commands of a shell
    #[value(alias = "command-plan", alias = "command")]
    CommandPlan,
    /// Actions on the program
    #[value(alias = "action-plan", alias = "action")]
    ActionPlan,
    /// What a planner is asked: no dialect of plans, but printed in the same way
    #[value(alias = "planner-request")]
    PlannerRequest,
    /// What `evidence verify --json` finds: no dialect either
    #[value(alias = "evidence-verify")]
    EvidenceVerify,
}

impl From<DialectWord> for Option<Dialect> {
    fn from(word: DialectWord) -> Self {
        match word {
            DialectWord::StepPlan => Some(Dialect::StepPlan),
            DialectWord::CommandPlan => Some(Dialect::CommandPlan),
            DialectWord::ActionPlan => Some(Dialect::ActionPlan),
            DialectWord::PlannerRequest | DialectWord::EvidenceVerify => None,
        }
    }
}

/// What a loop verifies by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum VerifyWord {
    /// The workspace's quick verification
    Local,
    /// All of it, with tests
    Full,
    /// Nothing; a completed loop then says so
    None,
}

impl From<VerifyWord> for Option<VerifyScope> {
    fn from(word: VerifyWord) -> Self {
        match word {
            VerifyWord::Local => Some(VerifyScope::Local),
            VerifyWord::Full => Some(VerifyScope::Full),
            VerifyWord::None => None,
        }
    }
}

/// A planner that ships, as it is named on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum PlannerWord {
    /// Plays the plans of a folder
    Replay,
    /// Applies what the compiler offers
    CargoFix,
    /// Asks a model behind the chat completions interface
    OpenaiCompatible,
}
