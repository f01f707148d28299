//! Makes a change without another program: writes the file atomically, checks it with cargo, and restores
//! it when the check finds new errors.

use std::ops::Range;

use serde_json::{Value, json};

use crate::code::Language;
use crate::run::{DiagnosticArtifact, DiagnosticSpan, Stream};

use crate::cargo;
use crate::run::text;
use crate::tools::tool::set;
use crate::tools::{Context, ToolError, Toolbox};
use crate::workspace::replace;

use super::done::{Done, Hand, add};
use super::error::SpliceError;
use super::prepare::Prepared;
use super::restore::{Unfinished, Writer, put_back};

/// Makes replacements by writing the files itself.
pub(super) struct Embedded<'a> {
    toolbox: &'a Toolbox,
    /// The manifest of the Cargo project that was changed last, and the latest verdict of cargo.
    known: Option<(String, cargo::Verdict)>,
}

impl<'a> Embedded<'a> {
    pub(super) fn new(toolbox: &'a Toolbox) -> Self {
        Self { toolbox, known: None }
    }

    /// Checks the Cargo project of a file; `None` when the file is in no project.
    fn check(
        &self,
        prepared: &Prepared<'_>,
        context: &Context<'_>,
        done: &mut Done,
    ) -> Result<Option<cargo::Verdict>, ToolError> {
        // The progress of cargo is streamed, but not the diagnostics of unrelated code.
        let progress = |stream, chunk: &str| {
            if stream == Stream::Stderr {
                (context.output)(stream, chunk);
            }
        };
        let context = Context { output: &progress, ..*context };
        match self.toolbox.cargo(&context).gate(prepared.target.key())? {
            None => Ok(None),
            Some(gate) => {
                done.process("cargo check", &gate.finished);
                Ok(Some(gate.verdict?))
            }
        }
    }

    /// Makes the change, with a check before and one after.
    fn gated(
        &mut self,
        prepared: &Prepared<'_>,
        project: Option<String>,
        context: &Context<'_>,
        done: &mut Done,
    ) -> Result<(), ToolError> {
        let before = match (self.known.take(), &project) {
            (Some((known, verdict)), Some(project)) if known == *project => Some(verdict),
            _ => self.check(prepared, context, done)?,
        };
        self.write(prepared, context, done)?;
        let Some(before) = before else { return Ok(()) };
        let unfinished = Unfinished::new(self.toolbox, prepared, context);
        let after = self.check(prepared, context, done);
        unfinished.over();
        let key = prepared.target.key();
        let verdict = after.and_then(|after| {
            let after = after.unwrap_or_default();
            done.checked.push(checked(prepared, &before, &after));
            done.warn(before.hides(), key);
            let mut new = cargo::new_errors(&before.errors, after.errors.clone());
            let gone = cargo::new_errors(&after.errors, before.errors.clone());
            let replaced = &prepared.replaced.text;
            leave_out_old(key, prepared.target.text()?, replaced, gone, &mut new);
            if new.is_empty() {
                return Ok(after);
            }
            let path = key.to_owned();
            let mut said = said(&new);
            if let Some(hides) = before.hides() {
                said.push_str("\n\n");
                said.push_str(&hides);
            }
            if !before.not_reached.is_empty() {
                said.push_str("\n\nBefore the change, cargo did not reach ");
                said.push_str(&text::beginning(&before.not_reached.join(", ")));
            }
            let error = SpliceError::NewErrors { path, errors: new.len(), said };
            done.diagnostics.extend(new);
            Err(error.into())
        });
        match verdict {
            Ok(after) => {
                self.known = project.map(|project| (project, after));
                Ok(())
            }
            Err(error) => Err(self.put_back(prepared, context, done, error)),
        }
    }

    fn write(
        &self,
        prepared: &Prepared<'_>,
        context: &Context<'_>,
        done: &mut Done,
    ) -> Result<(), ToolError> {
        let (key, text) = (prepared.target.key(), &prepared.replaced.text);
        let (not_flushed, lost) = replace(self.toolbox, key, text, &context.write())?;
        done.warnings.extend(lost.into_iter().map(|lost| format!("{key}: {lost}")));
        match not_flushed {
            None => Ok(()),
            // The file is in place but not flushed. A step that succeeds guarantees durability, so the file
            // is restored.
            Some(not_flushed) => Err(self.put_back(prepared, context, done, not_flushed.into())),
        }
    }

