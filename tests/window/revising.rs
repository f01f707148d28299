//! A person changes a plan before signing it, by keyboard alone: lines of a change, an argument, a step.

use std::fs;
use std::path::Path;

use super::harness::Desktop;
use super::screen::Outcome;
use super::support::{passes, recorded};

fn workspace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let before: String = (1..=30).map(|line| format!("line {line}\n")).collect();
    let after = before.replace("line 3\n", "LINE 3\n").replace("line 25\n", "LINE 25\n");
    fs::write(folder.path().join("notes.txt"), before).expect("the notes");
    let plan = serde_json::json!({
        "plan_id": "notes", "intent": "MUTATE", "title": "Shout in the notes",
        "steps": [
            {"step_id": "shout", "tool": "file_write",
             "arguments": {"path": "notes.txt", "contents": after}},
            {"step_id": "more", "tool": "file_create",
             "arguments": {"path": "more.txt", "contents": "more\n"}},
            {"step_id": "last", "tool": "file_create",
             "arguments": {"path": "last.txt", "contents": "last\n"}}
        ]
    });
    let text = serde_json::to_string_pretty(&plan).expect("the plan as JSON");
    fs::write(folder.path().join("notes.plan.json"), text).expect("the plan");
    folder
}

fn the_way_of_a_revision(folder: &Path) -> Outcome<Vec<String>> {
    let plan = folder.join("notes.plan.json");
    let file = plan.display().to_string();
    let mut desktop = Desktop::start_here(&[&file])?;
    desktop.wait_for_text("Shout in the notes")?;

    // Lines of the first step: without its first hunk.
    desktop.wait_for_control("Choose lines")?;
    desktop.key("ctrl+shift+l")?;
    // The file has the keyboard, and the arrow keys go from line to line.
    desktop.wait_until("a tick has the keyboard", |desktop| {
        Ok(desktop.tree()?.focused.is_some_and(|name| name == "notes.txt").then_some(()))
    })?;
    desktop.key("Down")?;
    desktop.wait_until("the next tick has the keyboard", |desktop| {
        Ok(desktop.tree()?.focused.is_some_and(|name| name == "Hunk 1 at line 1").then_some(()))
    })?;
    desktop.key("space")?;
    desktop.wait_for_text("2 lines not ticked")?;
    desktop.screenshot("revising_1_lines")?;
    desktop.key("ctrl+Return")?;
    desktop.wait_for_control("Revised by you: 1 change")?;

    // An argument of the second step.
    desktop.wait_for_control("Leave out")?;
    desktop.click_starting("Step 2: ")?;
    desktop.key("F2")?;
    desktop.wait_until("the editor has the keyboard", |desktop| {
        let focused = desktop.tree()?.focused;
        Ok(focused.is_some_and(|name| name.starts_with("New value of")).then_some(()))
    })?;
    desktop.key("ctrl+a")?;
    desktop.type_text("most")?;
    desktop.wait_until("the text is typed", |desktop| {
        let tree = desktop.tree()?;
        Ok(tree
            .control_starting("New value of")
            .and_then(|it| it.value.clone())
            .filter(|value| value.contains("most")))
    })?;
    desktop.screenshot("revising_2_editor")?;
    // Escape asks before it drops what was typed.
    desktop.key("Escape")?;
    desktop.wait_for_control("Drop it")?;
    desktop.press("Go on editing")?;
    desktop.wait_until_gone("Drop it")?;
    desktop.wait_until("the editor has the keyboard again", |desktop| {
        let focused = desktop.tree()?.focused;
        Ok(focused.is_some_and(|name| name.starts_with("New value of")).then_some(()))
    })?;
    desktop.key("ctrl+Return")?;
    desktop.wait_for_control("Revised by you: 2 changes")?;
    desktop.wait_until("the button of the argument has the keyboard", |desktop| {
        let focused = desktop.tree()?.focused;
        Ok(focused.is_some_and(|name| name.starts_with("Edit argument")).then_some(()))
    })?;

    // The last step is left out, and everything is listed.
    desktop.click_starting("Step 3: ")?;
    desktop.key("ctrl+shift+x")?;
    desktop.wait_for_control("Revised by you: 3 changes")?;
    desktop.key("ctrl+d")?;
    desktop.wait_for_control("Discard revision")?;
    desktop.wait_until("the left out step is listed", |desktop| {
        Ok(desktop.tree()?.shows("file_create left out").then_some(()))
    })?;
    desktop.screenshot("revising_3_changes")?;

    desktop.look_at_steps()?;
    desktop.key("ctrl+Return")?;
    desktop.press("Authorize")?;
    desktop.wait_for_control("Run")?;
    desktop.key("F5")?;
    desktop.wait_for_control("Authorize again…")?;
    desktop.screenshot("revising_4_run")?;
    Ok(recorded(&desktop.evidence()).into_iter().map(|step| step.outcome).collect())
}

#[test]
fn a_plan_is_revised_by_keyboard_signed_and_run() {
    let folder = workspace();
    let outcomes = passes(the_way_of_a_revision(folder.path()));
    assert_eq!(outcomes, ["succeeded", "succeeded"]);
    let notes = fs::read_to_string(folder.path().join("notes.txt")).expect("the notes");
    assert!(notes.contains("line 3\n") && notes.contains("LINE 25\n"), "{notes}");
    let more = fs::read_to_string(folder.path().join("more.txt")).expect("the second file");
    assert_eq!(more, "most");
    assert!(!folder.path().join("last.txt").exists(), "its step was left out");
}
