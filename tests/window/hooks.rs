//! A call of an agent in the real window: asked, authorized, run by its ticket; and denied when the window is killed.

use std::path::Path;
use std::process::Output;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use super::harness::Desktop;
use super::screen::Outcome;
use super::support::{authorize_call, passes};

/// Starts the program as an agent does, on a thread that waits for its end.
pub(super) fn start(home: &Path, arguments: &[&str], input: &str) -> Receiver<Output> {
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.args(arguments).env("HOME", home).write_stdin(input);
    command.env("XDG_DATA_HOME", home.join("data")).env_remove("XDG_RUNTIME_DIR");
    let (sender, output) = sync_channel(1);
    let wait = move || {
        let _ = sender.send(command.output().expect("the program"));
    };
    thread::Builder::new().name("agent".to_owned()).spawn(wait).expect("a thread");
    output
}

pub(super) fn output_of(program: &Receiver<Output>) -> Output {
    program.recv_timeout(Duration::from_secs(60)).expect("the program ends")
}

pub(super) fn asks(desktop: &Desktop, workspace: &Path, command: &str) -> Receiver<Output> {
    let call = serde_json::json!({
        "session_id": "s", "cwd": workspace, "hook_event_name": "BeforeTool",
        "tool_name": "run_shell_command",
        "tool_input": {"command": command, "description": "Feed the heron"},
    });
    start(&desktop.home(), &["hook", "--agent", "gemini"], &call.to_string())
}

fn answer(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).expect("an answer")
}

/// The ticket that the answer to a hook has.
pub(super) fn ticket(asked: &Output) -> String {
    let answer = answer(asked);
    let command = answer.pointer("/hookSpecificOutput/tool_input/command");
    let command = command.and_then(|command| command.as_str()).unwrap_or_default();
    command.rsplit(' ').next().unwrap_or_default().to_owned()
}

fn authorized_and_run(workspace: &Path) -> Outcome<(Output, Output)> {
    let mut desktop = Desktop::start_here(&[])?;
    let hook = asks(&desktop, workspace, "echo fed | tee heron");
    desktop.wait_for_text("Feed the heron")?;
    desktop.wait_for_text("Asked by Gemini CLI, answer until")?;
    desktop.screenshot("hook_1_asked")?;
    authorize_call(&mut desktop)?;
    let asked = output_of(&hook);
    let run = output_of(&start(&desktop.home(), &["exec", &ticket(&asked)], ""));
    desktop.wait_for_text("completed")?;
    desktop.screenshot("hook_2_run")?;
    Ok((asked, run))
}

#[test]
fn call_is_authorized_and_run_by_its_ticket() {
    let workspace = tempfile::tempdir().expect("a folder");
    let (asked, run) = passes(authorized_and_run(workspace.path()));
    assert_eq!(answer(&asked)["decision"], "allow");
    assert_eq!((run.status.code(), run.stdout.as_slice()), (Some(0), &b"fed\n"[..]));
    let fed = std::fs::read_to_string(workspace.path().join("heron"));
    assert_eq!(fed.expect("the file"), "fed\n");
}

/// Denies the first call of a session with words, authorizes the second, and allows identical ones, all by the keyboard.
fn session_by_keyboard(workspace: &Path) -> Outcome<(Output, Vec<Output>)> {
    let mut desktop = Desktop::start_here(&[])?;
    // The settings are read at the start, and their folder is known only now.
    desktop.kill()?;
    let folder = desktop.home().join("config").join("countersign");
    std::fs::create_dir_all(&folder).expect("the folder of the settings");
    let settings = "must_see = \"nothing\"\n\n[agents]\nsession_rules = true\n";
    std::fs::write(folder.join("settings.toml"), settings).expect("the settings");
    desktop.start_again(&[])?;
    let denied = asks(&desktop, workspace, "touch heron");
    desktop.wait_for_text("1 call since this window was opened, 1 waits")?;
    desktop.tab_to("Reject…")?;
    desktop.key("Return")?;
    desktop.wait_for_text("Reject this plan?")?;
    desktop.tab_to("Reason (required)")?;
    desktop.type_text("no herons today")?;
    desktop.press("Reject")?;
    let denied = output_of(&denied);
    let mut outputs = Vec::new();
    for number in 2..=3 {
        let asked = asks(&desktop, workspace, "ls");
        if number == 2 {
            desktop.wait_for_text("2 calls since this window was opened, 1 waits")?;
            desktop.screenshot("hook_3_session")?;
            desktop.key("ctrl+Return")?;
            desktop.press("Authorize")?;
        }
        let ticket = ticket(&output_of(&asked));
        outputs.push(output_of(&start(&desktop.home(), &["exec", &ticket], "")));
        if number == 2 {
            desktop.wait_for_text("completed")?;
            desktop.tab_to("Allow identical calls…")?;
            desktop.key("Return")?;
            desktop.press("Allow identical calls")?;
            desktop.wait_for_control("Take back")?;
        }
    }
    desktop.wait_for_text("3 calls since this window was opened")?;
    desktop.screenshot("hook_4_rule")?;
    Ok((denied, outputs))
}

#[test]
fn session_is_decided_by_keyboard() {
    let workspace = tempfile::tempdir().expect("a folder");
    std::fs::write(workspace.path().join("egret"), "").expect("a file");
    let (denied, outputs) = passes(session_by_keyboard(workspace.path()));
    let reason = answer(&denied);
    assert!(reason.to_string().contains("no herons today"), "{reason}");
    for output in outputs {
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b"egret\n"[..]));
    }
}

fn killed_while_waiting(workspace: &Path) -> Outcome<Output> {
    let mut desktop = Desktop::start_here(&[])?;
    let hook = asks(&desktop, workspace, "touch heron");
    desktop.wait_for_text("Feed the heron")?;
    // Ends the program by force.
    drop(desktop);
    Ok(output_of(&hook))
}

#[test]
fn killed_window_denies_the_call() {
    let workspace = tempfile::tempdir().expect("a folder");
    let output = passes(killed_while_waiting(workspace.path()));
    let answer = answer(&output);
    assert_eq!(answer["decision"], "deny", "{answer}");
    assert!(!workspace.path().join("heron").exists());
}
