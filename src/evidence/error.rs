//! Why the evidence could not be written or read.

use std::path::PathBuf;

use uuid::Uuid;

use crate::plan::Digest;

/// Any failure of the evidence store. Whoever meets one while a run is under way stops the run: no
/// evidence, no execution (SPEC §3).
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each variant is described by its message")]
pub enum EvidenceError {
    #[error("the evidence folder or a file in it cannot be used: {source} ({path})")]
    Folder { source: std::io::Error, path: PathBuf },
    #[error("this is a folder, not an evidence database ({path})")]
    IsFolder { path: PathBuf },
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
    #[error(
        "the evidence is of an older format ({found}, known is {known}); a run or an authorization \
         brings it up to date, after a backup ({path})"
    )]
    TooOld { found: i64, known: i64, path: PathBuf },
    #[error("the evidence database refused: {source}")]
    Database {
        #[from]
        source: rusqlite::Error,
    },
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

impl EvidenceError {
    /// Whether a database file is not what SQLite wrote.
    pub(super) fn is_damage(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        let Self::Database { source } = self else { return false };
        matches!(source.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
    }
}

/// The result of everything in this room.
pub type Result<T, E = EvidenceError> = std::result::Result<T, E>;
