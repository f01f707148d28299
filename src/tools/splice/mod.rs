//! `splice_patch` and `splice_plan` (SPEC §4): definitions replaced one after the other, each shown
//! before it is made and put back when it is refused.
//!
//! What a call would do is computed from the files alone ([`prepare`]); who makes it real is the
//! business of the engine that was chosen: [`embedded`] or [`program`].

mod embedded;
mod error;
mod plan_file;
mod prepare;
mod preview;
mod program;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::authorization::FileState;
use crate::plan::ToolCall;
use crate::run::{DiagnosticArtifact, Edge, EdgeType, FileEffect, TargetKind};

use super::engine::{self, Work};
use super::{Context, Invocation, Overlay, StopSignal, ToolError, Toolbox, write};

use prepare::{Patch, Prepared, patches, prepare};

pub use error::SpliceError;
pub(super) use preview::foresee;

/// The files that a splice plan takes as input, as far as it can be read: itself and what it names.
pub(super) fn inputs(toolbox: &Toolbox, plan_file: &str) -> Result<Vec<String>, ToolError> {
    let patches = named(toolbox, plan_file)?;
    let named = patches.into_iter().flat_map(|patch| [patch.file, patch.with]);
    Ok(std::iter::once(plan_file.to_owned()).chain(named).collect())
}

/// The files that a splice plan would change, as far as it can be read.
pub(super) fn targets(toolbox: &Toolbox, plan_file: &str) -> Result<Vec<String>, ToolError> {
    Ok(named(toolbox, plan_file)?.into_iter().map(|patch| patch.file).collect())
}

/// A plan that is not there yet, or is faulty, names nothing; running it says why.
fn named(toolbox: &Toolbox, plan_file: &str) -> Result<Vec<Patch>, ToolError> {
    match plan_file::read(toolbox, &Overlay::default(), plan_file) {
        Err(ToolError::Engine { .. }) => Ok(Vec::new()),
        read => read,
    }
}

/// Adds to `overlay` what the call would leave behind, as far as it gets.
pub(super) fn leave(
    toolbox: &Toolbox,
    overlay: &mut Overlay,
    call: &ToolCall,
) -> Result<(), ToolError> {
    let patches = patches(toolbox, overlay, call)?;
    let chosen = engine::choose_after(toolbox, overlay, Work::Splice, &never())?;
    for patch in &patches {
        let prepared = prepare(toolbox, overlay, patch, &*chosen.engine, &never())?;
        let effect = prepared.effect();
        overlay.put(effect.path, effect.after_bytes);
    }
    Ok(())
}

/// Previews have nobody who could ask them to stop; what they read has a limit.
fn never() -> StopSignal {
    StopSignal::default()
}

/// What became of one call, while it is under way.
#[derive(Default)]
struct Done {
    patches: Vec<Value>,
    effects: Vec<FileEffect>,
    edges: Vec<Edge>,
    diagnostics: Vec<DiagnosticArtifact>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    exit_code: Option<i32>,
    /// What cargo found before and after.
    checked: Vec<Value>,
    /// What the last process said about its end, where one ran.
    process: Option<Value>,
}

impl Done {
    /// Notes a definition that was replaced.
    fn replaced(&mut self, prepared: &Prepared<'_>, effect: FileEffect) {
        let definition = &prepared.replaced.definition;
        self.patches.push(json!({
            "file": effect.path,
            "symbol": definition.fqn,
            "kind": definition.kind,
            "byte_start": definition.span.byte_start,
            "byte_end": definition.span.byte_end,
            "with": prepared.with.key(),
        }));
        self.effects.push(effect);
    }

    fn edge(&mut self, edge_type: EdgeType, target_kind: TargetKind, target: &str) {
        let edge = Edge { edge_type, target_kind, target: target.to_owned() };
        if !self.edges.contains(&edge) {
            self.edges.push(edge);
        }
    }

    /// Notes what is worked on, whatever comes of it.
    fn worked_on(&mut self, prepared: &Prepared<'_>, changed: bool) {
        let symbol = &prepared.replaced.definition.fqn;
        let mut edge = |edge_type, target_kind, target: &str| {
            self.edge(edge_type, target_kind, target);
        };
        edge(EdgeType::ExecutedOn, TargetKind::File, prepared.target.key());
        edge(EdgeType::ExecutedOn, TargetKind::Symbol, symbol);
        edge(EdgeType::Referenced, TargetKind::File, prepared.with.key());
        if changed {
            edge(EdgeType::Affected, TargetKind::File, prepared.target.key());
            edge(EdgeType::Affected, TargetKind::Symbol, symbol);
        }
    }
}

