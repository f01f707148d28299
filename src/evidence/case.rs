//! Reads what a case file of one run contains (SPEC §14): the rows of the run with their links, and what its steps did.

use std::collections::HashMap;

use rusqlite::Statement;
use serde_json::Value;
use uuid::Uuid;

use super::chain::Chain;
use super::error::Result;
use super::migrations::FORMAT_WITH_PURGES;
use super::queries::full_content;
use super::rows::{optional, size, written_with};
use super::run_outcome::file_state;
use super::{EvidenceError, EvidenceReader, ledger};
use crate::plan::Digest;
use crate::run::{ArtifactRecord, DecidedBy, DecisionRecord, FileForecast, FileMode, Modes};

/// A row with its link in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerRecord {
    /// The number of the row and of its link.
    pub seq: i64,
    /// The table.
    pub table: String,
    /// The digest of the link before, in 64 hex digits; zeros for the first link.
    pub previous: String,
    /// The digest of this link, in 64 hex digits. Empty if the row is not in the ledger.
    pub digest: String,
    /// The hashed text of the row: canonical JSON of its table and its columns that are not null.
    pub entry: String,
}

/// The end of the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerHead {
    /// The number of rows.
    pub rows: u64,
    /// The digest of the last link.
    pub digest: Digest,
}

/// A decision about a run or one of its steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDecision {
    /// The index of the step, from 0; `None` for a decision about the whole run.
    pub step_index: Option<usize>,
    /// The decision.
    pub record: DecisionRecord,
}

impl Default for LedgerHead {
    fn default() -> Self {
        Self { rows: 0, digest: ledger::GENESIS }
    }
}

/// The numbers of the rows of the run `?1`: how it was authorized, what it did, and the contents that these rows name.
/// The rows of its steps stand between the run and its end, where no index is needed to find them.
const ROWS: &str = "
    WITH run AS (SELECT * FROM runs WHERE id = ?1),
    span AS (SELECT run.row AS first, ifnull((SELECT id FROM run_ends WHERE run_id = ?1),
             (SELECT max(seq) FROM ledger)) AS last FROM run),
    steps AS (SELECT id FROM executions WHERE run_id = ?1
              UNION SELECT id FROM intents WHERE run_id = ?1),
    decided AS (SELECT * FROM decisions WHERE run_id = ?1
                UNION SELECT * FROM decisions
                      WHERE authorization_id = (SELECT authorization_id FROM run)),
    files AS (SELECT f.* FROM span CROSS JOIN file_contents AS f ON f.id BETWEEN first AND last
              WHERE f.execution_id IN steps),
    artifacts AS (SELECT * FROM execution_artifacts WHERE execution_id IN steps),
    bases AS (SELECT substr(json_extract(request_json, '$.base_digest'), 8) AS digest
              FROM decided WHERE decision = 'revise'),
    contents AS (SELECT plan_digest AS digest FROM run UNION SELECT digest FROM bases
                 UNION SELECT blob FROM artifacts UNION SELECT blob FROM decided
                 UNION SELECT before_digest FROM files UNION SELECT after_digest FROM files)
    SELECT row AS seq, 'runs' AS name FROM run
    UNION ALL SELECT p.row, 'plans' FROM run JOIN plans AS p ON p.id = run.plan_digest
    UNION ALL SELECT p.row, 'plans' FROM bases JOIN plans AS p ON p.id = bases.digest
              WHERE p.id <> (SELECT plan_digest FROM run)
    UNION ALL SELECT a.row, 'authorizations' FROM run
              JOIN authorizations AS a ON a.id = run.authorization_id
    UNION ALL SELECT c.row, 'authorization_classes' FROM run
              JOIN authorizations AS a ON a.id = run.authorization_id
              JOIN authorization_classes AS c ON c.id = a.class_id
    UNION ALL SELECT id, 'authorization_uses' FROM authorization_uses
              WHERE authorization_id = (SELECT authorization_id FROM run)
    UNION ALL SELECT a.row, 'attempts' FROM run JOIN attempts AS a ON a.id = run.attempt_id
    UNION ALL SELECT l.row, 'loops' FROM run JOIN attempts AS a ON a.id = run.attempt_id
              JOIN loops AS l ON l.id = a.loop_id
    UNION ALL SELECT row, 'intents' FROM intents WHERE run_id = ?1
    UNION ALL SELECT row, 'executions' FROM executions WHERE run_id = ?1
    UNION ALL SELECT id, 'execution_artifacts' FROM artifacts
    UNION ALL SELECT id, 'diagnostics' FROM diagnostics WHERE execution_id IN steps
    UNION ALL SELECT g.id, 'edges' FROM span CROSS JOIN edges AS g ON g.id BETWEEN first AND last
              WHERE g.execution_id IN steps
    UNION ALL SELECT id, 'file_contents' FROM files
    UNION ALL SELECT id, 'decisions' FROM decided
    UNION ALL SELECT id, 'run_ends' FROM run_ends WHERE run_id = ?1
    UNION ALL SELECT id, 'blobs' FROM blobs WHERE digest IN contents
    UNION ALL SELECT id, 'purges' FROM purges WHERE digest IN contents";

