//! Grants beyond the walls for every plan in a workspace (SPEC §7.5). Each decision is a row, and the latest row about
//! a workspace is valid.

use std::path::Path;

use serde_json::json;

use super::append::Appender;
use super::error::Result;
use super::kept_revocations::WALLS_REVOKED as REVOKED;
use super::rows::unreadable;
use super::source::Source;
use super::write_run::NewDecision;
use super::{EvidenceError, EvidenceLocation, EvidenceReader, EvidenceStore, grants, write_run};
use crate::authorization::Grants;
use crate::run::AnsweredBy;

/// Values of the column `decision`.
const GRANTED: &str = "walls_granted";
/// The maximum size of the grants of one workspace, in bytes of JSON: larger values would not be stored in their row.
/// Further grants are refused.
const MAX_BYTES: usize = 3_000;

/// A decision about grants beyond the walls for every plan in a workspace.
#[derive(Debug, Clone, Copy)]
pub struct WallsDecision<'a> {
    /// The workspace folder, absolute and without links.
    pub workspace: &'a str,
    /// The grants in addition to earlier ones; `None` revokes all grants.
    pub grants: Option<&'a Grants>,
    /// How the person decided.
    pub by: AnsweredBy,
    /// The time of the decision, in Unix milliseconds.
    pub timestamp_ms: i64,
}

impl EvidenceStore {
    /// Records additional grants for every plan in a workspace, or the revocation of all grants. The row contains all
    /// grants of the workspace, so that only the latest row has to be read.
    ///
    /// # Errors
    /// When the grants are too large, or when the rows or the kept head cannot be written.
    pub fn record_walls(&mut self, decision: &WallsDecision<'_>) -> Result<()> {
        let location = self.location().clone();
        self.write_and_keep(|appender| {
            let all = match decision.grants {
                Some(more) => Some(with_remembered(appender, &location, decision.workspace, more)?),
                None => None,
            };
            let grants = json!(all);
            if grants.to_string().len() > MAX_BYTES {
                let what = format!("more than {MAX_BYTES} bytes of grants for one workspace");
                return Err(EvidenceError::Content { source: std::io::Error::other(what) });
            }
            let word = if all.is_some() { GRANTED } else { REVOKED };
            let new = NewDecision {
                // If the path contains a secret, it is redacted here too; then the grants are not found.
                note: decision.workspace,
                request: Some(grants),
                is_grant: all.is_some(),
                ..NewDecision::new(word, &decision.by, decision.timestamp_ms)
            };
            write_run::decision(appender, new)
        })
    }
}

impl EvidenceReader {
    /// The grants for every plan in this workspace; `None` if there are none, their row has no valid keyed digest, or a
    /// revocation is missing.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn remembered_walls(&mut self, workspace: &Path) -> Result<Option<Grants>> {
        self.query(|source| remembered(source, workspace))
    }
}

/// The earlier grants and the new ones together.
fn with_remembered(
    appender: &Appender<'_>,
    location: &EvidenceLocation,
    workspace: &str,
    more: &Grants,
) -> Result<Grants> {
    let source = Source::of_newest(appender.tx(), appender.vault, location);
    let earlier = remembered(&source, Path::new(workspace))?;
    Ok(earlier.unwrap_or_default().with(more))
}

fn remembered(source: &Source<'_>, workspace: &Path) -> Result<Option<Grants>> {
    let workspace = workspace.to_string_lossy();
    let decisions = grants::decisions(source, [GRANTED, REVOKED])?;
    let last = decisions.rows.into_iter().rfind(|row| row.note == workspace);
    let valid =
        last.filter(|row| row.decision == GRANTED && row.is_proven && !decisions.some_are_missing);
    let grants = valid.and_then(|row| row.request_json);
    grants.map(|text| serde_json::from_str(&text).map_err(unreadable)).transpose()
}
