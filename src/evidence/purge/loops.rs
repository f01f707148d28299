//! Selects what a purge takes of bounded loops: of a whole loop its goal, and of an attempt what its planner sent, got, looked
//! at and was told. The attempts themselves stay, because runs name them.

use super::select::Selector;
use crate::evidence::error::Result;
use crate::evidence::lock;
use crate::evidence::migrations::{FORMAT_WITH_LOOKS, FORMAT_WITH_LOOP_PURGES};
use crate::evidence::rows::{list, uuid};

/// The end of a loop. One that was interrupted counts from the last that was recorded of it.
const LOOP_END: &str = "
    coalesce((SELECT timestamp FROM loop_ends WHERE loop_id = l.id),
             (SELECT max(max(a.timestamp, coalesce(e.timestamp, 0), coalesce(x.timestamp, 0)))
              FROM attempts AS a LEFT JOIN attempt_ends AS e ON e.attempt_id = a.id
              LEFT JOIN runs AS r ON r.attempt_id = a.id
              LEFT JOIN run_ends AS x ON x.run_id = r.id WHERE a.loop_id = l.id),
             l.timestamp)";

impl Selector<'_> {
    /// The loops that the rule names, and the attempts of these loops and of the selected runs. Returns how many of the
    /// loops are kept, because they are under way.
    pub(super) fn loops(&self) -> Result<u64> {
        let rule = self.rule;
        if !rule.executions.is_empty() || rule.content.is_some() {
            return Ok(0);
        }
        let mut under_way = 0;
        if rule.run.is_none() && rule.plan.is_none() {
            let sql = format!(
                "INSERT INTO temp.purge_loops SELECT l.id FROM loops AS l
                 WHERE (?1 IS NULL OR {LOOP_END} < ?1) AND (?2 IS NULL OR l.id = ?2)"
            );
            let bounded_loop = rule.bounded_loop.map(|id| id.to_string());
            self.conn.execute(&sql, (rule.before_ms, bounded_loop))?;
            if self.format >= FORMAT_WITH_LOOP_PURGES {
                self.conn.execute_batch(
                    "DELETE FROM temp.purge_loops WHERE id IN
                     (SELECT loop_id FROM purged_subjects WHERE loop_id IS NOT NULL
                                                            AND attempt_id IS NULL)",
                )?;
            }
            under_way = self.keep_loops_under_way()?;
        }
        self.conn.execute_batch(
            "INSERT INTO temp.purge_attempts
             SELECT id FROM attempts WHERE loop_id IN (SELECT id FROM temp.purge_loops)
             UNION SELECT attempt_id FROM attempt_ends
                   WHERE run_id IN (SELECT id FROM temp.purge_runs)
             UNION SELECT attempt_id FROM runs
                   WHERE id IN (SELECT id FROM temp.purge_runs) AND attempt_id IS NOT NULL
                     AND attempt_id NOT IN (SELECT attempt_id FROM attempt_ends)",
        )?;
        // Nothing is left of an attempt that was purged before.
        let looked = match self.format >= FORMAT_WITH_LOOKS {
            true => "AND id NOT IN (SELECT attempt_id FROM planner_looks)",
            false => "",
        };
        self.conn.execute_batch(&format!(
            "DELETE FROM temp.purge_attempts
             WHERE id NOT IN (SELECT attempt_id FROM attempt_ends) {looked}"
        ))?;
        if rule.takes_contents_only() {
            self.conn.execute_batch("DELETE FROM temp.purge_loops")?;
        }
        Ok(under_way)
    }

    /// Removes the loops that are under way from the selection. Returns their number.
    fn keep_loops_under_way(&self) -> Result<u64> {
        let sql = "SELECT id FROM temp.purge_loops
                   WHERE id NOT IN (SELECT loop_id FROM loop_ends)";
        let mut under_way = 0;
        for id in list(self.conn, sql, [], |row| uuid(row, 0))? {
            if lock::is_alive(self.dir, id) {
                let sql = "DELETE FROM temp.purge_loops WHERE id = ?1";
                under_way += self.conn.prepare_cached(sql)?.execute([id.to_string()])? as u64;
            }
        }
        Ok(under_way)
    }

    /// Adds the contents that the planners of the selected attempts sent or got, and their plans.
    pub(super) fn add_contents_of_attempts(&self) -> Result<()> {
        self.conn.execute_batch(
            "INSERT OR IGNORE INTO temp.purge_contents
             SELECT plan_digest FROM attempt_ends
             WHERE plan_digest IS NOT NULL AND attempt_id IN (SELECT id FROM temp.purge_attempts)",
        )?;
        self.each_content_of_attempts("IN", "INSERT OR IGNORE INTO temp.purge_contents VALUES (?1)")
    }

    /// Removes the contents that the planners of other attempts sent or got.
    pub(super) fn keep_contents_of_attempts(&self) -> Result<()> {
        let sql = "DELETE FROM temp.purge_contents WHERE digest = ?1";
        self.each_content_of_attempts("NOT IN", sql)
    }

    /// Executes a statement for each content of the attempts that are `IN` the selection or `NOT IN` it. Contents are named
    /// inside of JSON texts.
    fn each_content_of_attempts(&self, which: &str, sql: &str) -> Result<()> {
        let selected = format!("attempt_id {which} (SELECT id FROM temp.purge_attempts)");
        let mut texts = vec![format!("SELECT planner_json FROM attempt_ends WHERE {selected}")];
        if self.format >= FORMAT_WITH_LOOKS {
            texts.push(format!("SELECT answers_json FROM planner_looks WHERE {selected}"));
        }
        let mut statement = self.conn.prepare(sql)?;
        for text in texts {
            list(self.conn, &text, [], |row| {
                for digest in digests_in(row.get_ref(0)?.as_str().unwrap_or_default()) {
                    statement.execute([digest])?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// The rows of the selected loops and attempts.
    pub(super) fn rows_of_loops(&self) -> Result<()> {
        let attempts = "attempt_id IN (SELECT id FROM temp.purge_attempts)";
        let mut tables = vec![
            ("attempt_ends", "id", attempts),
            ("loop_ends", "id", "loop_id IN (SELECT id FROM temp.purge_loops)"),
            ("loops", "row", "id IN (SELECT id FROM temp.purge_loops)"),
            // Only plans that go. Their titles are written by planners, and often the goal.
            (
                "plans",
                "row",
                "(title IS NOT NULL OR created_by IS NOT NULL)
                 AND id IN (SELECT digest FROM temp.purge_contents)
                 AND id IN (SELECT plan_digest FROM attempt_ends
                            WHERE attempt_id IN (SELECT id FROM temp.purge_attempts))",
            ),
        ];
        if self.format >= FORMAT_WITH_LOOKS {
            tables.push(("planner_looks", "id", attempts));
        }
        for (table, key, condition) in tables {
            self.conn.execute_batch(&format!(
                "INSERT INTO temp.purge_rows SELECT {key}, '{table}' FROM {table} WHERE {condition}"
            ))?;
        }
        Ok(())
    }
}

/// Every run of exactly 64 hex digits in a text.
fn digests_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_hexdigit()).filter(|word| word.len() == 64)
}
