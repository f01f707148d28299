//! Verifies, builds and runs the program, with the commands of the workspace or with cargo.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::cargo::{CargoError, Names, Project, project};
use crate::plan::{Build, Code, Digest, ToolCall, VerifyScope};
use crate::tools::command_shell::OUTPUT_BYTES;
use crate::tools::{Context, Invocation, ToolError, Toolbox, Unsupported};
use crate::workspace::{Projected, check_cancelled};

use super::cargo::{self, Answers, Messages};
use super::error::ProgramError;
use super::harness::Tests;
use super::job::{Job, Ran};
use super::relay::{Nothing, Relay};
use super::target;
use super::verdict::Verdict;
use super::workspace::{self, WorkspaceCommand};

/// The Cargo project of the workspace folder.
///
/// # Errors
/// When there is neither a command nor a project for this action.
pub(super) fn project_of(at: Projected<'_>, action: &'static str) -> Result<Project, ToolError> {
    project(at, ".").map_err(|error| match error {
        CargoError::NoProject { .. } => ProgramError::NoCommand { action }.into(),
        error => error.into(),
    })
}

/// Verifies, builds or runs.
pub(super) fn invoke(
    toolbox: &Toolbox,
    call: &ToolCall,
    context: &Context<'_>,
) -> Result<Invocation, ToolError> {
    check_cancelled(context.stop)?;
    let relay = Relay::new(toolbox, context);
    if let Some(commands) = workspace::used(toolbox.unchanged(), call)? {
        let verdict = by_workspace(toolbox, commands, call, &relay, context)?;
        return Ok(verdict.invocation(toolbox, relay));
    }
    let verdict = match call {
        ToolCall::Verify { scope } => verify(toolbox, *scope, &relay, context)?,
        ToolCall::Compile { build } => compile(toolbox, build, None, &relay, context)?,
        ToolCall::Run { build, args } => compile(toolbox, build, Some(args), &relay, context)?,
        _ => return Err(not_yet(call)),
    };
    Ok(verdict.invocation(toolbox, relay))
}

/// Verifies, builds or runs with the commands of the workspace.
fn by_workspace(
    toolbox: &Toolbox,
    commands: (Digest, Vec<WorkspaceCommand>),
    call: &ToolCall,
    relay: &Relay<'_>,
    context: &Context<'_>,
) -> Result<Verdict, ToolError> {
    let (build, args) = match call {
        ToolCall::Compile { build } => (Some(build), &[][..]),
        ToolCall::Run { build, args } => (Some(build), args.as_slice()),
        _ => (None, &[][..]),
    };
    let asked = workspace::run::Request { build, args };
    let mut verdict = workspace::run::run(toolbox, commands, &asked, relay, context)?;
    verdict.facts.insert("action".to_owned(), call.tool().name().into());
    if let ToolCall::Verify { scope } = call {
        verdict.facts.insert("scope".to_owned(), scope.as_str().into());
        verdict.facts.insert("passed".to_owned(), verdict.error.is_none().into());
    }
    Ok(verdict)
}

fn verify(
    toolbox: &Toolbox,
    scope: VerifyScope,
    relay: &Relay<'_>,
    context: &Context<'_>,
) -> Result<Verdict, ToolError> {
    let project = project_of(toolbox.unchanged(), "verify")?;
    let mut verdict = Verdict::default();
    for command in cargo::verify(scope) {
        let job = command.job(toolbox, &project)?;
        match command.answers {
            Answers::Messages => {
                let mut messages = Messages::default();
                verdict.ran.push(job.run(relay, &mut messages)?);
                verdict.add(messages.finish(toolbox, &project, context));
            }
            Answers::Tests => {
                let mut tests = Tests::default();
                verdict.ran.push(job.run(relay, &mut tests)?);
                let base = toolbox.cargo(context).root_of(&project);
                verdict.add(tests.finish(&mut Names::new(toolbox, base)));
            }
        }
        if !verdict.goes_on() {
            break;
        }
    }
    verdict.fail(Ran::cargo_failed);
    verdict.facts = Map::from_iter([
        ("action".to_owned(), "verify".into()),
        ("by".to_owned(), "cargo".into()),
        ("scope".to_owned(), scope.as_str().into()),
        ("passed".to_owned(), verdict.error.is_none().into()),
    ]);
    Ok(verdict)
}

/// Builds the program, and runs it when the call has arguments for it.
fn compile(
    toolbox: &Toolbox,
    build: &Build,
    arguments: Option<&[String]>,
    relay: &Relay<'_>,
    context: &Context<'_>,
) -> Result<Verdict, ToolError> {
    let action = if arguments.is_some() { "run" } else { "compile" };
    let project = project_of(toolbox.unchanged(), action)?;
    let entry = build.entry_function.as_deref();
    let selected = match (entry, arguments) {
        (None, None) => None,
        _ => Some(target::select(toolbox, &project, entry, context)?),
    };
    let mut verdict = Verdict::default();
    let mut messages = Messages::default();
    let job = cargo::build(build, selected.as_ref()).job(toolbox, &project)?;
    verdict.ran.push(job.run(relay, &mut messages)?);
    let built = std::mem::take(&mut messages.built);
    verdict.add(messages.finish(toolbox, &project, context));
    verdict.fail(Ran::cargo_failed);
    let Value::Object(mut facts) = json!({
        "action": action,
        "by": "cargo",
        "opt_level": build.opt_level,
        "target_triple": build.target_triple,
        "debug_symbols": build.debug_symbols,
        "entry": selected.as_ref().map(|it| &it.name),
        "programs": built.iter().map(|it| &it.path).collect::<Vec<_>>(),
        "built": verdict.error.is_none(),
    }) else {
        return Ok(verdict);
    };
    if let (Some(arguments), Some(selected), true) = (arguments, &selected, verdict.error.is_none())
    {
        match cargo::built(&built, selected) {
            Some(program) => {
                facts.insert("program".to_owned(), program.to_string_lossy().into());
                facts.insert("args".to_owned(), arguments.into());
                start(toolbox, program, arguments, relay, &mut verdict)?;
            }
            None => {
                let name = selected.name.clone();
                verdict.error = Some(ProgramError::NotBuilt { name }.into());
            }
        }
    }
    verdict.facts = facts;
    Ok(verdict)
}

/// Runs the built program in the workspace folder, without a shell.
fn start(
    toolbox: &Toolbox,
    program: &Path,
    arguments: &[String],
    relay: &Relay<'_>,
    verdict: &mut Verdict,
) -> Result<(), ToolError> {
    let words = std::iter::once(program.to_string_lossy().into_owned());
    let words: Vec<_> = words.chain(arguments.iter().map(|it| format!("{it:?}"))).collect();
    let job = Job {
        command: words.join(" "),
        called: "the program",
        program: program.to_owned(),
        arguments: arguments.to_vec(),
        key: ".".to_owned(),
        folder: toolbox.workspace().to_owned(),
        environment: Vec::new(),
        unset: Vec::new(),
        timeout: toolbox.run_timeout,
        output_limit: OUTPUT_BYTES,
        code: Code::CommandFailed,
    };
    let ran = job.run(relay, &mut Nothing)?;
    let how = || ran.finished.failure().map(|how| ProgramError::ProgramFailed { how }.into());
    verdict.error = ran.ended().map(ToolError::from).or_else(how);
    verdict.ran.push(ran);
    Ok(())
}

/// The error for a call that this module does not handle.
pub(super) fn not_yet(call: &ToolCall) -> ToolError {
    Unsupported { what: format!("{} is not available yet", call.tool().name()) }.into()
}
