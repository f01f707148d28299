//! `acp`: starts an agent of the Agent Client Protocol, asks about each of its changes, and writes what is approved
//! (SPEC §13).

mod person;
mod report;

use std::io::{PipeReader, Read as _, Write as _, pipe};
use std::sync::Arc;
use std::time::Duration;

use super::confirmation::CommandLine;
use super::evidence::say_note;
use super::opening::{current_folder, evidence_location, warn_of_other_runs, workspace};
use super::output::{Output, quoted_in_line, say};
use super::refusal::Refusal;
use super::run::{index_briefly, is_terminal};
use super::signals::stop_at_interrupt;
use super::{Exit, args};
use crate::engine::{ControlHandle, WorkspaceChoice};
use crate::plan::quoted;
use crate::run::StopSignal;
use crate::worker::acp::{Order, SILENCE, SessionEnd, Signals, StopReason, run};
use person::Terminal;
use report::Report;

/// The maximum size of a prompt, in bytes: 1 MiB.
const PROMPT_BYTES: u64 = 1 << 20;

/// Runs one prompt.
///
/// # Errors
/// The options, the workspace or the evidence cannot be used, or the agent cannot be started.
pub(super) fn acp(command: &args::Acp, out: &mut Output) -> Result<Exit, Refusal> {
    let mut interrupt = Interrupt::new()?;
    let confirmation = CommandLine::new(command.confirm, is_terminal())?;
    let prompt = prompt(command)?;
    let policy = command.options.policy()?;
    let location = evidence_location(&command.options.common.folder)?;
    let choice = workspace(command.workspace.as_deref(), &current_folder()?);
    let folder = choice.folder.canonicalize().map_err(|error| {
        let message = format!("{} cannot be the workspace: {error}", choice.folder.display());
        Refusal::usage(message, "Name another folder with --workspace.")
    })?;
    let choice = WorkspaceChoice { folder, ..choice };
    // Before the agent works: what it asks for could not be recorded otherwise.
    say_note(location.store()?.note());
    let order = Order {
        command: command.command.clone(),
        prompt,
        workspace: choice.folder.clone(),
        policy: policy.clone(),
        location: location.clone(),
        silence: match command.silence {
            Some(0) => Duration::MAX,
            Some(seconds) => Duration::from_secs(seconds),
            None => SILENCE,
        },
    };
    if !out.json() {
        let folder = choice.folder.display().to_string();
        say(&format!("Agent {}", quoted(&order.command.join(" "))));
        say(&format!("Workspace {}. {}", quoted(&folder), quoted(&choice.reason)));
        warn_of_other_runs(&location, &choice.folder);
    }
    let confirmation = confirmation.ending_with(interrupt.ends()?);
    let mut terminal = Terminal::new(choice, policy, location.clone(), confirmation, out.json());
    let end = run(&order, &mut terminal, &interrupt.signals).map_err(Refusal::not_started)?;
    let report = terminal.into_report();
    index_briefly(&location);
    let exit = exit(&end, &report);
    if out.json() {
        out.document(&report.document(&end));
    } else {
        print(&end, &report, out);
    }
    Ok(exit)
}

fn prompt(command: &args::Acp) -> Result<String, Refusal> {
    let text = match (&command.prompt, &command.prompt_file) {
        (Some(text), _) => text.clone(),
        (None, Some(file)) => {
            let refuse = |why: String| {
                let message = format!("{}: {why}", file.display());
                Refusal::usage(message, "Name a file with text in --prompt-file.")
            };
            let mut bytes = Vec::new();
            std::fs::File::open(file)
                .and_then(|file| file.take(PROMPT_BYTES + 1).read_to_end(&mut bytes))
                .map_err(|error| refuse(error.to_string()))?;
            String::from_utf8(bytes).map_err(|_| refuse("it is not UTF-8".to_owned()))?
        }
        (None, None) => String::new(),
    };
    let is_usable = !text.trim().is_empty() && text.len() as u64 <= PROMPT_BYTES;
    is_usable.then_some(text).ok_or_else(|| {
        let message = format!("the prompt is empty, or has more than {PROMPT_BYTES} bytes");
        Refusal::usage(message, "Say with --prompt what the agent is to do.")
    })
}

/// The signals of a session that the first interrupt stops.
struct Interrupt {
    signals: Signals,
    /// Kept, because signals keep their listeners only weakly.
    kept: Vec<Arc<dyn Fn() + Send + Sync>>,
    _control: ControlHandle,
}

impl Interrupt {
    fn new() -> Result<Self, Refusal> {
        let stop = Arc::new(StopSignal::default());
        let control = ControlHandle::default();
        stop_at_interrupt(&control).map_err(|error| {
            Refusal::usage(format!("interrupts (Ctrl+C) cannot be handled: {error}"), "Try again.")
        })?;
        let stops: Arc<dyn Fn() + Send + Sync> = {
            let stop = Arc::clone(&stop);
            Arc::new(move || stop.set())
        };
        control.stop_signal().listen(&stops);
        Ok(Self { signals: Signals::new(stop), kept: vec![stops], _control: control })
    }

    /// A pipe from which something can be read once the session is over.
    fn ends(&mut self) -> Result<PipeReader, Refusal> {
        let (reader, writer) = pipe().map_err(|error| {
            Refusal::usage(format!("the system has no pipe: {error}"), "Try again.")
        })?;
        let ends: Arc<dyn Fn() + Send + Sync> = Arc::new(move || {
            let _ = (&writer).write_all(b"x");
        });
        self.signals.over.listen(&ends);
        self.kept.push(ends);
        Ok(reader)
    }
}

fn exit(end: &SessionEnd, report: &Report) -> Exit {
    let is_done = end.reason == Some(StopReason::EndTurn)
        && end.fault.is_none()
        && !end.stopped
        && end.unused.is_empty();
    match () {
        () if report.has_failed() => Exit::Failed,
        () if report.has_rejected() => Exit::NotAuthorized,
        () if is_done => Exit::Done,
        () => Exit::Failed,
    }
}

fn print(end: &SessionEnd, report: &Report, out: &mut Output) {
    report.print(out);
    for path in &end.unused {
        out.line(&quoted(&format!(
            "{path} was approved, and the agent has not sent it: nothing was written"
        )));
    }
    if let Some(failure) = &end.fault {
        out.line(&quoted_in_line(&format!("{} {}", failure.code, failure.message)));
        out.line(&quoted_in_line(&failure.next));
    }
    out.line(&match &end.reason {
        _ if end.stopped => "Stopped.".to_owned(),
        Some(StopReason::EndTurn) => "The agent has ended its turn.".to_owned(),
        Some(StopReason::Cancelled) => "The turn was cancelled.".to_owned(),
        Some(StopReason::Other(word)) => {
            quoted_in_line(&format!("The agent has ended its turn early, with the word:\n{word}"))
        }
        None => "The agent has not ended its turn.".to_owned(),
    });
}
