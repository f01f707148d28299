//! The command line of signatures with SSH keys: `evidence sign` and `evidence verify-signature`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use super::super::Common;
use super::super::record_id::RecordId;

/// What is signed, or whose signatures are checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Subject {
    /// The head of the evidence.
    Head,
    /// A run, or an authorization.
    Record(RecordId),
}

impl FromStr for Subject {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "head" => Ok(Self::Head),
            id => Ok(Self::Record(id.parse()?)),
        }
    }
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Sign {
    /// `head`, for the state of all records, or the run whose end is signed
    #[arg(value_name = "RUN", default_value = "head")]
    pub(in crate::cli) subject: Subject,
    /// The key, or a public key whose private half is in the agent or in hardware [default: that of the settings]
    #[arg(long, value_name = "FILE", requires = "principal")]
    pub(in crate::cli) key: Option<PathBuf>,
    /// Who signs, as lists of allowed signers name you [default: that of the settings]
    #[arg(long, value_name = "NAME", requires = "key")]
    pub(in crate::cli) principal: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct VerifySignature {
    /// A run (its authorization and its end), an authorization by its whole id, or `head` (the latest signed head)
    #[arg(value_name = "RUN|AUTHORIZATION|head", required_unless_present = "all")]
    pub(in crate::cli) subject: Option<Subject>,
    /// All signatures in the evidence, and what is not signed although others are
    #[arg(long, conflicts_with = "subject")]
    pub(in crate::cli) all: bool,
    /// Who may sign with which key: a list as `ssh-keygen -Y verify` takes it
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) allowed_signers: PathBuf,
    /// Keys that do not count any more: public keys, or a list that `ssh-keygen -k` made
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) revoked: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}
