//! The cargo commands of a step (SPEC §9), and the parser of their output.

use std::path::Path;

use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel};
use serde::Deserialize;

use super::error::ProgramError;
use super::found::{Found, once};
use super::job::{Job, Ran};
use super::relay::{Forward, Reads};
use super::target::Selected;
use crate::cargo::{self as by_cargo, Names, Project};
use crate::plan::{Build, Code, OptLevel, VerifyScope};
use crate::run::{DiagnosticArtifact, Stream};
use crate::tools::{Context, ToolError, Toolbox};

/// A cargo command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) arguments: Vec<String>,
    /// The name used in messages.
    pub(super) called: &'static str,
    pub(super) answers: Answers,
}

/// The form of the output of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answers {
    /// JSON messages of cargo.
    Messages,
    /// The output of Rust's test harness.
    Tests,
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The commands of a `verify`; they run in this order until one fails.
pub(super) fn verify(scope: VerifyScope) -> Vec<Command> {
    let check = |words: &[&str]| Command {
        arguments: owned(words),
        called: "cargo check",
        answers: Answers::Messages,
    };
    match scope {
        VerifyScope::Local => vec![check(&["check", "--message-format=json"])],
        VerifyScope::Full => vec![
            check(&["check", "--workspace", "--all-targets", "--message-format=json"]),
            Command {
                // Run all tests, not only those up to the first test binary that fails.
                arguments: owned(&["test", "--workspace", "--no-fail-fast"]),
                called: "cargo test",
                answers: Answers::Tests,
            },
        ],
    }
}

/// The command of a `compile`.
pub(super) fn build(build: &Build, selected: Option<&Selected>) -> Command {
    let level = match build.opt_level {
        OptLevel::O0 => 0,
        OptLevel::O1 => 1,
        OptLevel::O2 => 2,
        OptLevel::O3 => 3,
    };
    let mut arguments = owned(&["build", "--message-format=json"]);
    // The values are set for the dev profile, so that they apply whatever the manifest sets for release
    // builds.
    for setting in [format!("opt-level={level}"), format!("debug={}", build.debug_symbols)] {
        arguments.extend(["--config".to_owned(), format!("profile.dev.{setting}")]);
    }
    if let Some(target) = &build.target_triple {
        arguments.extend(["--target".to_owned(), target.clone()]);
    }
    arguments.extend(selected.into_iter().flat_map(Selected::arguments));
    Command { arguments, called: "cargo build", answers: Answers::Messages }
}

impl Command {
    /// The command line, for people.
    pub(super) fn text(&self) -> String {
        format!("cargo {}", self.arguments.join(" "))
    }

    /// The command as a job in a project.
    ///
    /// # Errors
    /// When cargo is missing.
    pub(super) fn job(&self, toolbox: &Toolbox, project: &Project) -> Result<Job, ToolError> {
        Ok(Job {
            command: self.text(),
            called: self.called,
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
pub(super) struct Messages {
    said: Found<Diagnostic>,
    /// The number of messages of the compiler that cannot be read.
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

/// Kinds of messages that are removed from the output, because they are only for programs.
const PROTOCOL: [&str; 4] =
    ["compiler-artifact", "build-script-executed", "build-finished", "timing-info"];

impl Reads for Messages {
    fn holds(&self, stream: Stream) -> bool {
        stream == Stream::Stdout
    }

    fn line(&mut self, stream: Stream, line: &[u8]) -> Forward {
        if stream != Stream::Stdout || !line.starts_with(b"{") {
            return Forward::AsItIs;
        }
        match by_cargo::message(line) {
            by_cargo::Message::Diagnostic(said) => {
                let is_error = matches!(said.level, DiagnosticLevel::Error | DiagnosticLevel::Ice);
                let text = said.rendered.clone();
                self.said.push(is_error, *said);
                return Forward::Instead(text);
            }
            by_cargo::Message::Unreadable => {
                self.unreadable += 1;
                return Forward::AsItIs;
            }
            by_cargo::Message::Other => {}
        }
        let Ok(message) = serde_json::from_slice::<Message<'_>>(line) else {
            return Forward::AsItIs;
        };
        if let (Some(path), Some(target)) = (message.executable, message.target) {
            let is_example = target.kind.iter().any(|kind| kind == "example");
            self.built.push(Built { name: target.name, is_example, path });
        }
        // The remaining compiler messages are totals; each diagnostic was already printed.
        match PROTOCOL.contains(&&*message.reason) || message.reason == "compiler-message" {
            true => Forward::Instead(None),
            false => Forward::AsItIs,
        }
    }
}

impl Messages {
    /// The diagnostics for the records without duplicates, and how many were left out.
    pub(super) fn finish(
        self,
        toolbox: &Toolbox,
        project: &Project,
        context: &Context<'_>,
    ) -> (Vec<DiagnosticArtifact>, usize) {
        let (said, left_out) = self.said.finish();
        let said = once(said, |it| (it.message.clone(), it.rendered.clone()));
        let base = match said.is_empty() {
            true => None,
            false => toolbox.cargo(context).root_of(project),
        };
        let mut names = Names::new(toolbox, base);
        (
            said.iter().map(|said| by_cargo::artifact(said, &mut names)).collect(),
            left_out + self.unreadable,
        )
    }
}

/// The path of the program that was built for this target.
pub(super) fn built<'b>(built: &'b [Built], selected: &Selected) -> Option<&'b Path> {
    let is = |it: &&Built| it.name == selected.name && it.is_example == selected.is_example;
    built.iter().rev().find(is).map(|it| Path::new(&it.path))
}

impl Ran {
    /// The error for a failure of cargo, with its own message.
    pub(super) fn cargo_failed(&self, how: String) -> ProgramError {
        ProgramError::Failed {
            program: self.job.command.clone(),
            how,
            said: by_cargo::failure_report(&self.finished.stderr.latest()),
        }
    }
}
