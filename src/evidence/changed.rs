//! Compares the rows of one execution, run or loop with their links in the chain.
//! Only [`verify`](super::verify) checks the chain itself.

use rusqlite::Connection;
use uuid::Uuid;

use super::error::Result;
use super::migrations::FORMAT_WITH_LOOKS;
use super::rows::{find, list, written_with};
use super::{EvidenceReader, ledger};
use crate::plan::Digest;

/// The tables and conditions of the rows that belong to an execution, except those that are found by their place.
const EXECUTION_ROWS: &[(&str, &str)] = &[
    ("executions", "id = ?1"),
    ("intents", "id = ?1"),
    ("execution_artifacts", "execution_id = ?1"),
    ("diagnostics", "execution_id = ?1"),
    ("decisions", "execution_id = ?1"),
];
/// The tables and conditions of the rows of a run, and of its executions as they are listed with it.
const RUN_ROWS: &[(&str, &str)] = &[
    ("runs", "id = ?1"),
    ("plans", "id IN (SELECT plan_digest FROM runs WHERE id = ?1)"),
    ("run_ends", "run_id = ?1"),
    ("decisions", "run_id = ?1"),
    ("intents", "run_id = ?1"),
    ("executions", "run_id = ?1"),
];
/// The tables and conditions of the rows of a loop, and of its runs as they are listed with it.
const LOOP_ROWS: &[(&str, &str)] = &[
    ("loops", "id = ?1"),
    ("loop_ends", "loop_id = ?1"),
    ("attempts", "loop_id = ?1"),
    ("attempt_ends", "attempt_id IN (SELECT id FROM attempts WHERE loop_id = ?1)"),
    ("runs", "attempt_id IN (SELECT id FROM attempts WHERE loop_id = ?1)"),
];
/// The table and the condition of what the planner of a loop looked at.
const LOOK_ROWS: &[(&str, &str)] =
    &[("planner_looks", "attempt_id IN (SELECT id FROM attempts WHERE loop_id = ?1)")];
/// The tables and conditions of the rows from which a list shows an execution.
const LISTED_ROWS: &[(&str, &str)] = &[("executions", "id = ?1"), INTENT_ROW];
const INTENT_ROW: (&str, &str) = ("intents", "id = ?1");

impl EvidenceReader {
    /// The rows of this run or loop that were altered after they were written or are not in the ledger, one sentence
    /// for each.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn changed_after_written(&mut self, id: Uuid) -> Result<Vec<String>> {
        self.query(|source| {
            let mut changed = Vec::new();
            for tables in [RUN_ROWS, LOOP_ROWS] {
                changed.extend(changed_rows(source.conn, tables, id)?);
            }
            if source.format >= FORMAT_WITH_LOOKS {
                changed.extend(changed_rows(source.conn, LOOK_ROWS, id)?);
            }
            Ok(changed)
        })
    }
}

/// The rows of this execution that were altered after they were written or are not in the ledger, one sentence for
/// each.
pub(super) fn of_execution(conn: &Connection, id: Uuid) -> Result<Vec<String>> {
    let mut changed = changed_rows(conn, EXECUTION_ROWS, id)?;
    let after = |table: &str| {
        let parent = format!("(SELECT row FROM {table} WHERE id = ?1)");
        written_with("id", table, &parent)
    };
    // These tables have no index by execution.
    let edges = format!("execution_id = ?1 AND {}", after("executions"));
    let files = format!("execution_id = ?1 AND ({} OR {})", after("executions"), after("intents"));
    changed.extend(changed_rows(conn, &[("edges", &edges), ("file_contents", &files)], id)?);
    Ok(changed)
}

/// Whether rows from which a list shows this execution were altered after they were written.
pub(super) fn is_changed_in_list(conn: &Connection, execution_id: Uuid) -> Result<bool> {
    Ok(!changed_rows(conn, LISTED_ROWS, execution_id)?.is_empty())
}

/// As [`is_changed_in_list`], for an execution or intent in a known row, which is not looked for.
pub(super) fn is_changed_at(conn: &Connection, row: i64, execution_id: Uuid) -> Result<bool> {
    if table_of(conn, row)?.as_deref() != Some("executions") {
        // The intent may have an execution since.
        return is_changed_in_list(conn, execution_id);
    }
    Ok(is_changed_row(conn, "executions", row)?
        || !changed_rows(conn, &[INTENT_ROW], execution_id)?.is_empty())
}

fn table_of(conn: &Connection, row: i64) -> Result<Option<String>> {
    find(conn, "SELECT table_name FROM ledger WHERE seq = ?1", [row], |row| Ok(row.get(0)?))
}

/// Whether this row was altered after it was written or is not in the ledger.
pub(super) fn is_changed_row(conn: &Connection, table: &str, row: i64) -> Result<bool> {
    Ok(difference(conn, table, row)?.is_some())
}

fn changed_rows(conn: &Connection, tables: &[(&str, &str)], id: Uuid) -> Result<Vec<String>> {
    let mut changed = Vec::new();
    for (table, condition) in tables {
        let sql = format!("SELECT rowid FROM {table} WHERE {condition} ORDER BY rowid");
        for row in list(conn, &sql, [id.to_string()], |row| Ok(row.get(0)?))? {
            changed.extend(difference(conn, table, row)?);
        }
    }
    Ok(changed)
}

/// How this row differs from its link; `None` if it does not.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn difference(conn: &Connection, table: &str, row: i64) -> Result<Option<String>> {
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
