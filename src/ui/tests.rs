//! Tests of the window with example data: every state can be drawn, and the controls are found by name.

#[path = "../../examples/gallery/agent.rs"]
pub(crate) mod agent;
#[path = "../../examples/gallery/batch.rs"]
pub(crate) mod batch;
#[path = "../../examples/gallery/calls.rs"]
pub(crate) mod calls;
#[path = "../../examples/gallery/fixture.rs"]
pub(crate) mod fixture;
#[path = "../../examples/gallery/found.rs"]
pub(crate) mod found;
#[path = "../../examples/gallery/looking.rs"]
pub(crate) mod looking;
#[path = "../../examples/gallery/looping.rs"]
pub(crate) mod looping;
#[path = "../../examples/gallery/revert.rs"]
mod revert;
#[path = "../../examples/gallery/scene.rs"]
pub(crate) mod scene;
#[path = "../../examples/gallery/setting.rs"]
pub(crate) mod setting;
#[path = "../../examples/gallery/signing.rs"]
pub(crate) mod signing;

mod empty;
mod row_menus;
mod settings;
mod small;

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable};
use scene::Scene;

use super::action::Tab;
use super::{Action, Command, EvidenceAction, PlanAction};

pub(crate) struct Window {
    pub(crate) scene: Scene,
    pub(crate) actions: Vec<Action>,
}

pub(crate) fn window(name: &str, size: [f32; 2]) -> Harness<'static, Window> {
    let mut harness = Harness::builder()
        .with_size(size)
        .with_max_steps(64)
        .with_context_setup(super::theme::install)
        .build_ui_state(
            |ui, window: &mut Window| {
                let before = window.actions.len();
                super::window_ui(ui, &window.scene.view(), &mut window.actions);
                for action in &window.actions[before..] {
                    window.scene.play(action, ui.ctx());
                }
            },
            Window { scene: Scene::new(name), actions: Vec::new() },
        );
    harness.run_ok();
    harness
}

pub(crate) const SCENES: [&str; 142] = [
    "session",
    "session-many",
    "session-past",
    "session-rule",
    "plan",
    "authorized",
    "attempt",
    "attempt-failed",
    "running",
    "asking",
    "dialog",
    "dangerous",
    "guided",
    "guided-dangerous",
    "guided-dialog",
    "guided-ended",
    "guided-many",
    "guided-long",
    "guided-output",
    "failed",
    "completed",
    "invalid",
    "revert",
    "revert-conflict",
    "empty",
    "returning",
    "tour",
    "tour-dialog",
    "tour-second",
    "tour-evidence",
    "tour-end",
    "inbox",
    "inbox-many",
    "queue",
    "close-agent",
    "close-queue",
    "evidence",
    "brushed",
    "execution",
    "nothing",
    "team",
    "team-record",
    "team-connecting",
    "team-unreachable",
    "team-nothing",
    "authorize",
    "authorize-walls",
    "authorize-many",
    "reject",
    "remember-walls",
    "fill-in",
    "export",
    "exporting",
    "purge",
    "close",
    "secret",
    "terminal",
    "palette",
    "help",
    "help-code",
    "bug-report",
    "bug-report-collecting",
    "settings",
    "settings-asks",
    "settings-faulty",
    "settings-import",
    "settings-import-faulty",
    "rule",
    "notice",
    "notices",
    "diagnostics",
    "first",
    "changed",
    "gone",
    "clean",
    "unchecked",
    "answer",
    "recurring",
    "rejected-plans",
    "times",
    "times-many",
    "runs-to-compare",
    "compared",
    "file-history",
    "durations",
    "judged",
    "played",
    "simulation",
    "simulating",
    "simulation-failed",
    "simulation-empty",
    "stale",
    "viewer-text",
    "viewer-colours",
    "viewer-tree",
    "viewer-table",
    "viewer-diff",
    "viewer-hex",
    "viewer-part",
    "viewer-sealed",
    "viewer-empty",
    "output",
    "output-step",
    "output-many",
    "output-failed",
    "output-empty",
    "command",
    "command-running",
    "command-dialog",
    "command-failed",
    "command-trying",
    "agent",
    "agent-working",
    "loop",
    "loop-filled",
    "loop-faulty",
    "loop-class",
    "loop-refused",
    "loop-nowhere",
    "loop-unverified",
    "loop-many",
    "loop-untrusted",
    "loop-trusted",
    "loop-trust",
    "loop-close",
    "loop-planning",
    "loop-waiting",
    "loop-applying",
    "loop-stopping",
    "loop-interrupted",
    "loop-crowded",
    "loop-completed",
    "loop-planner_rejected_non_retryable",
    "loop-planner_rejected_retry_budget_exhausted",
    "loop-action_failed_retryable",
    "loop-action_failed_non_retryable",
    "loop-verify_failed",
    "loop-retry_budget_exhausted",
    "loop-operator_stopped",
    "loop-runner_internal_error",
    "loop-not_authorized",
    "loop-no_progress",
];

