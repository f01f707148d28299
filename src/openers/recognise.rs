//! Tells formats by their content.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;

use super::{Format, begin_patch, calls, diff, runbook, search_replace};

/// The format of a text; `None` for a plan of ours and for anything else. In a text that is not JSON, the mark that
/// comes first decides.
pub(super) fn format_of(text: &str) -> Option<Format> {
    let begin = text.trim_start_matches('\u{feff}').trim_start();
    let is_json = begin.starts_with(['{', '[']);
    if is_json && let Some(format) = of_json(begin) {
        return Some(format);
    }
    // A Markdown text may begin with a link.
    if begin.starts_with('{') || is_json && serde_json::from_str::<IgnoredAny>(begin).is_ok() {
        return None;
    }
    if runbook::is_atuin(begin) {
        return Some(Format::Atuin);
    }
    marks(text).next().map(|(_, format)| format)
}

/// The first line of another format than this one, from 1. What is in the parts of a format is not looked at.
pub(super) fn another_in(format: Format, text: &str) -> Option<(usize, Format)> {
    const MARKED: [Format; 4] =
        [Format::Diff, Format::BeginPatch, Format::SearchReplace, Format::Markdown];
    if !MARKED.contains(&format) {
        return None;
    }
    marks(text).find(|(_, other)| *other != format).map(|(index, other)| (index + 1, other))
}

/// The lines that are marks of a format, with their indices.
fn marks(text: &str) -> impl Iterator<Item = (usize, Format)> {
    let mut lines = text.lines().enumerate().peekable();
    // The format whose part is being read.
    let mut inside: Option<Format> = None;
    std::iter::from_fn(move || {
        loop {
            let (index, line) = lines.next()?;
            let next = lines.peek().map_or("", |(_, next)| *next);
            match inside {
                Some(Format::SearchReplace) if search_replace::is_end(line) => inside = None,
                Some(Format::BeginPatch) if begin_patch::is_end(line) => inside = None,
                Some(Format::Diff) if !diff::is_inside(line) => inside = None,
                Some(_) => continue,
                None => {}
            }
            let format = if line.starts_with("diff --git ")
                || line.starts_with("--- ") && next.starts_with("+++ ")
            {
                Format::Diff
            } else if line.trim() == begin_patch::BEGIN {
                Format::BeginPatch
            } else if search_replace::is_search(line) {
                Format::SearchReplace
            } else if runbook::is_fence_of_commands(line) && !search_replace::is_search(next) {
                Format::Markdown
            } else {
                continue;
            };
            inside = Some(format).filter(|it| *it != Format::Markdown);
            return Some((index, format));
        }
    })
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
