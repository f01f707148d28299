//! The word that approves a dangerous step: where its field is, what goes into it, and which keys approve.

use egui::{Event, Key, Modifiers};

use super::*;

const LABEL: &str = "To approve, type “release.yml”";

/// Advances the time by this much.
fn pass(harness: &mut Harness<'static, Window>, ms: usize) {
    harness.run_steps(ms / 20);
}

fn press(harness: &mut Harness<'static, Window>, key: Key) {
    for pressed in [true, false] {
        harness.input_mut().events.push(Event::Key {
            key,
            physical_key: None,
            pressed,
            repeat: false,
            modifiers: Modifiers::NONE,
        });
        harness.step();
    }
    harness.run_steps(2);
}

/// Types at the control that has the focus, whichever it is.
fn type_text(harness: &mut Harness<'static, Window>, text: &str) {
    for letter in text.chars() {
        harness.input_mut().events.push(Event::Text(letter.to_string()));
        harness.run_steps(2);
    }
}

fn typed(harness: &Harness<'static, Window>) -> String {
    word_field(harness).value().unwrap_or_default()
}

#[test]
fn letters_reach_the_word_without_a_click() {
    let mut harness = at_speed("dangerous", [900.0, 600.0]);
    pass(&mut harness, 600);
    assert!(word_field(&harness).is_focused());
    type_text(&mut harness, "release.yml");
    assert_eq!(typed(&harness), "release.yml");
    assert!(!enabled(&harness, APPROVE), "not before a second and a half");
    pass(&mut harness, 1_000);
    assert!(enabled(&harness, APPROVE));
    press(&mut harness, Key::Enter);
    assert_eq!(answers(&harness), [Decision::Approve]);
}

/// Somebody types on, without a look at the window: the name and Enter are meant for something else.
#[test]
fn what_is_still_meant_for_something_else_approves_nothing() {
    let mut harness = at_speed("asking", [900.0, 600.0]);
    pass(&mut harness, 200);
    harness.state_mut().scene = Scene::new("dangerous");
    for _ in 0..2 {
        for letter in "release.yml".chars() {
            harness.input_mut().events.push(Event::Text(letter.to_string()));
            pass(&mut harness, 120);
        }
        harness.input_mut().events.push(Event::Paste("release.yml".to_owned()));
        press(&mut harness, Key::Enter);
    }
    assert_eq!((typed(&harness), answers(&harness)), (String::new(), Vec::new()));
    assert!(harness.query_by_label("Too early. Pause for a moment.").is_some());
    assert!(word_field(&harness).is_focused(), "Enter does not lose the focus");
    pass(&mut harness, 600);
    assert_eq!(typed(&harness), "");
    assert!(harness.query_by_label("That was too early. Type it now.").is_some());
    type_text(&mut harness, "release.yml");
    assert_eq!(typed(&harness), "release.yml", "after a pause it is meant");
}

/// In a small window at a large zoom, the question has more room than its controls, which are in one line.
#[test]
fn a_small_window_shows_the_question() {
    let harness = at_speed("dangerous", [450.0, 311.0]);
    let rect = |name: &str| harness.get_by_label(name).rect();
    assert!((rect("Deny and stop").top() - rect(APPROVE).top()).abs() < 1.0);
    assert!(rect(LABEL).top() > 311.0 * 0.5, "{:?}", rect(LABEL));
    assert!(harness.query_by_label_contains("so approving it takes").is_none());
}

#[test]
fn enter_approves_only_with_the_exact_word() {
    let mut harness = at_speed("dangerous", [900.0, 600.0]);
    pass(&mut harness, 1_700);
    for wrong in ["", "r", "yes", "release", "RELEASE.YML", "release.yml2"] {
        type_text(&mut harness, wrong);
        press(&mut harness, Key::Enter);
        assert_eq!(answers(&harness), [], "{wrong}");
        assert!(word_field(&harness).is_focused(), "{wrong}");
        for _ in wrong.chars() {
            press(&mut harness, Key::Backspace);
        }
        assert_eq!(typed(&harness), "");
    }
    type_text(&mut harness, "release.yml");
    press(&mut harness, Key::Enter);
    assert_eq!(answers(&harness), [Decision::Approve]);
}

/// Enter stays down while another dangerous step asks.
#[test]
fn a_held_enter_approves_one_word() {
    let mut harness = at_speed("dangerous", [900.0, 600.0]);
    pass(&mut harness, 1_700);
    type_text(&mut harness, "release.yml");
    let enter = |repeat| Event::Key {
        key: Key::Enter,
        physical_key: None,
        pressed: true,
        repeat,
        modifiers: Modifiers::NONE,
    };
    harness.input_mut().events.push(enter(false));
    harness.step();
    harness.state_mut().scene = Scene::new("dangerous");
    harness.state_mut().scene.ask_again();
    for _ in 0..200 {
        harness.input_mut().events.push(enter(true));
        harness.step();
    }
    assert_eq!(answers(&harness), [Decision::Approve]);
    assert_eq!(typed(&harness), "", "the next step has a word of its own");
}

