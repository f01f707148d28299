//! Queries on the page with example data.

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable};

mod looking_back;
mod team;
mod timeline;

use crate::run::{Question, TargetKind};
use crate::ui::action::WindowAction;
use crate::ui::tests::{Window, window};
use crate::ui::{Action, Command, EvidenceAction};

fn page(name: &str) -> Harness<'static, Window> {
    window(name, [1280.0, 800.0])
}

fn click(harness: &mut Harness<'_, Window>, name: &str) {
    let roles = [Role::Button, Role::Tab, Role::ListBoxOption, Role::MenuItem];
    let found = roles.into_iter().find_map(|role| harness.query_by_role_and_label(role, name));
    found.unwrap_or_else(|| panic!("no {name}")).click();
    harness.run_ok();
}

fn ran_query(harness: &Harness<'_, Window>, question: &Question) -> bool {
    harness.state().actions.contains(&Action::Evidence(EvidenceAction::RunQuery(question.clone())))
}

fn touched(kind: TargetKind, target: &str) -> Question {
    Question::Touched { kind, target: target.to_owned() }
}

#[test]
fn touched_targets_lead_to_queries() {
    for (link, item, question) in [
        (
            "symbol parser::old_function",
            "Everything that touched parser::old_function",
            touched(TargetKind::Symbol, "parser::old_function"),
        ),
        ("diagnostic E0425", "Executions with E0425", Question::WithCode("E0425".into())),
        (
            "diagnostic E0425",
            "Changes after E0425",
            Question::ChangesAfter { code: "E0425".into(), file: None },
        ),
    ] {
        let mut harness = page("execution");
        click(&mut harness, "Record");
        click(&mut harness, link);
        click(&mut harness, item);
        assert!(ran_query(&harness, &question), "{item}");
        assert!(harness.query_all_by_label(item).next().is_some(), "the answer has its heading");
    }
    let file = "src/lib.rs";
    for (item, question) in [
        ("Everything that touched src/lib.rs", touched(TargetKind::File, file)),
        ("Latest outcome for src/lib.rs", Question::Latest(file.into())),
    ] {
        let mut harness = page("execution");
        click(&mut harness, "Record");
        // The file is both an input and a changed target, so either link can be used.
        harness
            .query_all_by_role_and_label(Role::Button, "file src/lib.rs")
            .next()
            .unwrap()
            .click();
        harness.run_ok();
        click(&mut harness, item);
        assert!(ran_query(&harness, &question), "{item}");
    }
}

#[test]
fn a_file_leads_to_its_changes() {
    let mut harness = page("execution");
    click(&mut harness, "Record");
    harness.query_all_by_role_and_label(Role::Button, "file src/lib.rs").next().unwrap().click();
    harness.run_ok();
    click(&mut harness, "Every change of src/lib.rs");
    let search = EvidenceAction::Search("wrote:src/lib.rs".to_owned());
    assert!(harness.state().actions.contains(&Action::Evidence(search)));
}

// Escape closes what the link opened.
#[test]
fn a_link_works_by_keys_alone() {
    let mut harness = page("execution");
    click(&mut harness, "Record");
    harness.get_by_label("diagnostic E0425").focus();
    harness.run_ok();
    harness.key_press(egui::Key::Enter);
    harness.run_ok();
    harness.get_by_label("Executions with E0425").focus();
    harness.run_ok();
    harness.key_press(egui::Key::Enter);
    harness.run_ok();
    assert!(ran_query(&harness, &Question::WithCode("E0425".into())));
    // Escape closes the open execution first, then the answer.
    for close in [EvidenceAction::CloseDetail, EvidenceAction::CloseAnswer] {
        harness.key_press(egui::Key::Escape);
        harness.run_ok();
        assert_eq!(harness.state().actions.last(), Some(&Action::Evidence(close)));
    }
    assert!(harness.query_all_by_label("Executions with E0425").next().is_none());
}

