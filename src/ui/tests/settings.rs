//! Tests of the settings with example data.

use egui::Id;
use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use super::scene::Scene;
use super::{Window, window};
use crate::ui::action::WindowAction;
use crate::ui::{Action, SettingsAction};

/// A rule is typed and saved by keyboard: it is checked with every letter, and a sample gets its verdict.
#[test]
fn a_new_rule_is_checked_as_it_is_typed() {
    let mut harness = window("settings", [900.0, 600.0]);
    harness.get_by_label("New rule…").focus();
    harness.key_press(egui::Key::Enter);
    harness.run_ok();
    // Nothing is wrong before something is typed.
    assert!(harness.query_by_label_contains("Give the rule a name").is_some());
    let fault = "Still needed";
    assert!(harness.query_by_label_contains(fault).is_none());
    for (field, text) in [
        ("Name", "no-publish"),
        ("First words of the command", "cargo publish"),
        ("Reason", "Not from here."),
        ("Commands it must match, one a line", "cargo build"),
        ("Try a command; it is not run", "sudo cargo publish"),
    ] {
        let is_field = |role| matches!(role, Role::TextInput | Role::MultilineTextInput);
        let node = || {
            harness
                .query_all_by_label(field)
                .find(|it| is_field(it.accesskit_node().role()))
                .unwrap()
        };
        node().focus();
        node().type_text(text);
        harness.run_ok();
    }
    assert!(harness.query_by_label_contains("does not match \"cargo build\"").is_some());
    assert!(harness.query_by_label_contains("as soon as the rule is complete").is_some());
    let form = |harness: &Harness<'static, Window>| {
        harness.state().scene.view().settings.unwrap().rule_form.clone().unwrap()
    };
    let typed = crate::ui::settings_page::RuleForm {
        must_match: "cargo publish".into(),
        ..form(&harness).form
    };
    let Window { scene, .. } = harness.state_mut();
    scene.play(&Action::Window(WindowAction::EditRule(typed)), &egui::Context::default());
    harness.run_ok();
    assert_eq!(form(&harness).fault, None);
    assert!(harness.query_by_label("The rule matches.").is_some());
    harness.get_by_role_and_label(Role::Button, "Save the rule").focus();
    harness.run_ok();
    harness.key_press(egui::Key::Enter);
    harness.run_ok();
    assert!(harness.state().actions.contains(&Action::Window(WindowAction::SaveRule)));
}

#[test]
fn enter_in_the_field_sets_the_editor() {
    let mut harness = window("settings", [1280.0, 800.0]);
    harness.get_by_role_and_label(Role::TextInput, "Editor").focus();
    harness.run_ok();
    harness.get_by_role_and_label(Role::TextInput, "Editor").type_text(" -n");
    harness.run_ok();
    let set = |action: &Action| matches!(action, Action::Settings(SettingsAction::Set(..)));
    assert!(!harness.state().actions.iter().any(set), "not with every letter");
    harness.key_press(egui::Key::Enter);
    harness.run_ok();
    let command = "code -g {file}:{line}:{column} -n";
    let action = SettingsAction::Set("editor_command".to_owned(), Some(command.into()));
    assert!(harness.state().actions.contains(&Action::Settings(action)));
}

/// The keys lead through the sizes that the settings offer.
#[test]
fn the_keys_choose_offered_sizes() {
    use crate::ui::settings_page::zoom_level;
    let mut zoom = 1.0;
    let up: Vec<_> = (0..5)
        .map(|_| {
            zoom = zoom_level(zoom, zoom + 0.1);
            zoom
        })
        .collect();
    assert_eq!(up, [1.15, 1.3, 1.6, 2.0, 2.0]);
    assert_eq!(
        [zoom_level(1.15, 1.05), zoom_level(0.8, 0.7), zoom_level(2.0, 1.0)],
        [1.0, 0.8, 1.0]
    );
    assert_eq!([zoom_level(2.5, 2.6), zoom_level(2.5, 2.4)], [2.5, 2.0], "from the file");
}

/// Escape, another page, and a question in front of the page set nothing; a question leaves what was typed.
#[test]
fn a_field_sets_its_text_only_when_it_is_left_for_another_control() {
    let (size, asks) = ([1280.0, 800.0], Id::unique("a question"));
    let mut harness = Harness::builder()
        .with_size(size)
        .with_context_setup(crate::ui::theme::install)
        .build_ui_state(
            move |ui, (window, asked): &mut (Window, bool)| {
                crate::ui::window_ui(ui, &window.scene.view(), &mut window.actions);
                if *asked {
                    let focused = ui.memory(|memory| memory.focused());
                    focused.iter().for_each(|it| ui.memory_mut(|mem| mem.surrender_focus(*it)));
                    egui::Modal::new(asks).show(ui.ctx(), |ui| ui.label("Continue?"));
                }
            },
            (Window { scene: Scene::new("settings"), actions: Vec::new() }, false),
        );
    const BEFORE: &str = "code -g {file}:{line}:{column}";
    const TYPED: &str = "code -g {file}:{line}:{column} -n";
    type Shown = Harness<'static, (Window, bool)>;
    fn field(harness: &Shown) -> egui_kittest::Node<'_> {
        harness.get_by_role_and_label(Role::TextInput, "Editor")
    }
    let begin = |harness: &mut Shown| {
        field(harness).focus();
        harness.run_ok();
        assert_eq!(field(harness).value().as_deref(), Some(BEFORE));
        field(harness).type_text(" -n");
        harness.run_ok();
        assert_eq!(field(harness).value().as_deref(), Some(TYPED));
    };
    let is_set = |harness: &Shown| {
        let set = |it: &Action| matches!(it, Action::Settings(SettingsAction::Set(..)));
        harness.state().0.actions.iter().any(set)
    };
    begin(&mut harness);
    harness.key_press(egui::Key::Escape);
    harness.run_ok();
    assert_eq!(field(&harness).value().as_deref(), Some(BEFORE));

    begin(&mut harness);
    harness.state_mut().0.scene = Scene::new("plan");
    harness.run_steps(3);
    harness.state_mut().0.scene = Scene::new("settings");
    harness.run_steps(3);
    assert_eq!(field(&harness).value().as_deref(), Some(BEFORE));

    begin(&mut harness);
    for asked in [true, false] {
        harness.state_mut().1 = asked;
        harness.run_steps(3);
    }
    assert_eq!(field(&harness).value().as_deref(), Some(TYPED));
    assert!(!is_set(&harness));
    field(&harness).focus();
    harness.run_ok();
    harness.key_press(egui::Key::Tab);
    harness.run_ok();
    assert!(is_set(&harness));
}
