//! Runs the commands of a workspace like `shell` commands, and parses their output.

use std::time::SystemTime;

use serde_json::json;

use super::matcher::{LINE_BYTES, Matcher, Problem, SARIF_BYTES, parse_sarif};
use super::{CommandName, WorkspaceCommand, not_trusted};
use crate::cargo::{Names, Project};
use crate::plan::{Build, Code, Digest, ToolCall};
use crate::run::{DiagnosticArtifact, Level, Preview, Stream, text};
use crate::tools::command_shell::OUTPUT_BYTES;
use crate::tools::program::ProgramError;
use crate::tools::program::cargo::MessageParser;
use crate::tools::program::collected::Collected;
use crate::tools::program::job::{FinishedJob, Job};
use crate::tools::program::relay::{Forward, OutputParser, Relay};
use crate::tools::program::verdict::Verdict;
use crate::tools::tool::set_field;
use crate::tools::{ToolError, Toolbox, command_shell};
use crate::workspace::{Access, Last, WorkspaceError, file};

/// Runs the commands for a call in order until one fails.
///
/// # Errors
/// No person trusts the file with this digest, the call has arguments but the run command no `$@`, or a command
/// cannot be started.
pub(in crate::tools::program) fn run(
    relay: &Relay<'_>,
    (digest, commands): (Digest, Vec<WorkspaceCommand>),
    call: &ToolCall,
) -> Result<Verdict, ToolError> {
    let toolbox = relay.toolbox;
    if !toolbox.trusts(digest) {
        return Err(not_trusted(digest).into());
    }
    let mut verdict = Verdict::default();
    for command in &commands {
        let job = job(toolbox, command, call)?;
        let is_run = command.name == CommandName::Run;
        let before = report_stamp(toolbox, command);
        let mut parser = MatcherParser::new(&command.matcher);
        let finished = job.run(relay, &mut parser)?;
        let succeeded = finished.process.is_success();
        verdict.jobs.push(finished);
        match parser.finish(relay, command, before) {
            Ok(diagnostics) => verdict.add_diagnostics(diagnostics),
            // A missing or invalid log is the error only if the command itself succeeded.
            Err(status) if succeeded => {
                verdict.error = verdict.jobs.last().map(|job| job.command_failed(status).into());
            }
            Err(_) => {}
        }
        verdict.set_error(|job, status| match is_run {
            true => ProgramError::ProgramFailed { status },
            false => job.command_failed(status),
        });
        if verdict.error.is_some() {
            break;
        }
    }
    let action = call.tool().name();
    verdict.fields = json!({ "by": super::FILE, "commands_digest": digest, "action": action });
    if let ToolCall::Verify { scope } = call {
        set_field(&mut verdict.fields, "scope", scope.as_str());
        set_field(&mut verdict.fields, "passed", verdict.error.is_none());
    }
    Ok(verdict)
}

fn job(toolbox: &Toolbox, command: &WorkspaceCommand, call: &ToolCall) -> Result<Job, ToolError> {
    let (build, args) = match call {
        ToolCall::Compile { build } => (Some(build), &[][..]),
        ToolCall::Run { build, args } => (Some(build), args.as_slice()),
        _ => (None, &[][..]),
    };
    let shell = toolbox.command_shell()?;
    let mut arguments: Vec<String> =
        shell.arguments(&command.command).into_iter().map(str::to_owned).collect();
    check_arguments(command, args)?;
    if command.name == CommandName::Run && !args.is_empty() {
        // The shell takes the first of these as `$0` and the others as `"$@"`, and parses none of them as code.
        arguments.push("countersign".to_owned());
        arguments.extend(args.iter().cloned());
    }
    Ok(Job {
        command: command.command.clone(),
        display_name: command.name.display_name(),
        program: shell.path.clone(),
        arguments,
        key: ".".to_owned(),
        folder: toolbox.workspace().to_owned(),
        environment: build.map(environment).unwrap_or_default(),
        unset: command_shell::removed_variables(),
        timeout: command.timeout,
        output_limit: OUTPUT_BYTES,
        code: Code::CommandFailed,
    })
}

