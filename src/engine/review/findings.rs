//! Findings of a review about single steps (SPEC §1.4).

use crate::plan::{Code, Finding, Severity, Step, ToolCall};
use crate::risk::{RiskLevel, Verdict};
use crate::run::Failure;
use crate::tools::{ToolError, Toolbox};
use crate::workspace::WorkspaceError;

/// The error for a blocked command, which no setting permits; `None` if the command is not blocked. `subject` is the
/// subject of the message.
pub(super) fn blocked_finding(
    subject: &str,
    command: &str,
    verdict: &Verdict,
    pointer: String,
) -> Option<Finding> {
    if verdict.level != RiskLevel::Blocked {
        return None;
    }
    let part = verdict.span.clone().and_then(|span| command.get(span));
    let part = part.map_or_else(String::new, |part| format!(" at {:?}", beginning(part)));
    let message = format!(
        "{subject} is blocked by the rule {}{part}: {} Take it out of the plan.",
        verdict.rule, verdict.reason
    );
    Some(Finding::error(Code::BlockedCommand, pointer, message))
}

/// The beginning of a text, at most 200 bytes, for a message.
pub(in crate::engine) fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(200)).unwrap_or(text)
}

/// Whether an error about a path may concern a path in the splice plan that the call names: its own path is usable.
pub(super) fn may_be_in_splice_plan(call: &ToolCall, toolbox: &Toolbox) -> bool {
    matches!(call, ToolCall::SplicePlan { plan_file } if toolbox.kind_of(plan_file).is_ok())
}

/// Whether the error is a file that is too large to be read.
pub(super) fn is_too_large(error: &ToolError) -> bool {
    matches!(error.get(), Some(WorkspaceError::TooLarge { .. }))
}

/// The error for a limit that the review of a step reached; `None` for another code. A review that ended at a limit is
/// incomplete, so the plan cannot be authorized.
pub(in crate::engine) fn limit_finding<C>(step: &Step<C>, failure: &Failure) -> Option<Finding> {
    let message = format!("step {}: {}", step.step_index + 1, failure.message);
    (failure.code == Code::Limit).then(|| Finding::error(Code::Limit, step.pointer(None), message))
}

/// The finding for an error of the tools in the review of a step: an error if the plan itself is wrong, else a warning,
/// because the step may succeed later.
pub(super) fn tool_finding(step: &Step, argument: Option<&str>, error: &ToolError) -> Finding {
    let severity = if error.is_about_the_plan() { Severity::Error } else { Severity::Warning };
    Finding::new(
        severity,
        error.code(),
        step.pointer(argument),
        format!("step {}: {error}", step.step_index + 1),
    )
}
