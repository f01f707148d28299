//! The rejections of plans, and which of them counts for a plan that is opened again (SPEC §2, §8).

use super::error::Result;
use super::rows::{digest, uuid};
use super::search::{Term, terms};
use super::source::Source;
use super::{EvidenceReader, Range, changed};
use crate::plan::Digest;
use crate::run::{DecidedBy, PlanRejection};

impl EvidenceReader {
    /// The rejections of plans, newest first, whose reason or plan contains all of these words, in any case; all of them
    /// without words.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn rejections(&mut self, words: &str, range: Range) -> Result<Vec<PlanRejection>> {
        self.query(|source| {
            let params = (range.since(), range.until());
            let condition = "a.status = 'rejected' AND a.timestamp BETWEEN ?1 AND ?2";
            let mut rows = with_words(rows(source, condition, params)?, words);
            rows.truncate(usize::try_from(range.limit()).unwrap_or(usize::MAX));
            marked(source, rows)
        })
    }

    /// The rejection of the plan with these bytes, if nobody has authorized it since.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn rejection_of(&mut self, plan: &Digest) -> Result<Option<PlanRejection>> {
        self.query(|source| {
            let condition = "a.status = 'rejected' AND a.plan_digest = ?1 AND NOT EXISTS
                (SELECT 1 FROM authorizations AS later
                 WHERE later.plan_digest = ?1 AND later.status = 'approved' AND later.row > a.row)";
            let mut rows = rows(source, condition, [plan.hex()])?;
            rows.truncate(1);
            Ok(marked(source, rows)?.pop())
        })
    }
}

/// The number of rejections whose reason or plan contains all of these words; 0 without words.
pub(super) fn number_with(source: &Source<'_>, words: &str) -> Result<u64> {
    if terms(words).iter().all(|term| term.is_excluded) {
        return Ok(0);
    }
    Ok(with_words(rows(source, "a.status = 'rejected'", [])?, words).len() as u64)
}

/// A rejection, and the numbers of the rows from which it is shown: of the authorization and of the plan.
type Row = ([i64; 2], PlanRejection);

/// The rejections that meet a condition about `authorizations AS a`, newest first. A loop on the command line also rejects
/// every plan that its flags do not authorize. No person decided that, so these are left out, by the loop's own reasons.
fn rows(source: &Source<'_>, condition: &str, params: impl rusqlite::Params) -> Result<Vec<Row>> {
    let sql = format!(
        "SELECT a.row, a.id, a.plan_digest, a.plan_id, coalesce(p.title, a.plan_id), a.workspace,
                coalesce(a.reason, ''), a.method, a.user_name, a.timestamp, p.row
         FROM authorizations AS a JOIN plans AS p ON p.id = a.plan_digest
         WHERE {condition} AND NOT (a.method = 'command_line' AND (
               coalesce(a.reason, '') GLOB 'neither --authorize-class nor --yes *'
               OR coalesce(a.reason, '') GLOB 'the plan * is outside the authorization class: *'))
         ORDER BY a.timestamp DESC, a.row DESC"
    );
    source.all(&sql, params, |row| {
        let rejection = PlanRejection {
            authorization_id: uuid(row, 1)?,
            plan_digest: digest(row, 2)?,
            plan_id: row.get(3)?,
            plan_name: row.get(4)?,
            workspace: row.get(5)?,
            reason: row.get(6)?,
            by: DecidedBy { place: row.get(7)?, user: row.get(8)? },
            timestamp_ms: row.get(9)?,
            changed: false,
        };
        Ok(([row.get(0)?, row.get(10)?], rejection))
    })
}

/// The rows that contain all of these words, and none of the excluded ones. There are few rejections, so they need no
/// index.
fn with_words(mut rows: Vec<Row>, words: &str) -> Vec<Row> {
    let terms = terms(words);
    if terms.is_empty() && !words.trim().is_empty() {
        return Vec::new();
    }
    rows.retain(|(_, it)| {
        let digest = it.plan_digest.to_string();
        let text =
            [it.reason.as_str(), &it.plan_name, &it.plan_id, &digest].join("\n").to_lowercase();
        let occurs = |term: &Term| text.contains(&term.text.to_lowercase());
        terms.iter().all(|term| occurs(term) != term.is_excluded)
    });
    rows
}

/// The rejections, each with whether it was changed after it was written.
fn marked(source: &Source<'_>, rows: Vec<Row>) -> Result<Vec<PlanRejection>> {
    let mark = |([row, plan], rejection): Row| {
        let is_changed = |table, row| changed::is_changed_row(source.conn, table, row);
        let changed = is_changed("authorizations", row)? || is_changed("plans", plan)?;
        Ok(PlanRejection { changed, ..rejection })
    };
    rows.into_iter().map(mark).collect()
}
