//! The preview of `verify`, `compile` and `run`. Does not run cargo.

use super::execute::{project_of, unsupported};
use super::{cargo, workspace};
use crate::plan::{Build, ToolCall};
use crate::run::Preview;
use crate::tools::command_shell::OUTPUT_BYTES;
use crate::tools::tool::{BUILD_NOTE, limits_note};
use crate::tools::{ProjectedToolbox, ToolError};

/// Lists the commands that would run, their folder and their limits.
pub(in crate::tools) fn preview(
    projected: ProjectedToolbox<'_>,
    call: &ToolCall,
) -> Result<Preview, ToolError> {
    let toolbox = projected.toolbox;
    if let Some(commands) = workspace::commands_for(*projected, call)? {
        let args = if let ToolCall::Run { args, .. } = call { args.as_slice() } else { &[] };
        return workspace::run::preview(toolbox, &commands, args);
    }
    let (action, commands, build) = match call {
        ToolCall::Verify { scope } => ("verify", cargo::verify_commands(*scope), None),
        ToolCall::Compile { build } => {
            ("compile", vec![cargo::build_command(build, None)], Some(build))
        }
        ToolCall::Run { build, .. } => {
            ("run", vec![cargo::build_command(build, None)], Some(build))
        }
        _ => return Err(unsupported(call)),
    };
    project_of(*projected, action)?;
    toolbox.launcher.cargo()?;
    let commands: Vec<_> = commands.iter().map(|command| format!("`{}`", command.text())).collect();
    let mut summary = format!("Runs {} in the workspace folder", commands.join(", then "));
    let mut notes = Vec::new();
    if let ToolCall::Run { args, .. } = call {
        summary.push_str(", then the program that it built");
        notes.push(match args.as_slice() {
            [] => "The program is run without arguments.".to_owned(),
            args => format!("The program is run with the arguments {args:?}, not through a shell."),
        });
    }
    notes.extend(build.and_then(|build| selection_note(build, action)));
    notes.push("Runs code of the workspace: build scripts, macros, tests and programs.".to_owned());
    notes.push(BUILD_NOTE.to_owned());
    let command_limits =
        limits_note("Each command is ended", toolbox.check_timeout, crate::cargo::OUTPUT_BYTES);
    notes.push(command_limits);
    if action == "run" {
        notes.push(limits_note("The program is ended", toolbox.run_timeout, OUTPUT_BYTES));
    }
    notes.extend(toolbox.launcher.programs.ignored_program("cargo").map(|note| format!("{note}.")));
    Ok(Preview::unpredictable(format!("{summary}."), notes))
}

/// The note on how the program to build is selected, when not all programs are built.
fn selection_note(build: &Build, action: &str) -> Option<String> {
    let metadata = "`cargo metadata --no-deps` says which package it belongs to";
    match &build.entry_function {
        Some(name) => {
            Some(format!("Builds with `--bin {name}` or `--example {name}`, as {metadata}."))
        }
        None if action == "run" => {
            Some(format!("Builds with `--bin` and the default binary, as {metadata}."))
        }
        None => None,
    }
}
