//! Tests that the card of a guided step follows the rules of the dialog.

use egui::accesskit::Role;
use egui::{Event, Key, Modifiers, PointerButton, Pos2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::run::Decision;
use crate::ui::tests::scene::Scene;
use crate::ui::tests::{Window, window};
use crate::ui::{Action, Command, DialogAction, PlanAction};

const RUN: &str = "Run this step";
const ANSWERS: [(&str, Decision); 4] = [
    ("Deny and stop", Decision::Cancel),
    ("Skip this step", Decision::Skip),
    ("Mark as done", Decision::DoneByHand),
    (RUN, Decision::Approve),
];

fn large_window(name: &str) -> Harness<'static, Window> {
    window(name, [1280.0, 800.0])
}

/// Advances the time by this much, in frames of a quarter of a second (the step of the test harness).
fn wait(harness: &mut Harness<'static, Window>, ms: usize) {
    harness.run_steps(ms.div_ceil(250));
}

fn enabled(harness: &Harness<'static, Window>, name: &str) -> bool {
    !harness.get_by_label(name).accesskit_node().is_disabled()
}

fn answers(harness: &Harness<'static, Window>) -> Vec<Decision> {
    let actions = harness.state().actions.iter();
    let decisions = actions.filter_map(|action| match action {
        Action::Dialog(DialogAction::Answer { decision, .. }) => Some(*decision),
        _ => None,
    });
    decisions.collect()
}

fn pointer(harness: &Harness<'static, Window>, pos: Pos2, pressed: bool) {
    let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
    harness.event(Event::PointerMoved(pos));
    harness.event(Event::PointerButton { pos, button, pressed, modifiers });
}

fn key(key: Key, pressed: bool) -> Event {
    Event::Key { key, physical_key: None, pressed, repeat: false, modifiers: Modifiers::NONE }
}

#[test]
fn answers_count_once_the_card_was_seen() {
    for (name, decision) in ANSWERS {
        let mut harness = large_window("asking");
        harness.state_mut().scene = Scene::new("guided");
        harness.run_steps(2);
        assert!(!enabled(&harness, name), "{name}: not before it was visible for long enough");
        wait(&mut harness, 1_500);
        harness.get_by_label(name).click();
        harness.run_ok();
        assert_eq!(answers(&harness), [decision]);
    }
}

/// The words are optional: a denial is one click without them. They come after the answers in the order of Tab.
#[test]
fn an_answer_in_the_card_takes_words() {
    let mut harness = large_window("guided");
    wait(&mut harness, 1_500);
    harness.get_by_label("Reason").click();
    harness.run_ok();
    harness.event(Event::Text("the tests are red".to_owned()));
    harness.run_steps(2);
    harness.get_by_label("Deny and stop").click();
    harness.run_ok();
    let reasons = harness.state().actions.iter().filter_map(|action| match action {
        Action::Dialog(DialogAction::Answer { decision: Decision::Cancel, reason, .. }) => {
            Some(reason.as_str())
        }
        _ => None,
    });
    assert_eq!(reasons.collect::<Vec<_>>(), ["the tests are red"]);
}

#[test]
fn only_the_latest_display_keeps_its_state() {
    let mut harness = large_window("guided");
    for _ in 0..3 {
        harness.state_mut().scene.ask_again();
        harness.run_steps(2);
    }
    assert_eq!(harness.ctx.data(|data| data.count::<super::Memory>()), 1);
}

#[test]
fn the_card_says_what_runs_where_and_why() {
    let harness = large_window("guided");
    for text in [
        "/home/ada/src/parser",
        "ada",
        "The archive is what is handed over.",
        "Changes files. (rule changes-files)",
    ] {
        assert!(harness.query_all_by_label(text).next().is_some(), "{text}");
    }
    let command = "cp -R docs/. target/site/ && tar -C target -czf target/site.tar.gz site";
    let labels = harness.query_all_by_role(Role::Label);
    let in_card = labels.filter(|node| (210.0..810.0).contains(&node.rect().left()));
    let text: String = in_card.filter_map(|node| node.accesskit_node().value()).collect();
    assert!(text.contains(command), "the complete command: {text}");
    assert_eq!(harness.query_all_by_label("Copy command").count(), 2, "here and in the inspector");
    for text in ["Step 1: Run git status --short docs, succeeded, safe", "shell"] {
        assert!(harness.query_all_by_label(text).next().is_some(), "{text}");
    }
}

