//! `evidence`: search, show, query, verify, export, case, prove and the others. No record is changed; accept-head and restore add
//! one, and purge deletes records and adds what and why.

mod backup;
mod counts;
mod export;
mod looking_back;
mod over_runs;
mod proof;
mod query;
mod retention;
mod search;
mod secrets;
mod show;
pub(in crate::cli) mod signature;
mod team;
mod timeline;

use std::time::{Duration, Instant};

use super::args::EvidenceCommand;
use super::opening::evidence_location;
use super::output::{Output, say};
use super::refusal::Refusal;
use super::time::local_time;
use super::{Exit, args};
use crate::engine::{Clock as _, SystemClock};
use crate::evidence::{EvidenceLocation, EvidenceReader, EvidenceStore, verify_telling};
use crate::plan::quoted;
use crate::run::{Execution, HeadReport, ListedExecution, RunFate};

/// How often the progress of a long command is printed.
const TELL_EVERY: Duration = Duration::from_secs(2);

/// Runs a command about the evidence.
pub(super) fn evidence(command: &EvidenceCommand, out: &mut Output) -> Result<Exit, Refusal> {
    let location = evidence_location(&command.common().folder)?;
    let open = || -> Result<EvidenceReader, Refusal> {
        let mut reader = location.open()?;
        say_head_report(&reader.head_report()?);
        Ok(reader)
    };
    match command {
        EvidenceCommand::Search(command) => match &command.team {
            Some(address) => team::search(command, &team::server(address.as_ref())?, out),
            None => search::search(&command.search, &mut open()?, out),
        },
        EvidenceCommand::Show(command) => match &command.team {
            Some(address) => team::show(&command.show, &team::server(address.as_ref())?, out),
            None => show::show(&command.show, &mut open()?, out),
        },
        EvidenceCommand::Query(question) => query::query(question, &mut open()?, out),
        EvidenceCommand::Times(command) => looking_back::times(command, &mut open()?, out),
        EvidenceCommand::Compare(command) => looking_back::compare(command, &mut open()?, out),
        EvidenceCommand::File(command) => looking_back::file(command, &mut open()?, out),
        EvidenceCommand::Durations(command) => over_runs::durations(command, &mut open()?, out),
        EvidenceCommand::Judge(_) => over_runs::judge(&mut open()?, out),
        EvidenceCommand::Timeline(command) => timeline::timeline(command, &mut open()?, out),
        EvidenceCommand::Counts(command) => counts::counts(command, &mut open()?, out),
        EvidenceCommand::Verify(command) => match &command.team {
            Some(address) => team::verify(command, &team::server(address.as_ref())?, out),
            None => verify(command, &location, out),
        },
        EvidenceCommand::Export(command) => export::export(command, &mut open()?, out),
        EvidenceCommand::Case(command) => export::case(command, &mut open()?, out),
        EvidenceCommand::Key(command) => proof::key(command, &location, out),
        EvidenceCommand::Checkpoint(command) => proof::checkpoint(command, &location, out),
        EvidenceCommand::Prove(command) => proof::prove(command, &location, out),
        EvidenceCommand::Attest(command) => proof::attest(command, &location, out),
        EvidenceCommand::Sign(command) => signature::sign(command, &location, out),
        EvidenceCommand::VerifySignature(command) => {
            signature::verify(command, &location, &mut open()?, out)
        }
        EvidenceCommand::Push(command) => team::push(command, &location, out),
        EvidenceCommand::AcceptHead(command) => accept_head(command, &location, out),
        EvidenceCommand::Sizes(command) => retention::sizes(command, &mut open()?, out),
        EvidenceCommand::Purge(command) => retention::purge(command, &location, out),
        EvidenceCommand::Compact(_) => retention::compact(&location, out),
        EvidenceCommand::Secrets(_) => secrets::secrets(&mut open()?, out),
        EvidenceCommand::Backup(command) => backup::back_up(command, &location, out),
        EvidenceCommand::Restore(command) => backup::restore(command, &location, out),
    }
}

/// Prints how far a verification is.
fn telling() -> impl FnMut(u64, u64) {
    let mut told = Instant::now();
    move |rows, all| {
        if told.elapsed() >= TELL_EVERY {
            told = Instant::now();
            say(&format!("{rows} of {all} records are verified."));
        }
    }
}

