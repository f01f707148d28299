//! The numbers of documents. They follow the time of the executions and, within a millisecond, the order of recording.

use rusqlite::Connection;

use crate::evidence::error::Result;
use crate::evidence::rows::find;

/// The numbers of each millisecond, as a power of two. More executions in one millisecond take numbers of the next ones.
const BITS: u32 = 5;
/// The latest time that has numbers of its own, in Unix milliseconds: far in the future.
const LATEST_MS: i64 = i64::MAX >> (BITS + 2);

/// The first number of a millisecond. No execution of a later time has a smaller one.
fn first_id(timestamp_ms: i64) -> i64 {
    timestamp_ms.clamp(0, LATEST_MS) << BITS
}

/// The last document: its number and its time in Unix milliseconds.
pub(super) type Last = Option<(i64, i64)>;

pub(super) fn last(conn: &Connection) -> Result<Last> {
    let sql = "SELECT id, timestamp FROM docs ORDER BY id DESC LIMIT 1";
    find(conn, sql, [], |row| Ok(row.try_into()?))
}

/// The number for a new document, and the last document with it. An execution is usually recorded in the order of
/// time; one that took longer than others beside it gets a free number between them.
///
/// # Errors
/// Any error of the index.
pub(super) fn place(conn: &Connection, last: Last, timestamp_ms: i64) -> Result<(i64, Last)> {
    let first = first_id(timestamp_ms);
    let id = match last {
        Some((_, last_ms)) if timestamp_ms < last_ms => between(conn, first, timestamp_ms)?,
        Some((last_id, _)) => first.max(last_id + 1),
        None => first,
    };
    Ok((id, last.max(Some((id, timestamp_ms)))))
}

/// The first free number after all documents up to this time. Behind a millisecond with more executions than numbers it
/// may lie after some documents of the next milliseconds.
fn between(conn: &Connection, first: i64, timestamp_ms: i64) -> Result<i64> {
    let end = first_id(timestamp_ms.saturating_add(1));
    let before = "SELECT id FROM docs WHERE id < ?1 ORDER BY id DESC LIMIT 1";
    let before: Option<i64> = find(conn, before, [end], |row| Ok(row.get(0)?))?;
    let mut id = before.map_or(first, |before| first.max(before + 1));
    if id < end {
        return Ok(id);
    }
    let mut statement = conn.prepare_cached("SELECT id FROM docs WHERE id >= ?1 ORDER BY id")?;
    let mut rows = statement.query([id])?;
    while let Some(row) = rows.next()? {
        let taken: i64 = row.get(0)?;
        if taken > id {
            break;
        }
        id = taken + 1;
    }
    Ok(id)
}

/// The numbers of all documents between these times in Unix milliseconds, both included; `None` if there are none.
/// Documents of other times may be among them, behind a millisecond with more executions than numbers.
///
/// # Errors
/// Any error of the index.
pub(in crate::evidence) fn ids_between(
    conn: &Connection,
    since_ms: Option<i64>,
    until_ms: Option<i64>,
) -> Result<Option<(i64, i64)>> {
    let mut range = (i64::MIN, i64::MAX);
    if let Some(since_ms) = since_ms {
        let sql = "SELECT id FROM docs WHERE id >= ?1 AND timestamp >= ?2 ORDER BY id LIMIT 1";
        let first = find(conn, sql, [first_id(since_ms), since_ms], |row| Ok(row.get(0)?))?;
        let Some(first) = first else { return Ok(None) };
        range.0 = first;
    }
    if let Some(until_ms) = until_ms {
        let after = until_ms.saturating_add(1);
        let sql = "SELECT id FROM docs WHERE id >= ?1 AND timestamp > ?2 ORDER BY id LIMIT 1";
        let end = find::<i64>(conn, sql, [first_id(after), until_ms], |row| Ok(row.get(0)?))?;
        range.1 = end.map_or(i64::MAX, |end| end - 1);
    }
    Ok((range.0 <= range.1).then_some(range))
}
