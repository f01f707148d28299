//! Walks the hits of a search in the index, newest first: the first ones are the page, and all are counted.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::expression::Scope;
use crate::evidence::EvidenceError;
use crate::evidence::error::Result;
use crate::evidence::index::numbers;
use crate::evidence::rows::value;
use crate::run::{Facets, SearchCounts, StopSignal, TimeBucket};

/// The maximum number of bars in the timeline of a page.
const BUCKETS: i64 = 60;
/// The number of hits after which the time and the stop signal are checked.
const CHECK_EVERY: u64 = 1_024;
/// The outcomes that the timeline does not count as failures.
const FINE: [&str; 5] = ["succeeded", "skipped", "done_by_hand", "cancelled", "running"];
/// The columns of `docs` with one value, in the order of [`Facets`].
const COLUMNS: [&str; 6] = ["outcome", "tool", "risk", "host", "plan", "user"];
/// The columns with any number of values, in this order too.
const LISTS: [&str; 2] = ["codes", "paths"];
/// The maximum number of values of a facet: the most frequent ones.
const MAX_VALUES: usize = 200;

/// The numbers of the values of an execution in the columns with a facet.
type Values = [i64; COLUMNS.len()];

/// How far hits are counted.
#[derive(Clone, Copy)]
pub(super) enum Counting {
    /// Not at all.
    No,
    /// For at most about this long; the rest is counted later.
    AtMost(Duration),
    /// To the end.
    All,
}

/// A hit in the index.
pub(super) struct Found {
    pub(super) id: i64,
    /// The number of the row of the execution or intent.
    pub(super) row: i64,
    pub(super) timestamp_ms: i64,
}

/// The first `limit` hits, and the counts.
///
/// # Errors
/// [`EvidenceError::Stopped`] after the signal, and any error of the index.
pub(super) fn scan(
    conn: &Connection,
    scope: &Scope,
    limit: usize,
    counting: Counting,
    stop: &StopSignal,
) -> Result<(Vec<Found>, SearchCounts)> {
    let started = Instant::now();
    let (mut found, mut total, mut is_partial) = (Vec::new(), 0_u64, false);
    let mut combinations: HashMap<Values, u64> = HashMap::new();
    // By the number of the word.
    let mut lists: [Vec<u64>; LISTS.len()] = Default::default();
    let mut times: Vec<(i64, i64)> = Vec::new();
    let columns: Vec<_> = COLUMNS.iter().chain(&LISTS).map(|it| format!("d.{it}")).collect();
    let columns = columns.join(", ");
    let sql = scope.select(&format!("d.id, d.row, d.timestamp, {columns}"));
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(scope.params())?;
    while let Some(row) = rows.next()? {
        let timestamp_ms = row.get(2)?;
        if found.len() < limit {
            found.push(Found { id: row.get(0)?, row: row.get(1)?, timestamp_ms });
        }
        let is_page_full = found.len() == limit;
        if let Counting::No = counting {
            if is_page_full {
                break;
            }
            continue;
        }
        let mut values = Values::default();
        for (n, id) in values.iter_mut().enumerate() {
            *id = row.get(n + 3)?;
        }
        for (n, counts) in lists.iter_mut().enumerate() {
            for id in numbers(row.get_ref(n + 3 + COLUMNS.len())?.as_blob().unwrap_or_default()) {
                if counts.len() <= id {
                    counts.resize(id + 1, 0);
                }
                counts.get_mut(id).into_iter().for_each(|count| *count += 1);
            }
        }
        times.push((timestamp_ms, values[0]));
        *combinations.entry(values).or_default() += 1;
        total += 1;
        if total % CHECK_EVERY == 0 {
            if stop.is_set() {
                return Err(EvidenceError::Stopped);
            }
            if let Counting::AtMost(most) = counting
                && is_page_full
                && started.elapsed() >= most
            {
                is_partial = true;
                break;
            }
        }
    }
    let counts = SearchCounts {
        total,
        is_partial,
        facets: facets(conn, &combinations, &lists)?,
        timeline: timeline(conn, &times, None, BUCKETS)?,
    };
    Ok((found, counts))
}

/// The word with this number.
fn word(conn: &Connection, id: i64) -> Result<String> {
    value(conn, "SELECT text FROM words WHERE id = ?1", [id])
}

