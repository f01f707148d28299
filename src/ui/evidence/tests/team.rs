//! The evidence of a team on the page, with example data.

use super::*;
use crate::run::SearchPage;
use crate::ui::action::RecordTab;

const ELSEWHERE: &str = super::super::team::ELSEWHERE;

#[test]
fn the_source_is_chosen_by_click_and_by_key() {
    let mut harness = page("team");
    let action = |team| Action::Evidence(EvidenceAction::ShowTeam(team));
    for (name, team) in [("This computer", false), ("Team", true)] {
        click(&mut harness, name);
        assert_eq!(harness.state().actions.last(), Some(&action(team)));
    }
    let keys = egui::Modifiers::COMMAND | egui::Modifiers::SHIFT;
    harness.key_press_modifiers(keys, egui::Key::G);
    harness.run_ok();
    assert_eq!(harness.state().actions.last(), Some(&Action::Do(Command::SwitchEvidence)));
    // Without a team there is no choice.
    let harness = page("evidence");
    assert!(harness.query_by_role_and_label(Role::Button, "Team").is_none());
    assert!(harness.query_by_role_and_label(Role::Button, "This computer").is_none());
}

#[test]
fn hits_say_where_they_come_from() {
    let mut harness = page("team");
    assert!(harness.query_by_label("postgres://ada@db.example.org:5432/evidence").is_some());
    let from = |id: &str| format!(", from {id}");
    for id in ["3f2ab1c4", "91c044e2"] {
        assert!(harness.query_all_by_label_contains(&from(id)).next().is_some(), "{id}");
    }
    harness.query_all_by_label_contains(&from("91c044e2")).next().unwrap().click();
    harness.run_ok();
    let opened = harness.state().actions.last();
    assert_eq!(opened, Some(&Action::Evidence(EvidenceAction::OpenHit(1))));
    // Questions and the picture of times need the records themselves.
    assert!(harness.query_by_label_contains("They read the evidence of this computer").is_some());
    assert!(harness.query_by_label("Recurring errors").is_none());
}

#[test]
fn what_needs_this_computer_is_off() {
    let mut harness = page("team-record");
    for name in [
        "Show the run",
        "Look back",
        "Revert this step…",
        "Purge the run…",
        "Export…",
        "Verify evidence",
    ] {
        let node = harness.get_by_role_and_label(Role::Button, name);
        assert!(node.accesskit_node().is_disabled(), "{name}");
    }
    assert!(harness.query_by_label_contains("stay on the computer that ran it").is_some());
    assert!(harness.query_by_label("Copy the name of the evidence").is_some());
    harness.get_by_role_and_label(Role::Button, "Purge the run…").hover();
    harness.run_ok();
    assert!(harness.query_by_label(ELSEWHERE).is_some());
    let all = harness.get_by_role_and_label(Role::Button, "All records of this run");
    assert!(!all.accesskit_node().is_disabled());
    // A touched file can be searched for there, and asked about here alone.
    harness.state_mut().scene.play(
        &Action::Evidence(EvidenceAction::ShowTab(RecordTab::Record)),
        &egui::Context::default(),
    );
    harness.run_ok();
    harness.query_all_by_role_and_label(Role::Button, "file src/lib.rs").next().unwrap().click();
    harness.run_ok();
    assert!(harness.query_by_label("Every change of src/lib.rs").is_some());
    assert!(harness.query_by_label("Latest outcome for src/lib.rs").is_none());
}

#[test]
fn a_server_without_an_answer_is_said_and_asked_again() {
    let harness = page("team-connecting");
    assert!(harness.query_by_label("Connecting to the team's server").is_some());
    let harness = page("team-nothing");
    assert!(harness.query_by_label("Nothing was pushed yet").is_some());
    assert!(harness.query_by_label_contains("countersign evidence push").is_some());

    // Nothing of the first page can be read: what follows is not hidden.
    let mut harness = page("team-nothing");
    let scene = &mut harness.state_mut().scene;
    scene.lines.clear();
    scene.search = Some(SearchPage { next: Some(0), ..SearchPage::default() });
    harness.run_ok();
    assert!(harness.query_by_label("Nothing was pushed yet").is_none());
    harness.get_by_label("Show more").click();
    harness.run_ok();
    let more = Action::Evidence(EvidenceAction::More);
    assert_eq!(harness.state().actions.last(), Some(&more));

    let mut harness = page("team-unreachable");
    assert!(harness.query_by_label_contains("Connection refused").is_some());
    harness.get_by_role_and_label(Role::Button, "Try again").focus();
    harness.run_ok();
    harness.key_press(egui::Key::Enter);
    harness.run_ok();
    let again = Action::Evidence(EvidenceAction::TryAgain);
    assert_eq!(harness.state().actions.last(), Some(&again));
}
