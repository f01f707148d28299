//! No accidental answers: a held key, the second half of a double click and keys typed ahead answer nothing.

use std::time::{Duration, Instant};

use super::*;
use crate::screen::{PATIENCE, fail};

/// Holds a letter in a text field to verify that the X server repeats held keys.
fn keys_are_repeated(desktop: &mut Desktop) -> Outcome {
    desktop.key("ctrl+k")?;
    desktop.wait_for_control("Find a command")?;
    desktop.hold_key("x")?;
    desktop.wait_until("a held key is repeated", |desktop| {
        let tree = desktop.tree()?;
        let field = tree.control("Find a command").and_then(|field| field.value.clone());
        Ok(field.filter(|text| text.starts_with("xxx")).map(|_| ()))
    })?;
    desktop.release_key("x")?;
    desktop.key("Escape")?;
    desktop.wait_until_gone("Find a command")
}

fn held_enter(workspace: &Workspace) -> Outcome {
    let mut desktop = authorized(workspace)?;
    keys_are_repeated(&mut desktop)?;
    desktop.key("F5")?;
    for number in 1..=2 {
        wait_for_question(&mut desktop, number)?;
        desktop.tab_to(APPROVE)?;
        wait_until_armed(&mut desktop)?;
        desktop.hold_key("Return")?;
        wait_for_question(&mut desktop, number + 1)?;
        let time = Duration::from_millis(2_500);
        desktop.holds_for(time, "no button counts while Enter is held", |tree| {
            [APPROVE, SKIP, DENY]
                .iter()
                .all(|name| tree.control(name).is_some_and(|button| button.disabled))
        })?;
        assert_eq!(decisions(&desktop).len(), number, "one held Enter, one answer");
        desktop.release_key("Return")?;
        wait_until_armed(&mut desktop)?;
    }
    desktop.click(DENY)?;
    desktop.wait_for_text("Denied at step 3")?;
    assert_eq!(decisions(&desktop), expected(&[(1, "approve"), (2, "approve"), (3, "cancel")]));
    assert_eq!(workspace.made(), ["1", "2"]);
    Ok(())
}

#[test]
fn a_held_enter_approves_one_step() {
    passes(held_enter(&Workspace::creating(4)));
}

fn fast_clicks(workspace: &Workspace) -> Outcome {
    let mut desktop = authorized(workspace)?;
    desktop.click("Run")?;
    let (mut number, mut approved) = (1, Vec::new());
    for (clicks, delay, frozen) in
        [(2, 60, false), (2, 250, false), (3, 90, false), (6, 20, false), (2, 20, true)]
    {
        wait_for_question(&mut desktop, number)?;
        desktop.point_at(APPROVE)?;
        wait_until_armed(&mut desktop)?;
        if frozen {
            // All events in one frame, as on a machine that was busy for a moment.
            desktop.while_frozen(|desktop| desktop.click_here(clicks, delay))?;
        } else {
            desktop.click_here(clicks, delay)?;
        }
        approved.push((u32::try_from(number).expect("a number"), "approve"));
        number += 1;
        wait_for_question(&mut desktop, number)?;
        // By then every click was processed, and none is pending.
        wait_until_armed(&mut desktop)?;
        assert_eq!(decisions(&desktop), expected(&approved), "{clicks} clicks, {delay} ms apart");
        assert_eq!(workspace.made().len(), approved.len());
    }
    desktop.click(DENY)?;
    desktop.wait_for_text("Denied at step 6")?;
    approved.push((6, "cancel"));
    assert_eq!(decisions(&desktop), expected(&approved));
    assert_eq!(workspace.made(), ["1", "2", "3", "4", "5"]);
    Ok(())
}

/// The second click comes when the next question is in the same place. Returns false when the machine paused
/// so long that the click was a separate one.
fn slow_double_click(workspace: &Workspace) -> Outcome<bool> {
    let mut desktop = authorized(workspace)?;
    desktop.click("Run")?;
    wait_for_question(&mut desktop, 1)?;
    desktop.point_at(APPROVE)?;
    wait_until_armed(&mut desktop)?;
    desktop.click_here(1, 0)?;
    let before = last_look_without(&mut desktop, 2, Instant::now())?;
    desktop.click_here(2, 20)?;
    if before.elapsed() > Duration::from_millis(450) {
        return Ok(false);
    }
    desktop.wait_until("every click has been seen", |desktop| {
        let tree = desktop.tree()?;
        Ok(tree.control(APPROVE).filter(|control| !control.disabled).map(|_| ()))
    })?;
    assert_eq!(decisions(&desktop), expected(&[(1, "approve")]));
    assert_eq!(workspace.made(), ["1"]);
    Ok(true)
}