/// Checks that the run command has a `$@` if the call has arguments.
fn check_arguments(command: &WorkspaceCommand, args: &[String]) -> Result<(), ProgramError> {
    let takes_none = command.name == CommandName::Run && !command.command.contains("$@");
    if takes_none && !args.is_empty() { Err(ProgramError::NoArguments) } else { Ok(()) }
}

/// The environment variables with the parameters of a `compile` or `run` call.
fn environment(build: &Build) -> Vec<(&'static str, String)> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    vec![
        ("COUNTERSIGN_OPT_LEVEL", build.opt_level.as_str().to_owned()),
        ("COUNTERSIGN_ENTRY", text(&build.entry_function)),
        ("COUNTERSIGN_TARGET", text(&build.target_triple)),
        ("COUNTERSIGN_DEBUG_SYMBOLS", u8::from(build.debug_symbols).to_string()),
    ]
}

/// Parses the output of a command with its matcher.
enum MatcherParser<'m> {
    Cargo(MessageParser),
    /// Matches each line. [`Matcher::None`] and a SARIF log in a file match no line.
    Lines(&'m Matcher, Collected<Problem>),
    /// Collects stdout as a SARIF log, up to the size limit.
    Sarif(Vec<u8>),
}

impl<'m> MatcherParser<'m> {
    fn new(matcher: &'m Matcher) -> Self {
        match matcher {
            Matcher::CargoJson => Self::Cargo(MessageParser::default()),
            Matcher::Sarif { file: None } => Self::Sarif(Vec::new()),
            matcher => Self::Lines(matcher, Collected::default()),
        }
    }

    /// The diagnostics, and the number of those left out. `before` is the stamp of the report file before the
    /// command ran.
    ///
    /// # Errors
    /// Why there is no valid SARIF log, as the end of a sentence that begins with the command.
    fn finish(
        self,
        relay: &Relay<'_>,
        command: &WorkspaceCommand,
        before: Option<Stamp>,
    ) -> Result<(Vec<DiagnosticArtifact>, usize), String> {
        let toolbox = relay.toolbox;
        let collected = match self {
            Self::Cargo(messages) => {
                // The folder in which the command ran cargo is unknown, so file names are resolved from the
                // workspace.
                let project = Project {
                    path: ".".to_owned(),
                    folder_key: ".".to_owned(),
                    folder: toolbox.workspace().to_owned(),
                    is_workspace: true,
                };
                return Ok(messages.finish(relay, &project));
            }
            Self::Sarif(log) => {
                collect(parse_sarif(&log).map_err(|why| format!("printed no SARIF: {why}"))?)
            }
            Self::Lines(Matcher::Sarif { file: Some(path) }, _) => {
                if report_stamp(toolbox, command) == before {
                    // The command did not write the report, so only its exit status counts.
                    return Ok((Vec::new(), 0));
                }
                let log = read_report(toolbox, path)
                    .map_err(|error| format!("left no SARIF: {error}"))?;
                collect(parse_sarif(&log).map_err(|why| format!("left no SARIF in {path}: {why}"))?)
            }
            Self::Lines(_, collected) => collected,
        };
        let (problems, left_out) = collected.finish();
        let mut names = Names::new(toolbox, Some(toolbox.workspace().to_owned()));
        Ok((problems.into_iter().map(|problem| problem.artifact(&mut names)).collect(), left_out))
    }
}

fn collect(problems: Vec<Problem>) -> Collected<Problem> {
    let mut collected = Collected::default();
    for problem in problems {
        collected.push(problem.level() == Level::Error, problem);
    }
    collected
}

