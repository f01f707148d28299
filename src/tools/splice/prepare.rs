//! Computes one replacement from the contents of files. Writes no file and starts no process.

use std::sync::Arc;

use crate::code::{CodeError, Language, Patched};
use crate::plan::ToolCall;
use crate::run::{FileEffect, Modes, StopSignal};
use crate::symbols::{CodeEngine, PatchRequest, SourceFile, SymbolsError};
use crate::tools::{ProjectedToolbox, ToolError};
use crate::workspace::{Projected, WorkspaceError, effect};

use super::plan_file::{Patch, PlanFile};

/// A replacement whose result parses.
pub(super) struct Prepared<'a> {
    /// The path of the target, as the plan writes it.
    pub(super) path: String,
    /// The file in which the definition is replaced.
    pub(super) target: SourceFile<'a>,
    /// The file with the replacement.
    pub(super) with: SourceFile<'a>,
    pub(super) language: Language,
    /// The target after the replacement.
    pub(super) replaced: Patched,
}

impl Prepared<'_> {
    /// The change of the file.
    pub(super) fn effect(&self) -> FileEffect {
        effect(
            self.target.key().to_owned(),
            Some(Arc::clone(&self.target.bytes)),
            Some(self.replaced.text.as_bytes().into()),
            Modes::kept(self.target.mode),
        )
    }
}

/// The replacements of a call; empty for a call of another tool.
///
/// # Errors
/// A splice plan that cannot be read or that `check` refuses.
pub(super) fn patches(
    projected: ProjectedToolbox<'_>,
    call: &ToolCall,
    check: impl FnOnce(&str, &PlanFile) -> Result<(), WorkspaceError>,
) -> Result<Vec<Patch>, ToolError> {
    match call {
        ToolCall::SplicePatch { file, symbol, with, kind } => Ok(vec![Patch {
            file: file.clone(),
            symbol: symbol.clone(),
            with: with.clone(),
            kind: kind.clone(),
        }]),
        ToolCall::SplicePlan { plan_file } => {
            let plan = PlanFile::read(*projected, plan_file)?;
            check(plan_file, &plan)?;
            Ok(plan.patches()?)
        }
        _ => Ok(Vec::new()),
    }
}

/// Computes one replacement on the files as earlier replacements would leave them.
///
/// # Errors
/// A file that cannot be used, a symbol that is missing or ambiguous, a result that does not parse, a stop.
pub(super) fn prepare<'a>(
    projected: Projected<'a>,
    patch: &Patch,
    engine: &dyn CodeEngine,
    stop: &StopSignal,
) -> Result<Prepared<'a>, SymbolsError> {
    let target = source(projected, &patch.file, "the file")?;
    let with = source(projected, &patch.with, "the replacement")?;
    let unusable = |reason| SymbolsError::Replacement { path: with.key().to_owned(), reason };
    let replacement = with.text().map_err(|_| unusable("it is not UTF-8 text"))?;
    if replacement.trim().is_empty() {
        return Err(unusable("it is empty"));
    }
    let language = target.language()?;
    let request = PatchRequest { symbol: &patch.symbol, kind: patch.kind.as_deref(), replacement };
    let replaced = engine.replace(language, target.text()?, &request, stop).map_err(|source| {
        let file = if source == CodeError::EmptyReplacement { &with } else { &target };
        SymbolsError::Code { path: file.key().to_owned(), source }
    })?;
    Ok(Prepared { path: patch.file.clone(), target, with, language, replaced })
}

/// Reads a source file; `what` names it in the error for a missing file.
fn source<'a>(
    projected: Projected<'a>,
    path: &str,
    what: &'static str,
) -> Result<SourceFile<'a>, SymbolsError> {
    SourceFile::read(projected, path).map_err(|error| match error {
        SymbolsError::Workspace(WorkspaceError::NotFound { path }) => {
            SymbolsError::Missing { what, path }
        }
        error => error,
    })
}
