//! Fills the search index from the rows (SPEC §8).

use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rusqlite::{Transaction, TransactionBehavior, params};

use super::batch::{self, Document, RunFacts};
use super::place::{self, Last};
use super::{Index, Patience, numbers};
use crate::evidence::EvidenceError;
use crate::evidence::error::{LOCK_TIMEOUT, Result};
use crate::evidence::migrations::FORMAT_WITH_PURGES;
use crate::evidence::rows::{find, list, value};
use crate::evidence::source::Source;
use crate::run::Known;

/// The number of executions that are read at a time.
const BATCH: i64 = 500;
/// The time after which the documents so far are committed, so that searches and other processes do not wait longer.
const COMMIT_AFTER: Duration = Duration::from_millis(400);
/// How long a search waits for another process that writes the index, before it uses the index as it is.
const SEARCH_WAITS: Duration = Duration::from_millis(250);

impl Index {
    /// Indexes rows that were recorded since the last call, and calls `progress` between commits with the number of
    /// indexed records and of all. Returns how many records are not indexed yet.
    ///
    /// # Errors
    /// [`EvidenceError::Index`] if another program has changed the index; [`EvidenceError::Locked`] if another process
    /// holds its lock for too long; and any error of either database.
    pub(in crate::evidence) fn catch_up(
        &mut self,
        source: &Source<'_>,
        patience: Patience<'_>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<u64> {
        let started = Instant::now();
        loop {
            let wait = match patience {
                Patience::Whole => LOCK_TIMEOUT,
                Patience::AtMost(..) => SEARCH_WAITS,
            };
            // Taken for each commit, so that another process can search or index in between.
            let lock = match self.seal.as_ref().map(|seal| seal.lock(wait)).transpose() {
                Err(EvidenceError::Locked) if matches!(patience, Patience::AtMost(..)) => {
                    return self.records_behind(source);
                }
                lock => lock?,
            };
            if self.seal.as_ref().is_some_and(|seal| !seal.matches(&self.path)) {
                return Err(EvidenceError::Index);
            }
            let before = self.conn.total_changes();
            let result = self.index_and_commit(source, patience, started);
            if self.conn.total_changes() != before
                && let Some(seal) = &self.seal
            {
                seal.update(&self.path)?;
            }
            drop(lock);
            let (seq, head) = result?;
            let behind = head.saturating_sub(seq).unsigned_abs();
            if behind == 0 || patience.is_over(started) {
                return Ok(behind);
            }
            progress(seq.unsigned_abs(), head.unsigned_abs());
            // The lock is not handed on in order: without a pause, nobody else might ever get it.
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The number of records that are not indexed.
    fn records_behind(&self, source: &Source<'_>) -> Result<u64> {
        let seq: i64 = value(&self.conn, "SELECT seq FROM state", [])?;
        Ok(source.length()?.saturating_sub(seq).max(0).unsigned_abs())
    }

    /// Indexes the next rows in one transaction. Returns the numbers of the last indexed and of the last row.
    fn index_and_commit(
        &mut self,
        source: &Source<'_>,
        patience: Patience<'_>,
        started: Instant,
    ) -> Result<(i64, i64)> {
        let (mut seq, digest, purge): (i64, String, i64) =
            self.conn
                .query_row("SELECT seq, digest, purge FROM state", [], |row| row.try_into())?;
        let last_purge = last_purge(source)?;
        let head = source.length()?;
        let is_same = seq == 0 || link_at(source, seq)?.as_deref() == Some(digest.as_str());
        if seq > 0 && is_same && last_purge > purge {
            // The file still has words of what was purged, also in pages that are free. The caller deletes it.
            return Err(EvidenceError::Index);
        }
        if is_same && head == seq {
            self.update_running(source)?;
            return Ok((seq, head));
        }
        let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if !is_same {
            // Another database was indexed.
            tx.execute_batch(
                "DELETE FROM docs; DELETE FROM words;
                 INSERT INTO texts (texts) VALUES ('delete-all');
                 UPDATE state SET seq = 0, docs = 0;",
            )?;
            seq = 0;
        }
        let began = Instant::now();
        let mut writer = Writer::new(&tx, source)?;
        while seq < head {
            let end = batch::end_of_batch(source, seq, head, BATCH)?;
            // One snapshot: each statement would otherwise lock the evidence anew.
            let snapshot = source.conn.unchecked_transaction()?;
            writer.add_all(batch::read(source, seq, end, &writer.open)?)?;
            drop(snapshot);
            seq = end;
            if began.elapsed() >= COMMIT_AFTER || patience.is_over(started) {
                break;
            }
        }
        let docs = writer.docs;
        let digest = link_at(source, seq)?.unwrap_or_default();
        tx.execute(
            "UPDATE state SET seq = ?1, digest = ?2, docs = docs + ?3, purge = ?4",
            params![seq, digest, docs, last_purge],
        )?;
        tx.commit()?;
        if seq == head {
            self.update_running(source)?;
        }
        Ok((seq, head))
    }

    /// Updates the steps that were running and are interrupted now.
    fn update_running(&mut self, source: &Source<'_>) -> Result<()> {
        let sql = "SELECT row FROM docs WHERE open > 0 AND open = 1";
        let running: Vec<i64> = list(&self.conn, sql, [], |row| Ok(row.get(0)?))?;
        let mut interrupted = Vec::new();
        for row in running {
            let found = batch::read_intent(source, row)?;
            interrupted.extend(found.filter(|it| it.outcome.as_deref() != Some(RUNNING)));
        }
        if interrupted.is_empty() {
            return Ok(());
        }
        let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut writer = Writer::new(&tx, source)?;
        for mut document in interrupted {
            document.earlier_intent = Some(document.row);
            writer.add(&document)?;
        }
        let docs = writer.docs;
        tx.execute("UPDATE state SET docs = docs + ?1", [docs])?;
        tx.commit()?;
        Ok(())
    }
}

/// The outcome of a step that is running.
const RUNNING: &str = Known::Running.as_str();

/// The row of the last purge; 0 if there was none.
fn last_purge(source: &Source<'_>) -> Result<i64> {
    if source.format < FORMAT_WITH_PURGES {
        return Ok(0);
    }
    let sql = "SELECT coalesce(max(row), 0) FROM record_purges";
    Ok(source.first(sql, [], |row| Ok(row.get(0)?))?.unwrap_or_default())
}

fn link_at(source: &Source<'_>, seq: i64) -> Result<Option<String>> {
    source.first("SELECT digest FROM ledger WHERE seq = ?1", [seq], |row| Ok(row.get(0)?))
}

/// Adds documents in a transaction.
struct Writer<'t> {
    tx: &'t Transaction<'t>,
    source: &'t Source<'t>,
    last: Last,
    /// The numbers of words, by kind and text.
    words: HashMap<&'static str, HashMap<String, i64>>,
    runs: HashMap<String, Option<Rc<RunFacts>>>,
    /// The rows of the intents in the index, by the id of their execution.
    open: HashMap<String, i64>,
    /// How many documents were added, less those that were removed.
    docs: i64,
}

impl<'t> Writer<'t> {
    fn new(tx: &'t Transaction<'t>, source: &'t Source<'t>) -> Result<Self> {
        let mut open = HashMap::new();
        for row in list(tx, "SELECT row FROM docs WHERE open > 0", [], |row| Ok(row.get(0)?))? {
            let sql = "SELECT id FROM intents WHERE row = ?1";
            let id: Option<String> = source.first(sql, [row], |row| Ok(row.get(0)?))?;
            open.extend(id.map(|id| (id, row)));
        }
        let (words, runs) = (HashMap::new(), HashMap::new());
        Ok(Self { tx, source, last: place::last(tx)?, words, runs, open, docs: 0 })
    }

