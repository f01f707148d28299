//! The messages of cargo (`--message-format=json`), one JSON object in each line. Only suggestions that the compiler
//! says can be applied as they are become edits; the others are listed.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::super::files::Texts;
use super::super::written::Edits;
use super::{Replacement, replaced};
use crate::plan::{Code, Finding, Severity, has_duplicate_keys};

#[derive(Deserialize)]
struct Line {
    reason: String,
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Message {
    message: String,
    #[serde(default)]
    spans: Vec<Span>,
    #[serde(default)]
    children: Vec<Message>,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    byte_start: usize,
    byte_end: usize,
    line_start: usize,
    #[serde(default)]
    text: Vec<SpanLine>,
    suggested_replacement: Option<String>,
    suggestion_applicability: Option<String>,
}

#[derive(Deserialize)]
struct SpanLine {
    text: String,
}

/// A suggestion: replacements that belong together, with their paths.
type Suggestion = Vec<(String, Replacement)>;

/// The edits of all suggestions that can be applied as they are.
///
/// # Errors
/// A line is no message of cargo, or a file has changed since the check.
pub(in crate::openers) fn edits(text: &str, mut texts: Texts<'_>) -> Result<Edits, Vec<Finding>> {
    let (mut made, mut errors) = (Edits::default(), Vec::new());
    let mut taken: Vec<Suggestion> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let at = |severity, message: String| Finding {
            line: index + 1,
            ..Finding::new(severity, Code::BadValue, "", message)
        };
        // Cargo's output may be mixed with that of what it runs.
        if !line.starts_with('{') {
            continue;
        }
        let parsed = serde_json::from_str::<Line>(line);
        let Some(parsed) = parsed.ok().filter(|_| !has_duplicate_keys(line)) else {
            errors.push(at(Severity::Error, "this is no message of cargo".to_owned()));
            continue;
        };
        let Some(message) = parsed.message.filter(|_| parsed.reason == "compiler-message") else {
            continue;
        };
        for source in std::iter::once(&message).chain(&message.children) {
            let spans: Vec<_> =
                source.spans.iter().filter(|span| span.suggested_replacement.is_some()).collect();
            if spans.is_empty() {
                continue;
            }
            let left_out = |why: &str| {
                at(Severity::Warning, format!("left out: \"{}\": {why}", source.message))
            };
            let is_sure = |span: &&Span| {
                span.suggestion_applicability.as_deref() == Some("MachineApplicable")
            };
            if !spans.iter().all(is_sure) {
                made.findings
                    .push(left_out("the compiler does not say that it can be applied as it is"));
                continue;
            }
            match suggestion(&spans, &mut texts) {
                Err(error) => errors.push(at(Severity::Error, error)),
                Ok(new) if taken.contains(&new) => {}
                Ok(new) if contradicts_itself(&new) => {
                    made.findings.push(left_out(
                        "its places are alternatives, of which one would have to be chosen",
                    ));
                }
                Ok(new) if taken.iter().any(|old| conflict(old, &new)) => {
                    made.findings.push(left_out("it changes the same text as one before it"));
                }
                Ok(new) => taken.push(new),
            }
        }
    }
    let mut by_file: BTreeMap<String, Vec<Replacement>> = BTreeMap::new();
    for (path, replacement) in taken.into_iter().flatten() {
        by_file.entry(path).or_default().push(replacement);
    }
    made.files = by_file.len();
    for (path, replacements) in by_file {
        // None of them conflicts with another one, and all files were read.
        match texts.now(&path).map(|now| (replaced(now, &replacements), now)) {
            Ok((Ok(after), now)) => *now = after,
            _ => {
                errors.push(Finding::error(Code::BadValue, "", format!("{path} cannot be changed")))
            }
        }
    }
    match texts.into_edits() {
        Ok((edits, expected)) => (made.edits, made.expected) = (edits, expected),
        Err(error) => errors.push(Finding::error(Code::Limit, "", error)),
    }
    if errors.is_empty() { Ok(made) } else { Err(errors) }
}

/// Whether a replacement of the one and a replacement of the other conflict.
fn conflict(a: &Suggestion, b: &Suggestion) -> bool {
    a.iter().any(|(path, old)| b.iter().any(|(of, new)| of == path && old.conflicts(new)))
}

/// Whether two replacements of one suggestion conflict.
fn contradicts_itself(suggestion: &Suggestion) -> bool {
    let mut rest = suggestion.as_slice();
    while let [(path, first), behind @ ..] = rest {
        if behind.iter().any(|(of, other)| of == path && first.conflicts(other)) {
            return true;
        }
        rest = behind;
    }
    false
}

fn suggestion(spans: &[&Span], texts: &mut Texts<'_>) -> Result<Suggestion, String> {
    let replacement = |span: &&Span| {
        let path = texts.path(&span.file_name).to_owned();
        let text = texts.now(&path)?;
        let range = span.byte_start..span.byte_end;
        let first = span.line_start.saturating_sub(1);
        let lines = text.split('\n').skip(first).map(|line| line.trim_end_matches('\r'));
        let is_same_text = (span.text.iter().map(|line| line.text.trim_end_matches(['\r', '\n'])))
            .eq(lines.take(span.text.len()));
        let line_of = text.get(..range.start).map(|before| before.matches('\n').count());
        if span.text.is_empty()
            || !is_same_text
            || text.get(range.clone()).is_none()
            || line_of != Some(first)
        {
            return Err(format!("{path} has changed since the check that made the suggestion"));
        }
        let new = span.suggested_replacement.clone().unwrap_or_default();
        Ok((path, Replacement { range, text: new }))
    };
    spans.iter().map(replacement).collect()
}
