//! A call of an agent in the real window: asked, authorized, run by its ticket; and denied when the window is killed.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use super::harness::Desktop;
use super::screen::Outcome;
use super::support::{authorize_call, passes};

#[expect(clippy::disallowed_methods, reason = "an agent starts the hook")]
fn start(home: &Path, arguments: &[&str], input: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.args(arguments).env("HOME", home);
    command.env("XDG_DATA_HOME", home.join("data")).env_remove("XDG_RUNTIME_DIR");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program");
    child.stdin.take().expect("its input").write_all(input.as_bytes()).expect("the call");
    child
}

fn asks(desktop: &Desktop, workspace: &Path, command: &str) -> Child {
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

fn authorized_and_run(workspace: &Path) -> Outcome<(Output, Output)> {
    let mut desktop = Desktop::start_here(&[])?;
    let hook = asks(&desktop, workspace, "echo fed | tee heron");
    desktop.wait_for_text("Feed the heron")?;
    desktop.wait_for_text("Asked by Gemini CLI, answer until")?;
    desktop.screenshot("hook_1_asked")?;
    authorize_call(&mut desktop)?;
    let asked = hook.wait_with_output().expect("the answer of the hook");
    let command = answer(&asked)["hookSpecificOutput"]["tool_input"]["command"].to_string();
    let ticket = command.trim_matches('"').rsplit(' ').next().unwrap_or_default().to_owned();
    let run = start(&desktop.home(), &["exec", &ticket], "");
    let run = run.wait_with_output().expect("the run");
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

fn killed_while_waiting(workspace: &Path) -> Outcome<Output> {
    let mut desktop = Desktop::start_here(&[])?;
    let hook = asks(&desktop, workspace, "touch heron");
    desktop.wait_for_text("Feed the heron")?;
    // Ends the program by force.
    drop(desktop);
    Ok(hook.wait_with_output().expect("the answer of the hook"))
}

#[test]
fn killed_window_denies_the_call() {
    let workspace = tempfile::tempdir().expect("a folder");
    let output = passes(killed_while_waiting(workspace.path()));
    let answer = answer(&output);
    assert_eq!(answer["decision"], "deny", "{answer}");
    assert!(!workspace.path().join("heron").exists());
}
