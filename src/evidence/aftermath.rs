//! What a run left behind (SPEC §3, §8): which steps succeeded, what its files were at its end, and what
//! it was about to do when its process went away.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::OptionalExtension as _;
use uuid::Uuid;

use super::error::Result;
use super::queries::{self, digest, size};
use super::reader::Source;
use crate::authorization::FileState;
use crate::run::{FileForecast, Modes, Outcome};

/// An intent that has no execution: the tool may have been called or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenIntent {
    /// The execution that it announced.
    pub execution_id: Uuid,
    /// The step.
    pub step_id: String,
    /// The step's place, from 0.
    pub step_index: usize,
    /// The tool.
    pub tool_name: String,
    /// What was predicted to happen to files; empty where nothing could be predicted.
    pub files: Vec<FileForecast>,
}

pub(super) fn succeeded_steps(source: &Source<'_>, run_id: Uuid) -> Result<BTreeSet<String>> {
    Ok(source
        .conn
        .prepare_cached("SELECT step_id FROM executions WHERE run_id = ?1 AND outcome IN (?2, ?3)")?
        .query_map(
            [
                run_id.to_string().as_str(),
                Outcome::Succeeded.as_str(),
                Outcome::DoneByHand.as_str(),
            ],
            |row| row.get(0),
        )?
        .collect::<Result<_, _>>()?)
}

/// What the run's approval covered, overlaid with what its steps recorded, in their order.
pub(super) fn files_after(
    source: &Source<'_>,
    run_id: Uuid,
) -> Result<BTreeMap<String, FileState>> {
    let run = run_id.to_string();
    let inputs: Option<String> = source
        .conn
        .prepare_cached(
            "SELECT a.inputs_json FROM runs AS r JOIN authorizations AS a
             ON a.id = r.authorization_id WHERE r.id = ?1",
        )?
        .query_row([&run], |row| row.get(0))
        .optional()?;
    let inputs: BTreeMap<String, Option<String>> =
        serde_json::from_str(inputs.as_deref().unwrap_or("{}")).map_err(queries::unreadable)?;
    let mut files = BTreeMap::new();
    for (path, content) in inputs {
        files.insert(path, state(content)?);
    }
    let mut statement = source.conn.prepare_cached(&format!(
        "SELECT f.path, f.after_digest FROM executions AS x JOIN file_contents AS f ON {}
         WHERE x.run_id = ?1 AND f.execution_id = x.id AND f.phase = 'actual' ORDER BY f.id",
        queries::written_with("f.id", "executions", "x.row")
    ))?;
    let mut rows = statement.query([&run])?;
    while let Some(row) = rows.next()? {
        files.insert(row.get(0)?, state(row.get(1)?)?);
    }
    Ok(files)
}

pub(super) fn open_intents(source: &Source<'_>, run_id: Uuid) -> Result<Vec<OpenIntent>> {
    let mut statement = source.conn.prepare_cached(
        "SELECT x.id, x.step_id, x.step_index, x.tool_name FROM intents AS x
         WHERE x.run_id = ?1 AND NOT EXISTS (SELECT 1 FROM executions AS e WHERE e.id = x.id)
         ORDER BY x.row",
    )?;
    let mut rows = statement.query([run_id.to_string()])?;
    let mut intents = Vec::new();
    while let Some(row) = rows.next()? {
        let execution_id = queries::uuid(row, 0)?;
        intents.push(OpenIntent {
            execution_id,
            step_id: row.get(1)?,
            step_index: size(row.get(2)?),
            tool_name: row.get(3)?,
            files: predicted(source, execution_id)?,
        });
    }
    Ok(intents)
}

fn predicted(source: &Source<'_>, execution_id: Uuid) -> Result<Vec<FileForecast>> {
    let mut statement = source.conn.prepare_cached(&format!(
        "SELECT f.path, f.before_digest, f.after_digest
         FROM intents AS x JOIN file_contents AS f ON {}
         WHERE x.id = ?1 AND f.execution_id = x.id AND f.phase = 'predicted' ORDER BY f.id",
        queries::written_with("f.id", "intents", "x.row")
    ))?;
    let mut rows = statement.query([execution_id.to_string()])?;
    let mut files = Vec::new();
    while let Some(row) = rows.next()? {
        let (path, before, after) = (row.get(0)?, state(row.get(1)?)?, state(row.get(2)?)?);
        // What is not done yet asks for contents alone.
        files.push(FileForecast { path, before, after, modes: Modes::default() });
    }
    Ok(files)
}

pub(super) fn state(content: Option<String>) -> Result<FileState> {
    content.map_or(Ok(FileState::Absent), |text| Ok(FileState::Content(digest(&text)?)))
}
