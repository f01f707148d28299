//! Converts plans, authorizations, runs and decisions into rows. `write_step.rs` converts steps.

use rusqlite::Connection;
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::append::{Appender, Cell};
use super::error::Result;
use super::given_secrets::GivenSecret;
use super::rows::{find, has_row};
use super::{
    ControlRecord, EvidenceError, RevisionRecord, RunEnd, RunStart, StepDecision, revised_plans,
};
use crate::authorization::{
    AuthorizationStatus, Binding, FileState, FleetBinding, PlanAuthorization,
};
use crate::plan::{Digest, Plan, Step};
use crate::run::RunEnding;

/// The step of a decision.
#[derive(Clone, Copy)]
pub(super) struct DecidedStep<'a> {
    pub(super) execution_id: Uuid,
    pub(super) step_id: &'a str,
    pub(super) step_index: usize,
}

impl<'a> DecidedStep<'a> {
    pub(super) fn new(execution_id: Uuid, step: &'a Step) -> Self {
        Self { execution_id, step_id: &step.step_id, step_index: step.step_index }
    }
}

/// A new row of the table `decisions`.
#[derive(Default)]
pub(super) struct NewDecision<'a> {
    pub(super) authorization_id: Option<Uuid>,
    pub(super) run_id: Option<Uuid>,
    pub(super) step: Option<DecidedStep<'a>>,
    /// The value of the column `decision`.
    pub(super) word: &'static str,
    /// The interface or rule through which the decision was made.
    pub(super) by: Cell,
    /// The person's reason; may be empty.
    pub(super) note: &'a str,
    /// The question that the person saw.
    pub(super) request: Option<Value>,
    pub(super) timestamp_ms: i64,
    /// Whether the row grants something, so that it gets a keyed digest.
    pub(super) is_grant: bool,
}

impl<'a> NewDecision<'a> {
    /// A decision that is not about a step.
    pub(super) fn new(word: &'static str, by: &impl Serialize, timestamp_ms: i64) -> Self {
        Self { word, by: self::word(by), timestamp_ms, ..Self::default() }
    }

    /// The decision, about a step of a run.
    pub(super) fn of_step(self, run_id: Uuid, step: DecidedStep<'a>) -> Self {
        Self { run_id: Some(run_id), step: Some(step), ..self }
    }
}

/// The serialized name of an enum variant.
pub(super) fn word(value: &impl Serialize) -> Cell {
    match serde_json::to_value(value) {
        Ok(Value::String(text)) => Cell::Word(text),
        other => Cell::Json(other.unwrap_or_default()),
    }
}