// One page, one answer: nothing of the search stays beside that of a query.
#[test]
fn an_answer_replaces_the_search() {
    let mut harness = page("evidence");
    let field = |harness: &Harness<'_, Window>| {
        harness.get_by_label("Search evidence").accesskit_node().value().unwrap_or_default()
    };
    assert_eq!(field(&harness), "function after:2026-11-01");
    assert!(harness.query_by_label("failed 12").is_some());
    let top = |harness: &Harness<'_, Window>, name: &str| {
        harness.get_by_role_and_label(Role::Button, name).rect().top()
    };
    let before = top(&harness, "Rejected plans");
    click(&mut harness, "Recurring diagnostics");
    assert_eq!(field(&harness), "");
    for of_search in ["failed 12", "Clear the search", "Save this search"] {
        assert!(harness.query_by_label(of_search).is_none(), "{of_search}");
    }
    assert_eq!(top(&harness, "Rejected plans"), before, "nothing moves under the pointer");
    click(&mut harness, "Back to the search");
    assert_eq!(field(&harness), "function after:2026-11-01");
    assert!(harness.query_by_label("failed 12").is_some());
}

// What appears beside a list does not move it.
#[test]
fn rows_keep_their_places() {
    let mut harness = page("execution");
    let tops = |harness: &Harness<'_, Window>| {
        ["Rejected plans", "file_read crates/core/src/io.rs"].map(|name| {
            let found = harness.query_all_by_label_contains(name).next();
            found.unwrap_or_else(|| panic!("{name}")).rect().top()
        })
    };
    let before = tops(&harness);
    click(&mut harness, "Verify evidence");
    assert!(harness.query_by_label_contains("records are unchanged").is_some());
    assert_eq!(tops(&harness), before);
    click(&mut harness, "Failures");
    assert!(harness.query_by_label("Save this search").is_none());
    assert_eq!(tops(&harness)[0], before[0]);
}

#[test]
fn recurring_diagnostics_lead_to_their_executions() {
    let mut harness = page("evidence");
    click(&mut harness, "Recurring diagnostics");
    assert!(ran_query(&harness, &Question::Recurring));
    let row =
        harness.get_by_label_contains("E0425 in src/lexer.rs, 14 times, first seen 2026-11-12");
    row.click();
    harness.run_ok();
    assert!(ran_query(&harness, &Question::WithCode("E0425".into())));
}

// The page states only that the change came after the diagnostic, not that it repaired anything.
#[test]
fn a_later_change_claims_no_repair() {
    let mut harness = page("answer");
    assert!(harness.query_all_by_label("Changes of src/lexer.rs after E0425").next().is_some());
    let outcome = "succeeded, 1 min 12 s after the diagnostic was seen in src/lexer.rs";
    assert!(harness.query_all_by_label(outcome).next().is_some());
    assert!(harness.query_all_by_label_contains("fixed").next().is_none());
    // A record that was changed does not show its outcome.
    let row = "file_search old_function in src, changed after it was written";
    assert!(harness.query_by_label_contains(row).is_some(), "the row");
    let second = "This record was changed after it was written.";
    assert!(harness.query_by_label(second).is_some(), "its second line");
    harness.get_by_label_contains("file_write src/lexer.rs, succeeded").click();
    harness.run_ok();
    let opened = |action: &Action| matches!(action, Action::Evidence(EvidenceAction::Open(_)));
    assert!(harness.state().actions.iter().any(opened));
}

#[test]
fn filters_in_the_search_box_offer_their_questions() {
    let mut harness = page("evidence");
    harness.get_by_label("Search evidence").focus();
    harness.run_ok();
    harness.get_by_label("Search evidence").type_text(" path:src/lib.rs code:E0425");
    harness.run_ok();
    for item in [
        "Everything that touched src/lib.rs",
        "Latest outcome for src/lib.rs",
        "Executions with E0425",
        "Changes of src/lib.rs after E0425",
    ] {
        assert!(harness.query_by_label(item).is_some(), "{item}");
    }
    click(&mut harness, "Latest outcome for src/lib.rs");
    assert!(ran_query(&harness, &Question::Latest("src/lib.rs".into())));
}

