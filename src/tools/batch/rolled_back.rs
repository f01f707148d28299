//! The result of a batch that failed and was rolled back.

use serde_json::{Value, json};

use crate::authorization::FileState;
use crate::run::{FileEffect, Modes};
use crate::tools::ToolError;
use crate::tools::tool::set_field;
use crate::workspace::file::hash;

/// A batch that failed and was rolled back.
#[derive(Debug)]
pub(in super::super) struct RolledBack {
    /// The cause; `BatchError::NotRestored` when files could not be restored.
    pub(in super::super) error: ToolError,
    /// The files that could not be restored; empty when all were.
    pub(in super::super) not_restored: Vec<NotRestored>,
    /// Temporary files and folders that could not be removed, and folders whose restored files may not survive a
    /// power failure.
    pub(in super::super) warnings: Vec<String>,
}

/// A file that could not be restored.
#[derive(Debug)]
pub(in super::super) struct NotRestored {
    /// The change that was intended.
    pub(in super::super) effect: FileEffect,
    /// The present state of the file; `None` when it cannot be read.
    pub(in super::super) now: Option<FileState>,
    /// Why the file could not be restored.
    pub(in super::super) why: String,
    /// The file that has the old content, by canonical path; `None` if the file did not exist before, or if only the
    /// evidence has the content.
    pub(in super::super) original: Option<String>,
}

impl NotRestored {
    /// The present state of the file: `before`, `after`, `other` or `unknown`.
    pub(in super::super) fn state(&self) -> &'static str {
        match self.now {
            None => "unknown",
            Some(now) if now == self.effect.before => "before",
            Some(now) if now == self.effect.after => "after",
            Some(_) => "other",
        }
    }

    /// The file as part of the result of the step.
    pub(in super::super) fn json(&self) -> Value {
        let mut row = json!({ "path": self.effect.path, "state": self.state(), "why": self.why });
        if let Some(now) = self.now {
            set_field(&mut row, "now", hash(now));
        }
        if let Some(original) = &self.original {
            set_field(&mut row, "original_in", original.as_str());
        }
        row
    }
}

impl RolledBack {
    /// The changes that remain on the disk, for the evidence.
    pub(in super::super) fn effects(&self) -> Vec<FileEffect> {
        let changed = self.not_restored.iter().filter(|file| file.now != Some(file.effect.before));
        changed
            .map(|file| {
                let effect = file.effect.clone();
                match file.now {
                    Some(now) if now != effect.after => {
                        let modes = Modes { after: None, ..effect.modes };
                        FileEffect { after: now, after_bytes: None, modes, ..effect }
                    }
                    _ => effect,
                }
            })
            .collect()
    }
}
