//! `evidence purge`, `compact` and `sizes`: what is kept, and how much space it takes.

use std::io::{BufRead as _, Write as _};

use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::secrets::executions_with_secrets;
use super::show::not_found;
use crate::cli::args::given;
use crate::cli::output::{Output, quoted_in_line, say};
use crate::cli::refusal::Refusal;
use crate::cli::run::is_terminal;
use crate::cli::time::local_time;
use crate::cli::{Exit, args};
use crate::engine::{Clock as _, SystemClock};
use crate::evidence::{EvidenceError, EvidenceLocation, EvidenceReader, EvidenceStore};
use crate::plan::quoted;
use crate::run::text::size;
use crate::run::{
    Compacted, EvidenceSizes, PurgePreview, PurgeRecord, PurgeReport, PurgeRule, SizeOfPart,
};

/// Purges the records that the options name, after the person has agreed, and gives their space back.
///
/// # Errors
/// When a named run or step does not exist, nobody agreed, or the evidence cannot be read or written.
pub(super) fn purge(
    command: &args::Purge,
    location: &EvidenceLocation,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    let now_ms = SystemClock::default().now_ms();
    let mut reader = location.open()?;
    let rule = rule(command, &mut reader)?;
    let preview = reader.purge_preview(&rule, now_ms)?;
    let deletes_backups = rule.with_old_backups && !preview.old_backups.is_empty();
    let is_empty = preview.is_empty() && !deletes_backups;
    if command.dry_run || is_empty {
        let report = PurgeReport { taken: preview, ..PurgeReport::default() };
        if out.json() {
            out.document(&document(&rule, &report, None));
        } else {
            print(&rule, &report, out);
        }
        return Ok(Exit::Done);
    }
    if !command.yes {
        if !out.json() {
            print(&rule, &PurgeReport { taken: preview, ..PurgeReport::default() }, out);
            out.flush();
        }
        agree()?;
    }
    drop(reader);
    let mut store = location.store()?;
    let report = store.purge(&rule, &command.reason, now_ms)?;
    let compacted = give_back(&mut store)?;
    if out.json() {
        out.document(&document(&rule, &report, compacted));
    } else {
        print(&rule, &report, out);
        compacted.iter().for_each(|compacted| print_compacted(compacted, out));
    }
    say_backups(location, &report)?;
    Ok(Exit::Done)
}

/// The rule of the options.
fn rule(command: &args::Purge, reader: &mut EvidenceReader) -> Result<PurgeRule, Refusal> {
    let args::Purge { older_than, larger_than, run, plan, execution, bounded_loop, .. } = command;
    let run = given(run.as_ref(), |id| id.run(reader))?;
    let bounded_loop = given(bounded_loop.as_ref(), |id| id.bounded_loop(reader))?;
    let execution = given(execution.as_ref(), |id| id.execution(reader))?;
    if let Some(id) = run
        && reader.run(id)?.is_none()
    {
        return Err(not_found(id, reader)?);
    }
    if let Some(id) = bounded_loop
        && reader.bounded_loop(id)?.is_none()
    {
        return Err(not_found(id, reader)?);
    }
    if let Some(id) = execution
        && reader.run_of(id)?.is_none()
    {
        return Err(not_found(id, reader)?);
    }
    let mut rule = PurgeRule {
        before_ms: *older_than,
        larger_than: *larger_than,
        run,
        bounded_loop,
        plan: plan.clone(),
        executions: execution.into_iter().collect(),
        content: None,
        with_old_backups: command.with_old_backups,
    };
    if command.secrets {
        rule.executions = executions_with_secrets(reader)?;
        if rule.executions.is_empty() {
            // Without any step, the rule would be about everything else that was asked for.
            rule = PurgeRule { with_old_backups: command.with_old_backups, ..PurgeRule::default() };
        }
    }
    Ok(rule)
}

fn document(rule: &PurgeRule, report: &PurgeReport, compacted: Option<Compacted>) -> Value {
    let mut document = json!(report);
    if let Some(fields) = document.as_object_mut() {
        fields.insert("dry_run".to_owned(), report.purge_id.is_none().into());
        fields.insert("rule".to_owned(), json!(rule));
        fields.insert("compacted".to_owned(), json!(compacted));
    }
    document
}

