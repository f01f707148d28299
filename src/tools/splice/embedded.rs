//! Makes a replacement without `splice`: writes the file atomically, checks the project with cargo, and restores the
//! file if the check finds new errors.

use std::ops::Range;

use serde_json::{Value, json};

use super::SpliceError;
use super::prepare::Prepared;
use super::progress::{Progress, add_effect};
use super::rewrite::{Replacer, RestoreGuard, Rewrite};
use crate::cargo;
use crate::code::Language;
use crate::run::{DiagnosticArtifact, DiagnosticSpan, Stream, text};
use crate::tools::tool::set_field;
use crate::tools::{Context, ToolError};
use crate::workspace::{self, Existing, Written};

/// Makes replacements by writing the files itself.
#[derive(Default)]
pub(super) struct Embedded {
    /// The manifest of the Cargo project of the last change, and cargo's verdict after that change.
    last_verdict: Option<(String, cargo::Verdict)>,
}

/// Checks the Cargo project of the file; `None` if the file is in no project.
fn check(
    rewrite: &Rewrite<'_>,
    progress: &mut Progress,
) -> Result<Option<cargo::Verdict>, ToolError> {
    // cargo's stderr is streamed, but not its stdout, which has the diagnostics of unrelated code.
    let stderr_only = |stream, chunk: &str| {
        if stream == Stream::Stderr {
            (rewrite.context.output)(stream, chunk);
        }
    };
    let context = Context { output: &stderr_only, ..*rewrite.context };
    match rewrite.toolbox.cargo(&context).check_workspace(rewrite.prepared.target.key())? {
        None => Ok(None),
        Some(gate) => {
            progress.add_process("cargo check", &gate.finished);
            Ok(Some(gate.verdict?))
        }
    }
}

fn write(rewrite: &Rewrite<'_>, progress: &mut Progress) -> Result<(), ToolError> {
    let (key, text) = (rewrite.prepared.target.key(), &rewrite.prepared.replaced.text);
    let context = rewrite.context.write();
    let written = workspace::write(rewrite.toolbox, key, text, Existing::Replace, &context)?;
    let Written { not_flushed, lost, .. } = written;
    progress.warnings.extend(lost.into_iter().map(|lost| format!("{key}: {lost}")));
    match not_flushed {
        None => Ok(()),
        // The file is in place but not flushed. The change of a step that succeeds must be durable, so the file is
        // restored.
        Some(not_flushed) => Err(rewrite.restore_after(not_flushed.into(), progress)),
    }
}

impl Embedded {
    /// Makes the change, with a check before and one after.
    fn replace_checked(
        &mut self,
        rewrite: &Rewrite<'_>,
        project: Option<String>,
        progress: &mut Progress,
    ) -> Result<(), ToolError> {
        let prepared = rewrite.prepared;
        let before = match (self.last_verdict.take(), &project) {
            (Some((checked, verdict)), Some(project)) if checked == *project => Some(verdict),
            _ => check(rewrite, progress)?,
        };
        write(rewrite, progress)?;
        let Some(before) = before else { return Ok(()) };
        let guard = RestoreGuard::new(rewrite);
        let after = check(rewrite, progress);
        guard.disarm();
        let key = prepared.target.key();
        let verdict = after.and_then(|after| {
            let after = after.unwrap_or_default();
            progress.cargo_checks.push(checks_json(prepared, &before, &after));
            progress.warn(before.hidden_errors_warning(), key);
            let mut new = cargo::new_errors(&before.errors, after.errors.clone());
            let removed = cargo::new_errors(&after.errors, before.errors.clone());
            let replaced = &prepared.replaced.text;
            drop_known_errors(key, prepared.target.text()?, replaced, removed, &mut new);
            if new.is_empty() {
                return Ok(after);
            }
            let path = key.to_owned();
            let mut rendered = rendered_errors(&new);
            if let Some(hides) = before.hidden_errors_warning() {
                rendered.push_str("\n\n");
                rendered.push_str(&hides);
            }
            if !before.not_reached.is_empty() {
                rendered.push_str("\n\nBefore the change, cargo did not reach ");
                rendered.push_str(&text::beginning(&before.not_reached.join(", ")));
            }
            let error = SpliceError::NewErrors { path, errors: new.len(), rendered };
            progress.diagnostics.extend(new);
            Err(error.into())
        });
        match verdict {
            Ok(after) => {
                self.last_verdict = project.map(|project| (project, after));
                Ok(())
            }
            Err(error) => Err(rewrite.restore_after(error, progress)),
        }
    }
}

impl Replacer for Embedded {
    fn replace(&mut self, rewrite: &Rewrite<'_>, progress: &mut Progress) -> Result<(), ToolError> {
        // cargo does not compile this file, so the last verdict stays valid.
        if rewrite.prepared.language != Language::Rust {
            return write(rewrite, progress);
        }
        let key = rewrite.prepared.target.key();
        let project = rewrite.toolbox.now().cargo_manifest_for(key)?;
        let locks = cargo::LockFiles::around(rewrite.toolbox, project.as_deref())?;
        let result = self.replace_checked(rewrite, project, progress);
        let (changed, warnings) = locks.changed(rewrite.toolbox);
        for effect in changed {
            add_effect(&mut progress.side_effects, effect);
        }
        progress.warnings.extend(warnings);
        result
    }
}

