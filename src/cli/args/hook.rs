//! The commands for hooks of agents.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Common;
use crate::hooks::Agent;

/// An agent on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) struct AgentWord(pub(in crate::cli) Agent);

impl std::str::FromStr for AgentWord {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        Agent::from_word(word).map(Self).ok_or_else(|| {
            let words: Vec<_> = Agent::ALL.iter().map(|agent| agent.as_str()).collect();
            format!("known agents are {}", words.join(", "))
        })
    }
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(in crate::cli) struct Hook {
    #[command(subcommand)]
    pub(in crate::cli) action: Option<HookAction>,
    #[command(flatten)]
    pub(in crate::cli) answer: HookAnswer,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct HookAnswer {
    /// The agent that makes the call: claude, codex or gemini
    #[arg(long, value_name = "AGENT", required = true)]
    pub(in crate::cli) agent: Option<AgentWord>,
    /// How long to wait for a person, in seconds; must be less than the agent waits for the hook [default: nine
    /// tenths of what the agent waits by default: 540, for gemini 54]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(in crate::cli) timeout: Option<u64>,
    /// Codex runs commands without its sandbox, so that `exec` reaches the window. From its sandbox nothing can
    /// connect, and without this flag its commands wait in the inbox
    #[arg(long)]
    pub(in crate::cli) unsandboxed: bool,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum HookAction {
    /// Add the hook to the settings of an agent; everything else in them stays
    Install(HookInstall),
    /// Remove the hook from the settings of an agent
    Remove(HookPlace),
    /// Prove by a denied call that the hook fires
    Doctor(HookPlace),
}

impl HookAction {
    pub(in crate::cli) fn common(&self) -> &Common {
        match self {
            Self::Install(install) => &install.place.common,
            Self::Remove(place) | Self::Doctor(place) => &place.common,
        }
    }
}

/// Whose settings.
#[derive(Debug, Args)]
pub(in crate::cli) struct HookPlace {
    /// The agent: claude, codex or gemini
    #[arg(long, value_name = "AGENT")]
    pub(in crate::cli) agent: AgentWord,
    /// The settings of the project in this folder
    #[arg(long, value_name = "DIR", conflicts_with = "user")]
    pub(in crate::cli) project: Option<PathBuf>,
    /// The user's own settings [default]
    #[arg(long)]
    user: bool,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct HookInstall {
    #[command(flatten)]
    pub(in crate::cli) place: HookPlace,
    /// How long the hook waits for a person, in seconds; the agent is told to wait a minute longer [default: 540]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(in crate::cli) timeout: Option<u64>,
    /// Codex runs commands without its sandbox, so that `exec` reaches the window
    #[arg(long)]
    pub(in crate::cli) unsandboxed: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Exec {
    /// The ticket, which the hook gave the agent
    pub(in crate::cli) ticket: String,
}
