//! Requests of assistive technology approve nothing that a mouse could not approve.

use egui::accesskit::{Action as Request, ActionData};
use egui::{Event, Key};
use egui_kittest::Harness;

use super::{Tree, announced, request};
use crate::run::Decision;
use crate::ui::dialog::tests::at_speed;
use crate::ui::tests::{Window, window};
use crate::ui::{Action, Command, DialogAction, PlanAction, SettingsAction};

const APPROVE: &str = "Approve this step";

/// Everything that assistive technology can ask of a control, except for looking somewhere else.
fn acting() -> Vec<(Request, Option<ActionData>)> {
    let value = || Some(ActionData::Value("release.yml".into()));
    vec![
        (Request::Click, None),
        (Request::Increment, None),
        (Request::Decrement, None),
        (Request::Expand, None),
        (Request::Collapse, None),
        (Request::SetValue, value()),
        (Request::SetValue, Some(ActionData::NumericValue(1.0))),
        (Request::ReplaceSelectedText, value()),
        (Request::CustomAction, Some(ActionData::CustomAction(0))),
    ]
}

fn send(harness: &mut Harness<'_, Window>, event: Event) {
    harness.input_mut().events.push(event);
    harness.step();
}

/// What the person is said to have decided.
fn decided(harness: &Harness<'_, Window>) -> Vec<Action> {
    let is = |it: &&Action| {
        matches!(it, Action::Dialog(it) if *it != DialogAction::LeaveUndecided)
            || matches!(it, Action::Do(_))
    };
    harness.state().actions.iter().filter(is).cloned().collect()
}

fn approvals(harness: &Harness<'_, Window>) -> usize {
    let is = |it: &&Action| {
        matches!(it, Action::Dialog(DialogAction::Answer { decision: Decision::Approve, .. }))
    };
    harness.state().actions.iter().filter(is).count()
}

#[test]
fn nothing_is_approved_before_the_delay_is_over() {
    for (name, button) in [
        ("dialog", APPROVE),
        ("dangerous", APPROVE),
        ("authorize", "Authorize"),
        ("guided", "Run this step"),
        ("close", "Stop and close"),
        ("purge", "Purge 412 runs and 3 loops"),
    ] {
        let mut harness = at_speed(name, [1280.0, 800.0]);
        let mut tree = Tree::of(&mut harness);
        for refused in 0..150 {
            let id = tree.id(button);
            let before = harness.state().actions.len();
            // Pressing again and again does not wait for the end of the delay.
            assert!(tree.nodes[&id].is_disabled(), "{name} after {refused} requests");
            for (action, data) in acting() {
                harness.input_mut().events.push(request(id, action, data));
                harness.input_mut().events.push(request(id, Request::Focus, None));
            }
            harness.step();
            tree = Tree::last(&harness);
            assert_eq!(harness.state().actions.len(), before, "{name} after {refused} requests");
            let answer = announced(&tree).unwrap_or_else(|| panic!("{name}: no answer"));
            assert!(answer.starts_with(&format!("{button} is not available. ")), "{answer}");
        }
        harness.run_steps(150);
        let tree = Tree::of(&mut harness);
        let id = tree.id(button);
        if name == "dangerous" {
            // Without the word it is never there.
            assert!(tree.nodes[&id].is_disabled());
            continue;
        }
        assert!(!tree.nodes[&id].is_disabled(), "{name}");
        send(&mut harness, request(id, Request::Click, None));
        harness.step();
        assert_eq!(decided(&harness).len(), 1, "{name}: after the delay it counts");
    }
}

