//! The headless commands, for scripts and for people at a terminal. They use the same core as the window.
//!
//! Of the program only `main` uses this module. Results are printed to stdout: for people, or with `--json` as one document or as
//! one document per line. Everything else is printed to stderr. A plan is never run in a way that the window does not
//! offer.

mod acp;
mod args;
mod bounded;
mod check;
mod confirmation;
mod convert;
mod doctor;
mod documents;
mod evidence;
mod explain;
mod fleet;
mod folded;
mod follow_up;
mod hook;
mod hook_doctor;
mod hook_handle;
mod hook_settings;
mod inbox;
mod inputs;
mod log_start;
mod mcp;
mod opening;
mod output;
mod passphrase;
mod plan;
mod planner;
mod progress;
mod propose;
mod refusal;
mod request_text;
mod review;
mod revise;
mod risk;
mod run;
mod schema;
mod settings;
mod signals;
mod simulate;
mod time;
mod trust;
mod walls;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::Styles;
use clap::{CommandFactory as _, Parser as _};

use crate::engine::FollowUp;
use crate::plan::quoted;
use crate::process::start_askpass;
use crate::process::walls::start_helper;
use crate::run::SettleMode;
use args::{Arguments, Command, Hook, HookAction};
use output::Output;
use refusal::Refusal;

/// The options of the command line for opening the window.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WindowOptions {
    /// The plan file to open.
    pub plan: Option<PathBuf>,
    /// The workspace of the plan; `None` for the default one.
    pub workspace: Option<PathBuf>,
    /// The evidence folder; `None` for the user's own.
    pub evidence: Option<PathBuf>,
}

/// The result of a command line.
#[derive(Debug)]
pub enum Started {
    /// The window is to be opened with these options.
    Window(WindowOptions),
    /// A headless command has ended with this exit code.
    Done(ExitCode),
}

/// The exit codes of the headless commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exit {
    /// The command has succeeded.
    Done = 0,
    /// The run, the loop or the connection failed, the run was cancelled, or a result could not be printed.
    Failed = 1,
    /// The plan is invalid or its file cannot be read.
    InvalidPlan = 2,
    /// The plan is not authorized, or something that was approved has changed.
    NotAuthorized = 3,
    /// The evidence could not be written or read.
    Evidence = 4,
    /// The command line or the settings are invalid, or a named workspace, run or record cannot be used.
    Usage = 5,
    /// Verification found that the evidence was tampered with.
    Tampered = 6,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// The definition of the command line, of which man pages and completions of shells are made.
pub fn command_line() -> clap::Command {
    Arguments::command()
}

/// Parses a command line, with the program name first, and runs the headless command that it names.
pub fn start(line: impl IntoIterator<Item = OsString>) -> Started {
    // Before anything else: each walled step starts this program as its helper process.
    if let Some(code) = start_helper(std::env::args_os()) {
        return Started::Done(code);
    }
    if let Some(code) = start_askpass(std::env::args_os()) {
        return Started::Done(code);
    }
    // Must be called while there is only one thread.
    crate::code::count_memory();
    let line: Vec<OsString> = line.into_iter().collect();
    let name = line.get(1).map(|word| word.to_string_lossy().into_owned());
    let is_hook = line.get(1).is_some_and(|word| word == "hook");
    let arguments = match Arguments::try_parse_from(&line) {
        Ok(arguments) => arguments,
        // Agents would let the call pass for another code than 2, which is also that of an invalid plan.
        Err(error) if is_hook && error.use_stderr() => {
            print_clap_error(&line, &error);
            return Started::Done(Exit::InvalidPlan.into());
        }
        Err(error) => return Started::Done(print_clap_error(&line, &error).into()),
    };
    let name = name.filter(|_| arguments.command.is_some());
    log_start::start_log(arguments.log_level, name.as_deref().unwrap_or("window"));
    let started = match arguments.command {
        Some(Command::Hook(Hook { action: None, answer })) => Started::Done(hook::hook(&answer)),
        Some(Command::Exec(command)) => Started::Done(hook::exec(&command)),
        Some(command) => Started::Done(headless(command).into()),
        None => match arguments.window() {
            Ok(options) => Started::Window(options),
            Err(message) => {
                output::say(&message);
                Started::Done(Exit::Usage.into())
            }
        },
    };
    if matches!(started, Started::Done(_)) {
        log::logger().flush();
    }
    started
}

/// Prints a message to stderr, with hidden characters marked.
pub fn say(message: &str) {
    output::say(message);
}

/// Prints help and version to stdout, and errors of the command line to stderr.
fn print_clap_error(line: &[OsString], error: &clap::Error) -> Exit {
    if error.use_stderr() {
        output::say(error_text(line, error).trim_end());
        return Exit::Usage;
    }
    // An error of printing cannot be reported.
    let _ = error.print();
    Exit::Done
}

