//! Simulating a plan from the window.

use super::*;
use crate::run::Failure;
use crate::ui::plan::Effect;

/// The outcome of the shown plan's simulation.
fn outcome(app: &App) -> Option<&Result<Effect, Failure>> {
    app.plan.shown.as_ref()?.simulation.as_ref()?.outcome.as_ref()
}

/// Simulates the shown plan, and waits for the outcome.
fn simulate(bench: &mut Bench) {
    bench.act(Action::Do(Command::Simulate));
    assert!(bench.app.view().plan.unwrap().simulation.is_some(), "shown before its outcome");
    bench.wait_until("a simulation", |app| outcome(app).is_some());
}

#[test]
fn a_plan_is_simulated_without_authorization() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    assert_eq!(bench.session().approval, Approval::None);
    simulate(&mut bench);
    let simulation = outcome(&bench.app).unwrap().as_ref().unwrap();
    let paths: Vec<_> = simulation.changes.iter().map(|change| &*change.path).collect();
    assert_eq!(paths, ["a.txt", "b.txt"]);
    assert_eq!(simulation.previews.len(), 3);
    let folder = plan.parent().unwrap();
    assert_eq!(std::fs::read_to_string(folder.join("a.txt")).unwrap(), "bittern\n");
    assert!(!folder.join("b.txt").exists(), "no file was written");
    let evidence = &bench.app.shared.setup.location.evidence;
    assert!(!evidence.join("execution_log.db").exists(), "nothing was recorded");
    bench.act(Action::Plan(PlanAction::CloseSimulation));
    assert!(bench.app.view().plan.unwrap().simulation.is_none());
    simulate(&mut bench);
    bench.authorize();
    assert!(bench.app.view().plan.unwrap().simulation.is_some(), "shown until the run");
    bench.act(Action::Do(Command::Run));
    assert!(bench.app.view().plan.unwrap().simulation.is_none(), "a run shows its steps");
    bench.wait_for_confirmation(1);
    bench.answer(1, Decision::Cancel);
    bench.wait_for_end();
}

#[test]
fn a_simulation_becomes_stale_by_changes() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    simulate(&mut bench);
    let stale = |app: &App| app.plan.shown.as_ref().unwrap().simulation.as_ref().unwrap().stale;
    bench.act(Action::Do(Command::Reload));
    let reviewed = |app: &App| !app.shared.pending.has::<crate::worker::ReviewPlan>();
    bench.wait_until("the same review", reviewed);
    assert!(!stale(&bench.app), "nothing has changed");
    bench.file("a.txt", "heron\n");
    bench.act(Action::Do(Command::Reload));
    bench.wait_until("another file", stale);
    simulate(&mut bench);
    assert!(!stale(&bench.app), "a new simulation is not stale");
    bench.file("plan.json", &PLAN.replace("kingfisher", "egret"));
    bench.act(Action::Do(Command::Reload));
    bench.wait_until("another plan", stale);
}

#[test]
fn a_failed_simulation_says_why() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    // The review names a workspace that does not exist.
    let gone = bench.workspace.path().join("gone");
    let mut review = (**bench.session().opened.review.as_ref().unwrap()).clone();
    review.workspace = gone;
    bench.app.plan.shown.as_mut().unwrap().opened.review = Some(Arc::new(review));
    simulate(&mut bench);
    let failure = outcome(&bench.app).unwrap().as_ref().unwrap_err();
    assert!(failure.message.contains("gone"), "{failure:?}");
    assert!(bench.app.shared.notices.is_empty(), "the failure is shown as the outcome");
    let broken = bench.file("broken.json", "{");
    bench.open(&broken);
    assert!((Command::Simulate.spec().unavailable)(&bench.app.situation()).is_some());
}
