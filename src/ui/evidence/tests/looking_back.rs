//! The times of a run, two runs compared, and the history of a file, by their accessible names.

use super::*;
use crate::ui::PlanAction;

fn did(harness: &Harness<'_, Window>, action: &EvidenceAction) -> bool {
    harness.state().actions.contains(&Action::Evidence(action.clone()))
}

#[test]
fn an_execution_leads_to_the_times_of_its_run_and_to_a_comparison() {
    let mut harness = page("execution");
    click(&mut harness, "Look back");
    click(&mut harness, "Times of the run");
    let run_id = harness.state().scene.detail.row.run_id;
    assert!(ran_query(&harness, &Question::Times(run_id)));
    assert!(harness.query_by_label_contains("waiting for a person").is_some());
    let mut harness = page("execution");
    click(&mut harness, "Look back");
    click(&mut harness, "Compare with another run…");
    assert!(ran_query(&harness, &Question::RunsToCompare(run_id)));
    let run = harness.query_all_by_label_contains("Compare with the run of").next().unwrap();
    run.click();
    harness.run_ok();
    let compares = |action: &Action| {
        matches!(action, Action::Evidence(EvidenceAction::RunQuery(Question::Compare { before, .. }))
            if *before == run_id)
    };
    assert!(harness.state().actions.iter().any(compares));
}

#[test]
fn each_step_says_when_it_waited_and_worked() {
    let mut harness = page("times");
    let step = "Step 3 file_write src/lexer.rs, succeeded, began 500 ms after the start, waited 22.00 s for a person, \
                worked 710 ms";
    harness.get_by_label(step).click();
    harness.run_ok();
    assert!(
        harness
            .state()
            .actions
            .iter()
            .any(|action| { matches!(action, Action::Evidence(EvidenceAction::Open(_))) })
    );
    let whole = "52.30 s: 33.41 s waiting for a person, 18.52 s of work, 355 ms between";
    assert!(harness.query_by_label(whole).is_some());
    // The table has the same steps, and the choice stays.
    let mut harness = page("times");
    click(&mut harness, "Table");
    assert!(harness.query_by_label(step).is_some());
    assert!(harness.query_by_label("Without waiting").is_none());
    click(&mut harness, "Picture");
    click(&mut harness, "Without waiting");
    assert!(harness.query_by_label(step).is_some());
}

#[test]
fn the_times_of_many_steps_scroll() {
    let mut harness = page("times-many");
    assert!(harness.query_by_label_contains("Step 1 ").is_some());
    assert!(harness.query_by_label_contains("Step 400 ").is_none(), "only visible rows are drawn");
    let last = harness.query_all_by_label_contains("Step 2 ").next().unwrap().rect().center();
    harness.hover_at(last);
    harness.run_ok();
    for _ in 0..60 {
        harness.event(egui::Event::MouseWheel {
            source: egui::MouseWheelSource::Wheel,
            unit: egui::MouseWheelUnit::Point,
            delta: egui::vec2(0.0, -4_000.0),
            modifiers: egui::Modifiers::NONE,
            phase: egui::TouchPhase::Move,
        });
        harness.run_ok();
    }
    let open = "its end is not recorded";
    assert!(harness.query_by_label_contains(open).is_some(), "the last step");
}

#[test]
fn a_compared_step_unfolds_to_what_differs() {
    let mut harness = page("compared");
    assert!(
        harness.query_by_label("The plan was revised: 1 new, 1 changed, 5 unchanged.").is_some()
    );
    let step = "Step 4 shell cargo test --workspace, first run: succeeded in 14.20 s, second run: succeeded in 12.90 s, \
                different: output";
    let same = "Step 1 file_read src/lib.rs";
    assert!(harness.query_by_label_contains(same).is_some());
    harness.get_by_label(step).click();
    harness.run_ok();
    assert!(harness.query_by_label_contains("test parse::renamed ... ok").is_some());
    click(&mut harness, "Record of the second run");
    assert!(
        harness
            .state()
            .actions
            .iter()
            .any(|action| { matches!(action, Action::Evidence(EvidenceAction::Open(_))) })
    );
    let mut harness = page("compared");
    click(&mut harness, "Different: 4");
    assert!(harness.query_by_label_contains(same).is_none());
    let new = "Step 7 file_create CHANGELOG.md, first run: not run";
    assert!(harness.query_by_label_contains(new).is_some());
    click(&mut harness, "Show: first run");
    let shown = Action::Plan(PlanAction::OpenRun(uuid::Uuid::from_u128(3)));
    assert!(harness.state().actions.contains(&shown));
}

