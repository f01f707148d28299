//! `hook`: answers an agent that wants to make a tool call (SPEC §13). `exec`: runs what a ticket stands for.
//!
//! Agents let a call pass if their hook fails, so that everything which is not an authorization ends in a denial: also a
//! panic, a hang, and an answer that cannot be written. What only reads is left to the agent's own rules, before anything
//! else is looked at: no settings, no evidence, no window.

use std::io::{self, Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

use super::output::say;
use super::{Exit, args};
use crate::hooks::channel::{Ask, Reply};
use crate::hooks::{Agent, Answer, HookCall, MAX_CALL};
use crate::openers::only_reads;
use crate::plan::quoted;
use crate::worker::calls::{AskError, ask_window};
use crate::worker::default_folders;

/// The exit code with which every agent blocks the call, and tells the model what is on stderr.
const BLOCK: u8 = 2;
/// The exit code of `exec` for a ticket that cannot be used.
const REFUSED: u8 = 3;
/// The longest time that is left for printing the answer.
const FOR_THE_ANSWER: Duration = Duration::from_millis(500);
/// What the agent is told besides the reason of a denial.
const NO_WAY_AROUND: &str = "Do not try to do the same in another way; tell your user.";

/// The variable with which `hook doctor` makes the hook deny a call, in whatever it says: a word that the agent then passes
/// on. It can make the hook do nothing else.
pub(super) const CANARY: &str = "COUNTERSIGN_HOOK_CANARY";

/// Answers one call. Returns the exit code for the agent.
pub(super) fn hook(command: &args::HookAnswer) -> ExitCode {
    let begun = Instant::now();
    let Some(args::AgentWord(agent)) = command.agent else {
        say("Countersign denies the call: its hook does not know the agent.");
        return ExitCode::from(BLOCK);
    };
    let seconds = command.timeout.unwrap_or(agent.default_timeout_seconds());
    let deadline = begun + Duration::from_secs(seconds);
    let unsandboxed = command.unsandboxed;
    let decide = move || {
        catch_unwind(AssertUnwindSafe(|| decide(agent, unsandboxed, deadline)))
            .unwrap_or_else(|_| Answer::Deny("Countersign's hook has crashed.".to_owned()))
    };
    // On a thread of its own, so that whatever hangs ends in a denial.
    let (sender, answer) = sync_channel(1);
    let started = thread::Builder::new().name("hook".to_owned()).spawn(move || {
        let _ = sender.send(decide());
    });
    let answer = match started {
        Err(error) => Answer::Deny(format!("Countersign's hook cannot start a thread: {error}.")),
        Ok(_) => {
            let left = deadline.saturating_duration_since(Instant::now());
            answer.recv_timeout(left).unwrap_or_else(|_| too_late(seconds))
        }
    };
    print(agent, &answer)
}

fn too_late(seconds: u64) -> Answer {
    Answer::Deny(format!(
        "Nobody decided about the call in Countersign within {seconds} seconds. {NO_WAY_AROUND}"
    ))
}

/// Prints the answer. If it cannot be written, the exit code blocks the call.
fn print(agent: Agent, answer: &Answer) -> ExitCode {
    let text = format!("{}\n", answer.to_json(agent));
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("Countersign denies the call: its answer cannot be written: {error}"));
            ExitCode::from(BLOCK)
        }
    }
}

fn decide(agent: Agent, unsandboxed: bool, deadline: Instant) -> Answer {
    if let Some(word) = std::env::var_os(CANARY) {
        return Answer::Deny(format!("Countersign's canary: {}", word.to_string_lossy()));
    }
    let mut bytes = Vec::new();
    let limit = u64::try_from(MAX_CALL).unwrap_or(u64::MAX).saturating_add(1);
    if let Err(error) = io::stdin().lock().take(limit).read_to_end(&mut bytes) {
        return Answer::Deny(format!("Countersign cannot read the call: {error}."));
    }
    let call = match HookCall::read(agent, &bytes) {
        Ok(call) => call,
        Err(error) => return Answer::Deny(format!("Countersign cannot read the call: {error}.")),
    };
    if only_reads(&call.to_json()) {
        return Answer::NoObjection;
    }
    // The sandbox of Codex lets no command connect to a socket, so that no ticket could be used in it.
    if agent == Agent::Codex && call.runs_command() && !unsandboxed {
        return super::hook_handle::propose(agent, &call);
    }
    ask(agent, call, deadline)
}

