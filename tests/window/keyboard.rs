//! The main workflow without a mouse.

use super::harness::Desktop;
use super::screen::Outcome;
use super::sign_and_run::{WORD, Workspace};
use super::support::{Recorded, recorded};

fn the_way_by_keyboard(workspace: &Workspace) -> Outcome<Vec<Recorded>> {
    let mut desktop = Desktop::start_here(&[])?;
    desktop.key("ctrl+o")?;
    desktop.choose_file(&workspace.plan())?;
    desktop.wait_for_text("Read the note, then write the list")?;

    desktop.look_at_steps()?;
    desktop.key("ctrl+Return")?;
    desktop.press("Authorize")?;
    desktop.wait_for_control("Run")?;
    desktop.key("F5")?;

    desktop.wait_for_text("Execute step 2 of 3: file_read?")?;
    // Closing the dialog decides nothing, and it can be reopened.
    desktop.key("Escape")?;
    desktop.wait_until_gone("Approve this step")?;
    desktop.key("F8")?;
    desktop.tab_to("Approve this step")?;
    desktop.screenshot("keyboard_1_question")?;
    desktop.press_once_armed("Approve this step")?;

    desktop.wait_for_text("Execute step 3 of 3: file_create?")?;
    desktop.press("Deny and stop")?;
    desktop.wait_for_text("Denied at step 3")?;

    desktop.key("ctrl+shift+e")?;
    desktop.wait_until("the search box has the keyboard", |desktop| {
        Ok((desktop.tree()?.focused.as_deref() == Some("Search evidence")).then_some(()))
    })?;
    desktop.type_text(WORD)?;
    desktop.key("Return")?;
    desktop.wait_until("the search finds two steps", |desktop| {
        let tree = desktop.tree()?;
        Ok(tree.control_starting("file_create notes/list.md, denied").map(|_| ()))
    })?;
    desktop.key("Down")?;
    desktop.wait_for_text("Decisions")?;
    desktop.screenshot("keyboard_2_execution")?;
    desktop.key("Escape")?;
    desktop.wait_until_gone("Close the execution")?;
    // Commands without a shortcut are found by name.
    desktop.key("ctrl+k")?;
    desktop.wait_for_control("Find a command")?;
    desktop.type_text("verify")?;
    desktop.key("Return")?;
    desktop.wait_for_text("records are unchanged")?;
    desktop.screenshot("keyboard_3_verified")?;
    desktop.key("ctrl+1")?;
    desktop.wait_for_text("Denied at step 3")?;
    Ok(recorded(&desktop.evidence()))
}

#[test]
fn whole_workflow_works_by_keyboard_alone() {
    let workspace = Workspace::new();
    let recorded = match the_way_by_keyboard(&workspace) {
        Ok(recorded) => recorded,
        Err(error) => panic!("{error}"),
    };
    let outcomes: Vec<_> = recorded.iter().map(|step| step.outcome.as_str()).collect();
    assert_eq!(outcomes, ["succeeded", "succeeded", "denied"]);
    assert!(!workspace.note_that_was_denied().exists(), "a denied step writes nothing");
}
