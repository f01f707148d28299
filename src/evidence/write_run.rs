//! Converts plans, authorizations, runs and decisions into rows. `write_step.rs` converts steps.

use rusqlite::Connection;
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::append::{Appender, Cell};
use super::entry::{ControlRecord, RunEnd, RunStart, StepDecision};
use super::error::{EvidenceError, Result};
use super::rows::{find, has_row};
use crate::authorization::{AuthorizationStatus, Binding, FileState, PlanAuthorization};
use crate::plan::{Digest, Plan, Step};
use crate::run::RunEnding;

/// The step that a decision is about.
#[derive(Clone, Copy)]
pub(super) struct About<'a> {
    pub(super) execution_id: Uuid,
    pub(super) step_id: &'a str,
    pub(super) step_index: usize,
}

impl<'a> About<'a> {
    pub(super) fn new(execution_id: Uuid, step: &'a Step) -> Self {
        Self { execution_id, step_id: &step.step_id, step_index: step.step_index }
    }
}

/// A new row of decisions.
#[derive(Default)]
pub(super) struct NewDecision<'a> {
    pub(super) authorization_id: Option<Uuid>,
    pub(super) run_id: Option<Uuid>,
    pub(super) about: Option<About<'a>>,
    pub(super) word: &'static str,
    /// How the person decided.
    pub(super) by: Cell,
    /// The person's reason; may be empty.
    pub(super) note: &'a str,
    /// The question that the person saw.
    pub(super) request: Option<Value>,
    pub(super) timestamp_ms: i64,
    /// Whether the decision counts only with a keyed digest.
    pub(super) is_grant: bool,
}

impl<'a> NewDecision<'a> {
    /// A decision that is not about a step.
    pub(super) fn new(word: &'static str, by: &impl Serialize, timestamp_ms: i64) -> Self {
        Self { word, by: self::word(by), timestamp_ms, ..Self::default() }
    }

    pub(super) fn of_step(self, run_id: Uuid, about: About<'a>) -> Self {
        Self { run_id: Some(run_id), about: Some(about), ..self }
    }
}

/// The serialized name of an enum variant.
pub(super) fn word(value: &impl Serialize) -> Cell {
    match serde_json::to_value(value) {
        Ok(Value::String(text)) => Cell::Word(text),
        other => Cell::Json(other.unwrap_or_default()),
    }
}

