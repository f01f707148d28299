//! Which requests of reviews were used: each counts once. The signatures of reviews name them. Those of a database that a
//! restore has replaced are recorded as decisions in what was restored, which would not know them otherwise.

use rusqlite::Connection;
use uuid::Uuid;

use crate::evidence::error::Result;
use crate::evidence::rows::{find, list, uuid};

/// The decision that records a request which was used in evidence that a restore has replaced.
pub(in crate::evidence) const REQUEST_USED: &str = "request_used";

/// That an authorization has used a request. Other persons may have answered the same one for it.
pub(super) fn used_by_authorization(id: &str) -> String {
    format!("authorization {id}")
}

/// What has used this request, in words; `None` if nothing has.
pub(super) fn used_by(conn: &Connection, request_id: Uuid) -> Result<Option<String>> {
    let sql = "SELECT authorization_id FROM signatures WHERE request_id = ?1 LIMIT 1";
    let id = request_id.to_string();
    if let Some(id) = find::<String>(conn, sql, [&id], |row| Ok(row.get(0)?))? {
        return Ok(Some(used_by_authorization(&id)));
    }
    let sql = "SELECT 1 FROM decisions WHERE run_id IS NULL AND decision = ?1 AND note = ?2";
    let is_used = conn.prepare_cached(sql)?.exists((REQUEST_USED, id))?;
    Ok(is_used.then(|| "an authorization in the evidence before it was restored".to_owned()))
}

/// The requests that were used in this database of a format with signatures.
///
/// # Errors
/// When the database cannot be read.
pub(in crate::evidence) fn used_in(conn: &Connection) -> Result<Vec<Uuid>> {
    let sql = "SELECT request_id FROM signatures WHERE request_id IS NOT NULL
               UNION SELECT note FROM decisions WHERE run_id IS NULL AND decision = ?1";
    list(conn, sql, [REQUEST_USED], |row| uuid(row, 0))
}
