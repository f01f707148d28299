//! The commands for hooks of agents.

use clap::Args;

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
pub(in crate::cli) struct HookAnswer {
    /// The agent that makes the call: claude, codex or gemini
    #[arg(long, value_name = "AGENT")]
    pub(in crate::cli) agent: AgentWord,
    /// How long to wait for a person, in seconds; must be less than the agent waits for the hook [default: nine
    /// tenths of what the agent waits by default: 540, for gemini 54]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(in crate::cli) timeout: Option<u64>,
    /// The agent runs commands without a sandbox of its own, so that `exec` reaches the window. Only Codex needs it:
    /// from its sandbox nothing can connect, and without this flag its commands wait in the inbox
    #[arg(long)]
    pub(in crate::cli) unsandboxed: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Exec {
    /// The ticket, which the hook gave the agent
    pub(in crate::cli) ticket: String,
}
