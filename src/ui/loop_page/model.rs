//! Icons, words and colours for the states of a loop and its attempts, and the rows of their actions. Pure.

use uuid::Uuid;

use crate::plan::{ShownPlan, ToolCall};
use crate::run::{
    ActionRecord, ActionStatus, AttemptState, Level, LoopFate, LoopPhase, LoopState, Phase,
    PlannerStatus, RunState, StepState, StopCode, StopReason, VERIFY_GATE,
};
use crate::ui::{Icon, Tone, format, icon};

/// The icon, the word and the tone of a state.
pub type StateLook = (Icon, &'static str, Tone);

/// The icon, word and colour of a loop in a list: its outcome, or that it is under way or interrupted.
pub fn fate_look(fate: LoopFate) -> StateLook {
    match fate {
        LoopFate::Ended(code) => {
            let (icon, tone) = stop_look(code);
            (icon, stop_word(code), tone)
        }
        LoopFate::Active => (icon::RUNNING, "under way", Tone::Accent),
        LoopFate::Interrupted => (icon::WARNING, "interrupted", Tone::Danger),
    }
}

/// What is said about a plan that a class authorized.
pub const BY_CLASS: &str = "Authorized by the class; nobody was asked.";

/// Whether a class authorized a plan whose authorization has this note.
pub fn is_by_class(note: &str) -> bool {
    note.contains("authorization class")
}

/// A stop code in one or two words, for lists.
pub fn stop_word(code: StopCode) -> &'static str {
    match code {
        StopCode::Completed => "completed",
        StopCode::PlannerRejectedNonRetryable => "no plan",
        StopCode::PlannerRejectedRetryBudgetExhausted => "no usable plan",
        StopCode::ActionFailedRetryable | StopCode::ActionFailedNonRetryable => "step failed",
        StopCode::VerifyFailed => "verification failed",
        StopCode::RetryBudgetExhausted => "no attempts left",
        StopCode::OperatorStopped => "stopped",
        StopCode::RunnerInternalError => "internal error",
        StopCode::NotAuthorized => "not authorized",
        StopCode::NoProgress => "no progress",
        StopCode::Planned => "plan ready",
    }
}

/// What happened in a loop that ended with this code. The meaning of the code in documents also covers other cases.
fn what_ended(code: StopCode) -> &'static str {
    match code {
        StopCode::Completed => "Every step succeeded, and so did the verification.",
        StopCode::PlannerRejectedNonRetryable => {
            "The planner had no plan, and said that asking again would not help."
        }
        StopCode::PlannerRejectedRetryBudgetExhausted => {
            "The last attempt brought no plan that could run."
        }
        StopCode::ActionFailedRetryable => "A step failed, and there was no other attempt.",
        StopCode::ActionFailedNonRetryable => {
            "A step failed, and another attempt would not have mended it."
        }
        StopCode::VerifyFailed => {
            "The steps succeeded, the verification failed, and there was no other attempt."
        }
        StopCode::RetryBudgetExhausted => "The last attempt did not reach the goal.",
        StopCode::OperatorStopped => "The loop was stopped by a person.",
        StopCode::RunnerInternalError => "The program could not go on.",
        StopCode::NotAuthorized => "The plan was not authorized, and did not run.",
        StopCode::NoProgress => {
            "The planner proposed steps that had already run and failed in this loop."
        }
        StopCode::Planned => "The plan is ready. Nothing of it ran.",
    }
}

/// What happened in a loop that ended, and what to do next, one sentence each.
pub fn stop_sentences(reason: &StopReason) -> [&'static str; 2] {
    if reason.is_unverified() {
        let happened = "Every step succeeded, but nothing has checked the result.";
        return [happened, "Check the result yourself before you build on it."];
    }
    [what_ended(reason.code), reason.code.next()]
}

/// The icon and colour of a stop reason.
pub fn stop_look(code: StopCode) -> (Icon, Tone) {
    match code {
        StopCode::Completed => (icon::DONE, Tone::Safe),
        StopCode::OperatorStopped => (icon::CANCELLED, Tone::Caution),
        StopCode::NotAuthorized => (icon::PROHIBIT, Tone::Caution),
        StopCode::Planned => (icon::PLAN, Tone::Accent),
        _ => (icon::FAILED, Tone::Danger),
    }
}

/// The step of the run under way that waits for a person's answer, counted from 1, of a loop of this window.
pub fn waiting_step(state: &LoopState) -> Option<usize> {
    let last = state.attempts.last()?;
    [&last.run, &last.gate].into_iter().flatten().find_map(|run| match &run.phase {
        Phase::AwaitingConfirmation(request) => Some(request.step_index + 1),
        _ => None,
    })
}

