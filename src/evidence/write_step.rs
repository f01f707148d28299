//! Converts the intent and the execution of a step into rows.

use serde_json::{Value, json};
use uuid::Uuid;

use super::append::{Appender, Cell};
use super::blobs::StoredValue;
use super::error::Result;
use super::rows::find;
use super::write_run::{DecidedStep, digest_of, step_decision, word};
use super::{ArtifactType, ExecutionRecord, IntentRecord};
use crate::authorization::{FileState, StepWalls};
use crate::plan::{Fleet, Step, ToolCall};
use crate::risk::Verdict;
use crate::run::{FileEffect, FileMode};

pub(super) fn intent(appender: &mut Appender<'_>, intent: &IntentRecord<'_>) -> Result<()> {
    let step = intent.step;
    learn_secrets(appender, step, intent.files, &[]);
    if let Some(decision) = intent.decision {
        let decided = DecidedStep::new(intent.execution_id, step);
        step_decision(appender, intent.run_id, decided, decision)?;
    }
    let own = [
        ("id", intent.execution_id.into()),
        ("run_id", intent.run_id.into()),
        ("timestamp", intent.timestamp_ms.into()),
        ("host", intent.host.into()),
    ];
    let of_step = step_columns(step, intent.host, intent.risk, intent.walls);
    appender.insert("intents", own.into_iter().chain(of_step))?;
    files(appender, intent.execution_id, "predicted", intent.files)
}

pub(super) fn execution(appender: &mut Appender<'_>, record: &ExecutionRecord<'_>) -> Result<()> {
    let (step, result) = (record.step, record.result);
    let id = result.execution_id;
    let outputs = [record.stdout.unwrap_or_default(), record.stderr.unwrap_or_default()];
    // If there are no actual changes, the predicted contents are searched for secrets, because previews show them.
    let contents = if record.files.is_empty() { record.predicted } else { record.files };
    learn_secrets(appender, step, contents, &outputs);
    appender.learn_secrets(result.error_message.as_deref().unwrap_or_default().as_bytes());
    for stream in record.captured.iter().flat_map(|captured| captured.streams()) {
        appender.learn_secrets_of(stream);
    }
    if let Some(decision) = record.decision {
        step_decision(appender, record.run_id, DecidedStep::new(id, step), decision)?;
    }
    let own = [
        ("id", id.into()),
        ("run_id", record.run_id.into()),
        ("timestamp", result.timestamp_ms.into()),
        ("host", record.host.into()),
        ("outcome", Cell::word(result.outcome.as_str())),
        ("success", result.success.into()),
        ("invoked", record.invoked.into()),
        ("exit_code", result.exit_code.map(i64::from).into()),
        ("duration_ms", result.duration_ms.into()),
        ("error_code", result.error_code.map(|code| Cell::word(code.as_str())).into()),
        ("error_message", result.error_message.as_deref().into()),
        ("next", result.next.as_deref().into()),
        ("policy_digest", record.policy.into()),
    ];
    let of_step = step_columns(step, record.host, record.risk, record.walls);
    appender.insert("executions", own.into_iter().chain(of_step))?;
    artifacts(appender, record)?;
    files(appender, id, "actual", record.files)?;
    for edge in record.edges {
        appender.insert(
            "edges",
            [
                ("execution_id", id.into()),
                ("edge_type", Cell::word(edge.edge_type.as_str())),
                ("target_kind", Cell::word(edge.target_kind.as_str())),
                ("target", edge.target.as_str().into()),
            ],
        )?;
    }
    for diagnostic in &result.diagnostic_artifacts {
        appender.insert(
            "diagnostics",
            [
                ("execution_id", id.into()),
                ("level", word(&diagnostic.level)),
                ("code", diagnostic.code.as_deref().into()),
                ("file_name", diagnostic.file_name.as_str().into()),
                ("line_start", diagnostic.line_start.into()),
                ("message", diagnostic.message.as_str().into()),
            ],
        )?;
    }
    Ok(())
}

/// What the step does, in a line. For a step on one of several hosts, it names this host.
fn about(step: &Step, host: Option<&str>) -> String {
    match (&step.call, host) {
        (ToolCall::Shell { command, target: Some(target), .. }, Some(host))
            if Fleet::is_label(target) && !Fleet::is_label(host) =>
        {
            format!("{command} on {host}")
        }
        _ => step.call.headline().1,
    }
}

