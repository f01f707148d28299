//! The dialog that authorizes a plan has the same protection against accidental answers.

use std::time::Duration;

use super::*;

const AUTHORIZE: &str = "Authorize";

fn may_be_signed(desktop: &mut Desktop) -> Outcome {
    desktop.wait_until("the plan may be signed", |desktop| {
        Ok(desktop.tree()?.control(AUTHORIZE).filter(|control| !control.disabled).map(|_| ()))
    })
}

fn a_signature(workspace: &Workspace) -> Outcome {
    let mut desktop = Desktop::start_here(&[&workspace.plan().display().to_string()])?;
    desktop.resize(900, 600)?;
    desktop.look_at_steps()?;
    // Typed ahead, and held.
    desktop.while_frozen(|desktop| {
        desktop.keys_at_once(&["ctrl+Return", "Tab", "Return", "space", "y"])?;
        desktop.hold_key("Return")
    })?;
    desktop.wait_for_control(AUTHORIZE)?;
    desktop.holds_for(Duration::from_millis(1_200), "not while Enter is held", |tree| {
        tree.control(AUTHORIZE).is_some_and(|button| button.disabled)
    })?;
    desktop.release_key("Return")?;
    may_be_signed(&mut desktop)?;
    assert_eq!(desktop.tree()?.focused, None);
    desktop.screenshot("dialog_authorize_small")?;
    desktop.key("Tab")?;
    desktop.wait_until("Tab reaches what holds back", |desktop| {
        Ok((desktop.tree()?.focused.as_deref() == Some("Not now")).then_some(()))
    })?;
    desktop.key("Escape")?;
    desktop.wait_until_gone(AUTHORIZE)?;

    // The click that activates the window again after another one.
    desktop.click("Authorize…")?;
    desktop.point_at(AUTHORIZE)?;
    may_be_signed(&mut desktop)?;
    desktop.open_other_window()?;
    desktop.click_here(1, 0)?;
    desktop.wait_until_it_has_the_keyboard()?;
    may_be_signed(&mut desktop)?;
    desktop.move_to(5, 300)?;
    desktop.click_here(1, 0)?;
    desktop.wait_until_gone(AUTHORIZE)?;
    assert_eq!(rows(&desktop, "authorizations"), 0);

    // A double click authorizes, and does not start the run.
    desktop.click("Authorize…")?;
    desktop.point_at(AUTHORIZE)?;
    may_be_signed(&mut desktop)?;
    desktop.click_here(4, 100)?;
    desktop.wait_for_text("valid 30 min")?;
    desktop.screenshot("dialog_authorized_small")?;
    assert_eq!(rows(&desktop, "authorizations"), 1);
    assert_eq!(rows(&desktop, "runs"), 0);
    assert!(desktop.tree()?.control("Run").is_some());
    Ok(())
}

#[test]
fn a_signature_is_given_once_and_on_purpose() {
    passes(a_signature(&Workspace::creating(2)));
}

fn closed_instead(workspace: &Workspace) -> Outcome {
    let mut desktop = Desktop::start_here(&[&workspace.plan().display().to_string()])?;
    desktop.look_at_steps()?;
    desktop.click("Authorize…")?;
    may_be_signed(&mut desktop)?;
    desktop.ask_to_close()?;
    desktop.wait_for_end()?;
    assert_eq!(rows(&desktop, "authorizations"), 0);
    assert_eq!(rows(&desktop, "decisions"), 0);
    Ok(())
}

#[test]
fn closing_the_window_signs_nothing() {
    passes(closed_instead(&Workspace::creating(1)));
}