#[test]
fn every_state_draws_at_every_size() {
    for name in SCENES {
        for size in [[1280.0, 800.0], [720.0, 480.0], [2560.0, 1440.0]] {
            let harness = window(name, size);
            // In every state the button for all commands is visible.
            assert!(harness.query_all_by_label("Commands").next().is_some(), "{name} at {size:?}");
        }
    }
}

#[test]
fn every_button_has_a_name() {
    for name in SCENES {
        let harness = window(name, [1280.0, 800.0]);
        let nameless = harness
            .query_all_by_role(Role::Button)
            .filter(|node| node.accesskit_node().label().is_none_or(|name| name.trim().is_empty()))
            .count();
        assert_eq!(nameless, 0, "{name}");
    }
}

#[test]
fn nothing_but_a_dialog_repaints_an_idle_window() {
    for name in [
        "plan",
        "authorized",
        "failed",
        "evidence",
        "empty",
        "help",
        "simulation",
        "viewer-text",
        "viewer-tree",
        "viewer-table",
        "output-many",
        "agent-waiting",
        "loop",
        "loop-completed",
        "loop-crowded",
    ] {
        let mut harness = window(name, [1280.0, 800.0]);
        harness.step();
        let delay = harness.output().viewport_output[&egui::ViewportId::ROOT].repaint_delay;
        assert!(delay > std::time::Duration::from_secs(60), "{name}: {delay:?}");
    }
}

#[test]
fn click_and_arrow_key_select_a_step() {
    let mut harness = window("plan", [1280.0, 800.0]);
    harness.get_by_label("Step 5: Create CHANGELOG.md, not run yet, caution").click();
    harness.run_ok();
    let chosen = |harness: &Harness<'_, Window>| harness.state().actions.last().cloned();
    assert_eq!(chosen(&harness), Some(Action::Plan(PlanAction::SelectStep(4))));
    harness.key_press(egui::Key::ArrowUp);
    harness.run_ok();
    assert_eq!(chosen(&harness), Some(Action::Do(Command::PreviousStep)));
}

#[test]
fn shortcuts_wait_while_text_is_typed() {
    let mut harness = window("evidence", [1280.0, 800.0]);
    harness.get_by_label("Search evidence").focus();
    harness.run_ok();
    harness.get_by_label("Search evidence").type_text("x");
    harness.run_ok();
    let text = "function after:2026-11-01x".to_owned();
    assert!(harness.state().actions.contains(&Action::Evidence(EvidenceAction::Edit(text))));
    harness.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::K);
    harness.run_ok();
    assert!(harness.state().actions.contains(&Action::Do(Command::Palette)));
}

#[test]
fn each_inspector_tab_shows_its_part() {
    let mut harness = window("completed", [1280.0, 800.0]);
    for (name, tab, found) in [
        ("Arguments", Tab::Arguments, "contents"),
        ("Output", Tab::Output, "pub struct Parser<'a> {"),
        ("Diagnostics", Tab::Diagnostics, "No diagnostics"),
        ("Artifacts", Tab::Artifacts, "Copy diff"),
        ("Did", Tab::WillDo, "Copy diff"),
    ] {
        // A page has the same name as one of the tabs and comes first, so the last match is the tab.
        harness.query_all_by_role_and_label(Role::Tab, name).last().unwrap().click();
        harness.run_ok();
        assert!(harness.state().actions.contains(&Action::Plan(PlanAction::ShowTab(tab))));
        assert!(harness.query_all_by_label(found).next().is_some(), "{name}");
    }
}

