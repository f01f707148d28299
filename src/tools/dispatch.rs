//! Maps a call of the whitelist to its tool. No other module depends on all tools.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::tool::{NamedPaths, Tool};
use super::{
    CallResult, Context, ProjectedToolbox, ToolError, Toolbox, batch, code_queries, edges,
    file_read, file_write, history, inspect, lsp_check, program, search, shell, simulate, splice,
};
use crate::authorization::FileState;
use crate::plan::{PathRole, ToolCall, ToolClass};
use crate::run::{FileEffect, Preview, StopSignal};
use crate::workspace::{Access, Last, Overlay, file};

/// The tool of a call.
fn tool<'a>(call: &'a ToolCall) -> Box<dyn Tool + 'a> {
    use crate::workspace::Existing::{Refuse, Replace};
    match call {
        ToolCall::FileRead { path } => Box::new(file_read::FileRead { path }),
        ToolCall::FileWrite { path, contents } => {
            Box::new(file_write::FileWrite { path, contents, existing: Replace })
        }
        ToolCall::FileCreate { path, contents } => {
            Box::new(file_write::FileWrite { path, contents, existing: Refuse })
        }
        ToolCall::FileSearch { pattern, root } => Box::new(search::FileSearch { pattern, root }),
        ToolCall::FileGlob { pattern, root } => Box::new(search::FileGlob { pattern, root }),
        ToolCall::LspCheck { path } => Box::new(lsp_check::LspCheck { path }),
        ToolCall::Shell { command, target, cwd, timeout_seconds, inputs } => {
            Box::new(shell::Command {
                command,
                inputs,
                target: target.as_deref(),
                cwd: cwd.as_deref(),
                timeout_seconds: *timeout_seconds,
            })
        }
        ToolCall::SplicePatch { .. } | ToolCall::SplicePlan { .. } => {
            Box::new(splice::Splice { call })
        }
        ToolCall::SymbolsInFile { file_path } => {
            Box::new(code_queries::SymbolsInFile { path: file_path })
        }
        ToolCall::ReferencesToSymbolName { symbol } => {
            Box::new(code_queries::References { symbol, path: None })
        }
        ToolCall::ReferencesFromFileToSymbolName { file_path, symbol } => {
            Box::new(code_queries::References { symbol, path: Some(file_path) })
        }
        ToolCall::Verify { .. } | ToolCall::Compile { .. } | ToolCall::Run { .. } => {
            Box::new(program::Program { call })
        }
        ToolCall::MutateBatch(batch) => Box::new(batch::Batch(batch)),
        ToolCall::Inspect { query, max_results } => {
            Box::new(inspect::Inspect { query, max_results: *max_results })
        }
        ToolCall::History { operation, limit } => {
            Box::new(history::HistoryCall { operation, limit: *limit })
        }
        ToolCall::Simulate(simulation) => Box::new(simulate::Simulate(simulation)),
    }
}

impl Toolbox {
    /// The preview of the call after the earlier steps in `overlay`. Changes and executes nothing. A call
    /// that would fail has a preview that reports the failure.
    ///
    /// # Errors
    /// A fault of the plan itself, such as a path that leads outside or an invalid pattern; a stop.
    pub fn preview(&self, call: &ToolCall, overlay: &Overlay) -> Result<Preview, ToolError> {
        Ok(self.after(overlay).preview_with_effects(call)?.0)
    }

    /// The preview of the call in the present workspace, and its exact file changes. Both are computed from
    /// the same reads of the files, so they agree. A call that only reads or would fail has no changes.
    ///
    /// # Errors
    /// As [`Self::preview`].
    pub fn preview_with_effects(
        &self,
        call: &ToolCall,
        stop: &StopSignal,
    ) -> Result<(Preview, Vec<FileEffect>), ToolError> {
        self.now().until(stop).preview_with_effects(call)
    }

    /// Adds the changes of `call` to `overlay`. A call that would fail adds nothing, or for a splice plan
    /// the changes before the failure.
    ///
    /// # Errors
    /// A fault of the plan itself, such as a path that leads outside or an invalid pattern.
    pub fn project(&self, call: &ToolCall, overlay: &mut Overlay) -> Result<(), ToolError> {
        overlay.edited |=
            call.class() != ToolClass::Read && !matches!(call, ToolCall::History { .. });
        match tool(call).project(self, overlay) {
            Err(error) if error.is_about_the_plan() => Err(error),
            _ => Ok(()),
        }
    }

