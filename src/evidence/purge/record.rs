//! Records a purge and deletes its rows, in the caller's transaction.

use rusqlite::Row;
use serde_json::json;
use uuid::Uuid;

use super::ranges::LinkRange;
use crate::evidence::EvidenceError;
use crate::evidence::append::{Appender, Cell};
use crate::evidence::changed;
use crate::evidence::error::Result;
use crate::evidence::migrations::PURGEABLE;
use crate::evidence::rows::{list, uuid, value};
use crate::run::{PURGED_TEXT, PurgePreview, PurgeRule, StopDetail};

/// Records the purge of the selected rows, and deletes them.
///
/// # Errors
/// [`EvidenceError::Changed`] if one of them was changed after it was written, and any error of the database.
pub(super) fn record(
    appender: &mut Appender<'_>,
    purge_id: Uuid,
    (rule, reason): (&PurgeRule, &str),
    taken: &PurgePreview,
    now_ms: i64,
) -> Result<()> {
    let ranges = ranges(appender)?;
    appender.insert(
        "record_purges",
        [
            ("id", purge_id.into()),
            ("rule_json", json!(rule).into()),
            ("reason", reason.into()),
            ("user_name", appender.user.into()),
            ("row_count", i64::try_from(taken.rows).unwrap_or(i64::MAX).into()),
            ("timestamp", now_ms.into()),
        ],
    )?;
    subjects(appender, purge_id, rule)?;
    subjects_of_loops(appender, purge_id)?;
    let loops = Emptied::read(appender)?;
    for range in ranges {
        appender.insert(
            "purged_rows",
            [
                ("purge_id", purge_id.into()),
                ("first_row", range.first.into()),
                ("last_row", range.last.into()),
                ("links_digest", range.digest().into()),
                ("grant_digest", Cell::Grant),
            ],
        )?;
    }
    delete(appender)?;
    loops.write(appender)
}

/// The ranges of the selected rows, after each row was compared with its link.
fn ranges(appender: &Appender<'_>) -> Result<Vec<LinkRange>> {
    let mut ranges: Vec<LinkRange> = Vec::new();
    let sql = "SELECT p.seq, p.name, l.table_name, l.digest FROM temp.purge_rows AS p
               LEFT JOIN ledger AS l ON l.seq = p.seq ORDER BY p.seq";
    list(appender.tx(), sql, [], |row| {
        let (seq, name): (i64, String) = (row.get(0)?, row.get(1)?);
        if let Some(what) = changed::difference(appender.tx(), &name, seq)? {
            return Err(EvidenceError::Changed { what });
        }
        let (table, digest): (String, String) = (row.get(2)?, row.get(3)?);
        match ranges.last_mut().filter(|range| range.last + 1 == seq) {
            Some(range) => range.push(seq, &table, &digest),
            None => ranges.push(LinkRange::of(seq, &table, &digest)),
        }
        Ok(())
    })?;
    Ok(ranges)
}

