//! Reads what is recorded of the steps of a run, for a comparison with another run (SPEC §8).

use std::collections::BTreeMap;

use serde_json::Value;
use uuid::Uuid;

use super::error::Result;
use super::queries::arguments;
use super::rows::{count, digest, json, optional, unreadable};
use super::run_outcome::file_state;
use super::source::Source;
use super::{EvidenceError, EvidenceReader, blobs};
use crate::authorization::FileState;
use crate::plan::Digest;
use crate::run::{MAX_COMPARED_BYTES, OutputContent, RecordedOutput, RecordedStep, RecordedSteps};

impl EvidenceReader {
    /// What is recorded of the steps of a run; `None` if there is no such run.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn recorded_steps(&mut self, run_id: Uuid) -> Result<Option<RecordedSteps>> {
        let Some(waterfall) = self.waterfall(run_id)? else { return Ok(None) };
        self.query(|source| {
            let mut steps = Vec::with_capacity(waterfall.steps.len());
            for step in &waterfall.steps {
                steps.push(recorded_step(source, step.listed.row.execution_id)?);
            }
            let inputs = inputs(source, run_id)?;
            Ok(Some(RecordedSteps { waterfall, steps, inputs }))
        })
    }

    /// A stored output that is to be compared; `None` if it was purged, is encrypted with another key, or has more than
    /// [`MAX_COMPARED_BYTES`] bytes.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn output_to_compare(&mut self, output: &Digest) -> Result<Option<Vec<u8>>> {
        self.query(|source| {
            if blobs::size(source.conn, output)? > MAX_COMPARED_BYTES {
                return Ok(None);
            }
            match blobs::read(source.conn, source.vault, output) {
                Err(EvidenceError::NotAvailable { .. }) => Ok(None),
                content => content,
            }
        })
    }
}

fn recorded_step(source: &Source<'_>, id: Uuid) -> Result<RecordedStep> {
    let id = id.to_string();
    let outputs = source.all(
        "SELECT artifact_type, content_json, bytes, blob FROM execution_artifacts
         WHERE execution_id = ?1 AND artifact_type IN ('stdout', 'stderr') AND bytes > 0
         ORDER BY artifact_type DESC",
        [&id],
        |row| {
            let content = match optional(row, 3, digest)? {
                Some(digest) => OutputContent::Stored(digest),
                None => match json::<Value>(row, 1)? {
                    Value::String(text) => OutputContent::Text(text),
                    other => OutputContent::Text(other.to_string()),
                },
            };
            Ok(RecordedOutput { stream: row.get(0)?, bytes: count(row, 2)?, content })
        },
    )?;
    let arguments = serde_json::from_value(arguments(source, &id)?).map_err(unreadable)?;
    Ok(RecordedStep { arguments, outputs })
}

/// The states of files that the approval of a run covered.
fn inputs(source: &Source<'_>, run_id: Uuid) -> Result<BTreeMap<String, FileState>> {
    let inputs: Option<BTreeMap<String, Option<String>>> = source.first(
        "SELECT a.inputs_json FROM runs AS r JOIN authorizations AS a
         ON a.id = r.authorization_id WHERE r.id = ?1",
        [run_id.to_string()],
        |row| json(row, 0),
    )?;
    let states = inputs.unwrap_or_default().into_iter();
    states.map(|(path, content)| Ok((path, file_state(content)?))).collect()
}
