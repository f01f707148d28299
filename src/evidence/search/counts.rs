//! Counts the hits of a search: how many there are, how often each value occurs, and when.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::expression::Scope;
use crate::evidence::error::Result;
use crate::evidence::rows::{find, list, value};
use crate::evidence::{EvidenceError, EvidenceReader};
use crate::run::{Facets, SearchCounts, StopSignal, TimeBucket};

/// The maximum number of bars in the timeline.
const BUCKETS: i64 = 60;
/// The number of hits after which the time and the stop signal are checked.
const CHECK_EVERY: u64 = 1_024;
/// The outcomes that the timeline does not count as failures.
const FINE: [&str; 4] = ["succeeded", "skipped", "done_by_hand", "running"];
/// The columns of `docs` with a facet, in the order of [`Facets`].
const COLUMNS: [&str; 6] = ["outcome", "tool", "risk", "host", "plan", "user"];

/// Counts the hits, newest first, for at most about this long.
///
/// # Errors
/// [`EvidenceError::Stopped`] after the signal, and any error of the index.
pub(super) fn counts(
    conn: &Connection,
    scope: &Scope,
    limit: Option<Duration>,
    stop: &StopSignal,
) -> Result<SearchCounts> {
    let started = Instant::now();
    let mut counts = SearchCounts::default();
    let Some(mut timeline) = Timeline::new(conn, scope)? else { return Ok(counts) };
    let fine: Vec<i64> =
        list(conn, "SELECT id FROM words WHERE kind = 'outcome'", [], |row| Ok(row.get(0)?))?;
    let fine: Vec<i64> = fine
        .into_iter()
        .filter(|id| word(conn, *id).is_ok_and(|word| FINE.contains(&&*word)))
        .collect();
    let mut combinations: HashMap<[i64; COLUMNS.len()], u64> = HashMap::new();
    let columns = COLUMNS.map(|column| format!("d.{column}")).join(", ");
    let sql = format!("{} DESC", scope.select(&format!("d.timestamp, {columns}")));
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(scope.params())?;
    while let Some(row) = rows.next()? {
        let mut combination = [0; COLUMNS.len()];
        for (n, id) in combination.iter_mut().enumerate() {
            *id = row.get(n + 1)?;
        }
        timeline.add(row.get(0)?, fine.contains(&combination[0]));
        *combinations.entry(combination).or_default() += 1;
        counts.total += 1;
        if counts.total % CHECK_EVERY == 0 {
            if stop.is_set() {
                return Err(EvidenceError::Stopped);
            }
            if limit.is_some_and(|limit| started.elapsed() >= limit) {
                counts.is_partial = true;
                break;
            }
        }
    }
    counts.timeline = timeline.buckets;
    let facet = |column: usize| facet(conn, &combinations, column);
    counts.facets = Facets {
        outcome: facet(0)?,
        tool: facet(1)?,
        risk: facet(2)?,
        host: facet(3)?,
        plan: facet(4)?,
        by: facet(5)?,
    };
    Ok(counts)
}

/// The word with this number.
fn word(conn: &Connection, id: i64) -> Result<String> {
    value(conn, "SELECT text FROM words WHERE id = ?1", [id])
}

/// The number of hits for each value of a column, most frequent first.
fn facet(
    conn: &Connection,
    combinations: &HashMap<[i64; COLUMNS.len()], u64>,
    column: usize,
) -> Result<Vec<(String, u64)>> {
    let mut numbers: BTreeMap<i64, u64> = BTreeMap::new();
    for (combination, number) in combinations {
        let id = combination.get(column).copied().unwrap_or_default();
        *numbers.entry(id).or_default() += number;
    }
    // A host is missing where there is none.
    numbers.remove(&0);
    let values = numbers.into_iter().map(|(id, number)| Ok((word(conn, id)?, number)));
    let mut values = values.collect::<Result<Vec<_>>>()?;
    values.sort_by(|(a, of_a), (b, of_b)| of_b.cmp(of_a).then_with(|| a.cmp(b)));
    Ok(values)
}

/// The numbers of hits in at most [`BUCKETS`] intervals of equal length.
struct Timeline {
    first: i64,
    width: i64,
    buckets: Vec<TimeBucket>,
}

impl Timeline {
    /// The empty intervals between the oldest and the newest hit; `None` without hits.
    fn new(conn: &Connection, scope: &Scope) -> Result<Option<Self>> {
        let select = scope.select("d.timestamp");
        let end = |order: &str| {
            let sql = format!("{select} {order} LIMIT 1");
            find::<i64>(conn, &sql, scope.params(), |row| Ok(row.get(0)?))
        };
        let (Some(first), Some(last)) = (end("ASC")?, end("DESC")?) else { return Ok(None) };
        let (first, last) = (first.min(last), first.max(last));
        let span = last.saturating_sub(first).saturating_add(1);
        let width = span / BUCKETS + i64::from(span % BUCKETS != 0);
        let buckets = (0..span.div_euclid(width) + i64::from(span % width != 0))
            .map(|n| TimeBucket {
                from_ms: first + n * width,
                to_ms: first + (n + 1) * width,
                fine: 0,
                bad: 0,
            })
            .collect();
        Ok(Some(Self { first, width, buckets }))
    }

    fn add(&mut self, timestamp_ms: i64, is_fine: bool) {
        let index = usize::try_from((timestamp_ms - self.first) / self.width).unwrap_or_default();
        // A hit that was recorded out of order may be later than the last one.
        let index = index.min(self.buckets.len().saturating_sub(1));
        if let Some(bucket) = self.buckets.get_mut(index) {
            if is_fine { bucket.fine += 1 } else { bucket.bad += 1 }
        }
    }
}

impl EvidenceReader {
    /// Counts the hits of a search to the end; `None` after the signal. For a page whose counts are partial.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn count_hits(
        &mut self,
        query: &crate::run::SearchQuery,
        stop: &StopSignal,
    ) -> Result<Option<SearchCounts>> {
        let index = self.open_index()?;
        let Some(index) = index else { return Ok(Some(SearchCounts::default())) };
        let counts = index.until_stopped(stop, |conn| match Scope::of(conn, query)? {
            Some(scope) => counts(conn, &scope, None, stop),
            None => Ok(SearchCounts::default()),
        });
        super::unless_stopped(counts)
    }
}