fn plan(appender: &mut Appender<'_>, plan: &Plan, timestamp_ms: i64) -> Result<()> {
    if has_row(appender.tx(), "plans", "id", plan.digest.hex())? {
        return Ok(());
    }
    appender.exact_blob(&plan.digest, &plan.source)?;
    appender.insert(
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
    appender: &mut Appender<'_>,
    answer: &PlanAuthorization,
    of: &Plan,
) -> Result<()> {
    if answer.status == AuthorizationStatus::Pending {
        return Err(EvidenceError::NotDecided { authorization_id: answer.authorization_id });
    }
    // The secrets of the plan are redacted in all records of the plan and its run.
    appender.learn(&of.source);
    if has_row(appender.tx(), "authorizations", "id", answer.authorization_id.to_string())? {
        return Ok(());
    }
    plan(appender, of, answer.decided_at_ms)?;
    let (status, decision, reason) = match &answer.status {
        AuthorizationStatus::Rejected { reason } => ("rejected", "reject", Some(reason.as_str())),
        AuthorizationStatus::Approved | AuthorizationStatus::Pending => {
            ("approved", "authorize", None)
        }
    };
    // The binding of an approval is recorded when it is given, not only with its run.
    let attempt = answer.attempt.as_deref();
    let note = match (reason, answer.parent_run, attempt) {
        (Some(reason), ..) => reason.to_owned(),
        (None, Some(parent_run), _) if of.is_revert() => format!("reverts run {parent_run}"),
        (None, Some(parent_run), _) => format!("continues run {parent_run}"),
        (None, None, Some(attempt)) => attempt.note.clone(),
        (None, None, None) => String::new(),
    };
    let binding = &answer.binding;
    let walls = binding.walls.as_deref();
    let given = answer.given_since_boot.as_ref();
    let inputs: serde_json::Map<_, _> = binding
        .inputs
        .iter()
        .map(|(path, state)| (path.clone(), digest_of(*state).map(|digest| digest.hex()).into()))
        .collect();
    appender.insert(
        "authorizations",
        [
            ("id", answer.authorization_id.into()),
            // The digest of the recorded bytes. The engine has compared it with that of the authorization.
            ("plan_digest", of.digest.into()),
            ("plan_id", answer.plan_id.as_str().into()),
            ("status", Cell::word(status)),
            ("reason", reason.into()),
            ("method", word(&answer.method)),
            ("user_name", appender.user.into()),
            ("workspace", binding.workspace.as_str().into()),
            ("mode", word(&binding.mode)),
            ("policy_digest", binding.policy.into()),
            ("target", binding.target.as_ref().map(|target| target.destination.as_str()).into()),
            ("host_key", host_keys(binding).as_deref().into()),
            ("inputs_json", Value::Object(inputs).into()),
            ("class_id", attempt.and_then(|attempt| attempt.class_id).into()),
            ("timestamp", answer.decided_at_ms.into()),
            ("expires_at", answer.expires_at_ms.into()),
            ("boot_id", given.map(|given| Cell::word(given.boot_id.as_str())).into()),
            ("since_boot_ms", given.map(|given| given.ms).into()),
            // The strongest of them is the level of this computer; a step without walls has none.
            (
                "walls_level",
                walls
                    .and_then(|walls| walls.iter().flatten().map(|walls| walls.level).max())
                    .map(|level| Cell::word(level.as_str()))
                    .into(),
            ),
            ("walls_json", walls.map(|walls| json!(walls)).into()),
        ],
    )?;
    let new = NewDecision::new(decision, &answer.method, answer.decided_at_ms);
    let authorization_id = Some(answer.authorization_id);
    self::decision(appender, NewDecision { authorization_id, note: &note, ..new })
}

/// The run that used this authorization.
pub(super) fn used_by(conn: &Connection, authorization_id: Uuid) -> Result<Option<Uuid>> {
    let sql = "SELECT run_id FROM authorization_uses WHERE authorization_id = ?1";
    let used = find::<String>(conn, sql, [authorization_id.to_string()], |row| Ok(row.get(0)?))?;
    Ok(used.map(|run_id| run_id.parse().unwrap_or_default()))
}

/// The host keys, of which the host must present one.
fn host_keys(binding: &Binding) -> Option<String> {
    binding.target.as_ref().map(|target| target.host_keys.join(", "))
}

pub(super) fn run(appender: &mut Appender<'_>, start: &RunStart<'_>) -> Result<()> {
    let answer = start.authorization;
    let authorization_id = answer.authorization_id;
    if let Some(run_id) = used_by(appender.tx(), authorization_id)? {
        return Err(EvidenceError::AuthorizationUsed { authorization_id, run_id });
    }
    authorization(appender, answer, start.plan)?;
    let binding = &answer.binding;
    appender.insert(
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
            ("host_key", host_keys(binding).as_deref().into()),
            ("parent_run", answer.parent_run.into()),
            ("attempt_id", answer.attempt.as_deref().map(|attempt| attempt.attempt_id).into()),
            ("program_version", Cell::word(env!("CARGO_PKG_VERSION"))),
            ("user_name", appender.user.into()),
            ("timestamp", start.started_at_ms.into()),
        ],
    )?;
    appender.insert(
        "authorization_uses",
        [
            ("authorization_id", authorization_id.into()),
            ("run_id", start.run_id.into()),
            ("timestamp", start.started_at_ms.into()),
        ],
    )
}

