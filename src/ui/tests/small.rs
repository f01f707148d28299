//! Tests of every page and dialog in small windows: a window of 900×600 at 200 percent has 450×300 points.

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use super::{SCENES, Window, window};

const SMALLEST: [f32; 2] = [450.0, 300.0];
const SIZES: [[f32; 2]; 4] = [SMALLEST, [600.0, 400.0], [640.0, 480.0], [900.0, 600.0]];

fn has(harness: &Harness<'static, Window>, label: &str) -> bool {
    harness.query_all_by_label(label).next().is_some()
}

fn click(harness: &mut Harness<'static, Window>, label: &str) {
    harness.get_all_by_label(label).next().unwrap().click();
    harness.run_ok();
}

#[test]
fn no_control_is_beside_the_window() {
    for size in SIZES {
        for scene in [
            "plan",
            "invalid",
            "asking",
            "guided",
            "failed",
            "completed",
            "simulation",
            "empty",
            "returning",
            "terminal",
            "output",
            "evidence",
            "execution",
            "answer",
            "diagnostics",
            "loop",
            "loop-completed",
            "agent",
            "agent-waiting",
            "agent-failed",
            "dialog",
            "guided-dialog",
            "command-dialog",
            "authorize",
            "reject",
            "trust",
            "secret",
            "close",
            "palette",
            "help",
            "bug-report",
            "settings",
            "notice",
        ] {
            let harness = window(scene, size);
            let is_control =
                |role| matches!(role, Role::Button | Role::TextInput | Role::MultilineTextInput);
            let nodes = harness.root().children_recursive();
            for node in nodes.filter(|it| is_control(it.accesskit_node().role())) {
                let (rect, label) = (node.rect(), node.accesskit_node().label());
                let is_inside = rect.left() >= -0.5 && rect.right() <= size[0] + 0.5;
                assert!(is_inside, "{scene} at {size:?}: {label:?} at {rect:?}");
            }
        }
    }
}

#[test]
fn answers_of_a_dialog_do_not_overlap() {
    for (scene, run) in [("guided-dialog", "Run this step"), ("dialog", "Approve this step")] {
        let harness = window(scene, SMALLEST);
        let all = ["Deny and stop", "Skip this step", "Mark as done", run];
        let rects = all.map(|label| harness.query_all_by_label(label).last().map(|it| it.rect()));
        let rects: Vec<_> = rects.into_iter().flatten().collect();
        assert!(rects.len() >= 3, "{scene}");
        for (index, rect) in rects.iter().enumerate() {
            let others = &rects[index + 1..];
            assert!(!others.iter().any(|it| it.intersects(*rect)), "{scene}: {rects:?}");
            assert!(rect.bottom() <= SMALLEST[1], "{scene}: {rects:?}");
        }
    }
}

#[test]
fn the_plan_page_shows_the_steps_or_the_selected_one() {
    let mut harness = window("plan", SMALLEST);
    let step = harness.get_by_label_contains("Step 2: ").rect();
    assert!(step.width() > 390.0 && !has(&harness, "Arguments"), "{step:?}");
    harness.get_by_label_contains("Step 2: ").click();
    harness.run_ok();
    assert!(has(&harness, "Arguments") && has(&harness, "Step 2 of 5"));
    assert!(harness.query_by_label_contains("Step 2: ").is_none());
    click(&mut harness, "Show the steps");
    assert!(harness.query_by_label_contains("Step 2: ").is_some() && !has(&harness, "Arguments"));
    click(&mut harness, "Show the selected step");
    assert!(has(&harness, "Arguments"));
}

/// What leads to the next change or the next unseen part leads to the step.
#[test]
fn a_command_can_show_the_step() {
    let mut harness = window("plan", SMALLEST);
    crate::ui::plan::show_step(&harness.ctx);
    harness.run_ok();
    assert!(has(&harness, "Arguments"));
}

