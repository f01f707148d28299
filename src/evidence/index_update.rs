//! Fills the search index from the rows (SPEC §8).

use rusqlite::types::Value as SqlValue;
use rusqlite::{Transaction, TransactionBehavior, params, params_from_iter};
use serde_json::Value;
use uuid::Uuid;

use super::error::Result;
use super::index::{FIELDS, Index, data_version};
use super::index_text::{artifact_text, flat_text, searchable};
use super::rows::{find, list};
use super::source::Source;
use super::{EvidenceError, queries};
use crate::run::Known;

/// The maximum number of executions that are indexed in one transaction.
const BATCH: i64 = 200;

impl Index {
    /// Indexes the rows that were recorded since the last call.
    ///
    /// # Errors
    /// [`EvidenceError::Index`] if another program has changed the index; [`EvidenceError::Locked`] if another process
    /// holds its lock for too long; and any error of either database.
    pub(super) fn catch_up(&mut self, source: &Source<'_>) -> Result<()> {
        let Some(seal) = self.seal.clone() else { return self.index_rows(source) };
        let _lock = seal.lock()?;
        if data_version(&self.conn)? != self.data_version || !self.path.exists() {
            if !seal.matches(&self.path) {
                return Err(EvidenceError::Index);
            }
            self.data_version = data_version(&self.conn)?;
        }
        let before = self.conn.total_changes();
        let result = self.index_rows(source);
        if self.conn.total_changes() != before {
            seal.update(&self.path)?;
        }
        result
    }

    fn index_rows(&mut self, source: &Source<'_>) -> Result<()> {
        while self.index_batch(source)? {}
        self.update_open(source)
    }

    /// Indexes the next rows. Returns whether there are more.
    fn index_batch(&mut self, source: &Source<'_>) -> Result<bool> {
        let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let (mut seq, digest): (i64, String) =
            tx.query_row("SELECT seq, digest FROM state", [], |row| row.try_into())?;
        if seq > 0 && link_at(source, seq)?.as_deref() != Some(digest.as_str()) {
            // Another database was indexed.
            tx.execute_batch(
                "DELETE FROM docs; DELETE FROM texts; DELETE FROM doc_paths; DELETE FROM doc_codes;
                 UPDATE state SET seq = 0;",
            )?;
            seq = 0;
        }
        let head = source.length()?;
        if head == seq {
            return Ok(false);
        }
        let new: Vec<(i64, String)> = source.all(
            "SELECT seq, table_name FROM ledger
             WHERE seq > ?1 AND seq <= ?2 AND table_name IN ('intents', 'executions')
             ORDER BY seq LIMIT ?3",
            [seq, head, BATCH],
            |row| Ok(row.try_into()?),
        )?;
        for (seq, table) in &new {
            index_row(&tx, source, table, *seq)?;
        }
        let last = match new.last() {
            Some((last, ..)) if new.len() as i64 == BATCH => *last,
            _ => head,
        };
        let digest = link_at(source, last)?.unwrap_or_default();
        tx.execute("UPDATE state SET seq = ?1, digest = ?2", params![last, digest])?;
        tx.commit()?;
        Ok(last < head)
    }

    /// Updates which of the steps without an outcome are running and which are interrupted.
    fn update_open(&mut self, source: &Source<'_>) -> Result<()> {
        let sql = "SELECT id, execution_id, outcome FROM docs WHERE open = 1";
        let open: Vec<(i64, String, String)> =
            list(&self.conn, sql, [], |row| Ok(row.try_into()?))?;
        for (doc, execution_id, indexed_outcome) in open {
            let Ok(id) = execution_id.parse::<Uuid>() else { continue };
            let Some(row) = queries::execution_row(source, id)? else { continue };
            // If the outcome was recorded meanwhile, its row is indexed the next time.
            if let Known::Running | Known::Interrupted = row.known
                && row.known.as_str() != indexed_outcome
            {
                self.conn.execute(
                    "UPDATE docs SET outcome = ?1 WHERE id = ?2",
                    (row.known.as_str(), doc),
                )?;
            }
        }
        Ok(())
    }
}

fn link_at(source: &Source<'_>, seq: i64) -> Result<Option<String>> {
    source.first("SELECT digest FROM ledger WHERE seq = ?1", [seq], |row| Ok(row.get(0)?))
}

