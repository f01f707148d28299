//! Answers a search from the index (SPEC §8): hits with excerpts, counts, and where the next page begins.
//!
//! A search is one FTS5 expression (`expression.rs`). A page reads only its own hits from the index, newest first, and
//! what is shown of them from the rows. Counting needs all hits, and so has a time limit and can go on afterwards.

mod beginnings;
mod excerpt;
mod expression;
mod scan;
mod words;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use uuid::Uuid;

use super::error::Result;
use super::index::text::FieldTexts;
use super::index::{FIELDS, Index, Patience};
use super::rows::{find, value};
use super::source::Source;
use super::{EvidenceError, EvidenceReader, changed, queries, rejections, runs};
use crate::plan::Tool;
use crate::run::{
    ListedExecution, SearchCounts, SearchHit, SearchPage, SearchQuery, StopSignal, TimeBucket,
};
pub use excerpt::Patterns;
use expression::Scope;
use scan::{Counting, Found, count_times, scan};
pub use words::{Term, terms};

/// The maximum number of hits on a page if the query sets no limit.
const DEFAULT_LIMIT: usize = 200;

/// How long a search may take for what can also be done after it.
#[derive(Clone, Copy)]
struct Limits<'a> {
    indexing: Patience<'a>,
    counting: Counting,
    stop: &'a StopSignal,
}

impl EvidenceReader {
    /// Updates the search index; fast if there is nothing new. [`search`](Self::search) calls this first. Calling it
    /// while idle makes the next search faster.
    ///
    /// # Errors
    /// [`EvidenceError::Index`] if another program has changed the index; otherwise as for [`runs`](Self::runs).
    pub fn catch_up_index(&mut self) -> Result<()> {
        self.catch_up(Patience::Whole, &mut |_, _| {})?;
        Ok(())
    }

    /// As [`catch_up_index`](Self::catch_up_index), for at most about this long or until the signal. `progress` is called
    /// a few times a second with the number of indexed records and of all. Returns how many records are not indexed yet.
    ///
    /// # Errors
    /// As for [`catch_up_index`](Self::catch_up_index).
    pub fn catch_up_index_within(
        &mut self,
        limit: Duration,
        stop: &StopSignal,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<u64> {
        let patience = Patience::AtMost(limit, stop);
        match self.catch_up(patience, progress) {
            Err(error) if error.is_index_damage() => {
                self.discard_index();
                self.catch_up(patience, progress)
            }
            result => result,
        }
    }

    fn catch_up(
        &mut self,
        patience: Patience<'_>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<u64> {
        let index = match self.index.take().filter(Index::is_current) {
            Some(index) => Some(index),
            None if self.source()?.is_none() => return Ok(0),
            None => None,
        };
        let mut index = match index {
            Some(index) => index,
            None => Index::open(&self.location.evidence, self.vault.as_ref())?,
        };
        let behind = match self.source()? {
            Some(source) => index.catch_up(&source, patience, progress)?,
            None => 0,
        };
        self.index = Some(index);
        Ok(behind)
    }

    fn discard_index(&mut self) {
        self.index = None;
        Index::discard(&self.location.evidence);
    }

    /// The index, opened if it is not; `None` if there is no evidence.
    fn open_index(&mut self) -> Result<Option<&mut Index>> {
        if self.index.is_none() && self.source()?.is_some() {
            self.index = Some(Index::open(&self.location.evidence, self.vault.as_ref())?);
        }
        Ok(self.index.as_mut())
    }

    /// Searches all executions and interrupted steps by text and by filters. Indexes and counts everything first.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn search(&mut self, query: &SearchQuery) -> Result<SearchPage> {
        let stop = StopSignal::default();
        self.search_by(
            query,
            Limits { indexing: Patience::Whole, counting: Counting::All, stop: &stop },
        )
    }

    /// As [`search`](Self::search), but indexes and counts for at most about these times. The page states what is
    /// missing: [`SearchPage::not_indexed`] and [`SearchCounts::is_partial`]. `None` after the signal.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn search_within(
        &mut self,
        query: &SearchQuery,
        indexing: Duration,
        counting: Duration,
        stop: &StopSignal,
    ) -> Result<Option<SearchPage>> {
        let indexing = Patience::AtMost(indexing, stop);
        unless_stopped(
            self.search_by(query, Limits { indexing, counting: Counting::AtMost(counting), stop }),
        )
    }

    /// Counts the hits of a search to the end; `None` after the signal. For a page whose counts are partial.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn count_hits(
        &mut self,
        query: &SearchQuery,
        stop: &StopSignal,
    ) -> Result<Option<SearchCounts>> {
        let Some(index) = self.open_index()? else { return Ok(Some(SearchCounts::default())) };
        let counts = index.until_stopped(stop, |conn| match Scope::of(conn, query)? {
            Some(scope) => Ok(scan(conn, &scope, 0, Counting::All, stop)?.1),
            None => Ok(SearchCounts::default()),
        });
        unless_stopped(counts)
    }

    /// Counts the hits of a search over time, in at most `most` intervals of equal length, from the first to the last
    /// hit. If the query has both times, the intervals are between these, as far as there are records; so they show where
    /// there are no hits. `None` after the signal.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn timeline(
        &mut self,
        query: &SearchQuery,
        most: u32,
        stop: &StopSignal,
    ) -> Result<Option<Vec<TimeBucket>>> {
        let Some(index) = self.open_index()? else { return Ok(Some(Vec::new())) };
        let buckets = index.until_stopped(stop, |conn| {
            let Some(scope) = Scope::of(conn, query)? else { return Ok(Vec::new()) };
            let range = match query.since_ms.zip(query.until_ms) {
                Some((since, until)) => recorded_times(conn)?
                    .map(|(first, last)| (since.max(first), until.min(last)))
                    .filter(|(since, until)| since <= until),
                None => None,
            };
            count_times(conn, &scope, range, i64::from(most.max(1)), stop)
        });
        unless_stopped(buckets)
    }

    fn search_by(&mut self, query: &SearchQuery, limits: Limits<'_>) -> Result<SearchPage> {
        let mut result = self.search_once(query, limits);
        // A power cut may damage the index, because it is not flushed like the evidence, and other programs may write
        // to it. It is rebuilt once.
        if result.as_ref().is_err_and(EvidenceError::is_index_damage) {
            self.discard_index();
            result = self.search_once(query, limits);
        }
        let mut page = result?;
        let report = self.head_report()?;
        (page.read_only, page.note) = (report.difference, report.note);
        Ok(page)
    }

    fn search_once(&mut self, query: &SearchQuery, limits: Limits<'_>) -> Result<SearchPage> {
        let not_indexed = self.catch_up(limits.indexing, &mut |_, _| {})?;
        let Some(index) = self.index.take() else { return Ok(SearchPage::default()) };
        let page = self.query(|source| {
            // One snapshot: each statement would otherwise lock the evidence anew.
            let _snapshot = source.conn.unchecked_transaction()?;
            index.until_stopped(limits.stop, |conn| page(conn, source, query, limits))
        });
        self.index = Some(index);
        Ok(SearchPage { not_indexed, ..page? })
    }
}

