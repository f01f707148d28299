//! Refusals of the window: stale approvals, faulty plans, steps after a stop.

use std::path::Path;

use super::harness::Desktop;
use super::screen::Outcome;
use super::sign_and_run::Workspace;
use super::support::{authorize, passes, recorded};

fn authorized(workspace: &Workspace) -> Outcome<Desktop> {
    let plan = workspace.plan().display().to_string();
    let mut desktop = Desktop::start_here(&[&plan])?;
    authorize(&mut desktop)?;
    Ok(desktop)
}

fn a_file_changes_after_the_approval(workspace: &Workspace) -> Outcome {
    let mut desktop = authorized(workspace)?;
    // The approval covers that this file is absent.
    std::fs::write(workspace.note_that_was_denied(), "somebody else\n").expect("the file");
    desktop.wait_for_text("The authorization is void. Changed since: file notes/list.md.")?;
    desktop.wait_until_gone("Run")?;
    desktop.screenshot("stale_1_void")?;
    desktop.key("F5")?;
    // Keys are processed in order, so the key before it has been processed too.
    desktop.key("F1")?;
    desktop.wait_for_text("How it works")?;
    assert!(!desktop.tree()?.shows("Execute step"), "a stale approval runs nothing");
    assert!(!desktop.tree()?.shows("Running step"), "a stale approval runs nothing");
    assert_eq!(recorded(&desktop.evidence()), []);
    Ok(())
}

#[test]
fn changed_file_voids_approval_and_is_named() {
    let workspace = Workspace::new();
    passes(a_file_changes_after_the_approval(&workspace));
    let left = std::fs::read_to_string(workspace.note_that_was_denied()).expect("the file");
    assert_eq!(left, "somebody else\n");
}

fn stopped_while_it_asks(workspace: &Workspace) -> Outcome<Vec<(String, String)>> {
    let mut desktop = authorized(workspace)?;
    desktop.click("Run")?;
    desktop.wait_for_text("Execute step 2 of 3: file_read?")?;
    desktop.key("ctrl+shift+period")?;
    desktop.wait_for_text("Cancelled at step 2")?;
    desktop.wait_until_gone("Approve this step")?;
    desktop.screenshot("stopped_1")?;
    let recorded = recorded(&desktop.evidence());
    Ok(recorded.into_iter().map(|step| (step.tool, step.outcome)).collect())
}

#[test]
fn stopping_while_a_step_asks_cancels_it() {
    let recorded = passes(stopped_while_it_asks(&Workspace::new()));

    let steps = [("file_glob", "succeeded"), ("file_read", "cancelled")];
    assert_eq!(recorded, steps.map(|(tool, end)| (tool.to_owned(), end.to_owned())));
}

fn five_faults() -> Outcome {
    let plan = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/plans/five-faults.plan.json");
    let mut desktop = Desktop::start_here(&[&plan.display().to_string()])?;
    desktop.wait_for_text("5 errors. The plan cannot be authorized.")?;
    desktop.screenshot("faulty_1")?;
    let tree = desktop.tree()?;
    for place in [
        "E011 error · step 1, step_id · line 8, column 7",
        "E012 error · step 2, requires_confirmations · line 16, column 7",
        "E201 error · step 3, tool · line 20, column 15",
        "E202 error · step 4, arguments · line 26, column 20",
        "E016 error · step 5, precondition · line 32, column 23",
    ] {
        assert!(tree.shows(place), "{place}");
    }
    let authorize = tree.control("Authorize…").expect("a button that says why not");
    assert!(authorize.disabled);
    desktop.key("ctrl+Return")?;
    desktop.key("F1")?;
    desktop.wait_for_text("How it works")?;
    assert!(!desktop.tree()?.shows("Authorize exactly this plan?"));
    Ok(())
}

#[test]
fn faulty_plan_shows_faults_without_authorization() {
    passes(five_faults());
}
