//! Finds records by the beginning of their ids.

use rusqlite::Connection;
use uuid::Uuid;

use super::EvidenceReader;
use super::error::Result;
use super::rows::{list, uuid};
use crate::run::RecordKind;

impl EvidenceReader {
    /// The ids of these kinds of records that begin with `text`, in lower case, at most `limit`, in the order of the kinds
    /// and then of the ids.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn ids_beginning_with(
        &mut self,
        text: &str,
        kinds: &[RecordKind],
        limit: usize,
    ) -> Result<Vec<(RecordKind, Uuid)>> {
        self.query(|source| {
            let mut found = Vec::new();
            for kind in kinds {
                let tables: &[&str] = match kind {
                    RecordKind::Execution => &["executions", "intents"],
                    RecordKind::Run => &["runs"],
                    RecordKind::Loop => &["loops"],
                };
                let mut ids = Vec::new();
                for table in tables {
                    ids.extend(beginning_with(source.conn, table, text, limit)?);
                }
                ids.sort();
                ids.dedup();
                found.extend(ids.into_iter().map(|id| (*kind, id)));
            }
            found.truncate(limit);
            Ok(found)
        })
    }
}

fn beginning_with(conn: &Connection, table: &str, text: &str, limit: usize) -> Result<Vec<Uuid>> {
    // `g` follows every character of an id.
    let sql = format!("SELECT id FROM {table} WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3");
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    list(conn, &sql, (text, format!("{text}g"), limit), |row| uuid(row, 0))
}
