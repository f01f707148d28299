//! `splice_patch` and `splice_plan` (SPEC §4): replace definitions one after the other. The preview shows
//! each replacement. A replacement that `cargo check` or `splice` refuses is rolled back.
//!
//! [`prepare`] computes the replacements from the files alone; the chosen engine, [`embedded`] or
//! [`program`], makes them.
//!
//! A file is restored only if it has the content that the step wrote; content that another program wrote
//! meanwhile stays, and the step reports it. Unexpected content that the program `splice` left in a file is
//! kept in the result before the file is restored. During a panic the file is restored too. After a crash the
//! outcome of the check is unknown, and *Reconcile* reports that. cargo's lock file is not among the
//! predicted effects: its changes are in `Invocation::beside`.

mod done;
mod embedded;
mod error;
mod plan_file;
mod prepare;
mod preview;
mod program;
mod restore;

use serde_json::{Value, json};

use crate::plan::{PathRole, ToolCall};
use crate::run::{EdgeType, StopSignal, TargetKind};
use crate::symbols::{SymbolsError, Work};
use crate::workspace::{Overlay, check_cancelled, check_state};

use super::changes::changed_files;
use super::tool::{PreviewWithEffects, Tool};
use super::{After, Context, Invocation, ToolError, Toolbox};

use done::{Done, Hand};
use plan_file::PlanFile;
use prepare::{patches, prepare};

pub use error::SpliceError;
pub(super) use program::names_beside;

/// `splice_patch` or `splice_plan`.
pub(super) struct Splice<'a> {
    pub(super) call: &'a ToolCall,
}

impl Tool for Splice<'_> {
    fn preview(&self, at: After<'_>, stop: &StopSignal) -> Result<PreviewWithEffects, ToolError> {
        preview::preview(at, self.call, stop)
    }

    fn project(&self, toolbox: &Toolbox, overlay: &mut Overlay) -> Result<(), ToolError> {
        let patches = patches(toolbox.after(overlay), self.call, |_, _| Ok(()))?;
        let stop = StopSignal::default();
        let before = overlay.clone();
        let chosen = toolbox.after(&before).symbols().choose(Work::Splice, &stop)?;
        for patch in &patches {
            let at = toolbox.projected(overlay);
            let effect = prepare(at, patch, &*chosen.engine, &stop)?.effect();
            overlay.insert(effect.path, effect.after_bytes);
        }
        Ok(())
    }

    fn named(&self, at: After<'_>) -> Result<Vec<(PathRole, String)>, ToolError> {
        match self.call {
            ToolCall::SplicePlan { plan_file } => named(at, plan_file),
            _ => Ok(Vec::new()),
        }
    }

    fn symbol(&self) -> Option<(EdgeType, &str)> {
        match self.call {
            ToolCall::SplicePatch { symbol, .. } => Some((EdgeType::ExecutedOn, symbol)),
            _ => None,
        }
    }

    fn invoke(&self, toolbox: &Toolbox, context: &Context<'_>) -> Result<Invocation, ToolError> {
        let mut done = Done::default();
        let mut who = Value::Null;
        let error = run(toolbox, self.call, context, &mut done, &mut who).err();
        let mut result = json!({
            "changed_files": changed_files(done.effects.iter().chain(&done.beside)),
            "patches": done.patches,
            "engine": who,
        });
        if let Value::Object(fields) = &mut result {
            if let Some(Value::Object(process)) = done.process {
                fields.extend(process);
            }
            let lists = [
                ("cargo_check", done.checked),
                ("replaced_when_put_back", done.replaced_when_put_back),
                ("warnings", done.warnings.into_iter().map(Value::from).collect()),
            ];
            let said = lists.into_iter().filter(|(_, list)| !list.is_empty());
            fields.extend(said.map(|(name, list)| (name.to_owned(), list.into())));
        }
        let written = |bytes: Vec<u8>| (!bytes.is_empty()).then_some(bytes);
        Ok(Invocation {
            stdout: written(done.stdout),
            stderr: written(done.stderr),
            exit_code: done.exit_code,
            result,
            files: done.effects,
            beside: done.beside,
            diagnostics: done.diagnostics,
            edges: done.edges,
            error,
            ..Invocation::default()
        })
    }
}

/// The files that a splice plan names, with their roles. The list is empty for a plan that is missing or
/// faulty; its run reports why.
///
/// # Errors
/// A path that cannot be used, or a file that cannot be read.
pub(super) fn named(at: After<'_>, plan_file: &str) -> Result<Vec<(PathRole, String)>, ToolError> {
    let read = PlanFile::read(*at, plan_file)?;
    let patches = match read.patches() {
        Err(SymbolsError::Workspace(error)) => return Err(error.into()),
        Err(_) => return Ok(Vec::new()),
        Ok(patches) => patches,
    };
    let roles = [PathRole::Writes, PathRole::ReadsWith];
    Ok(patches.into_iter().flat_map(|it| roles.into_iter().zip([it.file, it.with])).collect())
}

fn run(
    toolbox: &Toolbox,
    call: &ToolCall,
    context: &Context<'_>,
    done: &mut Done,
    who: &mut Value,
) -> Result<(), ToolError> {
    check_cancelled(context.stop)?;
    let now = toolbox.now();
    // The splice plan must be the approved one. It is read once, so that a plan file that replaces it
    // meanwhile has no effect.
    let patches = patches(now, call, |path, plan| {
        check_state(path, context.expected.get(&plan.key).copied(), plan.state())
    })?;
    let chosen = now.symbols().choose(Work::Splice, context.stop)?;
    *who = chosen.evidence(None);
    let mut hand: Box<dyn Hand> = match chosen.is_external {
        false => Box::new(embedded::Embedded::new(toolbox)),
        true => Box::new(program::Program::new(toolbox, context, who)?),
    };
    // The expected state of each file: as approved, then as the earlier patches left it.
    let mut expected = context.expected.clone();
    for patch in &patches {
        check_cancelled(context.stop)?;
        let prepared = prepare(*now, patch, &*chosen.engine, context.stop).inspect_err(|_| {
            // The failure is recorded for this file and symbol too.
            if let Ok(key) = toolbox.key_of(&patch.file) {
                done.edge(EdgeType::ExecutedOn, TargetKind::File, &key);
                done.edge(EdgeType::ExecutedOn, TargetKind::Symbol, &patch.symbol);
            }
        })?;
        for file in [&prepared.target, &prepared.with] {
            check_state(file.key(), expected.get(file.key()).copied(), file.state())?;
        }
        let effect = prepared.effect();
        done.worked_on(&prepared, false);
        if effect.before != effect.after {
            let context = Context { expected: &expected, ..*context };
            hand.make(&prepared, &context, done)?;
            expected.insert(effect.path.clone(), effect.after);
            done.worked_on(&prepared, true);
        }
        done.replaced(&prepared, effect);
    }
    Ok(())
}
