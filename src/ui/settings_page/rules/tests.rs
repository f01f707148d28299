//! Tests of the form of a rule.

use egui_kittest::kittest::Queryable as _;

use super::*;
use crate::ui::tests::window;

/// Presses a control by the keyboard, also one that is not in sight.
fn press(harness: &mut egui_kittest::Harness<'static, crate::ui::tests::Window>, name: &str) {
    harness.get_by_label(name).focus();
    harness.run_ok();
    harness.key_press(egui::Key::Enter);
    harness.run_ok();
}

#[test]
fn a_rule_opens_in_the_form_to_be_changed() {
    let mut harness = window("settings", [900.0, 600.0]);
    press(&mut harness, "Change the rule careful-push");
    assert!(harness.query_by_label("Change a rule for commands").is_some());
    let Some(Action::Window(WindowAction::EditRule(form))) = harness.state().actions.last() else {
        panic!("{:?}", harness.state().actions)
    };
    assert_eq!(form.replaces.as_deref(), Some("careful-push"));
    assert_eq!((&*form.prefix, &*form.must_match), ("git push", "git push"));
    // Its own name is no second rule of that name.
    assert!(harness.query_by_label_contains("Another rule has").is_none());
}

#[test]
fn a_fault_speaks_of_the_fields() {
    let fault = |form: &RuleForm| form.clone().checked(&UserRules::default()).fault;
    let mut form = RuleForm { id: "no-deploy".into(), ..RuleForm::default() };
    assert_eq!(
        fault(&form).unwrap(),
        "Still needed: the first words of the command, a reason, a command that it must match."
    );
    form.prefix = "make deploy".into();
    form.reason = "Only the pipeline deploys.".into();
    form.must_match = "make test".into();
    assert!(fault(&form).unwrap().starts_with("The rule does not match \"make test\""));
    form.must_match = "make deploy now".into();
    form.must_not_match = "sudo make deploy".into();
    assert!(fault(&form).unwrap().starts_with("The rule matches \"sudo make deploy\""));
    form.must_not_match.clear();
    assert_eq!(fault(&form), None);
    let others = UserRules::new(vec![form.rule()]).unwrap();
    let fault = form.checked(&others).fault;
    assert_eq!(fault.as_deref(), Some("Another rule has this name."));
}

// A small window scrolls the fields, and not the button.
#[test]
fn a_rule_can_be_typed_and_saved_without_scrolling() {
    let mut harness = window("settings", [900.0, 600.0]);
    press(&mut harness, "New rule…");
    let name = harness.get_by_role_and_label(egui::accesskit::Role::TextInput, "Name");
    assert!(name.is_focused() && name.rect().top() > 0.0, "{:?}", name.rect());
    let save = harness.get_by_label("Save the rule").rect();
    assert!(save.bottom() < 600.0 - 40.0, "{save:?}");
    // The focus stays where the person moves it.
    harness.get_by_label("Reason").focus();
    harness.run_ok();
    assert!(harness.get_by_label("Reason").is_focused());
}

#[test]
fn a_removed_rule_keeps_its_place_until_it_is_put_back() {
    let mut harness = window("settings", [1280.0, 900.0]);
    let top = |harness: &egui_kittest::Harness<'_, _>| {
        harness.get_by_label("Remove the rule careful-push").rect().top()
    };
    harness.get_by_label("Remove the rule no-deploy").focus();
    harness.run_ok();
    let before = top(&harness);
    harness.key_press(egui::Key::Enter);
    harness.run_ok();
    assert!((top(&harness) - before).abs() < 1.0, "{} and {before}", top(&harness));
    press(&mut harness, "Undo");
    let restore = Action::Window(WindowAction::RestoreRule("no-deploy".into()));
    assert_eq!(harness.state().actions.last(), Some(&restore));
}
