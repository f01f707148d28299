//! Parses the output of cargo with `--message-format=json`: one JSON message per line, mixed with whatever
//! macros and build scripts print.

use std::borrow::Cow;

use cargo_metadata::diagnostic::{
    Applicability, Diagnostic, DiagnosticLevel, DiagnosticSpan as Span,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::names::Names;
use crate::run::{DiagnosticArtifact, DiagnosticSpan, Level};

/// Deepest nesting that is parsed. The compiler nests a span in the macro that produced it, up to 128
/// levels unless the code raises the limit; other programs may print any depth.
const DEEPEST: usize = 300;

/// Most source lines kept with a span, whose line numbers say how many it has.
const MAX_LINES: usize = 20;

/// The fields that decide what kind of message a line is.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    reason: Cow<'a, str>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
}

/// What one line of cargo's output is.
pub(crate) enum Message {
    /// A diagnostic of the compiler.
    Diagnostic(Box<Diagnostic>),
    /// A message of the compiler that cannot be read, perhaps an error.
    Unreadable,
    /// Anything else, and the compiler's totals ("2 warnings emitted").
    Other,
}

/// The diagnostics of the compiler, in order, and how many of its messages cannot be read.
pub(super) fn diagnostics(stdout: &[u8]) -> (Vec<Diagnostic>, usize) {
    let (mut said, mut unreadable) = (Vec::new(), 0);
    for line in stdout.split(|byte| *byte == b'\n') {
        match message(line) {
            Message::Diagnostic(it) => said.push(*it),
            Message::Unreadable => unreadable += 1,
            Message::Other => {}
        }
    }
    (said, unreadable)
}

/// Reads one line of cargo's output.
pub(crate) fn message(line: &[u8]) -> Message {
    // Skips text of other programs, which is not JSON.
    if !line.starts_with(b"{") {
        return Message::Other;
    }
    let Ok(line) = serde_json::from_slice::<Line<'_>>(line) else { return Message::Other };
    if line.reason != "compiler-message" {
        return Message::Other;
    }
    match line.message.and_then(|message| diagnostic(message.get())) {
        Some(it) if is_sum(&it) => Message::Other,
        Some(it) => Message::Diagnostic(Box::new(it)),
        None => Message::Unreadable,
    }
}

/// The diagnostic in a message; `None` if it is nested too deeply or has another form.
fn diagnostic(message: &str) -> Option<Diagnostic> {
    if depth(message) > DEEPEST {
        return None;
    }
    let mut reader = serde_json::Deserializer::from_str(message);
    // Safe, because the depth was checked above.
    reader.disable_recursion_limit();
    Diagnostic::deserialize(&mut reader).ok()
}

