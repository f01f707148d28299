//! Tests of the page with example data.

use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::run::settings::{Keys, SETTINGS};
use crate::ui::tests::{Window, window};
use crate::ui::{Action, Command, SettingsAction};

fn has(harness: &Harness<'static, Window>, text: &str) -> bool {
    harness.query_all_by_label_contains(text).next().is_some()
}

fn settings(harness: &Harness<'static, Window>) -> Vec<SettingsAction> {
    let actions = harness.state().actions.iter();
    let of_page = actions.filter_map(|action| match action {
        Action::Settings(action) => Some(action.clone()),
        _ => None,
    });
    of_page.collect()
}

/// Presses a control by the keyboard, also one that is not in sight.
fn press(harness: &mut Harness<'static, Window>, name: &str) {
    harness.get_by_label(name).focus();
    harness.run_ok();
    harness.key_press(Key::Enter);
    harness.run_ok();
}

/// Each key has its row, with its cost and what it protects, at every size.
#[test]
fn every_key_has_its_row() {
    for size in [[1280.0, 800.0], [640.0, 400.0], [360.0, 240.0]] {
        let harness = window("settings", size);
        for row in SETTINGS {
            assert!(has(&harness, row.name), "{} at {size:?}", row.key);
            assert!(has(&harness, row.costs) && has(&harness, row.protects), "{}", row.key);
        }
        assert!(!has(&harness, "secret"), "the key of the model is not shown");
    }
}

#[test]
fn words_find_rows_and_commands() {
    let mut harness = window("settings", [900.0, 600.0]);
    let type_text = |harness: &mut Harness<'static, Window>, text: &str| {
        harness.get_by_label("Find a setting").focus();
        harness.run_ok();
        harness.get_by_label("Find a setting").type_text(text);
        harness.run_ok();
    };
    type_text(&mut harness, "walls");
    assert!(harness.query_by_label("Walls: Off").is_some());
    assert!(harness.query_by_label("Theme: Dark").is_none());
    type_text(&mut harness, " xyzzy");
    assert!(has(&harness, "No setting has these words."));
    let mut harness = window("settings", [900.0, 600.0]);
    type_text(&mut harness, "palette");
    assert!(harness.query_by_label("Commands: Change").is_some());
    assert!(harness.query_by_label("Open plan: Change").is_none());
}

#[test]
fn a_choice_is_set_and_the_default_comes_back() {
    let value = |harness: &Harness<'static, Window>| {
        let rows = &harness.state().scene.view().settings.unwrap().rows;
        let theme = rows.iter().find(|row| row.key == "theme").unwrap();
        theme.in_file.as_ref().and_then(|it| it.as_str()).map(str::to_owned)
    };
    let mut harness = window("settings", [1280.0, 800.0]);
    press(&mut harness, "Theme: Light");
    let light = SettingsAction::Set("theme".into(), Some("light".into()));
    assert_eq!(settings(&harness).last(), Some(&light));
    assert_eq!(value(&harness).as_deref(), Some("light"));
    press(&mut harness, "Theme: use the default");
    assert_eq!(settings(&harness).last(), Some(&SettingsAction::Set("theme".into(), None)));
    assert!(harness.query_by_label("Theme: use the default").is_none());
    // A value that is chosen already is not written again.
    let count = settings(&harness).len();
    press(&mut harness, "Theme: Same as the system");
    assert_eq!(settings(&harness).len(), count);
}

/// The question has the focus on what leaves everything as it is.
#[test]
fn a_question_before_weaker_protection_is_safe_to_press_through() {
    let mut harness = window("settings-asks", [1280.0, 800.0]);
    assert!(has(&harness, "Change “Steps to look at” to “Nothing”?"));
    assert!(harness.get_by_label("Leave it as it is").is_focused());
    harness.key_press(Key::Enter);
    harness.run_ok();
    assert_eq!(settings(&harness), [SettingsAction::Decline]);
    let mut harness = window("settings-asks", [1280.0, 800.0]);
    harness.key_press(Key::Escape);
    harness.run_ok();
    assert_eq!(settings(&harness), [SettingsAction::Decline]);
    let mut harness = window("settings-asks", [1280.0, 800.0]);
    press(&mut harness, "Weaken the protection");
    assert_eq!(settings(&harness), [SettingsAction::Confirm]);
}

#[test]
fn keys_are_changed_by_pressing_others() {
    let mut harness = window("settings", [1280.0, 800.0]);
    press(&mut harness, "Commands: Change");
    assert!(has(&harness, "Press the new keys…"));
    // They do not give their command meanwhile.
    harness.key_press_modifiers(Modifiers::COMMAND, Key::O);
    harness.run_ok();
    assert!(!harness.state().actions.contains(&Action::Do(Command::OpenPlan)));
    let keys = Keys::parse("Ctrl+O").unwrap();
    let set = SettingsAction::SetKeys(Command::Palette, Some(keys));
    assert_eq!(settings(&harness).last(), Some(&set));
    assert!(has(&harness, "Ctrl+O are the keys of “Open plan”."));
    press(&mut harness, "Exchange the keys");
    assert_eq!(settings(&harness).last(), Some(&SettingsAction::SwapKeys));
    press(&mut harness, "Commands: Change");
    harness.key_press(Key::Escape);
    harness.run_ok();
    assert_eq!(settings(&harness).last(), Some(&SettingsAction::EndCapture));
    assert!(has(&harness, "Fixed. The key that stops everything"));
    assert!(harness.query_by_label("Stop now: Change").is_none());
}