#[test]
fn ended_steps_show_their_outcome() {
    let harness = window("guided-ended-output", [1280.0, 1400.0]);
    for text in [
        "Step 1: Run git status --short docs, succeeded, safe",
        "Step 2: Run mkdir -p target/site, done by hand, caution",
        "Step 4: Run tar -tzf target/site.tar.gz, skipped, safe",
        "Output of step 2, done by hand, done by hand",
        "Output of step 4, skipped, skipped",
    ] {
        assert!(harness.query_all_by_label(text).next().is_some(), "{text}");
    }
}

#[test]
fn key_and_tab_reach_card_and_answers() {
    let mut harness = large_window("guided");
    wait(&mut harness, 1_000);
    harness.key_press(Key::F8);
    harness.run_ok();
    let row = |harness: &Harness<'static, Window>| {
        harness.query_all_by_label_contains("Step 3: Run cp").next().unwrap().is_focused()
    };
    assert!(row(&harness), "{:?}", harness.state().actions);
    harness.key_press(Key::Tab);
    harness.run_steps(2);
    assert!(harness.query_all_by_label("Copy command").any(|button| button.is_focused()));
    for (name, _) in ANSWERS {
        harness.key_press(Key::Tab);
        harness.run_steps(2);
        assert!(harness.get_by_label(name).is_focused(), "{name}");
    }
    harness.key_press(Key::Enter);
    harness.run_ok();
    assert_eq!(answers(&harness), [Decision::Approve]);
}

#[test]
fn dangerous_step_runs_only_through_the_dialog() {
    let mut harness = large_window("guided-dangerous");
    wait(&mut harness, 3_000);
    let fields =
        |harness: &Harness<'static, Window>| harness.query_all_by_role(Role::TextInput).count();
    assert_eq!(fields(&harness), 1, "no dialog is open yet: only the words have a field");
    harness.get_by_label("Run this step…").click();
    harness.run_ok();
    assert_eq!(answers(&harness), []);
    assert!(harness.state().actions.contains(&Action::Plan(PlanAction::OpenConfirmation)));
    wait(&mut harness, 3_000);
    assert!(!enabled(&harness, RUN), "not before the target is typed");
    let skips = harness.query_all_by_label("Skip this step").count();
    assert_eq!(skips, 1, "only the dialog has answers");
    harness.key_press(Key::Escape);
    harness.run_steps(2);
    assert_eq!(fields(&harness), 1);
    assert!(!enabled(&harness, "Skip this step"), "the delay starts again");
    wait(&mut harness, 1_000);
    assert!(enabled(&harness, "Skip this step"));
    assert_eq!(answers(&harness), []);
}

#[test]
fn held_pointer_or_key_answers_nothing() {
    let position = large_window("guided").get_by_label(RUN).rect().center();
    let mut harness = large_window("asking");
    pointer(&harness, position, true);
    harness.step();
    harness.state_mut().scene = Scene::new("guided");
    wait(&mut harness, 2_000);
    assert!(!enabled(&harness, RUN));
    pointer(&harness, position, false);
    harness.run_steps(2);
    assert_eq!(answers(&harness), []);

    let mut harness = large_window("asking");
    harness.input_mut().events.push(key(Key::Enter, true));
    harness.step();
    harness.state_mut().scene = Scene::new("guided");
    wait(&mut harness, 2_000);
    for (name, _) in ANSWERS {
        assert!(!enabled(&harness, name), "{name} while Enter is held");
    }
    harness.input_mut().events.push(key(Key::Enter, false));
    harness.run_steps(2);
    harness.get_by_label(RUN).focus();
    harness.run_steps(2);
    harness.input_mut().events.push(key(Key::Enter, true));
    harness.step();
    assert_eq!(answers(&harness), [Decision::Approve], "a new press counts");
    // The key stays down: the next card must ignore its repeats.
    harness.state_mut().scene = Scene::new("guided");
    harness.state_mut().scene.ask_again();
    for _ in 0..8 {
        harness.input_mut().events.push(key(Key::Enter, true));
        harness.step();
    }
    assert_eq!(answers(&harness), [Decision::Approve]);
}

#[test]
fn keys_typed_before_it_was_seen_answer_nothing() {
    let mut harness = large_window("asking");
    harness.state_mut().scene = Scene::new("guided");
    for typed in [Key::F8, Key::Tab, Key::Tab, Key::Enter, Key::Space] {
        harness.input_mut().events.extend([key(typed, true), key(typed, false)]);
        harness.step();
    }
    harness.run_steps(3);
    assert_eq!(answers(&harness), []);
}

