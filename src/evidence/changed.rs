//! Compares the rows of one execution, run or loop with their links in the chain.
//! Only [`verify`](super::verify) checks the chain itself.

use rusqlite::Connection;
use uuid::Uuid;

use super::error::Result;
use super::ledger;
use super::reader::EvidenceReader;
use super::rows::{find, list};
use crate::plan::Digest;

/// The tables and conditions of the rows of one execution, by its id.
const OF_EXECUTION: &[(&str, &str)] = &[
    ("executions", "id = ?1"),
    ("intents", "id = ?1"),
    ("execution_artifacts", "execution_id = ?1"),
    ("diagnostics", "execution_id = ?1"),
    ("decisions", "execution_id = ?1"),
    ("edges", "execution_id = ?1"),
    ("file_contents", "execution_id = ?1"),
];
/// The tables and conditions of the rows of a run and of the executions that are listed with it.
const OF_RUN: &[(&str, &str)] = &[
    ("runs", "id = ?1"),
    ("plans", "id IN (SELECT plan_digest FROM runs WHERE id = ?1)"),
    ("run_ends", "run_id = ?1"),
    ("decisions", "run_id = ?1"),
    ("intents", "run_id = ?1"),
    ("executions", "run_id = ?1"),
];
/// The tables and conditions of the rows of a loop and of the runs that are listed with it.
const OF_LOOP: &[(&str, &str)] = &[
    ("loops", "id = ?1"),
    ("loop_ends", "loop_id = ?1"),
    ("attempts", "loop_id = ?1"),
    ("attempt_ends", "attempt_id IN (SELECT id FROM attempts WHERE loop_id = ?1)"),
    ("runs", "attempt_id IN (SELECT id FROM attempts WHERE loop_id = ?1)"),
];
/// The tables and conditions of the rows that a list of executions shows.
const IN_LIST: &[(&str, &str)] = &[("executions", "id = ?1"), ("intents", "id = ?1")];

impl EvidenceReader {
    /// What was altered after it was written in the rows of this run or loop, one sentence each.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn changed_after_written(&mut self, id: Uuid) -> Result<Vec<String>> {
        self.ask(|source| {
            let mut changed = Vec::new();
            for places in [OF_RUN, OF_LOOP] {
                changed.extend(changed_rows(source.conn, places, id)?);
            }
            Ok(changed)
        })
    }
}

/// What was altered after it was written in the rows of this execution, one sentence each.
pub(super) fn of_execution(conn: &Connection, id: Uuid) -> Result<Vec<String>> {
    changed_rows(conn, OF_EXECUTION, id)
}

/// Whether the values of this execution that a list shows were altered after they were written.
pub(super) fn is_changed_in_list(conn: &Connection, execution_id: Uuid) -> Result<bool> {
    Ok(!changed_rows(conn, IN_LIST, execution_id)?.is_empty())
}

fn changed_rows(conn: &Connection, places: &[(&str, &str)], id: Uuid) -> Result<Vec<String>> {
    let mut changed = Vec::new();
    for (table, place) in places {
        let sql = format!("SELECT rowid FROM {table} WHERE {place} ORDER BY rowid");
        for row in list(conn, &sql, [id.to_string()], |row| Ok(row.get(0)?))? {
            changed.extend(difference(conn, table, row)?);
        }
    }
    Ok(changed)
}

/// How this row differs from its link; `None` if it does not.
fn difference(conn: &Connection, table: &str, row: i64) -> Result<Option<String>> {
    let sql = "SELECT table_name, digest FROM ledger WHERE seq = ?1";
    let link = |seq: i64| find::<(String, String)>(conn, sql, [seq], |row| Ok(row.try_into()?));
    let Some((_, digest)) = link(row)?.filter(|(linked, _)| linked == table) else {
        return Ok(Some(format!("row {row} of {table} is not in the ledger")));
    };
    let previous = match link(row - 1)? {
        Some((_, digest)) => digest.parse::<Digest>().ok(),
        None => (row == 1).then_some(ledger::GENESIS),
    };
    let mut reader = conn.prepare_cached(&format!("SELECT * FROM {table} WHERE rowid = ?1"))?;
    let entry = ledger::entry_of(&mut reader, table, row)?;
    let is_same = previous
        .zip(entry)
        .is_some_and(|(previous, entry)| ledger::link(&previous, &entry).hex() == digest);
    Ok((!is_same).then(|| format!("row {row} of {table} is not what was written")))
}