/// Behind a dialog nothing can be pressed, changed, scrolled or get the keyboard.
#[test]
fn nothing_behind_a_dialog_can_be_used() {
    for name in ["authorize", "dialog", "dangerous", "help", "bug-report", "palette", "reject"] {
        let mut harness = window(name, [1280.0, 800.0]);
        harness.run_steps(12);
        let tree = Tree::of(&mut harness);
        let behind: Vec<_> = tree
            .ids()
            .filter(|(id, node)| {
                let mut at = Some(*id);
                while let Some(id) = at {
                    if tree.nodes[&id].is_modal() {
                        return false;
                    }
                    at = tree.parents.get(&id).copied();
                }
                node.supports_action(Request::Click) || node.supports_action(Request::Focus)
            })
            .map(|(id, _)| id)
            .collect();
        assert!(behind.len() > 20, "{name}: {}", behind.len());
        harness.state_mut().actions.clear();
        for id in behind {
            let asked =
                [Request::Click, Request::SetValue, Request::Focus, Request::ScrollIntoView];
            for action in asked {
                send(&mut harness, request(id, action, None));
                assert_eq!(harness.state().actions, [], "{name}: {action:?}");
                let focused = harness.ctx.memory(|memory| memory.focused());
                assert_ne!(focused.map(|it| it.accesskit_id()), Some(id), "{name}: {action:?}");
                if action == Request::Focus {
                    // Not even by the key that follows.
                    harness.key_press(Key::Space);
                    harness.step();
                    assert_eq!(harness.state().actions, [], "{name}: Space");
                }
            }
            let answer = announced(&Tree::last(&harness)).unwrap_or_default();
            assert!(answer.contains("Answer or close it first."), "{name}: {answer:?}");
        }
    }
}

#[test]
fn two_requests_at_once_are_one_answer() {
    let mut harness = window("dialog", [1280.0, 800.0]);
    harness.run_steps(8);
    let tree = Tree::of(&mut harness);
    for name in ["Deny and stop", APPROVE, APPROVE] {
        let event = request(tree.id(name), Request::Click, None);
        harness.input_mut().events.push(event);
    }
    harness.run_steps(4);
    assert_eq!(approvals(&harness), 0);
    assert_eq!(decided(&harness).len(), 1, "{:?}", harness.state().actions);
}

/// As with a key, of which one frame gets several presses.
#[test]
fn the_same_request_again_in_one_frame_is_one_press() {
    let mut harness = at_speed("unseen", [1280.0, 800.0]);
    harness.run_steps(60);
    let tree = Tree::of(&mut harness);
    harness.state_mut().actions.clear();
    for _ in 0..30 {
        let event = request(tree.id("Next unseen"), Request::Click, None);
        harness.input_mut().events.push(event);
    }
    harness.run_steps(40);
    assert_eq!(decided(&harness), [Action::Do(Command::NextUnseen)]);
}

/// The same place of a bar may get another command.
#[test]
fn a_button_that_has_just_got_another_name_is_not_pressed() {
    let mut harness = at_speed("unseen", [1280.0, 800.0]);
    harness.run_steps(60);
    let tree = Tree::of(&mut harness);
    let id = tree.id("Next unseen");
    // The last step is looked at, so the same button becomes another one.
    let count = harness.state().scene.plan.steps.len();
    for index in 0..count {
        let seen = Action::Plan(PlanAction::LookedAt(index, crate::ui::OnScreen::Whole));
        let ctx = harness.ctx.clone();
        harness.state_mut().scene.play(&seen, &ctx);
    }
    harness.step();
    let tree = Tree::of(&mut harness);
    assert_eq!(tree.name(id), Some("Authorize…"), "the test needs a button that changes");
    harness.state_mut().actions.clear();
    send(&mut harness, request(id, Request::Click, None));
    assert_eq!(decided(&harness), []);
    let answer = announced(&Tree::last(&harness)).unwrap();
    assert!(answer.contains("Authorize… only since a moment"), "{answer}");
    harness.run_steps(60);
    send(&mut harness, request(id, Request::Click, None));
    assert_eq!(decided(&harness), [Action::Do(Command::Authorize)]);
}