/// Indexes an execution or an intent. An execution replaces its intent.
fn index_row(tx: &Transaction<'_>, source: &Source<'_>, table: &str, seq: i64) -> Result<()> {
    let (outcome, code, open, error) = match table {
        "intents" => ("'running'", "NULL", 1, "NULL"),
        _ => ("x.outcome", "x.error_code", 0, "x.error_message"),
    };
    let sql = format!(
        "SELECT x.id, x.run_id, r.plan_id, x.tool_name, {outcome}, x.risk_level, x.host, {code},
                x.timestamp, {open}, x.arguments_json, {error}
         FROM {table} AS x JOIN runs AS r ON r.id = x.run_id WHERE x.row = ?1"
    );
    let mut statement = source.conn.prepare_cached(&sql)?;
    let mut rows = statement.query([seq])?;
    let Some(row) = rows.next()? else { return Ok(()) };
    let execution_id: String = row.get(0)?;
    let tool: String = row.get(3)?;
    // The columns of the index, in its order.
    let columns: Vec<SqlValue> = (0..10).map(|n| row.get(n)).collect::<rusqlite::Result<_>>()?;

    let previous = "SELECT id FROM docs WHERE execution_id = ?1";
    if let Some(doc) = find::<i64>(tx, previous, [&execution_id], |row| Ok(row.get(0)?))? {
        for sql in [
            "DELETE FROM docs WHERE id = ?1",
            "DELETE FROM texts WHERE rowid = ?1",
            "DELETE FROM doc_paths WHERE doc = ?1",
            "DELETE FROM doc_codes WHERE doc = ?1",
        ] {
            tx.prepare_cached(sql)?.execute([doc])?;
        }
    }
    tx.prepare_cached(
        "INSERT INTO docs (execution_id, run_id, plan_id, tool, outcome, risk, host, error_code,
                           timestamp, open)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?
    .execute(params_from_iter(columns))?;
    let doc = tx.last_insert_rowid();

    let arguments: Value = serde_json::from_str(&row.get::<_, String>(10)?).unwrap_or_default();
    let mut texts: [String; FIELDS.len()] = Default::default();
    let mut set = |field: &str, text: String| {
        if let Some(index) = FIELDS.iter().position(|name| *name == field)
            && let Some(indexed) = texts.get_mut(index)
        {
            *indexed = searchable(&text);
        }
    };
    set("tool", tool);
    set("arguments", flat_text(&arguments));
    set("error", row.get::<_, Option<String>>(11)?.unwrap_or_default());
    for artifact in queries::artifacts(source, &execution_id)? {
        set(&artifact.artifact_type, artifact_text(source, &artifact)?);
    }
    tx.prepare_cached(&format!(
        "INSERT INTO texts (rowid, {}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        FIELDS.join(", ")
    ))?
    .execute(params_from_iter(
        [&doc as &dyn rusqlite::ToSql].into_iter().chain(texts.iter().map(|text| text as _)),
    ))?;
    add_filter_values(tx, source, doc, &execution_id)
}

/// Adds the files and diagnostic codes of an execution, for filters.
fn add_filter_values(
    tx: &Transaction<'_>,
    source: &Source<'_>,
    doc: i64,
    execution_id: &str,
) -> Result<()> {
    let condition = |row: &str, table: &str| {
        format!("{} WHERE x.id = ?1", queries::written_with(row, table, "x.row"))
    };
    let paths = format!(
        "SELECT path, max(wrote) FROM (
             SELECT g.target AS path, g.edge_type = 'AFFECTED' AS wrote FROM executions AS x
                    JOIN edges AS g ON {} AND g.execution_id = x.id AND g.target_kind = 'file'
             UNION ALL SELECT f.path, 0 FROM executions AS x JOIN file_contents AS f ON {}
                    AND f.execution_id = x.id
             UNION ALL SELECT f.path, 0 FROM intents AS x JOIN file_contents AS f ON {}
                    AND f.execution_id = x.id)
         GROUP BY path",
        condition("g.id", "executions"),
        condition("f.id", "executions"),
        condition("f.id", "intents"),
    );
    let insert = "INSERT INTO doc_paths (doc, path, wrote) VALUES (?1, ?2, ?3)";
    source.all(&paths, [execution_id], |row| {
        let (path, wrote): (String, bool) = row.try_into()?;
        Ok(tx.prepare_cached(insert)?.execute((doc, path, wrote))?)
    })?;
    let codes = format!(
        "SELECT code FROM diagnostics WHERE execution_id = ?1 AND code IS NOT NULL
         UNION SELECT g.target FROM executions AS x JOIN edges AS g ON {}
                AND g.execution_id = x.id AND g.target_kind = 'diagnostic'",
        condition("g.id", "executions"),
    );
    let insert = "INSERT INTO doc_codes (doc, code) VALUES (?1, ?2)";
    source.all(&codes, [execution_id], |row| {
        Ok(tx.prepare_cached(insert)?.execute((doc, row.get::<_, String>(0)?))?)
    })?;
    Ok(())
}