/// The deepest nesting of a JSON text.
fn depth(json: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_text, mut escaped) = (false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Whether the diagnostic is a total, which cargo omits too in its output for people.
fn is_sum(it: &Diagnostic) -> bool {
    it.code.is_none()
        && it.spans.is_empty()
        && (it.message.starts_with("aborting due to")
            || it.message.ends_with("warning emitted")
            || it.message.ends_with("warnings emitted"))
}

/// Converts the diagnostic for the records.
pub(crate) fn artifact(said: &Diagnostic, names: &mut Names<'_>) -> DiagnosticArtifact {
    let (level, tool_level) = match said.level {
        DiagnosticLevel::Ice => (Level::Error, "error: internal compiler error"),
        DiagnosticLevel::Error => (Level::Error, "error"),
        DiagnosticLevel::Warning => (Level::Warning, "warning"),
        DiagnosticLevel::FailureNote => (Level::Info, "failure-note"),
        DiagnosticLevel::Note => (Level::Info, "note"),
        DiagnosticLevel::Help => (Level::Info, "help"),
        // The type is non-exhaustive; no other level exists today.
        _ => (Level::Info, "message"),
    };
    let place = said.spans.iter().find(|span| span.is_primary).or(said.spans.first());
    let place = place.map(|place| span(in_workspace(place, names), names));
    DiagnosticArtifact {
        level,
        tool_level: tool_level.to_owned(),
        message: said.message.clone(),
        line_start: place.as_ref().map_or(0, |place| place.line_start),
        column_start: place.as_ref().map(|place| place.column_start),
        line_end: place.as_ref().map(|place| place.line_end),
        column_end: place.as_ref().map(|place| place.column_end),
        file_name: place.map_or_else(String::new, |place| place.file_name),
        code: said.code.as_ref().map(|code| code.code.clone()),
        spans: said.spans.iter().map(|said| span(said, names)).collect(),
        children: said.children.iter().map(|child| artifact(child, names)).collect(),
        rendered: said.rendered.clone(),
    }
}

/// The span itself, or for a span inside a foreign macro, the nearest use of the macro in the workspace.
fn in_workspace<'a>(place: &'a Span, names: &mut Names<'_>) -> &'a Span {
    let mut here = place;
    loop {
        if names.get(&here.file_name).is_inside {
            return here;
        }
        match &here.expansion {
            Some(expansion) => here = &expansion.span,
            None => return place,
        }
    }
}

fn span(said: &Span, names: &mut Names<'_>) -> DiagnosticSpan {
    let number = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    DiagnosticSpan {
        file_name: names.get(&said.file_name).path,
        line_start: number(said.line_start),
        column_start: number(said.column_start),
        line_end: number(said.line_end),
        column_end: number(said.column_end),
        byte_start: said.byte_start.into(),
        byte_end: said.byte_end.into(),
        is_primary: said.is_primary,
        text: said.text.iter().take(MAX_LINES).map(|line| line.text.clone()).collect(),
        label: said.label.clone(),
        suggested_replacement: said.suggested_replacement.clone(),
        applicability: said.suggestion_applicability.as_ref().map(|sure| {
            match sure {
                Applicability::MachineApplicable => "MachineApplicable",
                Applicability::HasPlaceholders => "HasPlaceholders",
                Applicability::MaybeIncorrect => "MaybeIncorrect",
                _ => "Unspecified",
            }
            .to_owned()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{Root, Workspace};

    /// A message whose span is nested in this many macros.
    fn nested(macros: usize) -> String {
        let span = |expansion: &str| {
            format!(
                r#"{{"file_name":"a.rs","byte_start":0,"byte_end":1,"line_start":1,"line_end":1,
                "column_start":1,"column_end":2,"is_primary":true,"text":[],"label":"{{[","suggested_replacement":null,
                "suggestion_applicability":null,"expansion":{expansion}}}"#
            )
            .replace('\n', "")
        };
        let mut place = span("null");
        for _ in 0..macros {
            let expansion =
                format!(r#"{{"span":{place},"macro_decl_name":"m!","def_site_span":null}}"#);
            place = span(&expansion);
        }
        format!(
            r#"{{"reason":"compiler-message","message":{{"message":"m","code":null,"level":"error","spans":[{place}],"children":[],"rendered":null}}}}"#
        )
    }

    #[test]
    fn messages_are_read_up_to_a_depth() {
        // The depth that the compiler produces by default, on a thread with the default stack size.
        let read = |macros| {
            let (said, unreadable) = diagnostics(nested(macros).as_bytes());
            (said.len(), unreadable)
        };
        let read = [0, 128, 148, 149].map(read);
        assert_eq!(read, [(1, 0), (1, 0), (1, 0), (0, 1)], "a reached limit is counted");
        let (open, close) = ("[".repeat(1_000_000), "]".repeat(1_000_000));
        let line = format!(r#"{{"reason":"compiler-message","message":{open}{close}}}"#);
        assert_eq!(diagnostics(line.as_bytes()), (Vec::new(), 1));
        assert_eq!(depth(&nested(148)), DEEPEST + 1, "of which one is around the message");
    }

    #[test]
    fn other_lines_are_no_compiler_messages() {
        let sum = r#"{"reason":"compiler-message","message":{"message":"aborting due to 1 previous error","code":null,"level":"error","spans":[],"children":[],"rendered":null}}"#;
        for line in ["", "text", "{", "{}", r#"{"reason":"build-finished","success":true}"#, sum] {
            assert_eq!(diagnostics(line.as_bytes()), (Vec::new(), 0), "{line}");
        }
        assert_eq!(diagnostics(b"{\"reason\":\"\xff\"}\n\xff\n"), (Vec::new(), 0));
    }

    #[test]
    fn compiler_messages_of_unknown_form_are_counted() {
        let lines = [
            r#"{"reason":"compiler-message"}"#,
            r#"{"reason":"compiler-message","message":{"level":"error"}}"#,
            &nested(0),
        ];
        let (said, unreadable) = diagnostics(lines.join("\n").as_bytes());
        assert_eq!((said.len(), unreadable), (1, 2));
    }

    #[test]
    fn level_names_of_the_compiler_are_kept() {
        for (word, level) in [
            ("error: internal compiler error", Level::Error),
            ("error", Level::Error),
            ("warning", Level::Warning),
            ("failure-note", Level::Info),
            ("note", Level::Info),
            ("help", Level::Info),
        ] {
            let line = nested(0).replace("\"level\":\"error\"", &format!("\"level\":\"{word}\""));
            let said = diagnostics(line.as_bytes()).0.remove(0);
            let folder = tempfile::tempdir().unwrap();
            let root = Root::open(folder.path(), true).unwrap();
            let workspace = Workspace::new(root, Vec::new(), Vec::new());
            let it = artifact(&said, &mut Names::new(&workspace, None));
            assert_eq!((it.level, it.tool_level.as_str()), (level, word));
        }
    }
}
