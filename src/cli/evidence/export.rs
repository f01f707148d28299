//! `evidence export` and `evidence case`: evidence in other formats, on stdout or in a file.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use uuid::Uuid;

use super::search::query_of;
use crate::cli::output::{Output, say};
use crate::cli::refusal::Refusal;
use crate::cli::signals::interrupt_flag;
use crate::cli::{Exit, args};
use crate::evidence::EvidenceReader;
use crate::export::{ExportError, Exported, Progress, export_to_file};
use crate::plan::quoted;
use crate::run::{ExportFile, ExportFormat, SearchQuery};

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
    let (query, format) = (query_of(&command.search, reader)?, command.format);
    let Some(path) = &command.out else {
        let written = with_progress(|progress| {
            crate::export::export(reader, &query, format, out.stream(), progress)
        });
        return match written {
            Err(ExportError::Write(error)) if error.kind() == ErrorKind::BrokenPipe => {
                Ok(Exit::Done)
            }
            written => {
                say_changed(&written?);
                Ok(Exit::Done)
            }
        };
    };
    to_file(reader, &query, ExportFile::Format(format), (path, command.force), out)?;
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
    let query = of_run(command.run.run(reader)?);
    to_file(reader, &query, ExportFile::Case, (&command.out, command.force), out)?;
    if !out.json() {
        say(
            "Check it with `python3 verify.py FILE --key KEY`; a copy of verify.py is in it, and `countersign evidence key` \
             prints the key.",
        );
    }
    Ok(Exit::Done)
}

/// The search that finds everything of a run.
fn of_run(run_id: Uuid) -> SearchQuery {
    SearchQuery { run_id: Some(run_id), ..SearchQuery::default() }
}

/// Writes an export to a file, and prints what it has.
fn to_file(
    reader: &mut EvidenceReader,
    query: &SearchQuery,
    kind: ExportFile,
    (path, replace): (&Path, bool),
    out: &mut Output,
) -> Result<(), Refusal> {
    let written =
        with_progress(|progress| export_to_file(reader, query, kind, (path, replace), progress));
    let (exported, bytes) = written?;
    print(path, word(kind), &exported, bytes, out);
    Ok(())
}

fn word(kind: ExportFile) -> &'static str {
    let is_it = |format| ExportFile::Format(format) == kind;
    let found = ExportFormat::WORDS.iter().find(|(_, format)| is_it(*format));
    found.map_or("case", |(word, _)| word)
}

fn print(path: &Path, format: &str, exported: &Exported, bytes: u64, out: &mut Output) {
    let Exported { runs, executions, changed, not_proven } = exported;
    if out.json() {
        out.document(&json!({
            "file": path.to_string_lossy(),
            "format": format,
            "runs": runs,
            "executions": executions,
            "changed": changed,
            "not_proven": not_proven,
            "bytes": bytes,
        }));
    } else {
        let path = path.display().to_string();
        let s = |count: u64| if count == 1 { "" } else { "s" };
        let verb = if *executions == 1 { "is" } else { "are" };
        out.line(&format!(
            "{executions} execution{} of {runs} run{} {verb} in {} ({bytes} bytes).",
            s(*executions),
            s(*runs),
            quoted(&path)
        ));
    }
    if let Some(why) = not_proven {
        say(&format!("No proof of its records is in it: {}", quoted(why)));
    }
    say_changed(exported);
}

/// Says how many of the exported executions were changed after they were written.
fn say_changed(exported: &Exported) {
    if exported.changed > 0 {
        say(&format!(
            "{} of these executions were changed after they were written: run `countersign evidence verify`.",
            exported.changed
        ));
    }
}

/// Runs an export that says on stderr how far it is, and that a signal stops.
fn with_progress<T>(
    write: impl FnOnce(Progress<'_>) -> Result<T, ExportError>,
) -> Result<T, ExportError> {
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
