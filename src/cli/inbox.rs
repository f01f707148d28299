//! `inbox`: lists the plans that wait for a person, and removes them.

use serde::Serialize;
use serde_json::json;

use super::opening::{inbox as open, policy};
use super::output::{Output, say};
use super::refusal::Refusal;
use super::time::local_time;
use super::{Exit, args};
use crate::run::{InboxEntry, InboxKind, InboxPlan};
use crate::worker::inbox::{list_inbox, remove_from_inbox};

/// The document of `inbox list --json`.
#[derive(Serialize)]
struct Document<'a> {
    /// The folder of the inbox.
    inbox: String,
    entries: &'a [InboxEntry],
    /// The number of things beyond the limit, which are not listed.
    omitted: usize,
}

/// Lists the inbox, or removes something from it.
///
/// # Errors
/// The inbox cannot be used, or nothing is named so.
pub(super) fn inbox(command: &args::InboxCommand, out: &mut Output) -> Result<Exit, Refusal> {
    match command {
        args::InboxCommand::List(_) => list(out),
        args::InboxCommand::Remove(remove) => self::remove(remove, out),
    }
}

fn list(out: &mut Output) -> Result<Exit, Refusal> {
    let folder = open()?;
    let list = list_inbox(&folder, &policy()?)?;
    let inbox = folder.path().to_string_lossy().into_owned();
    if out.json() {
        out.document(&Document { inbox, entries: &list.entries, omitted: list.omitted });
        return Ok(Exit::Done);
    }
    if list.entries.is_empty() {
        say(&format!("Nothing waits in the inbox, {inbox}."));
    }
    out.table(list.entries.iter().map(row));
    if list.omitted > 0 {
        say(&format!("{} more are not listed: the inbox has too many.", list.omitted));
    }
    Ok(Exit::Done)
}

fn row(entry: &InboxEntry) -> [String; 6] {
    let plan = entry.plan.as_ref();
    let state = match (&entry.kind, plan) {
        (InboxKind::Unusable(reason), _) => format!("not opened: {reason}"),
        (_, Some(plan)) => counts(plan),
        (_, None) => String::new(),
    };
    let title = plan.and_then(|plan| plan.title.as_deref()).unwrap_or(&entry.name);
    let from = entry.from.as_ref().map(|from| format!("from {from}"));
    let place = match (&entry.kind, &entry.workspace) {
        (InboxKind::Unusable(_), _) => String::new(),
        (_, Some(workspace)) => workspace.display().to_string(),
        (_, None) => "no workspace yet".to_owned(),
    };
    [
        entry.id.clone(),
        local_time(entry.at_ms),
        title.to_owned(),
        state,
        from.unwrap_or_default(),
        place,
    ]
}

/// The size, the findings and the worst risk of a plan in a few words.
pub(super) fn counts(plan: &InboxPlan) -> String {
    let counted =
        |count: usize, word| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let number = |count: usize, word| (count > 0).then(|| counted(count, word));
    let first = plan.first_error.as_deref().unwrap_or_default();
    let errors = number(plan.errors, "error").map(|errors| format!("{errors}: {first}"));
    let parts = [
        plan.digest.map(|_| counted(plan.steps, "step")),
        plan.worst.map(|worst| worst.as_str().to_owned()),
        number(plan.warnings, "warning"),
        errors,
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn remove(command: &args::InboxRemove, out: &mut Output) -> Result<Exit, Refusal> {
    let id = remove_from_inbox(&open()?, &command.handle)?;
    if out.json() {
        out.document(&json!({ "removed": id }));
    } else {
        out.line(&format!("Removed {id}. It is in the folder `removed` of the inbox."));
    }
    Ok(Exit::Done)
}