#[test]
fn a_slow_double_click_approves_one_step() {
    for _ in 0..8 {
        match slow_double_click(&Workspace::creating(4)) {
            Ok(true) => return,
            Ok(false) => {}
            Err(error) => panic!("{error}"),
        }
    }
    panic!("this machine is too slow for a double click");
}

#[test]
fn a_double_click_approves_one_step() {
    passes(fast_clicks(&Workspace::creating(7)));
}

/// Polls without a pause until this question is shown. Returns the last time at which it was not. The first
/// question may appear before the first poll, so `since` is a time before it.
fn last_look_without(desktop: &mut Desktop, number: usize, since: Instant) -> Outcome<Instant> {
    let title = format!("Execute step {number} of ");
    let (begin, mut before) = (Instant::now(), since);
    loop {
        let look = Instant::now();
        if desktop.tree()?.shows(&title) {
            return Ok(before);
        }
        if begin.elapsed() > PATIENCE {
            return fail(format!("no question of step {number}"));
        }
        before = look;
    }
}

/// An upper bound of the time from the appearance of a question until it could be approved.
fn time_until_armed(
    desktop: &mut Desktop,
    number: usize,
    typed: &str,
    since: Instant,
) -> Outcome<Duration> {
    let before = last_look_without(desktop, number, since)?;
    if !typed.is_empty() {
        type_word(desktop, typed)?;
    }
    wait_until_armed(desktop)?;
    Ok(before.elapsed())
}

fn not_at_once(workspace: &Workspace) -> Outcome {
    let mut desktop = authorized(workspace)?;
    // The first question appears while the mouse button is held where Approve will be.
    desktop.key("F5")?;
    wait_for_question(&mut desktop, 1)?;
    desktop.point_at(APPROVE)?;
    desktop.key("Escape")?;
    desktop.wait_until_gone(APPROVE)?;
    desktop.hold_button()?;
    desktop.key("F8")?;
    wait_for_question(&mut desktop, 1)?;
    desktop.holds_for(Duration::from_millis(1_500), "nothing while the mouse is held", |tree| {
        [APPROVE, SKIP, DENY]
            .iter()
            .all(|name| tree.control(name).is_some_and(|button| button.disabled))
    })?;
    desktop.release_button()?;
    wait_until_armed(&mut desktop)?;
    assert_eq!(decisions(&desktop), []);
    let since = Instant::now();
    desktop.click(APPROVE)?;

    let took = time_until_armed(&mut desktop, 2, "", since)?;
    assert!(took >= Duration::from_millis(500), "{took:?}");
    assert_eq!(decisions(&desktop), expected(&[(1, "approve")]));
    let since = Instant::now();
    desktop.click(APPROVE)?;

    // The same after another question, whose elapsed time must not count.
    let took = time_until_armed(&mut desktop, 3, "release.yml", since)?;
    assert!(took >= Duration::from_millis(1_500), "{took:?}");

    assert_eq!(workspace.made(), ["1", "2"]);
    desktop.click(APPROVE)?;
    desktop.wait_for_text("Completed")?;
    let all = [(1, "approve"), (2, "approve"), (3, "approve")];
    assert_eq!(decisions(&desktop), expected(&all));
    assert!(workspace.path(WORKFLOW).exists());
    Ok(())
}

const WORKFLOW: &str = ".github/workflows/release.yml";

fn dangerous() -> Value {
    json!({
        "step_id": "workflow",
        "tool": "file_create",
        "arguments": { "path": WORKFLOW, "contents": "on: push\n" },
    })
}

/// Keys and buttons that are still held answer nothing.
#[test]
fn approval_needs_a_seen_question_and_releases() {
    passes(not_at_once(&Workspace::new(json!([create("made/1"), create("made/2"), dangerous()]))));
}