    /// The states of the files on which the effect of a call depends, by canonical path: relative to the
    /// workspace with `/`, absolute in another root. Empty for calls that only read (SPEC §2).
    ///
    /// # Errors
    /// As [`ProjectedToolbox::input_keys`]; also a path that is no file or cannot be read.
    pub fn inputs(&self, call: &ToolCall) -> Result<BTreeMap<String, FileState>, ToolError> {
        let state = |path: String| {
            let place = self.resolve(&path, Last::Follow)?;
            let file = place.open(&path, Access::Read)?.map(|(file, _)| file);
            Ok((place.key, file::state(file, &path)?))
        };
        self.now().input_paths(call)?.into_iter().map(state).collect()
    }

    /// The local working directory of a call.
    pub fn working_directory(&self, call: &ToolCall) -> PathBuf {
        let named = match call {
            ToolCall::Shell { cwd: Some(cwd), target: None, .. } => cwd,
            _ => return self.workspace().to_owned(),
        };
        // A call with a path that cannot be used fails when it runs. Until then the path is shown as written.
        let found = self.resolve(named, Last::Follow);
        found.map_or_else(|_| named.into(), |place| place.root.path.join(place.relative))
    }

    /// Executes the call. The result has the error of a call that fails, and the effects that took place before it.
    pub fn invoke(&self, call: &ToolCall, context: &Context<'_>) -> CallResult {
        let tool = tool(call);
        let failed = |error| CallResult { error: Some(error), ..CallResult::default() };
        let mut call_result = tool.invoke(self, context).unwrap_or_else(failed);
        edges::add_missing(self, call, &*tool, &mut call_result);
        call_result
    }
}

impl ProjectedToolbox<'_> {
    /// The preview of a call and its exact file changes; see [`Toolbox::preview_with_effects`].
    ///
    /// # Errors
    /// As [`Toolbox::preview`].
    pub fn preview_with_effects(
        self,
        call: &ToolCall,
    ) -> Result<(Preview, Vec<FileEffect>), ToolError> {
        let preview = tool(call).preview(self);
        self.toolbox.check_cancelled()?;
        match preview {
            Err(error) if !error.is_about_the_plan() => {
                self.toolbox.note_limit(&*error);
                Ok((Preview::failure(&error, vec![error.next()]), Vec::new()))
            }
            preview => preview,
        }
    }

    /// The files on which the effect of a call depends, as a map from the canonical path to the path as
    /// written. Does not read these files. Empty for calls that only read (SPEC §2).
    ///
    /// # Errors
    /// A path that cannot be used or leads outside; a splice plan or a history that cannot be read.
    pub fn input_keys(self, call: &ToolCall) -> Result<BTreeMap<String, String>, ToolError> {
        let key = |path: String| Ok((self.place(&path)?.key, path));
        self.input_paths(call)?.into_iter().map(key).collect()
    }

    fn input_paths(self, call: &ToolCall) -> Result<Vec<String>, ToolError> {
        let is_input = |(role, _): &(PathRole, String)| role.is_input();
        Ok(self.named_paths(call)?.into_iter().filter(is_input).map(|(_, path)| path).collect())
    }

    /// All paths in the workspace itself that a call uses: those in its arguments, in its splice plan, and in
    /// the recorded history. Paths on the copy of a simulation are left out. Authorization and risk are both
    /// based on this list.
    fn named_paths(self, call: &ToolCall) -> Result<NamedPaths, ToolError> {
        let named = call.paths().into_iter().filter(|named| !named.on_copy);
        let mut named: Vec<_> = named.map(|named| (named.role, named.path.to_owned())).collect();
        named.extend(tool(call).named_paths(self)?);
        Ok(named)
    }

    /// The files that a call would write, by canonical path (SPEC §4, risk of tools).
    ///
    /// # Errors
    /// As [`Self::input_keys`].
    pub fn written_keys(self, call: &ToolCall) -> Result<Vec<String>, ToolError> {
        let key = |path: &String| Ok(self.place(path)?.key);
        self.written_paths(call)?.iter().map(key).collect()
    }

    /// The paths of the files that a call would write, as they are written in the plan, the splice plan or the
    /// history.
    ///
    /// # Errors
    /// A splice plan or a history that cannot be read.
    pub fn written_paths(self, call: &ToolCall) -> Result<Vec<String>, ToolError> {
        let is_written = |(role, _): &(PathRole, String)| role.changes();
        Ok(self.named_paths(call)?.into_iter().filter(is_written).map(|(_, path)| path).collect())
    }
}
