//! A window in which a script decides.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use assert_cmd::Command;
use countersign::app::{Offscreen, Options};
use countersign::worker::Folders;
use serde_json::{Value, json};

use crate::harness::home::{Done, Home, PROGRAM};

/// The longest that a test waits for anything.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// What the person does with a plan that waits.
#[derive(Debug, Clone, Copy)]
pub enum Does {
    Authorizes,
    /// Authorizes the plan, and then opens the file `other.json` of the workspace.
    AuthorizesAndLeaves,
    /// Authorizes each plan, and allows identical calls once the first run is over.
    AuthorizesAndAllows,
    Rejects(&'static str),
    Nothing,
}

/// The folders of the user of this home.
pub fn folders(home: &Home) -> Folders {
    let data = home.path().join(".local/share/countersign");
    Folders {
        evidence: home.evidence(),
        secrets: home.path().join(".config/countersign"),
        state: home.path().join(".local/state/countersign"),
        inbox: data.join("inbox"),
        window: data.join("window"),
        settings: home.path().join(".config/countersign"),
        home: home.path().to_owned(),
    }
}

/// The window, on a thread of its own.
pub struct Window {
    closes: Arc<AtomicBool>,
    wake: SyncSender<()>,
    shown: Receiver<PathBuf>,
    thread: Option<JoinHandle<()>>,
}

impl Window {
    /// Opens a window whose person does the same with each plan. Returns once it serves its socket.
    pub fn open(home: &Home, does: Does) -> Self {
        let closes = Arc::new(AtomicBool::new(false));
        let (wake, woken) = sync_channel(1);
        let (shows, shown) = sync_channel(64);
        home.settings("must_see = \"nothing\"\n\n[agents]\nsession_rules = true\n");
        let settings = home.path().join(".config/countersign/settings.toml");
        let (folders, is_closed, waker) = (folders(home), Arc::clone(&closes), wake.clone());
        let other = home.file("other.json").canonicalize().unwrap_or_default();
        let socket = folders.window.join("calls");
        let run = move || {
            let ctx = egui::Context::default();
            ctx.set_request_repaint_callback(move |_| {
                let _ = waker.try_send(());
            });
            let options = Options { settings: Some(settings), ..Options::default() };
            let mut window = Offscreen::start(&ctx, options, folders).unwrap();
            let mut last = None;
            let mut allows = matches!(does, Does::AuthorizesAndAllows);
            let mut leaves = matches!(does, Does::AuthorizesAndLeaves);
            while !is_closed.load(Ordering::SeqCst) {
                let input = egui::RawInput { focused: true, ..egui::RawInput::default() };
                window.frame(&ctx, input).textures_delta.clear();
                if let Some(file) = window.authorizable().filter(|file| Some(file) != last.as_ref())
                {
                    match does {
                        Does::Authorizes
                        | Does::AuthorizesAndLeaves
                        | Does::AuthorizesAndAllows => window.decide(&ctx, None),
                        Does::Rejects(reason) => window.decide(&ctx, Some(reason)),
                        Does::Nothing => {}
                    }
                    let _ = shows.try_send(file.clone());
                    last = Some(file);
                    continue;
                }
                // Its run is over, or it runs: the rule does not wait for that.
                if allows && window.allow_identical(&ctx) {
                    allows = false;
                }
                if leaves && window.is_authorized() {
                    leaves = false;
                    window.open(other.clone());
                }
                match woken.recv_timeout(Duration::from_millis(200)) {
                    Ok(()) | Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        };
        let thread = thread::Builder::new().name("window".to_owned()).spawn(run).unwrap();
        let begun = Instant::now();
        while std::os::unix::net::UnixStream::connect(&socket).is_err() {
            assert!(begun.elapsed() < PATIENCE, "the window serves its socket");
            thread::yield_now();
        }
        Self { closes, wake, shown, thread: Some(thread) }
    }

    /// Waits until the window shows another plan that could be authorized.
    pub fn shows(&self) -> PathBuf {
        self.shown.recv_timeout(PATIENCE).unwrap()
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.closes.store(true, Ordering::SeqCst);
        let _ = self.wake.try_send(());
        let joined = self.thread.take().unwrap().join();
        assert!(thread::panicking() || joined.is_ok(), "the window has panicked");
    }
}

/// What an agent writes about a call in the workspace.
pub fn call(home: &Home, agent: &str, tool: &str, input: Value) -> Value {
    let event = if agent == "gemini" { "BeforeTool" } else { "PreToolUse" };
    let folder = home.file("").canonicalize().unwrap();
    json!({
        "session_id": SESSION, "transcript_path": "/t", "cwd": folder, "hook_event_name": event,
        "tool_name": tool, "tool_input": input, "tool_use_id": "c1", "permission_mode": "default",
    })
}

/// The id of a session, in the form that agents give theirs.
pub const SESSION: &str = "0b9f6c1e-7d2a-4c55-9e1b-52aa61c07d3f";

/// Runs the hook of an agent with this input.
pub fn hook(home: &Home, arguments: &[&str], input: impl Into<Vec<u8>>) -> Done {
    Done::of(home.command().arg("hook").args(arguments).write_stdin(input.into()))
}

/// The reason of a denial, in the schema of the agent; nothing else may be in the answer.
pub fn denial(agent: &str, done: Done) -> String {
    let answer = done.exits(0).document();
    match agent {
        "gemini" => {
            let reason = answer["reason"].as_str().unwrap().to_owned();
            assert_eq!(answer, json!({"decision": "deny", "reason": reason}));
            reason
        }
        _ => {
            let reason = answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
            let reason = reason.to_owned();
            let output = json!({"hookEventName": "PreToolUse", "permissionDecision": "deny",
                "permissionDecisionReason": reason});
            assert_eq!(answer, json!({ "hookSpecificOutput": output }));
            reason
        }
    }
}

/// The ticket in a rewritten command.
pub fn ticket(command: &Value) -> String {
    let command = command.as_str().unwrap();
    let ticket = command.strip_prefix(&format!("{PROGRAM} exec ")).expect(command);
    assert!(ticket.len() == 64 && ticket.bytes().all(|it| it.is_ascii_hexdigit()), "{command}");
    ticket.to_owned()
}

/// Runs `exec` with a ticket.
pub fn exec(home: &Home, ticket: &str) -> Done {
    Done::of(exec_command(home).arg(ticket))
}

pub fn exec_command(home: &Home) -> Command {
    let mut command = home.command();
    command.arg("exec");
    command
}
