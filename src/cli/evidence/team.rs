//! `evidence push`, and `search`, `show` and `verify` with `--team`: the evidence of a team.

use std::time::{Duration, Instant};

use serde_json::json;
use uuid::Uuid;

use super::{TELL_EVERY, cells, say_if_empty};
use crate::cli::opening::team_of_settings;
use crate::cli::output::{Output, quoted_in_line, say};
use crate::cli::refusal::Refusal;
use crate::cli::{Exit, args};
use crate::evidence::EvidenceLocation;
use crate::plan::quoted;
use crate::team::{self, Server, TeamQuery};

/// How long the server may work on a search.
const PATIENCE: Duration = Duration::from_secs(120);

/// The server: that of the address, or without one that of the settings.
///
/// # Errors
/// When the address is none of a server, or the settings name none.
pub(super) fn server(address: Option<&args::TeamAddress>) -> Result<Server, Refusal> {
    let Some(address) = address.map(args::TeamAddress::as_typed) else {
        return team_of_settings()?.ok_or_else(|| {
            let next =
                "Name it: postgres://USER@HOST:PORT/DATABASE, here or as `team` in settings.toml.";
            Refusal::usage("no server of a team is named", next)
        });
    };
    if !address.contains("://") {
        let message = "the address of the team's server does not begin with postgres://";
        let next =
            "Without an address, write `--team` at the end of the line, or `--` before the words.";
        return Err(Refusal::usage(message, next));
    }
    Ok(address.parse()?)
}

/// Pushes what the server does not have, or prints the script that makes a database ready.
///
/// # Errors
/// When the evidence cannot be read, the server cannot be used, or it has another history.
pub(super) fn push(
    command: &args::Push,
    location: &EvidenceLocation,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    if command.setup {
        out.exact(team::SETUP.as_bytes());
        return Ok(Exit::Done);
    }
    let server = server(command.server.as_ref())?;
    let mut told = Instant::now();
    let report = team::push(location, &server, &mut |done, all, is_pushed| {
        if told.elapsed() >= TELL_EVERY {
            told = Instant::now();
            let what = if is_pushed { "pushed" } else { "verified" };
            say(&format!("{done} of {all} records are {what}."));
        }
    })?;
    if out.json() {
        out.document(&report);
    } else {
        let team::PushReport { pushed, total, server, .. } = &report;
        out.line(&format!("{pushed} records were pushed; {total} are on {}.", quoted(server)));
    }
    if let Some(difference) = &report.difference {
        say(&format!(
            "The evidence here was changed, and nothing behind the first difference is pushed: {}. Run `countersign \
             evidence verify`.",
            quoted(difference)
        ));
    }
    Ok(if report.ok { Exit::Done } else { Exit::Tampered })
}

/// Prints the hits of all origins.
///
/// # Errors
/// When the server cannot be used, or a filter is not supported there.
pub(super) fn search(
    command: &args::TeamSearch,
    server: &Server,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    let ids = [&command.search.run, &command.search.bounded_loop];
    let [run_id, loop_id] = ids.map(|id| args::given(id.as_ref(), whole));
    let query = super::search::query_with(&command.search, run_id?, loop_id?);
    let wanted = TeamQuery { query, origin: command.origin.clone(), after: None };
    let page = team::search(server, &wanted, PATIENCE.into())?;
    if out.json() {
        page.hits.iter().for_each(|hit| out.document(hit));
    } else {
        out.table(page.hits.iter().map(|it| {
            let origin = it.origin.rsplit('/').next().unwrap_or_default();
            let mut cells = cells(&it.hit.listed.row);
            cells.push(format!("from {origin}"));
            cells
        }));
        for it in page.hits.iter().filter(|it| !it.hit.excerpt.is_empty()) {
            let (id, hit) = (it.hit.listed.row.execution_id, &it.hit);
            out.line(&format!("{id} {}: {}", quoted(&hit.found_in), quoted_in_line(&hit.excerpt)));
        }
        super::print_changed_rows(page.hits.iter().map(|it| &it.hit.listed), out);
    }
    for (origin, number) in &page.unreadable {
        say(&format!(
            "Record {number} of {} cannot be read: this program has not written it.",
            quoted(origin)
        ));
    }
    say_if_empty(page.hits.is_empty(), out);
    let shown = page.hits.len() as u64;
    if page.total > shown || page.is_partial {
        let more = if page.is_partial { "more than " } else { "" };
        say(&format!("{shown} of {more}{} shown; --limit shows more.", page.total));
    }
    Ok(Exit::Done)
}

/// Prints the execution of each origin that has it.
///
/// # Errors
/// When the server cannot be used or has no such execution.
pub(super) fn show(
    command: &args::Show,
    server: &Server,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    let id = whole(&command.id)?;
    let found = team::executions(server, id, PATIENCE.into())?;
    if found.is_empty() {
        let message = format!("the server has no execution {id}");
        return Err(Refusal::usage(message, "Look the id up with `evidence search --team URL`."));
    }
    for it in &found {
        if out.json() {
            out.document(it);
        } else {
            super::show::show_execution(&it.detail, out);
            out.line(&format!("From {}", quoted(&it.origin)));
        }
    }
    Ok(Exit::Done)
}

/// The id, which the server does not complete.
fn whole(id: &args::RecordId) -> Result<Uuid, Refusal> {
    let none = || {
        let next = "`evidence search --team URL` prints whole ids.";
        Refusal::usage("the server needs the whole id", next)
    };
    id.whole().ok_or_else(none)
}

/// Verifies the chain of every origin, or of one.
///
/// # Errors
/// When the server cannot be used.
pub(super) fn verify(
    command: &args::Verify,
    server: &Server,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    let origins = team::verify(server, command.origin.as_deref(), &mut super::telling())?;
    let ok = origins.iter().all(|it| it.ok);
    if out.json() {
        out.document(&json!({ "ok": ok, "server": server.to_string(), "origins": origins }));
    } else {
        for it in &origins {
            let (origin, rows) = (quoted(&it.origin), it.rows);
            out.line(&match &it.first_bad {
                None if it.purged > 0 => {
                    format!(
                        "{origin}: all {rows} records are unchanged; {} of them were purged.",
                        it.purged
                    )
                }
                None => format!("{origin}: all {rows} records are unchanged."),
                Some(bad) => format!("{origin} was changed. First difference: {}", quoted(bad)),
            });
        }
    }
    say_if_empty(origins.is_empty(), out);
    Ok(if ok { Exit::Done } else { Exit::Tampered })
}
