//! Runs the commands of a workspace like `shell` commands, and parses their output.

use std::time::SystemTime;

use crate::cargo::{Names, Project};
use crate::plan::{Build, Code, Digest};
use crate::run::{DiagnosticArtifact, Level, Preview, Stream, text};
use crate::tools::command_shell::{self, OUTPUT_BYTES};
use crate::tools::program::cargo::Messages;
use crate::tools::program::error::ProgramError;
use crate::tools::program::found::Found;
use crate::tools::program::job::{Job, Ran};
use crate::tools::program::relay::{Forward, Reads, Relay};
use crate::tools::program::verdict::Verdict;
use crate::tools::{Context, ToolError, Toolbox};
use crate::workspace::{Access, Last, WorkspaceError, file};

use super::file::{CommandName, WorkspaceCommand};
use super::matcher::{LINE_BYTES, Matcher, Problem, SARIF_BYTES, sarif};
use super::not_trusted;

/// The parameters of the call that the commands carry out.
pub(in crate::tools::program) struct Request<'a> {
    pub(in crate::tools::program) build: Option<&'a Build>,
    pub(in crate::tools::program) args: &'a [String],
}

/// Runs the commands in order until one fails. Fails unless a person trusts the file with this digest.
pub(in crate::tools::program) fn run(
    toolbox: &Toolbox,
    (digest, commands): (Digest, Vec<WorkspaceCommand>),
    asked: &Request<'_>,
    relay: &Relay<'_>,
    context: &Context<'_>,
) -> Result<Verdict, ToolError> {
    if !toolbox.trusts(digest) {
        return Err(not_trusted(digest).into());
    }
    let mut verdict = Verdict::default();
    for command in &commands {
        let job = job(toolbox, command, asked)?;
        let is_run = command.name == CommandName::Run;
        let before = report(toolbox, command);
        let mut listener = Listener::of(&command.matcher);
        let ran = job.run(relay, &mut listener)?;
        let is_fine = ran.finished.is_success();
        verdict.ran.push(ran);
        match listener.finish(toolbox, command, before, context) {
            Ok(said) => verdict.add(said),
            // A missing or invalid log is the error only when the command itself succeeded.
            Err(how) if is_fine => {
                verdict.error = verdict.ran.last().map(|ran| ran.failed(how).into());
            }
            Err(_) => {}
        }
        verdict.fail(|ran, how| match is_run {
            true => ProgramError::ProgramFailed { how },
            false => ran.failed(how),
        });
        if verdict.error.is_some() {
            break;
        }
    }
    verdict.facts.insert("by".to_owned(), super::FILE.into());
    verdict.facts.insert("commands_digest".to_owned(), digest.to_string().into());
    Ok(verdict)
}

fn job(
    toolbox: &Toolbox,
    command: &WorkspaceCommand,
    asked: &Request<'_>,
) -> Result<Job, ToolError> {
    let reader = toolbox.command_shell()?;
    let mut arguments: Vec<String> =
        reader.arguments(&command.command).into_iter().map(str::to_owned).collect();
    if command.name == CommandName::Run && !asked.args.is_empty() {
        if !command.command.contains("$@") {
            return Err(ProgramError::NoArguments.into());
        }
        // The shell takes the first as `$0` and the others as `"$@"`. None of them is parsed as shell code.
        arguments.push("countersign".to_owned());
        arguments.extend(asked.args.iter().cloned());
    }
    Ok(Job {
        command: command.command.clone(),
        called: command.name.called(),
        program: reader.path.clone(),
        arguments,
        key: ".".to_owned(),
        folder: toolbox.workspace().to_owned(),
        environment: asked.build.map(environment).unwrap_or_default(),
        unset: command_shell::unset(),
        timeout: command.timeout,
        output_limit: OUTPUT_BYTES,
        code: Code::CommandFailed,
    })
}

/// The environment variables that describe the request to a build or run command.
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
enum Listener<'m> {
    Cargo(Messages),
    Lines(&'m Matcher, Found<Problem>),
    /// Collects stdout, up to the size limit of a SARIF log.
    Whole(Vec<u8>),
}

impl<'m> Listener<'m> {
    fn of(matcher: &'m Matcher) -> Self {
        match matcher {
            Matcher::CargoJson => Self::Cargo(Messages::default()),
            Matcher::Sarif { file: None } => Self::Whole(Vec::new()),
            matcher => Self::Lines(matcher, Found::default()),
        }
    }

