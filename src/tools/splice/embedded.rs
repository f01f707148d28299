//! Makes a change with our own hands: written in one step, checked by cargo, put back when it breaks
//! something.

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

    /// The errors of the Cargo project around a file; none where cargo has nothing to do with it.
    fn errors(
        &self,
        prepared: &Prepared<'_>,
        context: &Context<'_>,
    ) -> Result<Option<Vec<DiagnosticArtifact>>, ToolError> {
        if prepared.language != Language::Rust {
            return Ok(None);
        }
        // What the compiler has to say of other code than this step's is no output of this step.
        let progress = |stream, chunk: &str| {
            if stream == Stream::Stderr {
                (context.output)(stream, chunk);
            }
        };
        cargo::errors(self.toolbox, &prepared.path, &Context { output: &progress, ..*context })
    }
}

impl Hand for Embedded<'_> {
    fn make(
        &mut self,
        prepared: &Prepared<'_>,
        context: &Context<'_>,
        done: &mut Done,
    ) -> Result<(), ToolError> {
        let project = self.toolbox.cargo_manifest_for(&prepared.path)?;
        let before = match (self.known.take(), &project) {
            (Some((known, errors)), Some(project)) if known == *project => Some(errors),
            _ => self.errors(prepared, context)?,
        };
        write::replace(&self.toolbox.roots, &prepared.path, &prepared.replaced.text, context)?;
        let Some(before) = before else { return Ok(()) };
        let verdict = self.errors(prepared, context).and_then(|after| {
            let after = after.unwrap_or_default();
            done.checked.push(json!({
                "file": prepared.target.key(),
                "errors_before": before.len(),
                "errors_after": after.len(),
            }));
            let new = cargo::new_errors(&before, after.clone());
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
