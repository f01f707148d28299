//! Classes of plans that a person authorizes in advance (SPEC §10).

use rusqlite::OptionalExtension as _;
use serde_json::json;
use uuid::Uuid;

use super::append::{Appender, Cell};
use super::error::Result;
use super::grants;
use super::store::EvidenceStore;
use super::write_run::word;
use crate::authorization::{AuthorizationClass, Method};

impl EvidenceStore {
    /// Records a class of plans that a person authorizes in advance.
    ///
    /// # Errors
    /// Any failure of the database; so for every other commit here.
    pub fn record_class(
        &mut self,
        class_id: Uuid,
        class: &AuthorizationClass,
        method: Method,
        timestamp_ms: i64,
    ) -> Result<()> {
        self.write_and_keep(|appender, user| {
            appender.insert(
                "authorization_classes",
                [
                    ("id", class_id.into()),
                    ("class_json", json!(class).into()),
                    ("user_name", user.into()),
                    ("method", word(&method)),
                    ("timestamp", timestamp_ms.into()),
                    ("expires_at", class.expires_at_ms().unwrap_or(timestamp_ms).into()),
                    ("grant_digest", Cell::Grant),
                ],
            )
        })
    }

    /// Revokes a class: no attempt is authorized by it from now on. False when there is none, or
    /// it was revoked before.
    ///
    /// # Errors
    /// As [`Self::record_class`].
    pub fn revoke_class(&mut self, class_id: Uuid, timestamp_ms: i64) -> Result<bool> {
        let mut revoked = false;
        self.write_and_keep(|appender, user| {
            if !class_exists(appender, class_id)? || is_revoked(appender.tx(), class_id)? {
                return Ok(());
            }
            revoked = true;
            appender.insert(
                "authorization_class_revocations",
                [
                    ("class_id", class_id.into()),
                    ("user_name", user.into()),
                    ("timestamp", timestamp_ms.into()),
                ],
            )
        })?;
        Ok(revoked)
    }

    /// Whether a class was revoked, by any process. A class that was never recorded, or whose row is not
    /// proven by this user's key, counts as revoked.
    ///
    /// # Errors
    /// As [`Self::record_class`].
    pub fn is_class_revoked(&self, class_id: Uuid) -> Result<bool> {
        Ok(is_revoked(&self.conn, class_id)?
            || grants::has_lost_rows(&self.conn, "authorization_class_revocations")?
            || !self.is_class_proven(class_id)?)
    }

    fn is_class_proven(&self, class_id: Uuid) -> Result<bool> {
        let mut statement =
            self.conn.prepare_cached("SELECT * FROM authorization_classes WHERE id = ?1")?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([class_id.to_string()])?;
        let Some(row) = rows.next()? else { return Ok(false) };
        grants::is_proven("authorization_classes", &names, row, &self.vault, self.database_id)
    }
}

fn class_exists(appender: &Appender<'_>, class_id: Uuid) -> Result<bool> {
    Ok(appender
        .tx()
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM authorization_classes WHERE id = ?1)")?
        .query_row([class_id.to_string()], |row| row.get(0))?)
}

fn is_revoked(conn: &rusqlite::Connection, class_id: Uuid) -> Result<bool> {
    Ok(conn
        .prepare_cached("SELECT 1 FROM authorization_class_revocations WHERE class_id = ?1")?
        .query_row([class_id.to_string()], |_| Ok(()))
        .optional()?
        .is_some())
}