/// Writes a plan and its exact bytes, unless they are recorded already.
fn plan(appender: &mut Appender<'_>, plan: &Plan, timestamp_ms: i64) -> Result<()> {
    // The bytes of a known plan may have been purged with the records of its runs.
    appender.exact_blob(&plan.digest, &plan.source)?;
    if has_row(appender.tx(), "plans", "id", plan.digest.hex())? {
        return Ok(());
    }
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

/// Writes an answered authorization with its plan and its decision, unless it is recorded already. If the plan is a
/// person's revision of another one, also writes that.
pub(super) fn authorization(
    appender: &mut Appender<'_>,
    authorization: &PlanAuthorization,
    authorized_plan: &Plan,
    revision: Option<&RevisionRecord<'_>>,
) -> Result<()> {
    if authorization.status == AuthorizationStatus::Pending {
        return Err(EvidenceError::NotDecided { authorization_id: authorization.authorization_id });
    }
    // The secrets of the plan are redacted in all records of the plan and its run.
    appender.learn_secrets(&authorized_plan.source);
    if has_row(appender.tx(), "authorizations", "id", authorization.authorization_id.to_string())? {
        return Ok(());
    }
    plan(appender, authorized_plan, authorization.decided_at_ms)?;
    let (status, decision, reason) = match &authorization.status {
        AuthorizationStatus::Rejected { reason } => ("rejected", "reject", Some(reason.as_str())),
        AuthorizationStatus::Approved | AuthorizationStatus::Pending => {
            ("approved", "authorize", None)
        }
    };
    let attempt = authorization.attempt.as_deref();
    let note = match (reason, authorization.parent_run, attempt) {
        (Some(reason), ..) => reason.to_owned(),
        (None, Some(parent_run), _) => authorized_plan.relation(parent_run, None),
        (None, None, Some(attempt)) => attempt.note.clone(),
        (None, None, None) => authorization.asked_by.clone().unwrap_or_default(),
    };
    let binding = &authorization.binding;
    let note = with_choices(note, binding);
    let walls = binding.walls.as_deref();
    let since_boot = authorization.given_since_boot.as_ref();
    let inputs: serde_json::Map<_, _> = binding
        .inputs
        .iter()
        .map(|(path, state)| (path.clone(), digest_of(*state).map(|digest| digest.hex()).into()))
        .collect();
    appender.insert(
        "authorizations",
        [
            ("id", authorization.authorization_id.into()),
            // The digest of the recorded bytes. The engine has compared it with the authorization's.
            ("plan_digest", authorized_plan.digest.into()),
            ("plan_id", authorization.plan_id.as_str().into()),
            ("status", Cell::word(status)),
            ("reason", reason.into()),
            ("method", word(&authorization.method)),
            ("user_name", appender.user.into()),
            ("workspace", binding.workspace.as_str().into()),
            ("mode", word(&binding.mode)),
            ("policy_digest", binding.policy.into()),
            ("target", target(binding, authorized_plan).into()),
            ("host_key", host_keys(binding).as_deref().into()),
            ("inputs_json", Value::Object(inputs).into()),
            ("class_id", attempt.and_then(|attempt| attempt.class_id).into()),
            ("timestamp", authorization.decided_at_ms.into()),
            ("expires_at", authorization.expires_at_ms.into()),
            ("boot_id", since_boot.map(|given| Cell::word(given.boot_id.as_str())).into()),
            ("since_boot_ms", since_boot.map(|given| given.ms).into()),
            // The strongest level of all steps is that of this computer. A step without walls has no level.
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
    if let Some(revision) = revision {
        let at_ms = authorization.decided_at_ms;
        appender.learn_secrets(&revision.base.source);
        plan(appender, revision.base, at_ms)?;
        let (request, note) = revised_plans::described(authorized_plan, revision);
        let new = NewDecision::new(revised_plans::REVISED, &authorization.method, at_ms);
        let authorization_id = Some(authorization.authorization_id);
        let request = Some(request);
        self::decision(appender, NewDecision { authorization_id, note: &note, request, ..new })?;
    }
    let new = NewDecision::new(decision, &authorization.method, authorization.decided_at_ms);
    let authorization_id = Some(authorization.authorization_id);
    let request = GivenSecret::to_record(&binding.secret_inputs);
    self::decision(appender, NewDecision { authorization_id, note: &note, request, ..new })
}

/// The note of a decision, with what the person chose for the run, and which secrets they gave.
fn with_choices(note: String, binding: &Binding) -> String {
    let choices =
        (!binding.choices.is_default()).then(|| format!("chosen for the run: {}", binding.choices));
    let digests = binding.secret_inputs.iter();
    let secrets: Vec<_> =
        digests.map(|(name, digest)| format!("{name} with the keyed digest {digest}")).collect();
    let secrets =
        (!secrets.is_empty()).then(|| format!("secret inputs given: {}", secrets.join(", ")));
    let note = Some(note).filter(|note| !note.is_empty());
    note.into_iter().chain(choices).chain(secrets).collect::<Vec<_>>().join("; ")
}

/// The run that used this authorization; `None` if it was not used.
pub(super) fn used_by(conn: &Connection, authorization_id: Uuid) -> Result<Option<Uuid>> {
    let sql = "SELECT run_id FROM authorization_uses WHERE authorization_id = ?1";
    let used = find::<String>(conn, sql, [authorization_id.to_string()], |row| Ok(row.get(0)?))?;
    Ok(used.map(|run_id| run_id.parse().unwrap_or_default()))
}

/// Separates the keys in the columns `host_key` of authorizations and runs.
const BETWEEN_KEYS: &str = ", ";

/// The approved host keys in one text. The host must present one of them.
fn host_keys(binding: &Binding) -> Option<String> {
    let keys = binding.target.as_ref().map(|target| target.host_keys.join(BETWEEN_KEYS));
    keys.or_else(|| binding.fleet.as_ref().map(FleetBinding::line))
}

/// The destination, or several hosts in a few words.
fn target<'a>(binding: &'a Binding, plan: &'a Plan) -> Option<&'a str> {
    let target = binding.target.as_ref().map(|target| target.destination.as_str());
    target.or_else(|| plan.target.as_deref().filter(|_| binding.fleet.is_some()))
}

/// The keys in a column `host_key`.
pub(super) fn split_host_keys(joined: &str) -> Vec<String> {
    joined.split(BETWEEN_KEYS).filter(|key| !key.is_empty()).map(str::to_owned).collect()
}

/// Writes the start of a run, with its authorization and plan if they are not recorded yet.
pub(super) fn run(appender: &mut Appender<'_>, start: &RunStart<'_>) -> Result<()> {
    let authorization_id = start.authorization.authorization_id;
    if let Some(run_id) = used_by(appender.tx(), authorization_id)? {
        return Err(EvidenceError::AuthorizationUsed { authorization_id, run_id });
    }
    authorization(appender, start.authorization, start.plan, None)?;
    let binding = &start.authorization.binding;
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
            ("target", target(binding, start.plan).into()),
            ("host_key", host_keys(binding).as_deref().into()),
            ("parent_run", start.authorization.parent_run.into()),
            (
                "attempt_id",
                start.authorization.attempt.as_deref().map(|attempt| attempt.attempt_id).into(),
            ),
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
            ("execution_id", new.step.map(|step| step.execution_id).into()),
            ("step_id", new.step.map(|step| step.step_id).into()),
            ("step_index", new.step.map(|step| step.step_index).into()),
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
    step: DecidedStep<'_>,
    decision: &StepDecision,
) -> Result<()> {
    let StepDecision { request, answer, timestamp_ms } = decision;
    let new = NewDecision::new(answer.decision.as_str(), &answer.by, *timestamp_ms);
    let (note, request) = (answer.note.as_str(), Some(json!(request)));
    self::decision(appender, NewDecision { note, request, ..new.of_step(run_id, step) })
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

/// The digest of a file's content; `None` for an absent file.
pub(super) fn digest_of(state: FileState) -> Option<Digest> {
    match state {
        FileState::Absent => None,
        FileState::Content(digest) => Some(digest),
    }
}
