//! The command lines of what runs a plan made from a recorded run: `continue`, `revert` and `reconcile`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

use super::{Consent, Inputs, RecordId, RunOptions};

#[derive(Debug, Args)]
pub(in crate::cli) struct Continue {
    /// The id of the run to continue, or its beginning
    pub(in crate::cli) run: RecordId,
    #[command(flatten)]
    pub(in crate::cli) again: FromRecord,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Revert {
    /// The id of the run, execution or loop to revert, or its beginning
    pub(in crate::cli) id: RecordId,
    #[command(flatten)]
    pub(in crate::cli) again: FromRecord,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("way").required(true))]
pub(in crate::cli) struct Reconcile {
    /// The id of the interrupted run, or its beginning
    pub(in crate::cli) run: RecordId,
    /// Restore the files as they were before the interrupted step
    #[arg(long, group = "way")]
    pub(in crate::cli) roll_back: bool,
    /// Write the files as the interrupted step was to write them
    #[arg(long, group = "way")]
    pub(in crate::cli) finish: bool,
    #[command(flatten)]
    pub(in crate::cli) again: FromRecord,
}

/// The options of every command that runs a plan made from a recorded run.
#[derive(Debug, Args)]
pub(in crate::cli) struct FromRecord {
    #[command(flatten)]
    pub(in crate::cli) inputs: Inputs,
    #[command(flatten)]
    pub(in crate::cli) consent: Consent,
    /// The folder the plan works in [default: the run's]
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) workspace: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) options: RunOptions,
}