fn typed_ahead(workspace: &Workspace) -> Outcome {
    let mut desktop = authorized(workspace)?;
    let word: Vec<_> = "release".chars().map(String::from).collect();
    let word: Vec<_> = word.iter().map(String::as_str).chain(["period", "y", "m", "l"]).collect();
    let ahead = [&["F5", "Tab", "Return", "space", "y"], &word[..], &["Return", "Escape"]].concat();
    desktop.while_frozen(|desktop| desktop.keys_at_once(&ahead))?;
    wait_for_question(&mut desktop, 1)?;
    desktop.holds_for(Duration::from_millis(1_700), "nothing was typed for it", |tree| {
        let field = tree.control("To approve, type “release.yml”");
        field.is_some_and(|field| field.value.as_deref().unwrap_or_default().is_empty())
            && tree.control(APPROVE).is_some_and(|button| button.disabled)
            && tree.focused.as_deref() == Some("To approve, type “release.yml”")
    })?;
    // A wrong word approves nothing by any key.
    for wrong in ["y", "yes", "release", "RELEASE.YML", "workflows/release.yml"] {
        desktop.click("To approve, type “release.yml”")?;
        desktop.key("ctrl+a")?;
        desktop.type_text(wrong)?;
        desktop.wait_until("the word is in the field", |desktop| {
            let tree = desktop.tree()?;
            let field = tree.control("To approve, type “release.yml”");
            Ok(field.filter(|field| field.value.as_deref() == Some(wrong)).map(|_| ()))
        })?;
        desktop.point_at(APPROVE)?;
        desktop.click_here(1, 0)?;
        desktop.key("Return")?;
        assert!(desktop.tree()?.control(APPROVE).is_some_and(|button| button.disabled), "{wrong}");
    }
    // Denying needs no word.
    desktop.click(SKIP)?;
    wait_for_question(&mut desktop, 2)?;
    wait_until_armed(&mut desktop)?;
    assert_eq!(decisions(&desktop), expected(&[(1, "skip")]));
    assert!(!workspace.path(WORKFLOW).exists());
    Ok(())
}

#[test]
fn keys_typed_ahead_and_wrong_words_approve_nothing() {
    passes(typed_ahead(&Workspace::new(json!([dangerous(), create("made/2")]))));
}

fn tab_and_space(workspace: &Workspace) -> Outcome {
    let mut desktop = authorized(workspace)?;
    desktop.key("F5")?;
    wait_for_question(&mut desktop, 1)?;
    wait_until_armed(&mut desktop)?;
    assert_eq!(desktop.tree()?.focused, None, "nothing has the keyboard at first");
    // All in one frame: a key pressed before Tab does not apply to the control that Tab leads to.
    desktop.while_frozen(|desktop| desktop.keys_at_once(&["space", "Return", "y", "Tab"]))?;
    for name in [
        DENY,
        SKIP,
        APPROVE,
        "Reason",
        "Next change",
        "Previous change",
        "Side by side",
        "Unified",
        "Copy argument path",
    ] {
        if name != DENY {
            desktop.key("Tab")?;
        }
        desktop.wait_until(&format!("Tab reaches \"{name}\""), |desktop| {
            let focused = desktop.tree()?.focused;
            Ok((focused.as_deref() == Some(name)).then_some(()))
        })?;
        if name.starts_with("Copy") {
            desktop.keys_at_once(&["space", "space", "Return"])?;
        }
    }
    assert_eq!(decisions(&desktop), []);
    desktop.tab_to(SKIP)?;
    desktop.keys_at_once(&["space", "space", "space"])?;
    wait_for_question(&mut desktop, 2)?;
    wait_until_armed(&mut desktop)?;
    assert_eq!(desktop.tree()?.focused, None, "the next question has a keyboard of its own");
    desktop.keys_at_once(&["space", "Return"])?;
    desktop.tab_to(APPROVE)?;
    // Two presses in one frame are one answer.
    desktop.while_frozen(|desktop| desktop.keys_at_once(&["space", "Return", "Return"]))?;
    wait_for_question(&mut desktop, 3)?;
    desktop.tab_to(DENY)?;
    desktop.key("space")?;
    desktop.wait_for_text("Denied at step 3")?;
    assert_eq!(decisions(&desktop), expected(&[(1, "skip"), (2, "approve"), (3, "cancel")]));
    assert_eq!(workspace.made(), ["2"]);
    Ok(())
}

#[test]
fn tab_reaches_deny_first() {
    passes(tab_and_space(&Workspace::creating(4)));
}