/// The times of the first and the last execution in the index.
fn recorded_times(conn: &Connection) -> Result<Option<(i64, i64)>> {
    let time = |order: &str| -> Result<Option<i64>> {
        let sql = format!("SELECT timestamp FROM docs ORDER BY id {order} LIMIT 1");
        find(conn, &sql, [], |row| Ok(row.get(0)?))
    };
    Ok(time("ASC")?.zip(time("DESC")?))
}

/// `None` for a search that was stopped.
fn unless_stopped<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Err(EvidenceError::Stopped) => Ok(None),
        result => result.map(Some),
    }
}

/// One page of hits, and the counts of all hits.
fn page(
    conn: &Connection,
    source: &Source<'_>,
    query: &SearchQuery,
    limits: Limits<'_>,
) -> Result<SearchPage> {
    let started = Instant::now();
    let scope = Scope::of(conn, query)?;
    let mut page = SearchPage {
        of: value::<i64>(conn, "SELECT docs FROM state", [])?.unsigned_abs(),
        unknown_tool: is_unknown_tool(conn, query.tool.as_deref())?,
        rejections: rejections::number_with(source, &query.words)?,
        ..SearchPage::default()
    };
    if let Some(scope) = scope {
        let limit = if query.limit == 0 { DEFAULT_LIMIT } else { query.limit };
        // The counts are those of the first page.
        let (scope, counting) = match query.after {
            Some(after) => (scope.before(after), Counting::No),
            None => (scope, limits.counting),
        };
        // One more shows whether there is a next page.
        let (mut found, counts) =
            scan(conn, &scope, limit.saturating_add(1), counting, limits.stop)?;
        let has_next = found.len() > limit;
        found.truncate(limit);
        page.next = found.last().map(|found| found.id).filter(|_| has_next);
        page.counts = counts;
        page.hits = hits(source, query, found)?;
    }
    let of_hits: BTreeSet<Uuid> = page.hits.iter().map(|hit| hit.listed.row.run_id).collect();
    for run_id in of_hits {
        page.runs.extend(runs::run(source, run_id)?);
    }
    page.took_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    Ok(page)
}

/// Whether this is neither a tool nor the name that a tool had in an older record.
fn is_unknown_tool(conn: &Connection, tool: Option<&str>) -> Result<bool> {
    let Some(tool) = tool.filter(|tool| Tool::from_name(tool).is_none()) else { return Ok(false) };
    let sql = "SELECT EXISTS (SELECT 1 FROM words WHERE kind = 'tool' AND text = ?1)";
    Ok(!value::<bool>(conn, sql, [tool])?)
}

/// What is shown of these hits, from the rows.
///
/// # Errors
/// [`EvidenceError::Index`] if the index differs from the rows.
fn hits(source: &Source<'_>, query: &SearchQuery, found: Vec<Found>) -> Result<Vec<SearchHit>> {
    let patterns = Patterns::of(&terms(&query.words));
    let mut hits = Vec::with_capacity(found.len());
    for found in found {
        let row = queries::execution_at(source, found.row)?.ok_or(EvidenceError::Index)?;
        if row.timestamp_ms != found.timestamp_ms {
            return Err(EvidenceError::Index);
        }
        let changed = changed::is_changed_at(source.conn, found.row, row.execution_id)?;
        let mut hit = SearchHit {
            listed: ListedExecution { row, changed },
            found_in: String::new(),
            excerpt: String::new(),
            marks: Vec::new(),
        };
        add_excerpt(source, &patterns, &mut hit)?;
        hits.push(hit);
    }
    Ok(hits)
}

/// Adds the words around the first match, from the first field that has one. They come from the rows, because only
/// recorded text may be shown.
fn add_excerpt(source: &Source<'_>, patterns: &Patterns, hit: &mut SearchHit) -> Result<()> {
    if patterns.is_empty() {
        return Ok(());
    }
    let mut texts = FieldTexts::new(source, &hit.listed.row);
    for field in FIELDS {
        let text = texts.field(field)?;
        if let Some((excerpt, marks)) = patterns.excerpt(&text) {
            (hit.excerpt, hit.marks) = (excerpt, marks);
            field.clone_into(&mut hit.found_in);
            break;
        }
    }
    Ok(())
}