/// Records what was purged: runs, steps, and contents that remaining rows name.
fn subjects(appender: &mut Appender<'_>, purge_id: Uuid, rule: &PurgeRule) -> Result<()> {
    // Of each step its outcome; that of an intent alone is unknown.
    let outcomes = "SELECT x.id, x.run_id, x.outcome FROM executions AS x
                    WHERE x.id IN (SELECT id FROM temp.purge_steps)
                    UNION ALL SELECT x.id, x.run_id, 'unknown' FROM intents AS x
                    WHERE x.id IN (SELECT id FROM temp.purge_steps)
                      AND NOT EXISTS (SELECT 1 FROM executions AS e WHERE e.id = x.id)";
    let sql = match (rule.takes_contents_only(), rule.takes_whole_runs()) {
        (true, _) => None,
        (false, true) => Some(format!(
            "SELECT p.id, NULL, (SELECT json_group_object(outcome, number) FROM
                    (SELECT o.outcome AS outcome, count(*) AS number FROM ({outcomes}) AS o
                     WHERE o.run_id = p.id GROUP BY o.outcome))
             FROM temp.purge_runs AS p JOIN runs AS r ON r.id = p.id ORDER BY r.row"
        )),
        (false, false) => Some(format!(
            "SELECT run_id, id, json_object(outcome, 1) FROM ({outcomes}) ORDER BY id"
        )),
    };
    type Subject = (String, Option<String>, Option<String>);
    let found: Vec<Subject> = match sql {
        Some(sql) => list(appender.tx(), &sql, [], |row| Ok(row.try_into()?))?,
        None => Vec::new(),
    };
    for (run_id, execution_id, outcomes) in found {
        let ids = match execution_id {
            None => Cell::Bytes(execution_ids(appender, &run_id)?),
            Some(_) => Cell::Null,
        };
        appender.insert(
            "purged_subjects",
            [
                ("purge_id", purge_id.into()),
                ("run_id", Cell::Word(run_id)),
                ("execution_id", execution_id.map(Cell::Word).into()),
                ("outcomes_json", outcomes.map(Cell::Word).into()),
                ("execution_ids", ids),
            ],
        )?;
    }
    for digest in named_contents(appender, rule)? {
        appender.insert(
            "purged_subjects",
            [("purge_id", purge_id.into()), ("content", Cell::Word(digest))],
        )?;
    }
    Ok(())
}

/// The ids of the selected steps of a run, 16 bytes each, so that whoever looks for one of them learns what became of it.
fn execution_ids(appender: &Appender<'_>, run_id: &str) -> Result<Vec<u8>> {
    let sql = "SELECT id FROM (SELECT id, step_index FROM executions WHERE run_id = ?1
                               UNION SELECT id, step_index FROM intents WHERE run_id = ?1)
               WHERE id IN (SELECT id FROM temp.purge_steps) ORDER BY step_index, id";
    let ids = list(appender.tx(), sql, [run_id], |row| uuid(row, 0))?;
    Ok(ids.iter().flat_map(|id| id.into_bytes()).collect())
}

/// Records which loops were purged, and which attempts of other loops.
fn subjects_of_loops(appender: &mut Appender<'_>, purge_id: Uuid) -> Result<()> {
    let sql = "SELECT l.id, NULL FROM temp.purge_loops AS p JOIN loops AS l ON l.id = p.id
               UNION ALL
               SELECT a.loop_id, a.id FROM temp.purge_attempts AS p JOIN attempts AS a ON a.id = p.id
               WHERE a.loop_id NOT IN (SELECT id FROM temp.purge_loops)
                 AND EXISTS (SELECT 1 FROM temp.purge_rows WHERE name = 'attempt_ends'
                                                              OR name = 'planner_looks')
               ORDER BY 1, 2";
    let found: Vec<(String, Option<String>)> =
        list(appender.tx(), sql, [], |row| Ok(row.try_into()?))?;
    for (loop_id, attempt_id) in found {
        appender.insert(
            "purged_subjects",
            [
                ("purge_id", purge_id.into()),
                ("loop_id", Cell::Word(loop_id)),
                ("attempt_id", attempt_id.map(Cell::Word).into()),
            ],
        )?;
    }
    Ok(())
}

