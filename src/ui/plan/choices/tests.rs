//! Tests of the menus in the row of choices.

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use super::*;
use crate::ui::tests::{Window, window};

#[test]
fn choices_are_made_in_menus() {
    let mut harness = window("command", [1280.0, 800.0]);
    let open = |harness: &mut Harness<'_, Window>, name: &str| {
        harness.get_by_role_and_label(Role::Button, name).click();
        harness.run_ok();
    };
    open(&mut harness, "runs automatic, choose");
    harness.get_by_label("Guided").click();
    harness.run_ok();
    open(&mut harness, "asks when needed, choose");
    harness.get_by_label("At every step").click();
    harness.run_ok();
    open(&mut harness, "on this computer, choose");
    harness.get_by_label("Another host").focus();
    harness.run_ok();
    harness.get_by_label("Another host").type_text("-oProxyCommand=x");
    harness.run_ok();
    assert!(
        harness.get_by_label("Use this host").accesskit_node().is_disabled(),
        "no option of ssh"
    );
    for _ in 0..16 {
        harness.key_press(egui::Key::Backspace);
    }
    harness.run_ok();
    harness.get_by_label("Another host").type_text("ada@build");
    harness.run_ok();
    harness.key_press(egui::Key::Enter);
    harness.run_ok();
    let made = [
        PlanChoice::Mode(Some(Mode::Guided)),
        PlanChoice::AskEveryStep(true),
        PlanChoice::Host(HostChoice::Host(Destination::parse("ada@build").unwrap())),
    ];
    let made = made.map(|choice| Action::Plan(PlanAction::Choose(choice)));
    assert_eq!(harness.state().actions, made);
}

#[test]
fn a_typed_host_is_for_this_plan_alone() {
    let mut harness = window("command", [1280.0, 800.0]);
    let open = |harness: &mut Harness<'_, Window>| {
        harness.get_by_role_and_label(Role::Button, "on this computer, choose").click();
        harness.run_ok();
    };
    open(&mut harness);
    harness.get_by_label("Another host").focus();
    harness.run_ok();
    harness.get_by_label("Another host").type_text("ada@build");
    harness.run_ok();
    assert_eq!(harness.get_by_label("Another host").value().as_deref(), Some("ada@build"));
    harness.get_by_label("This computer").click();
    harness.run_ok();
    let plan = &mut harness.state_mut().scene.plan;
    plan.digest = Digest::of(b"another plan");
    harness.run_ok();
    open(&mut harness);
    assert_eq!(harness.get_by_label("Another host").value().as_deref(), Some(""));
}
