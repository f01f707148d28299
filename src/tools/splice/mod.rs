//! `splice_patch` and `splice_plan` (SPEC §4): replace definitions one after the other. The preview shows
//! each replacement. A replacement that `cargo check` or `splice` refuses is rolled back.
//!
//! [`prepare`] computes the replacements from the files alone; the chosen engine, [`embedded`] or
//! [`program`], makes them.
//!
//! The embedded engine restores a file only if the file has the content that the step wrote; content that another
//! program wrote meanwhile stays, and the step reports it. `splice` may leave any content in a file. Unexpected
//! content is kept in the result, and then the file is restored. During a panic the embedded engine restores the
//! file too. After a crash the outcome of the check is unknown, and *Reconcile* reports that. cargo's lock file is
//! not among the predicted effects: its changes are in `CallResult::side_effects`.

mod embedded;
mod error;
mod plan_file;
mod prepare;
mod preview;
mod program;
mod progress;
mod rewrite;

use serde_json::{Value, json};

use super::changes::changed_files;
use super::tool::{NamedPaths, PreviewWithEffects, Tool};
use super::{CallResult, Context, ProjectedToolbox, ToolError, Toolbox};
use crate::plan::{PathRole, ToolCall};
use crate::run::{EdgeType, StopSignal, TargetKind};
use crate::symbols::{SymbolsError, Work};
use crate::workspace::{Overlay, check_cancelled, check_state};

use plan_file::PlanFile;
use prepare::{patches, prepare};
use progress::Progress;
use rewrite::{Replacer, Rewrite, Writer};

pub use error::SpliceError;
pub(super) use program::names_beside;

/// `splice_patch` or `splice_plan`.
pub(super) struct Splice<'a> {
    pub(super) call: &'a ToolCall,
}

impl Tool for Splice<'_> {
    fn preview(&self, projected: ProjectedToolbox<'_>) -> Result<PreviewWithEffects, ToolError> {
        preview::preview(projected, self.call)
    }

    fn project(&self, toolbox: &Toolbox, overlay: &mut Overlay) -> Result<(), ToolError> {
        let patches = patches(toolbox.after(overlay), self.call, |_, _| Ok(()))?;
        let stop = StopSignal::default();
        let before = overlay.clone();
        let chosen = toolbox.after(&before).symbols().choose(Work::Splice, &stop)?;
        for patch in &patches {
            let projected = toolbox.projected(overlay);
            let effect = prepare(projected, patch, &*chosen.engine, &stop)?.effect();
            overlay.insert(effect.path, effect.after_bytes);
        }
        Ok(())
    }

    fn named_paths(&self, projected: ProjectedToolbox<'_>) -> Result<NamedPaths, ToolError> {
        match self.call {
            ToolCall::SplicePlan { plan_file } => named_paths(projected, plan_file),
            _ => Ok(Vec::new()),
        }
    }

    fn symbol(&self) -> Option<(EdgeType, &str)> {
        match self.call {
            ToolCall::SplicePatch { symbol, .. } => Some((EdgeType::ExecutedOn, symbol)),
            _ => None,
        }
    }

    fn invoke(&self, toolbox: &Toolbox, context: &Context<'_>) -> Result<CallResult, ToolError> {
        let mut progress = Progress::default();
        let mut engine = Value::Null;
        let error = run(toolbox, self.call, context, &mut progress, &mut engine).err();
        let mut result = json!({
            "changed_files": changed_files(progress.effects.iter().chain(&progress.side_effects)),
            "patches": progress.patches,
            "engine": engine,
        });
        if let Value::Object(fields) = &mut result {
            if let Some(Value::Object(process)) = progress.process {
                fields.extend(process);
            }
            let lists = [
                ("cargo_check", progress.cargo_checks),
                ("replaced_when_put_back", progress.replaced_when_put_back),
                ("warnings", progress.warnings.into_iter().map(Value::from).collect()),
            ];
            let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
            fields.extend(lists.map(|(name, list)| (name.to_owned(), list.into())));
        }
        let non_empty = |bytes: Vec<u8>| (!bytes.is_empty()).then_some(bytes);
        Ok(CallResult {
            stdout: non_empty(progress.stdout),
            stderr: non_empty(progress.stderr),
            exit_code: progress.exit_code,
            result,
            files: progress.effects,
            side_effects: progress.side_effects,
            diagnostics: progress.diagnostics,
            edges: progress.edges,
            error,
            ..CallResult::default()
        })
    }
}

/// The files that a splice plan names, with their roles. The list is empty for a plan that is missing or faulty; the
/// preview and the run report why.
///
/// # Errors
/// A path that cannot be used, or a plan that cannot be read.
pub(super) fn named_paths(
    projected: ProjectedToolbox<'_>,
    plan_file: &str,
) -> Result<NamedPaths, ToolError> {
    let plan = PlanFile::read(*projected, plan_file)?;
    let patches = match plan.patches() {
        Err(SymbolsError::Workspace(error)) => return Err(error.into()),
        Err(_) => return Ok(Vec::new()),
        Ok(patches) => patches,
    };
    let roles = [PathRole::Writes, PathRole::ReadsWith];
    Ok(patches
        .into_iter()
        .flat_map(|patch| roles.into_iter().zip([patch.file, patch.with]))
        .collect())
}

fn run(
    toolbox: &Toolbox,
    call: &ToolCall,
    context: &Context<'_>,
    progress: &mut Progress,
    engine: &mut Value,
) -> Result<(), ToolError> {
    check_cancelled(context.stop)?;
    let now = toolbox.now();
    // The splice plan must be the authorized one. It is read once, so that a later change of the file has no effect.
    let patches = patches(now, call, |path, plan| {
        check_state(path, context.expected.get(&plan.key).copied(), plan.state())
    })?;
    let chosen = now.symbols().choose(Work::Splice, context.stop)?;
    *engine = chosen.evidence(None);
    let (mut replacer, writer): (Box<dyn Replacer>, Writer) = match chosen.is_external {
        false => (Box::new(embedded::Embedded::default()), Writer::Countersign),
        true => (Box::new(program::Program::new(toolbox, context, engine)?), Writer::Splice),
    };
    // The expected state of each file: as authorized, then as the earlier patches left it.
    let mut expected = context.expected.clone();
    for patch in &patches {
        check_cancelled(context.stop)?;
        let prepared = prepare(*now, patch, &*chosen.engine, context.stop).inspect_err(|_| {
            // The failure is recorded with edges to this file and symbol.
            if let Ok(key) = toolbox.key_of(&patch.file) {
                progress.add_edge(EdgeType::ExecutedOn, TargetKind::File, &key);
                progress.add_edge(EdgeType::ExecutedOn, TargetKind::Symbol, &patch.symbol);
            }
        })?;
        for file in [&prepared.target, &prepared.with] {
            check_state(file.key(), expected.get(file.key()).copied(), file.state())?;
        }
        let effect = prepared.effect();
        progress.add_edges(&prepared, false);
        if effect.before != effect.after {
            let context = Context { expected: &expected, ..*context };
            let rewrite = Rewrite { toolbox, prepared: &prepared, context: &context, writer };
            replacer.replace(&rewrite, progress)?;
            expected.insert(effect.path.clone(), effect.after);
            progress.add_edges(&prepared, true);
        }
        progress.add_patch(&prepared, effect);
    }
    Ok(())
}
