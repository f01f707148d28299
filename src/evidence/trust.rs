//! Whose commands a person trusts (SPEC §9): decisions about the `countersign.toml` of a workspace, each a row
//! like every other decision. The latest about a file in a workspace is the one that holds.

use std::collections::BTreeSet;
use std::path::PathBuf;

use rusqlite::Connection;
use serde_json::json;

use super::error::{EvidenceError, Result};
use super::funnel::{Cell, Funnel};
use super::reader::EvidenceReader;
use super::rows;
use super::store::EvidenceStore;
use crate::plan::Digest;
use crate::run::{AnsweredBy, CommandsReview};

/// What stands in the column `decision`.
const TRUSTED: &str = "commands_trusted";
const REVOKED: &str = "commands_revoked";

/// A decision about the commands of a workspace.
#[derive(Debug, Clone, Copy)]
pub struct TrustDecision<'a> {
    /// The workspace folder, absolute and without links.
    pub workspace: &'a str,
    /// The digest of the file's exact bytes.
    pub digest: Digest,
    /// Whether they are trusted from now on, or no longer.
    pub trusted: bool,
    /// What the person was shown; none where trust is taken back.
    pub shown: Option<&'a CommandsReview>,
    /// Through which act.
    pub by: AnsweredBy,
    /// When, in Unix milliseconds.
    pub timestamp_ms: i64,
}

impl EvidenceStore {
    /// Records a decision about the commands of a workspace.
    ///
    /// # Errors
    /// Any failure of the database.
    pub fn record_trust(&mut self, decision: &TrustDecision<'_>) -> Result<()> {
        self.write(|funnel, user| insert(funnel, user, decision))
    }

    /// The files of commands that are trusted: their workspace and digest.
    ///
    /// # Errors
    /// Any failure of the database.
    pub fn trusted_commands(&self) -> Result<BTreeSet<(PathBuf, Digest)>> {
        trusted(self.connection())
    }
}

impl EvidenceReader {
    /// The files of commands that are trusted: their workspace and digest.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn trusted_commands(&mut self) -> Result<BTreeSet<(PathBuf, Digest)>> {
        self.ask(|source| trusted(source.conn))
    }
}

fn insert(funnel: &mut Funnel<'_>, user: Option<&str>, new: &TrustDecision<'_>) -> Result<()> {
    let about = json!({
        "workspace": new.workspace,
        "digest": new.digest,
        "shown": new.shown,
    });
    let shown = funnel.json_value(about)?;
    funnel.insert(
        "decisions",
        [
            ("decision", Cell::word(if new.trusted { TRUSTED } else { REVOKED })),
            ("decided_by", Cell::word(rows::answered_by(new.by))),
            ("user_name", user.into()),
            // By this they are found again. A secret in the name of a folder is hidden here as everywhere:
            // then nothing is found, and the person is asked anew.
            ("note", format!("{} {}", new.digest, new.workspace).as_str().into()),
            ("request_json", shown.json),
            ("blob", shown.blob.into()),
            ("timestamp", new.timestamp_ms.into()),
        ],
    )
}

fn trusted(conn: &Connection) -> Result<BTreeSet<(PathBuf, Digest)>> {
    // The index by run finds those of no run.
    let sql = "SELECT decision, note FROM decisions
               WHERE run_id IS NULL AND decision IN (?1, ?2) ORDER BY id";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([TRUSTED, REVOKED], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
    })?;
    let mut trusted = BTreeSet::new();
    for row in rows {
        let (decision, note) = row?;
        let unreadable = || EvidenceError::Unreadable { what: format!("the decision {note:?}") };
        let (digest, workspace) = note.split_once(' ').ok_or_else(unreadable)?;
        let digest: Digest = digest.parse().map_err(|_| unreadable())?;
        let file = (PathBuf::from(workspace), digest);
        match decision == TRUSTED {
            true => trusted.insert(file),
            false => trusted.remove(&file),
        };
    }
    Ok(trusted)
}
