//! Builds and runs a binary, an example or a test by its name, with inputs (SPEC §9, `simulate`).

use serde_json::{Map, Value};

use crate::cargo::Names;
use crate::plan::Code;
use crate::run::Stream;
use crate::tools::command_shell::OUTPUT_BYTES;
use crate::tools::{Context, Invocation, ToolError, Toolbox};

use super::call::function_call;
use super::cargo::{self, Messages};
use super::error::ProgramError;
use super::execute::{invoke, project_of};
use super::harness::Tests;
use super::job::Ran;
use super::relay::{Forward, Reads, Relay};
use super::verdict::Verdict;

/// The command line that runs the test of this name, for people.
pub(in crate::tools) fn function_test(name: &str, inputs: &[String]) -> String {
    run_test(name, inputs).text()
}

/// Builds and runs the binary or example of this name, or else the tests with this name.
///
/// # Errors
/// As for a `run`; and when there is no binary, example or test of this name.
pub(in crate::tools) fn function(
    toolbox: &Toolbox,
    name: &str,
    inputs: &[String],
    traces: bool,
    context: &Context<'_>,
) -> Result<Invocation, ToolError> {
    let ran = invoke(toolbox, &function_call(name, inputs, traces), context);
    match ran.as_ref().err().and_then(ToolError::get) {
        Some(ProgramError::NoEntry { known, .. }) => {
            test(toolbox, name, inputs, known.clone(), context)
        }
        _ => ran,
    }
}

/// The command that builds all tests, with JSON messages so that compile errors become diagnostics.
fn build_tests() -> cargo::Command {
    let words = ["test", "--workspace", "--tests", "--no-run", "--message-format=json"];
    cargo::Command {
        arguments: words.map(str::to_owned).to_vec(),
        called: "cargo test",
        answers: cargo::Answers::Messages,
    }
}

/// The command that runs the tests with exactly this name. The inputs follow a second `--`, so that the
/// harness never parses them as options; it takes them for the names of further tests, and the test reads
/// them from its own arguments. The harness prints the output of a test after the test has ended.
fn run_test(name: &str, inputs: &[String]) -> cargo::Command {
    let words = ["test", "--workspace", "--tests", "--no-fail-fast", name, "--"];
    let words = words.into_iter().chain(["--exact", "--show-output", "--"]).map(str::to_owned);
    cargo::Command {
        arguments: words.chain(inputs.iter().cloned()).collect(),
        called: "cargo test",
        answers: cargo::Answers::Tests,
    }
}

fn test(
    toolbox: &Toolbox,
    name: &str,
    inputs: &[String],
    known: Vec<String>,
    context: &Context<'_>,
) -> Result<Invocation, ToolError> {
    let relay = Relay::new(toolbox, context);
    let project = project_of(toolbox.unchanged(), "run")?;
    let mut verdict = Verdict::default();
    let mut messages = Messages::default();
    verdict.ran.push(build_tests().job(toolbox, &project)?.run(&relay, &mut messages)?);
    verdict.add(messages.finish(toolbox, &project, context));
    let mut found = 0;
    if verdict.goes_on() {
        let job = run_test(name, inputs).job(toolbox, &project)?;
        let job = super::job::Job {
            called: "the test",
            timeout: toolbox.run_timeout,
            output_limit: OUTPUT_BYTES,
            code: Code::CommandFailed,
            ..job
        };
        let mut tests = Named { name, found: 0, tests: Tests::default() };
        verdict.ran.push(job.run(&relay, &mut tests)?);
        found = tests.found;
        let base = toolbox.cargo(context).root_of(&project);
        verdict.add(tests.tests.finish(&mut Names::new(toolbox, base)));
        if found == 0 && verdict.ran.iter().all(|ran| ran.finished.is_success()) {
            verdict.error = Some(ProgramError::NoFunction { name: name.to_owned(), known }.into());
        }
    }
    verdict.fail(Ran::cargo_failed);
    verdict.facts = Map::from_iter([
        ("action".to_owned(), Value::from("test")),
        ("by".to_owned(), "cargo".into()),
        ("entry".to_owned(), name.into()),
        ("args".to_owned(), inputs.into()),
        ("tests".to_owned(), found.into()),
    ]);
    Ok(verdict.invocation(toolbox, relay))
}

/// Parses the output of the harness, and counts the tests with this name that ran.
struct Named<'n> {
    name: &'n str,
    found: u64,
    tests: Tests,
}

impl Reads for Named<'_> {
    fn holds(&self, stream: Stream) -> bool {
        self.tests.holds(stream)
    }

    fn line(&mut self, stream: Stream, line: &[u8]) -> Forward {
        let is_it = || {
            let rest = line.strip_prefix(b"test ")?.strip_prefix(self.name.as_bytes())?;
            (rest.starts_with(b" ... ") || rest.starts_with(b" - should panic ... ")).then_some(())
        };
        if stream == Stream::Stdout && is_it().is_some() {
            self.found += 1;
        }
        self.tests.line(stream, line)
    }
}
