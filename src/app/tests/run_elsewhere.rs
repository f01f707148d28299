//! A run of another window is looked at, never controlled, and followed to its end.

use super::two_windows::other_window;
use super::*;
use crate::run::{Control, RunFate};
use crate::ui::plan::{Bar, bar};

const TITLE: &str = "Runs in another window";

fn bar_of(app: &App) -> Bar {
    let view = app.view();
    bar(view.plan.as_ref().expect("a plan"), &view.situation)
}

fn phase(app: &App) -> Option<Phase> {
    app.plan.shown.as_ref().map(|session| session.run.phase.clone())
}

/// A window whose run asks about step 2, and another window that shows this run from the list.
fn two_windows() -> (Bench, App, Receiver<()>) {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    let (mut other, woken) = other_window(&bench, None);
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    wait_until(&mut other, &woken, "the run", |app| !app.plan.runs.is_empty());
    let run_id = other.plan.runs[0].run_id;
    other.apply(Action::Plan(PlanAction::OpenRun(run_id)), &bench.ctx);
    wait_until(&mut other, &woken, "opened", |app| app.plan.shown.is_some());
    (bench, other, woken)
}

#[test]
fn a_run_of_another_window_has_no_controls() {
    let (mut bench, mut other, woken) = two_windows();
    wait_until(&mut other, &woken, "the first step", |app| {
        app.plan.shown.as_ref().unwrap().run.steps.done() == 1
    });
    let shown = bar_of(&other);
    assert_eq!((shown.title.as_str(), shown.primary), (TITLE, None));
    assert_eq!(shown.others, []);
    assert!(shown.detail.starts_with("Step 2 of 3."), "{}", shown.detail);
    let status = other.view().status;
    assert_eq!((status.text.as_str(), status.leads_to), (TITLE, None));
    assert!(!other.is_busy() && other.waiting().is_empty() && other.plan.running().is_none());
    let situation = other.situation();
    let controls = [
        Command::Pause,
        Command::Resume,
        Command::GoOnGuided,
        Command::CancelAfterStep,
        Command::StopNow,
        Command::AnswerStep,
        Command::FollowRun,
    ];
    for command in controls {
        let why_not = (command.spec().unavailable)(&situation).unwrap_or_default();
        assert!(why_not.contains("another window"), "{command:?}: {why_not}");
        other.apply(Action::Do(command), &bench.ctx);
    }
    other.control(Control::StopNow);
    assert_eq!(other.plan.shown.as_ref().unwrap().run.requested, None);
    assert!(other.situation().not_authorizable.unwrap().contains("another window"));

    // It follows the run, step by step, and stays at a step that the person selects.
    bench.answer(1, Decision::Approve);
    bench.wait_for_confirmation(2);
    wait_until(&mut other, &woken, "the second step", |app| {
        let session = app.plan.shown.as_ref().unwrap();
        session.run.steps.done() == 2 && session.pane.selected == 2
    });
    assert_eq!(bar_of(&other).title, TITLE);
    other.apply(Action::Plan(PlanAction::SelectStep(0)), &bench.ctx);
    bench.answer(2, Decision::Approve);
    bench.wait_for_end();
    let completed = Some(Phase::Ended(RunStatus::Completed));
    wait_until(&mut other, &woken, "its end", |app| phase(app) == completed);
    let session = other.plan.shown.as_ref().unwrap();
    assert!(session.elapsed_ms.is_some());
    assert_eq!(session.pane.selected, 0);
    let steps = session.output.transcript.lines().iter().map(|line| line.step_index);
    assert_eq!(steps.collect::<std::collections::BTreeSet<_>>(), (0..3).collect(), "its output");
    assert_eq!(bar_of(&other).others, [Command::RunAgain, Command::Revert]);
    assert_eq!(other.view().status.text, "Completed");
    // On another page, the end of a run that the person has seen is no news.
    other.apply(Action::Do(Command::GoEvidence), &bench.ctx);
    assert_eq!(other.view().status.text, "Ready");
    other.apply(Action::Do(Command::GoPlan), &bench.ctx);
    assert_eq!(other.view().status.text, "Completed");
}

#[test]
fn an_interrupted_run_of_another_window_is_shown_as_such() {
    let (mut bench, mut other, woken) = two_windows();
    assert_eq!(bar_of(&other).title, TITLE);
    bench.app.shared.setup.faults.plant("worker");
    bench.answer(1, Decision::Approve);
    bench.wait_until("the crash", |app| phase(app) == Some(Phase::Interrupted));
    wait_until(&mut other, &woken, "its end", |app| phase(app) == Some(Phase::Interrupted));
    assert!(bar_of(&other).title.starts_with("Interrupted"));
    assert!(other.view().status.text.starts_with("Interrupted"));
    wait_until(&mut other, &woken, "the list", |app| app.plan.runs[0].fate == RunFate::Interrupted);
}

/// What is opened afterwards is not taken for the run, and still warns about it.
#[test]
fn a_plan_opened_after_a_run_of_another_window_is_not_that_run() {
    let (mut bench, mut other, woken) = two_windows();
    let plan = bench.file("other.json", &PLAN.replace("two-writes", "other"));
    other.apply(Action::Plan(PlanAction::Open(plan.clone())), &bench.ctx);
    wait_until(&mut other, &woken, "the plan", |app| {
        app.plan.shown.as_ref().unwrap().path() == Some(&*plan)
    });
    assert!(other.plan.live.is_none());
    assert_eq!(bar_of(&other).title, "Not authorized");
    assert_eq!(other.view().status.text, "Ready");
    let view = other.view();
    assert!(view.plan.unwrap().other_runs.unwrap().contains("(Two writes)"));
    bench.answer(1, Decision::Cancel);
    bench.wait_for_end();
}

/// The bar of a plan that is shown while another one runs here does not count the steps of the wrong one.
#[test]
fn the_bar_of_another_plan_has_no_steps_of_the_run() {
    let (mut bench, plan) = bench();
    let other = bench.file("other.json", r#"{"goal": "g", "steps": [{"command": "ls"}]}"#);
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    bench.open(&other);
    // What waits of the run does not take the place of a decision about this plan.
    let shown = bar_of(&bench.app);
    assert_eq!(shown.primary, Some(Command::Authorize));
    for command in [Command::AnswerStep, Command::Reject] {
        assert!(shown.others.contains(&command), "{command:?}");
    }
    bench.app.plan.live.as_mut().unwrap().run.phase = Phase::Running;
    let shown = bar_of(&bench.app);
    assert_eq!(shown.title, "Another plan runs");
    assert!(shown.others.contains(&Command::StopNow));
    bench.act(Action::Do(Command::StopNow));
    bench.wait_until("the end of the run", |app| app.plan.running().is_none());
}
