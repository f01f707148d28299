//! Builds and runs a binary, an example or a test by its name, with inputs (SPEC §9, `simulate`).

use serde_json::json;

use super::cargo::MessageParser;
use super::execute::{invoke, project_of};
use super::harness::TestParser;
use super::job::FinishedJob;
use super::relay::{Forward, OutputParser, Relay};
use super::verdict::Verdict;
use super::{ProgramError, cargo, function_call};
use crate::cargo::Names;
use crate::plan::Code;
use crate::run::Stream;
use crate::tools::command_shell::OUTPUT_BYTES;
use crate::tools::{CallResult, Context, ToolError, Toolbox};

/// The command line that runs the tests with this name, for a person to read.
pub(in crate::tools) fn test_command_line(name: &str, inputs: &[String]) -> String {
    test_command(name, inputs).text()
}

/// Builds and runs the binary or example with this name, or else the tests with this name. If there are none either,
/// the result has the error [`ProgramError::NoFunction`].
///
/// # Errors
/// Why nothing was run.
pub(in crate::tools) fn run_function(
    toolbox: &Toolbox,
    name: &str,
    inputs: &[String],
    traces: bool,
    context: &Context<'_>,
) -> Result<CallResult, ToolError> {
    let result = invoke(toolbox, &function_call(name, inputs, traces), context);
    match result.as_ref().err().and_then(ToolError::get) {
        Some(ProgramError::NoEntry { known, .. }) => {
            run_tests(toolbox, name, inputs, known.clone(), context)
        }
        _ => result,
    }
}

/// The command that builds all tests, with JSON messages so that compile errors become diagnostics.
fn build_tests_command() -> cargo::Command {
    let words = ["test", "--workspace", "--tests", "--no-run", "--message-format=json"];
    cargo::Command {
        arguments: words.map(str::to_owned).to_vec(),
        display_name: "cargo test",
        output: cargo::OutputForm::Messages,
    }
}

/// The command that runs the tests with exactly this name. The inputs follow a second `--`, so that the
/// harness never parses them as options. The harness takes them for the names of further tests; the test reads them
/// from its own arguments. The harness prints the output of a test after the test has ended.
fn test_command(name: &str, inputs: &[String]) -> cargo::Command {
    let words = ["test", "--workspace", "--tests", "--no-fail-fast", name, "--"];
    let words = words.into_iter().chain(["--exact", "--show-output", "--"]).map(str::to_owned);
    cargo::Command {
        arguments: words.chain(inputs.iter().cloned()).collect(),
        display_name: "cargo test",
        output: cargo::OutputForm::Tests,
    }
}

fn run_tests(
    toolbox: &Toolbox,
    name: &str,
    inputs: &[String],
    known: Vec<String>,
    context: &Context<'_>,
) -> Result<CallResult, ToolError> {
    let relay = Relay::new(toolbox, context);
    let project = project_of(toolbox.unchanged(), "run")?;
    let mut verdict = Verdict::default();
    let mut messages = MessageParser::default();
    verdict.jobs.push(build_tests_command().job(toolbox, &project)?.run(&relay, &mut messages)?);
    verdict.add_diagnostics(messages.finish(&relay, &project));
    let mut count = 0;
    if verdict.may_continue() {
        let job = test_command(name, inputs).job(toolbox, &project)?;
        let job = super::job::Job {
            display_name: "the test",
            timeout: toolbox.run_timeout,
            output_limit: OUTPUT_BYTES,
            code: Code::CommandFailed,
            ..job
        };
        let mut tests = NamedTests { name, count: 0, parser: TestParser::default() };
        verdict.jobs.push(job.run(&relay, &mut tests)?);
        count = tests.count;
        let base = relay.cargo().root_of(&project);
        verdict.add_diagnostics(tests.parser.finish(&mut Names::new(toolbox, base)));
        if count == 0 && verdict.jobs.iter().all(|job| job.process.is_success()) {
            verdict.error = Some(ProgramError::NoFunction { name: name.to_owned(), known }.into());
        }
    }
    verdict.set_error(FinishedJob::cargo_failed);
    verdict.fields =
        json!({ "action": "test", "by": "cargo", "entry": name, "args": inputs, "tests": count });
    Ok(verdict.into_call_result(relay))
}

/// Parses the output of the harness, and counts the tests with this name that ran.
struct NamedTests<'n> {
    name: &'n str,
    count: u64,
    parser: TestParser,
}

impl OutputParser for NamedTests<'_> {
    fn holds_back(&self, stream: Stream) -> bool {
        self.parser.holds_back(stream)
    }

    fn parse_line(&mut self, stream: Stream, line: &[u8]) -> Forward {
        let result_line = || {
            let rest = line.strip_prefix(b"test ")?.strip_prefix(self.name.as_bytes())?;
            (rest.starts_with(b" ... ") || rest.starts_with(b" - should panic ... ")).then_some(())
        };
        if stream == Stream::Stdout && result_line().is_some() {
            self.count += 1;
        }
        self.parser.parse_line(stream, line)
    }
}
