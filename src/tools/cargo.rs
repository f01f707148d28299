//! `lsp_check` (SPEC §4): `cargo check` in a project of the workspace, and what it says about the code.
//!
//! cargo is the one of the user, with the user's settings and environment; it runs build scripts and
//! macros of the workspace. What it prints is kept as it is; its diagnostics are read out of it.

mod gate;
mod message;
mod names;
mod project;
mod reach;
mod suggestions;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cargo_metadata::diagnostic::DiagnosticLevel;
use serde_json::{Value, json};

use crate::plan::Code;
use crate::run::{
    DiagnosticArtifact, Edge, EdgeType, Level, MOST_DIAGNOSTICS, Predicted, Preview, Stream,
    TargetKind,
};

use super::process::{self, Cause, Finished, Leftovers, Profile, Program};
use super::{Context, Invocation, Overlay, ToolError, Toolbox, words};

pub use suggestions::{Offer, Replacement, Suggestions};

pub(super) use message::{artifact, diagnostic};
pub(super) use names::Names;
pub(super) use project::{Project, find as project};

pub(super) use gate::{LockFiles, Verdict, gate, new_errors, without_places};

/// When a check is ended, unless the toolbox says otherwise: the first one of a large project builds
/// all that it depends on.
pub(super) const CHECK_TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// Longest look for the root of a workspace, which reads a few files.
pub(super) const LOCATE_TIMEOUT: Duration = Duration::from_secs(60);
/// Most bytes of each output: 256 MiB.
pub(super) const OUTPUT_BYTES: u64 = 256 << 20;
/// Most files that one check is linked to in the evidence.
const MOST_REFERENCES: usize = 1_000;
/// Most bytes of cargo's own words that a message repeats.
const SAID_BYTES: usize = 4096;

/// How much of a workspace is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// Of the package whose folder it is; by the folder and not by `--package`, because a name may
    /// belong to a package and to one that it depends on.
    Package,
    /// All of it.
    Workspace,
    /// All of it, for a comparison: cargo goes on behind the first package that fails, so that an old error
    /// does not hide a new one.
    Gate,
}

impl Scope {
    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Package => &["check", "--message-format=json"],
            Self::Workspace => &["check", "--workspace", "--message-format=json"],
            Self::Gate => {
                &["check", "--workspace", "--message-format=json", "--keep-going", "--color=never"]
            }
        }
    }

    /// The command as a person would write it.
    fn command(self) -> String {
        format!("cargo {}", self.arguments().join(" "))
    }
}

/// A check that came to an end, in whatever way.
struct Checked {
    scope: Scope,
    timeout: Duration,
    finished: Finished,
    /// What the compiler said, in order; at most [`MOST_DIAGNOSTICS`].
    diagnostics: Vec<DiagnosticArtifact>,
    /// How many more there were.
    left_out: usize,
}

/// Runs the check.
///
/// # Errors
/// When cargo could not be started.
fn check(
    toolbox: &Toolbox,
    project: &Project,
    scope: Scope,
    leftovers: Leftovers,
    context: &Context<'_>,
) -> Result<Checked, ToolError> {
    let (timeout, output) = (toolbox.check_timeout, context.output);
    let finished = run(toolbox, project, scope.arguments(), (timeout, leftovers), context, output)?;
    let mut said = message::diagnostics(finished.stdout.bytes());
    let left_out = said.len().saturating_sub(MOST_DIAGNOSTICS);
    if left_out > 0 {
        // An error must not be lost behind ten thousand warnings.
        said.sort_by_key(|said| {
            !matches!(said.level, DiagnosticLevel::Error | DiagnosticLevel::Ice)
        });
        said.truncate(MOST_DIAGNOSTICS);
    }
    let base = match project {
        _ if said.is_empty() => None,
        Project { is_workspace: true, folder, .. } => Some(folder.clone()),
        _ => root_of(toolbox, project, context),
    };
    let mut names = Names::new(&toolbox.roots, base);
    let diagnostics = said.iter().map(|said| message::artifact(said, &mut names)).collect();
    Ok(Checked { scope, timeout: toolbox.check_timeout, finished, diagnostics, left_out })
}

