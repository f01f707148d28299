//! `evidence export` and `evidence case`: evidence in other formats, on stdout or in a file.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::NamedTempFile;

use super::search::query_of;
use crate::cli::output::{Output, say};
use crate::cli::refusal::Refusal;
use crate::cli::signals::interrupt_flag;
use crate::cli::{Exit, args};
use crate::evidence::EvidenceReader;
use crate::export::{ExportError, ExportFormat, Exported, Progress, case_file};
use crate::plan::quoted;

/// How often the number of executions so far is printed.
const TELL_EVERY: Duration = Duration::from_secs(2);

/// Writes the selected executions in a format.
///
/// # Errors
/// When the evidence cannot be read or the file not be written, the run does not exist, or the person stops it.
pub(super) fn export(
    command: &args::Export,
    reader: &mut EvidenceReader,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    let (query, format) = (query_of(&command.search), command.format);
    let Some(path) = &command.out else {
        let written = with_progress(|progress| {
            crate::export::export(reader, &query, format, out.stream(), progress)
        });
        return match written {
            Err(ExportError::Write(error)) if error.kind() == ErrorKind::BrokenPipe => {
                Ok(Exit::Done)
            }
            written => {
                say_changed(written?);
                Ok(Exit::Done)
            }
        };
    };
    let (exported, bytes) = to_file(path, command.force, |file, progress| {
        crate::export::export(reader, &query, format, file, progress)
    })?;
    print(path, word(format), exported, bytes, out);
    Ok(Exit::Done)
}

/// Writes the case file of a run.
///
/// # Errors
/// As for [`export`].
pub(super) fn case(
    command: &args::Case,
    reader: &mut EvidenceReader,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    let (exported, bytes) = to_file(&command.out, command.force, |file, progress| {
        case_file(reader, command.run, file, progress)
    })?;
    print(&command.out, "case", exported, bytes, out);
    if !out.json() {
        say("Check it with `python3 verify.py FILE`; a copy of verify.py is in it.");
    }
    Ok(Exit::Done)
}

fn word(format: ExportFormat) -> &'static str {
    let found = ExportFormat::WORDS.iter().find(|(_, it)| *it == format);
    found.map_or("", |(word, _)| word)
}

fn print(path: &Path, format: &str, exported: Exported, bytes: u64, out: &mut Output) {
    let Exported { runs, executions, changed } = exported;
    if out.json() {
        out.document(&json!({
            "file": path.to_string_lossy(),
            "format": format,
            "runs": runs,
            "executions": executions,
            "changed": changed,
            "bytes": bytes,
        }));
    } else {
        let path = path.display().to_string();
        out.line(&format!(
            "{executions} executions of {runs} runs are in {} ({bytes} bytes).",
            quoted(&path)
        ));
    }
    say_changed(exported);
}

/// Says how many of the exported executions were changed after they were written.
fn say_changed(exported: Exported) {
    if exported.changed > 0 {
        say(&format!(
            "{} of these executions were changed after they were written: run `countersign evidence verify`.",
            exported.changed
        ));
    }
}

/// Runs an export that says on stderr how far it is, and that a signal stops.
fn with_progress(
    write: impl FnOnce(Progress<'_>) -> Result<Exported, ExportError>,
) -> Result<Exported, ExportError> {
    let stop = interrupt_flag()?;
    let mut told = Instant::now();
    let mut progress = |executions: u64| tell(executions, &mut told, &stop);
    write(&mut progress)
}

fn tell(executions: u64, told: &mut Instant, stop: &AtomicBool) -> bool {
    if told.elapsed() >= TELL_EVERY {
        *told = Instant::now();
        say(&format!("{executions} executions so far"));
    }
    !stop.load(Ordering::Relaxed)
}

/// Writes a file beside the one with this name, and renames it when it is complete. Returns its size in bytes.
fn to_file(
    path: &Path,
    force: bool,
    write: impl FnOnce(&mut BufWriter<&mut File>, Progress<'_>) -> Result<Exported, ExportError>,
) -> Result<(Exported, u64), Refusal> {
    let exists = || {
        let message = format!("{} exists already", path.display());
        Refusal::usage(message, "Name another file, or replace this one with --force.")
    };
    if !force && path.symlink_metadata().is_ok() {
        return Err(exists());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    // Only this user can read it, and it is removed unless it is complete.
    let mut file =
        NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).map_err(ExportError::Write)?;
    let exported = with_progress(|progress| {
        let mut buffered = BufWriter::new(file.as_file_mut());
        let exported = write(&mut buffered, progress)?;
        buffered.flush()?;
        Ok(exported)
    })?;
    file.as_file().sync_all().map_err(ExportError::Write)?;
    let bytes = file.as_file().metadata().map_err(ExportError::Write)?.len();
    let kept = if force { file.persist(path) } else { file.persist_noclobber(path) };
    match kept {
        Ok(_) => Ok((exported, bytes)),
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Err(exists()),
        Err(error) => Err(ExportError::Write(error.error).into()),
    }
}