/// Asks the window.
fn ask(agent: Agent, call: HookCall, deadline: Instant) -> Answer {
    let Some(folders) = default_folders() else {
        return Answer::Deny(
            "Countersign cannot find your home folder: HOME is not set.".to_owned(),
        );
    };
    let exec = match exec_command() {
        Ok(exec) => exec,
        Err(error) => return Answer::Deny(format!("Countersign cannot find itself: {error}.")),
    };
    let runs_command = call.runs_command();
    let deadline = deadline.checked_sub(FOR_THE_ANSWER).unwrap_or(deadline);
    // The window gives up first, and says so.
    let timeout = deadline.saturating_duration_since(Instant::now() + FOR_THE_ANSWER);
    let ask = Ask::Call {
        agent: agent.as_str().to_owned(),
        session: call.session.clone(),
        folder: call.folder.clone(),
        tool: call.tool.clone(),
        input: call.input.clone(),
        timeout_ms: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
        ticket: runs_command,
    };
    match ask_window(&folders.window, ask, Some(deadline), Some) {
        Ok(Reply::Ticket(ticket)) if runs_command && is_ticket(&ticket) => {
            match call.with_command(&format!("{exec} {ticket}")) {
                Some(input) => Answer::Rewrite(input),
                None => Answer::Deny("Countersign cannot rewrite the call.".to_owned()),
            }
        }
        Ok(Reply::Permitted) if !runs_command => Answer::Allow,
        Ok(Reply::Denied(reason)) => {
            Answer::Deny(format!("Countersign: {}. {NO_WAY_AROUND}", reason.trim_end_matches('.')))
        }
        Ok(_) => Answer::Deny("Countersign's window gave an answer that is none.".to_owned()),
        Err(AskError::NoWindow(_)) => Answer::Deny(
            "No window of Countersign is open, in which a person could decide about this call. Ask your user to open \
             Countersign, then make the call again."
                .to_owned(),
        ),
        Err(AskError::TooLate) => Answer::Deny(format!(
            "Nobody decided about the call in Countersign in time. {NO_WAY_AROUND}"
        )),
        Err(error) => Answer::Deny(format!("Countersign: {error}. {NO_WAY_AROUND}")),
    }
}

/// Tickets are hexadecimal digits, which no shell reads as anything else.
fn is_ticket(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The command that runs a ticket, without the ticket, as bash reads it.
pub(super) fn exec_command() -> io::Result<String> {
    Ok(format!("{} exec", own_word()?))
}

/// The path of this program as a word of bash.
pub(super) fn own_word() -> io::Result<String> {
    let path = std::env::current_exe()?;
    let text = path.to_str().ok_or_else(|| io::Error::other("its path is not UTF-8"))?;
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_./".contains(it);
    Ok(match text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    })
}

/// Runs what a ticket stands for, in the window. Returns the command's own exit code.
pub(super) fn exec(command: &args::Exec) -> ExitCode {
    let folder = default_folders().map_or_else(PathBuf::new, |folders| folders.window);
    let ask = Ask::Exec { ticket: command.ticket.clone() };
    let ended = ask_window(&folder, ask, None, |reply| match reply {
        // A reader that has gone is as if it read: the run goes on until this process is ended.
        Reply::Stdout(text) => {
            write(&mut io::stdout().lock(), &text);
            None
        }
        Reply::Stderr(text) => {
            write(&mut io::stderr().lock(), &text);
            None
        }
        Reply::LeftOut(bytes) => {
            say(&format!(
                "countersign: {bytes} bytes of output are left out here; the evidence has them"
            ));
            None
        }
        Reply::End { code, message } => Some((code, message)),
        Reply::Denied(message) => Some((REFUSED, message)),
        Reply::Ticket(_) | Reply::Permitted => {
            Some((REFUSED, "the window gave an answer that is none".to_owned()))
        }
    });
    let (code, message) = ended.unwrap_or_else(|error| match error {
        AskError::NoWindow(error) => {
            let why = format!("no window of Countersign can be reached ({error}); nothing was run");
            (REFUSED, why)
        }
        error => {
            (Exit::Failed as u8, format!("{error}; Countersign shows what is known of the run"))
        }
    });
    if !message.is_empty() {
        say(&quoted(&format!("countersign: {message}")));
    }
    ExitCode::from(code)
}

fn write(out: &mut impl io::Write, text: &str) {
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
