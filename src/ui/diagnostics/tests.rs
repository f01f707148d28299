//! Tests of the page with example data.

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use super::*;
use crate::run::{Question, TargetKind};
use crate::ui::tests::{Window, window};
use crate::ui::{Command, EvidenceAction};

fn page(name: &str) -> Harness<'static, Window> {
    window(name, [1280.0, 800.0])
}

fn click(harness: &mut Harness<'_, Window>, name: &str) {
    let roles = [Role::Button, Role::Tab, Role::ListBoxOption, Role::MenuItem];
    let found = roles.into_iter().find_map(|role| harness.query_by_role_and_label(role, name));
    found.unwrap_or_else(|| panic!("no {name}")).click();
    harness.run_ok();
}

fn listed(harness: &Harness<'_, Window>) -> String {
    harness.state().scene.listed().join(" ")
}

#[test]
fn a_later_check_is_compared_with_the_first() {
    let mut harness = page("diagnostics");
    // Errors first; at equal severity, new diagnostics first.
    assert_eq!(
        listed(&harness),
        "E0425 E0308 E0433 unused_variables unused_variables unused_variables"
    );
    for name in [
        "error E0425: cannot find function `trim_strat` in this scope, src/lexer.rs:11:20, new",
        "error E0308: mismatched types, src/lexer.rs:12:27, unchanged",
        "error E0433: failed to resolve: use of undeclared type `Cursor`, src/parser/cursor.rs:7:18, gone",
        "warning unused_variables: unused variable: `depth`, src/parser/expressions.rs:44:9, unchanged",
        "2 new",
        "3 unchanged",
        "1 gone",
        "2 errors",
    ] {
        assert!(harness.query_by_label(name).is_some(), "{name}");
    }
    click(&mut harness, "3 unchanged");
    assert_eq!(listed(&harness), "E0425 E0433 unused_variables");
    click(&mut harness, "2 errors");
    assert_eq!(listed(&harness), "unused_variables");
    click(&mut harness, "Step 2: lsp_check ., 2 errors, 2 warnings, the baseline");
    // The first check has no base to compare with.
    assert_eq!(listed(&harness), "unused_variables unused_variables");
    assert!(harness.query_by_label("2 new").is_none());
}

#[test]
fn a_click_sorts_and_a_second_reverses() {
    let mut harness = page("diagnostics");
    click(&mut harness, "Sort by file");
    assert_eq!(
        listed(&harness),
        "E0425 E0308 E0433 unused_variables unused_variables unused_variables"
    );
    click(&mut harness, "Sort by file");
    assert_eq!(
        listed(&harness),
        "unused_variables unused_variables unused_variables E0433 E0308 E0425"
    );
    click(&mut harness, "Sort by code");
    assert_eq!(
        listed(&harness),
        "E0308 E0425 E0433 unused_variables unused_variables unused_variables"
    );
    click(&mut harness, "Sort by change");
    assert_eq!(
        listed(&harness),
        "E0425 unused_variables E0308 unused_variables unused_variables E0433"
    );
}

// A sorted table keeps its selection; another check starts at its first diagnostic.
#[test]
fn sorting_keeps_the_selected_diagnostic() {
    let mut harness = page("diagnostics");
    let selected = |harness: &Harness<'_, Window>| harness.state().scene.selected_diagnostic();
    assert_eq!(selected(&harness).as_deref(), Some("E0425"));
    click(&mut harness, "Sort by code");
    assert_eq!(selected(&harness).as_deref(), Some("E0425"), "now the second row");
    click(&mut harness, "Sort by code");
    assert_eq!(selected(&harness).as_deref(), Some("E0425"));
    // This one is in both listings.
    let gone =
        "failed to resolve: use of undeclared type `Cursor`, src/parser/cursor.rs:7:18, gone";
    click(&mut harness, &format!("error E0433: {gone}"));
    assert_eq!(selected(&harness).as_deref(), Some("E0433"));
    click(&mut harness, "Step 2: lsp_check ., 2 errors, 2 warnings, the baseline");
    let first = harness.state().scene.listed().first().cloned();
    assert_eq!(selected(&harness), first);
}

// The field shows how many diagnostics match, and the lists at the side change its text.
#[test]
fn the_filter_field_narrows_the_list() {
    let mut harness = page("diagnostics");
    harness.get_by_label("Filter diagnostics").focus();
    harness.run_ok();
    harness.get_by_label("Filter diagnostics").type_text("trim");
    harness.run_ok();
    assert_eq!(listed(&harness), "E0425");
    harness.get_by_label("Filter diagnostics").type_text("xyz");
    harness.run_ok();
    assert_eq!(listed(&harness), "");
    assert!(harness.query_by_label("Nothing matches").is_some());
    let mut harness = page("diagnostics");
    click(&mut harness, "src/lexer.rs 2");
    assert_eq!(listed(&harness), "E0425 E0308");
    click(&mut harness, "E0308 1");
    assert_eq!(listed(&harness), "E0308");
    click(&mut harness, "src/lexer.rs 2");
    assert_eq!(listed(&harness), "E0308");
    click(&mut harness, "E0308 1");
    assert_eq!(harness.state().scene.listed().len(), 6);
}