#[test]
fn the_output_has_the_room_of_the_steps() {
    let harness = window("output", SMALLEST);
    assert!(has(&harness, "Hide the output"));
    assert!(harness.query_by_label_contains("Step 2: ").is_none());
}

#[test]
fn the_list_at_the_left_is_folded() {
    for (scene, entry) in [("evidence", "Failures"), ("loop-completed", "Loops")] {
        let mut harness = window(scene, SMALLEST);
        assert!(!has(&harness, entry), "{scene}");
        click(&mut harness, "Show the list");
        assert!(has(&harness, entry), "{scene}");
        click(&mut harness, "Hide the list");
        assert!(!has(&harness, entry), "{scene}");
        assert!(has(&window(scene, [900.0, 600.0]), entry), "{scene}");
    }
}

#[test]
fn the_evidence_shows_the_results_or_one_execution() {
    assert!(has(&window("evidence", SMALLEST), "Search evidence"));
    let harness = window("execution", SMALLEST);
    assert!(has(&harness, "Close the execution") && !has(&harness, "Search evidence"));
}

#[test]
fn the_diagnostics_show_the_table_or_one_diagnostic() {
    let mut harness = window("diagnostics", SMALLEST);
    assert!(has(&harness, "Filter diagnostics") && !has(&harness, "Copy"));
    harness.get_all_by_label_contains("cannot find").next().unwrap().click();
    harness.run_ok();
    assert!(has(&harness, "Copy") && !has(&harness, "Filter diagnostics"));
    click(&mut harness, "Show all diagnostics");
    assert!(has(&harness, "Filter diagnostics"));
}

#[test]
fn the_parts_of_the_status_bar_do_not_overlap() {
    for width in [450.0, 500.0, 560.0, 640.0] {
        let harness = window("asking", [width, 400.0]);
        let rect = |label| harness.query_all_by_label(label).last().unwrap().rect();
        let (left, right) = (rect("2 of 5"), rect("evidence recorded"));
        assert!(left.right() <= right.left(), "{width}: {left:?} {right:?}");
    }
}

/// A step that waits for its answer is not reduced to what the list has left beside the output.
#[test]
fn a_question_fits_above_the_output_with_another_step() {
    let size = [1280.0, 800.0];
    let mut harness = window("guided-output", size);
    harness.key_press(egui::Key::F8);
    harness.run_steps(8);
    // The header has such a button, too.
    let tops = harness.query_all_by_label("Hide the output").map(|it| it.rect().top());
    let output = tops.fold(0.0, f32::max);
    let run = harness.get_by_label("Run this step").rect();
    assert!(run.bottom() <= output, "{run:?} above {output}");
    let steps = harness.query_all_by_label_contains("Step ").filter(|it| {
        let rect = it.rect();
        rect.height() > 40.0 && rect.top() > 150.0 && rect.bottom() <= output
    });
    assert!(steps.count() >= 2);
}

/// Where there is more, a thin bar says so; a fade would lie over buttons at the edge.
#[test]
fn nothing_fades_at_the_edge_of_a_list() {
    let harness = window("guided", [1280.0, 800.0]);
    for theme in [egui::Theme::Dark, egui::Theme::Light] {
        let scroll = harness.ctx.style_of(theme).spacing.scroll;
        assert_eq!(scroll.fade.strength, 0.0);
        assert!(scroll.dormant_handle_opacity > 0.3);
    }
}

#[test]
fn other_plans_are_reachable_beside_a_plan() {
    for size in [SMALLEST, [720.0, 480.0]] {
        let mut harness = window("plan", size);
        assert!(!has(&harness, "Open plan…"), "{size:?}");
        click(&mut harness, "Show the list");
        assert!(has(&harness, "Open plan…") && has(&harness, "Plans"), "{size:?}");
        harness.get_all_by_label_contains("Plan ").next().unwrap().click();
        harness.run_ok();
        assert!(!has(&harness, "Plans"), "{size:?}: the plan has the room again");
    }
}

