//! The simulation of a plan, the output of a step, and saving it to a file, all by keyboard.

use std::path::PathBuf;

use super::harness::Desktop;
use super::screen::Outcome;
use super::sign_and_run::{WORD, Workspace};
use super::support::passes;

fn simulated_run_and_saved(workspace: &Workspace) -> Outcome<PathBuf> {
    let mut desktop = Desktop::start_here(&[&workspace.plan().display().to_string()])?;
    desktop.wait_for_text("Read the note, then write the list")?;
    desktop.look_at_steps()?;
    desktop.key("F9")?;
    desktop.wait_for_text("Every step would succeed.")?;
    desktop.wait_for_text(&format!("+1. {WORD}"))?;
    desktop.screenshot("artifacts_1_simulation")?;
    desktop.key("Escape")?;
    desktop.wait_until_gone("Back to the steps")?;

    desktop.key("ctrl+Return")?;
    desktop.press("Authorize")?;
    desktop.wait_for_control("Run")?;
    desktop.key("F5")?;
    desktop.wait_for_text("Execute step 2 of 3: file_read?")?;
    desktop.press("Approve this step")?;
    desktop.wait_for_text("Execute step 3 of 3: file_create?")?;
    desktop.press("Deny and stop")?;
    desktop.wait_for_text("Denied at step 3")?;
    desktop.key("Up")?;
    desktop.click("Output")?;
    desktop.wait_for_control("Find in stdout")?;
    desktop.tab_to("Find in stdout")?;
    desktop.type_text(WORD)?;
    desktop.wait_for_text("1 of 1")?;
    desktop.screenshot("artifacts_2_output")?;
    // The picker keeps the extension of the name that it proposes.
    let file = workspace.plan().with_file_name("saved");
    desktop.click("Save stdout as…")?;
    desktop.choose_file(&file)?;
    desktop.wait_for_text("Saved as")?;
    desktop.screenshot("artifacts_3_saved")?;
    Ok(file.with_extension("txt"))
}

#[test]
fn plan_is_simulated_output_searched_and_saved() {
    let workspace = Workspace::new();
    let file = passes(simulated_run_and_saved(&workspace));

    let text = std::fs::read_to_string(file).expect("the saved file");
    assert_eq!(text, format!("The {WORD} keeps the keys.\n"));
    assert!(!workspace.note_that_was_denied().exists(), "a denied step writes nothing");
}