/// Only what was on screen counts as looked at.
#[test]
fn no_request_makes_an_unseen_step_seen() {
    let mut harness = window("unseen", [1280.0, 800.0]);
    let lines = "a line of the file\n".repeat(400);
    harness.state_mut().scene.show_contents(&lines, crate::ui::action::Tab::WillDo);
    harness.run_ok();
    let misses = |harness: &Harness<'_, Window>| {
        let scene = &harness.state().scene;
        scene.view().plan.unwrap().looked_at.misses(4)
    };
    assert!(misses(&harness), "the test needs a step that was not looked at");
    let tree = Tree::of(&mut harness);
    let leaves =
        |name: &str| name.starts_with("Step 5") || name == "Authorize…" || name == "Will do";
    let targets: Vec<_> =
        tree.ids().filter(|(id, _)| tree.name(*id).is_some_and(leaves)).map(|(id, _)| id).collect();
    assert!(targets.len() >= 3);
    for id in targets {
        let looking = [Request::Focus, Request::ShowTooltip, Request::Blur];
        for (action, data) in acting().into_iter().chain(looking.map(|it| (it, None))) {
            send(&mut harness, request(id, action, data));
            harness.run_steps(2);
            assert!(misses(&harness), "{action:?}");
        }
    }
    let is_authorizing = |it: &Action| *it == Action::Do(Command::Authorize);
    assert!(!harness.state().actions.iter().any(is_authorizing));
}

/// A word that arrives before the pause was meant for something else, however it arrives.
#[test]
fn the_word_cannot_be_entered_too_early() {
    let mut harness = at_speed("dangerous", [1280.0, 800.0]);
    let word = |tree: &Tree| {
        let is_field = |it: &egui::accesskit::Node| it.role() == egui::Role::TextInput;
        tree.ids().find(|(_, node)| is_field(node)).unwrap().0
    };
    let value = Some(ActionData::Value("release.yml".into()));
    for _ in 0..10 {
        let tree = Tree::of(&mut harness);
        let id = word(&tree);
        assert_eq!(tree.nodes[&id].value().unwrap_or_default(), "");
        send(&mut harness, request(id, Request::ReplaceSelectedText, value.clone()));
        send(&mut harness, request(id, Request::SetValue, value.clone()));
    }
    let said = Tree::of(&mut harness);
    let is_said = |(_, node): &(_, &egui::accesskit::Node)| {
        node.live().is_some()
            && node.label().or(node.value()).is_some_and(|it| it.contains("oo early"))
    };
    assert!(said.ids().any(|it| is_said(&it)), "the request has an answer");
    harness.run_steps(120);
    let tree = Tree::of(&mut harness);
    assert!(tree.nodes[&tree.id(APPROVE)].is_disabled());
    // Afterwards it is like pasting the word; the approval still has to be given.
    send(&mut harness, request(word(&tree), Request::ReplaceSelectedText, value));
    harness.run_steps(3);
    let tree = Tree::of(&mut harness);
    assert_eq!(tree.nodes[&word(&tree)].value(), Some("release.yml"));
    assert_eq!(approvals(&harness), 0);
    send(&mut harness, request(tree.id(APPROVE), Request::Click, None));
    harness.step();
    assert_eq!(approvals(&harness), 1);
}

#[test]
fn a_field_of_the_settings_can_be_filled_in_without_the_focus() {
    let mut harness = window("settings", [1280.0, 800.0]);
    let tree = Tree::of(&mut harness);
    let is_editor = |it: &egui::accesskit::Node| {
        it.role() == egui::Role::TextInput && it.label() == Some("Editor")
    };
    let editor = tree.ids().find(|(_, node)| is_editor(node)).unwrap().0;
    let value = Some(ActionData::Value("vi {file}".into()));
    send(&mut harness, request(editor, Request::SetValue, value));
    harness.run_steps(3);
    let set = SettingsAction::Set("editor_command".to_owned(), Some("vi {file}".into()));
    assert!(harness.state().actions.contains(&Action::Settings(set)));
}
