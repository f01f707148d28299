//! Tests of the plan page in narrow windows, and in windows that are small because of the zoom.

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;

use crate::ui::tests::{Window, window};

/// Half of 1280×800: that window at a zoom of 200 percent.
const HALF: [f32; 2] = [640.0, 400.0];

/// A truncated text would be shown whole when the pointer rests on it.
fn is_shown_whole(harness: &mut Harness<'static, Window>, bar: &str) -> bool {
    harness.get_by_label_contains(bar).hover();
    harness.run_ok();
    harness.query_all_by_label_contains(bar).count() == 1
}

#[test]
fn a_bar_has_words_for_its_state_and_main_button() {
    for width in [900.0, 950.0] {
        let size = [width, 600.0];
        let mut running = window("running", size);
        assert!(is_shown_whole(&mut running, "Running step 3 of 5. "), "{width}");
        let mut asking = window("asking", size);
        assert!(is_shown_whole(&mut asking, "Waiting for you. "), "{width}");
        assert!(asking.query_by_label_contains("Answer").is_some(), "{width}");
        let mut completed = window("completed", size);
        assert!(is_shown_whole(&mut completed, "Completed. "), "{width}");
        let failed = window("failed", size);
        let bar = failed.get_by_label_contains("Failed at step").rect();
        assert!(bar.width() > 120.0, "{width}: {bar:?}");
        assert!(failed.query_by_label("Continue…").is_some(), "{width}");
    }
}

/// The click after *Next unseen* must not meet another button.
#[test]
fn the_button_to_reject_stays_when_every_step_was_seen() {
    for width in [900.0, 950.0, 1_280.0] {
        let rect = |scene: &str| {
            let harness = window(scene, [width, 600.0]);
            harness.get_by_label("Reject…").rect()
        };
        assert_eq!(rect("plan"), rect("unseen"), "{width}");
    }
}

#[test]
fn commands_without_room_are_in_a_menu() {
    let mut harness = window("command-failed", [900.0, 600.0]);
    assert!(harness.query_by_label("Roll back…").is_none());
    harness.get_by_label("More commands").click();
    harness.run_ok();
    assert!(harness.query_by_label("Roll back…").is_some());
}

#[test]
fn at_double_size_the_name_the_steps_and_the_bar_can_be_read() {
    for scene in ["plan", "command"] {
        let mut harness = window(scene, HALF);
        assert!(harness.query_by_label("Plans").is_none(), "the list of plans has no room");
        let bar = harness.get_by_label_contains("Not authorized.").rect();
        let steps = harness.query_all_by_label_contains("Step ");
        let steps = steps.filter(|it| {
            let rect = it.rect();
            rect.left() < 46.0 && rect.height() > 40.0 && rect.bottom() <= bar.top()
        });
        assert!(steps.count() >= 2, "{scene}");
        let button = harness.get_by_label("Authorize…").rect();
        assert!(
            bar.left() >= 0.0 && bar.width() > 120.0 && bar.right() <= button.left(),
            "{bar:?}"
        );
        let name = harness.state().scene.plan.name().to_owned();
        assert!(harness.get_by_label(&name).rect().width() > 120.0, "{scene}");
        let digest = "Copy the plan's digest";
        assert!(harness.query_by_label(digest).is_none(), "{scene}");
        harness.get_by_label("Show what the plan is").click();
        harness.run_ok();
        assert!(harness.query_by_label(digest).is_some(), "{scene}");
    }
}
