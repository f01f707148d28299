//! `revise`: the command that prints a person's revision of a plan.

use std::path::PathBuf;

use clap::Args;

use super::{Common, InputWord, Workspace};

#[derive(Debug, Args)]
pub(in crate::cli) struct Revise {
    /// The plan file
    pub(in crate::cli) plan: PathBuf,
    /// Give an argument of a step this value; STEP is its id, or its number from 1. What is no text in the plan is JSON
    #[arg(long, value_name = "STEP.ARGUMENT=VALUE")]
    pub(in crate::cli) set: Vec<String>,
    /// As --set, with the content of a file
    #[arg(long, value_name = "STEP.ARGUMENT=FILE")]
    pub(in crate::cli) set_file: Vec<String>,
    /// Give an input of the plan this value
    #[arg(long, value_name = "NAME=VALUE")]
    pub(in crate::cli) input: Vec<InputWord>,
    /// Take an argument of a step away
    #[arg(long, value_name = "STEP.ARGUMENT")]
    pub(in crate::cli) unset: Vec<String>,
    /// Leave a step out, with those that need it
    #[arg(long, value_name = "STEP")]
    pub(in crate::cli) leave_out: Vec<String>,
    /// Keep only these hunks of what a step changes, counted from 1 through its files as `simulate` shows them
    #[arg(long, value_name = "STEP=1,3,…")]
    pub(in crate::cli) hunks: Vec<String>,
    /// Write the plan to this new file instead of stdout
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) out: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) workspace: Workspace,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}
