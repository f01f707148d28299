//! Selects the rows of a purge into temporary tables of the connection: `purge_runs`, `purge_loops`, `purge_attempts`,
//! `purge_steps`, `purge_decisions`, `purge_contents` and finally `purge_rows`. Used for the preview and, within the
//! transaction, for the purge itself.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::Connection;
use uuid::Uuid;

use crate::evidence::error::Result;
use crate::evidence::lock;
use crate::evidence::migrations::{FORMAT_WITH_PURGES, purgeable};
use crate::evidence::old_backups::old_backups;
use crate::evidence::revised_plans::{BASE, REVISED};
use crate::evidence::rows::{find, list, uuid, value};
use crate::run::{PurgePreview, PurgeRule};

/// What a selection reads.
pub(super) struct Selector<'a> {
    pub(super) conn: &'a Connection,
    /// The format of the database.
    pub(super) format: i64,
    /// The evidence folder, with the locks of what is under way.
    pub(super) dir: &'a Path,
    pub(super) rule: &'a PurgeRule,
    /// The time of the purge, in Unix milliseconds, by which approvals expire.
    pub(super) now_ms: i64,
}

const TABLES: &str = "
    CREATE TEMP TABLE IF NOT EXISTS purge_runs (id TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TEMP TABLE IF NOT EXISTS purge_loops (id TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TEMP TABLE IF NOT EXISTS purge_attempts (id TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TEMP TABLE IF NOT EXISTS purge_steps (id TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TEMP TABLE IF NOT EXISTS purge_decisions (id INTEGER PRIMARY KEY);
    CREATE TEMP TABLE IF NOT EXISTS purge_contents (digest TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TEMP TABLE IF NOT EXISTS purge_rows (seq INTEGER PRIMARY KEY, name TEXT NOT NULL);
    DELETE FROM temp.purge_runs; DELETE FROM temp.purge_loops; DELETE FROM temp.purge_attempts;
    DELETE FROM temp.purge_steps; DELETE FROM temp.purge_decisions; DELETE FROM temp.purge_contents;
    DELETE FROM temp.purge_rows;";

/// A run that the rule names and that has not ended, with its loop.
type OpenRun = (Uuid, Option<Uuid>);

impl Selector<'_> {
    /// Fills the temporary tables, and counts what is in them.
    ///
    /// # Errors
    /// Any error of the database.
    pub(super) fn select(&self) -> Result<PurgePreview> {
        self.conn.execute_batch(TABLES)?;
        let old_backups = old_backups(self.dir);
        if self.rule.is_empty() {
            return Ok(PurgePreview { old_backups, ..PurgePreview::default() });
        }
        self.runs()?;
        let under_way = self.keep_what_is_under_way()?;
        let loops_under_way = self.loops()?;
        self.steps()?;
        self.contents()?;
        self.rows()?;
        Ok(PurgePreview { under_way, loops_under_way, old_backups, ..self.count()? })
    }

    /// The runs that the rule names.
    fn runs(&self) -> Result<()> {
        let rule = self.rule;
        let sql = "INSERT INTO temp.purge_runs
             SELECT r.id FROM runs AS r LEFT JOIN run_ends AS e ON e.run_id = r.id
             WHERE (?1 IS NULL OR coalesce(e.timestamp, r.timestamp) < ?1)
               AND (?2 IS NULL OR r.id = ?2)
               AND (?3 IS NULL OR r.plan_id = ?3 OR 'sha256:' || r.plan_digest = ?3
                    OR r.plan_digest = ?3)
               AND (?4 IS NULL OR r.attempt_id IN (SELECT id FROM attempts WHERE loop_id = ?4))";
        let [run, bounded_loop] =
            [rule.run, rule.bounded_loop].map(|id| id.map(|id| id.to_string()));
        self.conn.execute(sql, (rule.before_ms, run, rule.plan.as_deref(), bounded_loop))?;
        if !rule.executions.is_empty() {
            let mut runs = BTreeSet::new();
            for id in &rule.executions {
                let sql = "SELECT run_id FROM executions WHERE id = ?1
                           UNION ALL SELECT run_id FROM intents WHERE id = ?1 LIMIT 1";
                runs.extend(find(self.conn, sql, [id.to_string()], |row| uuid(row, 0))?);
            }
            self.keep_runs_except(|id| runs.contains(&id))?;
        }
        if rule.takes_whole_runs() && self.format >= FORMAT_WITH_PURGES {
            // Nothing is left of a run that was purged before.
            self.conn.execute_batch(
                "DELETE FROM temp.purge_runs WHERE id IN
                 (SELECT run_id FROM purged_subjects WHERE run_id IS NOT NULL
                                                       AND execution_id IS NULL)",
            )?;
        }
        Ok(())
    }

    /// Removes the runs from the selection that do not meet a condition.
    fn keep_runs_except(&self, is_selected: impl Fn(Uuid) -> bool) -> Result<()> {
        for id in list(self.conn, "SELECT id FROM temp.purge_runs", [], |row| uuid(row, 0))? {
            if !is_selected(id) {
                let sql = "DELETE FROM temp.purge_runs WHERE id = ?1";
                self.conn.prepare_cached(sql)?.execute([id.to_string()])?;
            }
        }
        Ok(())
    }

    /// Removes the runs that are under way, alone or in a loop. Returns their number.
    fn keep_what_is_under_way(&self) -> Result<u64> {
        let sql = "SELECT p.id, a.loop_id FROM temp.purge_runs AS p JOIN runs AS r ON r.id = p.id
             LEFT JOIN attempts AS a ON a.id = r.attempt_id
             WHERE NOT EXISTS (SELECT 1 FROM run_ends AS e WHERE e.run_id = p.id)
                OR (a.loop_id IS NOT NULL
                    AND NOT EXISTS (SELECT 1 FROM loop_ends AS e WHERE e.loop_id = a.loop_id))";
        let open: Vec<OpenRun> = list(self.conn, sql, [], |row| {
            let of_loop = row.get::<_, Option<String>>(1)?;
            Ok((uuid(row, 0)?, of_loop.and_then(|id| id.parse().ok())))
        })?;
        let mut under_way = 0;
        for (run, of_loop) in open {
            let is_alive = |id| lock::is_alive(self.dir, id);
            if is_alive(run) || of_loop.is_some_and(is_alive) {
                let sql = "DELETE FROM temp.purge_runs WHERE id = ?1";
                under_way += self.conn.prepare_cached(sql)?.execute([run.to_string()])? as u64;
            }
        }
        Ok(under_way)
    }

    /// The steps of these runs, and the decisions about them.
    fn steps(&self) -> Result<()> {
        let of_runs = "INSERT OR IGNORE INTO temp.purge_steps
             SELECT id FROM executions WHERE run_id IN (SELECT id FROM temp.purge_runs)
             UNION SELECT id FROM intents WHERE run_id IN (SELECT id FROM temp.purge_runs)";
        if self.rule.executions.is_empty() {
            self.conn.execute(of_runs, [])?;
        } else {
            let one = "INSERT OR IGNORE INTO temp.purge_steps
                 SELECT id FROM executions WHERE id = ?1 AND run_id IN (SELECT id FROM temp.purge_runs)
                 UNION SELECT id FROM intents WHERE id = ?1
                                              AND run_id IN (SELECT id FROM temp.purge_runs)";
            for id in &self.rule.executions {
                self.conn.prepare_cached(one)?.execute([id.to_string()])?;
            }
        }
        self.conn.execute_batch(
            "INSERT INTO temp.purge_decisions
             SELECT id FROM decisions WHERE execution_id IN (SELECT id FROM temp.purge_steps)",
        )?;
        if self.rule.takes_whole_runs() {
            // Other decisions outside of runs are approvals and grants, which stay.
            self.conn.execute_batch(
                "INSERT OR IGNORE INTO temp.purge_decisions
                 SELECT id FROM decisions WHERE run_id IN (SELECT id FROM temp.purge_runs)",
            )?;
            // What was revised has arguments of the plan.
            self.conn.execute_batch(&format!(
                "INSERT OR IGNORE INTO temp.purge_decisions
                 SELECT d.id FROM runs AS r
                 JOIN decisions AS d ON d.authorization_id = r.authorization_id
                 WHERE r.id IN (SELECT id FROM temp.purge_runs)
                   AND d.run_id IS NULL AND d.decision = '{REVISED}'"
            ))?;
        }
        Ok(())
    }

    /// The contents that the selected rows name and that no other row names.
    fn contents(&self) -> Result<()> {
        if let Some(digest) = &self.rule.content {
            self.conn.execute("INSERT INTO temp.purge_contents VALUES (?1)", [digest.hex()])?;
            return Ok(());
        }
        let selected = "execution_id IN (SELECT id FROM temp.purge_steps)";
        let decided = "id IN (SELECT id FROM temp.purge_decisions)";
        let named = |selected: &str, decided: &str| {
            format!(
                "SELECT blob FROM execution_artifacts WHERE blob IS NOT NULL AND {selected}
                 UNION SELECT blob FROM decisions WHERE blob IS NOT NULL AND {decided}
                 UNION SELECT before_digest FROM file_contents
                       WHERE before_digest IS NOT NULL AND {selected}
                 UNION SELECT after_digest FROM file_contents
                       WHERE after_digest IS NOT NULL AND {selected}"
            )
        };
        self.conn.execute_batch(&format!(
            "INSERT INTO temp.purge_contents {}",
            named(selected, decided)
        ))?;
        if self.rule.takes_whole_runs() {
            self.conn.execute_batch(
                "INSERT OR IGNORE INTO temp.purge_contents
                 SELECT plan_digest FROM runs WHERE id IN (SELECT id FROM temp.purge_runs)",
            )?;
            let bases = bases("r.id IN (SELECT id FROM temp.purge_runs)");
            self.conn.execute_batch(&format!(
                "INSERT OR IGNORE INTO temp.purge_contents SELECT digest FROM ({bases})
                 WHERE digest IS NOT NULL"
            ))?;
        }
        self.add_contents_of_attempts()?;
        if let Some(bytes) = self.rule.larger_than {
            let sql = "DELETE FROM temp.purge_contents WHERE coalesce((SELECT sum(b.bytes)
                       FROM blobs AS b WHERE b.digest = purge_contents.digest), 0) < ?1";
            self.conn.execute(sql, [i64::try_from(bytes).unwrap_or(i64::MAX)])?;
        }
        let (selected, decided) =
            (selected.replacen("IN", "NOT IN", 1), decided.replacen("IN", "NOT IN", 1));
        self.conn.execute_batch(&format!(
            "DELETE FROM temp.purge_contents WHERE digest IN ({})",
            named(&selected, &decided)
        ))?;
        self.keep_plans()?;
        self.keep_contents_of_attempts()
    }

    /// Removes the plans that a run with its records, or an approval that can still be used, needs.
    fn keep_plans(&self) -> Result<()> {
        let purged_before = match self.format >= FORMAT_WITH_PURGES {
            true => {
                "SELECT run_id FROM purged_subjects WHERE run_id IS NOT NULL
                                                      AND execution_id IS NULL"
            }
            false => "SELECT NULL WHERE 0",
        };
        let taken = match self.rule.takes_whole_runs() {
            true => "SELECT id FROM temp.purge_runs",
            false => "SELECT NULL WHERE 0",
        };
        let sql = format!(
            "DELETE FROM temp.purge_contents WHERE digest IN
             (SELECT plan_digest FROM runs WHERE id NOT IN ({taken}) AND id NOT IN ({purged_before})
              UNION ALL SELECT digest FROM ({}) WHERE digest IS NOT NULL
              UNION ALL SELECT a.plan_digest FROM authorizations AS a
                        WHERE a.status = 'approved' AND a.expires_at >= ?1
                          AND a.id NOT IN (SELECT authorization_id FROM authorization_uses))",
            bases(&format!("r.id NOT IN ({taken}) AND r.id NOT IN ({purged_before})"))
        );
        self.conn.execute(&sql, [self.now_ms])?;
        Ok(())
    }

    /// The rows that are deleted.
    fn rows(&self) -> Result<()> {
        let conn = self.conn;
        conn.execute_batch(
            "INSERT INTO temp.purge_rows
             SELECT id, 'blobs' FROM blobs WHERE digest IN (SELECT digest FROM temp.purge_contents)",
        )?;
        if self.rule.takes_contents_only() {
            return Ok(());
        }
        for (table, key, condition) in [
            ("intents", "row", "id"),
            ("executions", "row", "id"),
            ("execution_artifacts", "id", "execution_id"),
            ("diagnostics", "id", "execution_id"),
            ("edges", "id", "execution_id"),
            ("file_contents", "id", "execution_id"),
        ] {
            conn.execute_batch(&format!(
                "INSERT INTO temp.purge_rows SELECT {key}, '{table}' FROM {table}
                 WHERE {condition} IN (SELECT id FROM temp.purge_steps)"
            ))?;
        }
        conn.execute_batch(
            "INSERT INTO temp.purge_rows SELECT id, 'decisions' FROM temp.purge_decisions",
        )?;
        self.rows_of_loops()
    }

    fn count(&self) -> Result<PurgePreview> {
        let number = |sql: &str| {
            Ok::<_, crate::evidence::EvidenceError>(
                value::<i64>(self.conn, sql, [])?.unsigned_abs(),
            )
        };
        let rows = number("SELECT count(*) FROM temp.purge_rows")?;
        let contents = number(
            "SELECT count(DISTINCT b.digest) FROM temp.purge_rows AS p JOIN blobs AS b ON b.id = p.seq
             WHERE p.name = 'blobs'",
        )?;
        let mut bytes = 0;
        for table in purgeable(self.format) {
            bytes += number(&format!(
                "SELECT coalesce(sum({}), 0) FROM temp.purge_rows AS p JOIN {table} AS t
                 ON t.rowid = p.seq WHERE p.name = '{table}'",
                stored_bytes(self.conn, table)?
            ))?;
        }
        let counted = PurgePreview { rows, contents, bytes, ..PurgePreview::default() };
        if self.rule.takes_contents_only() {
            return Ok(counted);
        }
        let dates = "SELECT min(t), max(t) FROM
             (SELECT r.timestamp AS t FROM temp.purge_runs AS p JOIN runs AS r ON r.id = p.id
              UNION ALL
              SELECT l.timestamp FROM temp.purge_loops AS p JOIN loops AS l ON l.id = p.id)";
        let (first_ms, last_ms): (Option<i64>, Option<i64>) =
            self.conn.query_row(dates, [], |row| row.try_into())?;
        Ok(PurgePreview {
            runs: number("SELECT count(*) FROM temp.purge_runs")?,
            steps: number("SELECT count(*) FROM temp.purge_steps")?,
            loops: number("SELECT count(*) FROM temp.purge_loops")?,
            attempts: number("SELECT count(*) FROM temp.purge_attempts")?,
            first_ms,
            last_ms,
            ..counted
        })
    }
}

/// The SQL query of the digests of the plans that persons revised for runs `r` under this condition.
fn bases(condition: &str) -> String {
    format!(
        "SELECT {BASE} AS digest FROM runs AS r
         JOIN decisions AS d ON d.authorization_id = r.authorization_id
         WHERE {condition} AND d.run_id IS NULL AND d.decision = '{REVISED}'"
    )
}

/// The SQL expression of the size of a row `t` of this table, in bytes: 8 for a number, else its length.
pub(in crate::evidence) fn stored_bytes(conn: &Connection, table: &str) -> Result<String> {
    let sql = "SELECT name, type FROM pragma_table_info(?1)";
    let sizes = list(conn, sql, [table], |row| {
        let (name, kind): (String, String) = row.try_into()?;
        Ok(match kind.as_str() {
            "INTEGER" => "8".to_owned(),
            _ => format!("coalesce(octet_length(t.{name}), 0)"),
        })
    })?;
    Ok(sizes.join(" + "))
}
