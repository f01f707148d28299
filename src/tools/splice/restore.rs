//! Puts a file back as it was (SPEC §4), and never over what somebody else has written since.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::authorization::FileState;
use crate::run::{FileEffect, Modes, StopSignal};
use crate::tools::{Context, ToolError, Toolbox};
use crate::workspace::{Access, ContentAndMode, Last, WorkspaceError, WriteContext, file, replace};

use super::done::{Done, add};
use super::error::SpliceError;
use super::prepare::Prepared;

/// Who has written the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writer {
    /// We: it holds what we wrote, or somebody else has changed it.
    Ourselves,
    /// Another program, which may have left anything in it.
    Program,
}

/// What was done to put a file back.
struct Restored {
    /// What it held until then, where that is neither what it was nor what it was to be.
    instead_of: Option<Arc<[u8]>>,
    /// It is back, and may not survive a power cut.
    not_flushed: Option<WorkspaceError>,
}

/// Puts a file back as it was, because of `error`, and gives the error that the step has then. A person
/// who asked to stop asked for that, too.
pub(super) fn put_back(
    toolbox: &Toolbox,
    prepared: &Prepared<'_>,
    context: &Context<'_>,
    writer: Writer,
    done: &mut Done,
    error: ToolError,
) -> ToolError {
    let path = prepared.target.key().to_owned();
    match restore(toolbox, prepared, context, writer) {
        Ok(Restored { instead_of, not_flushed }) => {
            done.replaced_when_put_back.extend(instead_of.map(|bytes| kept(&path, &bytes)));
            done.warnings.extend(not_flushed.map(|source| {
                format!("{path} was put back, and may not survive a power cut: {source}")
            }));
            error
        }
        Err(source) => {
            if let Ok((now, mode)) = content(toolbox, &path) {
                // It is changed and stays so; the evidence has to know.
                let after = file::state_of_bytes(now.as_deref());
                let effect = prepared.effect();
                let modes = Modes { after: mode, ..effect.modes };
                add(&mut done.effects, FileEffect { after, after_bytes: now, modes, ..effect });
            }
            let why = error.to_string();
            match source.get() {
                Some(&WorkspaceError::Stale { now, .. }) => {
                    SpliceError::ChangedMeanwhile { path, now, why }
                }
                _ => SpliceError::NotPutBack { path, why, source: Box::new(source) },
            }
            .into()
        }
    }
}

/// Puts the file back when this is dropped before it is kept: a panic on the way leaves nothing half done.
pub(super) struct Unfinished<'a> {
    toolbox: &'a Toolbox,
    prepared: &'a Prepared<'a>,
    context: &'a Context<'a>,
    is_over: bool,
}

impl<'a> Unfinished<'a> {
    /// From the moment that the file holds the replacement.
    pub(super) fn new(
        toolbox: &'a Toolbox,
        prepared: &'a Prepared<'a>,
        context: &'a Context<'a>,
    ) -> Self {
        Self { toolbox, prepared, context, is_over: false }
    }

    /// Until it is known what becomes of it.
    pub(super) fn over(mut self) {
        self.is_over = true;
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            // Nobody is left who could be told; the intent in the evidence says what to look at.
            let _ = restore(self.toolbox, self.prepared, self.context, Writer::Ourselves);
        }
    }
}

fn restore(
    toolbox: &Toolbox,
    prepared: &Prepared<'_>,
    context: &Context<'_>,
    writer: Writer,
) -> Result<Restored, ToolError> {
    let path = prepared.target.key();
    let (found, _) = content(toolbox, path)?;
    let now = file::state_of_bytes(found.as_deref());
    if now == prepared.target.state() {
        return Ok(Restored { instead_of: None, not_flushed: None });
    }
    let made = prepared.effect().after;
    if writer == Writer::Ourselves && now != made {
        let (path, approved) = (path.to_owned(), Some(made));
        return Err(WorkspaceError::Stale { path, approved, now }.into());
    }
    let expected = BTreeMap::from([(path.to_owned(), now)]);
    let on = StopSignal::default();
    let context = WriteContext { expected: &expected, stop: &on, ..context.write() };
    let (not_flushed, _) = replace(toolbox, path, prepared.target.text()?, &context)?;
    Ok(Restored { instead_of: found.filter(|_| now != made), not_flushed })
}

/// What the file holds; none when it is gone.
fn content(toolbox: &Toolbox, path: &str) -> Result<ContentAndMode, WorkspaceError> {
    let place = toolbox.resolve(path, Last::Follow)?;
    toolbox.unchanged().content_and_mode(&place, path, Access::Write)
}

/// A content for the result: as text, or where it is none, as hexadecimal digits.
fn kept(path: &str, bytes: &[u8]) -> Value {
    let state = match file::state_of_bytes(Some(bytes)) {
        FileState::Content(digest) => digest.to_string(),
        FileState::Absent => String::new(),
    };
    match std::str::from_utf8(bytes) {
        Ok(text) => json!({ "path": path, "digest": state, "content": text }),
        Err(_) => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            json!({ "path": path, "digest": state, "content_hex": hex })
        }
    }
}
