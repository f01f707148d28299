//! Why the evidence could not be written or read.

use std::path::PathBuf;
use std::time::Duration;

use rusqlite::ErrorCode;
use uuid::Uuid;

use crate::plan::{Code, Digest};
use crate::run::Failure;

/// How long one program waits for another one that holds the evidence, before it says so.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// Any failure of the evidence store. Whoever meets one while a run is under way stops the run: no
/// evidence, no execution (SPEC §3).
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each variant is described by its message")]
pub enum EvidenceError {
    #[error("the evidence folder or a file in it cannot be used: {source} ({path})")]
    Folder { source: std::io::Error, path: PathBuf },
    #[error("this is no file, so it is no evidence database ({path})")]
    NoFile { path: PathBuf },
    #[error("another program has held the evidence for {} seconds", PATIENCE.as_secs())]
    Locked,
    #[error("this is a database of another program, not an evidence database ({path})")]
    Foreign { path: PathBuf },
    #[error("this is no database, or a damaged one ({path})")]
    Damaged { source: rusqlite::Error, path: PathBuf },
    #[error(
        "the latest records are still in a log that cannot be read here: {source}; copy the whole \
         folder to where it can be written and look there ({path})"
    )]
    Log { source: rusqlite::Error, path: PathBuf },
    #[error(
        "the evidence was written by a newer version of this program (format {found}, known is \
         {known}); use that version ({path})"
    )]
    TooNew { found: i64, known: i64, path: PathBuf },
    #[error("the evidence database refused: {source}")]
    Database { source: rusqlite::Error },
    #[error("the key that protects secrets in the evidence cannot be used: {source} ({path})")]
    Key { source: std::io::Error, path: PathBuf },
    #[error("a rule that finds secrets cannot be compiled: {source}")]
    Rule {
        #[from]
        source: regex::Error,
    },
    #[error("the system gave no random bytes: {source}")]
    Random { source: getrandom::Error },
    #[error("authorization {authorization_id} was used by run {run_id}; authorize the plan again")]
    AuthorizationUsed { authorization_id: Uuid, run_id: Uuid },
    #[error("authorization {authorization_id} is still pending; only an answer is recorded")]
    NotDecided { authorization_id: Uuid },
    #[error("content could not be compressed, read back or encrypted: {source}")]
    Content { source: std::io::Error },
    #[error("content {digest} is encrypted, and the key it was encrypted with is not available")]
    NotAvailable { digest: Digest },
    #[error("the evidence holds something that this version cannot read: {what}")]
    Unreadable { what: String },
}

impl From<rusqlite::Error> for EvidenceError {
    fn from(source: rusqlite::Error) -> Self {
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked,
            _ => Self::Database { source },
        }
    }
}

impl EvidenceError {
    /// What to do next, as a sentence.
    pub fn next(&self) -> &'static str {
        const ANOTHER: &str = "Name another evidence folder, or move that file away.";
        const SPACE: &str = "See that the evidence folder can be written to and that its disk has \
                             space, then try again.";
        const DAMAGED: &str =
            "Keep the folder as it is, and name another one or bring back a copy.";
        match self {
            Self::NoFile { .. } | Self::Foreign { .. } => ANOTHER,
            Self::Damaged { .. } => DAMAGED,
            Self::Locked => "Close that program or wait for it, then try again.",
            Self::TooNew { .. } => "Use that version, or name another evidence folder.",
            Self::Key { .. } => "See that the key file can be read, or bring back a copy of it.",
            Self::AuthorizationUsed { .. } => "Authorize the plan again.",
            Self::Database { source } => match source.sqlite_error_code() {
                Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => DAMAGED,
                _ => SPACE,
            },
            _ => "See that the evidence folder can be read and written, then try again.",
        }
    }

    /// The error as records and screens keep it.
    pub fn failure(&self) -> Failure {
        let next = self.next().to_owned();
        Failure { code: Code::EvidenceStore, message: self.to_string(), next }
    }

    /// Whether a database file is not what SQLite wrote.
    pub(super) fn is_damage(&self) -> bool {
        let Self::Database { source } = self else { return false };
        matches!(
            source.sqlite_error_code(),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
        )
    }
}

/// The result of everything in this room.
pub type Result<T, E = EvidenceError> = std::result::Result<T, E>;
