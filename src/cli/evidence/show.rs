//! `evidence show`: one execution, run or loop in full.

use serde_json::{Value, json};
use uuid::Uuid;

use super::cells;
use super::search::index_records;
use crate::cli::bounded::{print_attempt, print_looks};
use crate::cli::documents::insert;
use crate::cli::opening::policy;
use crate::cli::output::{Output, quoted_in_line};
use crate::cli::refusal::Refusal;
use crate::cli::time::local_time;
use crate::cli::{Exit, args};
use crate::engine::reconcile;
use crate::evidence::{EvidenceReader, GivenSecret, RecordedRevision, SignaturesOf};
use crate::plan::{limits, quoted, quoted_lines};
use crate::run::text::capitalized;
use crate::run::{
    ArtifactRecord, Execution, ExecutionDetail, LoopDetail, LoopFate, RunFate, RunStatus,
    RunSummary, SearchQuery,
};

/// Shows the execution, loop or run with this id. Interrupted runs are compared with the files on disk.
pub(super) fn show(
    command: &args::Show,
    reader: &mut EvidenceReader,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    let id = command.id.any(reader)?;
    if let Some(detail) = reader.execution(id)? {
        show_execution(&detail, out);
        return Ok(Exit::Done);
    }
    let changed = reader.changed_after_written(id)?;
    if let Some(detail) = reader.bounded_loop(id)? {
        if out.json() {
            out.document(&json!({ "loop": detail, "changed": changed }));
        } else {
            print_changed(&changed, out);
            print_loop(&detail, out);
        }
        return Ok(Exit::Done);
    }
    let Some(run) = reader.run(id)? else {
        return Err(not_found(id, reader)?);
    };
    let of_run =
        SearchQuery { run_id: Some(run.run_id), limit: limits::STEPS, ..SearchQuery::default() };
    index_records(reader)?;
    let mut executions: Vec<Execution> =
        reader.search(&of_run)?.hits.into_iter().map(|hit| hit.listed.row).collect();
    executions.sort_by_key(|row| (row.step_index, row.timestamp_ms));
    let revision = reader.revision_of(run.run_id)?;
    let secret_inputs = reader.secret_inputs_of(run.run_id)?;
    let signatures = reader.signatures(SignaturesOf::Run(run.run_id))?;
    let reconciled = match run.fate {
        RunFate::Interrupted => Some(reconcile(reader, run.run_id, &policy()?)?),
        RunFate::Ended(_) | RunFate::Active => None,
    };
    if out.json() {
        let mut document = json!({ "run": run, "executions": executions, "changed": changed });
        insert(&mut document, "reconcile", reconciled);
        insert(&mut document, "revision", revision);
        let secret_inputs = Some(secret_inputs).filter(|given| !given.is_empty());
        insert(&mut document, "secret_inputs", secret_inputs);
        let signatures = Some(signatures).filter(|all| !all.is_empty());
        insert(&mut document, "signatures", signatures);
        out.document(&document);
    } else {
        print_changed(&changed, out);
        print_run(&run, &executions, out);
        for GivenSecret { name, digest } in &secret_inputs {
            let text =
                format!("The secret input {name} was given, with the keyed digest {digest}.");
            out.line(&quoted(&text));
        }
        for signature in &signatures {
            out.line(&quoted(&capitalized(&format!("{}.", signature.sentence()))));
        }
        revision.iter().for_each(|revision| print_revision(revision, out));
        for comparison in reconciled.iter().flatten() {
            out.line(&quoted(&format!("Compared with the disk: {}", comparison.sentence())));
        }
    }
    Ok(Exit::Done)
}

/// Says that there is no such record, or that it was purged.
pub(super) fn not_found(id: Uuid, reader: &mut EvidenceReader) -> Result<Refusal, Refusal> {
    if let Some((run, note)) = reader.purge_of_step(id)? {
        let message = format!("execution {id} of run {run}: {}", note.sentence());
        let details = json!({ "run_id": run, "purged": note });
        return Ok(Refusal::usage(message, "Look at the run.").with_details(details));
    }
    let message = format!("the evidence has no execution, run or loop {id}");
    let purged = reader.purged_runs()?;
    let message = match purged {
        0 => message,
        1 => format!("{message}; the records of 1 run were purged, and it may be a step of it"),
        _ => format!(
            "{message}; the records of {purged} runs were purged, and it may be a step of one"
        ),
    };
    Ok(Refusal::usage(message, "Look the id up with `evidence search`."))
}

