//! The page with example loops: its text, and its actions by pointer and keyboard.

use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};

use crate::run::{LoopPhase, StopCode};
use crate::ui::action::LoopAction;
use crate::ui::tests::{Window, window};
use crate::ui::{Action, Command, EvidenceAction};

const SIZE: [f32; 2] = [1280.0, 1600.0];

fn shows(harness: &Harness<'_, Window>, text: &str) -> bool {
    harness.query_all_by_label_contains(text).next().is_some()
}

#[test]
fn each_stop_reason_shows_what_happened_and_advice() {
    for code in StopCode::ALL {
        let harness = window(&format!("loop-{}", code.as_str()), SIZE);
        let happened = match code {
            StopCode::Completed => "Every step succeeded, and so did the verification.",
            StopCode::PlannerRejectedNonRetryable => "said that asking again would not help.",
            StopCode::PlannerRejectedRetryBudgetExhausted => "brought no plan that could run.",
            StopCode::ActionFailedRetryable => "A step failed, and there was no other attempt.",
            StopCode::ActionFailedNonRetryable => "another attempt would not have mended it.",
            StopCode::VerifyFailed => "the verification failed, and there was no other attempt.",
            StopCode::RetryBudgetExhausted => "The last attempt did not reach the goal.",
            StopCode::OperatorStopped => "The loop was stopped by a person.",
            StopCode::RunnerInternalError => "The program could not go on.",
            StopCode::NotAuthorized => "The plan was not authorized, and did not run.",
            StopCode::NoProgress => "proposed steps that had already run and failed",
            StopCode::Planned => "The plan is ready. Nothing of it ran.",
        };
        for text in [code.as_str(), happened, code.next()] {
            assert!(shows(&harness, text), "{code:?}: {text}");
        }
        // The documentation speaks of any loop: "a person stopped the loop or denied a step".
        if *code != StopCode::PlannerRejectedRetryBudgetExhausted {
            assert!(!shows(&harness, code.meaning()), "{code:?} reads like its documentation");
        }
        let stop = harness.query_by_label(Command::StopNow.spec().text);
        assert!(stop.is_none(), "{code:?} is over");
    }
}

#[test]
fn the_goal_of_a_new_loop_is_focused_and_in_sight() {
    let mut harness = window("loop", [900.0, 600.0]);
    let goal = |harness: &Harness<'_, Window>| {
        let goal = harness.get_by_role_and_label(egui::accesskit::Role::MultilineTextInput, "Goal");
        (goal.is_focused(), goal.rect().top())
    };
    harness.hover_at(egui::pos2(600.0, 300.0));
    harness.event(egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Point,
        delta: egui::vec2(0.0, -500.0),
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Wheel,
        modifiers: egui::Modifiers::NONE,
    });
    harness.run_ok();
    let (_, top) = goal(&harness);
    assert!(top < 0.0, "out of sight: {top}");
    harness.get_by_label("New plan from a goal…").click();
    harness.run_ok();
    let (is_focused, top) = goal(&harness);
    assert!(is_focused && top > 44.0, "{top}");
}

/// *Start* is always in sight, and what is wrong may not be.
#[test]
fn a_start_leads_to_the_first_fault() {
    let mut harness = window("loop-class", [900.0, 500.0]);
    let Window { scene, .. } = harness.state_mut();
    scene.looping.form.as_mut().unwrap().timeout_s = "many".into();
    harness.run_ok();
    let fault = |harness: &Harness<'_, Window>| {
        harness.query_all_by_label_contains("from 1 to").last().unwrap().rect()
    };
    assert!(fault(&harness).top() > 500.0, "{:?}", fault(&harness));
    let Window { scene, .. } = harness.state_mut();
    scene.looping.start();
    harness.step();
    harness.state_mut().scene.looping.form.as_mut().unwrap().scroll_to = None;
    harness.run_ok();
    let shown = fault(&harness);
    assert!(shown.top() > 60.0 && shown.bottom() < 440.0, "{shown:?}");
}

#[test]
fn faulty_form_marks_each_field() {
    let harness = window("loop-faulty", SIZE);
    for text in [
        "Enter a goal.",
        "Enter the folder with the plans.",
        "Enter the workspace folder.",
        "Enter a whole number from 1 to 100.",
        "4 fields to correct",
    ] {
        assert!(shows(&harness, text), "{text}");
    }
    let harness = window("loop", SIZE);
    assert!(shows(&harness, "Enter a goal. Starting asks the compiler"), "in the bar");
    assert!(harness.query_by_label("Enter a goal.").is_none(), "not below the field");
}

