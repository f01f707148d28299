//! `doctor`: prints what a report about a fault of the program needs.

use super::opening::evidence_location;
use super::output::Output;
use super::refusal::Refusal;
use super::{Exit, args};
use crate::worker::{bug_report, default_folders};

/// Prints the report. Faults of the settings, the evidence and the log are in it.
///
/// # Errors
/// The user's home folder cannot be determined.
pub(super) fn doctor(command: &args::Doctor, out: &mut Output) -> Result<Exit, Refusal> {
    let location = evidence_location(&command.common.folder)?;
    let settings = default_folders().map(|folders| folders.settings.join("settings.toml"));
    let report = bug_report(&location, settings.as_deref(), Vec::new());
    if out.json() {
        out.document(&report);
    } else {
        out.line(report.text().trim_end());
    }
    Ok(Exit::Done)
}