/// The icon, word and colour of what a loop does now, or how it ended.
pub fn state_look(state: &LoopState) -> StateLook {
    match waiting_step(state) {
        Some(_) => (icon::HAND, "a step waits for your answer", Tone::Caution),
        None => phase_look(&state.phase),
    }
}

/// The icon, word and colour of a loop's phase.
pub fn phase_look(phase: &LoopPhase) -> StateLook {
    match phase {
        LoopPhase::Idle => (icon::CLOCK, "starting", Tone::Dim),
        LoopPhase::Planning => (icon::RUNNING, "the planner is at work", Tone::Accent),
        LoopPhase::Elsewhere => (icon::RUNNING, "under way in another window", Tone::Accent),
        LoopPhase::AwaitingAuthorization(_) => {
            (icon::HAND, "waits for your authorization", Tone::Caution)
        }
        LoopPhase::AwaitingAnswer(_) => (icon::HAND, "waits for your answer", Tone::Caution),
        LoopPhase::Applying => (icon::RUNNING, "the plan runs", Tone::Accent),
        LoopPhase::Verifying => (icon::RUNNING, "verifying", Tone::Accent),
        LoopPhase::Ended(reason) => fate_look(LoopFate::Ended(reason.code)),
        LoopPhase::Interrupted => fate_look(LoopFate::Interrupted),
    }
}

const NOT_RECORDED: StateLook = (icon::WARNING, "not recorded", Tone::Danger);
/// The state of a step that began, but has no result although its run has ended.
const UNKNOWN: StateLook = (icon::WARNING, "outcome unknown", Tone::Danger);

/// The icon, word and colour of an attempt's outcome or progress.
pub fn attempt_look(state: &LoopState, attempt: &AttemptState) -> StateLook {
    let Some(record) = &attempt.record else {
        let is_last = state.attempts.last().is_some_and(|last| last.attempt == attempt.attempt);
        return match &state.phase {
            LoopPhase::Ended(_) => NOT_RECORDED,
            _ if is_last => state_look(state),
            _ => NOT_RECORDED,
        };
    };
    if let Some(code) = record.stop_reason.filter(|code| {
        matches!(
            code,
            StopCode::Completed
                | StopCode::OperatorStopped
                | StopCode::NotAuthorized
                | StopCode::NoProgress
                | StopCode::Planned
                | StopCode::RunnerInternalError
        )
    }) {
        return fate_look(LoopFate::Ended(code));
    }
    if record.feedback.is_some() && record.run_id.is_none() {
        return match record.planner.status {
            PlannerStatus::Accepted => (icon::PROHIBIT, "rejected by you", Tone::Caution),
            PlannerStatus::Failed => (icon::HAND, "answered by you", Tone::Accent),
        };
    }
    if record.actions.iter().any(ActionRecord::was_denied) {
        return (icon::PROHIBIT, "a step was denied", Tone::Caution);
    }
    let failed = |row: &&ActionRecord| row.status == ActionStatus::Failed;
    if record.planner.status == PlannerStatus::Failed {
        (icon::FAILED, "no plan", Tone::Danger)
    } else if record.verify.as_ref().is_some_and(|verify| !verify.passed)
        || record.actions.iter().find(failed).is_some_and(|row| row.kind == VERIFY_GATE)
    {
        (icon::FAILED, "verification failed", Tone::Danger)
    } else if record.actions.iter().any(|row| failed(&row)) {
        (icon::FAILED, "a step failed", Tone::Danger)
    } else {
        (icon::DONE, "every step succeeded", Tone::Safe)
    }
}

/// An action of an attempt, or the verification after the actions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionRow {
    /// The icon, word and colour of its state.
    pub look: StateLook,
    /// The action's type or the step's tool.
    pub kind: String,
    /// The subject of the action, in a few words.
    pub summary: String,
    /// The error code and message, if the action failed.
    pub failure: Option<(String, String)>,
    /// The duration of the action, in milliseconds; `None` if it was not executed.
    pub duration_ms: Option<i64>,
    /// The id of the execution in the evidence.
    pub execution_id: Option<Uuid>,
}

impl ActionRow {
    fn without_result(look: StateLook, kind: String, summary: String) -> Self {
        Self { look, kind, summary, failure: None, duration_ms: None, execution_id: None }
    }
}

