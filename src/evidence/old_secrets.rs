//! Judges what is stored by the present rules about secrets (SPEC §8): an earlier version may have stored in clear what
//! the rules recognise today. Nothing is changed, and no secret is returned.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use super::error::Result;
use super::redact::kinds_of_secrets;
use super::rows::{digest, list, value};
use super::source::Source;
use super::{EvidenceReader, blobs};
use crate::run::ClearSecret;

/// The tables whose texts are judged, with the column that names the execution of a row.
const TABLES: [(&str, Option<&str>); 18] = [
    ("plans", None),
    ("authorizations", None),
    ("authorization_classes", None),
    ("runs", None),
    ("run_ends", None),
    ("intents", Some("id")),
    ("executions", Some("id")),
    ("execution_artifacts", Some("execution_id")),
    ("diagnostics", Some("execution_id")),
    ("decisions", Some("execution_id")),
    ("edges", Some("execution_id")),
    ("file_contents", Some("execution_id")),
    ("loops", None),
    ("loop_ends", None),
    ("attempt_ends", None),
    ("planner_looks", None),
    ("purges", None),
    ("head_acceptances", None),
];

impl EvidenceReader {
    /// The secrets that records and contents have in clear, in the order of their rows. `progress` gets the number of
    /// judged rows and of all.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn clear_secrets(
        &mut self,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<Vec<ClearSecret>> {
        self.query(|source| {
            let tx = source.conn.unchecked_transaction()?;
            let all = value::<i64>(&tx, "SELECT count(*) FROM ledger", [])?.unsigned_abs();
            let mut search = Search { found: Vec::new(), judged: 0, all, progress: &mut progress };
            for (table, step) in TABLES {
                search.table(source, table, step)?;
            }
            search.contents(source)?;
            let mut found = search.found;
            found.sort();
            Ok(found)
        })
    }
}

/// A search for secrets in clear.
struct Search<'p> {
    found: Vec<ClearSecret>,
    judged: u64,
    all: u64,
    progress: &'p mut dyn FnMut(u64, u64),
}

impl Search<'_> {
    fn step(&mut self) {
        self.judged += 1;
        if self.judged.is_multiple_of(500) {
            (self.progress)(self.judged, self.all);
        }
    }

    /// Judges the texts of a table, which an older format may not have.
    fn table(&mut self, source: &Source<'_>, table: &str, step: Option<&str>) -> Result<()> {
        let sql = "SELECT name FROM pragma_table_info(?1) WHERE type = 'TEXT'";
        let columns: Vec<String> = list(source.conn, sql, [table], |row| Ok(row.get(0)?))?;
        if columns.is_empty() {
            return Ok(());
        }
        let (names, step) = (columns.join(", "), step.unwrap_or("NULL"));
        let sql = format!("SELECT rowid, {step}, {names} FROM {table} ORDER BY rowid");
        list(source.conn, &sql, [], |row| {
            self.step();
            let (number, step): (i64, Option<String>) = (row.get(0)?, row.get(1)?);
            let execution_id = step.and_then(|id| id.parse().ok());
            for (index, column) in columns.iter().enumerate() {
                // A null or a text of another program has nothing to judge.
                let Ok(text) = row.get_ref(index + 2)?.as_str() else { continue };
                self.judge(text, column.ends_with("_json"), (table, number, column), execution_id);
            }
            Ok(())
        })?;
        Ok(())
    }

    fn judge(
        &mut self,
        text: &str,
        is_json: bool,
        (table, row, column): (&str, i64, &str),
        execution_id: Option<Uuid>,
    ) {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for kind in kinds_of_secrets(text, is_json) {
            *counts.entry(kind).or_default() += 1;
        }
        self.found.extend(counts.into_iter().map(|(kind, count)| ClearSecret {
            table: table.to_owned(),
            row,
            column: column.to_owned(),
            kind: kind.to_owned(),
            count,
            execution_id,
        }));
    }

    /// Judges the contents that are not encrypted. Each is one of every step that names it.
    fn contents(&mut self, source: &Source<'_>) -> Result<()> {
        let sql = "SELECT digest, min(id) FROM blobs WHERE encoding = 'zstd' GROUP BY digest";
        let contents = list(source.conn, sql, [], |row| Ok((digest(row, 0)?, row.get(1)?)))?;
        for (content, row) in contents {
            self.step();
            let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
            // A text was split where no secret can be.
            blobs::read_each(source.conn, source.vault, &content, |part| {
                let Ok(text) = std::str::from_utf8(part) else { return Ok(()) };
                for kind in kinds_of_secrets(text, text.starts_with(['{', '['])) {
                    *kinds.entry(kind).or_default() += 1;
                }
                Ok(())
            })?;
            if kinds.is_empty() {
                continue;
            }
            let named = named_by(source, &content.hex())?;
            for (kind, count) in kinds {
                let secret = |column: &str, execution_id| ClearSecret {
                    table: "blobs".to_owned(),
                    row,
                    column: column.to_owned(),
                    kind: kind.to_owned(),
                    count,
                    execution_id,
                };
                let of_steps = named.iter().map(|(column, id)| secret(column, Some(*id)));
                self.found.extend(of_steps);
                if named.is_empty() {
                    self.found.push(secret("data", None));
                }
            }
        }
        Ok(())
    }
}

/// Where this content is named, with the execution of each place.
fn named_by(source: &Source<'_>, digest: &str) -> Result<BTreeSet<(String, Uuid)>> {
    let sql = "SELECT artifact_type, execution_id FROM execution_artifacts WHERE blob = ?1
         UNION SELECT 'file ' || path, execution_id FROM file_contents
               WHERE before_digest = ?1 OR after_digest = ?1
         UNION SELECT 'decision', execution_id FROM decisions
               WHERE blob = ?1 AND execution_id IS NOT NULL";
    let named = source.all(sql, [digest], |row| {
        let id: String = row.get(1)?;
        Ok(id.parse().ok().map(|id| (row.get::<_, String>(0).unwrap_or_default(), id)))
    })?;
    Ok(named.into_iter().flatten().collect())
}