/// Says what would be or was purged.
fn print(rule: &PurgeRule, report: &PurgeReport, out: &mut Output) {
    let (preview, is_done) = (&report.taken, report.purge_id.is_some());
    let PurgePreview { runs, steps, loops, attempts, rows, contents, bytes, .. } = *preview;
    if preview.is_empty() {
        out.line("There is nothing to purge.");
    } else {
        let of = if is_done { "Purged" } else { "To be purged" };
        let mut fields = Vec::new();
        if runs > 0 {
            fields.push(("Runs", runs.to_string()));
            fields.push(("Steps", steps.to_string()));
        }
        if loops > 0 {
            fields.push(("Loops", loops.to_string()));
        }
        if attempts > 0 {
            fields.push(("Attempts", attempts.to_string()));
        }
        fields.push(("Contents", contents.to_string()));
        fields.push(("Records", format!("{rows} ({})", size(bytes))));
        if let (Some(first), Some(last)) = (preview.first_ms, preview.last_ms) {
            fields.push(("From", local_time(first)));
            fields.push(("To", local_time(last)));
        }
        out.line(&format!("{of}:"));
        out.fields(fields);
        if !is_done && runs + loops > 0 {
            let what = match (runs, loops) {
                (_, 0) => "runs",
                (0, _) => "loops",
                _ => "runs and loops",
            };
            out.line(&format!(
                "That these {what} happened, when, by whom and how they ended remains recorded. They cannot be \
                 reverted or continued any more."
            ));
        }
    }
    print_backups(rule, report, out);
    for (kept, what) in [(preview.under_way, "run"), (preview.loops_under_way, "loop")] {
        let text = match kept {
            0 => continue,
            1 => format!("1 {what} is kept, because it is"),
            _ => format!("{kept} {what}s are kept, because they are"),
        };
        out.line(&format!("{text} under way."));
    }
}

/// Says which copies of the database would be or were deleted, and which not.
fn print_backups(rule: &PurgeRule, report: &PurgeReport, out: &mut Output) {
    if report.purge_id.is_some() {
        for (name, bytes) in &report.deleted_backups {
            out.line(&format!("Deleted the old copy {} ({}).", quoted(name), size(*bytes)));
        }
        return;
    }
    for (name, bytes) in &report.taken.old_backups {
        let what = match rule.with_old_backups {
            true => "It will be deleted",
            false => "It stays: --with-old-backups deletes it",
        };
        out.line(&format!(
            "{} is a copy from before a migration ({}). {what}.",
            quoted(name),
            size(*bytes)
        ));
    }
}

/// Asks at the terminal.
fn agree() -> Result<(), Refusal> {
    if !is_terminal() {
        return Err(Refusal::usage(
            "nothing was purged, because nobody agreed to it",
            "Look at it with --dry-run, then give --yes.",
        ));
    }
    let mut stderr = std::io::stderr();
    let _ = write!(stderr, "They cannot be brought back. Type purge to purge them: ");
    let _ = stderr.flush();
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    if read.is_ok() && line.trim() == "purge" {
        return Ok(());
    }
    Err(Refusal::usage("nothing was purged", "Type the word purge to purge."))
}

