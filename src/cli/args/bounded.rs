//! The command line of `loop`.

use std::path::PathBuf;

use clap::Args;
use uuid::Uuid;

use super::words::{LooksWord, PlannerWord, TargetWord, VerifyWord};
use super::{Confirm, RunOptions};
use crate::plan::Digest;

/// What a planner may do, and how often it is asked.
#[derive(Debug, Args)]
pub(in crate::cli) struct Planning {
    /// The maximum number of attempts
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(in crate::cli) max_attempts: u32,
    /// What the planner may look at before it plans. What it sees, without secrets, may leave this computer: a model
    /// runs where its server is
    #[arg(long, value_enum, value_name = "WHAT", default_value = "workspace")]
    pub(in crate::cli) looks: LooksWord,
    /// The host of the goal, an SSH destination: the planner is told its system and programs, and its commands run there
    #[arg(long, value_name = "HOST")]
    pub(in crate::cli) target: Option<TargetWord>,
    /// Let the planner use the network; [planners.NAME] in the settings gives it other permissions
    #[arg(long)]
    pub(in crate::cli) planner_network: bool,
    /// How long the planner may take for one answer, in seconds [default: 120; 600 for codex, claude and gemini]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub(in crate::cli) planner_timeout: Option<u32>,
    /// The folder the plans work in [default: the current folder or the nearest one above it with a Cargo.toml
    /// or .git, else the current folder]
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) workspace: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) options: RunOptions,
}

#[derive(Debug, Args)]
#[command(after_help = PLANNERS)]
pub(in crate::cli) struct Plan {
    /// The goal, in words for the planner
    pub(in crate::cli) goal: String,
    /// The planner that makes the plan: a command, or one of the planners listed below
    #[arg(long, value_name = "CMD")]
    pub(in crate::cli) planner: String,
    #[command(flatten)]
    pub(in crate::cli) planning: Planning,
}

#[derive(Debug, Args)]
#[command(after_help = PLANNERS)]
pub(in crate::cli) struct Loop {
    /// The goal, in words for the planner
    #[arg(long, value_name = "TEXT", required_unless_present = "revoke_class")]
    pub(in crate::cli) goal: Option<String>,
    /// The planner that makes the plans: a command, or one of the planners listed below
    #[arg(long, value_name = "CMD", required_unless_present = "revoke_class")]
    pub(in crate::cli) planner: Option<String>,
    /// Authorize the plans inside the class of plans that this file describes
    #[arg(long, value_name = "FILE", conflicts_with = "yes")]
    pub(in crate::cli) authorize_class: Option<PathBuf>,
    /// Authorize the plan of every attempt; this confirms no step
    #[arg(long)]
    pub(in crate::cli) yes: bool,
    /// What the loop verifies after an attempt, unless the plan verified it [default: local; none with --target]
    #[arg(long, value_enum)]
    pub(in crate::cli) verify: Option<VerifyWord>,
    /// Trust the commands of the workspace's countersign.toml if this is its digest, as the loop
    /// printed it
    #[arg(long, value_name = "DIGEST")]
    pub(in crate::cli) trust_commands: Option<Digest>,
    /// How to answer steps that ask for a confirmation; `approve` approves dangerous ones too, `caution` those
    /// that ask only because they have no walls [default: ask on a terminal, else cancel]
    #[arg(long, value_enum)]
    pub(in crate::cli) confirm: Option<Confirm>,
    /// Revoke the authorization class with this id, which its loop printed; no loop is started
    #[arg(long, value_name = "ID", conflicts_with_all = ["goal", "planner", "authorize_class", "yes"])]
    pub(in crate::cli) revoke_class: Option<Uuid>,
    #[command(flatten)]
    pub(in crate::cli) planning: Planning,
}

const PLANNERS: &str = "\
Planners that are built in:
  replay:DIR          proposes the plans of a folder, in the order of their names
  cargo-fix           applies the suggestions of the compiler; to find them it runs `cargo check`, with the
                      build scripts of the project, before any plan is authorized
  openai-compatible   asks a server with the chat completions interface
  codex, claude, gemini
                      lets your own agent plan, in its read-only mode; codex:MODEL for another model. What it
                      reads goes to its server
Any other is a command: it reads a request on its input (see `countersign schema planner_request`)
and prints one plan, or what it wants to look at first.";

#[derive(Debug, Args)]
pub(in crate::cli) struct Planner {
    /// The planner
    #[arg(value_enum)]
    pub(in crate::cli) name: PlannerWord,
    /// The folder with the plans, for `replay`; the model, for an agent
    pub(in crate::cli) argument: Option<String>,
}