/// What is wrong with a command line. It repeats what was typed or passed on, so that is [`quoted`], as everything from
/// outside; for that the line is read once more. Without colours, whose escapes nothing tells from those in an argument.
fn error_text(line: &[OsString], error: &clap::Error) -> String {
    let quoted = line.iter().map(|word| quoted(&word.to_string_lossy()).into_owned());
    let again = Arguments::command().styles(Styles::plain()).try_get_matches_from(quoted);
    match again {
        Err(again) if again.kind() == error.kind() => again.to_string(),
        _ => error.to_string(),
    }
}

fn headless(command: Command) -> Exit {
    let mut out = Output::new(command.json());
    let result = match command {
        Command::Check(command) => check::check(&command, &mut out),
        Command::Simulate(command) => simulate::simulate(&command, &mut out),
        Command::Run(command) => run::run(&command, &mut out),
        Command::Continue(it) => follow_up::run(FollowUp::Continue, &it.run, &it.again, &mut out),
        Command::Acp(command) => acp::acp(&command, &mut out),
        Command::Plan(command) => plan::plan(&command, &mut out),
        Command::Loop(command) => bounded::bounded(&command, &mut out),
        Command::Revert(it) => follow_up::run(FollowUp::Revert, &it.id, &it.again, &mut out),
        Command::Reconcile(it) => {
            let way = if it.finish { SettleMode::Finish } else { SettleMode::RollBack };
            follow_up::run(FollowUp::Settle(way), &it.run, &it.again, &mut out)
        }
        Command::Evidence(command) => evidence::evidence(&command, &mut out),
        Command::Walls(command) => walls::walls(&command, &mut out),
        Command::Convert(command) => convert::convert(&command, &mut out),
        Command::Revise(command) => revise::revise(&command, &mut out),
        Command::ReviewRequest(command) => review::request(&command, &mut out),
        Command::Review(command) => review::show(&command, &mut out),
        Command::Sign(command) => review::sign(&command, &mut out),
        Command::Propose(command) => propose::propose(&command, &mut out),
        Command::Mcp(command) => mcp::mcp(&command, &mut out),
        Command::Inbox(command) => inbox::inbox(&command, &mut out),
        Command::Explain(command) => explain::explain(&command, &mut out),
        Command::Risk(command) => risk::risk(&command, &mut out),
        Command::Settings(command) => settings::settings(&command, &mut out),
        Command::Planner(command) => planner::planner(&command, &mut out),
        Command::Hook(command) => match command.action {
            Some(HookAction::Install(command)) => hook_settings::install(&command, &mut out),
            Some(HookAction::Remove(command)) => hook_settings::remove(&command, &mut out),
            Some(HookAction::Doctor(command)) => hook_doctor::doctor(&command, &mut out),
            // This and `exec` have been run before, because their exit codes are others.
            None => Ok(Exit::Usage),
        },
        Command::Exec(_) => Ok(Exit::Usage),
        Command::Doctor(command) => doctor::doctor(&command, &mut out),
        Command::Schema(command) => Ok(schema::schema(&command, &mut out)),
    };
    let exit = result.unwrap_or_else(|refusal: Refusal| refusal.print(&mut out));
    let exit = out.finish(exit);
    log::info!("command ended exit={}", exit as u8);
    exit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::is_hidden;

    #[test]
    fn no_argument_is_repeated_raw() {
        for (words, shown) in [
            (&["check", "a", "b\u{1b}]0;x\u{7}"][..], "b⟨ESC⟩]0;x⟨U+0007⟩"),
            (&["--log-level", "\u{202e}x"], "⟨U+202E⟩x"),
            (&["run", "p", "--authorize", "\u{9b}2J"], "⟨U+009B⟩2J"),
            (&["run", "p", "--confirm", "\u{200b}"], "⟨U+200B⟩"),
            (&["evidence", "show", "\u{2066}1"], "⟨U+2066⟩1"),
            (&["schema", "\u{1b}[2J"], "⟨ESC⟩[2J"),
            (&["--\u{1b}[2J"], "⟨ESC⟩[2J"),
            // No line looks like one of this program.
            (&["check", "a", "b\nAuthorized: all"], "b⟨U+000A⟩Authorized: all"),
            (&["schema", "⟨ESC⟩"], "⟨U+27E8⟩ESC⟩"),
            (&["schema", "plain"], "'plain'"),
        ] {
            let line: Vec<_> = ["countersign"].iter().chain(words).map(OsString::from).collect();
            let error = Arguments::try_parse_from(&line).unwrap_err();
            let text = error_text(&line, &error);
            let raw = text.chars().find(|c| is_hidden(*c) && *c != '\n');
            assert_eq!(raw, None, "{text:?}");
            assert!(text.contains(shown), "{words:?}: {text}");
        }
    }
}
