//! The hands: the one room that touches the workspace (SPEC §4).
//!
//! The engine calls [`Toolbox`]; nobody else does. Every path goes through an open folder handle, so
//! that no `..` and no link leads outside. Absent on purpose: who approved what, in which order steps
//! run, and the evidence; callers hand in what was approved and take away what happened.

mod error;
mod facts;
mod overlay;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use crate::authorization::FileState;
use crate::plan::ToolCall;
use crate::run::{DiagnosticArtifact, Edge, FileEffect, Preview, Stream};

pub use error::{Access, ToolError};
pub use facts::Kind;
pub use overlay::Overlay;

/// The tools of one workspace.
pub struct Toolbox {
    workspace: PathBuf,
}

/// What a call may look at besides its arguments.
pub struct Context<'a> {
    /// What each input file must still be just before the effect, by canonical path. A mutating call
    /// whose target is not in it is refused as stale.
    pub expected: &'a BTreeMap<String, FileState>,
    /// Set when a person asked to stop now.
    pub stop: &'a AtomicBool,
    /// Takes output as it comes.
    pub output: &'a dyn Fn(Stream, &str),
}

/// What a call did.
#[derive(Debug, Default)]
pub struct Invocation {
    /// The whole stdout; none where the tool has none (SPEC §4).
    pub stdout: Option<Vec<u8>>,
    /// The whole stderr.
    pub stderr: Option<Vec<u8>>,
    /// The exit code, where a process ran.
    pub exit_code: Option<i32>,
    /// The return value; null when the call failed before there was one.
    pub result: serde_json::Value,
    /// What really happened to files; may be non-empty beside an error.
    pub files: Vec<FileEffect>,
    /// Diagnostics of the tool.
    pub diagnostics: Vec<DiagnosticArtifact>,
    /// What the call touched.
    pub edges: Vec<Edge>,
    /// Why it failed; `None` when it succeeded.
    pub error: Option<ToolError>,
}

impl Toolbox {
    /// Opens the workspace and the roots that the person added.
    ///
    /// # Errors
    /// A folder that cannot be opened.
    pub fn open(workspace: &Path, _extra_roots: &[PathBuf]) -> Result<Self, ToolError> {
        Ok(Self { workspace: workspace.to_owned() })
    }

    /// The workspace folder, absolute and without links.
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// The files that a mutating call takes as input, by canonical path: relative to the workspace
    /// with `/`, absolute in another root. Empty for calls that only read (SPEC §2).
    ///
    /// # Errors
    /// A path that cannot be used, leads outside, is no file, or cannot be read.
    pub fn inputs(&self, _call: &ToolCall) -> Result<BTreeMap<String, FileState>, ToolError> {
        Ok(BTreeMap::new())
    }

    /// The state of the file with this canonical path, now.
    ///
    /// # Errors
    /// As [`Self::inputs`].
    pub fn state_of(&self, _key: &str) -> Result<FileState, ToolError> {
        Ok(FileState::Absent)
    }

    /// What the call would do to files now; empty for calls that only read.
    ///
    /// # Errors
    /// What [`Self::invoke`] would fail with, as far as it can be seen without an effect.
    pub fn effects(&self, _call: &ToolCall) -> Result<Vec<FileEffect>, ToolError> {
        Ok(Vec::new())
    }

    /// What the call would do after the earlier steps in `overlay`, for a person. Touches and
    /// executes nothing. A call that would fail has a preview that says so.
    ///
    /// # Errors
    /// A path or pattern that cannot be used, or leads outside.
    pub fn preview(&self, call: &ToolCall, _overlay: &Overlay) -> Result<Preview, ToolError> {
        Err(ToolError::NotAvailable { tool: call.tool() })
    }

    /// Does it. Never panics; what went wrong is in the answer.
    pub fn invoke(&self, call: &ToolCall, _context: &Context<'_>) -> Invocation {
        Invocation {
            error: Some(ToolError::NotAvailable { tool: call.tool() }),
            ..Invocation::default()
        }
    }
}