// The page shows its source, its help and the compiler's text.
#[test]
fn the_selected_diagnostic_is_shown_in_full() {
    let mut harness = page("diagnostics");
    for text in [
        "11         let rest = trim_strat(self.input.get(self.at..)?);",
        "                   ^^^^^^^^^^ not found in this scope",
        "help: a function with a similar name exists",
        "+trim_start",
        "As the compiler wrote it",
    ] {
        assert!(harness.query_all_by_label(text).next().is_some(), "{text}");
    }
    click(&mut harness, "error E0308: mismatched types, src/lexer.rs:12:27, unchanged");
    let marked = "                    ---";
    assert!(
        harness.query_all_by_label_contains("^^^^^^^^^^ expected `u32`, found `usize`").count() > 0
    );
    assert!(harness.query_all_by_label_contains(marked).next().is_some());
    for (name, text) in
        [("changed", "src/lexer.rs has changed since the check"), ("gone", "it does not exist")]
    {
        let harness = window(name, [1280.0, 1200.0]);
        assert!(harness.query_all_by_label_contains(text).next().is_some(), "{name}");
        assert!(harness.query_by_label_contains("11         let rest").is_none(), "{name}");
        let written = "error[E0425]: cannot find function `trim_strat` in this scope";
        assert!(harness.query_all_by_label(written).next().is_some(), "{name}");
    }
}

#[test]
fn diagnostics_page_works_by_keyboard() {
    let mut harness = page("completed");
    for (modifiers, key, command) in [
        (egui::Modifiers::COMMAND, egui::Key::Num3, Command::GoDiagnostics),
        (egui::Modifiers::NONE, egui::Key::ArrowDown, Command::NextStep),
    ] {
        harness.key_press_modifiers(modifiers, key);
        harness.run_ok();
        let pressed = harness.state().actions.contains(&Action::Do(command));
        // The run has no check, so there is nothing to move between.
        assert_eq!(pressed, command == Command::GoDiagnostics, "{command:?}");
    }
    let mut harness = page("diagnostics");
    let shift = egui::Modifiers { shift: true, ..egui::Modifiers::COMMAND };
    for (modifiers, key, command) in [
        (egui::Modifiers::NONE, egui::Key::ArrowDown, Command::NextStep),
        (egui::Modifiers::COMMAND, egui::Key::E, Command::OpenInEditor),
        (shift, egui::Key::D, Command::CopyDiagnostic),
        (shift, egui::Key::F, Command::FilterDiagnostics),
    ] {
        harness.key_press_modifiers(modifiers, key);
        harness.run_ok();
        assert!(harness.state().actions.contains(&Action::Do(command)), "{command:?}");
    }
    // The header and the rows can be used by keyboard as by pointer.
    harness.get_by_label("Sort by code").focus();
    harness.run_ok();
    harness.key_press(egui::Key::Enter);
    harness.run_ok();
    assert!(listed(&harness).starts_with("E0308 E0425"));
}

#[test]
fn only_visible_diagnostics_are_drawn() {
    let mut harness = page("diagnostics");
    harness.state_mut().scene.set_diagnostic_count(10_000);
    harness.run_ok();
    assert_eq!(harness.state().scene.listed().len(), 10_004);
    let drawn = harness.query_all_by_label_contains(", new").count();
    assert!((3..40).contains(&drawn), "{drawn} rows");
}

#[test]
fn an_empty_page_says_why_it_is_empty() {
    for (name, text) in [
        ("unchecked", "No check ran in this run"),
        ("empty", "No plan is open"),
        ("plan", "Nothing has run yet"),
        ("running", "No check has finished yet"),
    ] {
        let mut harness = page(name);
        harness.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::Num3);
        harness.run_ok();
        assert!(harness.query_by_label(text).is_some(), "{name}");
        assert!(harness.query_by_label_contains("Diagnostics are the errors").is_some(), "{name}");
    }
    let mut harness = page("empty");
    harness.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::Num3);
    harness.run_ok();
    click(&mut harness, "Plans and runs");
    assert!(harness.state().actions.contains(&Action::Do(Command::GoPlan)));
    let mut harness = page("clean");
    // This check found nothing, and the diagnostics of the first one are gone.
    assert_eq!(harness.state().scene.listed().len(), 4);
    click(&mut harness, "4 gone");
    assert!(harness.query_by_label("Nothing matches").is_some());
}

#[test]
fn the_inspector_leads_to_its_table() {
    let mut harness = page("diagnostics");
    harness.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::Num1);
    harness.run_ok();
    harness.get_by_label_contains("Step 2: ").click();
    harness.run_ok();
    harness.query_all_by_role_and_label(Role::Tab, "Diagnostics").last().unwrap().click();
    harness.run_ok();
    click(&mut harness, "Show in the table");
    let step = Action::Diagnostics(DiagnosticsAction::Show(Some(1)));
    assert!(harness.state().actions.contains(&step));
    assert_eq!(listed(&harness), "E0308 E0433 unused_variables unused_variables");
}

#[test]
fn the_evidence_menu_asks_about_a_diagnostic() {
    let mut harness = page("diagnostics");
    for (name, question) in [
        ("Executions with E0425", Question::WithCode("E0425".into())),
        (
            "Everything that touched src/lexer.rs",
            Question::Touched { kind: TargetKind::File, target: "src/lexer.rs".into() },
        ),
    ] {
        click(&mut harness, "In the evidence");
        click(&mut harness, name);
        let query = Action::Evidence(EvidenceAction::RunQuery(question));
        assert!(harness.state().actions.contains(&query), "{name}");
        harness.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::Num3);
        harness.run_ok();
    }
}