#[test]
fn double_click_answers_only_one_card() {
    let mut harness = large_window("guided");
    wait(&mut harness, 1_000);
    let position = harness.get_by_label(RUN).rect().center();
    for _ in 0..2 {
        pointer(&harness, position, true);
        pointer(&harness, position, false);
        harness.run_steps(2);
        assert_eq!(answers(&harness), [Decision::Approve]);
        harness.state_mut().scene.ask_again();
    }
}

#[test]
fn focusing_click_is_no_answer() {
    for (name, _) in ANSWERS {
        let mut harness = large_window("guided");
        wait(&mut harness, 1_000);
        let position = harness.get_by_label(name).rect().center();
        harness.input_mut().focused = false;
        harness.event(Event::WindowFocused(false));
        harness.step();
        harness.input_mut().focused = true;
        harness.event(Event::WindowFocused(true));
        pointer(&harness, position, true);
        harness.step();
        pointer(&harness, position, false);
        harness.run_steps(2);
        assert_eq!(answers(&harness), [], "{name}");
    }
}

#[test]
fn partly_hidden_card_takes_no_answer() {
    let mut harness = window("guided-many", [1280.0, 800.0]);
    wait(&mut harness, 1_000);
    assert!(enabled(&harness, RUN));
    let list = harness.query_all_by_label_contains("Step 3: Run cp").next().unwrap().rect();
    harness.event(Event::PointerMoved(list.center()));
    harness.event(Event::MouseWheel {
        source: egui::MouseWheelSource::Wheel,
        unit: egui::MouseWheelUnit::Point,
        delta: egui::vec2(0.0, -150.0),
        phase: egui::TouchPhase::Move,
        modifiers: Modifiers::NONE,
    });
    wait(&mut harness, 2_000);
    assert!(!enabled(&harness, RUN), "a part of the card is out of sight");
    harness.key_press(Key::F8);
    wait(&mut harness, 2_000);
    assert!(enabled(&harness, RUN), "the card was scrolled into view");
    assert!(harness.state().actions.contains(&Action::Do(Command::AnswerStep)));
}

// Where there is no room for them, the question can be opened as a dialog.
#[test]
fn answers_stay_visible_in_a_small_window() {
    let size = [900.0, 600.0];
    for name in ["guided", "guided-output", "guided-many", "guided-dangerous"] {
        let mut harness = window(name, size);
        harness.key_press(Key::F8);
        wait(&mut harness, 2_000);
        let run = if name == "guided-dangerous" { "Run this step…" } else { RUN };
        for button in ["Deny and stop", "Skip this step", "Mark as done", run] {
            let rect = harness.get_by_label(button).rect();
            assert!(rect.right() < size[0] && rect.bottom() < size[1], "{name}: {button}");
            assert!(enabled(&harness, button), "{name}: {button}");
        }
    }
    let mut harness = window("guided-output", [720.0, 360.0]);
    harness.key_press(Key::F8);
    wait(&mut harness, 1_000);
    harness.get_by_label("Answer this step…").click();
    wait(&mut harness, 2_000);
    assert!(harness.query_by_label("Execute step 3 of 5: shell?").is_some());
    harness.get_by_label(RUN).click();
    harness.run_ok();
    assert_eq!(answers(&harness), [Decision::Approve]);
}

#[test]
fn card_without_room_does_not_keep_repainting() {
    for size in [[720.0, 360.0], [720.0, 400.0], [720.0, 480.0], [1280.0, 800.0]] {
        for name in ["guided", "guided-many", "guided-long"] {
            let mut harness = window(name, size);
            harness.key_press(Key::F8);
            assert!(harness.try_run().is_ok(), "{name} in {size:?}");
        }
    }
}

// The answers do not move.
#[test]
fn long_command_is_scrolled_by_keys() {
    let mut harness = window("guided-long", [1280.0, 800.0]);
    wait(&mut harness, 1_000);
    let position = harness.get_by_label(RUN).rect();
    let line = |harness: &Harness<'static, Window>, text: &str| {
        harness.query_all_by_label(text).any(|node| node.rect().right() < 820.0)
    };
    assert!(line(&harness, "echo line 1") && !line(&harness, "echo line 80"));
    harness.get_by_label("The step in full").focus();
    harness.run_ok();
    harness.key_press(Key::End);
    harness.run_ok();
    assert!(!line(&harness, "echo line 1"));
    assert!(line(&harness, "echo line 100"), "its end");
    assert_eq!(harness.get_by_label(RUN).rect(), position);
}
