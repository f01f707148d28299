//! Parses the output of cargo with `--message-format=json`: one JSON message per line, mixed with whatever
//! macros and build scripts print.

use std::borrow::Cow;

use cargo_metadata::diagnostic::{
    Applicability, Diagnostic, DiagnosticLevel, DiagnosticSpan as Span,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Names;
use crate::run::{DiagnosticArtifact, DiagnosticSpan, Level};

/// Maximum nesting of a message that is parsed. Each macro expansion nests its span in the span of the expanded code,
/// up to 128 of them unless the code raises the recursion limit. Other programs may print any depth.
const MAX_DEPTH: usize = 300;

/// Maximum number of source lines stored with a span. Its line numbers give the actual number.
const MAX_LINES: usize = 20;

/// The fields that decide what kind of message a line is.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    reason: Cow<'a, str>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
}

/// The content of one line of cargo's output.
pub(crate) enum Message {
    /// A diagnostic of the compiler.
    Diagnostic(Box<Diagnostic>),
    /// A message of the compiler that cannot be parsed. It may be an error.
    Unreadable,
    /// Anything else, including the summaries of the compiler ("2 warnings emitted").
    Other,
}

/// The diagnostics of the compiler, in order, and the number of its messages that cannot be parsed.
pub(super) fn diagnostics(stdout: &[u8]) -> (Vec<Diagnostic>, usize) {
    let (mut parsed, mut unreadable) = (Vec::new(), 0);
    for line in stdout.split(|byte| *byte == b'\n') {
        match message(line) {
            Message::Diagnostic(it) => parsed.push(*it),
            Message::Unreadable => unreadable += 1,
            Message::Other => {}
        }
    }
    (parsed, unreadable)
}

/// Parses one line of cargo's output.
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
        Some(it) if is_summary(&it) => Message::Other,
        Some(it) => Message::Diagnostic(Box::new(it)),
        None => Message::Unreadable,
    }
}

/// The diagnostic in a message; `None` if it is nested too deeply or has another form.
fn diagnostic(message: &str) -> Option<Diagnostic> {
    if depth(message) > MAX_DEPTH {
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

/// Whether the diagnostic is a summary, which cargo also omits from its output for people.
fn is_summary(it: &Diagnostic) -> bool {
    it.code.is_none()
        && it.spans.is_empty()
        && (it.message.starts_with("aborting due to")
            || it.message.ends_with("warning emitted")
            || it.message.ends_with("warnings emitted"))
}

/// Converts the diagnostic for the evidence.
pub(crate) fn artifact(diagnostic: &Diagnostic, names: &mut Names<'_>) -> DiagnosticArtifact {
    let (level, tool_level) = match diagnostic.level {
        DiagnosticLevel::Ice => (Level::Error, "error: internal compiler error"),
        DiagnosticLevel::Error => (Level::Error, "error"),
        DiagnosticLevel::Warning => (Level::Warning, "warning"),
        DiagnosticLevel::FailureNote => (Level::Info, "failure-note"),
        DiagnosticLevel::Note => (Level::Info, "note"),
        DiagnosticLevel::Help => (Level::Info, "help"),
        // The type is non-exhaustive; no other level exists today.
        _ => (Level::Info, "message"),
    };
    let main_span =
        diagnostic.spans.iter().find(|span| span.is_primary).or(diagnostic.spans.first());
    let main_span = main_span.map(|it| span(in_workspace(it, names), names));
    DiagnosticArtifact {
        level,
        tool_level: tool_level.to_owned(),
        message: diagnostic.message.clone(),
        line_start: main_span.as_ref().map_or(0, |it| it.line_start),
        column_start: main_span.as_ref().map(|it| it.column_start),
        line_end: main_span.as_ref().map(|it| it.line_end),
        column_end: main_span.as_ref().map(|it| it.column_end),
        file_name: main_span.map_or_else(String::new, |it| it.file_name),
        code: diagnostic.code.as_ref().map(|code| code.code.clone()),
        spans: diagnostic.spans.iter().map(|it| span(it, names)).collect(),
        children: diagnostic.children.iter().map(|child| artifact(child, names)).collect(),
        rendered: diagnostic.rendered.clone(),
    }
}

/// The span itself, or for a span inside a macro of another package, the nearest use of the macro in the workspace,
/// if there is one.
fn in_workspace<'a>(span: &'a Span, names: &mut Names<'_>) -> &'a Span {
    let mut current = span;
    loop {
        if names.get(&current.file_name).is_inside {
            return current;
        }
        match &current.expansion {
            Some(expansion) => current = &expansion.span,
            None => return span,
        }
    }
}

fn span(compiler_span: &Span, names: &mut Names<'_>) -> DiagnosticSpan {
    let number = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    DiagnosticSpan {
        file_name: names.get(&compiler_span.file_name).path,
        line_start: number(compiler_span.line_start),
        column_start: number(compiler_span.column_start),
        line_end: number(compiler_span.line_end),
        column_end: number(compiler_span.column_end),
        byte_start: compiler_span.byte_start.into(),
        byte_end: compiler_span.byte_end.into(),
        is_primary: compiler_span.is_primary,
        text: compiler_span.text.iter().take(MAX_LINES).map(|line| line.text.clone()).collect(),
        label: compiler_span.label.clone(),
        suggested_replacement: compiler_span.suggested_replacement.clone(),
        applicability: compiler_span.suggestion_applicability.as_ref().map(|applicability| {
            match applicability {
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
        let mut main_span = span("null");
        for _ in 0..macros {
            let expansion =
                format!(r#"{{"span":{main_span},"macro_decl_name":"m!","def_site_span":null}}"#);
            main_span = span(&expansion);
        }
        format!(
            r#"{{"reason":"compiler-message","message":{{"message":"m","code":null,"level":"error","spans":[{main_span}],"children":[],"rendered":null}}}}"#
        )
    }

    #[test]
    fn messages_are_read_up_to_a_depth() {
        // The depth that the compiler produces by default, on a thread with the default stack size.
        let read = |macros| {
            let (parsed, unreadable) = diagnostics(nested(macros).as_bytes());
            (parsed.len(), unreadable)
        };
        let read = [0, 128, 148, 149].map(read);
        assert_eq!(read, [(1, 0), (1, 0), (1, 0), (0, 1)], "a reached limit is counted");
        let (open, close) = ("[".repeat(1_000_000), "]".repeat(1_000_000));
        let line = format!(r#"{{"reason":"compiler-message","message":{open}{close}}}"#);
        assert_eq!(diagnostics(line.as_bytes()), (Vec::new(), 1));
        assert_eq!(depth(&nested(148)), MAX_DEPTH + 1, "the line adds one level");
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
        let (parsed, unreadable) = diagnostics(lines.join("\n").as_bytes());
        assert_eq!((parsed.len(), unreadable), (1, 2));
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
            let diagnostic = diagnostics(line.as_bytes()).0.remove(0);
            let folder = tempfile::tempdir().unwrap();
            let root = Root::open(folder.path(), true).unwrap();
            let workspace = Workspace::new(root, Vec::new(), Vec::new());
            let it = artifact(&diagnostic, &mut Names::new(&workspace, None));
            assert_eq!((it.level, it.tool_level.as_str()), (level, word));
        }
    }
}