#[test]
fn the_history_of_a_file_has_its_lines_and_the_runs_that_made_them() {
    let mut harness = page("execution");
    click(&mut harness, "Record");
    harness.query_all_by_role_and_label(Role::Button, "file src/lib.rs").next().unwrap().click();
    harness.run_ok();
    click(&mut harness, "History of src/lib.rs");
    let workspace = harness.state().scene.detail.run.workspace.clone();
    let question = Question::FileHistory { path: "src/lib.rs".into(), workspace };
    assert!(ran_query(&harness, &question));
    for text in [
        "created +3 −0",
        "by file_write, step 2 of Replace old_function",
        "No difference: a content was purged.",
        "mode 644 to 755",
        "something else had changed it in between",
    ] {
        assert!(harness.query_all_by_label_contains(text).next().is_some(), "{text}");
    }
    harness.query_all_by_label_contains("created +3").next().unwrap().click();
    harness.run_ok();
    let id = harness.state().actions.iter().rev().find_map(|action| match action {
        Action::Evidence(EvidenceAction::Open(id)) => Some(*id),
        _ => None,
    });
    assert!(did(&harness, &EvidenceAction::Open(id.unwrap())));
}

#[test]
fn commands_judged_again_show_both_levels_and_how_far_it_is() {
    let mut harness = page("evidence");
    click(&mut harness, "Commands judged again");
    assert!(ran_query(&harness, &Question::JudgedAgain));
    assert!(harness.query_by_label("1,240 of 4,810 different commands judged").is_some());
    let row =
        "cargo publish --allow-dirty, caution then by unknown-program, blocked now by once, last";
    assert!(harness.query_by_label_contains(row).is_some());
    click(&mut harness, "Stop");
    assert!(did(&harness, &EvidenceAction::StopJudging));
}

#[test]
fn the_durations_of_a_step_have_a_median() {
    let mut harness = page("execution");
    click(&mut harness, "Look back");
    click(&mut harness, "Durations of this step");
    let id = harness.state().scene.detail.row.execution_id;
    assert!(ran_query(&harness, &Question::Durations(id)));
    let sentence = "12 executions: median 15.10 s, from 2.10 s to 21.00 s";
    assert!(harness.query_by_label(sentence).is_some());
    assert!(harness.query_by_label_contains("failed, took 2.10 s").is_some());
    assert!(harness.query_by_label_contains("denied, its tool was not called").is_some());
}

#[test]
fn a_recurring_diagnostic_says_how_often_it_is_seen() {
    let harness = page("recurring");
    assert!(harness.query_by_label_contains("14 times, first seen").is_some());
    assert!(harness.query_by_label_contains(", 9 a week").is_some());
}

#[test]
fn a_run_is_played_back_by_keys_and_by_pointer() {
    use crate::ui::action::PlayerAction;
    let played = |harness: &Harness<'_, Window>| -> Vec<PlayerAction> {
        let action = |action: &Action| match action {
            Action::Evidence(EvidenceAction::Play(action)) => Some(*action),
            _ => None,
        };
        harness.state().actions.iter().filter_map(action).collect()
    };
    let mut harness = page("execution");
    click(&mut harness, "Look back");
    click(&mut harness, "Play the run back");
    let run_id = harness.state().scene.detail.row.run_id;
    assert!(ran_query(&harness, &Question::Replay(run_id)));

    let mut harness = page("played");
    assert!(
        harness.query_by_label_contains("Step 4 shell cargo test --workspace, succeeded").is_some()
    );
    assert!(harness.query_by_label_contains("test parse::nested ... ok").is_some());
    let asking = "Step 5 file_write src/lib.rs, not begun";
    assert!(harness.query_by_label(asking).is_some());
    harness.key_press(egui::Key::ArrowRight);
    harness.run_ok();
    let asking = "Step 5 file_write src/lib.rs, waiting for a person";
    assert!(harness.query_by_label(asking).is_some());
    harness.key_press(egui::Key::ArrowLeft);
    harness.run_ok();
    harness.key_press(egui::Key::Space);
    harness.run_ok();
    harness.key_press(egui::Key::Plus);
    harness.run_ok();
    let actions = played(&harness);
    assert!(
        matches!(
            actions[..],
            [
                PlayerAction::Seek(_),
                PlayerAction::Seek(_),
                PlayerAction::Toggle,
                PlayerAction::Speed(2)
            ]
        ),
        "{actions:?}"
    );
    harness.get_by_label_contains("Step 1 file_read").click();
    harness.run_ok();
    assert_eq!(played(&harness).last(), Some(&PlayerAction::Seek(250)));
    click(&mut harness, "Play");
    assert_eq!(played(&harness).last(), Some(&PlayerAction::Toggle));
}
