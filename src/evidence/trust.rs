//! Trust in workspace commands (SPEC §9). Each decision about the `countersign.toml` of a workspace is a row, and the
//! latest row about the same content in the same workspace is valid.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::json;

use super::error::Result;
use super::kept_revocations::TRUST_REVOKED as REVOKED;
use super::rows::unreadable;
use super::source::Source;
use super::write_run::NewDecision;
use super::{EvidenceReader, EvidenceStore, grants, write_run};
use crate::plan::Digest;
use crate::run::{AnsweredBy, CommandsReview};

/// Values of the column `decision`.
const TRUSTED: &str = "commands_trusted";

/// A decision about the commands of a workspace.
#[derive(Debug, Clone, Copy)]
pub struct TrustDecision<'a> {
    /// The workspace folder, absolute and without links.
    pub workspace: &'a str,
    /// The digest of the file's exact bytes.
    pub digest: Digest,
    /// Whether the commands are trusted from now on.
    pub trusted: bool,
    /// The commands that the person saw; `None` for a revocation.
    pub shown: Option<&'a CommandsReview>,
    /// How the person decided.
    pub by: AnsweredBy,
    /// The time of the decision, in Unix milliseconds.
    pub timestamp_ms: i64,
}

/// The command files that a person has trusted and not revoked, by workspace and digest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trust {
    /// Files whose trust has a valid keyed digest of this user.
    pub proven: BTreeSet<(PathBuf, Digest)>,
    /// Files whose trust has none, or may have been revoked by a row that is missing. The person must decide again.
    pub unproven: BTreeSet<(PathBuf, Digest)>,
}

impl EvidenceStore {
    /// Records a decision about the commands of a workspace.
    ///
    /// # Errors
    /// When the rows or the kept head cannot be written.
    pub fn record_trust(&mut self, decision: &TrustDecision<'_>) -> Result<()> {
        let TrustDecision { workspace, digest, trusted, shown, by, timestamp_ms } = *decision;
        let about = json!({ "workspace": workspace, "digest": digest, "shown": shown });
        // The decision is found by this note. If the path contains a secret, it is redacted here too; then the decision
        // is not found, and the person must decide again.
        let note = format!("{digest} {workspace}");
        let word = if trusted { TRUSTED } else { REVOKED };
        let new = NewDecision {
            note: &note,
            request: Some(about),
            is_grant: trusted,
            ..NewDecision::new(word, &by, timestamp_ms)
        };
        self.write_and_keep(|appender| write_run::decision(appender, new))
    }

    /// The workspace and digest of each file whose trust is proven.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn trusted_commands(&self) -> Result<BTreeSet<(PathBuf, Digest)>> {
        Ok(trusted(&self.source())?.proven)
    }
}

impl EvidenceReader {
    /// The workspace and digest of each file whose trust is proven.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn trusted_commands(&mut self) -> Result<BTreeSet<(PathBuf, Digest)>> {
        Ok(self.trust()?.proven)
    }

    /// The files that were trusted and not revoked, with and without a valid keyed digest.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn trust(&mut self) -> Result<Trust> {
        self.query(trusted)
    }
}

fn trusted(source: &Source<'_>) -> Result<Trust> {
    let decisions = grants::decisions(source, [TRUSTED, REVOKED])?;
    let mut trust = Trust::default();
    for row in decisions.rows {
        let invalid = || unreadable(format!("the decision {:?}", row.note));
        let (digest, workspace) = row.note.split_once(' ').ok_or_else(invalid)?;
        let digest: Digest = digest.parse().map_err(|_| invalid())?;
        let file = (PathBuf::from(workspace), digest);
        // A revocation needs no keyed digest, because its only effect is that the person must decide again.
        trust.proven.remove(&file);
        trust.unproven.remove(&file);
        if row.decision == TRUSTED {
            let files = if row.is_proven { &mut trust.proven } else { &mut trust.unproven };
            files.insert(file);
        }
    }
    if decisions.some_are_missing {
        trust.unproven.append(&mut trust.proven);
    }
    Ok(trust)
}
