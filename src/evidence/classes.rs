//! Classes of plans that a person authorizes in advance (SPEC §10).

use serde_json::json;
use uuid::Uuid;

use super::append::Cell;
use super::error::Result;
use super::kept_revocations::CLASSES_REVOKED as REVOCATIONS;
use super::proven::is_proven;
use super::rows::has_row;
use super::write_run::word;
use super::{EvidenceStore, revocations};
use crate::authorization::{AuthorizationClass, Method};

impl EvidenceStore {
    /// Records a class of plans that a person authorizes in advance.
    ///
    /// # Errors
    /// When the rows or the kept head cannot be written.
    pub fn record_class(
        &mut self,
        class_id: Uuid,
        class: &AuthorizationClass,
        method: Method,
        timestamp_ms: i64,
    ) -> Result<()> {
        self.write_and_keep(|appender| {
            appender.insert(
                "authorization_classes",
                [
                    ("id", class_id.into()),
                    ("class_json", json!(class).into()),
                    ("user_name", appender.user.into()),
                    ("method", word(&method)),
                    ("timestamp", timestamp_ms.into()),
                    ("expires_at", class.expires_at_ms().unwrap_or(timestamp_ms).into()),
                    ("grant_digest", Cell::Grant),
                ],
            )
        })
    }

    /// Revokes a class, so that it authorizes no further attempt. Returns false if the class does not exist or was
    /// revoked before.
    ///
    /// # Errors
    /// As [`Self::record_class`].
    pub fn revoke_class(&mut self, class_id: Uuid, timestamp_ms: i64) -> Result<bool> {
        let id = class_id.to_string();
        let mut revoked = false;
        self.write_and_keep(|appender| {
            let is_known = has_row(appender.tx(), "authorization_classes", "id", &id)?;
            if !is_known || has_row(appender.tx(), REVOCATIONS, "class_id", &id)? {
                return Ok(());
            }
            revoked = true;
            appender.insert(
                REVOCATIONS,
                [
                    ("class_id", class_id.into()),
                    ("user_name", appender.user.into()),
                    ("timestamp", timestamp_ms.into()),
                ],
            )
        })?;
        Ok(revoked)
    }

    /// Whether a class was revoked by any process. A class that was never recorded, or whose row has no valid keyed
    /// digest of this user, counts as revoked; so does every class while a revocation is missing.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_class_revoked(&self, class_id: Uuid) -> Result<bool> {
        Ok(has_row(&self.conn, REVOCATIONS, "class_id", class_id.to_string())?
            || revocations::some_are_missing(&self.source())?
            || !self.has_valid_class(class_id)?)
    }

    fn has_valid_class(&self, class_id: Uuid) -> Result<bool> {
        let mut statement =
            self.conn.prepare_cached("SELECT * FROM authorization_classes WHERE id = ?1")?;
        let mut rows = statement.query([class_id.to_string()])?;
        let Some(row) = rows.next()? else { return Ok(false) };
        is_proven("authorization_classes", row, &self.vault, self.database_id)
    }
}