#[test]
fn tampered_records_are_marked() {
    let harness = page("tampered");
    for text in
        ["nothing can be run with it", "accept-head --reason", "Note: one of the two copies"]
    {
        assert!(harness.query_by_label_contains(text).is_some(), "{text}");
    }
    let row = "file_write src/lexer.rs, changed after it was written";
    assert!(harness.query_by_label_contains(row).is_some(), "the row of the list");
    let record = "This record was changed after it was written: row 1204 of executions";
    assert!(harness.query_by_label_contains(record).is_some(), "the open record");
}

#[test]
fn a_search_is_saved_and_removed() {
    let mut harness = page("evidence");
    let text = "host:web-1.example.org outcome:failed".to_owned();
    click(&mut harness, "Save this search");
    assert!(harness.state().actions.contains(&Action::Do(Command::SaveSearch)));
    click(&mut harness, &text);
    let search = Action::Evidence(EvidenceAction::Search(text.clone()));
    assert!(harness.state().actions.contains(&search));
    // The button is for the search that is in the field now.
    assert!(harness.query_by_label("Save this search").is_none());
    assert!(harness.query_by_label("Remove this search").is_some());
    harness.get_by_role_and_label(Role::Button, &text).click_secondary();
    harness.run_ok();
    click(&mut harness, "Remove from the list");
    let remove = Action::Window(WindowAction::ToggleSearch(text));
    assert!(harness.state().actions.contains(&remove));
}

#[test]
fn a_bar_of_the_timeline_narrows_the_search() {
    let mut harness = page("evidence");
    let bars = harness.get_by_label_contains("Timeline of").rect();
    // No execution is in the first bar.
    let empty = bars.left_center() + egui::vec2(2.0, bars.height() / 2.0 - 1.0);
    harness.hover_at(empty);
    harness.run_ok();
    assert!(harness.query_by_label_contains("Click to show only these").is_none());
    let first = empty + egui::vec2(20.0, 0.0);
    harness.hover_at(first);
    harness.run_ok();
    assert!(harness.query_by_label_contains("Click to show only these").is_some());
    for pressed in [true, false] {
        harness.event(egui::Event::PointerButton {
            pos: first,
            button: egui::PointerButton::Primary,
            pressed,
            modifiers: egui::Modifiers::NONE,
        });
    }
    harness.run_ok();
    let is_narrowed = |action: &Action| match action {
        Action::Evidence(EvidenceAction::Search(text)) => {
            text.starts_with("function after:20") && text.contains(" before:20")
        }
        _ => false,
    };
    assert!(harness.state().actions.iter().any(is_narrowed), "{:?}", harness.state().actions);
}

// The change first, then why, who decided, and the identifiers.
#[test]
fn an_execution_is_shown_in_tabs() {
    let mut harness = page("execution");
    assert!(harness.query_all_by_label("Copy diff").next().is_some());
    for (tab, found) in [
        ("Why", "Copy argument contents"),
        ("Decisions", "Approved in the window by ada"),
        ("Record", "Copy the execution's id"),
    ] {
        assert!(harness.query_all_by_label_contains(found).next().is_none(), "{tab}");
        click(&mut harness, tab);
        assert!(harness.query_all_by_label_contains(found).next().is_some(), "{tab}");
    }
    assert!(harness.query_all_by_label("Copy diff").next().is_none());
}

#[test]
fn a_narrow_search_field_has_its_count_below() {
    for (size, is_beside) in [([900.0, 600.0], false), ([1600.0, 900.0], true)] {
        let harness = window("execution", size);
        let field = harness.get_by_role_and_label(Role::TextInput, "Search evidence").rect();
        let count = harness.query_all_by_label_contains(" executions in ").next();
        match count {
            Some(count) => assert!(!is_beside && count.rect().top() >= field.bottom(), "{size:?}"),
            None => assert!(is_beside, "{size:?}"),
        }
    }
}

#[test]
fn only_recorded_changes_can_be_reverted() {
    for (has_changes, expected) in [(true, 1), (false, 0)] {
        let mut detail = crate::ui::tests::fixture::detail();
        detail.has_changes = has_changes;
        let harness = Harness::builder().with_context_setup(crate::ui::theme::install);
        let harness = harness.build_ui(|ui| {
            super::detail::revert_ui(ui, &detail, &mut Vec::new());
        });
        assert_eq!(harness.query_all_by_label("Revert this step…").count(), expected);
    }
}
