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
mod restore;

use serde_json::{Value, json};

use crate::authorization::FileState;
use crate::plan::{PathRole, ToolCall};
use crate::run::{DiagnosticArtifact, Edge, EdgeType, FileEffect, Level, Modes, TargetKind};

use super::engine::{self, Work};
use super::process::{Cause, Finished};
use super::{Context, Invocation, Overlay, StopSignal, ToolError, Toolbox, words, write};

use plan_file::PlanFile;
use prepare::{Prepared, patches, prepare};

pub use error::SpliceError;
pub(super) use preview::foresee;
pub(super) use program::names_beside;

/// The files that a splice plan names, and what is done with them. A plan that is not there yet, or is faulty,
/// names nothing; running it says why.
pub(super) fn named(
    toolbox: &Toolbox,
    overlay: &Overlay,
    plan_file: &str,
) -> Result<Vec<(PathRole, String)>, ToolError> {
    let read = PlanFile::read(toolbox, overlay, plan_file)?;
    let patches = match read.patches() {
        Err(ToolError::Engine { .. }) => return Ok(Vec::new()),
        read => read?,
    };
    let roles = [PathRole::Writes, PathRole::ReadsWith];
    Ok(patches.into_iter().flat_map(|it| roles.into_iter().zip([it.file, it.with])).collect())
}

/// Adds to `overlay` what the call would leave behind, as far as it gets. Nobody could ask it to stop; what
/// it reads has a limit.
pub(super) fn leave(
    toolbox: &Toolbox,
    overlay: &mut Overlay,
    call: &ToolCall,
) -> Result<(), ToolError> {
    let patches = patches(toolbox, overlay, call, |_, _| Ok(()))?;
    let stop = StopSignal::default();
    let chosen = engine::choose_after(toolbox, overlay, Work::Splice, &stop)?;
    for patch in &patches {
        let prepared = prepare(toolbox, overlay, patch, &*chosen.engine, &stop)?;
        let effect = prepared.effect();
        overlay.put(effect.path, effect.after_bytes);
    }
    Ok(())
}

/// Adds what a replacement does to a file. Of what several replacements in a row make of one file, only the
/// first and the last content are kept: the others are nobody's, and a long plan has as many as steps.
fn add(effects: &mut Vec<FileEffect>, mut effect: FileEffect) {
    if let Some(earlier) = effects.iter_mut().rev().find(|it| it.path == effect.path) {
        earlier.after_bytes = None;
        effect.before_bytes = None;
        // What an earlier one would leave is not on the disk yet; it keeps the mode.
        if effect.modes.before.is_none() {
            effect.modes = Modes::kept(earlier.modes.after);
        }
    }
    effects.push(effect);
}

/// Most bytes of each output that one step keeps of all the programs it runs: 64 MiB.
const OUTPUT_BYTES: usize = 64 << 20;

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
    /// What cargo did to its own files.
    beside: Vec<FileEffect>,
    /// What was in a file that was put back, where nobody else has that content.
    replaced_when_put_back: Vec<Value>,
    /// What a person should know although it is no failure.
    warnings: Vec<String>,
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
        add(&mut self.effects, effect);
    }

    /// Keeps what a process printed and how it ended.
    fn process(&mut self, name: &str, finished: &Finished) {
        let outputs = [(&mut self.stdout, &finished.stdout), (&mut self.stderr, &finished.stderr)];
        for (kept, output) in outputs {
            let bytes = output.bytes();
            if kept.len() + bytes.len() <= OUTPUT_BYTES {
                kept.extend_from_slice(bytes);
            } else {
                self.warnings.push(format!(
                    "{} that {name} printed are left out: a step keeps {} of each output",
                    words::size(bytes.len() as u64),
                    words::size(OUTPUT_BYTES as u64)
                ));
            }
        }
        self.exit_code = finished.exit_code;
        self.process = Some(json!({
            "exit_code": finished.exit_code,
            "signal": finished.signal,
            "timed_out": finished.cause == Cause::TimedOut,
        }));
    }

    /// Tells a person something about a change that was made to `file`: in the result, and among the
    /// diagnostics, where people look for what a check found. Once, however many patches it is true of.
    fn warn(&mut self, warning: Option<String>, file: &str) {
        if let Some(warning) = warning.filter(|warning| !self.warnings.contains(warning)) {
            self.diagnostics.push(DiagnosticArtifact {
                level: Level::Warning,
                tool_level: "warning".to_owned(),
                message: warning.clone(),
                file_name: file.to_owned(),
                line_start: 0,
                column_start: None,
                line_end: None,
                column_end: None,
                code: None,
                spans: Vec::new(),
                children: Vec::new(),
                rendered: None,
            });
            self.warnings.push(warning);
        }
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
        "changed_files": done.effects.iter().chain(&done.beside).map(changed).collect::<Vec<_>>(),
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
    Invocation {
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
    let overlay = Overlay::nothing();
    // The splice plan itself must be what was approved, and it is read once: another one that takes its
    // place meanwhile is not followed.
    let patches = patches(toolbox, overlay, call, |path, plan| {
        write::compare(path, context.expected.get(&plan.key).copied(), plan.state())
    })?;
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
        let prepared = prepare(toolbox, overlay, patch, &*chosen.engine, context.stop)
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
