//! From records to rows: which tables a record fills, and with what.

use rusqlite::OptionalExtension as _;
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::error::{EvidenceError, Result};
use super::funnel::{Cell, Funnel};
use super::record::{ArtifactType, ExecutionRecord, IntentRecord, NewDecision, RunEnd, RunStart};
use crate::authorization::{AuthorizationStatus, FileState, PlanAuthorization};
use crate::plan::{Digest, Plan, Step};
use crate::run::{AnsweredBy, FileEffect};

/// The step a decision is about.
#[derive(Clone, Copy)]
pub(super) struct About<'a> {
    execution_id: Uuid,
    step: &'a Step,
}

/// The word that an enum of ours has in data.
fn word(value: &impl Serialize) -> Cell {
    match serde_json::to_value(value) {
        Ok(Value::String(text)) => Cell::Word(text),
        other => Cell::Json(other.unwrap_or_default()),
    }
}

fn exists(funnel: &Funnel<'_>, table: &str, id: &str) -> Result<bool> {
    let sql = format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE id = ?1)");
    Ok(funnel.tx().prepare_cached(&sql)?.query_row([id], |row| row.get(0))?)
}

fn plan(funnel: &mut Funnel<'_>, plan: &Plan, timestamp_ms: i64) -> Result<()> {
    if exists(funnel, "plans", &plan.digest.hex())? {
        return Ok(());
    }
    funnel.exact_blob(&plan.digest, &plan.source)?;
    funnel.insert(
        "plans",
        [
            ("id", plan.digest.into()),
            ("plan_id", plan.plan_id.as_str().into()),
            ("dialect", word(&plan.dialect)),
            ("intent", plan.intent.map(|intent| Cell::word(intent.as_str())).into()),
            ("title", plan.title.as_deref().into()),
            ("created_by", plan.created_by.as_deref().into()),
            ("step_count", plan.steps.len().into()),
            ("timestamp", timestamp_ms.into()),
        ],
    )
}

pub(super) fn authorization(
    funnel: &mut Funnel<'_>,
    user: Option<&str>,
    answer: &PlanAuthorization,
    of: &Plan,
) -> Result<()> {
    if exists(funnel, "authorizations", &answer.authorization_id.to_string())? {
        return Ok(());
    }
    plan(funnel, of, answer.decided_at_ms)?;
    let (status, decision, reason) = match &answer.status {
        AuthorizationStatus::Pending => {
            return Err(EvidenceError::NotDecided { authorization_id: answer.authorization_id });
        }
        AuthorizationStatus::Approved => ("approved", "authorize", None),
        AuthorizationStatus::Rejected { reason } => ("rejected", "reject", Some(reason.as_str())),
    };
    let binding = &answer.binding;
    let inputs: serde_json::Map<_, _> = binding
        .inputs
        .iter()
        .map(|(path, state)| (path.clone(), digest_of(*state).map(|digest| digest.hex()).into()))
        .collect();
    funnel.insert(
        "authorizations",
        [
            ("id", answer.authorization_id.into()),
            // Of the bytes that are recorded with it; the engine has compared them with the answer's.
            ("plan_digest", of.digest.into()),
            ("plan_id", answer.plan_id.as_str().into()),
            ("status", Cell::word(status)),
            ("reason", reason.into()),
            ("method", word(&answer.method)),
            ("user_name", user.into()),
            ("workspace", binding.workspace.as_str().into()),
            ("mode", word(&binding.mode)),
            ("policy_digest", binding.policy.into()),
            ("target", binding.target.as_ref().map(|target| target.destination.as_str()).into()),
            ("host_key", binding.target.as_ref().map(|target| target.host_key.as_str()).into()),
            ("inputs_json", Value::Object(inputs).into()),
            ("timestamp", answer.decided_at_ms.into()),
            ("expires_at", answer.expires_at_ms.into()),
        ],
    )?;
    funnel.insert(
        "decisions",
        [
            ("authorization_id", answer.authorization_id.into()),
            ("decision", Cell::word(decision)),
            ("decided_by", word(&answer.method)),
            ("user_name", user.into()),
            ("note", reason.unwrap_or_default().into()),
            ("timestamp", answer.decided_at_ms.into()),
        ],
    )
}

pub(super) fn run(funnel: &mut Funnel<'_>, user: Option<&str>, start: &RunStart<'_>) -> Result<()> {
    let answer = start.authorization;
    let authorization_id = answer.authorization_id;
    let used: Option<String> = funnel
        .tx()
        .prepare_cached("SELECT run_id FROM authorization_uses WHERE authorization_id = ?1")?
        .query_row([authorization_id.to_string()], |row| row.get(0))
        .optional()?;
    if let Some(run_id) = used {
        let run_id = run_id.parse().unwrap_or_default();
        return Err(EvidenceError::AuthorizationUsed { authorization_id, run_id });
    }
    authorization(funnel, user, answer, start.plan)?;
    let binding = &answer.binding;
    funnel.insert(
        "runs",
        [
            ("id", start.run_id.into()),
            ("plan_digest", start.plan.digest.into()),
            ("plan_id", start.plan.plan_id.as_str().into()),
            ("authorization_id", authorization_id.into()),
            ("workspace", binding.workspace.as_str().into()),
            ("mode", word(&binding.mode)),
            ("policy_digest", binding.policy.into()),
            ("target", binding.target.as_ref().map(|target| target.destination.as_str()).into()),
            ("host_key", binding.target.as_ref().map(|target| target.host_key.as_str()).into()),
            ("parent_run", start.parent_run.into()),
            ("program_version", Cell::word(env!("CARGO_PKG_VERSION"))),
            ("user_name", user.into()),
            ("timestamp", start.started_at_ms.into()),
        ],
    )?;
    funnel.insert(
        "authorization_uses",
        [
            ("authorization_id", authorization_id.into()),
            ("run_id", start.run_id.into()),
            ("timestamp", start.started_at_ms.into()),
        ],
    )
}