/// The folder that cargo's relative file names begin in; none when cargo does not say it.
pub(super) fn root_of(
    toolbox: &Toolbox,
    project: &Project,
    context: &Context<'_>,
) -> Option<PathBuf> {
    let arguments = ["locate-project", "--workspace", "--message-format=plain"];
    let how = (LOCATE_TIMEOUT, Leftovers::Stay);
    let found = run(toolbox, project, &arguments, how, context, &|_, _| {}).ok()?;
    let manifest = std::str::from_utf8(found.stdout.bytes()).ok()?.trim_end_matches(['\r', '\n']);
    Path::new(manifest).parent().filter(|root| root.is_absolute()).map(Into::into)
}

pub(super) fn run(
    toolbox: &Toolbox,
    project: &Project,
    arguments: &[&str],
    (timeout, leftovers): (Duration, Leftovers),
    context: &Context<'_>,
    output: &dyn Fn(Stream, &str),
) -> Result<Finished, ToolError> {
    let program = found(toolbox)?;
    let program = Program {
        profile: Profile::Build(toolbox.behind(context)),
        program: OsStr::new(&program),
        arguments,
        input: None,
        folder: &project.folder,
        environment: &toolbox.environment(),
        unset: &[],
        leftovers: toolbox.leftovers(leftovers),
        timeout,
        output_limit: OUTPUT_BYTES,
    };
    process::run(&program, context.stop, output).map_err(|source| ToolError::NotStarted {
        program: "cargo",
        code: Code::CargoCheck,
        source,
    })
}

/// The user's cargo, by its whole path: a relative folder in `PATH` would be one of the workspace.
pub(super) fn found(toolbox: &Toolbox) -> Result<PathBuf, ToolError> {
    toolbox.command_available("cargo").ok_or_else(|| ToolError::ProgramMissing {
        program: "cargo",
        place: toolbox.nowhere("cargo"),
        code: Code::CargoCheck,
    })
}

impl Checked {
    fn errors(&self) -> impl Iterator<Item = &DiagnosticArtifact> {
        self.diagnostics.iter().filter(|it| it.level == Level::Error)
    }

    /// Why the check did not come to a verdict; none when it did, whatever the verdict is.
    fn obstacle(&self) -> Option<ToolError> {
        let program = "cargo check";
        match self.finished.cause {
            Cause::Stopped => Some(ToolError::Cancelled),
            Cause::TimedOut => {
                Some(ToolError::TimedOut { program, after: words::duration(self.timeout) })
            }
            Cause::TooMuch(stream) => {
                Some(ToolError::TooMuchOutput { program, stream, limit: OUTPUT_BYTES })
            }
            Cause::NotKept => Some(ToolError::NotKept { program }),
            Cause::Itself if self.finished.stopped_by_wall().is_some() => {
                self.finished.stopped_by_wall()
            }
            Cause::Itself if self.finished.exit_code == Some(0) => None,
            Cause::Itself
                if self.finished.exit_code.is_some() && self.errors().next().is_some() =>
            {
                None
            }
            Cause::Itself => {
                Some(self.failed(&match (self.finished.exit_code, self.finished.signal) {
                    (Some(code), _) => format!("ended with exit code {code}"),
                    (None, Some(signal)) => format!("was ended by signal {signal}"),
                    (None, None) => "did not end".to_owned(),
                }))
            }
        }
    }

    /// That it failed without a verdict, with cargo's own words.
    fn failed(&self, how: &str) -> ToolError {
        ToolError::CargoFailed { how: how.to_owned(), said: said(self.finished.stderr.bytes()) }
    }

    /// Why the step fails, if it does.
    fn error(&self) -> Option<ToolError> {
        let reported = || {
            let first = self.errors().next().map(headline)?;
            Some(ToolError::CargoCheck { errors: self.errors().count(), first })
        };
        self.obstacle().or_else(reported)
    }

