//! Makes a change with our own hands: written in one step, checked by cargo, put back when it breaks
//! something.

use std::ops::Range;

use serde_json::json;

use crate::code::Language;
use crate::run::{DiagnosticArtifact, Stream};

use super::super::{Context, ToolError, Toolbox, cargo, words, write};
use super::prepare::Prepared;
use super::{Done, Hand, SpliceError, put_back};

/// Writes files itself.
pub(super) struct Embedded<'a> {
    toolbox: &'a Toolbox,
    /// The Cargo project that was changed last, and the errors in it since.
    known: Option<(String, Vec<DiagnosticArtifact>)>,
}

impl<'a> Embedded<'a> {
    pub(super) fn new(toolbox: &'a Toolbox) -> Self {
        Self { toolbox, known: None }
    }

    /// The errors of the Cargo project around a file; none where there is no project.
    fn errors(
        &self,
        prepared: &Prepared<'_>,
        context: &Context<'_>,
    ) -> Result<Option<Vec<DiagnosticArtifact>>, ToolError> {
        // What the compiler has to say of other code than this step's is no output of this step.
        let progress = |stream, chunk: &str| {
            if stream == Stream::Stderr {
                (context.output)(stream, chunk);
            }
        };
        cargo::errors(
            self.toolbox,
            prepared.target.key(),
            &Context { output: &progress, ..*context },
        )
    }
}

impl Hand for Embedded<'_> {
    fn make(
        &mut self,
        prepared: &Prepared<'_>,
        context: &Context<'_>,
        done: &mut Done,
    ) -> Result<(), ToolError> {
        let write = |done: &mut Done| {
            let (key, text) = (prepared.target.key(), &prepared.replaced.text);
            // Also an error may come after the content was put in place.
            write::replace(&self.toolbox.roots, key, text, context)
                .map_err(|error| put_back(self.toolbox, prepared, context, done, error))
        };
        // Cargo has nothing to do with it, and what is known of a project stays known.
        if prepared.language != Language::Rust {
            return write(done);
        }
        let project = self.toolbox.cargo_manifest_for(prepared.target.key())?;
        let before = match (self.known.take(), &project) {
            (Some((known, errors)), Some(project)) if known == *project => Some(errors),
            _ => self.errors(prepared, context)?,
        };
        write(done)?;
        let Some(before) = before else { return Ok(()) };
        let verdict = self.errors(prepared, context).and_then(|after| {
            let after = after.unwrap_or_default();
            done.checked.push(json!({
                "file": prepared.target.key(),
                "errors_before": before.len(),
                "errors_after": after.len(),
            }));
            let mut new = cargo::new_errors(&before, after.clone());
            let gone = cargo::new_errors(&after, before.clone());
            leave_out_old(prepared, gone, &mut new);
            if new.is_empty() {
                return Ok(after);
            }
            let path = prepared.target.key().to_owned();
            let error = SpliceError::NewErrors { path, errors: new.len(), said: said(&new) };
            done.diagnostics.extend(new);
            Err(error.into())
        });
        match verdict {
            Ok(after) => {
                self.known = project.map(|project| (project, after));
                Ok(())
            }
            Err(error) => Err(put_back(self.toolbox, prepared, context, done, error)),
        }
    }
}

/// Leaves out the errors that stood in the replaced lines before and stand there again: what the compiler
/// shows of them has changed with the lines, and they have not.
fn leave_out_old(
    prepared: &Prepared<'_>,
    mut gone: Vec<DiagnosticArtifact>,
    new: &mut Vec<DiagnosticArtifact>,
) {
    let Ok(old_text) = prepared.target.text() else { return };
    let (old_lines, new_lines) = changed_lines(old_text, &prepared.replaced.text);
    let is_in = |error: &DiagnosticArtifact, lines: &Range<usize>| {
        error.file_name == prepared.target.key()
            && usize::try_from(error.line_start).is_ok_and(|line| lines.contains(&line))
    };
    gone.retain(|error| is_in(error, &old_lines));
    new.retain(|error| {
        let same =
            |old: &DiagnosticArtifact| old.code == error.code && old.message == error.message;
        match gone.iter().position(same).filter(|_| is_in(error, &new_lines)) {
            Some(index) => {
                gone.remove(index);
                false
            }
            None => true,
        }
    });
}

/// The lines, from 1, in which two texts differ; the same number of lines before and after them is equal.
fn changed_lines(old: &str, new: &str) -> (Range<usize>, Range<usize>) {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let room = old.len().min(new.len()) - before;
    let behind = old.iter().rev().zip(new.iter().rev());
    let behind = behind.take(room).take_while(|(old, new)| old == new).count();
    (before + 1..old.len() - behind + 1, before + 1..new.len() - behind + 1)
}

/// The compiler's own words about the errors, as far as a message has room for them.
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
    if said.len() > 2 * ROOM { words::beginning(&said) } else { said }
}

#[cfg(test)]
mod tests {
    use super::*;

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
