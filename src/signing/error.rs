//! Why something was not signed, or could not be verified.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::plan::Code;
use crate::run::{Failure, text};

/// Why there is no signature. Nothing that needs it is done then.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each variant is described by its message")]
pub enum SigningError {
    #[error("there is no ssh-keygen on PATH outside the workspace")]
    NoProgram,
    #[error("ssh-keygen cannot be started: {0}")]
    NotStarted(#[source] io::Error),
    #[error("the key that signs is not there ({path})")]
    NoKey { path: PathBuf },
    #[error("a file for ssh-keygen cannot be used: {source} ({path})")]
    File { source: io::Error, path: PathBuf },
    #[error("the signature was refused: the passphrase was not given")]
    Declined,
    #[error("it was stopped before it was signed")]
    Stopped,
    #[error("ssh-keygen did not finish within {}", text::duration(*after))]
    TimedOut { after: Duration },
    #[error("ssh-keygen was ended by signal {signal}")]
    Killed { signal: i32 },
    #[error("ssh-keygen refused: {messages}")]
    Refused { messages: String },
    #[error("what ssh-keygen printed is no signature of this document: {why}")]
    NoSignature { why: String },
}

impl SigningError {
    /// What the person can do.
    pub const fn next(&self) -> &'static str {
        match self {
            Self::NoProgram | Self::NotStarted(_) => {
                "Install OpenSSH, or take `sign` out of the table [signatures] of the settings."
            }
            Self::NoKey { .. } => "Correct `key` in the table [signatures] of the settings.",
            Self::Declined | Self::Stopped => "Authorize the plan again, and give the passphrase.",
            Self::TimedOut { .. } => {
                "See that the agent answers and the hardware key is there, then authorize the plan again."
            }
            _ => "See that the key can be used with `ssh-keygen -Y sign`, then try again.",
        }
    }

    /// The error as it is shown.
    pub fn failure(&self) -> Failure {
        let message = format!("nothing was signed: {self}");
        Failure { code: Code::NotAuthorized, message, next: self.next().to_owned() }
    }
}
