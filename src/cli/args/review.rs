//! The command lines of a second person's signature: `review-request`, `review` and `sign`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::evidence::OutFile;
use super::{Check, Common};
use crate::engine::FollowUp;
use crate::plan::Digest;
use crate::run::SettleMode;

/// A command that makes a plan from a recorded run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum FollowUpWord {
    /// `continue RUN`
    Continue,
    /// `revert RUN`, also of an execution or a loop
    Revert,
    /// `reconcile RUN --roll-back`
    RollBack,
    /// `reconcile RUN --finish`
    Finish,
}

impl From<FollowUpWord> for FollowUp {
    fn from(word: FollowUpWord) -> Self {
        match word {
            FollowUpWord::Continue => Self::Continue,
            FollowUpWord::Revert => Self::Revert,
            FollowUpWord::RollBack => Self::Settle(SettleMode::RollBack),
            FollowUpWord::Finish => Self::Settle(SettleMode::Finish),
        }
    }
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ReviewRequest {
    #[command(flatten)]
    pub(in crate::cli) check: Check,
    /// Make the plan from the recorded run with the id PLAN, as this command makes it
    #[arg(long, value_enum, value_name = "COMMAND")]
    pub(in crate::cli) follow_up: Option<FollowUpWord>,
    #[command(flatten)]
    pub(in crate::cli) out: OutFile,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Review {
    /// The request, as `review-request` wrote it
    pub(in crate::cli) request: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct SignReview {
    /// The request, as `review-request` wrote it
    pub(in crate::cli) request: PathBuf,
    /// Only if the file of the request has this digest, as `review` printed it
    #[arg(long, value_name = "DIGEST")]
    pub(in crate::cli) digest: Option<Digest>,
    /// Refuse the plan, with these words for the person who asks
    #[arg(long, value_name = "WORDS", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(in crate::cli) refuse: Option<String>,
    /// The key, or a public key whose private half is in the agent or in hardware; with --principal
    /// [default: that of the settings]
    #[arg(long, value_name = "FILE", requires = "principal")]
    pub(in crate::cli) key: Option<PathBuf>,
    /// Who signs, as lists of allowed signers name you; with --key [default: that of the settings]
    #[arg(long, value_name = "NAME", requires = "key")]
    pub(in crate::cli) principal: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) out: OutFile,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}
