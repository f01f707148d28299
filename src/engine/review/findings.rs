//! What a review has to say against a step (SPEC §1.4).

use crate::plan::{Code, Finding, Severity, Step, ToolCall};
use crate::risk::{RiskLevel, Verdict};
use crate::tools::{ToolError, Toolbox};
use crate::workspace::WorkspaceError;

/// The finding that forbids a plan with this command; none where the command is not blocked. There is
/// no way around it.
pub(super) fn blocked(
    what: &str,
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
        "{what} is blocked by the rule {}{part}: {} Take it out of the plan.",
        verdict.rule, verdict.reason
    );
    Some(Finding::error(Code::BlockedCommand, pointer, message))
}

/// As much of a text as a message repeats.
pub(in crate::engine) fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(200)).unwrap_or(text)
}

/// Whether an error about a path is about one that stands in a file, whose own path is right.
pub(super) fn is_of_named_file(call: &ToolCall, toolbox: &Toolbox) -> bool {
    matches!(call, ToolCall::SplicePlan { plan_file } if toolbox.kind_of(plan_file).is_ok())
}

/// Whether a file is larger than what is ever read whole.
pub(super) fn is_too_large(error: &ToolError) -> bool {
    matches!(error.get(), Some(WorkspaceError::TooLarge { .. }))
}

/// A limit was reached in the review of a step: the rest is unknown, so the plan cannot be authorized.
pub(in crate::engine) fn limit(step: &Step, code: Code, message: &str) -> Option<Finding> {
    let message = format!("step {}: {message}", step.step_index + 1);
    (code == Code::Limit).then(|| Finding::error(Code::Limit, step.pointer(None), message))
}

/// A plan that leads outside can never be authorized; what only fails now may still come right.
pub(super) fn finding(step: &Step, argument: Option<&str>, error: &ToolError) -> Finding {
    let severity = if error.is_about_the_plan() { Severity::Error } else { Severity::Warning };
    Finding::new(
        severity,
        error.code(),
        step.pointer(argument),
        format!("step {}: {error}", step.step_index + 1),
    )
}