    fn result(&self, project: &Project) -> Value {
        let count = |level| self.diagnostics.iter().filter(|it| it.level == level).count();
        let finished = &self.finished;
        json!({
            "command": self.scope.command(),
            "folder": project.key,
            "exit_code": finished.exit_code,
            "signal": finished.signal,
            "timed_out": finished.cause == Cause::TimedOut,
            "errors": count(Level::Error),
            "warnings": count(Level::Warning),
            "diagnostics": self.diagnostics.len() + self.left_out,
            "diagnostics_left_out": self.left_out,
            "stdout_bytes": finished.stdout.bytes().len(),
            "stderr_bytes": finished.stderr.bytes().len(),
            "output_left_open": finished.left_open,
            "duration_ms": u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX),
        })
    }

    fn edges(&self, project: &Project) -> Vec<Edge> {
        let edge = |edge_type, target_kind, target: &str| Edge {
            edge_type,
            target_kind,
            target: target.to_owned(),
        };
        let codes: BTreeSet<_> =
            self.diagnostics.iter().filter_map(|it| it.code.as_deref()).collect();
        let files: BTreeSet<_> = self.diagnostics.iter().map(|it| it.file_name.as_str()).collect();
        let on = BTreeSet::from([project.key.as_str(), project.path.as_str()]);
        let on = on.into_iter().map(|on| edge(EdgeType::ExecutedOn, TargetKind::File, on));
        let codes =
            codes.into_iter().map(|code| edge(EdgeType::Produced, TargetKind::Diagnostic, code));
        let files = files.into_iter().filter(|file| !file.is_empty()).take(MOST_REFERENCES);
        let files = files.map(|file| edge(EdgeType::Referenced, TargetKind::File, file));
        on.chain(codes).chain(files).collect()
    }
}

/// A diagnostic in one line, as the compiler begins it, with its place.
pub(super) fn headline(it: &DiagnosticArtifact) -> String {
    let code = it.code.as_ref().map_or_else(String::new, |code| format!("[{code}]"));
    let place = match it.file_name.as_str() {
        "" => String::new(),
        file => format!(" ({file}:{})", it.line_start),
    };
    format!("{}{code}: {}{place}", it.tool_level, words::beginning(&it.message))
}

/// What cargo said of its failure, verbatim: from the first error on, without the progress before it.
pub(super) fn said(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let text = text.trim_end();
    let start =
        if text.starts_with("error") { Some(0) } else { text.find("\nerror").map(|at| at + 1) };
    let text = text.get(start.unwrap_or(0)..).unwrap_or(text);
    match text.get(..text.floor_char_boundary(SAID_BYTES)) {
        Some(beginning) if beginning.len() < text.len() => format!("{beginning}…"),
        _ => text.to_owned(),
    }
}

/// Checks the project at `path`.
pub(super) fn invoke(
    toolbox: &Toolbox,
    path: &str,
    context: &Context<'_>,
) -> Result<Invocation, ToolError> {
    if context.stop.is_set() {
        return Err(ToolError::Cancelled);
    }
    let project = project::find(toolbox, path, &Overlay::default())?;
    let checked = check(toolbox, &project, project.scope(), Leftovers::Stay, context)?;
    Ok(Invocation {
        exit_code: checked.finished.exit_code,
        result: checked.result(&project),
        edges: checked.edges(&project),
        error: checked.error(),
        walls: checked.finished.walls.clone(),
        stdout: Some(checked.finished.stdout.into_bytes()),
        stderr: Some(checked.finished.stderr.into_bytes()),
        diagnostics: checked.diagnostics,
        ..Invocation::default()
    })
}

/// Which command would run, where, and how far it may go.
pub(super) fn preview(
    toolbox: &Toolbox,
    overlay: &Overlay,
    path: &str,
) -> Result<Preview, ToolError> {
    let project = project::find(toolbox, path, overlay)?;
    found(toolbox)?;
    let place = match project.key.as_str() {
        "." => "the workspace folder",
        key => key,
    };
    let command = project.scope().command();
    let what = match project.scope() {
        Scope::Package => "the package of this folder",
        Scope::Workspace | Scope::Gate => "every package of the Cargo workspace",
    };
    let limits = format!(
        "Ended after {}, or when one of its outputs has more than {}.",
        words::duration(toolbox.check_timeout),
        words::size(OUTPUT_BYTES)
    );
    let mut notes = vec![
        format!("Checks {what}, and runs its build scripts and macros."),
        "May write the target folder and Cargo.lock, and load what is missing.".to_owned(),
        limits,
    ];
    notes.extend(toolbox.passed_over("cargo").map(|what| format!("{what}.")));
    Ok(Preview {
        predicted: Predicted::Unpredictable,
        summary: format!("Runs `{command}` in {place}."),
        changes: Vec::new(),
        notes,
    })
}
