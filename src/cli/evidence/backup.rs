//! `evidence backup` and `evidence restore`.

use crate::cli::output::{Output, say};
use crate::cli::refusal::Refusal;
use crate::cli::{Exit, args};
use crate::engine::{Clock as _, SystemClock};
use crate::evidence::EvidenceLocation;
use crate::plan::quoted;
use crate::run::text::size;

/// Writes a backup.
///
/// # Errors
/// When there is no evidence, or the file exists or cannot be written.
pub(super) fn back_up(
    command: &args::Backup,
    location: &EvidenceLocation,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    if command.file.symlink_metadata().is_ok() {
        let message = format!("{} exists already", command.file.display());
        return Err(Refusal::usage(message, "Name another file: a backup replaces none."));
    }
    let report = location.back_up(&command.file)?;
    if out.json() {
        out.document(&report);
    } else {
        let path = report.file.display().to_string();
        out.line(&format!(
            "{} records are in {} ({}). Head {}",
            report.rows,
            quoted(&path),
            size(report.bytes),
            report.head
        ));
    }
    let key = location.user_folders.key.join("evidence.key").display().to_string();
    say(&format!(
        "The key is not in it. Keep a copy of {} apart: without it, contents with secrets cannot be read, and what was \
         granted does not count.",
        quoted(&key)
    ));
    Ok(Exit::Done)
}

/// Brings a backup back.
///
/// # Errors
/// When the file is no sound backup, or something is under way here.
pub(super) fn restore(
    command: &args::Restore,
    location: &EvidenceLocation,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    let now_ms = SystemClock::default().now_ms();
    let report = location.restore(&command.file, &command.reason, now_ms)?;
    if out.json() {
        out.document(&report);
        return Ok(Exit::Done);
    }
    out.line(&format!("{} records are back. Head {}", report.rows, report.head));
    match &report.moved_to {
        Some(path) => {
            let path = path.display().to_string();
            out.line(&format!("The evidence that was here is in {}.", quoted(&path)));
        }
        None => out.line("There was no evidence here."),
    }
    if let Some(difference) = &report.difference {
        out.line(&format!("Accepted, although {}.", quoted(difference)));
    }
    Ok(Exit::Done)
}