/// Makes the database smaller. `None` if the disk has too little space for that or a run is under way, which is said.
fn give_back(store: &mut EvidenceStore) -> Result<Option<Compacted>, Refusal> {
    match store.compact() {
        Ok(compacted) => Ok(Some(compacted)),
        Err(error @ (EvidenceError::NoSpace { .. } | EvidenceError::UnderWay { .. })) => {
            let text = format!(
                "The records are purged, but their space is not given back: {error}. Later records use it; \
                 `countersign evidence compact` gives it back."
            );
            say(&quoted_in_line(&text));
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

fn print_compacted(compacted: &Compacted, out: &mut Output) {
    let Compacted { before_bytes, after_bytes, .. } = *compacted;
    out.line(&format!(
        "The database has {}; it had {}. The search index is filled again by the next search.",
        size(after_bytes),
        size(before_bytes)
    ));
}

/// Says which copies of the database still have what was purged.
fn say_backups(location: &EvidenceLocation, report: &PurgeReport) -> Result<(), Refusal> {
    for name in location.open()?.sizes()?.backups.keys() {
        let path = location.evidence.join(name).display().to_string();
        let why = match report.kept_backups.get(name) {
            Some(why) => format!("It could not be deleted: {why}"),
            None => "Delete it with --with-old-backups if you do not need it".to_owned(),
        };
        say(&quoted_in_line(&format!(
            "A copy from before a migration still has these records: {path}. {why}."
        )));
    }
    Ok(())
}

/// Gives the space of purged records back.
///
/// # Errors
/// When the evidence cannot be written, or the disk has too little space.
pub(super) fn compact(location: &EvidenceLocation, out: &mut Output) -> Result<Exit, Refusal> {
    let compacted = location.store()?.compact()?;
    if out.json() {
        out.document(&compacted);
    } else {
        let Compacted { before_bytes, after_bytes, .. } = compacted;
        let (before, after) = (size(before_bytes), size(after_bytes));
        out.line(&format!("The database has {after}; it had {before}."));
    }
    Ok(Exit::Done)
}

/// Says how large and how old the evidence is.
///
/// # Errors
/// When the evidence cannot be read.
pub(super) fn sizes(
    command: &args::Sizes,
    reader: &mut EvidenceReader,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    let sizes = reader.sizes()?;
    let (months, plans) = reader.sizes_of_runs(&TimeZone::system())?;
    let purges = reader.purges()?;
    if out.json() {
        let mut document = json!(sizes);
        if let Some(fields) = document.as_object_mut() {
            fields.insert("months".to_owned(), json!(months));
            fields.insert("plans".to_owned(), json!(plans));
            fields.insert("purge_records".to_owned(), json!(purges));
        }
        out.document(&document);
        return Ok(Exit::Done);
    }
    out.fields(facts(&sizes));
    let (heading, parts) = match command.by {
        args::Part::Month => ("month", months),
        args::Part::Plan => ("plan", plans),
    };
    if !parts.is_empty() {
        out.line("");
        let head = [heading, "runs", "steps", "recorded"].map(str::to_owned);
        let row = |part: &SizeOfPart| {
            [part.name.clone(), part.runs.to_string(), part.steps.to_string(), size(part.bytes)]
        };
        out.table(std::iter::once(head).chain(parts.iter().map(row)));
    }
    if !purges.is_empty() {
        out.line("");
        let head = ["purged", "records", "by", "reason"].map(str::to_owned);
        let row = |purge: &PurgeRecord| {
            let (at, rows) = (local_time(purge.timestamp_ms), purge.rows.to_string());
            [at, rows, purge.user.clone().unwrap_or_default(), purge.reason.clone()]
        };
        out.table(std::iter::once(head).chain(purges.iter().map(row)));
    }
    Ok(Exit::Done)
}

fn facts(sizes: &EvidenceSizes) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("Database", size(sizes.database_bytes)),
        ("Log", size(sizes.log_bytes)),
        ("Search index", format!("{}, can be deleted at any time", size(sizes.index_bytes))),
    ];
    for (name, bytes) in &sizes.backups {
        facts.push(("Copy from before a migration", format!("{}, {name}", size(*bytes))));
    }
    let free = size(sizes.reclaimable_bytes);
    facts.push(("Unused in the database", format!("{free}, given back by `evidence compact`")));
    facts.extend(sizes.free_bytes.map(|bytes| ("Free on the disk", size(bytes))));
    facts.extend(sizes.network_file_system.as_ref().map(|name| {
        let text = "a network file system, so each commit waits for a full flush, and no two computers may \
                    record at the same time";
        ("File system", format!("{name}: {text}"))
    }));
    facts.push(("Runs", sizes.runs.to_string()));
    facts.push(("Executions", sizes.executions.to_string()));
    facts.push((
        "Contents",
        format!(
            "{} of {}, stored in {}",
            sizes.contents,
            size(sizes.contents_bytes),
            size(sizes.contents_stored_bytes)
        ),
    ));
    let purged = match (sizes.purged_rows, sizes.purges) {
        (0, _) => String::new(),
        (rows, 1) => format!(", {rows} of them purged by 1 purge"),
        (rows, purges) => format!(", {rows} of them purged by {purges} purges"),
    };
    facts.push(("Records", format!("{}{purged}", sizes.rows)));
    facts.extend(sizes.oldest_run_ms.map(|at| ("Oldest run", local_time(at))));
    facts.extend(sizes.newest_run_ms.map(|at| ("Newest run", local_time(at))));
    facts
}
