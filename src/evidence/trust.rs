//! Trust in workspace commands (SPEC §9): decisions about the `countersign.toml` of a workspace, each a row
//! like every other decision. The latest about a file in a workspace is the one that holds.

use std::collections::BTreeSet;
use std::path::PathBuf;

use rusqlite::Connection;
use serde_json::json;

use super::append::{Appender, Cell};
use super::error::{EvidenceError, Result};
use super::reader::EvidenceReader;
use super::store::EvidenceStore;
use super::vault::Vault;
use super::{grants, migrations, write_run};
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

/// The files of commands that a person trusts, by workspace and digest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trust {
    /// Proven by this user's key.
    pub counts: BTreeSet<(PathBuf, Digest)>,
    /// Not proven by this user's key: the person is asked again.
    pub without_proof: BTreeSet<(PathBuf, Digest)>,
}

impl EvidenceStore {
    /// Records a decision about the commands of a workspace.
    ///
    /// # Errors
    /// Any failure of the database.
    pub fn record_trust(&mut self, decision: &TrustDecision<'_>) -> Result<()> {
        self.write_and_keep(|appender, user| insert(appender, user, decision))
    }

    /// The files of commands that are trusted: their workspace and digest.
    ///
    /// # Errors
    /// Any failure of the database.
    pub fn trusted_commands(&self) -> Result<BTreeSet<(PathBuf, Digest)>> {
        Ok(trusted(&self.conn, migrations::newest(), Some(&self.vault))?.counts)
    }
}

impl EvidenceReader {
    /// The files of commands that are trusted: their workspace and digest.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn trusted_commands(&mut self) -> Result<BTreeSet<(PathBuf, Digest)>> {
        Ok(self.trust()?.counts)
    }

    /// Everything that was trusted and not revoked, with or without proof.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn trust(&mut self) -> Result<Trust> {
        self.ask(|source| trusted(source.conn, source.format, source.vault))
    }
}

fn insert(appender: &mut Appender<'_>, user: Option<&str>, new: &TrustDecision<'_>) -> Result<()> {
    let about = json!({
        "workspace": new.workspace,
        "digest": new.digest,
        "shown": new.shown,
    });
    let shown = appender.json_value(about)?;
    appender.insert(
        "decisions",
        [
            ("decision", Cell::word(if new.trusted { TRUSTED } else { REVOKED })),
            ("decided_by", write_run::word(&new.by)),
            ("user_name", user.into()),
            // By this they are found again. A secret in the name of a folder is hidden here as everywhere:
            // then nothing is found, and the person is asked anew.
            ("note", format!("{} {}", new.digest, new.workspace).as_str().into()),
            ("request_json", shown.json),
            ("blob", shown.blob.into()),
            ("timestamp", new.timestamp_ms.into()),
            ("grant_digest", if new.trusted { Cell::Grant } else { Cell::Null }),
        ],
    )
}

fn trusted(conn: &Connection, format: i64, vault: Option<&Vault>) -> Result<Trust> {
    let decided = grants::decided(conn, format, vault, [TRUSTED, REVOKED])?;
    let mut trust = Trust::default();
    for row in decided.rows {
        let unreadable =
            || EvidenceError::Unreadable { what: format!("the decision {:?}", row.note) };
        let (digest, workspace) = row.note.split_once(' ').ok_or_else(unreadable)?;
        let digest: Digest = digest.parse().map_err(|_| unreadable())?;
        let file = (PathBuf::from(workspace), digest);
        // A revocation needs no proof: it can only cause another question.
        trust.counts.remove(&file);
        trust.without_proof.remove(&file);
        if row.decision == TRUSTED {
            let to = if row.is_proven { &mut trust.counts } else { &mut trust.without_proof };
            to.insert(file);
        }
    }
    if decided.some_are_missing {
        // A missing row may have revoked trust.
        trust.without_proof.append(&mut trust.counts);
    }
    Ok(trust)
}
