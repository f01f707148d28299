//! Evidence that leaves the machine (SPEC §14): exports in common formats, and the case file of a run.
//!
//! Every format writes while it reads (`walk.rs`), so that memory does not grow with the number of executions, and from
//! one snapshot of the evidence, so that an export agrees with itself. The same evidence always gives the same bytes:
//! nothing contains the time of the export, and times are in UTC.
//!
//! The user's key is given up before anything is read. So an export never contains what the evidence stores only
//! encrypted; it says where such content is left out.

mod asciicast;
mod case;
mod csv;
mod excerpt;
mod html;
mod json_lines;
mod junit;
mod sarif;
mod time;
mod walk;
mod xml;

use std::io::{self, Write};

use uuid::Uuid;

pub use case::{MANIFEST_SCHEMA, case_file};
use walk::Walk;

use crate::evidence::{EvidenceError, EvidenceReader};
use crate::run::SearchQuery;

/// The format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// JSON Lines: each execution on a line, as `evidence show --json` prints it.
    JsonLines,
    /// Comma-separated values by RFC 4180: a header, and a record for each execution.
    Csv,
    /// SARIF 2.1.0: diagnostics as results, executions as invocations.
    Sarif,
    /// JUnit XML: a run is a test suite, a step a test case.
    Junit,
    /// asciicast v3: the output of one run, for a terminal player.
    Asciicast,
    /// A report as one HTML file without scripts.
    Html,
}

impl ExportFormat {
    /// Every format with its name on the command line.
    pub const WORDS: [(&'static str, Self); 6] = [
        ("jsonl", Self::JsonLines),
        ("csv", Self::Csv),
        ("sarif", Self::Sarif),
        ("junit", Self::Junit),
        ("asciicast", Self::Asciicast),
        ("html", Self::Html),
    ];
}

/// What was exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exported {
    /// The number of runs.
    pub runs: u64,
    /// The number of executions, and of steps without an outcome.
    pub executions: u64,
    /// How many of these executions were changed after they were written.
    pub changed: u64,
}

/// Why an export ended without a complete result.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each variant is described by its message")]
pub enum ExportError {
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
    #[error("the export cannot be written: {0}")]
    Write(#[from] io::Error),
    #[error("the export was stopped")]
    Stopped,
    #[error("the evidence has no run {0}")]
    NoRun(Uuid),
    #[error("an asciicast is the output of one run: name it with --run")]
    OneRun,
}

impl From<zip::result::ZipError> for ExportError {
    fn from(error: zip::result::ZipError) -> Self {
        Self::Write(error.into())
    }
}

/// The result type of this room.
pub type Result<T, E = ExportError> = std::result::Result<T, E>;

/// Is told the number of executions so far, and returns whether the export goes on.
pub type Progress<'p> = &'p mut dyn FnMut(u64) -> bool;

/// Writes the runs and steps that meet `query` in this format, in the order of recording. Its words and filters are
/// those of a search; a limit of 0 means all.
///
/// # Errors
/// When the evidence cannot be read or the export not be written; when `progress` stops it; when the query names a run
/// that does not exist, or none for an asciicast.
pub fn export(
    reader: &mut EvidenceReader,
    query: &SearchQuery,
    format: ExportFormat,
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<Exported> {
    if let Some(run_id) = query.run_id
        && reader.run(run_id)?.is_none()
    {
        return Err(ExportError::NoRun(run_id));
    }
    if format == ExportFormat::Asciicast && query.run_id.is_none() {
        return Err(ExportError::OneRun);
    }
    // The index needs the key, and may be ahead of a snapshot.
    let words = walk::with_words(reader, query)?;
    reader.lock_secrets();
    reader.in_snapshot(|reader| {
        let mut walk = Walk::new(reader, query, words, progress);
        match format {
            ExportFormat::JsonLines => json_lines::write(&mut walk, out)?,
            ExportFormat::Csv => csv::write(&mut walk, out)?,
            ExportFormat::Sarif => sarif::write(&mut walk, out)?,
            ExportFormat::Junit => junit::write(&mut walk, out)?,
            ExportFormat::Asciicast => asciicast::write(&mut walk, out)?,
            ExportFormat::Html => html::write(&mut walk, out)?,
        }
        out.flush()?;
        Ok(walk.exported)
    })
}
