//! Converts the entries of bounded loops and their attempts into rows (SPEC §10).

use serde_json::{Value, json};

use super::append::{Appender, Cell};
use super::error::Result;
use super::rows::has_row;
use super::{
    AttemptEnd, AttemptStart, EvidenceError, LoopEnd, LoopStart, PlannerLooks, PlannerTrace,
};
use crate::plan::Digest;

pub(super) fn start(appender: &mut Appender<'_>, start: &LoopStart<'_>) -> Result<()> {
    appender.insert(
        "loops",
        [
            ("id", start.loop_id.into()),
            ("goal", start.goal.into()),
            ("planner", start.planner.into()),
            ("workspace", start.workspace.into()),
            ("max_attempts", i64::from(start.max_attempts).into()),
            ("verify_scope", start.verify.into()),
            ("class_id", start.class_id.into()),
            ("looks", Cell::word(start.looks.as_str())),
            ("target", start.target.into()),
            ("user_name", appender.user.into()),
            ("timestamp", start.started_at_ms.into()),
        ],
    )
}

pub(super) fn attempt(appender: &mut Appender<'_>, start: &AttemptStart) -> Result<()> {
    appender.insert(
        "attempts",
        [
            ("id", start.attempt_id.into()),
            ("loop_id", start.loop_id.into()),
            ("attempt", i64::from(start.attempt).into()),
            ("timestamp", start.started_at_ms.into()),
        ],
    )
}

/// Writes what a planner looked at, with the text that it gets.
pub(super) fn looks(appender: &mut Appender<'_>, looks: &PlannerLooks<'_>) -> Result<()> {
    let answers = json!(looks.looked).to_string();
    let answers = appender.output_value(answers.as_bytes())?;
    appender.insert(
        "planner_looks",
        [
            ("attempt_id", looks.attempt_id.into()),
            ("round", i64::from(looks.round).into()),
            ("looks_json", json!(looks.records()).into()),
            ("answers_json", answers.json),
            ("timestamp", looks.timestamp_ms.into()),
        ],
    )
}

pub(super) fn end(appender: &mut Appender<'_>, end: &LoopEnd<'_>) -> Result<()> {
    let reason = end.reason;
    appender.insert(
        "loop_ends",
        [
            ("loop_id", end.loop_id.into()),
            ("code", Cell::word(reason.code.as_str())),
            ("message", reason.message.as_str().into()),
            ("detail_json", json!(reason.detail).into()),
            ("timestamp", end.ended_at_ms.into()),
        ],
    )
}

/// Writes the end of an attempt, with the exact bytes of the planner's answer.
pub(super) fn attempt_end(appender: &mut Appender<'_>, end: &AttemptEnd<'_>) -> Result<()> {
    let AttemptEnd { attempt_id, record, trace, ended_at_ms } = *end;
    let mut planner = json!(record.planner);
    if let (Some(trace), Some(fields)) = (trace, planner.as_object_mut()) {
        for bytes in [&trace.request, &trace.answer, &trace.stderr] {
            appender.learn_secrets(bytes);
        }
        fields.insert("process".to_owned(), process(appender, trace)?);
    }
    // A run has no row if its start could not be recorded.
    let run_id = match record.run_id {
        Some(id) if has_row(appender.tx(), "runs", "id", id.to_string())? => Some(id),
        _ => None,
    };
    appender.insert(
        "attempt_ends",
        [
            ("attempt_id", attempt_id.into()),
            ("planner_json", planner.into()),
            ("plan_digest", record.plan_digest.into()),
            ("run_id", run_id.into()),
            ("actions_json", json!(record.actions).into()),
            ("verify_json", record.verify.as_ref().map(|verify| json!(verify)).into()),
            ("feedback", record.feedback.as_deref().into()),
            ("stop_reason", record.stop_reason.map(|code| Cell::word(code.as_str())).into()),
            ("timestamp", ended_at_ms.into()),
        ],
    )
}

/// The recorded values of a planner's process. The answer is stored as a blob of its exact bytes, the request and the
/// standard error as redacted text.
fn process(appender: &mut Appender<'_>, trace: &PlannerTrace) -> Result<Value> {
    let answer = Digest::of(&trace.answer);
    if !trace.answer.is_empty() {
        appender.exact_blob(&answer, &trace.answer)?;
    }
    let mut text = |bytes: &[u8]| -> Result<Value> {
        let stored = appender.output_value(bytes)?;
        let Cell::Word(json) = stored.json else { return Ok(Value::Null) };
        serde_json::from_str(&json)
            .map_err(|source| EvidenceError::Content { source: source.into() })
    };
    Ok(json!({
        "request": text(&trace.request)?,
        "stderr": text(&trace.stderr)?,
        "answer": (!trace.answer.is_empty())
            .then(|| json!({ "blob": answer, "bytes": trace.answer.len() })),
        "exit_code": trace.exit_code,
        "signal": trace.signal,
        "timed_out": trace.timed_out,
        "duration_ms": trace.duration_ms,
        "revised": trace.revised.as_ref().map(|(reason, difference)| {
            json!({ "reason": reason, "difference": difference })
        }),
    }))
}
