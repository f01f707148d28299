//! A session with an agent in the real window, by keyboard alone: named, asked, authorized, written, and ended.

use std::path::Path;

use serde_json::json;

use super::harness::Desktop;
use super::screen::Outcome;
use super::support::passes;

/// Writes what the agent does. Returns the command that starts it.
pub(super) fn script(folder: &Path, turn: serde_json::Value) -> String {
    let script = folder.join("script.json");
    std::fs::write(&script, json!({ "turn": turn }).to_string()).expect("the script");
    let agent = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/acp/agent.py");
    format!("python3 '{agent}' '{}'", script.display())
}

/// Fills the form of a session and starts it.
pub(super) fn start(desktop: &mut Desktop, command: &str, workspace: &Path) -> Outcome {
    desktop.key("ctrl+5")?;
    desktop.wait_for_text("Work with an agent")?;
    // The prompt has the keyboard.
    desktop.type_text("Feed the heron")?;
    desktop.tab_to("Command")?;
    desktop.type_text(command)?;
    desktop.tab_to("Workspace folder")?;
    desktop.type_text(&workspace.display().to_string())?;
    desktop.wait_for_text("Nothing has started")?;
    desktop.screenshot("agent_1_form")?;
    desktop.key("shift+F6")
}

fn asked_and_written(workspace: &Path, command: &str) -> Outcome {
    let mut desktop = Desktop::start_here(&[])?;
    start(&mut desktop, command, workspace)?;
    desktop.wait_for_text("A plan waits for you")?;
    desktop.screenshot("agent_2_asked")?;
    desktop.key("ctrl+i")?;
    desktop.wait_for_text("which waits for your answer")?;
    desktop.screenshot("agent_3_plan")?;
    desktop.look_at_steps()?;
    desktop.key("ctrl+Return")?;
    desktop
        .wait_for_text("It runs as soon as you authorize it, because scripted 7 waits for it.")?;
    desktop.press("Authorize")?;
    desktop.wait_until_gone("Authorize…")?;
    desktop.key("ctrl+5")?;
    desktop.wait_for_text("The agent has ended its turn.")?;
    desktop.wait_for_text("Written: heron.txt")?;
    desktop.screenshot("agent_4_ended")?;
    Ok(())
}

#[test]
fn session_is_started_authorized_and_ended_by_keyboard() {
    let workspace = tempfile::tempdir().expect("a folder");
    let folder = tempfile::tempdir().expect("a folder");
    let path = workspace.path().canonicalize().expect("the folder").join("heron.txt");
    let diff = json!({"type": "diff", "path": path, "oldText": null, "newText": "fed\n"});
    let options = json!([
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]);
    let call =
        json!({"toolCallId": "c", "title": "Feed the heron", "kind": "edit", "content": [diff]});
    let entries = json!([{"content": "Feed it", "status": "in_progress"}]);
    let command = script(
        folder.path(),
        json!([
            {"update": {"sessionUpdate": "plan", "entries": entries}},
            {"request": {"method": "session/request_permission",
                "params": {"toolCall": call, "options": options}}},
            {"request": {"method": "fs/write_text_file",
                "params": {"path": path, "content": "fed\n"}}},
        ]),
    );
    passes(asked_and_written(workspace.path(), &command));
    assert_eq!(std::fs::read_to_string(path).expect("the file"), "fed\n");
}

fn stopped(workspace: &Path, command: &str) -> Outcome {
    let mut desktop = Desktop::start_here(&[])?;
    start(&mut desktop, command, workspace)?;
    desktop.wait_for_text("The agent works")?;
    desktop.click("Stop the agent")?;
    desktop.wait_for_text("You have stopped the agent.")?;
    desktop.screenshot("agent_5_stopped")?;
    Ok(())
}

#[test]
fn agent_that_never_ends_is_stopped() {
    let workspace = tempfile::tempdir().expect("a folder");
    let folder = tempfile::tempdir().expect("a folder");
    let command = script(folder.path(), json!([{"ignore the end": true}]));
    passes(stopped(workspace.path(), &command));
}
