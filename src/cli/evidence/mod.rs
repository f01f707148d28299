//! `evidence`: search, show, query and verify. Reads only; nothing here can change a record.

mod query;
mod search;
mod show;

use super::Exit;
use super::args::{self, EvidenceCommand};
use super::output::{Output, say};
use super::place::EvidencePlace;
use super::refusal::Refusal;
use super::time::local_time;
use crate::evidence::{EvidenceReader, verify};
use crate::plan::visible;
use crate::run::ExecutionRow;

/// Answers a question to the evidence.
pub(super) fn evidence(command: &args::Evidence, out: &mut Output) -> Result<Exit, Refusal> {
    let place = EvidencePlace::find(&command.common().folder)?;
    if let EvidenceCommand::Verify(command) = &command.command {
        return verified(command, &place, out);
    }
    let mut reader = EvidenceReader::open(&place.evidence, &place.secrets)?;
    match &command.command {
        EvidenceCommand::Search(command) => search::search(command, &mut reader, out),
        EvidenceCommand::Show(command) => show::show(command, &mut reader, out),
        EvidenceCommand::Query(command) => query::query(&command.question, &mut reader, out),
        EvidenceCommand::Verify(_) => Ok(Exit::Done),
    }
}

fn verified(
    command: &args::Verify,
    place: &EvidencePlace,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    let report = verify(&place.evidence, command.head.as_ref())?;
    if out.json() {
        out.document(&report);
    } else {
        match &report.first_bad {
            Some(first_bad) => out.line(&format!("Not sound: {}", visible(first_bad))),
            None if report.ok => out.line(&format!("Sound: {} records.", report.rows)),
            None => out.line("Not sound."),
        }
        out.line(&format!("Head {}", report.head));
        if report.rows == 0 {
            // Sound as it is, it is rarely what was meant.
            let folder = place.evidence.display().to_string();
            say(&format!("There is no evidence in {} yet.", visible(&folder)));
        } else if report.ok && command.head.is_none() {
            say(
                "Copy the head out and give it back with --head, to see later that nothing was cut off.",
            );
        }
    }
    Ok(if report.ok { Exit::Done } else { Exit::Tampered })
}

/// An execution in a list for people.
fn cells(row: &ExecutionRow) -> Vec<String> {
    let duration = row.duration_ms.map_or_else(String::new, |ms| format!("{ms:>4} ms"));
    [
        local_time(row.timestamp_ms),
        row.known.as_str().to_owned(),
        row.risk.map_or("", |risk| risk.as_str()).to_owned(),
        row.tool_name.clone(),
        row.about.clone(),
        duration,
        row.execution_id.to_string(),
    ]
    .iter()
    .map(|cell| visible(cell).into_owned())
    .collect()
}

/// Says on stderr that there is nothing; no rows are no error.
fn say_if_empty(is_empty: bool, out: &Output) {
    if is_empty && !out.json() {
        say("Nothing found.");
    }
}
