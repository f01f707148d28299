//! The help names every key and filter, finds every entry, and is read by keyboard.

use egui::Key;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;

use crate::help::{Section, entries};
use crate::plan::Code;
use crate::ui::Action;
use crate::ui::action::WindowAction;
use crate::ui::commands::{Area, TABLE};
use crate::ui::evidence::Filter;
use crate::ui::tests::{Window, window};

fn search(harness: &mut Harness<'_, Window>, text: &str) {
    let field = harness.get_by_label("Search the help");
    field.focus();
    harness.key_press_modifiers(egui::Modifiers::COMMAND, Key::A);
    harness.get_by_label("Search the help").type_text(text);
    harness.run_ok();
}

#[test]
fn help_names_every_filter_and_key() {
    for size in [[900.0, 600.0], [1280.0, 800.0]] {
        let mut harness = window("help", size);
        for (word, _) in Filter::WORDS {
            let filter = format!("{word}:");
            assert!(harness.query_all_by_label_contains(&filter).count() > 0, "{word}");
        }
        for text in ["unseen", "code:E0308"] {
            assert!(harness.query_all_by_label(text).next().is_some(), "{text}");
        }
        harness.get_by_label("Keys").click();
        harness.run_ok();
        for text in ["Ctrl+Shift+.", "Ctrl+,"] {
            assert!(harness.query_all_by_label(text).next().is_some(), "{text}");
        }
        assert!(harness.query_by_label_contains("Period").is_none());
        for area in Area::ALL {
            assert!(harness.query_all_by_label(area.title()).next().is_some(), "{area:?}");
        }
        for spec in &TABLE {
            let text = format!("{}. {}", spec.text.trim_end_matches('…'), spec.tooltip);
            let is_shown = harness.query_by_label(&text).is_some();
            assert_eq!(is_shown, spec.keys(&harness.ctx).is_some(), "{text}");
        }
    }
}

#[test]
fn help_says_what_a_mark_stands_for() {
    let harness = window("help", [1280.0, 800.0]);
    let mark = "In a name, ⟨U+200D⟩ also stands for what joins emoji";
    assert!(harness.query_by_label_contains(mark).is_some());
}

/// The tabs that do not fit are in a menu.
#[test]
fn every_section_has_a_tab() {
    for size in [[1280.0, 800.0], [720.0, 480.0]] {
        let mut harness = window("help", size);
        let is_shown = |harness: &Harness<'_, Window>, section: Section| {
            harness.query_all_by_label(section.title()).next().is_some()
        };
        let in_menu: Vec<_> =
            Section::ALL.into_iter().filter(|section| !is_shown(&harness, *section)).collect();
        if !in_menu.is_empty() {
            // The page behind may have such a menu, too.
            harness.get_all_by_label("More tabs").last().unwrap().click();
            harness.run_ok();
        }
        assert!(in_menu.iter().all(|section| is_shown(&harness, *section)), "at {size:?}");
    }
}

#[test]
fn keys_scroll_while_the_search_field_has_the_focus() {
    let mut harness = window("help", [1280.0, 500.0]);
    assert!(harness.get_by_label("Search the help").is_focused());
    let top =
        |harness: &Harness<'_, Window>| harness.get_by_label("Searching the evidence").rect().top();
    let before = top(&harness);
    harness.key_press(Key::PageDown);
    harness.run_ok();
    assert!(top(&harness) < before - 50.0, "{}", top(&harness));
    harness.key_press(Key::Home);
    harness.run_ok();
    assert_eq!(top(&harness), before);
}

#[test]
fn help_opens_at_an_entry() {
    let mut harness = window("help-code", [1280.0, 800.0]);
    // What stands above and below it in its section is there, too, and it is in sight.
    let rect = harness.get_by_label("E311").rect();
    assert!((100.0..700.0).contains(&rect.top()), "{rect}");
    assert!(harness.query_by_label_contains(Code::Conflict.next()).is_some());
    harness.key_press(Key::Home);
    harness.run_ok();
    assert!(harness.query_by_label("E001").is_some(), "the whole section can be read");
}

#[test]
fn every_entry_is_found_by_its_name() {
    let mut harness = window("help", [1280.0, 800.0]);
    for entry in entries().iter().filter(|entry| entry.section != Section::Rules).step_by(5) {
        search(&mut harness, &entry.key);
        let shown = harness.query_all_by_label(&entry.key).next();
        let rect = shown.unwrap_or_else(|| panic!("{} is not found", entry.key)).rect();
        assert!(rect.top() < 400.0, "{} is at {rect}", entry.key);
    }
    search(&mut harness, "ctrl+k");
    assert!(harness.query_by_label_contains("Find any command by its name").is_some());
    search(&mut harness, "xyzzy");
    assert!(harness.query_by_label_contains("Nothing in the help has these words").is_some());
}

#[test]
fn a_shown_error_leads_to_its_entry() {
    for (scene, code) in [("failed", "E302"), ("invalid", "E201"), ("notices", "E303")] {
        let mut harness = window(scene, [1280.0, 800.0]);
        if scene == "notices" {
            harness.get_by_label("2 more").click();
            harness.run_ok();
        }
        let name = format!("What is {code}?");
        harness.get_all_by_label(&name).next().unwrap().focus();
        harness.run_ok();
        harness.key_press(Key::Enter);
        harness.run_ok();
        let action = Action::Window(WindowAction::OpenHelp(code.to_owned()));
        assert!(harness.state().actions.contains(&action), "{scene}");
        assert!(harness.query_by_label("Search the help").is_some(), "{scene}");
    }
}

/// The rules of the settings, which the program's tables do not have.
#[test]
fn own_rules_are_in_the_help() {
    let mut harness = window("help", [1280.0, 800.0]);
    for searched in ["no-deploy", "make deploy"] {
        search(&mut harness, searched);
        let entry = harness.query_all_by_label_contains("A rule of your own").next();
        assert!(entry.is_some(), "{searched}");
    }
}

/// What the first tab has, and commands without a key.
#[test]
fn filters_and_commands_without_a_key_are_found() {
    let mut harness = window("help", [1280.0, 800.0]);
    for (searched, found) in [
        ("wrote:", "what wrote such a file"),
        ("bug report", "Show diagnostics of the program"),
        ("xyzzy", "Nothing in the help has these words"),
    ] {
        search(&mut harness, searched);
        assert!(harness.query_all_by_label_contains(found).next().is_some(), "{searched}");
    }
}