impl OutputParser for MatcherParser<'_> {
    fn holds_back(&self, stream: Stream) -> bool {
        matches!(self, Self::Cargo(messages) if messages.holds_back(stream))
    }

    fn parse_line(&mut self, stream: Stream, line: &[u8]) -> Forward {
        match self {
            Self::Cargo(messages) => return messages.parse_line(stream, line),
            Self::Lines(matcher, collected) if line.len() <= LINE_BYTES => {
                if let Some(problem) = matcher.match_line(&String::from_utf8_lossy(line)) {
                    collected.push(problem.level() == Level::Error, problem);
                }
            }
            Self::Sarif(log)
                if stream == Stream::Stdout && log.len() + line.len() < SARIF_BYTES =>
            {
                log.extend_from_slice(line);
                log.push(b'\n');
            }
            Self::Lines(..) | Self::Sarif(_) => {}
        }
        Forward::Unchanged
    }
}

/// The size and the modification time of a report file, by which a new report is detected.
type Stamp = (u64, Option<SystemTime>);

/// The stamp of the report file of a command; `None` if its matcher names none or the file cannot be opened.
fn report_stamp(toolbox: &Toolbox, command: &WorkspaceCommand) -> Option<Stamp> {
    let Matcher::Sarif { file: Some(path) } = &command.matcher else { return None };
    let place = toolbox.resolve(path, Last::Follow).ok()?;
    let (_, data) = place.open(path, Access::Read).ok()??;
    Some((data.len(), data.modified().ok().map(|time| time.into_std())))
}

fn read_report(toolbox: &Toolbox, path: &str) -> Result<Vec<u8>, WorkspaceError> {
    let place = toolbox.resolve(path, Last::Follow)?;
    let opened = place.open(path, Access::Read)?;
    let (report, _) = opened.ok_or_else(|| WorkspaceError::NotFound { path: path.to_owned() })?;
    file::read_up_to(report, path, Access::Read, SARIF_BYTES as u64)
}

/// The preview of the commands.
///
/// # Errors
/// There is no shell, or the call has arguments but the run command no `$@`.
pub(in crate::tools::program) fn preview(
    toolbox: &Toolbox,
    (digest, commands): &(Digest, Vec<WorkspaceCommand>),
    args: &[String],
) -> Result<Preview, ToolError> {
    let shell = toolbox.command_shell()?;
    for command in commands {
        check_arguments(command, args)?;
    }
    let named: Vec<_> = commands.iter().map(|command| format!("`{}`", command.command)).collect();
    let mut notes: Vec<String> = commands
        .iter()
        .map(|command| {
            let evaluation = match &command.matcher {
                Matcher::None => "only its exit code counts".to_owned(),
                Matcher::Sarif { file: Some(file) } => {
                    format!("its diagnostics are read from {file}")
                }
                matcher => format!("its output is read by the matcher {}", matcher.description()),
            };
            format!(
                "{} of {}: time limit {}; {evaluation}.",
                command.name.as_str(),
                super::FILE,
                text::duration(command.timeout),
            )
        })
        .collect();
    if !args.is_empty() {
        notes.push(format!("The run command is given the arguments {args:?} as \"$@\"."));
    }
    notes.push(format!("Run by {} as {}.", shell.path.display(), command_shell::user()));
    if !toolbox.trusts(*digest) {
        notes.push(format!("The commands of {} are not trusted yet.", super::FILE));
    }
    let summary = format!("Runs {} in the workspace folder.", named.join(", then "));
    Ok(Preview::unpredictable(summary, notes))
}

impl FinishedJob {
    /// The error of a failed command, with the end of its output. `status` is the end of a sentence that begins with
    /// the command.
    fn command_failed(&self, status: String) -> ProgramError {
        let stderr = self.process.stderr.latest();
        let bytes = if stderr.is_empty() { self.process.stdout.latest() } else { stderr };
        ProgramError::Failed {
            program: self.job.command.clone(),
            status,
            output: output_end(&bytes),
        }
    }
}

/// Maximum size of the output in a message, in bytes.
const MESSAGE_BYTES: usize = 4096;

/// The end of an output that fits into a message.
fn output_end(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_end();
    let start = text.ceil_char_boundary(text.len().saturating_sub(MESSAGE_BYTES));
    match text.get(start..) {
        Some(end) if start > 0 => format!("…{end}"),
        _ => text.to_owned(),
    }
}
