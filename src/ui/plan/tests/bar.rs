//! Tests of clicks on the bar while its buttons change.

use egui::{Event, Modifiers, PointerButton, Pos2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;

use crate::ui::plan::{Bar, bar_ui};
use crate::ui::tests::window;
use crate::ui::{Action, Command, Commands, Situation, Tone, icon};

#[derive(Default)]
struct Shown {
    situation: Situation,
    actions: Vec<Action>,
}

/// A bar with *Run*, and with *Stop now* in the same place as soon as the run has begun.
fn shown_ui(ui: &mut egui::Ui, shown: &mut Shown) {
    let Shown { situation, actions } = shown;
    let command = if situation.running { Command::StopNow } else { Command::Run };
    let bar = Bar {
        icon: icon::SEAL,
        tone: Tone::Plain,
        title: String::new(),
        detail: String::new(),
        more: String::new(),
        primary: None,
        others: vec![command],
    };
    bar_ui(ui, &bar, &mut Commands { situation, actions });
    let has_begun = shown.actions.contains(&Action::Do(Command::Run));
    shown.situation.running |= has_begun;
}

fn click(harness: &mut Harness<'_, Shown>, pos: Pos2) {
    for pressed in [true, false] {
        let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
        harness.event(Event::PointerMoved(pos));
        harness.event(Event::PointerButton { pos, button, pressed, modifiers });
        harness.step();
    }
}

#[test]
fn the_second_click_of_a_double_click_on_run_does_not_stop_the_run() {
    let situation = Situation { approved: true, plan_open: true, ..Situation::default() };
    let shown = Shown { situation, ..Shown::default() };
    let builder = Harness::builder().with_size([500.0, 58.0]).with_step_dt(0.05);
    let mut harness =
        builder.with_context_setup(crate::ui::theme::install).build_ui_state(shown_ui, shown);
    let run = harness.get_by_label("Run").rect();
    // The bar has been there for a while.
    harness.run_steps(20);
    click(&mut harness, run.center());
    harness.step();
    let stop = harness.get_by_label("Stop now").rect();
    assert!(stop.contains(run.center()), "{stop:?} is where {run:?} was");
    click(&mut harness, run.center());
    assert_eq!(harness.state().actions, [Action::Do(Command::Run)]);
    // A click that is meant for it counts.
    harness.run_steps(20);
    click(&mut harness, run.center());
    assert_eq!(harness.state().actions.last(), Some(&Action::Do(Command::StopNow)));
}

/// The success of the run alone would hide that the loop did not reach its goal, and waits.
#[test]
fn the_bar_of_a_run_says_how_its_loop_went_on() {
    for size in [[900.0, 600.0], [1280.0, 800.0]] {
        let mut harness = window("attempt-failed", size);
        assert!(harness.query_by_label("Verification failed. Attempt 2 waits for you.").is_some());
        assert!(harness.query_by_label("Authorize again…").is_none());
        harness.get_by_label("Look at the plan").click();
        harness.run_ok();
        let actions = &harness.state().actions;
        assert_eq!(actions.last(), Some(&Action::Do(Command::OpenAttempt)));
    }
}

#[test]
fn what_waits_is_reached_from_the_status_bar() {
    let mut harness = window("asking", [1280.0, 800.0]);
    harness.get_by_label_contains("Waiting for you: step").click();
    harness.run_ok();
    assert_eq!(harness.state().actions.last(), Some(&Action::Do(Command::AnswerStep)));
}

/// A plan that takes changes back opens with a click, and its bar has other buttons.
#[test]
fn rejecting_a_revert_is_not_where_it_was_asked_for() {
    for size in [[900.0, 600.0], [1280.0, 800.0]] {
        let asked = window("completed", size).get_by_label("Revert…").rect();
        let harness = window("revert", size);
        let reject = harness.get_by_label("Reject…").rect();
        assert!(!reject.intersects(asked), "{size:?}: {reject:?} is where {asked:?} was");
        let goes_on = ["Next unseen", "Authorize…"].map(|it| harness.query_by_label(it));
        let goes_on = goes_on.into_iter().flatten().next().unwrap().rect();
        assert!(goes_on.right() >= asked.right() - 1.0, "{size:?}: {goes_on:?}");
    }
}
