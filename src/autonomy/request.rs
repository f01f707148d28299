//! The request to a planner (SPEC §10): one JSON document of limited size, which names everything that was cut.
//! Secrets are redacted as in the evidence, because the planner may send the request to another machine.
//! `assets/schema/planner-request.schema.json` describes the format.

use super::BoundedLoop;
use super::attempts::PastAttempt;
use crate::evidence::{EvidenceError, Redactor};
use crate::plan::{ACTION_PLAN_VERSION, Dialect, limits};
use crate::run::{
    EvidenceSummary, Focus, Happened, LOOK_BYTES, LookScope, Looked, MAX_LOOK_ROUNDS, MAX_LOOKS,
    StepResult,
};
use serde_json::{Value, json};

/// The version of the request's format, and of the format of the answers.
pub const PROTOCOL: &str = "countersign.planner/2";

/// The maximum number of file names. The others are omitted.
const MAX_FILES: usize = 2_000;
/// The maximum size of the previous plan, in bytes. A longer one is cut.
const PLAN_BYTES: usize = 256 << 10;
/// The maximum size of the start, and of the end, of a step's output, in bytes. The middle is omitted.
const OUTPUT_BYTES: usize = 4 << 10;
/// The maximum number of steps whose output is included: the last ones.
const MAX_RESULTS: usize = 32;
/// The maximum size of all diagnostics, and of the evidence summary, in bytes.
const PART_BYTES: usize = 256 << 10;

/// The request as bytes, with a line break at the end.
///
/// # Errors
/// The evidence cannot be read.
pub(super) fn request(
    running: &BoundedLoop<'_>,
    attempt: u32,
    looked: &[Looked],
    round: u32,
) -> Result<Vec<u8>, EvidenceError> {
    let mut cuts = Vec::new();
    let last = running.past_attempts.last();
    let mut reader = running.setup.location.open()?;
    let folder = running.toolbox.workspace().to_string_lossy();
    let summary = reader.summary(&folder, &focus(last))?;
    let document = json!({
        "protocol": PROTOCOL,
        "loop_id": running.loop_id,
        "goal": running.setup.order.goal,
        "attempt": attempt,
        "max_attempts": running.max_attempts,
        "workspace": workspace(running, &mut cuts),
        "authorization_class": running.setup.order.class,
        "walls": running.planner_walls,
        "last_attempt": last.map(|last| last_attempt(last, &running.redactor, &mut cuts)),
        "earlier_attempts": running.past_attempts.iter().rev().skip(1).rev().map(summary_of)
            .collect::<Vec<_>>(),
        "evidence": evidence_of(&summary, &mut cuts),
        "host": running.host.as_ref().map(|host| &host.facts),
        "feedback": feedback(running),
        "looks": looks(running, round),
        "looked": looked,
        "cuts": cuts,
    });
    let mut document = running.redactor.redact_value(document);
    if let Some(fields) = document.as_object_mut() {
        fields.insert("answer".to_owned(), answer());
    }
    let mut bytes = document.to_string().into_bytes();
    bytes.push(b'\n');
    Ok(bytes)
}

fn workspace(running: &BoundedLoop<'_>, cuts: &mut Vec<String>) -> Value {
    let toolbox = &running.toolbox;
    let names = running.look_toolbox.file_names(running.control.stop_signal());
    let mut files = names.unwrap_or_else(|error| {
        cuts.push(format!("workspace.files: {error}"));
        Vec::new()
    });
    cut(&mut files, MAX_FILES, "workspace.files", cuts);
    json!({
        "folder": toolbox.workspace().to_string_lossy(),
        "system": std::env::consts::OS,
        "shell": match toolbox.shell() {
            crate::risk::Shell::Bash => "bash",
            crate::risk::Shell::Posix => "sh",
        },
        "cargo_project": toolbox.now().cargo_manifest_for(".").ok().flatten().is_some(),
        "git_repository": toolbox.git_repository().is_some(),
        "code_graph": toolbox.codegraph().is_some(),
        "files": files,
    })
}

/// What the planner may look at before it plans, and how often.
fn looks(running: &BoundedLoop<'_>, round: u32) -> Value {
    let scope = running.setup.order.looks;
    let rounds_left = match scope {
        LookScope::None => 0,
        LookScope::Workspace => (MAX_LOOK_ROUNDS + 1).saturating_sub(round),
    };
    json!({
        "scope": scope,
        "rounds_left": rounds_left,
        "looks_per_round": MAX_LOOKS,
        "bytes_per_look": LOOK_BYTES,
    })
}

