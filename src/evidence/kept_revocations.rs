//! What was revoked, as it is kept with the head of the chain.

use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use super::error::Result;
use super::ledger;
use super::rows::list;
use crate::plan::Digest;

/// The decision that commands of a workspace are no longer trusted.
pub(super) const TRUST_REVOKED: &str = "commands_revoked";
/// The decision that takes back all grants beyond the walls.
pub(super) const WALLS_REVOKED: &str = "walls_revoked";
/// The table of revoked classes.
pub(super) const CLASSES_REVOKED: &str = "authorization_class_revocations";

/// The first revocations of a database, in the order in which they were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeptRevocations {
    /// Their number.
    count: i64,
    /// The digest of what they revoke.
    digest: Digest,
}

impl KeptRevocations {
    /// All revocations of this database.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(super) fn of(conn: &Connection) -> Result<Self> {
        Self::first(conn, i64::MAX)
    }

    /// Whether these are the first revocations of this database.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(super) fn are_in(&self, conn: &Connection) -> Result<bool> {
        Ok(Self::first(conn, self.count)? == *self)
    }

    /// At most the first `count` revocations of this database.
    fn first(conn: &Connection, count: i64) -> Result<Self> {
        let classes = CLASSES_REVOKED;
        let sql = format!(
            "SELECT id, decision, note FROM decisions WHERE run_id IS NULL AND decision = ?1
             UNION ALL SELECT id, decision, note FROM decisions WHERE run_id IS NULL AND decision = ?2
             UNION ALL SELECT id, '{classes}', class_id FROM {classes}
             ORDER BY id LIMIT ?3"
        );
        let mut found = Self { count: 0, digest: ledger::GENESIS };
        list(conn, &sql, (TRUST_REVOKED, WALLS_REVOKED, count), |row| {
            let revoked: (i64, String, String) = row.try_into()?;
            found.count += 1;
            found.digest = ledger::link(&found.digest, serde_json::json!(revoked).to_string());
            Ok(())
        })?;
        Ok(found)
    }
}
