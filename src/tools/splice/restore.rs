//! Restores a file after a replacement that was refused (SPEC §4), and never overwrites content that somebody
//! else has written since.

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

/// The process that wrote the replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writer {
    /// This process. The file has the content that this process wrote, or somebody else has changed it.
    Ourselves,
    /// The program `splice`, which may have left any content.
    Program,
}

/// The outcome of restoring a file.
struct Restored {
    /// The content that was overwritten, if it was neither the old nor the new one.
    instead_of: Option<Arc<[u8]>>,
    /// The file is restored, but may not survive a power cut.
    not_flushed: Option<WorkspaceError>,
}

/// Restores a file because of `error`, and returns the error of the step. Restores it also when a person
/// asked to stop.
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
                // The change remains, so the evidence records it.
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

/// Restores the file when dropped before [`Self::over`], so that a panic leaves no unverified change.
pub(super) struct Unfinished<'a> {
    toolbox: &'a Toolbox,
    prepared: &'a Prepared<'a>,
    context: &'a Context<'a>,
    is_over: bool,
}

impl<'a> Unfinished<'a> {
    /// Must be called only after the replacement was written to the file.
    pub(super) fn new(
        toolbox: &'a Toolbox,
        prepared: &'a Prepared<'a>,
        context: &'a Context<'a>,
    ) -> Self {
        Self { toolbox, prepared, context, is_over: false }
    }

    /// Ends the guard: the caller decides about the file.
    pub(super) fn over(mut self) {
        self.is_over = true;
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            // During a panic there is no caller to report to; the recorded intent names the files to check.
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

/// The content and mode of the file; the content is `None` when the file does not exist.
fn content(toolbox: &Toolbox, path: &str) -> Result<ContentAndMode, WorkspaceError> {
    let place = toolbox.resolve(path, Last::Follow)?;
    toolbox.unchanged().content_and_mode(&place, path, Access::Write)
}

/// A content for the result: text, or hexadecimal digits when it is not UTF-8.
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