    fn put_back(
        &self,
        prepared: &Prepared<'_>,
        context: &Context<'_>,
        done: &mut Done,
        error: ToolError,
    ) -> ToolError {
        put_back(self.toolbox, prepared, context, Writer::Ourselves, done, error)
    }
}

impl Hand for Embedded<'_> {
    fn make(
        &mut self,
        prepared: &Prepared<'_>,
        context: &Context<'_>,
        done: &mut Done,
    ) -> Result<(), ToolError> {
        // Cargo does not read this file, so the known verdict of a project stays valid.
        if prepared.language != Language::Rust {
            return self.write(prepared, context, done);
        }
        let key = prepared.target.key();
        let project = self.toolbox.now().cargo_manifest_for(key)?;
        let locks = cargo::LockFiles::around(self.toolbox, project.as_deref());
        let made = self.gated(prepared, project, context, done);
        for effect in locks.changed(self.toolbox) {
            add(&mut done.beside, effect);
        }
        made
    }
}

/// The results of both checks as the result of the step lists them.
fn checked(prepared: &Prepared<'_>, before: &cargo::Verdict, after: &cargo::Verdict) -> Value {
    let mut checked = json!({
        "file": prepared.target.key(),
        "errors_before": before.errors.len(),
        "errors_after": after.errors.len(),
    });
    let lists = [
        ("not_compiled_before", &before.not_compiled),
        ("not_compiled_after", &after.not_compiled),
        ("not_reached_before", &before.not_reached),
        ("not_reached_after", &after.not_reached),
    ];
    for (name, targets) in lists.into_iter().filter(|(_, targets)| !targets.is_empty()) {
        set(&mut checked, name, targets.as_slice());
    }
    checked
}

/// Drops the errors that were already in the replaced lines: the compiler renders them differently because
/// the lines changed, but they are not new. When an error occurs several times, as many are dropped as
/// there were before.
fn leave_out_old(
    key: &str,
    old_text: &str,
    new_text: &str,
    mut gone: Vec<DiagnosticArtifact>,
    new: &mut Vec<DiagnosticArtifact>,
) {
    let (old_lines, new_lines) = changed_lines(old_text, new_text);
    let is_in = |error: &DiagnosticArtifact, lines: &Range<usize>| {
        let is_there = |file: &str, line: i64| {
            file == key && usize::try_from(line).is_ok_and(|line| lines.contains(&line))
        };
        is_there(&error.file_name, error.line_start)
            || error.spans.iter().any(|span| is_there(&span.file_name, span.line_start))
    };
    gone.retain(|error| is_in(error, &old_lines));
    new.retain(|error| {
        let same = |old: &DiagnosticArtifact| is_same(old, error);
        match gone.iter().position(same).filter(|_| is_in(error, &new_lines)) {
            Some(index) => {
                gone.remove(index);
                false
            }
            None => true,
        }
    });
}

/// Whether two errors have the same message about the same text, in the same or in different lines.
fn is_same(one: &DiagnosticArtifact, other: &DiagnosticArtifact) -> bool {
    let place = |span: &DiagnosticSpan| {
        let about = span.is_primary.then(|| pointed_at(span));
        (span.file_name.clone(), span.label.as_deref().map(cargo::without_places), about)
    };
    let says = |error: &DiagnosticArtifact| {
        (error.code.clone(), cargo::without_places(&error.message), error.file_name.clone())
    };
    says(one) == says(other)
        && one.spans.len() == other.spans.len()
        && one.spans.iter().map(place).eq(other.spans.iter().map(place))
}

/// The text that a span marks. For a span of several lines these are the whole lines, trimmed.
fn pointed_at(span: &DiagnosticSpan) -> String {
    let lines: Vec<&str> = span.text.iter().map(|line| line.trim()).collect();
    let [line] = span.text.as_slice() else { return lines.join("\n") };
    let column = |column: i64| usize::try_from(column - 1).unwrap_or(0);
    let (start, end) = (column(span.column_start), column(span.column_end));
    line.chars().skip(start).take(end.saturating_sub(start)).collect()
}