    /// The diagnostics, and how many were left out.
    ///
    /// # Errors
    /// Why there is no valid log, as the end of a sentence that begins with the command.
    fn finish(
        self,
        toolbox: &Toolbox,
        command: &WorkspaceCommand,
        before: Option<Stamp>,
        context: &Context<'_>,
    ) -> Result<(Vec<DiagnosticArtifact>, usize), String> {
        let found = match self {
            Self::Cargo(messages) => {
                // The folder in which the command ran cargo is unknown, so file names are resolved from the
                // workspace.
                let project = Project {
                    path: ".".to_owned(),
                    key: ".".to_owned(),
                    folder: toolbox.workspace().to_owned(),
                    is_workspace: true,
                };
                return Ok(messages.finish(toolbox, &project, context));
            }
            Self::Whole(log) => {
                found(sarif(&log).map_err(|why| format!("printed no SARIF: {why}"))?)
            }
            Self::Lines(Matcher::Sarif { file: Some(path) }, _) => {
                if report(toolbox, command) == before {
                    // The report is from an earlier run; only the exit status counts.
                    return Ok((Vec::new(), 0));
                }
                let log = log(toolbox, path).map_err(|error| format!("left no SARIF: {error}"))?;
                found(sarif(&log).map_err(|why| format!("left no SARIF in {path}: {why}"))?)
            }
            Self::Lines(_, found) => found,
        };
        let (problems, left_out) = found.finish();
        let mut names = Names::new(toolbox, Some(toolbox.workspace().to_owned()));
        Ok((problems.into_iter().map(|it| it.artifact(&mut names)).collect(), left_out))
    }
}

fn found(problems: Vec<Problem>) -> Found<Problem> {
    let mut found = Found::default();
    for problem in problems {
        found.push(problem.level() == Level::Error, problem);
    }
    found
}

impl Reads for Listener<'_> {
    fn holds(&self, stream: Stream) -> bool {
        matches!(self, Self::Cargo(messages) if messages.holds(stream))
    }

    fn line(&mut self, stream: Stream, line: &[u8]) -> Forward {
        match self {
            Self::Cargo(messages) => return messages.line(stream, line),
            Self::Lines(matcher, found) if line.len() <= LINE_BYTES => {
                if let Some(problem) = matcher.line(&String::from_utf8_lossy(line)) {
                    found.push(problem.level() == Level::Error, problem);
                }
            }
            Self::Whole(log)
                if stream == Stream::Stdout && log.len() + line.len() < SARIF_BYTES =>
            {
                log.extend_from_slice(line);
                log.push(b'\n');
            }
            Self::Lines(..) | Self::Whole(_) => {}
        }
        Forward::AsItIs
    }
}

/// Size and modification time, to detect whether a report was written.
type Stamp = (u64, Option<SystemTime>);

/// The stamp of the report file of a command, if it has one.
fn report(toolbox: &Toolbox, command: &WorkspaceCommand) -> Option<Stamp> {
    let Matcher::Sarif { file: Some(path) } = &command.matcher else { return None };
    let place = toolbox.resolve(path, Last::Follow).ok()?;
    let (_, data) = place.open(path, Access::Read).ok()??;
    Some((data.len(), data.modified().ok().map(|time| time.into_std())))
}

fn log(toolbox: &Toolbox, path: &str) -> Result<Vec<u8>, WorkspaceError> {
    let place = toolbox.resolve(path, Last::Follow)?;
    let opened = place.open(path, Access::Read)?;
    let (report, _) = opened.ok_or_else(|| WorkspaceError::NotFound { path: path.to_owned() })?;
    file::read_up_to(report, path, Access::Read, SARIF_BYTES as u64)
}

/// The preview of the commands.
pub(in crate::tools::program) fn preview(
    toolbox: &Toolbox,
    (digest, commands): &(Digest, Vec<WorkspaceCommand>),
    args: &[String],
) -> Result<Preview, ToolError> {
    let reader = toolbox.command_shell()?;
    let named: Vec<_> = commands.iter().map(|command| format!("`{}`", command.command)).collect();
    let mut notes: Vec<String> = commands
        .iter()
        .map(|command| {
            let read = match &command.matcher {
                Matcher::None => "only its exit code counts".to_owned(),
                matcher => format!("its output is read by the matcher {}", matcher.words()),
            };
            format!(
                "{} of {}: time limit {}; {read}.",
                command.name.as_str(),
                super::FILE,
                text::duration(command.timeout),
            )
        })
        .collect();
    if !args.is_empty() {
        notes.push(format!("The run command is given the arguments {args:?} as \"$@\"."));
    }
    notes.push(format!("Run by {} as {}.", reader.path.display(), command_shell::user()));
    if !toolbox.trusts(*digest) {
        notes.push(format!("The commands of {} are not trusted yet.", super::FILE));
    }
    let summary = format!("Runs {} in the workspace folder.", named.join(", then "));
    Ok(Preview::unpredictable(summary, notes))
}

impl Ran {
    /// The error of a failed command, with the end of its output.
    fn failed(&self, how: String) -> ProgramError {
        let stderr = self.finished.stderr.latest();
        let bytes = if stderr.is_empty() { self.finished.stdout.latest() } else { stderr };
        ProgramError::Failed { program: self.job.command.clone(), how, said: last(&bytes) }
    }
}

/// Maximum size of the output in a message, in bytes.
const SAID_BYTES: usize = 4096;

/// The end of an output, as far as it fits into a message.
fn last(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_end();
    let start = text.ceil_char_boundary(text.len().saturating_sub(SAID_BYTES));
    match text.get(start..) {
        Some(end) if start > 0 => format!("…{end}"),
        _ => text.to_owned(),
    }
}