/// The person's words so far: why plans and steps were denied, and answers to questions.
fn feedback(running: &BoundedLoop<'_>) -> Vec<Value> {
    let records = running.past_attempts.iter().map(|past| &past.attempt.record);
    let words = records.filter_map(|record| Some((record.attempt, record.feedback.as_ref()?)));
    words.map(|(attempt, words)| json!({ "attempt": attempt, "words": words })).collect()
}

/// The description of the accepted answers.
fn answer() -> Value {
    let schema =
        |dialect: Dialect| -> Value { serde_json::from_str(dialect.schema()).unwrap_or_default() };
    let schemas =
        Dialect::WORDS.iter().map(|(word, dialect)| ((*word).to_owned(), schema(*dialect)));
    json!({
        "form": "one JSON document and nothing else: {\"looks\": [LOOK, ...]} to see something first, or {\"plan\": \
                 PLAN, \"answers_goal\": true or false}, or PLAN alone, in any dialect",
        "looks": [
            {"read": "PATH", "lines": [1, 80]},
            {"search": "REGEX", "root": "PATH"},
            {"glob": "PATTERN"},
            {"symbol": "NAME"},
            {"inspect": "overview"},
            {"host": "DESTINATION"},
        ],
        "action_plan_version": ACTION_PLAN_VERSION,
        "dialects": serde_json::Map::from_iter(schemas),
        "limits": {
            "plan_bytes": limits::PLAN_BYTES,
            "actions": limits::ACTIONS,
            "steps": limits::STEPS,
        },
    })
}

fn summary_of(past: &PastAttempt) -> Value {
    json!({
        "attempt": past.attempt.record.attempt,
        "plan_digest": past.attempt.record.plan_digest,
        "outcome": outcome(past.happened),
        "reason": past.reason,
    })
}

/// The ending of an attempt as one word.
fn outcome(happened: Happened) -> &'static str {
    match happened {
        Happened::PlannerRejected { .. } => "planner_rejected",
        Happened::NotAuthorized => "not_authorized",
        Happened::PlanRejected => "plan_rejected",
        Happened::StepDenied => "step_denied",
        Happened::Unfinished => "unfinished",
        Happened::Planned => "planned",
        Happened::NoProgress => "no_progress",
        Happened::ActionFailed { .. } => "action_failed",
        Happened::VerifyFailed => "verify_failed",
        Happened::Succeeded => "succeeded",
        Happened::Stopped => "stopped",
        Happened::InternalError => "internal_error",
    }
}

fn last_attempt(last: &PastAttempt, redactor: &Redactor, cuts: &mut Vec<String>) -> Value {
    let mut value = summary_of(last);
    let results = last.attempt.results.iter().rev().take(MAX_RESULTS).rev();
    if last.attempt.results.len() > MAX_RESULTS {
        let left_out = last.attempt.results.len() - MAX_RESULTS;
        cuts.push(format!("last_attempt.results: {left_out} earlier ones are left out"));
    }
    let results: Vec<Value> = results.map(|result| step_result(result, redactor, cuts)).collect();
    let diagnostics = last.attempt.results.iter().flat_map(|result| &result.diagnostic_artifacts);
    let mut remaining = PART_BYTES;
    let all = diagnostics.clone().count();
    let diagnostics: Vec<Value> = diagnostics
        .map(|diagnostic| json!(diagnostic))
        .take_while(|diagnostic| {
            let size = diagnostic.to_string().len();
            let fits = size <= remaining;
            remaining = remaining.saturating_sub(size);
            fits
        })
        .collect();
    if diagnostics.len() < all {
        let left_out = all - diagnostics.len();
        cuts.push(format!("last_attempt.diagnostics: {left_out} of {all} are left out"));
    }
    let plan = last.attempt.plan.as_ref().map(|plan| text_of(&plan.source, redactor));
    let plan = plan.map(|mut text| {
        if text.len() > PLAN_BYTES {
            cuts.push(format!("last_attempt.plan: {} bytes in all", text.len()));
            text.truncate(text.floor_char_boundary(PLAN_BYTES));
        }
        text
    });
    // The diagnostics of the verification are among the others.
    let verify = last.attempt.record.verify.as_ref();
    let verify = verify.map(|verify| json!({ "scope": verify.scope, "passed": verify.passed }));
    if let Some(fields) = value.as_object_mut() {
        let mut set = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        set("planner", json!(last.attempt.record.planner));
        set("plan", json!(plan));
        set("actions", json!(last.attempt.record.actions));
        set("results", json!(results));
        set("diagnostics", json!(diagnostics));
        set("verify", json!(verify));
    }
    value
}

