//! The command line of `acp`.

use std::path::PathBuf;

use clap::Args;

use super::{Confirm, RunOptions};

#[derive(Debug, Args)]
#[command(after_help = AGENTS)]
pub(in crate::cli) struct Acp {
    /// What the agent is asked to do
    #[arg(long, value_name = "TEXT", required_unless_present = "prompt_file")]
    pub(in crate::cli) prompt: Option<String>,
    /// The file with what the agent is asked to do
    #[arg(long, value_name = "FILE", conflicts_with = "prompt")]
    pub(in crate::cli) prompt_file: Option<PathBuf>,
    /// How to answer the agent's questions; `approve` approves dangerous ones too, `skip` rejects what it asks for, and
    /// `cancel` also ends its turn [default: ask on a terminal, else cancel]
    #[arg(long, value_enum)]
    pub(in crate::cli) confirm: Option<Confirm>,
    /// The folder the agent works in [default: the current folder or the nearest one above it with a Cargo.toml
    /// or .git, else the current folder]
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) workspace: Option<PathBuf>,
    /// End the agent if it sends nothing for this long, in seconds; 0 waits without limit [default: 1800]
    #[arg(long, value_name = "SECONDS")]
    pub(in crate::cli) silence: Option<u64>,
    #[command(flatten)]
    pub(in crate::cli) options: RunOptions,
    /// The command that starts the agent; everything after it is the agent's own
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    pub(in crate::cli) command: Vec<String>,
}

const AGENTS: &str = "\
Known commands: gemini --acp, opencode acp, qwen --acp, copilot --acp. For example:
  countersign acp --prompt 'mend the tests' gemini --acp

The agent reads the workspace and cannot write it. Each change that it wants to make is shown first, and
what is approved is written by Countersign. What the agent reads may go to the server of its model.";
