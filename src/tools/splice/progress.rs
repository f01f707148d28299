//! The results of the replacements of one call so far.

use serde_json::{Value, json};

use super::prepare::Prepared;
use crate::process::Finished;
use crate::run::{DiagnosticArtifact, Edge, EdgeType, FileEffect, Level, Modes, TargetKind, text};

/// Adds the change of one replacement. If several replacements change one file, only its first and last content are
/// kept: the others are never needed, and a long plan would keep one for each step.
pub(super) fn add_effect(effects: &mut Vec<FileEffect>, mut effect: FileEffect) {
    if let Some(earlier) = effects.iter_mut().rev().find(|other| other.path == effect.path) {
        earlier.after_bytes = None;
        effect.before_bytes = None;
        // In a preview, a file that an earlier replacement writes has no mode yet. Replacements keep the mode.
        if effect.modes.before.is_none() {
            effect.modes = Modes::kept(earlier.modes.after);
        }
    }
    effects.push(effect);
}

/// Maximum size of each output that one step keeps, for all its programs together: 64 MiB.
const OUTPUT_BYTES: usize = 64 << 20;

/// The results of one call so far.
#[derive(Default)]
pub(super) struct Progress {
    /// The replaced definitions, for the return value.
    pub(super) patches: Vec<Value>,
    pub(super) effects: Vec<FileEffect>,
    pub(super) edges: Vec<Edge>,
    pub(super) diagnostics: Vec<DiagnosticArtifact>,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    pub(super) exit_code: Option<i32>,
    /// The results of `cargo check` before and after each change, for the return value.
    pub(super) cargo_checks: Vec<Value>,
    /// The exit status of the last process, for the return value; `None` if no process ran.
    pub(super) process: Option<Value>,
    /// The files that cargo changed itself, such as `Cargo.lock`.
    pub(super) side_effects: Vec<FileEffect>,
    /// Unexpected contents that a rollback overwrote. They are kept only here.
    pub(super) replaced_when_put_back: Vec<Value>,
    /// Warnings; they do not fail the step.
    pub(super) warnings: Vec<String>,
}

impl Progress {
    /// Adds a replaced definition.
    pub(super) fn add_patch(&mut self, prepared: &Prepared<'_>, effect: FileEffect) {
        let definition = &prepared.replaced.definition;
        self.patches.push(json!({
            "file": effect.path,
            "symbol": definition.fqn,
            "kind": definition.kind,
            "byte_start": definition.span.byte_start,
            "byte_end": definition.span.byte_end,
            "with": prepared.with.key(),
        }));
        add_effect(&mut self.effects, effect);
    }

    /// Adds the output of a process, and sets the exit status.
    pub(super) fn add_process(&mut self, name: &str, finished: &Finished) {
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

    /// Adds a warning, if there is one, about a change of `file` to the result and to the diagnostics. A warning that
    /// applies to several patches is added once.
    pub(super) fn warn(&mut self, warning: Option<String>, file: &str) {
        if let Some(warning) = warning.filter(|warning| !self.warnings.contains(warning)) {
            let diagnostic = DiagnosticArtifact::new(Level::Warning, "warning", warning.clone());
            self.diagnostics.push(DiagnosticArtifact { file_name: file.to_owned(), ..diagnostic });
            self.warnings.push(warning);
        }
    }

    pub(super) fn add_edge(&mut self, edge_type: EdgeType, target_kind: TargetKind, target: &str) {
        let edge = Edge::new(edge_type, target_kind, target);
        if !self.edges.contains(&edge) {
            self.edges.push(edge);
        }
    }

    /// Adds the edges to the files and the symbol of a replacement; with `is_changed`, also those for the change.
    pub(super) fn add_edges(&mut self, prepared: &Prepared<'_>, is_changed: bool) {
        let symbol = &prepared.replaced.definition.fqn;
        let mut edge = |edge_type, target_kind, target: &str| {
            self.add_edge(edge_type, target_kind, target);
        };
        edge(EdgeType::ExecutedOn, TargetKind::File, prepared.target.key());
        edge(EdgeType::ExecutedOn, TargetKind::Symbol, symbol);
        edge(EdgeType::Referenced, TargetKind::File, prepared.with.key());
        if is_changed {
            edge(EdgeType::Affected, TargetKind::File, prepared.target.key());
            edge(EdgeType::Affected, TargetKind::Symbol, symbol);
        }
    }
}
