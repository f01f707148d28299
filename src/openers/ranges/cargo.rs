//! The messages of cargo (`--message-format=json`), one JSON object in each line. Only suggestions that the compiler
//! says can be applied as they are become edits; the others are listed.

use serde::Deserialize;

use super::super::files::Texts;
use super::super::written::Edits;
use super::Replacement;
use super::accepted::{Accepted, Added, Suggestion};
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

/// The edits of all suggestions that can be applied as they are.
///
/// # Errors
/// A line is no message of cargo, or a file has changed since the check.
pub(in crate::openers) fn edits(text: &str, mut texts: Texts<'_>) -> Result<Edits, Vec<Finding>> {
    let (mut accepted, mut findings) = (Accepted::default(), Vec::new());
    for (index, line) in text.lines().enumerate() {
        let mut add = |severity, message: String| {
            let finding = Finding::new(severity, Code::BadValue, "", message);
            findings.push(Finding { line: index + 1, ..finding });
        };
        // Cargo's output may be mixed with that of what it runs.
        if !line.starts_with('{') {
            continue;
        }
        let parsed = serde_json::from_str::<Line>(line).ok().filter(|_| !has_duplicate_keys(line));
        let Some(parsed) = parsed else {
            add(Severity::Error, "this is no message of cargo".to_owned());
            continue;
        };
        let message = parsed.message.filter(|_| parsed.reason == "compiler-message");
        for source in
            message.iter().flat_map(|message| std::iter::once(message).chain(&message.children))
        {
            let spans = source.spans.iter().filter(|span| span.suggested_replacement.is_some());
            let spans: Vec<_> = spans.collect();
            let is_sure = |span: &&Span| {
                span.suggestion_applicability.as_deref() == Some("MachineApplicable")
            };
            let why = match spans.iter().all(is_sure) {
                false => "the compiler does not say that it can be applied as it is",
                true => match suggestion(&spans, &mut texts).map(|it| accepted.add(it)) {
                    Ok(Added::Made) => continue,
                    Ok(Added::Contradiction) => {
                        "its places are alternatives, of which one would have to be chosen"
                    }
                    Ok(Added::Conflict) => "it changes the same text as one before it",
                    Err(error) => {
                        add(Severity::Error, error);
                        continue;
                    }
                },
            };
            add(Severity::Warning, format!("left out: \"{}\": {why}", source.message));
        }
    }
    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        return Err(findings);
    }
    let made = accepted.into_edits(texts).map_err(|error| vec![error])?;
    Ok(Edits { findings, ..made })
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