/// A start without a goal would only show faults, so that its button does not invite to it.
#[test]
fn nothing_starts_without_a_goal() {
    let mut harness = window("loop", SIZE);
    let start = Command::StartLoop.spec();
    assert!(harness.get_by_label(start.text).accesskit_node().is_disabled());
    let why = (start.unavailable)(&harness.state().scene.view().situation);
    assert_eq!(why, Some("Enter a goal."));
    harness.key_press_modifiers(egui::Modifiers::SHIFT, egui::Key::F5);
    harness.run_ok();
    assert!(!harness.state().actions.contains(&Action::Do(Command::StartLoop)));
    harness.get_by_label("Goal").focus();
    harness.run_ok();
    harness.get_by_label("Goal").type_text("it builds");
    harness.run_ok();
    assert!(!harness.get_by_label(start.text).accesskit_node().is_disabled());
    assert!(shows(&harness, "Nothing has started. Starting asks the compiler"));
}

#[test]
fn form_warns_of_a_run_under_way() {
    let mut harness = window("loop-model", SIZE);
    let warnings = [
        "Another run is under way in this workspace (Release 0.3)",
        "Another run is under way in the workspace",
    ];
    assert!(warnings.iter().all(|it| shows(&harness, it)), "in the form and in the bar");
    harness.state_mut().scene.looping.other_runs = None;
    harness.run_ok();
    assert!(!warnings.iter().any(|it| shows(&harness, it)));
}

#[test]
fn a_written_mark_is_told_from_a_mark() {
    let mut harness = window("loop-planning", SIZE);
    let state = &mut harness.state_mut().scene.looping.shown.state;
    state.goal = "Tidy ⟨U+202E⟩".to_owned();
    let attempt = state.attempts.last_mut().unwrap();
    attempt.planner_output = "thinking ⟨ESC⟩\u{1b}[2K".to_owned();
    harness.run_ok();
    assert!(shows(&harness, "Tidy ⟨U+27E8⟩U+202E⟩"));
    assert!(shows(&harness, "thinking ⟨U+27E8⟩ESC⟩⟨ESC⟩[2K"));
}

#[test]
fn goal_about_a_host_starts_without_a_verification() {
    let mut harness = window("loop-model", SIZE);
    let remark = "No check of the workspace can tell";
    assert!(shows(&harness, remark) && shows(&harness, "Nothing checks the result."));
    harness.get_by_label("full").click();
    harness.run_ok();
    let chosen = harness.state().actions.iter().rev().find_map(|action| match action {
        Action::Loop(LoopAction::Edit(form)) => Some(form.verify()),
        _ => None,
    });
    assert_eq!(chosen, Some(Some(crate::plan::VerifyScope::Full)));
    let harness = window("loop", SIZE);
    assert!(!shows(&harness, remark) && shows(&harness, "The quick check"));
}

#[test]
fn tab_visits_the_form_then_start() {
    let mut harness = window("loop-filled", SIZE);
    let is_focused = |harness: &Harness<'_, Window>, name: &str| {
        harness.query_all_by_label_contains(name).any(|it| it.is_focused())
    };
    harness.get_by_label("Goal").focus();
    harness.run_ok();
    let start = Command::StartLoop.spec().text;
    let mut seen = Vec::new();
    while !is_focused(&harness, start) {
        let names = ["cargo-fix", "Workspace", "local", "authorize a class of plans in advance"];
        seen.extend(names.into_iter().filter(|name| is_focused(&harness, name)));
        harness.key_press(egui::Key::Tab);
        harness.run_ok();
        assert!(seen.len() < 20, "{seen:?}");
    }
    assert_eq!(seen, ["cargo-fix", "Workspace", "local", "authorize a class of plans in advance"]);
}

/// *Start*, *Stop now* and *Same goal again…* appear one after the other in the same position.
#[test]
fn held_key_only_starts_a_loop() {
    let mut harness = window("loop-filled", SIZE);
    let enter = egui::Event::Key {
        key: egui::Key::Enter,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: egui::Modifiers::NONE,
    };
    harness.get_by_label(Command::StartLoop.spec().text).focus();
    harness.run_steps(3);
    for scene in
        ["loop-filled", "loop-planning", "loop-planning", "loop-completed", "loop-completed"]
    {
        harness.state_mut().scene = crate::ui::tests::scene::Scene::new(scene);
        harness.input_mut().events.push(enter.clone());
        harness.step();
    }
    let commands: Vec<Command> = harness
        .state()
        .actions
        .iter()
        .filter_map(|action| match action {
            Action::Do(command) => Some(*command),
            _ => None,
        })
        .collect();
    assert_eq!(commands, [Command::StartLoop]);
}

