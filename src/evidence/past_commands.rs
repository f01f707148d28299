//! Reads the commands that were run, each once, and the executions of one step over all runs (SPEC §8).

use std::collections::BTreeMap;

use uuid::Uuid;

use super::error::Result;
use super::queries::{EXECUTIONS, execution_row, listed};
use super::rows::{count, parse_word, uuid};
use super::{EvidenceReader, changed};
use crate::plan::{CommandInput, Tool};
use crate::run::{ListedExecution, PastCommand, StepDurations};

/// The inputs of a command, from its recorded arguments.
fn inputs(arguments: &str) -> Vec<CommandInput> {
    let arguments: BTreeMap<String, String> = serde_json::from_str(arguments).unwrap_or_default();
    CommandInput::of_arguments(&arguments)
}

impl EvidenceReader {
    /// The commands that were run or were about to be, each once for each host that it ran on, the latest first.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn past_commands(&mut self) -> Result<Vec<PastCommand>> {
        // SQLite takes the other columns from the row with the greatest number.
        let sql = "
            SELECT max(c.row), json_extract(c.arguments_json, '$.command'), c.host, count(*), c.id,
                   c.timestamp, c.risk_level, c.risk_rule, c.arguments_json
            FROM (SELECT row, arguments_json, host, id, timestamp, risk_level, risk_rule
                  FROM executions WHERE tool_name = ?1
                  UNION ALL
                  SELECT i.row, i.arguments_json, i.host, i.id, i.timestamp, i.risk_level, i.risk_rule
                  FROM intents AS i WHERE i.tool_name = ?1
                  AND NOT EXISTS (SELECT 1 FROM executions AS e WHERE e.id = i.id)) AS c
            WHERE json_extract(c.arguments_json, '$.command') IS NOT NULL
            GROUP BY 2, 3 ORDER BY 1 DESC";
        self.query(|source| {
            let commands = source.all(sql, [Tool::Shell.name()], |row| {
                let Some(level) = parse_word(&row.get::<_, String>(6)?) else { return Ok(None) };
                Ok(Some(PastCommand {
                    command: row.get(1)?,
                    host: row.get(2)?,
                    times: count(row, 3)?,
                    execution_id: uuid(row, 4)?,
                    last_ms: row.get(5)?,
                    level,
                    rule: row.get(7)?,
                    inputs: inputs(&row.get::<_, String>(8)?),
                }))
            })?;
            Ok(commands.into_iter().flatten().collect())
        })
    }

    /// One execution or open intent as in a list; `None` if there is neither.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn listed_execution(&mut self, id: Uuid) -> Result<Option<ListedExecution>> {
        self.query(|source| {
            let Some(row) = execution_row(source, id)? else { return Ok(None) };
            let changed = changed::is_changed_in_list(source.conn, id)?;
            Ok(Some(ListedExecution { row, changed }))
        })
    }

    /// The executions of the step of this execution, at most the newest `limit`: those of a step with the same id in a
    /// plan with the same id, and those with the same tool and arguments. `None` if there is no such execution.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn step_durations(&mut self, id: Uuid, limit: usize) -> Result<Option<StepDurations>> {
        let sql = format!(
            "{EXECUTIONS} WHERE x.row IN
             (SELECT s.row FROM executions AS o JOIN runs AS q ON q.id = o.run_id
                     JOIN runs AS p ON p.plan_id = q.plan_id
                     JOIN executions AS s ON s.run_id = p.id AND s.step_id = o.step_id
                                          AND s.tool_name = o.tool_name
              WHERE o.id = ?1
              UNION SELECT s.row FROM executions AS o
                     JOIN executions AS s ON s.tool_name = o.tool_name
                                          AND s.arguments_json = o.arguments_json
              WHERE o.id = ?1)
             ORDER BY x.timestamp, x.row"
        );
        self.query(|source| {
            let mut found = source.all(&sql, [id.to_string()], |row| listed(source, row))?;
            let left_out = found.len().saturating_sub(limit);
            found.drain(..left_out);
            Ok(StepDurations::new(found, left_out))
        })
    }
}
