//! Runs `cargo check` and collects its diagnostics.

use std::collections::BTreeSet;
use std::time::Duration;

use cargo_metadata::diagnostic::DiagnosticLevel;
use serde_json::{Value, json};

use super::{Cargo, CargoError, Names, Project, failure_report, headline, message};
use crate::process::{Finished, Leftovers};
use crate::run::{DiagnosticArtifact, Edge, EdgeType, Level, MAX_DIAGNOSTICS, TargetKind};

/// Maximum size of each output of cargo: 256 MiB.
pub(crate) const OUTPUT_BYTES: u64 = 256 << 20;
/// Maximum number of files to which one check has edges.
const MAX_REFERENCES: usize = 1_000;

/// The part of a workspace that is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The package in the project's folder. Selected by the folder, not with `--package`, because a name
    /// can be ambiguous between a package and one of its dependencies.
    Package,
    /// All packages of the Cargo workspace.
    Workspace,
    /// All packages of the Cargo workspace, for a comparison with another check: cargo continues after the first
    /// package that fails, so that an old error does not hide a new one.
    KeepGoing,
}

impl Scope {
    pub(super) fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Package => &["check", "--message-format=json"],
            Self::Workspace => &["check", "--workspace", "--message-format=json"],
            Self::KeepGoing => {
                &["check", "--workspace", "--message-format=json", "--keep-going", "--color=never"]
            }
        }
    }

    /// The command line, for people.
    pub(crate) fn command(self) -> String {
        format!("cargo {}", self.arguments().join(" "))
    }
}

/// The outcome of a check that was started, with or without a verdict.
pub(crate) struct Checked {
    pub(super) scope: Scope,
    pub(super) timeout: Duration,
    pub(crate) finished: Finished,
    /// The diagnostics of the compiler, in order. If there are more than [`MAX_DIAGNOSTICS`], errors come first, and
    /// the rest is dropped.
    pub(crate) diagnostics: Vec<DiagnosticArtifact>,
    /// The number of dropped diagnostics.
    pub(super) left_out: usize,
    /// The number of messages of the compiler that cannot be parsed.
    pub(super) unreadable: usize,
}

impl Project {
    /// The part to check: the whole workspace when the project is the root of a Cargo workspace, otherwise
    /// its package.
    pub(crate) fn scope(&self) -> Scope {
        if self.is_workspace { Scope::Workspace } else { Scope::Package }
    }
}

impl Cargo<'_> {
    /// Runs `cargo check` in the project and collects its diagnostics.
    ///
    /// # Errors
    /// When cargo could not be started.
    pub(crate) fn check(
        &self,
        project: &Project,
        scope: Scope,
        leftovers: Leftovers,
    ) -> Result<Checked, CargoError> {
        let timeout = self.check_timeout;
        let finished = self.run(project, scope.arguments(), (timeout, leftovers))?;
        let (mut parsed, unreadable) = message::diagnostics(&finished.stdout);
        let left_out = parsed.len().saturating_sub(MAX_DIAGNOSTICS);
        if left_out > 0 {
            // Errors are sorted first, so that the limit drops warnings before errors.
            parsed.sort_by_key(|it| {
                !matches!(it.level, DiagnosticLevel::Error | DiagnosticLevel::Ice)
            });
            parsed.truncate(MAX_DIAGNOSTICS);
        }
        let base = if parsed.is_empty() { None } else { self.root_of(project) };
        let mut names = Names::new(self.workspace, base);
        let diagnostics = parsed.iter().map(|it| message::artifact(it, &mut names)).collect();
        Ok(Checked { scope, timeout, finished, diagnostics, left_out, unreadable })
    }
}

impl Checked {
    pub(super) fn errors(&self) -> impl Iterator<Item = &DiagnosticArtifact> {
        self.diagnostics.iter().filter(|it| it.level == Level::Error)
    }

    /// Why the check has no verdict: cargo was ended by this program or a wall, or it failed without an error
    /// diagnostic or an exit code. `None` if there is a verdict.
    pub(super) fn missing_verdict(&self) -> Option<CargoError> {
        if let Some(ended) = self.finished.ended("cargo check", self.timeout, OUTPUT_BYTES) {
            return Some(ended.into());
        }
        let has_verdict = self.finished.exit_code.is_some() && self.errors().next().is_some();
        let status = self.finished.failure().filter(|_| !has_verdict)?;
        Some(self.failure(&status))
    }

    /// The error for a failure without a verdict, with cargo's own message.
    pub(super) fn failure(&self, status: &str) -> CargoError {
        let output = failure_report(&self.finished.stderr);
        CargoError::Failed { status: status.to_owned(), output }
    }

    /// The error of the step, or `None` if the check passed.
    pub(crate) fn error(&self) -> Option<CargoError> {
        let reported = || {
            let first = self.errors().next().map(headline)?;
            Some(CargoError::Reported { errors: self.errors().count(), first })
        };
        self.missing_verdict().or_else(reported)
    }

    /// The result of the step as JSON.
    pub(crate) fn result(&self, project: &Project) -> Value {
        let count = |level| self.diagnostics.iter().filter(|it| it.level == level).count();
        let finished = &self.finished;
        let left_out = self.left_out + self.unreadable;
        json!({
            "command": self.scope.command(),
            "folder": project.folder_key,
            "exit_code": finished.exit_code,
            "signal": finished.signal,
            "timed_out": finished.timed_out(),
            "errors": count(Level::Error),
            "warnings": count(Level::Warning),
            "diagnostics": self.diagnostics.len() + left_out,
            "diagnostics_left_out": left_out,
            "stdout_bytes": finished.stdout.len(),
            "stderr_bytes": finished.stderr.len(),
            "output_left_open": finished.left_open,
            "duration_ms": u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX),
        })
    }

    /// The edges to the checked project, to the codes of the diagnostics, and to at most [`MAX_REFERENCES`] files with
    /// diagnostics.
    pub(crate) fn edges(&self, project: &Project) -> Vec<Edge> {
        let codes: BTreeSet<_> =
            self.diagnostics.iter().filter_map(|it| it.code.as_deref()).collect();
        let files: BTreeSet<_> = self.diagnostics.iter().map(|it| it.file_name.as_str()).collect();
        let subjects = BTreeSet::from([project.folder_key.as_str(), project.path.as_str()]);
        let subjects = subjects
            .into_iter()
            .map(|subject| Edge::new(EdgeType::ExecutedOn, TargetKind::File, subject));
        let codes = codes
            .into_iter()
            .map(|code| Edge::new(EdgeType::Produced, TargetKind::Diagnostic, code));
        let files = files.into_iter().filter(|file| !file.is_empty()).take(MAX_REFERENCES);
        let files = files.map(|file| Edge::new(EdgeType::Referenced, TargetKind::File, file));
        subjects.chain(codes).chain(files).collect()
    }
}