/// The rows of the selected loops, of their ends and of plans, without their text. They are written anew after the purge,
/// so that a loop stays known with who began it, when, where, with which planner, and how it ended.
struct Emptied {
    plans: Vec<[(&'static str, Cell); 6]>,
    loops: Vec<[(&'static str, Cell); 11]>,
    ends: Vec<[(&'static str, Cell); 5]>,
}

impl Emptied {
    fn read(appender: &Appender<'_>) -> Result<Self> {
        // What was written is redacted.
        let word = |row: &Row<'_>, column: usize| -> Result<Cell> {
            Ok(row.get::<_, Option<String>>(column)?.map(Cell::Word).into())
        };
        let sql =
            "SELECT id, planner, workspace, max_attempts, verify_scope, class_id, looks, target,
                          user_name, timestamp
                   FROM loops WHERE id IN (SELECT id FROM temp.purge_loops) ORDER BY row";
        let loops = list(appender.tx(), sql, [], |row| {
            Ok([
                ("id", word(row, 0)?),
                ("goal", Cell::word(PURGED_TEXT)),
                ("planner", word(row, 1)?),
                ("workspace", word(row, 2)?),
                ("max_attempts", Cell::Number(row.get(3)?)),
                ("verify_scope", word(row, 4)?),
                ("class_id", word(row, 5)?),
                ("looks", word(row, 6)?),
                ("target", word(row, 7)?),
                ("user_name", word(row, 8)?),
                ("timestamp", Cell::Number(row.get(9)?)),
            ])
        })?;
        let sql = "SELECT loop_id, code, timestamp FROM loop_ends
                   WHERE loop_id IN (SELECT id FROM temp.purge_loops) ORDER BY id";
        let ends = list(appender.tx(), sql, [], |row| {
            Ok([
                ("loop_id", word(row, 0)?),
                ("code", word(row, 1)?),
                ("message", Cell::word(PURGED_TEXT)),
                ("detail_json", json!(StopDetail::default()).into()),
                ("timestamp", Cell::Number(row.get(2)?)),
            ])
        })?;
        let sql = "SELECT id, plan_id, dialect, intent, step_count, timestamp FROM plans
                   WHERE row IN (SELECT seq FROM temp.purge_rows WHERE name = 'plans') ORDER BY row";
        let plans = list(appender.tx(), sql, [], |row| {
            Ok([
                ("id", word(row, 0)?),
                ("plan_id", word(row, 1)?),
                ("dialect", word(row, 2)?),
                ("intent", word(row, 3)?),
                ("step_count", Cell::Number(row.get(4)?)),
                ("timestamp", Cell::Number(row.get(5)?)),
            ])
        })?;
        Ok(Self { plans, loops, ends })
    }

    fn write(self, appender: &mut Appender<'_>) -> Result<()> {
        for columns in self.plans {
            appender.insert("plans", columns)?;
        }
        for columns in self.loops {
            appender.insert("loops", columns)?;
        }
        for columns in self.ends {
            appender.insert("loop_ends", columns)?;
        }
        Ok(())
    }
}

/// The selected contents that remaining rows name: all if only contents are purged, otherwise the plans.
fn named_contents(appender: &Appender<'_>, rule: &PurgeRule) -> Result<Vec<String>> {
    let stored = "SELECT DISTINCT b.digest FROM temp.purge_contents AS c
                  JOIN blobs AS b ON b.digest = c.digest";
    let sql = match rule.takes_contents_only() {
        true => format!("{stored} ORDER BY 1"),
        false => format!("{stored} WHERE c.digest IN (SELECT id FROM plans) ORDER BY 1"),
    };
    list(appender.tx(), &sql, [], |row| Ok(row.get(0)?))
}

/// Deletes the selected rows. The triggers allow it, because the purge is recorded in this transaction.
fn delete(appender: &Appender<'_>) -> Result<()> {
    for table in PURGEABLE {
        let condition = format!("name = '{table}'");
        let sql = format!("SELECT count(*) FROM temp.purge_rows WHERE {condition}");
        let expected: i64 = value(appender.tx(), &sql, [])?;
        if expected == 0 {
            continue;
        }
        let deleted = appender.tx().execute(
            &format!(
                "DELETE FROM {table} WHERE rowid IN
                 (SELECT seq FROM temp.purge_rows WHERE {condition})"
            ),
            [],
        )?;
        if deleted as i64 != expected {
            return Err(EvidenceError::NotDeleted { table, deleted, expected });
        }
    }
    Ok(())
}
