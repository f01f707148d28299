//! The commands about the settings.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Common;
use super::evidence::OutFile;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(in crate::cli) struct Settings {
    #[command(subcommand)]
    pub(in crate::cli) command: Option<SettingsCommand>,
    #[command(flatten)]
    common: Common,
}

impl Settings {
    pub(in crate::cli) fn common(&self) -> &Common {
        match &self.command {
            None => &self.common,
            Some(SettingsCommand::Export(export)) => &export.common,
            Some(SettingsCommand::Import(import)) => &import.common,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum SettingsCommand {
    /// Write the settings for another computer, without secrets and what is about this computer
    Export(ExportSettings),
    /// Take over settings of a file; what it would change is printed first
    Import(ImportSettings),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ExportSettings {
    #[command(flatten)]
    pub(in crate::cli) out: OutFile,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ImportSettings {
    /// The file with settings
    pub(in crate::cli) file: PathBuf,
    /// Print what would change, and change nothing
    #[arg(long, conflicts_with = "yes")]
    pub(in crate::cli) dry_run: bool,
    /// Change the settings
    #[arg(long)]
    pub(in crate::cli) yes: bool,
    /// Also change this key, which weakens protection; repeat it for each one
    #[arg(long, value_name = "KEY")]
    pub(in crate::cli) weaken: Vec<String>,
    /// Leave this key as it is; repeat it for more
    #[arg(long, value_name = "KEY")]
    pub(in crate::cli) without: Vec<String>,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}
