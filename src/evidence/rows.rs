//! Reads the rows of a statement, and converts columns into values.

use rusqlite::types::{FromSql, ValueRef};
use rusqlite::{Connection, Params, Row, ToSql};
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::EvidenceError;
use super::error::Result;
use crate::plan::{Code, Digest};

/// Whether the table has a row with this value in this column.
pub(super) fn has_row(
    conn: &Connection,
    table: &str,
    column: &str,
    value: impl ToSql,
) -> Result<bool> {
    let sql = format!("SELECT 1 FROM {table} WHERE {column} = ?1");
    Ok(conn.prepare_cached(&sql)?.exists([value])?)
}

/// The first column of the first row. Fails if there is no row.
pub(super) fn value<T: FromSql>(conn: &Connection, sql: &str, params: impl Params) -> Result<T> {
    Ok(conn.prepare_cached(sql)?.query_row(params, |row| row.get(0))?)
}

/// Every row, converted by `read`.
pub(super) fn list<T>(
    conn: &Connection,
    sql: &str,
    params: impl Params,
    mut read: impl FnMut(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(read(row)?);
    }
    Ok(all)
}

/// The first row, converted by `read`, if there is one.
pub(super) fn find<T>(
    conn: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnOnce(&Row<'_>) -> Result<T>,
) -> Result<Option<T>> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    rows.next()?.map(read).transpose()
}

/// The error for a stored value that this version cannot interpret.
pub(super) fn unreadable(what: impl std::fmt::Display) -> EvidenceError {
    EvidenceError::Unreadable { what: what.to_string() }
}

pub(super) fn uuid(row: &Row<'_>, column: usize) -> Result<Uuid> {
    let text: String = row.get(column)?;
    text.parse().map_err(|_| unreadable(format!("the id {text:?}")))
}

/// A column that may be null; other values are converted by `read`.
pub(super) fn optional<T>(
    row: &Row<'_>,
    column: usize,
    read: impl FnOnce(&Row<'_>, usize) -> Result<T>,
) -> Result<Option<T>> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        _ => read(row, column).map(Some),
    }
}

/// A column that contains the serialized name of an enum variant. Fails for an unknown name.
pub(super) fn word<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<T> {
    let text: String = row.get(column)?;
    parse_word(&text).ok_or_else(|| unreadable(format!("the word {text:?}")))
}

/// The enum variant with this serialized name.
pub(super) fn parse_word<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_value(text.into()).ok()
}

pub(super) fn digest(row: &Row<'_>, column: usize) -> Result<Digest> {
    row.get::<_, String>(column)?.parse().map_err(unreadable)
}

/// The code of an error; `None` if the column is null or this version does not know the code.
pub(super) fn code(row: &Row<'_>, column: usize) -> Result<Option<Code>> {
    Ok(row.get::<_, Option<String>>(column)?.as_deref().and_then(Code::from_text))
}

/// A size or an index; 0 if the stored number is negative.
pub(super) fn size(row: &Row<'_>, column: usize) -> Result<usize> {
    Ok(usize::try_from(row.get::<_, i64>(column)?).unwrap_or_default())
}

pub(super) fn count(row: &Row<'_>, column: usize) -> Result<u64> {
    Ok(row.get::<_, i64>(column)?.unsigned_abs())
}

pub(super) fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<T> {
    serde_json::from_str(&row.get::<_, String>(column)?).map_err(unreadable)
}

/// The SQL condition that row number `row` is between row `parent` of `table` and the next row of that table. The rows
/// of an execution or intent are in this range, because they are written directly after it.
pub(super) fn written_with(row: &str, table: &str, parent: &str) -> String {
    format!(
        "({row} > {parent} AND {row} < ifnull((SELECT min(following.row) FROM {table} AS following
                                       WHERE following.row > {parent}), {}))",
        i64::MAX
    )
}
