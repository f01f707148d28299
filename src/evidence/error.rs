//! Errors of the evidence.

use std::path::PathBuf;
use std::time::Duration;

use rusqlite::ErrorCode;
use uuid::Uuid;

use crate::plan::{Code, Digest};
use crate::run::Failure;
use crate::run::text::size as byte_size;

/// How long a process waits for a lock of another process before it reports [`EvidenceError::Locked`].
pub(super) const LOCK_TIMEOUT: Duration = Duration::from_secs(30);

/// Any error of the evidence. It stops a run, because nothing may be executed without evidence (SPEC §3).
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each variant is described by its message")]
pub enum EvidenceError {
    #[error("the evidence folder or a file in it cannot be used: {source} ({path})")]
    Folder { source: std::io::Error, path: PathBuf },
    #[error("this is no file, so it is no evidence database ({path})")]
    NoFile { path: PathBuf },
    #[error("another program has held the evidence for {} seconds", LOCK_TIMEOUT.as_secs())]
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
    #[error("somebody changed the schema of the evidence: {} ({path})", differences.join("; "))]
    Schema { differences: Vec<String>, path: PathBuf },
    #[error(
        "a row of {table} was not written as it should be: {inserted} inserted, {written} changed in all, {}",
        if *exists { "and it is there" } else { "and it is not there" }
    )]
    NotOneRow { table: &'static str, inserted: usize, written: u64, exists: bool },
    #[error("this evidence is read-only: {difference}")]
    Head { difference: String },
    #[error(
        "the disk has {} free and {} are needed meanwhile, twice what is recorded ({path})",
        byte_size(*free), byte_size(*needed)
    )]
    NoSpace { needed: u64, free: u64, path: PathBuf },
    #[error("there is no evidence in this folder yet ({path})")]
    NoEvidence { path: PathBuf },
    #[error("this is no sound backup of evidence: {why} ({path})")]
    BadBackup { why: String, path: PathBuf },
    #[error(
        "a run or a loop is under way here, or another window or command has the evidence open ({path})"
    )]
    UnderWay { path: PathBuf },
    #[error("nothing was purged, because a record was changed after it was written: {what}")]
    Changed { what: String },
    #[error("{deleted} rows of {table} were deleted in place of {expected}, so nothing was purged")]
    NotDeleted { table: &'static str, deleted: usize, expected: i64 },
    #[error("the last head of the evidence cannot be kept outside of it: {source} ({path})")]
    State { source: std::io::Error, path: PathBuf },
    /// The search index is not usable; the caller discards and rebuilds it.
    #[error("the search index does not agree with the records")]
    Index,
    /// A search was stopped, because its answer is not needed any more.
    #[error("the search was stopped")]
    Stopped,
    #[error("there is nothing to accept: this is the database that was here")]
    NothingToAccept,
    #[error("{path} has an unsafe owner or mode: {what}. To correct this, run: {command}")]
    NotPrivate { path: PathBuf, what: String, command: String },
    /// A failure that a test injected.
    #[cfg(any(test, feature = "inspection"))]
    #[error("no row can be inserted into {table}: failure injected by a test")]
    Injected { table: &'static str },
    #[error("the evidence database reported an error: {source}")]
    Database { source: rusqlite::Error },
    #[error("the key that protects secrets in the evidence cannot be used: {source} ({path})")]
    Key { source: std::io::Error, path: PathBuf },
    #[error("the key that signs checkpoints and attestations cannot be used: {source} ({path})")]
    SigningKey { source: std::io::Error, path: PathBuf },
    #[error(
        "this evidence was written by an older version of this program and has no id yet ({path})"
    )]
    NoId { path: PathBuf },
    #[error("the evidence was changed, so it is not signed. First difference: {difference}")]
    Unsound { difference: String },
    #[error("the signature is not recorded: {difference}")]
    SignedOther { difference: String },
    #[error("its request was used by {by}")]
    RequestUsed { by: String },
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
            Some(ErrorCode::OperationInterrupted) => Self::Stopped,
            _ => Self::Database { source },
        }
    }
}

impl EvidenceError {
    /// What the person can do, in one or more sentences.
    pub fn next(&self) -> &'static str {
        const OTHER_FOLDER: &str = "Name another evidence folder, or move that file away.";
        const WRITABLE: &str = "See that the evidence folder can be written to and that its disk has \
                             space, then try again.";
        const DAMAGED: &str =
            "Keep the folder as it is, and name another one or bring back a copy.";
        match self {
            Self::NoFile { .. } | Self::Foreign { .. } => OTHER_FOLDER,
            Self::Damaged { .. } => DAMAGED,
            Self::Locked => "Close that program or wait for it, then try again.",
            Self::Schema { .. } => {
                "Another program writes to this database: find out which. Name another evidence folder, or \
                 undo what that program changed."
            }
            Self::NotOneRow { .. } => {
                "Another program has changed this database: run `countersign evidence verify`."
            }
            Self::Unsound { .. } => "Find out what changed it: run `countersign evidence verify`.",
            Self::NoId { .. } => {
                "The next run, revert or trust that is recorded there gives it one."
            }
            Self::Head { .. } => {
                "Check it with `countersign evidence verify`. If you know the reason, accept it with \
                 `countersign evidence accept-head --reason TEXT`."
            }
            Self::NoEvidence { .. } => "Name the folder with --evidence.",
            Self::BadBackup { .. } => "Use another backup. Nothing was changed.",
            Self::UnderWay { .. } => {
                "Wait for its end, and close the other windows, then try again."
            }
            Self::NoSpace { .. } => {
                "Nothing was lost, and later records use the free space in the file. Make space on the disk, then run \
                 `countersign evidence compact`."
            }
            Self::Changed { .. } | Self::NotDeleted { .. } => {
                "Find out what changed it: run `countersign evidence verify`."
            }
            Self::State { .. } => "See that this folder can be written, then try again.",
            Self::NothingToAccept => "Nothing needs to be done.",
            Self::NotPrivate { .. } => "Run that command, then try again.",
            Self::TooNew { .. } => "Use that version, or name another evidence folder.",
            Self::Key { .. } | Self::SigningKey { .. } => {
                "See that the key file can be read, or bring back a copy of it."
            }
            Self::AuthorizationUsed { .. }
            | Self::SignedOther { .. }
            | Self::RequestUsed { .. } => "Authorize the plan again.",
            Self::Database { source } => match source.sqlite_error_code() {
                Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => DAMAGED,
                _ => WRITABLE,
            },
            _ => "See that the evidence folder can be read and written, then try again.",
        }
    }

    /// The error with its code and next step, as it is recorded and shown.
    pub fn failure(&self) -> Failure {
        let next = self.next().to_owned();
        Failure { code: Code::EvidenceStore, message: self.to_string(), next }
    }

    /// Whether an error of a search means that the index is damaged or differs from the rows.
    pub(super) fn is_index_damage(&self) -> bool {
        let source = match self {
            Self::Index => return true,
            Self::Database { source } => source,
            _ => return false,
        };
        matches!(
            source.sqlite_error_code(),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
        )
    }
}

/// The result type of this room.
pub type Result<T, E = EvidenceError> = std::result::Result<T, E>;
