//! The outcome of a run (SPEC §3, §8): which steps succeeded, the states of its files at its end, and the open
//! intents of an interrupted run.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use super::EvidenceReader;
use super::error::Result;
use super::rows::{json, size, unreadable, uuid, written_with};
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
    /// The predicted changes of files; empty if none were predicted.
    pub files: Vec<FileForecast>,
}

impl EvidenceReader {
    /// The ids of the steps of a run that succeeded or that a person did by hand.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn succeeded_steps(&mut self, run_id: Uuid) -> Result<BTreeSet<String>> {
        let sql = "SELECT step_id FROM executions WHERE run_id = ?1 AND outcome IN (?2, ?3)";
        let outcomes = (Outcome::Succeeded.as_str(), Outcome::DoneByHand.as_str());
        self.query(|source| {
            let params = (run_id.to_string(), outcomes.0, outcomes.1);
            let steps = source.all(sql, params, |row| Ok(row.get(0)?))?;
            Ok(steps.into_iter().collect())
        })
    }

    /// The state at the end of a run of each file that its approval covered or a step changed, by canonical path: the
    /// state after the last recorded change, or else the approved one.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn files_after(&mut self, run_id: Uuid) -> Result<BTreeMap<String, FileState>> {
        self.query(|source| files_after(source, &run_id.to_string()))
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
        self.query(|source| {
            source.all(sql, [run_id.to_string()], |row| {
                let execution_id = uuid(row, 0)?;
                Ok(OpenIntent {
                    execution_id,
                    step_id: row.get(1)?,
                    step_index: size(row, 2)?,
                    tool_name: row.get(3)?,
                    files: predicted_changes(source, execution_id)?,
                })
            })
        })
    }
}

fn files_after(source: &Source<'_>, run_id: &str) -> Result<BTreeMap<String, FileState>> {
    let inputs: Option<BTreeMap<String, Option<String>>> = source.first(
        "SELECT a.inputs_json FROM runs AS r JOIN authorizations AS a
         ON a.id = r.authorization_id WHERE r.id = ?1",
        [run_id],
        |row| json(row, 0),
    )?;
    let mut files = BTreeMap::new();
    for (path, content) in inputs.unwrap_or_default() {
        files.insert(path, file_state(content)?);
    }
    let sql = format!(
        "SELECT f.path, f.after_digest FROM executions AS x JOIN file_contents AS f ON {}
         WHERE x.run_id = ?1 AND f.execution_id = x.id AND f.phase = 'actual' ORDER BY f.id",
        written_with("f.id", "executions", "x.row")
    );
    files.extend(source.all(&sql, [run_id], |row| Ok((row.get(0)?, file_state(row.get(1)?)?)))?);
    Ok(files)
}

/// The changes of files that an intent predicted.
fn predicted_changes(source: &Source<'_>, execution_id: Uuid) -> Result<Vec<FileForecast>> {
    let sql = format!(
        "SELECT f.path, f.before_digest, f.after_digest
         FROM intents AS x JOIN file_contents AS f ON {}
         WHERE x.id = ?1 AND f.execution_id = x.id AND f.phase = 'predicted' ORDER BY f.id",
        written_with("f.id", "intents", "x.row")
    );
    source.all(&sql, [execution_id.to_string()], |row| {
        let (path, before, after) =
            (row.get(0)?, file_state(row.get(1)?)?, file_state(row.get(2)?)?);
        // Only the contents of an open intent are compared with the disk.
        Ok(FileForecast { path, before, after, modes: Modes::default() })
    })
}

/// The state of a file from a column with its digest, which is null for an absent file.
pub(super) fn file_state(content: Option<String>) -> Result<FileState> {
    let content = content.map(|text| text.parse()).transpose().map_err(unreadable)?;
    Ok(content.map_or(FileState::Absent, FileState::Content))
}
