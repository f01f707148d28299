//! What the replacements of one call have done so far, and who makes them.

use serde_json::{Value, json};

use crate::process::{Cause, Finished};
use crate::run::{DiagnosticArtifact, Edge, EdgeType, FileEffect, Level, Modes, TargetKind, text};
use crate::tools::{Context, ToolError};

use super::prepare::Prepared;

/// Adds what a replacement does to a file. Of what several replacements in a row make of one file, only the
/// first and the last content are kept: the others are nobody's, and a long plan has as many as steps.
pub(super) fn add(effects: &mut Vec<FileEffect>, mut effect: FileEffect) {
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
pub(super) struct Done {
    pub(super) patches: Vec<Value>,
    pub(super) effects: Vec<FileEffect>,
    pub(super) edges: Vec<Edge>,
    pub(super) diagnostics: Vec<DiagnosticArtifact>,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    pub(super) exit_code: Option<i32>,
    /// What cargo found before and after.
    pub(super) checked: Vec<Value>,
    /// What the last process said about its end, where one ran.
    pub(super) process: Option<Value>,
    /// What cargo did to its own files.
    pub(super) beside: Vec<FileEffect>,
    /// What was in a file that was put back, where nobody else has that content.
    pub(super) replaced_when_put_back: Vec<Value>,
    /// What a person should know although it is no failure.
    pub(super) warnings: Vec<String>,
}

impl Done {
    /// Notes a definition that was replaced.
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

    /// Keeps what a process printed and how it ended.
    pub(super) fn process(&mut self, name: &str, finished: &Finished) {
        let outputs = [(&mut self.stdout, &finished.stdout), (&mut self.stderr, &finished.stderr)];
        for (kept, output) in outputs {
            let bytes = output.bytes();
            if kept.len() + bytes.len() <= OUTPUT_BYTES {
                kept.extend_from_slice(bytes);
            } else {
                self.warnings.push(format!(
                    "{} that {name} printed are left out: a step keeps {} of each output",
                    text::size(bytes.len() as u64),
                    text::size(OUTPUT_BYTES as u64)
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
    pub(super) fn warn(&mut self, warning: Option<String>, file: &str) {
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

    pub(super) fn edge(&mut self, edge_type: EdgeType, target_kind: TargetKind, target: &str) {
        let edge = Edge { edge_type, target_kind, target: target.to_owned() };
        if !self.edges.contains(&edge) {
            self.edges.push(edge);
        }
    }

    /// Notes what is worked on, whatever comes of it.
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

/// Who makes a prepared change real.
pub(super) trait Hand {
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
