//! Tests of the rules that all dialogs follow.

use egui::{Event, Key, Modifiers, PointerButton, Pos2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable};

use crate::run::Decision;
use crate::ui::tests::scene::Scene;
use crate::ui::tests::{Window, fixture, window};
use crate::ui::{Action, Command, DialogAction};

mod authorize;
mod input;
mod word;

const APPROVE: &str = "Approve this step";

fn large_window(name: &str) -> Harness<'static, Window> {
    window(name, [1280.0, 800.0])
}

/// The window, drawn at 50 frames per second.
pub(crate) fn at_speed(name: &str, size: [f32; 2]) -> Harness<'static, Window> {
    Harness::builder()
        .with_size(size)
        .with_step_dt(0.02)
        .with_max_steps(1)
        .with_context_setup(crate::ui::theme::install)
        .build_ui_state(
            |ui, window: &mut Window| {
                crate::ui::window_ui(ui, &window.scene.view(), &mut window.actions);
            },
            Window { scene: Scene::new(name), actions: Vec::new() },
        )
}

/// Advances the time by this much, in frames of a quarter of a second (the step of the test harness).
fn wait(harness: &mut Harness<'static, Window>, ms: u64) {
    harness.run_steps(usize::try_from(ms.div_ceil(250)).unwrap());
}

fn enabled(harness: &Harness<'static, Window>, name: &str) -> bool {
    !harness.get_by_label(name).accesskit_node().is_disabled()
}

fn answers(harness: &Harness<'static, Window>) -> Vec<Decision> {
    harness
        .state()
        .actions
        .iter()
        .filter_map(|action| match action {
            Action::Dialog(DialogAction::Answer { decision, .. }) => Some(*decision),
            _ => None,
        })
        .collect()
}

fn left_undecided(harness: &Harness<'static, Window>) -> bool {
    harness.state().actions.contains(&Action::Dialog(DialogAction::LeaveUndecided))
}

fn button_at(harness: &Harness<'static, Window>, name: &str) -> Pos2 {
    harness.get_by_label(name).rect().center()
}

fn pointer(harness: &Harness<'static, Window>, pos: Pos2, pressed: bool) {
    harness.event(Event::PointerMoved(pos));
    harness.event(Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    });
}

/// The field for the word; the next one is for the reason.
fn word_field<'a>(harness: &'a Harness<'_, Window>) -> egui_kittest::Node<'a> {
    harness.get_all_by_role(egui::accesskit::Role::TextInput).next().unwrap()
}

#[test]
fn a_denial_takes_the_reason_with_it() {
    let mut harness = large_window("dialog");
    wait(&mut harness, 1_000);
    harness.get_by_label("Reason").focus();
    harness.step();
    harness.get_by_label("Reason").type_text(" It writes too much. ");
    harness.run_ok();
    harness.get_by_label("Deny and stop").click();
    harness.run_ok();
    let reasons = harness.state().actions.iter().filter_map(|action| match action {
        Action::Dialog(DialogAction::Answer { decision, reason, .. }) => {
            Some((*decision, &**reason))
        }
        _ => None,
    });
    assert_eq!(reasons.collect::<Vec<_>>(), [(Decision::Cancel, "It writes too much.")]);
}

#[test]
fn dangerous_step_needs_its_target_name() {
    let mut harness = large_window("dangerous");
    wait(&mut harness, 3_000);
    assert!(!enabled(&harness, APPROVE));
    let plan = fixture::dangerous_plan();
    assert_eq!(fixture::request(&plan, 2).target_word(), "release.yml");
    for (text, is_enabled) in [("yes", false), ("", false), ("release.yml", true)] {
        word_field(&harness).focus();
        harness.step();
        harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
        harness.key_press(Key::Delete);
        if !text.is_empty() {
            word_field(&harness).type_text(text);
        }
        harness.run_ok();
        assert_eq!(enabled(&harness, APPROVE), is_enabled, "{text:?}");
    }
}

// Every other answer needs none.
#[test]
fn dangerous_guided_step_needs_its_word_to_run() {
    const RUN: &str = "Run this step";
    const DONE: &str = "Mark as done";
    for (name, decision) in [
        (DONE, Decision::DoneByHand),
        ("Skip this step", Decision::Skip),
        ("Deny and stop", Decision::Cancel),
    ] {
        let mut harness = large_window("guided-dialog");
        wait(&mut harness, 3_000);
        assert!(harness.query_by_label("Execute step 3 of 5: shell?").is_some());
        harness.get_by_label(name).click();
        harness.run_ok();
        assert_eq!(answers(&harness), [decision]);
    }
    let mut harness = large_window("guided-dialog");
    wait(&mut harness, 3_000);
    assert!(!enabled(&harness, RUN) && enabled(&harness, DONE));
    let request = fixture::request(&fixture::guided_plan(true), 2);
    let word = request.target_word();
    word_field(&harness).focus();
    harness.step();
    word_field(&harness).type_text(&word);
    harness.run_ok();
    assert!(enabled(&harness, RUN));
    harness.get_by_label(RUN).click();
    harness.run_ok();
    assert_eq!(answers(&harness), [Decision::Approve]);
    // Without a guided run there is no *Mark as done*.
    let mut harness = large_window("dialog");
    wait(&mut harness, 1_000);
    assert!(harness.query_by_label(DONE).is_none());
    // Tab reaches the answers in display order.
    let mut harness = large_window("guided-dialog");
    wait(&mut harness, 3_000);
    for name in ["Deny and stop", "Skip this step", DONE] {
        harness.key_press(Key::Tab);
        harness.run_steps(2);
        assert!(harness.get_by_label(name).is_focused(), "{name}");
    }
}