// The page shows the findings of the plan.
#[test]
fn a_faulty_plan_cannot_be_authorized() {
    let harness = window("invalid", [1280.0, 800.0]);
    for text in [
        "There is no tool \"file_wirte\". Did you mean \"file_write\"?",
        "E201 error · step 3, tool · line 14, column 7",
    ] {
        assert!(harness.query_by_label(text).is_some(), "{text}");
    }
    let authorize = harness.get_by_label("Authorize…");
    assert!(authorize.accesskit_node().is_disabled());
    // Nothing is claimed about a step that could not be parsed.
    assert!(harness.query_all_by_label_contains("worst:").next().is_none());
    assert!(harness.query_by_label("1 step faulty").is_some());
}

#[test]
fn a_facet_narrows_the_search() {
    let mut harness = window("evidence", [1280.0, 800.0]);
    harness.get_by_label("failed 12").click();
    harness.run_ok();
    let text = "function after:2026-11-01 outcome:failed".to_owned();
    assert!(harness.state().actions.contains(&Action::Evidence(EvidenceAction::Search(text))));
}

#[test]
fn only_visible_results_are_drawn() {
    let harness = window("evidence", [1280.0, 800.0]);
    let drawn = harness.query_all_by_label_contains("file_read crates/core").count();
    assert!((5..30).contains(&drawn), "{drawn} of 55 rows");
}

#[test]
fn only_visible_steps_are_drawn() {
    let harness = window("large", [1280.0, 800.0]);
    let drawn = harness.query_all_by_label_contains("Step ").count();
    assert!((8..30).contains(&drawn), "{drawn} of 10,000 rows");
}

#[test]
fn a_connection_test_is_shown_and_can_stop() {
    let mut harness = window("command-trying", [1280.0, 800.0]);
    assert!(harness.query_by_label("Trying deploy@web-1.example.org…").is_some());
    assert!(harness.query_by_label("Try the connection").is_none());
    harness.get_by_label("Stop trying").click();
    harness.run_ok();
    assert!(harness.state().actions.contains(&Action::Do(Command::StopTrying)));
}

#[test]
fn palette_runs_a_command_by_name() {
    let mut harness = window("palette", [1280.0, 800.0]);
    harness.get_by_label("Find a command").type_text("help");
    harness.run_ok();
    harness.key_press(egui::Key::Enter);
    harness.run_ok();
    assert!(harness.state().actions.contains(&Action::Do(Command::Help)));
}

#[test]
fn the_stop_key_works_over_a_question() {
    let mut harness = window("dialog", [1280.0, 800.0]);
    harness.get_by_label("Approve this step");
    let keys = egui::Modifiers { shift: true, ..egui::Modifiers::COMMAND };
    harness.key_press_modifiers(keys, egui::Key::Period);
    harness.run_ok();
    assert!(harness.state().actions.contains(&Action::Do(Command::StopNow)));
}

/// Whoever presses it a moment too late starts nothing with it, on any keyboard: in French, Shift and the key of the period
/// write a slash.
#[test]
fn the_stop_key_does_nothing_else() {
    let chosen = [("help".to_owned(), "Ctrl+/".to_owned())].into();
    let shortcuts = crate::run::settings::Shortcuts::of(&chosen).unwrap();
    for (scene, stops) in [("dialog", true), ("unseen", false)] {
        let mut harness = window(scene, [1280.0, 800.0]);
        let situation = harness.state().scene.view().situation;
        assert_eq!((Command::StopNow.spec().unavailable)(&situation).is_none(), stops, "{scene}");
        super::commands::set_shortcuts(&harness.ctx, shortcuts.clone());
        harness.state_mut().actions.clear();
        for alt in [false, true] {
            for key in [egui::Key::Period, egui::Key::Slash] {
                let modifiers = egui::Modifiers {
                    shift: true,
                    alt: alt && key == egui::Key::Period,
                    ctrl: true,
                    ..egui::Modifiers::COMMAND
                };
                let (physical_key, pressed, repeat) = (Some(egui::Key::Period), true, false);
                harness.event(egui::Event::Key { key, physical_key, pressed, repeat, modifiers });
                harness.run_ok();
            }
        }
        let done: Vec<_> =
            harness.state().actions.iter().filter(|it| matches!(it, Action::Do(_))).collect();
        let stop = Action::Do(Command::StopNow);
        assert_eq!(done, vec![&stop; if stops { 4 } else { 0 }], "{scene}");
    }
}