pub(super) fn decision(appender: &mut Appender<'_>, new: NewDecision<'_>) -> Result<()> {
    let shown = new.request.map(|request| appender.json_value(request)).transpose()?;
    let (request, blob) = shown.map_or((Cell::Null, None), |shown| (shown.json, shown.blob));
    appender.insert(
        "decisions",
        [
            ("authorization_id", new.authorization_id.into()),
            ("run_id", new.run_id.into()),
            ("execution_id", new.about.map(|about| about.execution_id).into()),
            ("step_id", new.about.map(|about| about.step_id).into()),
            ("step_index", new.about.map(|about| about.step_index).into()),
            ("decision", Cell::word(new.word)),
            ("decided_by", new.by),
            ("user_name", appender.user.into()),
            ("note", new.note.into()),
            ("request_json", request),
            ("blob", blob.into()),
            ("timestamp", new.timestamp_ms.into()),
            ("grant_digest", if new.is_grant { Cell::Grant } else { Cell::Null }),
        ],
    )
}

/// Writes a person's decision about a step.
pub(super) fn step_decision(
    appender: &mut Appender<'_>,
    run_id: Uuid,
    about: About<'_>,
    decision: &StepDecision,
) -> Result<()> {
    let StepDecision { request, answer, timestamp_ms } = decision;
    let new = NewDecision::new(answer.decision.as_str(), &answer.by, *timestamp_ms);
    let (note, request) = (answer.note.as_str(), Some(json!(request)));
    self::decision(appender, NewDecision { note, request, ..new.of_step(run_id, about) })
}

pub(super) fn control(appender: &mut Appender<'_>, record: &ControlRecord) -> Result<()> {
    let new = NewDecision::new(record.control.as_str(), &record.by, record.timestamp_ms);
    decision(appender, NewDecision { run_id: Some(record.run_id), ..new })
}

pub(super) fn run_end(appender: &mut Appender<'_>, end: &RunEnd<'_>) -> Result<()> {
    let (failure, cancelled_by) = match end.ending {
        RunEnding::Completed => (None, None),
        RunEnding::Failed(failure) => (Some(failure), None),
        RunEnding::Cancelled(control) => (None, Some(control)),
    };
    appender.insert(
        "run_ends",
        [
            ("run_id", end.run_id.into()),
            ("status", Cell::word(end.ending.status().as_str())),
            ("error_code", failure.map(|failure| Cell::word(failure.code.as_str())).into()),
            ("error_message", failure.map(|failure| failure.message.as_str()).into()),
            ("next", failure.map(|failure| failure.next.as_str()).into()),
            ("cancelled_by", cancelled_by.map(|control| Cell::word(control.as_str())).into()),
            ("completed_steps", end.completed_steps.into()),
            ("total_duration_ms", end.total_duration_ms.into()),
            ("elapsed_ms", end.elapsed_ms.into()),
            ("left_running_json", Some(json!(end.left_running)).into()),
            ("clock_set_back", i64::from(end.clock_set_back).into()),
            ("timestamp", end.timestamp_ms.into()),
        ],
    )
}

pub(super) fn purge(
    appender: &mut Appender<'_>,
    digest: &Digest,
    reason: &str,
    timestamp_ms: i64,
) -> Result<()> {
    let hex = digest.hex();
    if !has_row(appender.tx(), "purges", "digest", &hex)? {
        appender.insert(
            "purges",
            [
                ("digest", (*digest).into()),
                ("reason", reason.into()),
                ("user_name", appender.user.into()),
                ("timestamp", timestamp_ms.into()),
            ],
        )?;
    }
    appender.tx().execute("DELETE FROM blobs WHERE digest = ?1", [&hex])?;
    Ok(())
}

pub(super) fn digest_of(state: FileState) -> Option<Digest> {
    match state {
        FileState::Absent => None,
        FileState::Content(digest) => Some(digest),
    }
}