fn facets(
    conn: &Connection,
    combinations: &HashMap<Values, u64>,
    [codes, paths]: &[Vec<u64>; LISTS.len()],
) -> Result<Facets> {
    // The number of hits for each value of a column, most frequent first.
    let facet = |column: usize| -> Result<Vec<(String, u64)>> {
        let mut numbers: BTreeMap<i64, u64> = BTreeMap::new();
        for (values, number) in combinations {
            *numbers.entry(values.get(column).copied().unwrap_or_default()).or_default() += number;
        }
        // A host is missing where there is none.
        numbers.remove(&0);
        most_frequent(conn, numbers.into_iter().collect())
    };
    let list = |counts: &[u64]| {
        let counted = (0..).zip(counts).filter(|(_, number)| **number > 0);
        most_frequent(conn, counted.map(|(id, number)| (id, *number)).collect())
    };
    Ok(Facets {
        outcome: facet(0)?,
        tool: facet(1)?,
        risk: facet(2)?,
        host: facet(3)?,
        plan: facet(4)?,
        by: facet(5)?,
        code: list(codes)?,
        path: list(paths)?,
    })
}

/// The words with these numbers of hits, most frequent first.
fn most_frequent(conn: &Connection, mut counted: Vec<(i64, u64)>) -> Result<Vec<(String, u64)>> {
    counted.sort_by_key(|(id, number)| (Reverse(*number), *id));
    counted.truncate(MAX_VALUES);
    let values = counted.into_iter().map(|(id, number)| Ok((word(conn, id)?, number)));
    let mut values = values.collect::<Result<Vec<_>>>()?;
    values.sort_by(|(a, of_a), (b, of_b)| of_b.cmp(of_a).then_with(|| a.cmp(b)));
    Ok(values)
}

/// The numbers of all hits over time, in at most `most` intervals of equal length: from the first to the last time of
/// `range`, both included, or else from the first to the last hit.
///
/// # Errors
/// [`EvidenceError::Stopped`] after the signal, and any error of the index.
pub(super) fn count_times(
    conn: &Connection,
    scope: &Scope,
    range: Option<(i64, i64)>,
    most: i64,
    stop: &StopSignal,
) -> Result<Vec<TimeBucket>> {
    let mut times: Vec<(i64, i64)> = Vec::new();
    let mut statement = conn.prepare_cached(&scope.select("d.timestamp, d.outcome"))?;
    let mut rows = statement.query(scope.params())?;
    while let Some(row) = rows.next()? {
        times.push((row.get(0)?, row.get(1)?));
        if (times.len() as u64).is_multiple_of(CHECK_EVERY) && stop.is_set() {
            return Err(EvidenceError::Stopped);
        }
    }
    timeline(conn, &times, range, most)
}

/// The numbers of hits in at most `most` intervals of equal length, from the times and outcomes of the hits.
fn timeline(
    conn: &Connection,
    times: &[(i64, i64)],
    range: Option<(i64, i64)>,
    most: i64,
) -> Result<Vec<TimeBucket>> {
    let found = times.iter().map(|(ms, _)| *ms);
    let Some((first, last)) = range.or_else(|| found.clone().min().zip(found.max())) else {
        return Ok(Vec::new());
    };
    let span = last.saturating_sub(first).saturating_add(1);
    let width = span / most + i64::from(span % most != 0);
    let mut buckets: Vec<_> = (0..span.div_euclid(width) + i64::from(span % width != 0))
        .map(|n| TimeBucket {
            from_ms: first + n * width,
            to_ms: first + (n + 1) * width,
            fine: 0,
            bad: 0,
        })
        .collect();
    let mut fine: HashMap<i64, bool> = HashMap::new();
    for (ms, outcome) in times {
        let is_fine = match fine.get(outcome) {
            Some(is_fine) => *is_fine,
            None => {
                let is_fine = FINE.contains(&&*word(conn, *outcome)?);
                fine.insert(*outcome, is_fine);
                is_fine
            }
        };
        let index = usize::try_from((ms - first).div_euclid(width)).unwrap_or(usize::MAX);
        if let Some(bucket) = buckets.get_mut(index) {
            let number = if is_fine { &mut bucket.fine } else { &mut bucket.bad };
            *number += 1;
        }
    }
    Ok(buckets)
}
