//! Reads the times of a run: its steps, the answers about them, and its pauses.

use std::collections::HashMap;

use uuid::Uuid;

use super::error::Result;
use super::queries::{EXECUTIONS, OPEN_INTENTS, listed};
use super::rows::{optional, parse_word, uuid};
use super::source::Source;
use super::{EvidenceReader, runs};
use crate::run::{Control, Decision, ListedExecution, Waterfall};

impl EvidenceReader {
    /// The times of the steps of a run; `None` if there is no such run.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn waterfall(&mut self, run_id: Uuid) -> Result<Option<Waterfall>> {
        self.query(|source| {
            let Some(run) = runs::run(source, run_id)? else { return Ok(None) };
            let (answers, controls) = decisions(source, run_id)?;
            let answer = |step: &ListedExecution| answers.get(&step.row.execution_id).copied();
            let steps = steps(source, run_id)?.into_iter().map(|step| {
                let answered = answer(&step);
                (step, answered)
            });
            Ok(Some(Waterfall::new(run, steps.collect(), &controls)))
        })
    }
}

/// The recorded steps of a run, and those that have begun, in the order of the plan.
pub(super) fn steps(source: &Source<'_>, run_id: Uuid) -> Result<Vec<ListedExecution>> {
    let mut steps = Vec::new();
    for sql in [
        format!("{EXECUTIONS} WHERE x.run_id = ?1 ORDER BY x.row"),
        format!("{OPEN_INTENTS} AND x.run_id = ?1 ORDER BY x.row"),
    ] {
        steps.extend(source.all(&sql, [run_id.to_string()], |row| listed(source, row))?);
    }
    steps.sort_by_key(|step| step.row.step_index);
    Ok(steps)
}

/// The time of the last answer about each execution.
type Answers = HashMap<Uuid, i64>;

/// The answers of persons about the steps of a run, and their requests during it, in order.
fn decisions(source: &Source<'_>, run_id: Uuid) -> Result<(Answers, Vec<(Control, i64)>)> {
    let (mut answers, mut controls) = (Answers::new(), Vec::new());
    let sql = "SELECT execution_id, decision, timestamp FROM decisions
               WHERE run_id = ?1 ORDER BY id";
    source.all(sql, [run_id.to_string()], |row| {
        let (word, at_ms): (String, i64) = (row.get(1)?, row.get(2)?);
        let execution = optional(row, 0, uuid)?;
        let execution = execution.filter(|_| parse_word::<Decision>(&word).is_some());
        answers.extend(execution.map(|execution| (execution, at_ms)));
        controls.extend(parse_word(&word).map(|control| (control, at_ms)));
        Ok(())
    })?;
    Ok((answers, controls))
}