/// The results of both checks, as the result of the step lists them.
fn checks_json(prepared: &Prepared<'_>, before: &cargo::Verdict, after: &cargo::Verdict) -> Value {
    let mut checks = json!({
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
        set_field(&mut checks, name, targets.as_slice());
    }
    checks
}

/// Removes from `new` the errors that were already in the replaced lines: the compiler renders them differently because
/// the lines changed, but they are not new. Each error in `removed`, which only the check before reported, accounts
/// for at most one error in `new`.
fn drop_known_errors(
    key: &str,
    old_text: &str,
    new_text: &str,
    mut removed: Vec<DiagnosticArtifact>,
    new: &mut Vec<DiagnosticArtifact>,
) {
    let (old_lines, new_lines) = changed_lines(old_text, new_text);
    let is_in = |error: &DiagnosticArtifact, lines: &Range<usize>| {
        let is_in_lines = |file: &str, line: i64| {
            file == key && usize::try_from(line).is_ok_and(|line| lines.contains(&line))
        };
        is_in_lines(&error.file_name, error.line_start)
            || error.spans.iter().any(|span| is_in_lines(&span.file_name, span.line_start))
    };
    removed.retain(|error| is_in(error, &old_lines));
    new.retain(|error| {
        let same = |old: &DiagnosticArtifact| is_same(old, error);
        match removed.iter().position(same).filter(|_| is_in(error, &new_lines)) {
            Some(index) => {
                removed.remove(index);
                false
            }
            None => true,
        }
    });
}

/// Whether two errors have the same message about the same text, whatever their lines.
fn is_same(one: &DiagnosticArtifact, other: &DiagnosticArtifact) -> bool {
    let span_key = |span: &DiagnosticSpan| {
        let text = span.is_primary.then(|| marked_text(span));
        (span.file_name.clone(), span.label.as_deref().map(cargo::without_positions), text)
    };
    let error_key = |error: &DiagnosticArtifact| {
        (error.code.clone(), cargo::without_positions(&error.message), error.file_name.clone())
    };
    error_key(one) == error_key(other)
        && one.spans.len() == other.spans.len()
        && one.spans.iter().map(span_key).eq(other.spans.iter().map(span_key))
}

/// The text that a span marks. For a span of several lines this is the text of the complete lines, trimmed.
fn marked_text(span: &DiagnosticSpan) -> String {
    let lines: Vec<&str> = span.text.iter().map(|line| line.trim()).collect();
    let [line] = span.text.as_slice() else { return lines.join("\n") };
    let column = |column: i64| usize::try_from(column - 1).unwrap_or(0);
    let (start, end) = (column(span.column_start), column(span.column_end));
    line.chars().skip(start).take(end.saturating_sub(start)).collect()
}

/// The ranges of lines, from 1, in which two texts differ. The lines before and after the ranges are equal.
fn changed_lines(old: &str, new: &str) -> (Range<usize>, Range<usize>) {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let max_after = old.len().min(new.len()) - before;
    let after = old.iter().rev().zip(new.iter().rev());
    let after = after.take(max_after).take_while(|(old, new)| old == new).count();
    (before + 1..old.len() - after + 1, before + 1..new.len() - after + 1)
}

/// The rendered errors of the compiler that fit into a message, and the number of the others.
fn rendered_errors(errors: &[DiagnosticArtifact]) -> String {
    const MAX_BYTES: usize = 4096;
    let mut all = String::new();
    for (index, error) in errors.iter().enumerate() {
        let text = error.rendered.as_deref().unwrap_or(&error.message).trim_end();
        if index > 0 && all.len() + text.len() > MAX_BYTES {
            all.push_str(&format!("\n… and {} more", errors.len() - index));
            break;
        }
        if index > 0 {
            all.push_str("\n\n");
        }
        all.push_str(text);
    }
    if all.len() > 2 * MAX_BYTES { text::beginning(&all) } else { all }
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
        let before = |word, label| mismatch(old, word, label);
        let after = |word, label| mismatch(new, word, label);
        let new_errors = |removed: Vec<DiagnosticArtifact>, mut found: Vec<DiagnosticArtifact>| {
            drop_known_errors("a.rs", old, new, removed, &mut found);
            found
        };
        let (a, b) = ("\"a\"", "\"b\"");
        assert!(
            new_errors(vec![before(a, "expected `u8`")], vec![after(a, "expected `u8`")])
                .is_empty()
        );
        // The same message about another text, and another message about the same text.
        let other = after(b, "expected `u8`");
        assert_eq!(new_errors(vec![before(a, "expected `u8`")], vec![other.clone()]), [other]);
        let other = after(a, "expected `u16`");
        assert_eq!(new_errors(vec![before(a, "expected `u8`")], vec![other.clone()]), [other]);
        // Two errors where there was one.
        let two = vec![after(a, "expected `u8`"), after(a, "expected `u8`")];
        assert_eq!(new_errors(vec![before(a, "expected `u8`")], two).len(), 1);
        // An old error elsewhere in the file does not count here.
        let elsewhere = DiagnosticArtifact {
            line_start: 9,
            spans: vec![DiagnosticSpan {
                line_start: 9,
                ..before(a, "expected `u8`").spans.remove(0)
            }],
            ..before(a, "expected `u8`")
        };
        assert_eq!(new_errors(vec![elsewhere], vec![after(a, "expected `u8`")]).len(), 1);
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
