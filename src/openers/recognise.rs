//! Tells formats by their content.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;

use super::{Format, begin_patch, calls, runbook, search_replace};

/// The format of a text; `None` for a plan of ours and for anything else. In a text that is not JSON, the mark that
/// comes first decides.
pub(super) fn format_of(text: &str) -> Option<Format> {
    let begin = text.trim_start_matches('\u{feff}').trim_start();
    if begin.starts_with(['{', '[']) {
        return of_json(begin);
    }
    if runbook::is_atuin(begin) {
        return Some(Format::Atuin);
    }
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let is_pair = lines.peek().is_some_and(|next| next.starts_with("+++ "));
        if line.starts_with("diff --git ") || line.starts_with("--- ") && is_pair {
            return Some(Format::Diff);
        }
        if line.trim() == begin_patch::BEGIN {
            return Some(Format::BeginPatch);
        }
        if search_replace::is_search(line) {
            return Some(Format::SearchReplace);
        }
        if runbook::is_fence_of_commands(line) {
            return Some(Format::Markdown);
        }
    }
    None
}

/// The fields of a JSON object, without their values.
type Fields = BTreeMap<String, IgnoredAny>;

fn of_json(text: &str) -> Option<Format> {
    let Ok(fields) = serde_json::from_str::<Fields>(text) else {
        let first = text.lines().next().unwrap_or_default();
        // Cargo prints one object in each line.
        let is_message =
            serde_json::from_str::<Fields>(first).is_ok_and(|it| it.contains_key("reason"));
        return if is_message {
            Some(Format::Cargo)
        } else {
            calls::are_in(text).then_some(Format::ToolCalls)
        };
    };
    let has = |name: &str| fields.contains_key(name);
    if has("plan_id") || has("steps") || has("goal") || has("actions") {
        return None;
    }
    if has("resource_changes") || has("format_version") && has("planned_values") {
        return Some(Format::Terraform);
    }
    if has("runs") && has("version") {
        return Some(Format::Sarif);
    }
    if has("reason") && has("message") {
        return Some(Format::Cargo);
    }
    if has("documentChanges") || has("changes") || has("edit") {
        return Some(Format::WorkspaceEdit);
    }
    if has("jsonrpc") {
        return Some(Format::WorkspaceEdit);
    }
    calls::are_in(text).then_some(Format::ToolCalls)
}
