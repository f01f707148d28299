//! The menus of rows, without the right button of the mouse.

use egui::accesskit::{Action as Request, ActionRequest, TreeId};
use egui::{Event, Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use super::{Window, window};
use crate::ui::action::WindowAction;
use crate::ui::{Action, Command};

fn focused(harness: &Harness<'_, Window>) -> Option<String> {
    let nodes = harness.root().children_recursive();
    let mut focused = nodes.filter(|node| node.accesskit_node().is_focused());
    focused.next()?.accesskit_node().label()
}

/// Presses keys, each in a frame of its own.
fn press(harness: &mut Harness<'_, Window>, keys: &[(Modifiers, Key)]) {
    for (modifiers, key) in keys {
        harness.key_press_modifiers(*modifiers, *key);
        harness.run_ok();
    }
}

const NONE: Modifiers = Modifiers::NONE;
const SHIFT: Modifiers = Modifiers::SHIFT;

/// The plan page with the keyboard on the first one of the listed plans, whose name is returned.
fn on_a_plan() -> (Harness<'static, Window>, String) {
    let mut harness = window("plan", [1280.0, 800.0]);
    harness.get_by_label("Open plan…").focus();
    harness.run_ok();
    press(&mut harness, &[(NONE, Key::Tab)]);
    let row = focused(&harness).unwrap();
    assert!(row.starts_with("Plan "), "{row}");
    (harness, row)
}

#[test]
fn the_menu_of_a_row_opens_by_both_keys_and_closes_to_its_row() {
    for open in [(NONE, Key::Menu), (SHIFT, Key::F10)] {
        let (mut harness, row) = on_a_plan();
        let place = harness.get_by_label(&row).rect();
        press(&mut harness, &[open]);
        let first = focused(&harness).unwrap();
        assert!(first == "Pin" || first == "Unpin", "{first}");
        let item = harness.get_by_label(&first).rect();
        assert!(item.top() >= place.bottom() - 1.0 && item.left() >= place.left(), "{item:?}");
        press(&mut harness, &[(NONE, Key::ArrowDown)]);
        assert_eq!(focused(&harness).as_deref(), Some("Remove from the list"));
        // Neither the list nor the steps of the plan have moved.
        assert_eq!(harness.state().actions, []);
        press(&mut harness, &[(NONE, Key::Escape)]);
        assert!(harness.query_by_label("Remove from the list").is_none());
        assert_eq!(focused(&harness), Some(row));
        assert_eq!(harness.state().actions, []);
    }
}

#[test]
fn an_item_is_chosen_by_key() {
    let (mut harness, row) = on_a_plan();
    press(&mut harness, &[(NONE, Key::Menu), (NONE, Key::ArrowDown), (NONE, Key::Enter)]);
    let removes = |it: &Action| matches!(it, Action::Window(WindowAction::RemoveRecent(_)));
    assert!(matches!(&harness.state().actions[..], [it] if removes(it)), "{row}");
    assert!(harness.query_by_label("Remove from the list").is_none());
}

/// The request that assistive technology makes for a menu, of a row that does not have the keyboard.
#[test]
fn assistive_technology_opens_the_menu_of_any_row() {
    let mut harness = window("plan", [1280.0, 800.0]);
    let (name, target_node) = {
        let rows = harness.query_all_by_label_contains("Run of ");
        let row = rows.last().unwrap();
        (row.accesskit_node().label().unwrap(), row.accesskit_node().locate().0)
    };
    let request = |target_node| {
        Event::AccessKitActionRequest(ActionRequest {
            action: Request::ShowContextMenu,
            target_tree: TreeId::ROOT,
            target_node,
            data: None,
        })
    };
    harness.event(request(target_node));
    harness.run_ok();
    assert_eq!(focused(&harness).as_deref(), Some("Open"), "{name}");
    press(&mut harness, &[(NONE, Key::Escape)]);
    assert_eq!(focused(&harness), Some(name));
    // A dialog in front keeps the menu closed.
    let mut harness = window("authorize", [1280.0, 800.0]);
    harness.event(request(target_node));
    harness.run_ok();
    assert!(harness.query_by_label("Purge…").is_none());
}

/// The right button opens the menu at the pointer, as it did, and leaves the keyboard where it was.
#[test]
fn the_right_button_opens_it_at_the_pointer() {
    let (mut harness, row) = on_a_plan();
    let place = harness.get_by_label(&row).rect();
    let at = place.center();
    harness.hover_at(at);
    harness.run_ok();
    harness.get_by_label(&row).click_secondary();
    harness.run_ok();
    let item = harness.get_by_label("Remove from the list").rect();
    assert!(item.left() >= at.x - 1.0 && item.top() >= at.y, "{item:?} at {at:?}");
    assert_eq!(focused(&harness), Some(row));
}

/// Every list whose rows have a menu offers it, wherever it is.
#[test]
fn every_list_offers_its_menus() {
    for (scene, start) in [
        ("plan", "Plan "),
        ("plan", "Run of "),
        ("inbox", "In the inbox: "),
        ("session", "Calls of "),
        ("queue", "Queued: "),
        ("queue", "Open plan "),
        ("evidence", "host:web-1.example.org"),
        ("rejected-plans", "Rewrite the parser"),
    ] {
        let harness = window(scene, [1280.0, 1_000.0]);
        let nodes = harness.root().children_recursive();
        let offers = nodes
            .filter(|node| node.accesskit_node().label().is_some_and(|it| it.starts_with(start)))
            .any(|node| {
                let node = node.accesskit_node();
                node.has_popup() == Some(egui::accesskit::HasPopup::Menu)
            });
        assert!(offers, "{scene}: {start}");
    }
}

/// The keys of commands wait until the menu is closed.
#[test]
fn no_plain_key_of_a_command_works_over_an_open_menu() {
    let (mut harness, _) = on_a_plan();
    press(&mut harness, &[(NONE, Key::Menu), (NONE, Key::ArrowUp), (NONE, Key::ArrowDown)]);
    let moves = |it: &Action| matches!(it, Action::Do(Command::NextStep | Command::PreviousStep));
    assert!(!harness.state().actions.iter().any(moves), "{:?}", harness.state().actions);
}
