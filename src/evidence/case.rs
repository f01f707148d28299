//! Reads what a case file of one run, a proof or an attestation contains (SPEC §14): rows with their links, and what steps did.

use std::collections::HashMap;

use rusqlite::Statement;
use serde_json::Value;
use uuid::Uuid;

use super::chain::Chain;
use super::error::Result;
use super::migrations::{FORMAT_WITH_PURGES, FORMAT_WITH_SIGNATURES};
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

impl LedgerRecord {
    /// Whether the row is the one that the link was computed from.
    pub fn is_unchanged(&self) -> bool {
        let link = |previous: Digest| ledger::link(&previous, &self.entry);
        self.previous.parse().is_ok_and(|previous| link(previous).is_hex(&self.digest))
    }
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

/// Which records are read with their links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordsOf {
    /// The records of a run: how it was authorized, what it did, and the contents that these records name.
    Run(Uuid),
    /// The records of one execution, and those of its run that say how it was authorized and how it ended.
    Execution(Uuid),
    /// The record with this number.
    Record(i64),
}

/// The tables of [`ROWS`] for the run `?1`. The rows of its steps stand between the run and its end, where no index is needed
/// to find them.
const OF_RUN: &str = "
    WITH run AS (SELECT * FROM runs WHERE id = ?1),
    span AS (SELECT run.row AS first, ifnull((SELECT id FROM run_ends WHERE run_id = ?1),
             (SELECT max(seq) FROM ledger)) AS last FROM run),
    steps AS (SELECT id FROM executions WHERE run_id = ?1
              UNION SELECT id FROM intents WHERE run_id = ?1),
    decided AS (SELECT * FROM decisions WHERE run_id = ?1
                UNION SELECT * FROM decisions
                      WHERE authorization_id = (SELECT authorization_id FROM run)),";

/// The tables of [`ROWS`] for the execution `?1`. Its rows stand between its intent and the next execution.
const OF_EXECUTION: &str = "
    WITH own AS (SELECT row, run_id FROM executions WHERE id = ?1),
    begun AS (SELECT row, run_id FROM intents WHERE id = ?1),
    run AS (SELECT * FROM runs WHERE id = ifnull((SELECT run_id FROM own),
                                                (SELECT run_id FROM begun))),
    span AS (SELECT ifnull((SELECT row FROM begun), (SELECT row FROM own)) AS first,
             ifnull((SELECT min(row) FROM executions WHERE row > (SELECT row FROM own)),
                    (SELECT max(seq) FROM ledger)) AS last),
    steps AS (SELECT ?1 AS id),
    decided AS (SELECT * FROM decisions WHERE execution_id = ?1
                UNION SELECT * FROM decisions
                      WHERE authorization_id = (SELECT authorization_id FROM run)),";

/// The numbers of the rows, which [`OF_RUN`] or [`OF_EXECUTION`] precedes.
const ROWS: &str = "
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
    UNION ALL SELECT row, 'intents' FROM intents WHERE id IN steps
    UNION ALL SELECT row, 'executions' FROM executions WHERE id IN steps
    UNION ALL SELECT id, 'execution_artifacts' FROM artifacts
    UNION ALL SELECT id, 'diagnostics' FROM diagnostics WHERE execution_id IN steps
    UNION ALL SELECT g.id, 'edges' FROM span CROSS JOIN edges AS g ON g.id BETWEEN first AND last
              WHERE g.execution_id IN steps
    UNION ALL SELECT id, 'file_contents' FROM files
    UNION ALL SELECT id, 'decisions' FROM decided
    UNION ALL SELECT id, 'run_ends' FROM run_ends WHERE run_id = (SELECT id FROM run)
    UNION ALL SELECT id, 'blobs' FROM blobs WHERE digest IN contents
    UNION ALL SELECT id, 'purges' FROM purges WHERE digest IN contents";

/// As [`ROWS`], which these follow: the purges of records of this run, and which rows between its start and its end are
/// missing.
const PURGES: &str = "
    UNION ALL SELECT id, 'purged_subjects' FROM purged_subjects
              WHERE run_id = (SELECT id FROM run) OR content IN contents
    UNION ALL SELECT row, 'record_purges' FROM record_purges WHERE id IN
              (SELECT purge_id FROM purged_subjects
               WHERE run_id = (SELECT id FROM run) OR content IN contents)
    UNION ALL SELECT p.id, 'purged_rows' FROM span CROSS JOIN purged_rows AS p
              ON p.first_row <= last AND p.last_row >= first";

/// As [`ROWS`], which these follow: the signatures of the authorization and of the end of the run.
const SIGNATURES: &str = "
    UNION ALL SELECT id, 'signatures' FROM signatures
              WHERE run_id = (SELECT id FROM run)
                 OR authorization_id = (SELECT authorization_id FROM run)";

impl RecordsOf {
    /// The query for the numbers and tables of these rows in a database of this format, and its parameter.
    fn numbers(self, format: i64) -> (String, String) {
        let purges = if format >= FORMAT_WITH_PURGES { PURGES } else { "" };
        let signed = if format >= FORMAT_WITH_SIGNATURES { SIGNATURES } else { "" };
        match self {
            Self::Run(id) => (format!("{OF_RUN}{ROWS}{purges}{signed}"), id.to_string()),
            Self::Execution(id) => {
                (format!("{OF_EXECUTION}{ROWS}{purges}{signed}"), id.to_string())
            }
            Self::Record(number) => {
                let sql = "SELECT seq, table_name AS name FROM ledger WHERE seq = ?1";
                (sql.to_owned(), number.to_string())
            }
        }
    }
}

impl EvidenceReader {
    /// Passes rows with their links to `each`, in the order of the chain. Of a run: the plan, how it was authorized, every
    /// decision and step, the parts of the contents that they name, and what was purged of them. Purged rows are in the
    /// chain alone, and are left out.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs), and errors of `each`.
    pub fn ledger_of<E: From<EvidenceError>>(
        &mut self,
        records: RecordsOf,
        mut each: impl FnMut(LedgerRecord) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut failure = None;
        self.query(|source| {
            let (numbers, of) = records.numbers(source.format);
            let sql = format!(
                "SELECT found.seq, found.name, ifnull(p.digest, ?2), ifnull(l.digest, '')
                 FROM ({numbers}) AS found
                 LEFT JOIN ledger AS l ON l.seq = found.seq AND l.table_name = found.name
                 LEFT JOIN ledger AS p ON p.seq = found.seq - 1 ORDER BY 1"
            );
            let mut readers: HashMap<String, Statement<'_>> = HashMap::new();
            let params = (of, ledger::GENESIS.hex());
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

    /// The numbers of these rows, in the order of the chain.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn ledger_numbers(&mut self, records: RecordsOf) -> Result<Vec<i64>> {
        self.query(|source| {
            let (numbers, of) = records.numbers(source.format);
            let sql = format!("SELECT seq FROM ({numbers}) ORDER BY 1");
            source.all(&sql, [of], |row| Ok(row.get(0)?))
        })
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