#[test]
fn form_is_filled_and_started_by_keyboard() {
    let mut harness = window("loop", SIZE);
    harness.get_by_label("Goal").focus();
    harness.run_ok();
    harness.get_by_label("Goal").type_text("it builds");
    harness.run_ok();
    let typed = harness.state().actions.iter().rev().find_map(|action| match action {
        Action::Loop(LoopAction::Edit(form)) => Some(form.goal.clone()),
        _ => None,
    });
    assert_eq!(typed.as_deref(), Some("it builds"));
    harness.key_press_modifiers(egui::Modifiers::SHIFT, egui::Key::F5);
    harness.run_ok();
    assert!(harness.state().actions.contains(&Action::Do(Command::StartLoop)));
}

// The timeline itself offers no way to sign a plan.
#[test]
fn waiting_plan_opens_but_is_not_signed() {
    let mut harness = window("loop-waiting", SIZE);
    assert!(shows(&harness, "Outside the class: the path benches/parse.rs"));
    assert!(shows(&harness, "1 new, 1 changed, 1 removed, 2 unchanged"));
    harness.get_by_label("Look at the plan, then authorize").click();
    harness.run_ok();
    let actions = &harness.state().actions;
    assert!(actions.contains(&Action::Loop(LoopAction::OpenAttempt(2))), "{actions:?}");
    let signs = |action: &Action| matches!(action, Action::Dialog(_));
    assert!(!actions.iter().any(signs), "{actions:?}");
    assert!(harness.query_by_label("Authorize").is_none());
}

#[test]
fn an_action_leads_to_its_record() {
    let mut harness = window("loop-waiting", SIZE);
    harness.get_by_label("Attempt 1 of 3, a step failed").click();
    harness.run_ok();
    let row = harness.query_all_by_label_contains("Step 3: ").next().unwrap();
    row.click();
    harness.run_ok();
    let actions = &harness.state().actions;
    let opened = |action: &Action| matches!(action, Action::Evidence(EvidenceAction::Open(_)));
    assert!(actions.iter().any(opened), "{actions:?}");
}

#[test]
fn running_loop_can_be_stopped_interrupted_cannot() {
    for name in ["loop-planning", "loop-waiting", "loop-applying"] {
        let mut harness = window(name, SIZE);
        harness.get_by_label(Command::StopNow.spec().text).click();
        harness.run_ok();
        assert!(harness.state().actions.contains(&Action::Do(Command::StopNow)), "{name}");
    }
    let mut harness = window("loop-interrupted", SIZE);
    assert_eq!(harness.state().scene.looping.shown.state.phase, LoopPhase::Interrupted);
    assert!(harness.query_by_label(Command::StopNow.spec().text).is_none());
    assert!(shows(&harness, "will not resume by itself"));
    // What its last planner saw is recorded before the attempt ends.
    let look = crate::run::Look::Read { path: "heron.txt".to_owned(), lines: None };
    let seen = crate::run::Looked::refused(look, "sensitive").record();
    let attempts = &mut harness.state_mut().scene.looping.shown.state.attempts;
    let last = attempts.last_mut().unwrap();
    assert!(last.record.is_none());
    last.looks = vec![seen];
    harness.run_ok();
    assert!(shows(&harness, "The planner looked at 1 thing.") && shows(&harness, "heron.txt"));
}

#[test]
fn loop_and_its_records_link_each_other() {
    let mut harness = window("loop-completed", SIZE);
    harness.get_by_label("Records of the loop").click();
    harness.run_ok();
    let loop_id = harness.state().scene.looping.shown.state.loop_id.unwrap();
    let search = Action::Evidence(EvidenceAction::Search(format!("loop:{loop_id}")));
    assert!(harness.state().actions.contains(&search));
    // The test window applies the search text, but does not change the page.
    harness.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::Num2);
    harness.run_ok();
    harness.get_by_label("Show the loop").click();
    harness.run_ok();
    assert!(harness.state().actions.contains(&Action::Loop(LoopAction::Show(loop_id))));
}

#[test]
fn unusable_folder_prevents_the_start() {
    let harness = window("loop-nowhere", SIZE);
    assert_eq!(harness.query_all_by_label_contains("There is no such folder.").count(), 2);
    assert!(shows(&harness, "The workspace folder does not exist."), "in the bar");
    let start = harness.get_by_label(Command::StartLoop.spec().text);
    assert!(start.accesskit_node().is_disabled());
}

