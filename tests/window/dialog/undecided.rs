//! Events that are no answer: Escape, a click outside the dialog, the click that activates the window,
//! closing the window, and the end of the program.

use std::time::Duration;

use super::*;

fn left_open(workspace: &Workspace) -> Outcome {
    let mut desktop = authorized(workspace)?;
    desktop.click("Run")?;
    wait_for_question(&mut desktop, 1)?;
    wait_until_armed(&mut desktop)?;
    desktop.key("Escape")?;
    desktop.wait_until_gone(APPROVE)?;
    desktop.click("Answer step 1")?;
    wait_for_question(&mut desktop, 1)?;
    wait_until_armed(&mut desktop)?;
    desktop.move_to(20, 400)?;
    desktop.click_here(1, 0)?;
    desktop.wait_until_gone(APPROVE)?;
    desktop.screenshot("dialog_left_undecided")?;
    desktop.key("F8")?;
    wait_for_question(&mut desktop, 1)?;
    wait_until_armed(&mut desktop)?;
    // Outside the dialog is a button of the page. The second half of a double click does not press it.
    desktop.point_at("Stop now")?;
    desktop.click_here(2, 120)?;
    desktop.wait_until_gone(APPROVE)?;
    desktop.key("F8")?;
    wait_for_question(&mut desktop, 1)?;

    // The click that activates the window, on the button and outside the dialog.
    wait_until_armed(&mut desktop)?;
    desktop.point_at(APPROVE)?;
    desktop.open_other_window()?;
    desktop.click_here(1, 0)?;
    desktop.wait_until_it_has_the_keyboard()?;
    wait_until_armed(&mut desktop)?;
    assert_eq!(decisions(&desktop), [], "the click that came back approves nothing");
    desktop.give_other_window_the_keyboard()?;
    desktop.move_to(20, 400)?;
    desktop.click_here(1, 0)?;
    desktop.wait_until_it_has_the_keyboard()?;
    wait_until_armed(&mut desktop)?;
    // The same when the program was too busy to process the loss of focus in time.
    desktop.point_at(APPROVE)?;
    desktop.while_frozen(|desktop| {
        desktop.give_other_window_the_keyboard()?;
        desktop.click_here(1, 0)
    })?;
    desktop.wait_until_it_has_the_keyboard()?;
    wait_until_armed(&mut desktop)?;
    assert_eq!(decisions(&desktop), []);

    desktop.click(DENY)?;
    desktop.wait_for_text("Denied at step 1")?;
    assert_eq!(decisions(&desktop), expected(&[(1, "cancel")]));
    assert_eq!(workspace.made(), [""; 0]);
    Ok(())
}

#[test]
fn escape_and_stray_clicks_decide_nothing() {
    passes(left_open(&Workspace::creating(2)));
}

const CLOSE: &str = "Stop and close";

fn closed(workspace: &Workspace) -> Outcome {
    let mut desktop = authorized(workspace)?;
    desktop.click("Run")?;
    wait_for_question(&mut desktop, 1)?;
    wait_until_armed(&mut desktop)?;
    desktop.ask_to_close()?;
    desktop.wait_for_control(CLOSE)?;
    desktop.screenshot("dialog_close")?;
    desktop.click("Keep running")?;
    wait_for_question(&mut desktop, 1)?;
    wait_until_armed(&mut desktop)?;
    desktop.ask_to_close()?;
    desktop.wait_for_control(CLOSE)?;
    // A second request to close is no answer either.
    desktop.ask_to_close()?;
    desktop.holds_for(Duration::from_millis(700), "it still asks", |tree| {
        tree.control(CLOSE).is_some()
    })?;
    assert_eq!(decisions(&desktop), []);
    desktop.click(CLOSE)?;
    desktop.wait_for_end()?;
    assert_eq!(decisions(&desktop), expected(&[(0, "stop_now")]), "no answer to the step");
    assert_eq!(outcomes(&desktop), ["cancelled"]);
    assert_eq!(workspace.made(), [""; 0]);

    desktop.start_again(&[])?;
    desktop.click_starting("Run ")?;
    desktop.wait_for_text("Cancelled at step 1")?;
    desktop.screenshot("dialog_closed_and_reopened")?;
    Ok(())
}

#[test]
fn closing_the_window_leaves_step_undecided() {
    passes(closed(&Workspace::creating(2)));
}

fn killed(workspace: &Workspace) -> Outcome {
    let mut desktop = authorized(workspace)?;
    desktop.click("Run")?;
    wait_for_question(&mut desktop, 1)?;
    desktop.click(APPROVE)?;
    wait_for_question(&mut desktop, 2)?;
    wait_until_armed(&mut desktop)?;
    desktop.kill()?;
    assert_eq!(decisions(&desktop), expected(&[(1, "approve")]));
    assert_eq!(outcomes(&desktop), ["succeeded"]);
    assert_eq!(rows(&desktop, "run_ends"), 0);

    desktop.start_again(&[])?;
    desktop.click_starting("Run ")?;
    desktop.wait_for_text("Interrupted")?;
    desktop.screenshot("dialog_killed_and_reopened")?;
    assert_eq!(workspace.made(), ["1"]);
    Ok(())
}

#[test]
fn kill_during_a_question_leaves_run_interrupted() {
    passes(killed(&Workspace::creating(2)));
}
