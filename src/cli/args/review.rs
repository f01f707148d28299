//! The command lines of a second person's signature: `review-request`, `review` and `sign`.

use std::path::PathBuf;

use clap::Args;

use super::evidence::OutFile;
use super::{Check, Common};

#[derive(Debug, Args)]
pub(in crate::cli) struct ReviewRequest {
    #[command(flatten)]
    pub(in crate::cli) check: Check,
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
    /// Refuse the plan, with these words for the person who asks
    #[arg(long, value_name = "WORDS", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(in crate::cli) refuse: Option<String>,
    /// The key, or a public key whose private half is in the agent or in hardware [default: that of the settings]
    #[arg(long, value_name = "FILE", requires = "principal")]
    pub(in crate::cli) key: Option<PathBuf>,
    /// Who signs, as lists of allowed signers name you [default: that of the settings]
    #[arg(long, value_name = "NAME", requires = "key")]
    pub(in crate::cli) principal: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) out: OutFile,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}