/// The columns of an intent or an execution that follow from its step, its risk and its walls.
fn step_columns(
    step: &Step,
    host: Option<&str>,
    risk: &Verdict,
    walls: Option<&StepWalls>,
) -> [(&'static str, Cell); 10] {
    [
        ("tool_name", step.tool_name.as_str().into()),
        ("arguments_json", json!(step.arguments).into()),
        ("step_id", step.step_id.as_str().into()),
        ("step_index", step.step_index.into()),
        ("about", about(step, host).as_str().into()),
        ("risk_level", Cell::word(risk.level.as_str())),
        ("risk_rule", risk.rule.as_ref().into()),
        ("risk_reason", risk.reason.as_str().into()),
        ("walls_level", walls.map(|walls| Cell::word(walls.level.as_str())).into()),
        ("walls_json", walls.map(|walls| json!(walls)).into()),
    ]
}

/// Writes the output, the context and the results of a step as artifacts.
fn artifacts(appender: &mut Appender<'_>, record: &ExecutionRecord<'_>) -> Result<()> {
    let (plan, step, result) = (record.plan, record.step, record.result);
    for (kind, output) in
        [(ArtifactType::Stdout, record.stdout), (ArtifactType::Stderr, record.stderr)]
    {
        if let Some(output) = output {
            let stored = appender.output_value(output)?;
            artifact(appender, result.execution_id, kind, stored)?;
        }
    }
    for stream in record.captured.iter().flat_map(|captured| captured.streams()) {
        let stored = appender.captured_value(stream)?;
        artifact(appender, result.execution_id, stream.kind, stored)?;
    }
    let (attempt, loop_id, goal) = attempt_of(appender, record.run_id)?;
    let mut context = json!({
        "run_id": record.run_id,
        "plan_id": plan.plan_id,
        "plan_digest": plan.digest,
        "step_id": step.step_id,
        "step_index": step.step_index,
        "attempt": attempt,
        "loop_id": loop_id,
        "goal": goal,
        "intent": plan.intent,
        "title": plan.title,
        "step_title": step.title,
        "reason": step.reason,
        "precondition": step.precondition_text,
        "evidence_referenced": plan.evidence_referenced,
    });
    if let Some(fields) = context.as_object_mut() {
        let optional = [
            ("needs", result.needs.as_ref().map(|needs| json!(needs))),
            ("wall_notes", (!result.wall_notes.is_empty()).then(|| json!(result.wall_notes))),
            ("terminal", result.terminal.then_some(json!(true))),
            ("refused", result.refused.then_some(json!(true))),
            ("refused_write", result.refused_write.as_ref().map(|path| json!(path))),
        ];
        fields.extend(optional.into_iter().filter_map(|(name, it)| Some((name.to_owned(), it?))));
    }
    let mut values = vec![(ArtifactType::StepContext, context)];
    if !record.result_json.is_null() {
        values.push((ArtifactType::Result, record.result_json.clone()));
    }
    if !result.diagnostic_artifacts.is_empty() {
        values.push((ArtifactType::Diagnostics, json!(result.diagnostic_artifacts)));
    }
    values.extend(record.artifacts.iter().cloned());
    for (kind, value) in values {
        let stored = appender.json_value(value)?;
        artifact(appender, result.execution_id, kind, stored)?;
    }
    Ok(())
}

/// The number of the attempt to which a run belongs, the id of its loop and the loop's goal; nulls for any other run.
fn attempt_of(appender: &Appender<'_>, run_id: Uuid) -> Result<(Value, Value, Value)> {
    let sql = "SELECT a.attempt, a.loop_id, l.goal FROM runs AS r
               JOIN attempts AS a ON a.id = r.attempt_id JOIN loops AS l ON l.id = a.loop_id
               WHERE r.id = ?1";
    let found = find::<(i64, String, String)>(appender.tx(), sql, [run_id.to_string()], |row| {
        Ok(row.try_into()?)
    })?;
    let found = found.map(|(attempt, loop_id, goal)| (attempt.into(), loop_id.into(), goal.into()));
    Ok(found.unwrap_or_default())
}

fn artifact(
    appender: &mut Appender<'_>,
    execution_id: Uuid,
    kind: ArtifactType,
    stored: StoredValue,
) -> Result<()> {
    appender.insert(
        "execution_artifacts",
        [
            ("execution_id", execution_id.into()),
            ("artifact_type", Cell::word(kind.as_str())),
            ("content_json", stored.json),
            ("bytes", stored.bytes.into()),
            ("blob", stored.blob.into()),
        ],
    )
}

/// Writes the predicted or actual changes of files, with their contents.
fn files(
    appender: &mut Appender<'_>,
    execution_id: Uuid,
    phase: &'static str,
    files: &[FileEffect],
) -> Result<()> {
    for file in files {
        for (state, bytes) in [(file.before, &file.before_bytes), (file.after, &file.after_bytes)] {
            if let (FileState::Content(digest), Some(bytes)) = (state, bytes) {
                appender.exact_blob(&digest, bytes)?;
            }
        }
        appender.insert(
            "file_contents",
            [
                ("execution_id", execution_id.into()),
                ("phase", Cell::word(phase)),
                ("path", file.path.as_str().into()),
                ("before_digest", digest_of(file.before).into()),
                ("after_digest", digest_of(file.after).into()),
                ("before_mode", mode(file.modes.before)),
                ("after_mode", mode(file.modes.after)),
            ],
        )?;
    }
    Ok(())
}

fn mode(mode: Option<FileMode>) -> Cell {
    mode.map(|mode| i64::from(mode.bits())).into()
}

/// Searches all exact contents of a step for secrets, because diffs, previews and results show parts of them.
fn learn_secrets(
    appender: &mut Appender<'_>,
    step: &Step,
    files: &[FileEffect],
    outputs: &[&[u8]],
) {
    for argument in step.arguments.values() {
        appender.learn_secrets(argument.as_bytes());
    }
    let contents = files.iter().flat_map(|file| [&file.before_bytes, &file.after_bytes]).flatten();
    for bytes in contents.map(|bytes| &**bytes).chain(outputs.iter().copied()) {
        // A written content is usually an argument too, and comparing is faster than searching again.
        if !step.arguments.values().any(|argument| argument.as_bytes() == bytes) {
            appender.learn_secrets(bytes);
        }
    }
}