#[test]
fn untrusted_commands_are_shown_with_their_question() {
    for (name, remark, button) in [
        ("loop-untrusted", "it would end without having run a plan", "Look at the commands…"),
        ("loop-trusted", "You trust the commands", "Commands of the workspace…"),
    ] {
        let mut harness = window(name, SIZE);
        assert!(shows(&harness, remark), "{name}");
        let start = harness.get_by_label(Command::StartLoop.spec().text);
        assert!(
            !start.accesskit_node().is_disabled(),
            "{name}: the planner may not need the commands"
        );
        harness.get_by_label(button).focus();
        harness.run_ok();
        harness.key_press(egui::Key::Space);
        harness.run_ok();
        assert!(harness.state().actions.contains(&Action::Loop(LoopAction::ReviewCommands)));
    }
    let harness = window("loop-trust", SIZE);
    assert!(shows(&harness, "Trust these commands?"));
    assert!(!shows(&harness, "not run by this plan"), "there is no plan yet");
}

#[test]
fn a_verification_that_never_began_says_why() {
    let harness = window("loop-unverified", SIZE);
    for text in [
        "Not verified: the workspace has no verify command.",
        "nothing has checked the result",
        "Ended: completed, not verified",
    ] {
        assert!(shows(&harness, text), "{text}");
    }
    assert!(!shows(&harness, StopCode::Completed.meaning()));
}

#[test]
fn run_and_record_open_their_loop() {
    for name in ["completed", "execution"] {
        let mut harness = window(name, [1280.0, 800.0]);
        harness.get_by_label("Open its loop").focus();
        harness.run_ok();
        harness.key_press(egui::Key::Enter);
        harness.run_ok();
        let show = Action::Loop(LoopAction::Show(uuid::Uuid::from_u128(7)));
        assert!(harness.state().actions.contains(&show), "{name}");
    }
    assert!(window("failed", [1280.0, 800.0]).query_by_label("Open its loop").is_none());
}

// All of a hundred attempts are expanded, and each can be reached by keyboard.
#[test]
fn changed_step_unfolds_to_its_difference() {
    let mut harness = window("loop-completed", SIZE);
    assert!(!shows(&harness, "\"gen\""));
    let name = "changed: step 2, splice_patch src/parser.rs, fn keyword";
    harness.get_by_label(name).click();
    harness.run_ok();
    assert!(shows(&harness, "matches!(text, \"fn\" | \"gen\" | \"let\")"), "the new line");
    assert!(shows(&harness, "matches!(text, \"fn\" | \"let\")"), "the old line");
    harness.get_by_label(name).click();
    harness.run_ok();
    assert!(!shows(&harness, "\"gen\""));
}

#[test]
fn end_says_what_happened() {
    let harness = window("loop-completed", SIZE);
    assert!(shows(
        &harness,
        "Attempt 2 of 3: 5 steps succeeded, and the verification (local) passed."
    ));
    assert!(shows(&harness, "Attempt 1 of 3"));
}

#[test]
fn only_visible_attempts_are_drawn() {
    let size = [1280.0, 800.0];
    let mut harness = window("loop-many", size);
    harness.run_ok();
    let bodies = |harness: &Harness<'_, Window>| {
        harness.query_all_by_label_contains("Plan and run of attempt").count()
    };
    let heads = harness.query_all_by_label_contains(" of 100, ").count();
    assert_eq!(heads, 100, "each header can be focused");
    let drawn = bodies(&harness);
    assert!((1..6).contains(&drawn), "{drawn} of 100 attempts");
    // Focusing a header that is out of sight scrolls to it and draws its contents.
    harness.get_by_label("Attempt 60 of 100, a step failed").focus();
    harness.run_ok();
    harness.get_by_label("Attempt 60 of 100, a step failed").scroll_to_me();
    harness.run_ok();
    assert!(shows(&harness, "Plan and run of attempt 60"));
    let drawn = bodies(&harness);
    assert!((1..8).contains(&drawn), "{drawn} of 100 attempts");
    let heights = |harness: &Harness<'_, Window>| {
        let last = harness.get_by_label("Attempt 100 of 100, a step failed");
        last.rect().top() - harness.get_by_label("Attempt 1 of 100, a step failed").rect().top()
    };
    let before = heights(&harness);
    harness.get_by_label("Attempt 100 of 100, a step failed").scroll_to_me();
    harness.run_ok();
    assert!((heights(&harness) - before).abs() < 2.0, "nothing jumps");
}