/// The known actions of an attempt, from its record or from the current run.
pub fn action_rows(attempt: &AttemptState, plan: Option<&ShownPlan>) -> Vec<ActionRow> {
    if let Some(record) = &attempt.record {
        let rows = record.actions.iter().filter(|row| row.kind != VERIFY_GATE);
        return rows.map(|row| recorded_row(row, attempt.run.as_deref())).collect();
    }
    let Some(run) = &attempt.run else { return Vec::new() };
    let describe = |index: usize| {
        let step = plan.and_then(|plan| plan.steps.get(index));
        let call = step.and_then(|step| step.call.as_ref());
        let (verb, object) = call.map(ToolCall::headline).unwrap_or_default();
        let kind = step.map(|step| step.tool_name.clone()).unwrap_or_default();
        (kind, format!("{verb} {object}").trim().to_owned())
    };
    let row = |(index, state): (usize, &StepState)| {
        let (kind, summary) = describe(index);
        let look = match state {
            StepState::Done(result) => {
                let row = recorded_row(&ActionRecord::of(result, &summary), Some(run));
                return ActionRow { kind: result.tool_name.clone(), ..row };
            }
            StepState::Running if run.is_active() => (icon::RUNNING, "running", Tone::Accent),
            StepState::Running => UNKNOWN,
            StepState::Waiting if run.is_active() => (icon::WAITING, "waiting", Tone::Dim),
            StepState::Waiting => (icon::WAITING, "not reached", Tone::Dim),
        };
        ActionRow::without_result(look, kind, summary)
    };
    run.steps.iter().enumerate().map(row).collect()
}

/// The loop's own verification; `None` until it begins or is skipped.
pub fn gate_row(attempt: &AttemptState) -> Option<ActionRow> {
    if let Some(record) = &attempt.record {
        let row = record.actions.iter().find(|row| row.kind == VERIFY_GATE)?;
        // The run of the verification has one step.
        let gate_record = ActionRecord { action_index: 0, ..row.clone() };
        let mut gate_row = recorded_row(&gate_record, attempt.gate.as_deref());
        if let Some(note) = attempt.gate.as_ref().and_then(|gate| gate.skip_reasons.get(&0)) {
            gate_row.summary = format!("{}: {note}", gate_row.summary);
        }
        return Some(gate_row);
    }
    let run = attempt.gate.as_deref()?;
    let look = match run.steps.first() {
        Some(StepState::Done(result)) => {
            let record = ActionRecord::of(result, "Verify the program");
            return Some(recorded_row(&record, Some(run)));
        }
        _ if run.is_active() => (icon::RUNNING, "running", Tone::Accent),
        _ => UNKNOWN,
    };
    let summary = "Verify the program".to_owned();
    Some(ActionRow::without_result(look, VERIFY_GATE.to_owned(), summary))
}

/// The row of a recorded action. `run` has the id of its execution.
fn recorded_row(row: &ActionRecord, run: Option<&RunState>) -> ActionRow {
    let look = match row.status {
        ActionStatus::Succeeded => (icon::DONE, "succeeded", Tone::Safe),
        ActionStatus::Failed if row.was_denied() => (icon::PROHIBIT, "denied", Tone::Caution),
        ActionStatus::Failed => (icon::FAILED, "failed", Tone::Danger),
        ActionStatus::Skipped => (icon::SKIP, "skipped", Tone::Dim),
    };
    let failure = row.error.as_ref().map(|error| {
        let code = row.code().map_or_else(|| error.code.as_str(), |code| code.as_str());
        (code.to_owned(), error.message.clone())
    });
    let execution_id = match run.and_then(|run| run.steps.get(row.action_index)) {
        Some(StepState::Done(result)) => Some(result.execution_id),
        _ => None,
    };
    let was_executed = row.status != ActionStatus::Skipped;
    ActionRow {
        look,
        kind: row.kind.clone(),
        summary: row.summary.clone(),
        failure,
        duration_ms: was_executed.then_some(row.duration_ms),
        execution_id,
    }
}

/// Whether an attempt's verification passed, and its result in a sentence; `None` without a recorded verification.
pub fn verify_sentence(attempt: &AttemptState) -> Option<(bool, String)> {
    let verify = attempt.record.as_ref()?.verify.as_ref()?;
    let count = |level: Level, noun: &str| {
        let matching = verify.diagnostics.iter().filter(|it| it.level == level);
        format::counted(matching.count(), noun)
    };
    let word = if verify.passed { "passed" } else { "failed" };
    let counts = match verify.diagnostics.is_empty() {
        true => String::new(),
        false => {
            format!(": {}, {}", count(Level::Error, "error"), count(Level::Warning, "warning"))
        }
    };
    Some((verify.passed, format!("Verification ({}) {word}{counts}", verify.scope.as_str())))
}
