//! Writes a replacement to its file, and restores the file after a replacement that was refused (SPEC §4).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::SpliceError;
use super::prepare::Prepared;
use super::progress::{Progress, add_effect};
use crate::authorization::FileState;
use crate::run::{FileEffect, Modes, StopSignal};
use crate::tools::{Context, ToolError, Toolbox};
use crate::workspace::{
    Access, ContentAndMode, Existing, Last, WorkspaceError, WriteContext, Written, file, write,
};

/// Writes a prepared replacement to its file: directly, or with the program `splice`.
pub(super) trait Replacer {
    /// Makes the change. After an error the file is as before, unless the error reports that it could not be
    /// restored.
    ///
    /// # Errors
    /// The change was refused or stopped, or could not be made.
    fn replace(&mut self, rewrite: &Rewrite<'_>, progress: &mut Progress) -> Result<(), ToolError>;
}

/// The program that wrote the replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writer {
    /// Countersign itself. If the file has any other content than Countersign wrote, somebody else has changed it, and
    /// it is not restored.
    Countersign,
    /// The program `splice`, which may have left any content. The file is always restored.
    Splice,
}

/// The outcome of restoring a file.
struct Restored {
    /// The content that was overwritten, if it was neither the old nor the new one.
    overwritten: Option<Arc<[u8]>>,
    /// Set if the file is restored, but may not survive a power failure.
    not_flushed: Option<WorkspaceError>,
}

/// The writing of a replacement to its file.
#[derive(Clone, Copy)]
pub(super) struct Rewrite<'a> {
    pub(super) toolbox: &'a Toolbox,
    pub(super) prepared: &'a Prepared<'a>,
    pub(super) context: &'a Context<'a>,
    pub(super) writer: Writer,
}

impl Rewrite<'_> {
    /// Restores the file because of `error`, also after a stop. Returns the error of the step: `error`, or if the file
    /// could not be restored, an error that reports both.
    pub(super) fn restore_after(&self, error: ToolError, progress: &mut Progress) -> ToolError {
        let path = self.prepared.target.key().to_owned();
        match self.restore() {
            Ok(Restored { overwritten, not_flushed }) => {
                let overwritten = overwritten.map(|bytes| content_json(&path, &bytes));
                progress.replaced_when_put_back.extend(overwritten);
                progress.warnings.extend(not_flushed.map(|source| {
                    format!("{path} was put back, and may not survive a power cut: {source}")
                }));
                error
            }
            Err(source) => {
                if let Ok((now, mode)) = content(self.toolbox, &path) {
                    // The change remains, so the evidence records it.
                    let after = file::state_of_bytes(now.as_deref());
                    let effect = self.prepared.effect();
                    let modes = Modes { after: mode, ..effect.modes };
                    let effect = FileEffect { after, after_bytes: now, modes, ..effect };
                    add_effect(&mut progress.effects, effect);
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

    /// Writes the old content to the file, unless the file already has it.
    ///
    /// # Errors
    /// Somebody else has changed the file, or it cannot be written.
    fn restore(&self) -> Result<Restored, ToolError> {
        let Self { toolbox, prepared, context, writer } = *self;
        let path = prepared.target.key();
        let (found, _) = content(toolbox, path)?;
        let now = file::state_of_bytes(found.as_deref());
        if now == prepared.target.state() {
            return Ok(Restored { overwritten: None, not_flushed: None });
        }
        let written = prepared.effect().after;
        if writer == Writer::Countersign && now != written {
            let (path, approved) = (path.to_owned(), Some(written));
            return Err(WorkspaceError::Stale { path, approved, now }.into());
        }
        let expected = BTreeMap::from([(path.to_owned(), now)]);
        let never = StopSignal::default();
        let context = WriteContext { expected: &expected, stop: &never, ..context.write() };
        let text = prepared.target.text()?;
        let Written { not_flushed, .. } = write(toolbox, path, text, Existing::Replace, &context)?;
        Ok(Restored { overwritten: found.filter(|_| now != written), not_flushed })
    }
}

/// Restores the file if it is dropped before [`Self::disarm`], so that a panic leaves no unchecked change.
pub(super) struct RestoreGuard<'a>(Option<&'a Rewrite<'a>>);

impl<'a> RestoreGuard<'a> {
    /// Must be called after the replacement was written to the file.
    pub(super) fn new(rewrite: &'a Rewrite<'a>) -> Self {
        Self(Some(rewrite))
    }

    /// Leaves the file to the caller.
    pub(super) fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for RestoreGuard<'_> {
    fn drop(&mut self) {
        if let Some(rewrite) = self.0 {
            // During a panic there is no caller to report to; the recorded intent names the files to check.
            let _ = rewrite.restore();
        }
    }
}

/// The content and the mode of the file; the content is `None` if the file does not exist.
fn content(toolbox: &Toolbox, path: &str) -> Result<ContentAndMode, WorkspaceError> {
    let place = toolbox.resolve(path, Last::Follow)?;
    toolbox.unchanged().content_and_mode(&place, path, Access::Write)
}

/// A content for the result: as text, or as hexadecimal digits if it is not UTF-8.
fn content_json(path: &str, bytes: &[u8]) -> Value {
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
