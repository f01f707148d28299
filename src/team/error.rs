//! Errors of a team's server.

use std::io;
use std::path::PathBuf;

use crate::evidence::EvidenceError;
use crate::plan::Code;
use crate::run::Failure;

/// Why the evidence of a team cannot be used. No message has a password.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each variant is described by its message")]
pub enum TeamError {
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
    #[error("the address of the team's server cannot be used: {0}")]
    Address(String),
    #[error("the server {server} cannot be reached: {source}")]
    Unreachable { server: String, source: io::Error },
    #[error("the server {server} did not answer within {seconds} s")]
    Silent { server: String, seconds: u64 },
    #[error("nobody waits for the server any more")]
    Stopped,
    #[error("the connection to the server broke: {0}")]
    Broken(io::Error),
    #[error("the server does not encrypt the connection, and sslmode={0} demands it")]
    NotEncrypted(&'static str),
    #[error("the connection to the server cannot be encrypted: {0}")]
    Tls(String),
    #[error("the server demands a password, and none is given")]
    NoPassword,
    #[error("the server wants the password in clear, and the connection is not encrypted")]
    ClearPassword,
    #[error("the server wants a login by {0}, which is not supported")]
    Login(&'static str),
    #[error("the file with passwords cannot be used: {0}")]
    PasswordFile(String),
    #[error("{} cannot be read: {source}", path.display())]
    Certificate { path: PathBuf, source: io::Error },
    #[error("the server refused this: {message}")]
    Refused { state: String, constraint: String, message: String },
    #[error("the server's answer cannot be understood: {0}")]
    Answer(String),
    #[error("the database is not made ready for the evidence of a team")]
    NotReady,
    #[error("the database is made ready for another version of this program: format {0}")]
    Format(i64),
    #[error("the server has records of another login under the name of this evidence, {0}")]
    OfOthers(String),
    #[error("the server has another history: {0}")]
    AnotherHistory(String),
}

impl TeamError {
    /// The failure for the person.
    pub fn failure(&self) -> Failure {
        let next = match self {
            Self::Evidence(error) => return error.failure(),
            Self::Address(_) => {
                "Name it as postgres://USER@HOST:PORT/DATABASE; `docs/team.md` has the parameters."
            }
            Self::Unreachable { .. } | Self::Silent { .. } | Self::Broken(_) => {
                "See that the server runs and can be reached, then try again."
            }
            Self::Stopped => "",
            Self::NotEncrypted(_) | Self::Tls(_) | Self::Certificate { .. } => {
                "See to the server's certificate, or choose another sslmode: disable, prefer, require or verify-full."
            }
            Self::NoPassword | Self::PasswordFile(_) => {
                "Set PGPASSWORD, or write the password into ~/.pgpass, which only you may read."
            }
            Self::ClearPassword => "Demand an encrypted connection with sslmode=verify-full.",
            Self::Login(_) => "Let the server use scram-sha-256 for this user.",
            Self::Refused { state, .. } => next_of_state(state),
            Self::Answer(_) => "See that this is a PostgreSQL server.",
            Self::NotReady => {
                "Run `countersign evidence push --setup | psql DATABASE` as the owner of the database."
            }
            Self::Format(_) => {
                "Use the same version of this program everywhere, and run `evidence push --setup` anew."
            }
            Self::OfOthers(_) => {
                "Nothing was pushed. The column `pushed_by` of `countersign.ledger` says whose they are. If they are of this computer, let the \
                 owner of the database insert this login into `countersign.origin_roles`; else somebody has taken the name."
            }
            Self::AnotherHistory(_) => {
                "Nothing was pushed. Find out which evidence is the right one: `evidence verify` checks that here, `evidence \
                 verify --team` that of the server."
            }
        };
        let code = match self {
            Self::Unreachable { .. } | Self::Broken(_) => Code::HostUnreachable,
            Self::Silent { .. } => Code::TimedOut,
            Self::Stopped => Code::Cancelled,
            _ => Code::EvidenceStore,
        };
        Failure { code, message: self.to_string(), next: next.to_owned() }
    }

    /// Whether the evidence is not what it should be, in contrast to a server that cannot be used.
    pub fn is_about_evidence(&self) -> bool {
        match self {
            Self::AnotherHistory(_) => true,
            Self::Evidence(error) => matches!(error, EvidenceError::Unsound { .. }),
            Self::Refused { constraint, .. } => constraint == "continues_chain",
            _ => false,
        }
    }
}

/// What to do after this SQLSTATE.
fn next_of_state(state: &str) -> &'static str {
    match state {
        // No such database; wrong user or password.
        "3D000" | "28P01" | "28000" => {
            "See that the user, the password and the database are right."
        }
        // Not allowed.
        "42501" => {
            "Ask the owner of the database for the role countersign_writer to push, or countersign_reader to read."
        }
        // What was waited for is locked.
        "55P03" => {
            "Another login holds what is needed. Try again, or ask the owner of the database who that is: `pg_stat_activity` lists \
             open transactions."
        }
        "57014" => {
            "The server stopped it: narrow the search, or raise the server's statement_timeout."
        }
        _ => "",
    }
}

/// The result type of this room.
pub(super) type Result<T, E = TeamError> = std::result::Result<T, E>;
