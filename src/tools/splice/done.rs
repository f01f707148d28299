//! Collects the results of the replacements of one call, and defines the trait [`Hand`] of the code that
//! makes them.

use serde_json::{Value, json};

use crate::process::Finished;
use crate::run::{DiagnosticArtifact, Edge, EdgeType, FileEffect, Level, Modes, TargetKind, text};
use crate::tools::{Context, ToolError};

use super::prepare::Prepared;

/// Adds the change of one replacement. When several replacements change one file, only its first and last
/// content are kept: the contents between are never needed, and a long plan would keep one for each step.
pub(super) fn add(effects: &mut Vec<FileEffect>, mut effect: FileEffect) {
    if let Some(earlier) = effects.iter_mut().rev().find(|it| it.path == effect.path) {
        earlier.after_bytes = None;
        effect.before_bytes = None;
        // The preview of an earlier replacement has no mode on the disk yet; the file keeps its mode.
        if effect.modes.before.is_none() {
            effect.modes = Modes::kept(earlier.modes.after);
        }
    }
    effects.push(effect);
}

/// Maximum size of each output that one step keeps, of all its programs together: 64 MiB.
const OUTPUT_BYTES: usize = 64 << 20;

/// The results of one call in progress.
#[derive(Default)]
pub(super) struct Done {
    pub(super) patches: Vec<Value>,
    pub(super) effects: Vec<FileEffect>,
    pub(super) edges: Vec<Edge>,
    pub(super) diagnostics: Vec<DiagnosticArtifact>,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    pub(super) exit_code: Option<i32>,
    /// The results of `cargo check` before and after each change.
    pub(super) checked: Vec<Value>,
    /// The exit status of the last process, if one ran.
    pub(super) process: Option<Value>,
    /// The files that cargo changed itself, such as `Cargo.lock`.
    pub(super) beside: Vec<FileEffect>,
    /// Contents that a rollback overwrote and that are kept only in this list.
    pub(super) replaced_when_put_back: Vec<Value>,
    /// Warnings; they do not fail the step.
    pub(super) warnings: Vec<String>,
}

impl Done {
    /// Records a replaced definition.
    pub(super) fn replaced(&mut self, prepared: &Prepared<'_>, effect: FileEffect) {
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

    /// Keeps the output of a process and its exit status.
    pub(super) fn process(&mut self, name: &str, finished: &Finished) {
        let outputs = [(&mut self.stdout, &finished.stdout), (&mut self.stderr, &finished.stderr)];
        for (kept, output) in outputs {
            if kept.len() + output.len() <= OUTPUT_BYTES {
                kept.extend_from_slice(output);
            } else {
                self.warnings.push(format!(
                    "{} that {name} printed are left out: a step keeps {} of each output",
                    text::size(output.len() as u64),
                    text::size(OUTPUT_BYTES as u64)
                ));
            }
        }
        self.exit_code = finished.exit_code;
        self.process = Some(json!({
            "exit_code": finished.exit_code,
            "signal": finished.signal,
            "timed_out": finished.timed_out(),
        }));
    }

    /// Adds a warning about a change of `file` to the result and to the diagnostics. A warning that applies
    /// to several patches is added once.
    pub(super) fn warn(&mut self, warning: Option<String>, file: &str) {
        if let Some(warning) = warning.filter(|warning| !self.warnings.contains(warning)) {
            let diagnostic = DiagnosticArtifact::new(Level::Warning, "warning", warning.clone());
            self.diagnostics.push(DiagnosticArtifact { file_name: file.to_owned(), ..diagnostic });
            self.warnings.push(warning);
        }
    }

    pub(super) fn edge(&mut self, edge_type: EdgeType, target_kind: TargetKind, target: &str) {
        let edge = Edge::new(edge_type, target_kind, target);
        if !self.edges.contains(&edge) {
            self.edges.push(edge);
        }
    }

    /// Adds the edges to the file and the symbol of a replacement, whether it succeeds or not.
    pub(super) fn worked_on(&mut self, prepared: &Prepared<'_>, changed: bool) {
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

/// Writes a prepared replacement to its file: directly, or with the program `splice`.
pub(super) trait Hand {
    /// Makes the change. After an error the file is as before, unless the error reports that it could not be
    /// restored.
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
