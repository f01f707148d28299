//! The command line of `loop`.

use std::path::PathBuf;

use clap::Args;
use uuid::Uuid;

use super::RunOptions;
use super::words::{Confirm, VerifyWord};
use crate::plan::Digest;

#[derive(Debug, Args)]
#[command(after_help = PLANNERS)]
pub(in crate::cli) struct Loop {
    /// What is to be reached, in words for the planner
    #[arg(long, value_name = "TEXT", required_unless_present = "revoke_class")]
    pub(in crate::cli) goal: Option<String>,
    /// Who makes the plans: a command, or one of those below
    #[arg(long, value_name = "CMD", required_unless_present = "revoke_class")]
    pub(in crate::cli) planner: Option<String>,
    /// How often the planner is asked at most
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(in crate::cli) max_attempts: u32,
    /// Authorize the plans that are inside this class of plans
    #[arg(long, value_name = "FILE", conflicts_with = "yes")]
    pub(in crate::cli) authorize_class: Option<PathBuf>,
    /// Authorize the plan of every attempt; answers no confirmation
    #[arg(long)]
    pub(in crate::cli) yes: bool,
    /// What is verified after an attempt whose plan did not verify
    #[arg(long, value_enum, default_value = "local")]
    pub(in crate::cli) verify: VerifyWord,
    /// Trust the commands of the workspace's countersign.toml if this is its digest, as the loop
    /// printed it
    #[arg(long, value_name = "DIGEST")]
    pub(in crate::cli) trust_commands: Option<Digest>,
    /// Let the planner reach the network; the settings say what else it may, as [planners.NAME]
    #[arg(long)]
    pub(in crate::cli) planner_network: bool,
    /// How long the planner may take for one answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub(in crate::cli) planner_timeout: u32,
    /// How steps that need a confirmation are answered; `approve` also answers dangerous ones, `caution` those
    /// that ask only because they have no walls [default: ask on a terminal, else cancel]
    #[arg(long, value_enum)]
    pub(in crate::cli) confirm: Option<Confirm>,
    /// The folder the plans work in [default: the nearest folder from here up with a Cargo.toml or .git,
    /// else this one]
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) workspace: Option<PathBuf>,
    /// Take an authorization class back, by the id that its loop told; no loop is started
    #[arg(long, value_name = "ID", conflicts_with_all = ["goal", "planner", "authorize_class", "yes"])]
    pub(in crate::cli) revoke_class: Option<Uuid>,
    #[command(flatten)]
    pub(in crate::cli) options: RunOptions,
}

const PLANNERS: &str = "\
Planners that are built in:
  replay:DIR          plays the plans of a folder in order
  cargo-fix           applies the suggestions of the compiler; to find them it runs `cargo check`, with the
                      build scripts of the project, before any plan is authorized
  openai-compatible   asks a server with the chat completions interface
Any other is a command: it reads a request on its input (see `countersign schema planner_request`)
and prints one plan.";
