//! Verifies, builds and runs the program, with the commands of the workspace or with cargo.

use std::path::Path;

use serde_json::json;

use super::cargo::{MessageParser, OutputForm};
use super::harness::TestParser;
use super::job::{FinishedJob, Job};
use super::relay::{NoParser, Relay};
use super::verdict::Verdict;
use super::{ProgramError, cargo, target, workspace};
use crate::cargo::{CargoError, Names, Project, project};
use crate::plan::{Build, Code, ToolCall, VerifyScope};
use crate::tools::command_shell::OUTPUT_BYTES;
use crate::tools::tool::set_field;
use crate::tools::{CallResult, Context, ToolError, Toolbox, Unsupported};
use crate::workspace::{Projected, check_cancelled};

/// The Cargo project of the workspace folder.
///
/// # Errors
/// A path that cannot be read, or no project. The latter is reported as [`ProgramError::NoCommand`], because the caller
/// has found no command for `action` either.
pub(super) fn project_of(
    projected: Projected<'_>,
    action: &'static str,
) -> Result<Project, ToolError> {
    project(projected, ".").map_err(|error| match error {
        CargoError::NoProject { .. } => ProgramError::NoCommand { action }.into(),
        error => error.into(),
    })
}

/// Verifies, builds or runs the program, with the commands of the workspace if it has any for the call.
pub(super) fn invoke(
    toolbox: &Toolbox,
    call: &ToolCall,
    context: &Context<'_>,
) -> Result<CallResult, ToolError> {
    check_cancelled(context.stop)?;
    let relay = Relay::new(toolbox, context);
    if let Some(commands) = workspace::commands_for(toolbox.unchanged(), call)? {
        let verdict = workspace::run::run(&relay, commands, call)?;
        return Ok(verdict.into_call_result(relay));
    }
    let verdict = match call {
        ToolCall::Verify { scope } => verify(&relay, *scope)?,
        ToolCall::Compile { build } => compile(&relay, build, None)?,
        ToolCall::Run { build, args } => compile(&relay, build, Some(args))?,
        _ => return Err(unsupported(call)),
    };
    Ok(verdict.into_call_result(relay))
}

fn verify(relay: &Relay<'_>, scope: VerifyScope) -> Result<Verdict, ToolError> {
    let toolbox = relay.toolbox;
    let project = project_of(toolbox.unchanged(), "verify")?;
    let mut verdict = Verdict::default();
    for command in cargo::verify_commands(scope) {
        let job = command.job(toolbox, &project)?;
        match command.output {
            OutputForm::Messages => {
                let mut messages = MessageParser::default();
                verdict.jobs.push(job.run(relay, &mut messages)?);
                verdict.add_diagnostics(messages.finish(relay, &project));
            }
            OutputForm::Tests => {
                let mut tests = TestParser::default();
                verdict.jobs.push(job.run(relay, &mut tests)?);
                let base = relay.cargo().root_of(&project);
                verdict.add_diagnostics(tests.finish(&mut Names::new(toolbox, base)));
            }
        }
        if !verdict.may_continue() {
            break;
        }
    }
    verdict.set_error(FinishedJob::cargo_failed);
    let passed = verdict.error.is_none();
    verdict.fields =
        json!({ "action": "verify", "by": "cargo", "scope": scope.as_str(), "passed": passed });
    Ok(verdict)
}

/// Builds the program, and runs it if `arguments` is not `None`.
fn compile(
    relay: &Relay<'_>,
    build: &Build,
    arguments: Option<&[String]>,
) -> Result<Verdict, ToolError> {
    let toolbox = relay.toolbox;
    let action = if arguments.is_some() { "run" } else { "compile" };
    let project = project_of(toolbox.unchanged(), action)?;
    let entry = build.entry_function.as_deref();
    let selected = match (entry, arguments) {
        (None, None) => None,
        _ => Some(target::select(relay, &project, entry)?),
    };
    let mut verdict = Verdict::default();
    let mut messages = MessageParser::default();
    let job = cargo::build_command(build, selected.as_ref()).job(toolbox, &project)?;
    verdict.jobs.push(job.run(relay, &mut messages)?);
    let built = std::mem::take(&mut messages.built);
    verdict.add_diagnostics(messages.finish(relay, &project));
    verdict.set_error(FinishedJob::cargo_failed);
    verdict.fields = json!({
        "action": action,
        "by": "cargo",
        "opt_level": build.opt_level,
        "target_triple": build.target_triple,
        "debug_symbols": build.debug_symbols,
        "entry": selected.as_ref().map(|target| &target.name),
        "programs": built.iter().map(|program| &program.path).collect::<Vec<_>>(),
        "built": verdict.error.is_none(),
    });
    if let (Some(arguments), Some(selected), true) = (arguments, &selected, verdict.error.is_none())
    {
        match cargo::path_of(&built, selected) {
            Some(program) => {
                set_field(&mut verdict.fields, "program", program.to_string_lossy());
                set_field(&mut verdict.fields, "args", arguments);
                run_program(relay, program, arguments, &mut verdict)?;
            }
            None => {
                let name = selected.name.clone();
                verdict.error = Some(ProgramError::NoExecutablePath { name }.into());
            }
        }
    }
    Ok(verdict)
}

/// Runs the built program in the workspace folder, without a shell.
fn run_program(
    relay: &Relay<'_>,
    program: &Path,
    arguments: &[String],
    verdict: &mut Verdict,
) -> Result<(), ToolError> {
    let words = std::iter::once(program.to_string_lossy().into_owned());
    let words: Vec<_> =
        words.chain(arguments.iter().map(|argument| format!("{argument:?}"))).collect();
    let job = Job {
        command: words.join(" "),
        display_name: "the program",
        program: program.to_owned(),
        arguments: arguments.to_vec(),
        key: ".".to_owned(),
        folder: relay.toolbox.workspace().to_owned(),
        environment: Vec::new(),
        unset: Vec::new(),
        timeout: relay.toolbox.run_timeout,
        output_limit: OUTPUT_BYTES,
        code: Code::CommandFailed,
    };
    let finished = job.run(relay, &mut NoParser)?;
    let failure = || {
        let status = finished.process.failure()?;
        Some(ProgramError::ProgramFailed { status }.into())
    };
    verdict.error = finished.termination_error().map(ToolError::from).or_else(failure);
    verdict.jobs.push(finished);
    Ok(())
}

/// The error for a call that this module does not handle.
pub(super) fn unsupported(call: &ToolCall) -> ToolError {
    Unsupported { what: format!("{} is not available yet", call.tool().name()) }.into()
}