/// The keys that were chosen are those that work and that are shown; the usual ones do nothing any more.
#[test]
fn chosen_keys_take_the_place_of_the_usual_ones() {
    let mut harness = window("plan", [1280.0, 800.0]);
    let chosen = [("palette".to_owned(), "F12".to_owned())].into();
    let chosen = crate::run::settings::Shortcuts::of(&chosen).unwrap();
    crate::ui::commands::set_shortcuts(&harness.ctx, chosen);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::K);
    harness.run_ok();
    assert!(!harness.state().actions.contains(&Action::Do(Command::Palette)));
    harness.key_press(Key::F12);
    harness.run_ok();
    assert!(harness.state().actions.contains(&Action::Do(Command::Palette)));
    assert!(harness.query_by_label("Find a command").is_some());
}

/// Whatever keys commands have, in a dialog only that of *Stop now* is one of a command.
#[test]
fn no_chosen_key_answers_a_dialog() {
    for keys in ["Ctrl+Enter", "F1", "Alt+Y"] {
        let mut harness = window("dialog", [1280.0, 800.0]);
        let chosen = [("run", keys), ("authorize", "F11"), ("help", "F10")];
        let chosen = chosen.map(|(name, keys)| (name.to_owned(), keys.to_owned())).into();
        let chosen = crate::run::settings::Shortcuts::of(&chosen).unwrap();
        crate::ui::commands::set_shortcuts(&harness.ctx, chosen);
        let keys = crate::ui::commands::shortcut_of(&Keys::parse(keys).unwrap()).unwrap();
        harness.key_press_modifiers(keys.modifiers, keys.logical_key);
        harness.run_ok();
        assert_eq!(harness.state().actions, [], "{keys:?}");
    }
}

#[test]
fn an_import_marks_what_weakens() {
    let mut harness = window("settings-import", [900.0, 600.0]);
    assert!(has(&harness, "weakens protection"));
    assert!(harness.query_by_label("Import 2 settings").is_some());
    press(&mut harness, "Import Walls: Not imported");
    let choose = SettingsAction::ChooseImport("policy.walls".into(), true);
    assert_eq!(settings(&harness).last(), Some(&choose));
    press(&mut harness, "Import 3 settings, of which 1 weakens protection");
    assert_eq!(settings(&harness).last(), Some(&SettingsAction::ApplyImport));
    let harness = window("settings-import-faulty", [900.0, 600.0]);
    assert!(has(&harness, "line 3: zoom is 9") && has(&harness, "Nothing was changed."));
}

/// The keyboard reaches everything: Tab comes to each control, also below what is in sight.
#[test]
fn tab_reaches_every_control() {
    let mut harness = window("settings", [900.0, 600.0]);
    let is_control = |role| matches!(role, Role::Button | Role::TextInput);
    let count = harness
        .root()
        .children_recursive()
        .filter(|node| is_control(node.accesskit_node().role()))
        .count();
    let mut reached = std::collections::BTreeSet::new();
    for _ in 0..count + 40 {
        harness.key_press(Key::Tab);
        harness.step();
        let focused = harness.root().children_recursive().find(|node| node.is_focused());
        reached.extend(focused.and_then(|node| node.accesskit_node().label()));
    }
    for name in [
        "Find a setting",
        "Theme: Dark",
        "Planner: network (plan.py): open in the file",
        "Keys and help: Change",
        "Purge records…",
    ] {
        assert!(reached.contains(name), "{name}: {reached:?}");
    }
}

/// At 200 percent, the buttons below an import stay in sight.
#[test]
fn the_buttons_of_an_import_stay_in_sight() {
    for size in [[450.0, 300.0], [360.0, 240.0]] {
        for (scene, name) in [("settings-import", "Import 2 settings"), ("rule", "Save the rule")] {
            let harness = window(scene, size);
            let rect = harness.get_by_label(name).rect();
            let is_inside = rect.bottom() <= size[1] && rect.right() <= size[0] && rect.top() > 0.0;
            assert!(is_inside, "{name} at {size:?}: {rect:?}");
        }
    }
}

#[test]
fn escape_leaves_the_page() {
    let mut harness = window("settings", [1280.0, 800.0]);
    harness.key_press(Key::Escape);
    harness.run_ok();
    assert_eq!(harness.state().actions.last(), Some(&Action::Do(Command::GoBack)));
}
