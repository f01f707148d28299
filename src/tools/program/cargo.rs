//! The cargo commands of a step (SPEC §9), and the parser of their output.

use std::path::Path;

use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel};
use serde::Deserialize;

use super::ProgramError;
use super::collected::{Collected, without_duplicates};
use super::job::{FinishedJob, Job};
use super::relay::{Forward, OutputParser, Relay};
use super::target::Selected;
use crate::cargo::{self as by_cargo, Names, Project};
use crate::plan::{Build, Code, OptLevel, VerifyScope};
use crate::run::{DiagnosticArtifact, Stream};
use crate::tools::{ToolError, Toolbox};

/// A cargo command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) arguments: Vec<String>,
    /// The name of the program in messages.
    pub(super) display_name: &'static str,
    pub(super) output: OutputForm,
}

/// The form of the output of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutputForm {
    /// JSON messages of cargo.
    Messages,
    /// The output of Rust's test harness.
    Tests,
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The commands of a `verify`; they run in this order until one fails.
pub(super) fn verify_commands(scope: VerifyScope) -> Vec<Command> {
    let check = |words: &[&str]| Command {
        arguments: owned(words),
        display_name: "cargo check",
        output: OutputForm::Messages,
    };
    match scope {
        VerifyScope::Local => vec![check(&["check", "--message-format=json"])],
        VerifyScope::Full => vec![
            check(&["check", "--workspace", "--all-targets", "--message-format=json"]),
            Command {
                // Run all tests, not only those up to the first test binary that fails.
                arguments: owned(&["test", "--workspace", "--no-fail-fast"]),
                display_name: "cargo test",
                output: OutputForm::Tests,
            },
        ],
    }
}

/// The command that builds the program, for `compile` and `run`.
pub(super) fn build_command(build: &Build, selected: Option<&Selected>) -> Command {
    let level = match build.opt_level {
        OptLevel::O0 => 0,
        OptLevel::O1 => 1,
        OptLevel::O2 => 2,
        OptLevel::O3 => 3,
    };
    let mut arguments = owned(&["build", "--message-format=json"]);
    // cargo builds with the dev profile, so the values are set for that profile.
    for setting in [format!("opt-level={level}"), format!("debug={}", build.debug_symbols)] {
        arguments.extend(["--config".to_owned(), format!("profile.dev.{setting}")]);
    }
    if let Some(target) = &build.target_triple {
        arguments.extend(["--target".to_owned(), target.clone()]);
    }
    arguments.extend(selected.into_iter().flat_map(Selected::arguments));
    Command { arguments, display_name: "cargo build", output: OutputForm::Messages }
}

impl Command {
    /// The command line, for a person to read.
    pub(super) fn text(&self) -> String {
        format!("cargo {}", self.arguments.join(" "))
    }

    /// The command as a job in a project.
    ///
    /// # Errors
    /// cargo is missing.
    pub(super) fn job(&self, toolbox: &Toolbox, project: &Project) -> Result<Job, ToolError> {
        Ok(Job {
            command: self.text(),
            display_name: self.display_name,
            program: toolbox.launcher.cargo()?,
            arguments: self.arguments.clone(),
            key: project.folder_key.clone(),
            folder: project.folder.clone(),
            environment: Vec::new(),
            unset: Vec::new(),
            timeout: toolbox.check_timeout,
            output_limit: by_cargo::OUTPUT_BYTES,
            code: Code::CargoCheck,
        })
    }
}

/// A program that cargo built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Built {
    pub(super) name: String,
    pub(super) is_example: bool,
    pub(super) path: String,
}

/// Parses cargo's messages, and replaces each diagnostic with its rendered text.
#[derive(Default)]
pub(super) struct MessageParser {
    diagnostics: Collected<Diagnostic>,
    /// The number of compiler messages that cannot be parsed.
    unreadable: usize,
    pub(super) built: Vec<Built>,
}

/// The fields of a cargo message that this module uses.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    reason: std::borrow::Cow<'a, str>,
    executable: Option<String>,
    target: Option<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

/// Kinds of messages that are removed from the output, because people do not need them.
const HIDDEN_MESSAGES: [&str; 4] =
    ["compiler-artifact", "build-script-executed", "build-finished", "timing-info"];

impl OutputParser for MessageParser {
    fn holds_back(&self, stream: Stream) -> bool {
        stream == Stream::Stdout
    }

    fn parse_line(&mut self, stream: Stream, line: &[u8]) -> Forward {
        if stream != Stream::Stdout || !line.starts_with(b"{") {
            return Forward::Unchanged;
        }
        match by_cargo::message(line) {
            by_cargo::Message::Diagnostic(diagnostic) => {
                let is_error =
                    matches!(diagnostic.level, DiagnosticLevel::Error | DiagnosticLevel::Ice);
                let text = diagnostic.rendered.clone();
                self.diagnostics.push(is_error, *diagnostic);
                return Forward::Replaced(text);
            }
            by_cargo::Message::Unreadable => {
                self.unreadable += 1;
                return Forward::Unchanged;
            }
            by_cargo::Message::Other => {}
        }
        let Ok(message) = serde_json::from_slice::<Message<'_>>(line) else {
            return Forward::Unchanged;
        };
        if let (Some(path), Some(target)) = (message.executable, message.target) {
            let is_example = target.kind.iter().any(|kind| kind == "example");
            self.built.push(Built { name: target.name, is_example, path });
        }
        // The remaining compiler messages are totals; each diagnostic was already forwarded.
        match HIDDEN_MESSAGES.contains(&&*message.reason) || message.reason == "compiler-message" {
            true => Forward::Replaced(None),
            false => Forward::Unchanged,
        }
    }
}

impl MessageParser {
    /// The diagnostics for the evidence without duplicates, and the number of those left out.
    pub(super) fn finish(
        self,
        relay: &Relay<'_>,
        project: &Project,
    ) -> (Vec<DiagnosticArtifact>, usize) {
        let (diagnostics, left_out) = self.diagnostics.finish();
        let diagnostics = without_duplicates(diagnostics, |diagnostic| {
            (diagnostic.message.clone(), diagnostic.rendered.clone())
        });
        let base = match diagnostics.is_empty() {
            true => None,
            false => relay.cargo().root_of(project),
        };
        let mut names = Names::new(relay.toolbox, base);
        (
            diagnostics.iter().map(|it| by_cargo::artifact(it, &mut names)).collect(),
            left_out + self.unreadable,
        )
    }
}

/// The path of the program that was built for this target; `None` if cargo reported none.
pub(super) fn path_of<'b>(built: &'b [Built], selected: &Selected) -> Option<&'b Path> {
    let is_selected = |program: &&Built| {
        program.name == selected.name && program.is_example == selected.is_example
    };
    built.iter().rev().find(is_selected).map(|program| Path::new(&program.path))
}

impl FinishedJob {
    /// The error for a failure of cargo, with cargo's own message. `status` is the end of a sentence that begins with
    /// the command.
    pub(super) fn cargo_failed(&self, status: String) -> ProgramError {
        ProgramError::Failed {
            program: self.job.command.clone(),
            status,
            output: by_cargo::failure_report(&self.process.stderr.latest()),
        }
    }
}