pub(super) fn intent(
    funnel: &mut Funnel<'_>,
    user: Option<&str>,
    intent: &IntentRecord<'_>,
) -> Result<()> {
    let step = intent.step;
    learn(funnel, step, intent.files, &[]);
    for new in intent.decisions {
        let about = About { execution_id: intent.execution_id, step };
        decision(funnel, user, intent.run_id, Some(about), new)?;
    }
    funnel.insert(
        "intents",
        [
            ("id", intent.execution_id.into()),
            ("tool_name", step.tool_name.as_str().into()),
            ("arguments_json", json!(step.arguments).into()),
            ("timestamp", intent.timestamp_ms.into()),
            ("run_id", intent.run_id.into()),
            ("step_id", step.step_id.as_str().into()),
            ("step_index", step.step_index.into()),
            ("about", about(step).as_str().into()),
            ("host", intent.host.into()),
            ("risk_level", Cell::word(intent.risk.level.as_str())),
            ("risk_rule", intent.risk.rule.into()),
            ("risk_reason", intent.risk.reason.as_str().into()),
        ],
    )?;
    files(funnel, intent.execution_id, "predicted", intent.files)
}

pub(super) fn execution(
    funnel: &mut Funnel<'_>,
    user: Option<&str>,
    record: &ExecutionRecord<'_>,
) -> Result<()> {
    let (step, result) = (record.step, record.result);
    let id = result.execution_id;
    let outputs = [record.stdout.unwrap_or_default(), record.stderr.unwrap_or_default()];
    learn(funnel, step, record.files, &outputs);
    for new in record.decisions {
        decision(funnel, user, record.run_id, Some(About { execution_id: id, step }), new)?;
    }
    funnel.insert(
        "executions",
        [
            ("id", id.into()),
            ("tool_name", result.tool_name.as_str().into()),
            ("arguments_json", json!(step.arguments).into()),
            ("timestamp", result.timestamp_ms.into()),
            ("success", result.success.into()),
            ("exit_code", result.exit_code.map(i64::from).into()),
            ("duration_ms", result.duration_ms.into()),
            ("error_message", result.error_message.as_deref().into()),
            ("run_id", record.run_id.into()),
            ("step_id", result.step_id.as_str().into()),
            ("step_index", result.step_index.into()),
            ("about", about(step).as_str().into()),
            ("outcome", Cell::word(result.outcome.as_str())),
            ("invoked", record.invoked.into()),
            ("error_code", result.error_code.map(|code| Cell::word(code.as_str())).into()),
            ("next", result.next.as_deref().into()),
            ("host", record.host.into()),
            ("risk_level", Cell::word(record.risk.level.as_str())),
            ("risk_rule", record.risk.rule.into()),
            ("risk_reason", record.risk.reason.as_str().into()),
            ("policy_digest", record.policy.into()),
        ],
    )?;
    artifacts(funnel, record)?;
    files(funnel, id, "actual", record.files)?;
    for edge in record.edges {
        funnel.insert(
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
        funnel.insert(
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

fn artifacts(funnel: &mut Funnel<'_>, record: &ExecutionRecord<'_>) -> Result<()> {
    let (plan, step, result) = (record.plan, record.step, record.result);
    for (kind, output) in
        [(ArtifactType::Stdout, record.stdout), (ArtifactType::Stderr, record.stderr)]
    {
        if let Some(output) = output {
            let stored = funnel.output_value(output)?;
            artifact(funnel, result.execution_id, kind, stored)?;
        }
    }
    let mut values = vec![(
        ArtifactType::StepContext,
        json!({
            "run_id": record.run_id,
            "plan_id": plan.plan_id,
            "plan_digest": plan.digest,
            "step_id": step.step_id,
            "step_index": step.step_index,
            "attempt": null,
            "intent": plan.intent,
            "title": plan.title,
            "step_title": step.title,
            "reason": step.reason,
            "precondition": step.precondition_text,
            "evidence_referenced": plan.evidence_referenced,
        }),
    )];
    if !record.result_json.is_null() {
        values.push((ArtifactType::Result, record.result_json.clone()));
    }
    if !result.diagnostic_artifacts.is_empty() {
        values.push((ArtifactType::Diagnostics, json!(result.diagnostic_artifacts)));
    }
    values.extend(record.artifacts.iter().cloned());
    for (kind, value) in values {
        let stored = funnel.json_value(value)?;
        artifact(funnel, result.execution_id, kind, stored)?;
    }
    Ok(())
}

fn artifact(
    funnel: &mut Funnel<'_>,
    execution_id: Uuid,
    kind: ArtifactType,
    stored: super::blobs::Stored,
) -> Result<()> {
    funnel.insert(
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

fn files(
    funnel: &mut Funnel<'_>,
    execution_id: Uuid,
    phase: &'static str,
    files: &[FileEffect],
) -> Result<()> {
    for file in files {
        for bytes in [&file.before_bytes, &file.after_bytes].into_iter().flatten() {
            funnel.exact_blob(&Digest::of(bytes), bytes)?;
        }
        funnel.insert(
            "file_contents",
            [
                ("execution_id", execution_id.into()),
                ("phase", Cell::word(phase)),
                ("path", file.path.as_str().into()),
                ("before_digest", digest_of(file.before).into()),
                ("after_digest", digest_of(file.after).into()),
            ],
        )?;
    }
    Ok(())
}

pub(super) fn decision(
    funnel: &mut Funnel<'_>,
    user: Option<&str>,
    run_id: Uuid,
    about: Option<About<'_>>,
    new: &NewDecision<'_>,
) -> Result<()> {
    let shown = match new.request {
        None => None,
        Some(request) => Some(
            funnel.json_value(
                serde_json::to_value(request)
                    .map_err(|source| EvidenceError::Content { source: source.into() })?,
            )?,
        ),
    };
    let (request, blob) = shown.map_or((Cell::Null, None), |shown| (shown.json, shown.blob));
    let by = match new.by {
        AnsweredBy::Window => "window",
        AnsweredBy::Terminal => "terminal",
        AnsweredBy::CommandLine => "command_line",
        AnsweredBy::Test => "test",
    };
    funnel.insert(
        "decisions",
        [
            ("run_id", run_id.into()),
            ("execution_id", about.map(|about| about.execution_id).into()),
            ("step_id", about.map(|about| about.step.step_id.as_str()).into()),
            ("step_index", about.map(|about| about.step.step_index).into()),
            ("decision", Cell::word(new.decided.as_str())),
            ("decided_by", Cell::word(by)),
            ("user_name", user.into()),
            ("note", new.note.into()),
            ("request_json", request),
            ("blob", blob.into()),
            ("timestamp", new.timestamp_ms.into()),
        ],
    )
}

pub(super) fn run_end(funnel: &mut Funnel<'_>, end: &RunEnd<'_>) -> Result<()> {
    let result = end.result;
    funnel.insert(
        "run_ends",
        [
            ("run_id", result.run_id.into()),
            ("status", Cell::word(result.status.as_str())),
            ("error_code", end.failure.map(|failure| Cell::word(failure.code.as_str())).into()),
            ("error_message", end.failure.map(|failure| failure.message.as_str()).into()),
            ("next", end.failure.map(|failure| failure.next.as_str()).into()),
            ("cancelled_by", end.cancelled_by.map(|control| Cell::word(control.as_str())).into()),
            ("completed_steps", result.step_results.len().into()),
            ("total_duration_ms", result.total_duration_ms.into()),
            ("elapsed_ms", result.elapsed_ms.into()),
            ("timestamp", end.timestamp_ms.into()),
        ],
    )
}

pub(super) fn purge(
    funnel: &mut Funnel<'_>,
    user: Option<&str>,
    digest: &Digest,
    reason: &str,
    timestamp_ms: i64,
) -> Result<()> {
    let hex = digest.hex();
    let purged = funnel.tx().query_row(
        "SELECT EXISTS (SELECT 1 FROM purges WHERE digest = ?1)",
        [&hex],
        |row| row.get::<_, bool>(0),
    )?;
    if !purged {
        funnel.insert(
            "purges",
            [
                ("digest", (*digest).into()),
                ("reason", reason.into()),
                ("user_name", user.into()),
                ("timestamp", timestamp_ms.into()),
            ],
        )?;
    }
    funnel.tx().execute("DELETE FROM blobs WHERE digest = ?1", [&hex])?;
    Ok(())
}

/// Looks for secrets in everything exact that belongs to a step, because its differences, previews and
/// results show parts of it.
fn learn(funnel: &mut Funnel<'_>, step: &Step, files: &[FileEffect], outputs: &[&[u8]]) {
    for argument in step.arguments.values() {
        funnel.learn(argument.as_bytes());
    }
    for file in files {
        for bytes in [&file.before_bytes, &file.after_bytes].into_iter().flatten() {
            funnel.learn(bytes);
        }
    }
    for output in outputs {
        funnel.learn(output);
    }
}

fn digest_of(state: FileState) -> Option<Digest> {
    match state {
        FileState::Absent => None,
        FileState::Content(digest) => Some(digest),
    }
}

fn about(step: &Step) -> String {
    match &step.call {
        Some(call) => call.headline().1,
        None => step.arguments.values().next().cloned().unwrap_or_default(),
    }
}
