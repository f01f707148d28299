//! The outcome of a run (SPEC §3, §8): which steps succeeded, the states of its files at its end, and the open
//! intents of an interrupted run.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use super::error::Result;
use super::queries::written_with;
use super::reader::EvidenceReader;
use super::rows::{json, size, unreadable, uuid};
use super::source::Source;
use crate::authorization::FileState;
use crate::run::{FileForecast, Modes, Outcome};

/// An intent that has no execution. Whether the tool was called is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenIntent {
    /// The execution that the intent belongs to.
    pub execution_id: Uuid,
    /// The step.
    pub step_id: String,
    /// The index of the step, from 0.
    pub step_index: usize,
    /// The tool.
    pub tool_name: String,
    /// The predicted changes of files; empty if nothing could be predicted.
    pub files: Vec<FileForecast>,
}

impl EvidenceReader {
    /// The ids of the steps of a run that succeeded.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn succeeded_steps(&mut self, run_id: Uuid) -> Result<BTreeSet<String>> {
        let sql = "SELECT step_id FROM executions WHERE run_id = ?1 AND outcome IN (?2, ?3)";
        let done = [Outcome::Succeeded, Outcome::DoneByHand].map(Outcome::as_str);
        self.ask(|source| {
            let steps =
                source.all(sql, (run_id.to_string(), done[0], done[1]), |row| Ok(row.get(0)?))?;
            Ok(steps.into_iter().collect())
        })
    }

    /// The state of each file that a run took as input or changed, at the end of the run, by canonical path: as
    /// approved, or as the last recorded step left it.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn files_after(&mut self, run_id: Uuid) -> Result<BTreeMap<String, FileState>> {
        self.ask(|source| files_after(source, &run_id.to_string()))
    }

    /// The intents of a run that have no execution, with the predicted changes. If the run is active, the current
    /// step is among them.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn open_intents(&mut self, run_id: Uuid) -> Result<Vec<OpenIntent>> {
        let sql = "SELECT x.id, x.step_id, x.step_index, x.tool_name FROM intents AS x
             WHERE x.run_id = ?1 AND NOT EXISTS (SELECT 1 FROM executions AS e WHERE e.id = x.id)
             ORDER BY x.row";
        self.ask(|source| {
            source.all(sql, [run_id.to_string()], |row| {
                let execution_id = uuid(row, 0)?;
                Ok(OpenIntent {
                    execution_id,
                    step_id: row.get(1)?,
                    step_index: size(row, 2)?,
                    tool_name: row.get(3)?,
                    files: predicted(source, execution_id)?,
                })
            })
        })
    }
}

/// The files that the run's approval covered, updated with the states that its steps recorded, in their order.
fn files_after(source: &Source<'_>, run_id: &str) -> Result<BTreeMap<String, FileState>> {
    let inputs: Option<BTreeMap<String, Option<String>>> = source.first(
        "SELECT a.inputs_json FROM runs AS r JOIN authorizations AS a
         ON a.id = r.authorization_id WHERE r.id = ?1",
        [run_id],
        |row| json(row, 0),
    )?;
    let mut files = BTreeMap::new();
    for (path, content) in inputs.unwrap_or_default() {
        files.insert(path, state(content)?);
    }
    let sql = format!(
        "SELECT f.path, f.after_digest FROM executions AS x JOIN file_contents AS f ON {}
         WHERE x.run_id = ?1 AND f.execution_id = x.id AND f.phase = 'actual' ORDER BY f.id",
        written_with("f.id", "executions", "x.row")
    );
    files.extend(source.all(&sql, [run_id], |row| Ok((row.get(0)?, state(row.get(1)?)?)))?);
    Ok(files)
}

fn predicted(source: &Source<'_>, execution_id: Uuid) -> Result<Vec<FileForecast>> {
    let sql = format!(
        "SELECT f.path, f.before_digest, f.after_digest
         FROM intents AS x JOIN file_contents AS f ON {}
         WHERE x.id = ?1 AND f.execution_id = x.id AND f.phase = 'predicted' ORDER BY f.id",
        written_with("f.id", "intents", "x.row")
    );
    source.all(&sql, [execution_id.to_string()], |row| {
        let (path, before, after) = (row.get(0)?, state(row.get(1)?)?, state(row.get(2)?)?);
        // Only the predicted contents of an open intent are compared.
        Ok(FileForecast { path, before, after, modes: Modes::default() })
    })
}

pub(super) fn state(content: Option<String>) -> Result<FileState> {
    let content = content.map(|text| text.parse()).transpose().map_err(unreadable)?;
    Ok(content.map_or(FileState::Absent, FileState::Content))
}