/// How a run ended, in a word. A run that ended because a person denied a step did not fail.
pub(super) fn fate_word(run: &RunSummary) -> &'static str {
    match run.fate {
        RunFate::Ended(RunStatus::Failed) if run.tally.denied > 0 => "denied",
        fate => fate.as_str(),
    }
}

fn print_run(run: &RunSummary, executions: &[Execution], out: &mut Output) {
    let ended = run.ended_at_ms.map_or_else(|| "no end recorded".to_owned(), local_time);
    let mut fields = vec![
        ("Run", run.run_id.to_string()),
        ("Status", fate_word(run).to_owned()),
        ("Plan", format!("{} ({})", run.plan_name, run.plan_id)),
        ("Digest", run.plan_digest.to_string()),
        ("Workspace", run.workspace.clone()),
    ];
    fields.extend(run.parent_run.map(|parent| ("Follow-up of", format!("run {parent}"))));
    fields.extend([
        ("Started", local_time(run.started_at_ms)),
        ("Ended", ended),
        ("Steps", format!("{} of {} recorded", run.steps_recorded, run.step_count)),
    ]);
    fields.extend(run.purged.as_ref().map(|note| ("Purged", capitalized(&note.sentence()))));
    out.fields(fields);
    out.line("");
    out.table(executions.iter().map(cells));
}

/// Prints what a person changed in the plan before it was authorized.
fn print_revision(revision: &RecordedRevision, out: &mut Output) {
    out.line("");
    out.line(&format!("A person revised the plan {} before:", revision.base_digest));
    if let Some(difference) = &revision.difference {
        out.line(quoted_lines(difference.trim_end_matches('\n')).as_ref());
        return;
    }
    // One of the plans was purged, or cannot be decrypted.
    for change in &revision.changes {
        out.line(&quoted(&change.to_string()));
    }
    if revision.omitted > 0 {
        out.line(&format!("and {} more", revision.omitted));
    }
}

fn print_loop(detail: &LoopDetail, out: &mut Output) {
    let LoopDetail { summary, class, class_revoked, stop_reason, attempts } = detail;
    let class = match (summary.class_id, class) {
        (Some(id), Some(class)) => {
            format!("{id}{}: {class}", if *class_revoked { ", revoked" } else { "" })
        }
        _ => "none".to_owned(),
    };
    let mut rows = vec![
        ("Loop", summary.loop_id.to_string()),
        ("Status", summary.fate.as_str().to_owned()),
        ("Goal", summary.goal.clone()),
        ("Planner", summary.planner.clone()),
        ("Workspace", summary.workspace.clone()),
        ("Attempts", format!("{} of {} begun", summary.attempts_begun, summary.max_attempts)),
        ("Verification", summary.verify.clone()),
        ("Class", class),
        ("Started", local_time(summary.started_at_ms)),
        ("Ended", summary.ended_at_ms.map_or_else(|| "no end recorded".to_owned(), local_time)),
    ];
    rows.extend(stop_reason.as_ref().map(|reason| ("Reason", reason.message.clone())));
    rows.extend(summary.purged.as_ref().map(|note| ("Purged", capitalized(&note.sentence()))));
    out.fields(rows);
    for attempt in attempts {
        out.line("");
        match &attempt.record {
            Some(record) => print_attempt(record, out),
            None => {
                let purged =
                    attempt.purged.as_ref().map(|note| quoted(&note.sentence()).into_owned());
                let fate = match summary.fate {
                    LoopFate::Active => "under way",
                    LoopFate::Interrupted => "interrupted",
                    LoopFate::Ended(_) => "its end is not recorded",
                };
                let fate = purged.as_deref().unwrap_or(fate);
                out.line(&format!(
                    "Attempt {} of {}: {fate}",
                    attempt.attempt, summary.max_attempts
                ));
                print_looks(&attempt.looks, out);
            }
        }
        for run in &attempt.runs {
            let purged = run.purged.as_ref().map(|note| format!("; {}", note.sentence()));
            let purged = purged.unwrap_or_default();
            let (fate, id, plan) = (fate_word(run), run.run_id, &run.plan_name);
            let text = format!("    {fate} run {id}: {plan}{purged}");
            out.line(&quoted(&text));
        }
    }
}