    /// Adds documents in the order of their numbers.
    fn add_all(&mut self, mut documents: Vec<Document>) -> Result<()> {
        documents.sort_by_key(|it| (it.timestamp_ms, it.row));
        documents.iter().try_for_each(|document| self.add(document))
    }

    /// Adds a document, in place of that of its intent.
    fn add(&mut self, document: &Document) -> Result<()> {
        if let Some(intent_row) = document.earlier_intent {
            self.open.remove(&document.id);
            self.remove(intent_row)?;
        }
        if document.is_intent {
            self.open.insert(document.id.clone(), document.row);
        }
        if !self.runs.contains_key(&document.run_id) {
            let facts = batch::run_facts(self.source, &document.run_id)?;
            self.runs.insert(document.run_id.clone(), facts.map(Rc::new));
        }
        let Some(run) = self.runs.get(&document.run_id).cloned().flatten() else { return Ok(()) };
        let outcome = document.outcome.as_deref().unwrap_or_default();
        let (id, last) = place::place(self.tx, self.last, document.timestamp_ms)?;
        self.last = last;
        let open = match document.is_intent {
            false => 0,
            true if outcome == RUNNING => 1,
            true => 2,
        };
        let host = document.host.as_deref();
        let values = params![
            id,
            document.row,
            document.timestamp_ms,
            open,
            self.word("outcome", outcome)?,
            self.word("tool", &document.tool)?,
            self.word("risk", &document.risk)?,
            host.map_or(Ok(0), |host| self.word("host", host))?,
            self.word("plan", &run.plan_id)?,
            self.word("user", &run.user)?,
            self.words("code", &document.codes)?,
            self.words("path", document.paths.keys())?,
        ];
        let sql = "INSERT INTO docs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
        self.tx.prepare_cached(sql)?.execute(values)?;
        let words = document.words(self.source, &run, outcome)?;
        let sql = "INSERT INTO texts (rowid, text) VALUES (?1, ?2)";
        self.tx.prepare_cached(sql)?.execute((id, words))?;
        self.docs += 1;
        Ok(())
    }

    /// Removes the document of this intent, if there is one.
    fn remove(&mut self, intent_row: i64) -> Result<()> {
        let sql = "SELECT id FROM docs WHERE open > 0 AND row = ?1";
        let Some(id) = find::<i64>(self.tx, sql, [intent_row], |row| Ok(row.get(0)?))? else {
            return Ok(());
        };
        for sql in ["DELETE FROM docs WHERE id = ?1", "DELETE FROM texts WHERE rowid = ?1"] {
            self.tx.prepare_cached(sql)?.execute([id])?;
        }
        self.docs -= 1;
        Ok(())
    }

    /// The numbers of words, as one column.
    fn words<'w>(
        &mut self,
        kind: &'static str,
        texts: impl IntoIterator<Item = &'w String>,
    ) -> Result<Vec<u8>> {
        let numbers: Result<Vec<_>> = texts.into_iter().map(|text| self.word(kind, text)).collect();
        numbers::column(numbers?)
    }

    /// The number of a word in `words`.
    fn word(&mut self, kind: &'static str, text: &str) -> Result<i64> {
        let known = self.words.entry(kind).or_default();
        if let Some(id) = known.get(text) {
            return Ok(*id);
        }
        let sql = "SELECT id FROM words WHERE kind = ?1 AND text = ?2";
        let id = match find(self.tx, sql, [kind, text], |row| Ok(row.get(0)?))? {
            Some(id) => id,
            None => {
                let sql = "INSERT INTO words (kind, text) VALUES (?1, ?2)";
                self.tx.prepare_cached(sql)?.insert([kind, text])?
            }
        };
        known.insert(text.to_owned(), id);
        Ok(id)
    }
}