/// The text of a plan. It is unchanged unless a JSON string had to be redacted; then the JSON is serialized again.
fn text_of(source: &[u8], redactor: &Redactor) -> String {
    match serde_json::from_slice::<Value>(source) {
        Ok(value) => {
            let hidden = redactor.redact_value(value.clone());
            if hidden == value {
                String::from_utf8_lossy(source).into_owned()
            } else {
                hidden.to_string()
            }
        }
        Err(_) => redactor.redact(&String::from_utf8_lossy(source)).into_owned(),
    }
}

fn step_result(result: &StepResult, redactor: &Redactor, cuts: &mut Vec<String>) -> Value {
    let mut excerpt = |text: Option<&str>, name: &str| {
        let text = redactor.redact(text?);
        if text.len() <= 2 * OUTPUT_BYTES {
            return Some(text.into_owned());
        }
        let head = text.get(..text.floor_char_boundary(OUTPUT_BYTES)).unwrap_or_default();
        let tail = text.get(text.ceil_char_boundary(text.len() - OUTPUT_BYTES)..);
        let index = result.step_index;
        cuts.push(format!("last_attempt.results: the middle of {name} of action {index}"));
        Some(format!("{head}\n[…]\n{}", tail.unwrap_or_default()))
    };
    json!({
        "action_index": result.step_index,
        "kind": result.tool_name,
        "outcome": result.outcome,
        "exit_code": result.exit_code,
        "stdout": excerpt(result.stdout.as_deref(), "stdout"),
        "stderr": excerpt(result.stderr.as_deref(), "stderr"),
    })
}

/// The diagnostic codes, files and executions on which the summary of the evidence concentrates: those of the previous
/// attempt.
fn focus(last: Option<&PastAttempt>) -> Focus {
    let Some(last) = last else { return Focus::default() };
    let mut focus = Focus::default();
    let mut add = |list: fn(&mut Focus) -> &mut Vec<String>, text: &str| {
        let list = list(&mut focus);
        if !text.is_empty() && !list.iter().any(|other| other == text) {
            list.push(text.to_owned());
        }
    };
    for diagnostic in last.attempt.results.iter().flat_map(|result| &result.diagnostic_artifacts) {
        add(|focus| &mut focus.codes, diagnostic.code.as_deref().unwrap_or_default());
        add(|focus| &mut focus.files, &diagnostic.file_name);
    }
    last.attempt.files.iter().for_each(|file| add(|focus| &mut focus.files, file));
    let failed = last.attempt.results.iter().filter(|result| !result.outcome.continues_run());
    focus.executions = failed.map(|result| result.execution_id).collect();
    focus
}

fn evidence_of(summary: &EvidenceSummary, cuts: &mut Vec<String>) -> Value {
    cuts.extend(summary.cut.iter().map(|name| format!("evidence.{name}: there is more")));
    let mut value = json!(summary);
    let Some(fields) = value.as_object_mut() else { return value };
    fields.remove("cut");
    // Answers are left out in this order until the others fit.
    for name in ["q5", "q8", "q4", "q3", "q7", "q1", "q2", "q6"] {
        let size: usize = fields.values().map(|rows| rows.to_string().len()).sum();
        if size <= PART_BYTES {
            break;
        }
        if fields.insert(name.to_owned(), json!([])).is_some() {
            cuts.push(format!("evidence.{name}: left out"));
        }
    }
    value
}

/// Truncates a list, and names the cut.
fn cut<T>(list: &mut Vec<T>, limit: usize, name: &str, cuts: &mut Vec<String>) {
    if list.len() > limit {
        cuts.push(format!("{name}: {} of {} are left out", list.len() - limit, list.len()));
        list.truncate(limit);
    }
}
