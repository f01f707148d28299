//! The commands about the inbox.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Common, EvidenceFolder, Workspace};

#[derive(Debug, Args)]
pub(in crate::cli) struct Propose {
    /// The plan file, or a file that can be opened as a plan
    pub(in crate::cli) file: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) workspace: Workspace,
    /// Who proposes it, in any words; they are shown to the person
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(in crate::cli) from: String,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum InboxCommand {
    /// List the plans that wait in the inbox, and what else is in its folder
    List(InboxOptions),
    /// Move something from the inbox into its folder `removed`
    Remove(InboxRemove),
}

impl InboxCommand {
    pub(in crate::cli) fn common(&self) -> &Common {
        match self {
            Self::List(list) => &list.common,
            Self::Remove(remove) => &remove.common,
        }
    }
}

#[derive(Debug, Args)]
pub(in crate::cli) struct InboxOptions {
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct InboxRemove {
    /// The id, its first 8 or more characters, or the name in the folder
    pub(in crate::cli) handle: String,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Mcp {
    #[command(flatten)]
    pub(in crate::cli) folder: EvidenceFolder,
}