/// Prints one execution, preceded by a warning for each of its records that was altered after it was written.
pub(super) fn show_execution(detail: &ExecutionDetail, out: &mut Output) {
    if out.json() {
        out.document(detail);
    } else {
        print_changed(&detail.changed, out);
        print_execution(detail, out);
    }
}

/// Prints which records were changed after they were written.
fn print_changed(changed: &[String], out: &mut Output) {
    for what in changed {
        out.line(&quoted(&format!("This record was changed after it was written: {what}.")));
    }
}

/// Prints one execution for people, with its outputs.
fn print_execution(detail: &ExecutionDetail, out: &mut Output) {
    let row = &detail.row;
    let mut fields = vec![
        ("Execution", row.execution_id.to_string()),
        ("Outcome", row.known.as_str().to_owned()),
        ("Tool", row.tool_name.clone()),
        ("Step", format!("{} ({})", row.step_index + 1, row.step_id)),
        ("Plan", format!("{} ({})", detail.run.plan_name, row.plan_id)),
        ("Run", row.run_id.to_string()),
    ];
    fields.extend(detail.walls_text().map(|walls| ("Walls", walls)));
    let times = detail.times();
    let times: Vec<_> = times.iter().map(|(name, at)| (capitalized(name), *at)).collect();
    fields.extend(times.iter().map(|(name, at)| (name.as_str(), local_time(*at))));
    let mut optional =
        |name, value: Option<String>| fields.extend(value.map(|value| (name, value)));
    optional("Intent", detail.intent_at_ms.map(|at| format!("recorded {}", local_time(at))));
    let duration_ms = row.duration_ms.filter(|_| !detail.never_started());
    optional("Duration", duration_ms.map(|ms| format!("{ms} ms")));
    optional("Risk", row.risk.map(|risk| risk.as_str().to_owned()));
    optional("Risk rule", detail.risk_rule.clone());
    optional("Risk reason", detail.risk_reason.clone());
    optional("Exit code", row.exit_code.map(|code| code.to_string()));
    let code = row.error_code.map(|code| format!("{code} ")).unwrap_or_default();
    optional("Error", row.error_message.as_ref().map(|message| format!("{code}{message}")));
    let link = detail.ledger_seq.zip(detail.ledger_digest);
    optional("Ledger", link.map(|(seq, digest)| format!("{seq}, {digest}")));
    out.fields(fields);
    for (name, value) in &detail.arguments {
        block(&format!("Argument {name}"), value, out);
    }
    for decision in &detail.decisions {
        let note =
            if decision.note.is_empty() { String::new() } else { format!(": {}", decision.note) };
        let text = format!("{}, {}{note}", decision.sentence(), local_time(decision.timestamp_ms));
        out.line(&quoted_in_line(&text));
    }
    for edge in &detail.edges {
        let (edge_type, kind) = (edge.edge_type.as_str(), edge.target_kind.as_str());
        let text = format!("{edge_type} {kind} {}", edge.target);
        out.line(&quoted(&text));
    }
    for artifact in &detail.artifacts {
        print_artifact(artifact, out);
    }
}

fn print_artifact(artifact: &ArtifactRecord, out: &mut Output) {
    let head = artifact.blob.and_then(|_| artifact.content.get("head"));
    let text = match head.unwrap_or(&artifact.content) {
        Value::String(text) => text.clone(),
        other => format!("{other:#}"),
    };
    let size = match artifact.blob {
        Some(blob) => format!("{} bytes, of which this is the beginning; {blob}", artifact.bytes),
        None => format!("{} bytes", artifact.bytes),
    };
    block(&format!("{} ({size})", artifact.artifact_type), &text, out);
}

/// Prints a heading and a text: on the same line if the text has one line, otherwise below.
fn block(heading: &str, text: &str, out: &mut Output) {
    let heading = quoted(heading);
    let text = quoted_lines(text.trim_end_matches('\n'));
    if text.contains('\n') {
        out.line(&format!("{heading}:"));
        for line in text.split('\n') {
            out.line(&format!("    {line}"));
        }
    } else {
        out.line(&format!("{heading}: {text}"));
    }
}