/// As [`ROWS`], which these follow: the purges of records of this run, and which rows between its start and its end are
/// missing.
const PURGES: &str = "
    UNION ALL SELECT id, 'purged_subjects' FROM purged_subjects
              WHERE run_id = ?1 OR content IN contents
    UNION ALL SELECT row, 'record_purges' FROM record_purges WHERE id IN
              (SELECT purge_id FROM purged_subjects WHERE run_id = ?1 OR content IN contents)
    UNION ALL SELECT p.id, 'purged_rows' FROM span CROSS JOIN purged_rows AS p
              ON p.first_row <= last AND p.last_row >= first";

impl EvidenceReader {
    /// Passes the rows of a run with their links to `each`, in the order of the chain: the plan, how it was authorized,
    /// every decision and step, the parts of the contents that they name, and what was purged of them. Purged rows are
    /// in the chain alone, and are left out.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs), and errors of `each`.
    pub fn ledger_of_run<E: From<EvidenceError>>(
        &mut self,
        run_id: Uuid,
        mut each: impl FnMut(LedgerRecord) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut failure = None;
        self.query(|source| {
            let purges = if source.format >= FORMAT_WITH_PURGES { PURGES } else { "" };
            let sql = format!(
                "SELECT found.seq, found.name, ifnull(p.digest, ?2), ifnull(l.digest, '')
                 FROM ({ROWS}{purges}) AS found
                 LEFT JOIN ledger AS l ON l.seq = found.seq AND l.table_name = found.name
                 LEFT JOIN ledger AS p ON p.seq = found.seq - 1 ORDER BY 1"
            );
            let mut readers: HashMap<String, Statement<'_>> = HashMap::new();
            let params = (run_id.to_string(), ledger::GENESIS.hex());
            source.all(&sql, params, |row| {
                if failure.is_some() {
                    return Ok(());
                }
                let (seq, table, previous, digest): (i64, String, String, String) =
                    row.try_into()?;
                if !readers.contains_key(&table) {
                    let sql = format!("SELECT * FROM \"{table}\" WHERE rowid = ?1");
                    readers.insert(table.clone(), source.conn.prepare(&sql)?);
                }
                let Some(reader) = readers.get_mut(&table) else { return Ok(()) };
                let entry = ledger::entry_of(reader, &table, seq)?.unwrap_or_default();
                failure = each(LedgerRecord { seq, table, previous, digest, entry }).err();
                Ok(())
            })?;
            Ok(())
        })?;
        failure.map_or(Ok(()), Err)
    }

    /// The end of the chain.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn ledger_head(&mut self) -> Result<LedgerHead> {
        self.query(|source| {
            let Chain { rows, head } = Chain::of(source.conn)?;
            Ok(LedgerHead { rows: rows.unsigned_abs(), digest: head })
        })
    }

    /// Every decision about a run: about its authorization, about its steps, and about its course, by time.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn decisions_of_run(&mut self, run_id: Uuid) -> Result<Vec<RunDecision>> {
        let sql =
            "SELECT decision, decided_by, user_name, note, timestamp, step_index FROM decisions
             WHERE run_id = ?1
                OR authorization_id = (SELECT authorization_id FROM runs WHERE id = ?1)
             ORDER BY timestamp, id";
        self.query(|source| {
            source.all(sql, [run_id.to_string()], |row| {
                Ok(RunDecision {
                    step_index: optional(row, 5, size)?,
                    record: DecisionRecord {
                        decision: row.get(0)?,
                        by: DecidedBy { place: row.get(1)?, user: row.get(2)? },
                        note: row.get(3)?,
                        timestamp_ms: row.get(4)?,
                    },
                })
            })
        })
    }

    /// The changes of files that an execution made, or that were predicted of a step without an outcome.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn file_changes(&mut self, execution_id: Uuid) -> Result<Vec<FileForecast>> {
        let select = |table: &str, phase: &str| {
            format!(
                "SELECT f.path, f.before_digest, f.after_digest, f.before_mode, f.after_mode, f.id
                 FROM {table} AS x JOIN file_contents AS f ON {}
                 WHERE x.id = ?1 AND f.execution_id = x.id AND f.phase = '{phase}'",
                written_with("f.id", table, "x.row")
            )
        };
        let sql = format!(
            "{} UNION ALL {} AND NOT EXISTS (SELECT 1 FROM executions AS e WHERE e.id = ?1)
             ORDER BY 6",
            select("executions", "actual"),
            select("intents", "predicted")
        );
        self.query(|source| {
            source.all(&sql, [execution_id.to_string()], |row| {
                let mode = |column| {
                    let bits = row.get::<_, Option<u32>>(column)?;
                    Ok::<_, EvidenceError>(bits.map(FileMode::new))
                };
                Ok(FileForecast {
                    path: row.get(0)?,
                    before: file_state(row.get(1)?)?,
                    after: file_state(row.get(2)?)?,
                    modes: Modes { before: mode(3)?, after: mode(4)? },
                })
            })
        })
    }

    /// The complete JSON value of an artifact; an empty array if its content was purged or is no JSON.
    ///
    /// # Errors
    /// [`NotAvailable`](EvidenceError::NotAvailable) if it is encrypted; otherwise as for [`runs`](Self::runs).
    pub fn artifact_value(&mut self, artifact: &ArtifactRecord) -> Result<Value> {
        self.query(|source| full_content(source, artifact))
    }
}