#[test]
fn results_are_opened_and_closed_by_key() {
    let mut harness = window("execution", [1280.0, 800.0]);
    harness.key_press(egui::Key::ArrowDown);
    harness.run_ok();
    assert!(harness.state().actions.contains(&Action::Do(Command::NextStep)));
    harness.key_press(egui::Key::Escape);
    harness.run_ok();
    assert!(harness.state().actions.contains(&Action::Evidence(EvidenceAction::CloseDetail)));
}

// A frame that changes nothing lays nothing out again.
#[test]
fn a_megabyte_is_laid_out_once() {
    let line = "x".repeat(1 << 20);
    let lines = "fn heron() -> u32 { 52_428_800 }  // and more\n".repeat(20_000);
    for (text, tab) in [(&line, Tab::Arguments), (&lines, Tab::Arguments), (&lines, Tab::WillDo)] {
        let mut harness = window("plan", [1280.0, 800.0]);
        let scene = &mut harness.state_mut().scene;
        scene.show_contents(text, tab);
        let mut times = Vec::new();
        for _ in 0..12 {
            let start = std::time::Instant::now();
            harness.step();
            times.push(start.elapsed());
        }
        let steady = times[2..].iter().min().unwrap();
        println!("{tab:?}: first {:?}, then {steady:?}", times[0].max(times[1]));
        assert!(*steady * 4 < times[0].max(times[1]), "{tab:?}: {times:?}");
    }
}

#[test]
fn the_inspector_keeps_inside_the_smallest_window() {
    for name in ["plan", "failed", "running", "completed"] {
        let mut harness = window(name, [720.0, 480.0]);
        // The step of the run is over.
        let first = if name == "plan" || name == "running" { "Will do" } else { "Did" };
        for tab in [first, "More tabs"] {
            let role = if tab == first { Role::Tab } else { Role::Button };
            let rect = harness.get_by_role_and_label(role, tab).rect();
            assert!(rect.right() <= 720.0, "{name}: {tab} ends at {}", rect.right());
        }
        // The list of steps must not overlap the inspector.
        let rows = harness.query_all_by_label_contains("Step 1: ").next().unwrap().rect();
        let tabs = harness.get_by_role_and_label(Role::Tab, first).rect();
        assert!(rows.right() <= tabs.left(), "{name}: {rows:?} over {tabs:?}");
        // Tabs that do not fit are in the menu.
        for tab in ["Artifacts", "Evidence"] {
            harness.get_by_role_and_label(Role::Button, "More tabs").click();
            harness.run();
            let choice = |harness: &Harness<'_, Window>| {
                let found = harness.query_all_by_role_and_label(Role::MenuItem, tab);
                found.filter(|node| node.rect().top() > 64.0).map(|node| node.rect()).next_back()
            };
            let rect = choice(&harness).unwrap_or_else(|| panic!("{name}: {tab} in the menu"));
            assert!(rect.right() <= 720.0 && rect.bottom() <= 480.0, "{name}: {tab} {rect:?}");
            harness.get_by_role_and_label(Role::Button, "More tabs").click();
            harness.run();
        }
    }
}

// The remark that the revert would fail is above the diff, and no path wraps.
#[test]
fn a_small_window_shows_a_failing_revert() {
    let harness = window("revert-conflict", [900.0, 600.0]);
    let rect = |text: &str| {
        let found = harness.query_all_by_label_contains(text).last();
        found.unwrap_or_else(|| panic!("{text}")).rect()
    };
    let (remark, path) = (rect("Would fail: src/lib.rs"), rect("src/lib.rs  +1"));
    assert!(remark.bottom() < path.top(), "{remark:?} {path:?}");
    assert!(path.height() < 24.0, "one line: {path:?}");
    assert!(rect("Side by side").bottom() <= path.top());
    assert!(harness.query_all_by_label_contains("Undo run:6f1d9a70").next().is_some());
    let full_id = fixture::run_id().to_string();
    assert!(harness.query_all_by_label_contains(&format!("Undo run:{full_id}")).next().is_none());
    // In a wide window the path and the choice share one line.
    let harness = window("revert", [1280.0, 800.0]);
    let top = |text: &str| harness.query_all_by_label_contains(text).last().unwrap().rect().top();
    assert!((top("src/lib.rs  +1") - top("Side by side")).abs() < 8.0);
}
