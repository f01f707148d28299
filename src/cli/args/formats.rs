//! The commands that print plans and schemas in another form, what is known of a command, and of this computer.

use std::path::PathBuf;

use clap::Args;

use super::{Common, DialectWord, InputWord, Workspace};

#[derive(Debug, Args)]
pub(in crate::cli) struct Convert {
    /// The file
    pub(in crate::cli) file: PathBuf,
    /// Print the plan with a value of an input; the others stay as they are
    #[arg(long, value_name = "NAME=VALUE")]
    pub(in crate::cli) input: Vec<InputWord>,
    #[command(flatten)]
    pub(in crate::cli) workspace: Workspace,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Schema {
    /// The dialect
    #[arg(value_enum, default_value = "step_plan")]
    pub(in crate::cli) dialect: DialectWord,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Explain {
    /// A code (E204), tool, precondition, rule, exit code or word; without it, all names are listed
    pub(in crate::cli) name: Vec<String>,
    /// Print every entry that contains these words
    #[arg(long, requires = "name")]
    pub(in crate::cli) search: bool,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Risk {
    /// Read commands from stdin, one per line, and print one verdict per line
    #[arg(long, conflicts_with = "command")]
    pub(in crate::cli) stdin: bool,
    /// The command line as one word, or the words of one command
    #[arg(required_unless_present = "stdin", last = true)]
    pub(in crate::cli) command: Vec<String>,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Doctor {
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}
