//! Simulating a plan from the window.

use super::*;
use crate::run::Failure;
use crate::ui::plan::Effect;

fn outcome(app: &App) -> Option<&Result<Effect, Failure>> {
    app.plan.shown.as_ref()?.simulation.as_ref()?.outcome.as_ref()
}

fn simulate(bench: &mut Bench) {
    bench.act(Action::Do(Command::Simulate));
    assert!(bench.app.view().plan.unwrap().simulation.is_some(), "shown from the click on");
    bench.until("a simulation", |app| outcome(app).is_some());
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
    assert!(!folder.join("b.txt").exists(), "nothing was touched");
    assert!(bench.app.plan.runs.is_empty(), "and nothing was run");
    assert!(
        !bench.app.shared.setup.location.evidence.join("execution_log.db").exists(),
        "nor recorded"
    );
    bench.act(Action::Plan(PlanAction::CloseSimulation));
    assert!(bench.app.view().plan.unwrap().simulation.is_none());
    simulate(&mut bench);
    bench.authorize();
    assert!(bench.app.view().plan.unwrap().simulation.is_some(), "to sign for what is shown");
    bench.act(Action::Do(Command::Run));
    assert!(bench.app.view().plan.unwrap().simulation.is_none(), "a run is looked at by its steps");
    bench.asked(1);
    bench.answer(1, Decision::Cancel);
    bench.ended();
}

#[test]
fn a_simulation_becomes_stale_by_changes() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    simulate(&mut bench);
    let stale = |app: &App| app.plan.shown.as_ref().unwrap().simulation.as_ref().unwrap().stale;
    bench.act(Action::Do(Command::Reload));
    let reviewed = |app: &App| !app.shared.pending.has::<crate::worker::OpenPlan>();
    bench.until("the same review", reviewed);
    assert!(!stale(&bench.app), "nothing has changed");
    bench.file("a.txt", "heron\n");
    bench.act(Action::Do(Command::Reload));
    bench.until("another file", stale);
    simulate(&mut bench);
    assert!(!stale(&bench.app), "as things are now");
    bench.file("plan.json", &PLAN.replace("kingfisher", "egret"));
    bench.act(Action::Do(Command::Reload));
    bench.until("another plan", stale);
}

#[test]
fn a_failed_simulation_says_why() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    // The workspace is removed without a new review.
    let gone = bench.workspace.path().join("gone");
    let mut review = (**bench.session().opened.review.as_ref().unwrap()).clone();
    review.workspace = gone;
    bench.app.plan.shown.as_mut().unwrap().opened.review = Some(Arc::new(review));
    simulate(&mut bench);
    let failure = outcome(&bench.app).unwrap().as_ref().unwrap_err();
    assert!(failure.message.contains("gone"), "{failure:?}");
    assert!(bench.app.shared.notices.is_empty(), "it is said where it was asked");
    let broken = bench.file("broken.json", "{");
    bench.open(&broken);
    assert!((Command::Simulate.spec().unavailable)(&bench.app.situation()).is_some());
}
