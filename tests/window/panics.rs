//! Panics in the real window: they are reported, decide nothing, and the window keeps working. They are injected by
//! an environment variable that release builds ignore.

use super::harness::Desktop;
use super::screen::Outcome;
use super::sign_and_run::Workspace;
use super::support::{passes, recorded};

const BROKEN: &str = "This page cannot be shown";

fn steps(desktop: &Desktop) -> Vec<(String, String)> {
    recorded(&desktop.evidence()).into_iter().map(|step| (step.tool, step.outcome)).collect()
}

fn named(steps: &[(&str, &str)]) -> Vec<(String, String)> {
    steps.iter().map(|(tool, outcome)| ((*tool).to_owned(), (*outcome).to_owned())).collect()
}

fn authorize_and_run(desktop: &mut Desktop) -> Outcome {
    desktop.click("Authorize")?;
    desktop.click("Run")
}

fn a_question_breaks_down(workspace: &Workspace) -> Outcome {
    let plan = workspace.plan().display().to_string();
    let mut desktop = Desktop::start_here_with_faults(&[&plan], "step dialog")?;
    desktop.look_at_steps()?;
    desktop.click("Authorize…")?;
    authorize_and_run(&mut desktop)?;
    desktop.wait_for_text(BROKEN)?;
    desktop.wait_for_text("planted in the step dialog: ⟨U+202E⟩desrever")?;
    desktop.wait_for_text("Waiting for you: step 2 of 3")?;
    desktop.wait_until_gone("Approve this step")?;
    desktop.screenshot("panic_1_question")?;
    desktop.key("Return")?;
    desktop.key("space")?;
    desktop.key("F1")?;
    assert!(desktop.tree()?.shows(BROKEN), "the window is there, and nothing was pressed in it");
    assert_eq!(steps(&desktop), named(&[("file_glob", "succeeded")]), "still undecided");

    desktop.click("Try again")?;
    desktop.wait_for_text("Execute step 2 of 3: file_read?")?;
    desktop.click("Approve this step")?;
    desktop.wait_for_text("Execute step 3 of 3: file_create?")?;
    desktop.click("Deny and stop")?;
    desktop.wait_until_gone("Deny and stop")?;
    desktop.wait_for_text("Denied at step 3")?;
    let ended = [("file_glob", "succeeded"), ("file_read", "succeeded"), ("file_create", "denied")];
    assert_eq!(steps(&desktop), named(&ended));
    Ok(())
}

/// The question is asked again.
#[test]
fn question_that_panics_decides_nothing() {
    passes(a_question_breaks_down(&Workspace::new()));
}

fn the_worker_and_a_page_break_down(workspace: &Workspace) -> Outcome {
    let plan = workspace.plan().display().to_string();
    let mut desktop = Desktop::start_here_with_faults(&[&plan], "worker,evidence page")?;
    desktop.look_at_steps()?;
    desktop.click("Authorize…")?;
    authorize_and_run(&mut desktop)?;
    desktop.wait_for_text("The worker thread crashed; the run is interrupted.")?;
    desktop.wait_for_text("Interrupted")?;
    desktop.screenshot("panic_2_worker")?;
    assert_eq!(steps(&desktop), named(&[("file_glob", "succeeded")]));

    desktop.click("Evidence")?;
    desktop.wait_for_text(BROKEN)?;
    desktop.screenshot("panic_3_page")?;
    desktop.click("Try again")?;
    desktop.wait_for_text("file_glob")?;
    assert!(!desktop.tree()?.shows(BROKEN));

    // The same window, worker and evidence run the plan again.
    desktop.click("Plan")?;
    desktop.click("Run again…")?;
    authorize_and_run(&mut desktop)?;
    desktop.click("Approve this step")?;
    desktop.wait_for_text("Execute step 3 of 3: file_create?")?;
    desktop.click("Approve this step")?;
    desktop.wait_for_text("Completed")?;
    let all = ["file_glob", "file_glob", "file_read", "file_create"];
    assert_eq!(steps(&desktop), named(&all.map(|tool| (tool, "succeeded"))));
    Ok(())
}

#[test]
fn window_survives_panics_of_worker_and_page() {
    let workspace = Workspace::new();
    passes(the_worker_and_a_page_break_down(&workspace));
    assert!(workspace.note_that_was_denied().exists());
}