#[test]
fn a_question_whose_file_has_changed_cannot_be_approved() {
    let mut harness = large_window("dialog");
    harness.state_mut().scene.outdated = vec!["src/lexer.rs".to_owned()];
    wait(&mut harness, 2_000);
    assert!(harness.query_by_label_contains("src/lexer.rs has changed since you were").is_some());
    assert!(!enabled(&harness, APPROVE));
    assert!(enabled(&harness, "Deny and stop") && enabled(&harness, "Skip this step"));
}

#[test]
fn the_four_answers_stay_in_a_small_window() {
    for size in [[900.0, 600.0], [720.0, 480.0]] {
        let harness = window("guided-dialog", size);
        let mut left = 0.0;
        for name in ["Deny and stop", "Skip this step", "Mark as done", "Run this step"] {
            let rect = harness.get_by_label(name).rect();
            assert!(rect.left() >= left, "{name} overlaps in {size:?}");
            assert!(rect.right() < size[0] && rect.bottom() < size[1], "{name} in {size:?}");
            left = rect.right();
        }
    }
}

#[test]
fn arguments_and_buttons_stay_visible() {
    for size in [[1280.0, 800.0], [720.0, 480.0]] {
        let harness = window("dialog", size);
        let bottom = harness.get_by_label(APPROVE).rect().bottom();
        assert!(bottom < size[1], "{bottom} in {size:?}");
        for label in ["+    n.saturating_add(2)", "path", WHOLE] {
            assert!(harness.query_all_by_label(label).next().is_some(), "{label} in {size:?}");
        }
    }
}

const WHOLE: &str = "The whole contents, with the lines that do not change";

/// The difference has the changed lines; the rest of the file is there on request.
#[test]
fn contents_are_shown_once() {
    let mut harness = large_window("dialog");
    let has_argument =
        |harness: &Harness<'_, Window>| harness.query_all_by_label("contents").next().is_some();
    assert!(!has_argument(&harness));
    wait(&mut harness, 1_000);
    harness.get_by_label(WHOLE).click();
    harness.run_ok();
    assert!(has_argument(&harness));
}

/// A tooltip is drawn in front of everything, so it would hide a part of the dialog.
#[test]
fn a_tooltip_closes_when_a_dialog_opens() {
    let mut harness = large_window("plan");
    let tooltip =
        "Show what all steps would change together, as one diff. Nothing runs or changes.";
    harness.event(Event::PointerMoved(button_at(&harness, "Simulate")));
    wait(&mut harness, 2_000);
    assert!(harness.query_by_label_contains(tooltip).is_some());
    harness.state_mut().scene = Scene::new("authorize");
    harness.run_steps(2);
    assert!(harness.query_by_label("Authorize exactly this plan?").is_some());
    assert!(harness.query_by_label_contains(tooltip).is_none());
}

#[test]
fn a_rejection_needs_a_reason() {
    let mut harness = large_window("reject");
    wait(&mut harness, 1_000);
    assert!(!enabled(&harness, "Reject"));
    assert!(harness.get_by_label("Reason (required)").is_focused());
    harness.input_mut().events.push(Event::Text("It writes too much.".to_owned()));
    harness.run_ok();
    harness.get_by_label("Reject").click();
    harness.run_ok();
    let digest = fixture::plan().digest;
    let reason = "It writes too much.".to_owned();
    let reject = Action::Dialog(DialogAction::Reject { digest, reason, replan: false });
    assert!(harness.state().actions.contains(&reject));
}

/// What was meant for something else must not become the reason.
#[test]
fn the_reason_gets_no_text_typed_before_it_has_the_focus() {
    let state = Window { scene: Scene::new("reject"), actions: Vec::new() };
    let mut harness = Harness::builder()
        .with_size([900.0, 600.0])
        .with_step_dt(0.02)
        .with_max_steps(1)
        .with_context_setup(crate::ui::theme::install)
        .build_ui_state(
            |ui, window: &mut Window| {
                crate::ui::window_ui(ui, &window.scene.view(), &mut window.actions);
            },
            state,
        );
    // Letters that go on for longer than the delay of the dialog.
    for _ in 0..40 {
        harness.input_mut().events.push(Event::Text("x".to_owned()));
        harness.step();
    }
    assert!(!harness.get_by_label("Reason (required)").is_focused());
    harness.run_steps(40);
    let field = harness.get_by_label("Reason (required)");
    assert!(field.is_focused());
    assert_eq!(field.value().as_deref(), Some(""));
}