#[test]
fn tab_leads_from_the_word_to_the_approval() {
    let mut harness = at_speed("dangerous", [900.0, 600.0]);
    pass(&mut harness, 1_700);
    type_text(&mut harness, "release.yml");
    for name in [APPROVE, "Deny and stop", "Skip this step"] {
        press(&mut harness, Key::Tab);
        assert!(harness.get_by_label(name).is_focused(), "{name}");
    }
    assert_eq!(answers(&harness), []);
    // Without the word there is nothing to approve.
    let mut harness = at_speed("dangerous", [900.0, 600.0]);
    pass(&mut harness, 1_700);
    press(&mut harness, Key::Tab);
    assert!(harness.get_by_label("Deny and stop").is_focused());
}

#[test]
fn the_word_stands_above_the_approval_in_any_window() {
    for (size, scene, button) in [
        ([1280.0, 800.0], "dangerous", APPROVE),
        ([900.0, 600.0], "dangerous", APPROVE),
        ([720.0, 480.0], "guided-dialog", "Run this step"),
    ] {
        let harness = window(scene, size);
        let (field, button) = (word_field(&harness).rect(), harness.get_by_label(button).rect());
        assert!(field.bottom() < button.top(), "{size:?}");
        assert!(button.top() - field.bottom() < 48.0, "{size:?}: {field:?}, {button:?}");
        assert!(field.x_range().contains(button.center().x), "{size:?}");
        assert!(button.bottom() < size[1], "{size:?}");
    }
}

#[test]
fn it_says_why_and_whether_the_word_is_right_so_far() {
    let mut harness = at_speed("dangerous", [900.0, 600.0]);
    pass(&mut harness, 1_700);
    assert!(word_field(&harness).is_focused());
    let why = "The step is dangerous, so approving it takes the name of the file it is about.";
    for text in [LABEL, why] {
        assert!(harness.query_all_by_label(text).next().is_some(), "{text}");
    }
    let button = harness.get_by_label(APPROVE).rect();
    let mut before = "";
    for (text, hint) in [
        ("re", "Right so far."),
        ("x", "This is not the word."),
        ("REL", "Capital and small letters count."),
        ("release.yml", "It matches. Enter approves."),
    ] {
        for _ in before.chars() {
            press(&mut harness, Key::Backspace);
        }
        type_text(&mut harness, text);
        assert!(harness.query_by_label(hint).is_some(), "{text}: {hint}");
        assert_eq!(harness.get_by_label(APPROVE).rect(), button, "nothing moves");
        before = text;
    }
    let harness = window("guided-dialog", [900.0, 600.0]);
    let why = "The step is dangerous, so running it takes the furthest reaching word of its \
               dangerous part, and how many others it has.";
    assert!(harness.query_by_label(why).is_some());
}

/// It is typed again for the question that is shown again, so that one Enter never approves it.
#[test]
fn the_word_does_not_outlast_its_dialog() {
    let mut harness = at_speed("dangerous", [900.0, 600.0]);
    pass(&mut harness, 1_700);
    type_text(&mut harness, "release.yml");
    assert_eq!(typed(&harness), "release.yml");
    press(&mut harness, Key::Escape);
    harness.state_mut().scene = Scene::new("asking");
    harness.run_ok();
    harness.state_mut().scene = Scene::new("dangerous");
    harness.state_mut().scene.ask_again();
    pass(&mut harness, 1_700);
    assert_eq!(typed(&harness), "");
}

/// The button says why it is disabled; the word must not say that Enter works.
#[test]
fn the_word_approves_nothing_after_a_change() {
    let mut harness = at_speed("dangerous", [900.0, 600.0]);
    harness.state_mut().scene.outdated = vec!["release.yml".to_owned()];
    pass(&mut harness, 1_700);
    type_text(&mut harness, "release.yml");
    assert!(harness.query_by_label("It matches.").is_some());
    press(&mut harness, Key::Enter);
    assert_eq!(answers(&harness), Vec::new());
}

/// The keys that move through a text field of one line anyway scroll the question.
#[test]
fn the_question_scrolls_while_the_word_has_the_focus() {
    let mut harness = window("dangerous", [720.0, 480.0]);
    wait(&mut harness, 2_000);
    assert!(word_field(&harness).is_focused());
    let top = |harness: &Harness<'static, Window>| harness.get_by_label("Reason").rect().top();
    let at_first = top(&harness);
    for key in [Key::ArrowDown, Key::PageDown, Key::End] {
        let before = top(&harness);
        harness.key_press(key);
        harness.run_steps(3);
        assert!(top(&harness) < before, "{key:?}");
    }
    harness.key_press(Key::Home);
    harness.run_steps(3);
    assert_eq!(top(&harness), at_first);
    assert!(word_field(&harness).is_focused());
}
