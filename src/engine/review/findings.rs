//! What a review has to say against a step (SPEC §1.4).

use crate::plan::{Code, Edit, Finding, MutateBatch, Severity, Simulation, Step, ToolCall};
use crate::risk::{RiskLevel, Verdict};
use crate::tools::{ToolError, Toolbox};

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
pub(super) fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(200)).unwrap_or(text)
}

/// The paths among a call's arguments, with the argument's name.
pub(super) fn paths(call: &ToolCall) -> Vec<(&'static str, &str)> {
    match call {
        ToolCall::FileRead { path }
        | ToolCall::FileWrite { path, .. }
        | ToolCall::FileCreate { path, .. }
        | ToolCall::LspCheck { path } => vec![("path", path)],
        ToolCall::FileSearch { root, .. } | ToolCall::FileGlob { root, .. } => vec![("root", root)],
        ToolCall::SplicePatch { file, with, .. } => vec![("file", file), ("with", with)],
        ToolCall::SplicePlan { plan_file } => vec![("plan_file", plan_file)],
        ToolCall::SymbolsInFile { file_path }
        | ToolCall::ReferencesFromFileToSymbolName { file_path, .. } => {
            vec![("file_path", file_path)]
        }
        ToolCall::Shell { cwd: Some(cwd), target: None, .. } => vec![("cwd", cwd)],
        // A folder of a host cannot be looked at from here.
        ToolCall::Shell { .. } | ToolCall::ReferencesToSymbolName { .. } => Vec::new(),
        ToolCall::MutateBatch(MutateBatch { edits, .. })
        | ToolCall::Simulate(Simulation::Edits { edits, .. }) => {
            edits.iter().flat_map(Edit::paths).map(|path| ("edits", path)).collect()
        }
        ToolCall::Simulate(Simulation::Steps { steps, .. }) => {
            steps.iter().flat_map(paths).map(|(_, path)| ("steps", path)).collect()
        }
        ToolCall::Simulate(Simulation::Function { .. })
        | ToolCall::Verify { .. }
        | ToolCall::Compile { .. }
        | ToolCall::Run { .. }
        | ToolCall::Inspect { .. }
        | ToolCall::History { .. } => Vec::new(),
    }
}

/// Whether an error about a path is about one that stands in a file, whose own path is right.
pub(super) fn is_of_named_file(call: &ToolCall, toolbox: &Toolbox) -> bool {
    matches!(call, ToolCall::SplicePlan { plan_file } if toolbox.kind_of(plan_file).is_ok())
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