/// Steps matter more than output that nobody asked for.
#[test]
fn output_that_opens_by_itself_leaves_the_steps() {
    // Returns the steps above the output, and whether the page closes it.
    let output = |size: [f32; 2], opened_by_itself: bool| {
        let mut harness = window("output", size);
        harness.state_mut().scene.output.opened_by_itself = opened_by_itself;
        harness.run_steps(2);
        let close = crate::ui::Action::Do(crate::ui::Command::ToggleOutput);
        let tops = harness.query_all_by_label("Hide the output").map(|it| it.rect().top());
        let top = tops.fold(0.0, f32::max);
        let steps = harness.query_all_by_label_contains("Step ").filter(|it| {
            let rect = it.rect();
            rect.left() < 400.0 && rect.height() > 40.0 && rect.bottom() <= top + 1.0
        });
        (steps.count(), harness.state().actions.contains(&close))
    };
    assert!(output([720.0, 400.0], true).1);
    assert!(!output([720.0, 400.0], false).1, "the person opened it");
    for size in [[720.0, 502.0], [900.0, 600.0], [1280.0, 822.0]] {
        let (steps, closes) = output(size, true);
        assert!(steps >= 4 && !closes, "{steps} steps at {size:?}");
    }
}

/// At 200 percent, a window of 1280×800 has 640×400 points, one of 900×600 has 450×300, and the smallest one 360×240.
#[test]
fn every_state_fits_at_twice_the_size() {
    let mut faults = Vec::new();
    for name in SCENES {
        for size in [[640.0, 400.0], [360.0, 240.0]] {
            let harness = window(name, size);
            let is_control =
                |role| matches!(role, Role::Button | Role::TextInput | Role::MultilineTextInput);
            let nodes = harness.root().children_recursive();
            for node in nodes.filter(|it| is_control(it.accesskit_node().role())) {
                let (rect, label) = (node.rect(), node.accesskit_node().label());
                // The smallest window may cut what stands beside something else; nothing begins outside of it.
                let is_inside = rect.left() >= -0.5 && rect.left() < size[0];
                let is_whole = size[0] < 400.0 || rect.right() <= size[0] + 0.5;
                if !is_inside || !is_whole {
                    faults.push(format!("{name} at {size:?}: {label:?} at {rect:?}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The answers of every dialog are in sight, at their whole size.
#[test]
fn the_answers_of_dialogs_are_in_sight_at_twice_the_size() {
    let mut faults = Vec::new();
    for (scene, answers) in [
        ("dialog", &["Deny and stop", "Approve this step"][..]),
        ("guided-dialog", &["Deny and stop", "Run this step"]),
        ("command-dialog", &["Deny and stop"]),
        ("authorize", &["Not now", "Authorize"]),
        ("authorize-walls", &["Not now", "Authorize"]),
        ("authorize-many", &["Not now", "Authorize"]),
        ("reject", &["Not now", "Reject"]),
        ("trust", &["Not now", "Trust these commands"]),
        ("loop-trust", &["Not now", "Trust these commands"]),
        ("remember-walls", &["Not now", "Grant to every plan"]),
        ("fill-in", &["Not now", "Apply and review"]),
        ("export", &["Not now", "Choose a file…"]),
        ("purge", &["Not now"]),
        ("close", &["Keep running", "Stop and close"]),
        ("session-rule", &["Not now", "Allow identical calls"]),
    ] {
        for size in [[640.0, 400.0], SMALLEST, [360.0, 240.0]] {
            let harness = window(scene, size);
            for answer in answers {
                let found = harness.query_all_by_role_and_label(Role::Button, answer).last();
                let Some(rect) = found.map(|it| it.rect()) else {
                    faults.push(format!("{scene} at {size:?}: no {answer}"));
                    continue;
                };
                let is_inside = rect.left() >= 0.0
                    && rect.top() >= 0.0
                    && rect.right() <= size[0]
                    && rect.bottom() <= size[1];
                if !is_inside {
                    faults.push(format!("{scene} at {size:?}: {answer} at {rect:?}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
