//! Tests of where the parts of the page are, in small windows and when something appears.

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::ui::tests::{Window, window};
use crate::ui::{Action, Command, theme};

const SMALL: [f32; 2] = [900.0, 600.0];
const LARGE: [f32; 2] = [1280.0, 800.0];

fn row(harness: &Harness<'static, Window>, number: usize) -> egui::Rect {
    harness.get_by_label_contains(&format!("Step {number}: ")).rect()
}

#[test]
fn a_question_in_a_small_window_shows_the_command_and_every_answer() {
    for scene in ["guided", "guided-output", "guided-dangerous"] {
        let mut harness = window(scene, SMALL);
        harness.key_press(egui::Key::F8);
        harness.run_steps(8);
        let list = row(&harness, 3);
        let command = harness.query_all_by_role(Role::Button);
        let copy = command.filter(|it| list.x_range().contains(it.rect().center().x));
        let copies = copy.filter(|it| it.rect().top() > list.bottom()).count();
        assert!(copies >= 5, "{scene}: the command with its button, and four answers: {copies}");
        let run = if scene == "guided-dangerous" { "Run this step…" } else { "Run this step" };
        let answers = ["Deny and stop", "Skip this step", "Mark as done", run];
        let rects = answers.map(|name| harness.get_by_label(name).rect());
        for (index, rect) in rects.iter().enumerate() {
            assert!(list.x_range().contains(rect.left()), "{scene}: {rect:?}");
            assert!(list.x_range().contains(rect.right()), "{scene}: {rect:?} in {list:?}");
            let bar = SMALL[1] - theme::STATUS_BAR - theme::ACTION_BAR;
            assert!(rect.bottom() <= bar, "{scene}: above the bar: {rect:?}");
            let others = &rects[index + 1..];
            assert!(!others.iter().any(|other| rect.intersects(*other)), "{scene}: {rects:?}");
        }
    }
}

#[test]
fn a_small_window_has_room_for_steps() {
    for (scene, top) in [("plan", 210.0), ("running", 130.0)] {
        let first = row(&window(scene, SMALL), 1);
        assert!(first.top() < top, "{scene}: {first:?}");
    }
}

#[test]
fn the_list_does_not_move_when_the_run_begins() {
    let (before, during) = (window("authorized", LARGE), window("running", LARGE));
    assert_eq!(row(&before, 1), row(&during, 1));
    let can_choose = |harness: &Harness<'static, Window>| {
        harness.query_by_role_and_label(Role::Button, "asks when needed, choose").is_some()
    };
    assert!(can_choose(&before) && !can_choose(&during));
    assert!(during.query_by_label("asks when needed").is_some(), "the choice is still shown");
}

#[test]
fn a_notice_does_not_move_the_page() {
    let (without, with) = (window("plan", LARGE), window("notice", LARGE));
    assert!(with.query_by_label("Close this notice").is_some());
    assert_eq!(row(&without, 1), row(&with, 1));
}

#[test]
fn the_selected_step_stays_in_view_when_the_output_appears() {
    let mut harness = window("failed", SMALL);
    harness.get_by_label_contains("Step 5: ").click();
    harness.run_ok();
    let ctx = harness.ctx.clone();
    harness.state_mut().scene.play(&Action::Do(Command::ToggleOutput), &ctx);
    harness.run_ok();
    harness.run_steps(4);
    // The header has such a button, too.
    let tops = harness.query_all_by_label("Hide the output").map(|it| it.rect().top());
    let output = tops.fold(0.0, f32::max);
    assert!(row(&harness, 5).bottom() <= output, "{:?} above {output}", row(&harness, 5));
}

#[test]
fn a_command_has_one_verdict() {
    let mut harness = window("command", LARGE);
    let says = |harness: &Harness<'static, Window>, text| harness.query_by_label(text).is_some();
    for (step, is_safe) in [(1, true), (5, false)] {
        harness.get_by_label_contains(&format!("Step {step}: ")).click();
        harness.run_ok();
        let judged = says(&harness, "Its risk is judged by its words. It is not run beforehand.");
        let warned = says(&harness, "Its effect cannot be predicted.");
        assert_eq!((judged, warned), (is_safe, !is_safe), "step {step}");
    }
}

/// A wide window gives the list more room, the same on every page, unless the person chose a width.
#[test]
fn a_wide_window_has_a_wide_list() {
    let width = |scene: &str, size: [f32; 2], name: &str| {
        let harness = window(scene, size);
        let rect = harness.query_all_by_label_contains(name).next().unwrap().rect();
        rect.width() + 24.0
    };
    let run = "Run of Fix E0425 in the parser";
    for (size, expected) in
        [(SMALL, 208.0), (LARGE, 208.0), ([1600.0, 1000.0], 256.0), ([2560.0, 1440.0], 320.0)]
    {
        let found = width("plan", size, run);
        assert!((found - expected).abs() < 2.0, "{size:?}: {found}");
    }
    let loops = width("loop-completed", [1920.0, 1080.0], "Loop ");
    assert_eq!(width("plan", [1920.0, 1080.0], run), loops);
}

#[test]
fn a_row_of_a_run_names_its_workspace() {
    for size in [SMALL, [1920.0, 1080.0]] {
        let mut harness = window("plan", size);
        let parser = harness.get_by_label_contains("Run of Add tracing");
        let (parser, name) = (parser.rect(), parser.accesskit_node().label().unwrap());
        assert_eq!(name, "Run of Add tracing to the lexer, completed, …/src/parser, 14:02");
        harness.get_by_label_contains("failed, …/src/staging, 13:55").hover();
        harness.run_ok();
        assert!(harness.query_by_label_contains("in /home/ada/src/staging").is_some());
        let next = harness.get_by_label_contains("failed, …/src/staging, 13:55").rect();
        assert_eq!((parser.height(), next.top() - parser.bottom()), (42.0, 2.0), "two lines");
    }
}