/// Does it. Earlier patches of a plan stay when a later one fails.
pub(super) fn invoke(toolbox: &Toolbox, call: &ToolCall, context: &Context<'_>) -> Invocation {
    let mut done = Done::default();
    let mut who = Value::Null;
    let error = run(toolbox, call, context, &mut done, &mut who).err();
    let hash = |state: &FileState| match state {
        FileState::Absent => None,
        FileState::Content(digest) => Some(digest.to_string()),
    };
    let changed = |effect: &FileEffect| json!({ "path": effect.path, "before": hash(&effect.before), "after": hash(&effect.after) });
    let mut result = json!({
        "changed_files": done.effects.iter().map(changed).collect::<Vec<_>>(),
        "patches": done.patches,
        "engine": who,
    });
    if let Value::Object(fields) = &mut result {
        if let Some(Value::Object(process)) = done.process {
            fields.extend(process);
        }
        if !done.checked.is_empty() {
            fields.insert("cargo_check".to_owned(), done.checked.into());
        }
    }
    let written = |bytes: Vec<u8>| (!bytes.is_empty()).then_some(bytes);
    Invocation {
        stdout: written(done.stdout),
        captured: None,
        stderr: written(done.stderr),
        exit_code: done.exit_code,
        result,
        files: done.effects,
        diagnostics: done.diagnostics,
        edges: done.edges,
        error,
    }
}

fn run(
    toolbox: &Toolbox,
    call: &ToolCall,
    context: &Context<'_>,
    done: &mut Done,
    who: &mut Value,
) -> Result<(), ToolError> {
    engine::stopped(context.stop)?;
    let overlay = Overlay::default();
    approved(toolbox, call, context)?;
    let patches = patches(toolbox, &overlay, call)?;
    let chosen = engine::choose(toolbox, Work::Splice, context.stop)?;
    *who = chosen.evidence(None);
    let mut hand: Box<dyn Hand> = match chosen.is_external {
        false => Box::new(embedded::Embedded::new(toolbox)),
        true => Box::new(program::Program::new(toolbox, context, who)?),
    };
    // What each file must be: as approved, then as the patches before have left it.
    let mut expected = context.expected.clone();
    for patch in &patches {
        engine::stopped(context.stop)?;
        let prepared = prepare(toolbox, &overlay, patch, &*chosen.engine, context.stop)
            .inspect_err(|_| {
                // What fails here is an outcome for this file, too.
                if let Ok(key) = toolbox.key_of(&patch.file) {
                    done.edge(EdgeType::ExecutedOn, TargetKind::File, &key);
                    done.edge(EdgeType::ExecutedOn, TargetKind::Symbol, &patch.symbol);
                }
            })?;
        for file in [&prepared.target, &prepared.with] {
            write::compare(file.key(), expected.get(file.key()).copied(), file.state())?;
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

/// The splice plan itself must be what was approved, before a word of it is followed.
fn approved(toolbox: &Toolbox, call: &ToolCall, context: &Context<'_>) -> Result<(), ToolError> {
    let ToolCall::SplicePlan { plan_file } = call else { return Ok(()) };
    let key = toolbox.key_of(plan_file)?;
    write::compare(plan_file, context.expected.get(&key).copied(), toolbox.digest_of(plan_file)?)
}

/// Puts a file back as it was, because of `error`, and gives the error that the step has then. A person
/// who asked to stop asked for that, too.
fn put_back(
    toolbox: &Toolbox,
    prepared: &Prepared<'_>,
    context: &Context<'_>,
    done: &mut Done,
    error: ToolError,
) -> ToolError {
    let attempt = || {
        let now = toolbox.digest_of(prepared.target.key())?;
        if now == prepared.target.state() {
            return Ok(());
        }
        let expected = BTreeMap::from([(prepared.target.key().to_owned(), now)]);
        let on = StopSignal::default();
        let context = Context { expected: &expected, stop: &on, ..*context };
        write::replace(&toolbox.roots, prepared.target.key(), prepared.target.text()?, &context)
    };
    let failed: Result<(), ToolError> = attempt();
    let Err(source) = failed else { return error };
    let path = prepared.target.key().to_owned();
    if let Ok(now) = toolbox.digest_of(prepared.target.key()) {
        // It is changed and stays so; the evidence has to know.
        let effect = prepared.effect();
        let after_bytes = effect.after_bytes.filter(|_| now == effect.after);
        done.effects.push(FileEffect { after: now, after_bytes, ..effect });
    }
    SpliceError::NotPutBack { path, why: error.to_string(), source: Box::new(source) }.into()
}

/// Who makes a prepared change real.
trait Hand {
    /// Makes it. When this fails, the file is as it was, or the error says that it is not.
    ///
    /// # Errors
    /// A change that was refused, stopped, or could not be made.
    fn make(
        &mut self,
        prepared: &Prepared<'_>,
        context: &Context<'_>,
        done: &mut Done,
    ) -> Result<(), ToolError>;
}