fn verify(
    command: &args::Verify,
    location: &EvidenceLocation,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    let (folders, head) = (&location.user_folders, command.head.as_ref());
    let report = verify_telling(&location.evidence, folders, head, &mut telling())?;
    if out.json() {
        out.document(&report);
    } else {
        match &report.first_bad {
            Some(first_bad) => out.line(&format!(
                "The evidence was changed. First difference: {}",
                quoted(first_bad)
            )),
            None if report.ok && report.purged > 0 => out.line(&format!(
                "All {} records are unchanged; {} of them were purged, and their links are unchanged.",
                report.rows, report.purged
            )),
            None if report.ok => out.line(&format!("All {} records are unchanged.", report.rows)),
            None => out.line("The evidence was changed."),
        }
        out.line(&format!("Head {}", report.head));
        let printed = report.first_bad.as_deref();
        for difference in report.schema.iter().filter(|it| Some(it.as_str()) != printed) {
            out.line(&quoted(difference));
        }
        report.kept.iter().for_each(say_head_report);
        // An error here is ignored: the evidence was just read, and this only explains it.
        let latest = location.open().and_then(|mut reader| reader.runs(1)).unwrap_or_default();
        if let Some(run) = latest.first().filter(|run| run.fate == RunFate::Interrupted) {
            say(&format!(
                "Run {} has no end. Every step that may have changed something is recorded; after a power cut, steps \
                 at its end that only read may be missing.",
                run.run_id
            ));
        }
        // The first record only identifies the database.
        if report.ok && report.rows < 2 {
            // An empty database is sound, but it is probably in the wrong folder.
            let folder = location.evidence.display().to_string();
            say(&format!("There is no evidence in {} yet.", quoted(&folder)));
        } else if report.ok && command.head.is_none() {
            say(
                "Keep a copy of the head and pass it with --head later, so that a truncation is detected.",
            );
        }
    }
    Ok(if report.ok { Exit::Done } else { Exit::Tampered })
}

/// Accepts the database although it differs from the kept head, and records the reason.
fn accept_head(
    command: &args::AcceptHead,
    location: &EvidenceLocation,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    let now_ms = SystemClock::default().now_ms();
    let reason = &command.reason;
    let accepted =
        EvidenceStore::accept_head(&location.evidence, &location.user_folders, reason, now_ms)?;
    if out.json() {
        out.document(&accepted);
    } else {
        let difference = accepted.difference.as_deref().unwrap_or_default();
        out.line(&format!("Accepted, although {}.", quoted(difference)));
    }
    Ok(Exit::Done)
}

/// Prints the note that a copy of the kept heads was lost, if there is one.
pub(super) fn say_note(note: Option<&str>) {
    if let Some(note) = note {
        say(&format!("Note: {}.", quoted(note)));
    }
}

/// Prints why the evidence is read-only and what to do about it, and whether a copy of the kept heads was lost.
fn say_head_report(report: &HeadReport) {
    if let Some(difference) = &report.difference {
        say(&format!(
            "This evidence is read-only, and nothing can be run with it: {}. If you know the reason, accept it \
             with `countersign evidence accept-head --reason TEXT`.",
            quoted(difference)
        ));
    }
    say_note(report.note.as_deref());
}

/// The cells of an execution in a table for people.
fn cells(row: &Execution) -> Vec<String> {
    let duration = row.duration_ms.filter(|_| !row.known.never_started());
    let duration = duration.map_or_else(String::new, |ms| format!("{ms:>4} ms"));
    vec![
        local_time(row.timestamp_ms),
        row.known.as_str().to_owned(),
        row.risk.map_or("", |risk| risk.as_str()).to_owned(),
        row.tool_name.clone(),
        row.about.clone(),
        duration,
        row.execution_id.to_string(),
    ]
}

/// Prints, below a table, which of its executions were changed after they were written. With `--json`, each row contains
/// that already.
fn print_changed_rows<'a>(rows: impl Iterator<Item = &'a ListedExecution>, out: &mut Output) {
    if !out.json() {
        let mut ids: Vec<_> = rows.filter(|it| it.changed).map(|it| it.row.execution_id).collect();
        // Q8 lists an execution once for each diagnostic, in consecutive rows.
        ids.dedup();
        for id in ids {
            out.line(&format!("{id}: this record was changed after it was written."));
        }
    }
}

/// Prints to stderr that nothing was found. That is not an error.
fn say_if_empty(is_empty: bool, out: &Output) {
    if is_empty && !out.json() {
        say("Nothing found.");
    }
}
