//! Writes an export in its format.

use std::io::Write;

use super::walk::{Walk, with_words};
use super::{ExportError, Exported, Progress, Result};
use super::{asciicast, csv, html, json_lines, junit, sarif};
use crate::evidence::EvidenceReader;
use crate::run::{ExportFormat, SearchQuery};

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
    let words = with_words(reader, query)?;
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