/// The ranges of lines, from 1, in which two texts differ. The lines before and after them are equal.
fn changed_lines(old: &str, new: &str) -> (Range<usize>, Range<usize>) {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let room = old.len().min(new.len()) - before;
    let behind = old.iter().rev().zip(new.iter().rev());
    let behind = behind.take(room).take_while(|(old, new)| old == new).count();
    (before + 1..old.len() - behind + 1, before + 1..new.len() - behind + 1)
}

/// The rendered errors of the compiler, as far as they fit into a message.
fn said(errors: &[DiagnosticArtifact]) -> String {
    const ROOM: usize = 4096;
    let mut said = String::new();
    for (index, error) in errors.iter().enumerate() {
        let text = error.rendered.as_deref().unwrap_or(&error.message).trim_end();
        if index > 0 && said.len() + text.len() > ROOM {
            said.push_str(&format!("\n… and {} more", errors.len() - index));
            break;
        }
        if index > 0 {
            said.push_str("\n\n");
        }
        said.push_str(text);
    }
    if said.len() > 2 * ROOM { text::beginning(&said) } else { said }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Level;

    /// A `mismatched types` error at this word of line 2 of the text.
    fn mismatch(text: &str, word: &str, label: &str) -> DiagnosticArtifact {
        let line = text.lines().nth(1).unwrap();
        let column = i64::try_from(line.find(word).unwrap()).unwrap() + 1;
        let span = DiagnosticSpan {
            file_name: "a.rs".to_owned(),
            line_start: 2,
            column_start: column,
            line_end: 2,
            column_end: column + i64::try_from(word.len()).unwrap(),
            byte_start: 0,
            byte_end: 0,
            is_primary: true,
            text: vec![line.to_owned()],
            label: Some(label.to_owned()),
            suggested_replacement: None,
            applicability: None,
        };
        DiagnosticArtifact {
            level: Level::Error,
            tool_level: "error".to_owned(),
            message: "mismatched types".to_owned(),
            file_name: "a.rs".to_owned(),
            line_start: 2,
            column_start: Some(column),
            line_end: Some(2),
            column_end: None,
            code: Some("E0308".to_owned()),
            spans: vec![span],
            children: Vec::new(),
            rendered: Some(line.to_owned()),
        }
    }

    #[test]
    fn moved_old_errors_are_not_new() {
        let (old, new) = ("{\nf(\"a\");\n}\n", "{\nlet x = 1; f(\"a\"); g(\"b\"); f(\"a\");\n}\n");
        let was = |word, label| mismatch(old, word, label);
        let is = |word, label| mismatch(new, word, label);
        let left = |gone: Vec<DiagnosticArtifact>, mut found: Vec<DiagnosticArtifact>| {
            leave_out_old("a.rs", old, new, gone, &mut found);
            found
        };
        let (a, b) = ("\"a\"", "\"b\"");
        assert!(left(vec![was(a, "expected `u8`")], vec![is(a, "expected `u8`")]).is_empty());
        // The same message about another text, and another message about the same text.
        let other = is(b, "expected `u8`");
        assert_eq!(left(vec![was(a, "expected `u8`")], vec![other.clone()]), [other]);
        let other = is(a, "expected `u16`");
        assert_eq!(left(vec![was(a, "expected `u8`")], vec![other.clone()]), [other]);
        // Two errors where there was one.
        let two = vec![is(a, "expected `u8`"), is(a, "expected `u8`")];
        assert_eq!(left(vec![was(a, "expected `u8`")], two).len(), 1);
        // An old error elsewhere in the file does not count here.
        let elsewhere = DiagnosticArtifact {
            line_start: 9,
            spans: vec![DiagnosticSpan {
                line_start: 9,
                ..was(a, "expected `u8`").spans.remove(0)
            }],
            ..was(a, "expected `u8`")
        };
        assert_eq!(left(vec![elsewhere], vec![is(a, "expected `u8`")]).len(), 1);
    }

    #[test]
    fn the_changed_lines_are_those_between_equal_ones() {
        for (old, new, expected) in [
            ("a\nb\nc\n", "a\nx\nc\n", (2..3, 2..3)),
            ("a\nb\nc\n", "a\nx\ny\nc\n", (2..3, 2..4)),
            ("a\na\n", "a\na\na\n", (3..3, 3..4)),
            ("a\n", "b\n", (1..2, 1..2)),
        ] {
            assert_eq!(changed_lines(old, new), expected, "{old:?} {new:?}");
        }
    }
}
