//! All steps of the plan on the page are previewed in the background.

use super::*;
use crate::run::PreviewProgress;
use crate::ui::plan::StepKind;

/// Writes `a.txt`, and creates `b.txt` and `c.txt`.
const CREATES: &str = r#"{
  "plan_id": "creates", "intent": "MUTATE", "title": "Create two files",
  "steps": [
    {"step_id": "one", "tool": "file_write", "arguments": {"path": "a.txt", "contents": "heron\negret\n"}},
    {"step_id": "two", "tool": "file_create", "arguments": {"path": "b.txt", "contents": "heron\n"}},
    {"step_id": "three", "tool": "file_create", "arguments": {"path": "c.txt", "contents": "heron\n"}}
  ]
}"#;

fn bench() -> Bench {
    let mut bench = Bench::new();
    bench.file("a.txt", "bittern\n");
    let plan = bench.file("plan.json", CREATES);
    bench.open(&plan);
    wait_for_previews(&mut bench);
    bench
}

fn wait_for_previews(bench: &mut Bench) {
    bench.wait_until("the previews of all steps", |app| {
        let session = app.plan.shown.as_ref().unwrap();
        session.previewed.steps.progress == PreviewProgress::Ended
    });
}

fn failing(bench: &Bench) -> &[usize] {
    bench.session().previewed.steps.failing()
}

#[test]
fn all_steps_are_previewed_without_a_look_at_them() {
    let mut bench = bench();
    let steps = &bench.session().previewed.steps;
    assert_eq!((steps.unknown(), failing(&bench)), (0, &[][..]));
    assert_eq!(steps.lines(), ((4, 1), true));
    // What arrived is handled; then nothing goes on.
    let mut wakes = 0;
    while bench.woken.recv_timeout(Duration::from_millis(300)).is_ok() {
        bench.app.drain();
        wakes += 1;
        assert!(wakes < 50, "it never comes to rest");
    }
}

#[test]
fn a_file_that_appears_makes_its_step_fail() {
    let mut bench = bench();
    bench.file("c.txt", "there already\n");
    let before = bench.session().review_id;
    bench.app.plan.review_again(false, &mut bench.app.shared);
    bench.wait_until("a review", |app| app.plan.shown.as_ref().unwrap().review_id != before);
    wait_for_previews(&mut bench);
    assert_eq!(failing(&bench), [2]);
    let fails = StepKind::ALL.iter().position(|kind| *kind == StepKind::Fails).unwrap();
    assert_eq!(bench.session().steps.list.counts[fails], 1);
}

#[test]
fn an_open_dialog_gets_the_previews_with_a_new_identity() {
    let mut bench = Bench::new();
    bench.file("c.txt", "there already\n");
    let plan = bench.file("plan.json", CREATES);
    bench.act(Action::Plan(PlanAction::Open(plan.clone())));
    // Not drained, so that no preview is there when the dialog opens.
    while bench.app.plan.shown.is_none() {
        let answer = bench.app.shared.queries.recv().unwrap();
        answer(&mut bench.app);
    }
    bench.act(Action::Do(Command::Authorize));
    let first = bench.app.view().dialog.unwrap().prompt;
    wait_for_previews(&mut bench);
    let dialog = bench.app.view().dialog.unwrap();
    assert!(matches!(dialog.question, Question::Authorize(_)));
    assert_ne!(dialog.prompt, first, "nothing that was pressed for the first one counts");
}

/// What the page shows of the run that is over: its files, each with what became of it.
fn done(bench: &Bench) -> Vec<(String, &'static str)> {
    let view = bench.app.view();
    let done = view.plan.unwrap().done.unwrap();
    assert!(done.is_all);
    done.files.iter().map(|(path, fate)| (path.clone(), fate.as_str())).collect()
}

fn run(bench: &mut Bench) {
    bench.authorize();
    let before = bench.session().review_id;
    bench.act(Action::Do(Command::Run));
    bench.wait_for_end();
    // The review after the run finds what another run would do.
    bench.wait_until("a review", |app| app.plan.shown.as_ref().unwrap().review_id != before);
}

#[test]
fn a_run_that_is_over_shows_what_it_did() {
    let mut bench = bench();
    run(&mut bench);
    let expected = [("a.txt", "replaced"), ("b.txt", "new"), ("c.txt", "new")];
    assert_eq!(done(&bench), expected.map(|(path, fate)| (path.to_owned(), fate)));

    bench.act(Action::Do(Command::Revert));
    bench.wait_until("the revert", |app| {
        let plan = app.plan.shown.as_ref().and_then(|it| it.opened.plan.as_ref());
        plan.is_some_and(|plan| plan.is_revert())
    });
    wait_for_previews(&mut bench);
    bench.authorize();
    let before = bench.session().review_id;
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(0);
    bench.answer(0, Decision::Approve);
    bench.wait_for_end();
    bench.wait_until("a review", |app| app.plan.shown.as_ref().unwrap().review_id != before);
    let expected = [("a.txt", "replaced"), ("b.txt", "deleted"), ("c.txt", "deleted")];
    assert_eq!(done(&bench), expected.map(|(path, fate)| (path.to_owned(), fate)));
    let undone = "undone already";
    let has =
        |findings: &[crate::plan::Finding]| findings.iter().any(|it| it.message.contains(undone));
    assert!(has(&bench.session().opened.findings), "another run would have nothing to undo");
    assert!(!has(bench.app.view().plan.unwrap().findings));
}

#[test]
fn steps_that_a_recorded_run_did_not_reach_have_a_risk() {
    let mut bench = Bench::new();
    bench.file("b.txt", "there already\n");
    let plan = bench.file("plan.json", CREATES);
    bench.open(&plan);
    wait_for_previews(&mut bench);
    run(&mut bench);
    let run_id = bench.session().run.run_id.unwrap();
    let other = bench.file("other.json", PLAN);
    bench.open(&other);
    bench.act(Action::Plan(PlanAction::OpenRun(run_id)));
    bench.wait_until("the recorded run", |app| {
        app.plan.shown.as_ref().is_some_and(|session| session.recorded.is_some())
    });
    let view = bench.app.view();
    let plan = view.plan.unwrap();
    let recorded = plan.recorded.unwrap();
    let known: Vec<_> =
        [&recorded.risks, &recorded.judged].map(|it| it.keys().copied().collect::<Vec<_>>()).into();
    assert_eq!(known, [vec![0, 1], vec![2]]);
    let (_, when) = crate::ui::plan::step_row(&plan, 2).unwrap().risk.unwrap();
    assert_eq!(when, "Not reached. The risk by the present rules.");
}

#[test]
fn a_look_at_a_step_that_is_done_predicts_nothing() {
    let mut bench = Bench::new();
    bench.file("a.txt", "bittern\n");
    let asks = r#""step_id": "three", "requires_confirmation": true,"#;
    let plan = bench.file("plan.json", &CREATES.replace(r#""step_id": "three","#, asks));
    bench.open(&plan);
    wait_for_previews(&mut bench);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    // Selected by the person, so that the selection does not follow the run.
    bench.act(Action::Plan(PlanAction::SelectStep(0)));
    bench.wait_for_confirmation(2);
    // Only asked for now, when its file exists, because it created it.
    assert!(bench.session().pane.previews.get(&1).is_none());
    bench.act(Action::Plan(PlanAction::SelectStep(1)));
    bench.app.plan.prefetch(&mut bench.app.shared);
    bench.wait_until("the preview of the step that is done", |app| {
        app.plan.shown.as_ref().unwrap().pane.previews.get(&1).is_some()
    });
    assert!(bench.session().pane.previews.get(&1).unwrap().would_fail());
    assert!(failing(&bench).is_empty());
    bench.answer(2, Decision::Approve);
    bench.wait_for_end();
}

/// Its file may exist already, because the step has created it.
#[test]
fn nothing_predicts_a_step_that_has_begun() {
    let mut bench = bench();
    let session = bench.app.plan.shown.as_mut().unwrap();
    session.run.apply(&crate::run::RunEvent::RunStarted {
        run_id: Uuid::nil(),
        plan_id: "creates".to_owned(),
        step_count: 3,
        timestamp_ms: 0,
    });
    session.run.apply(&crate::run::RunEvent::StepStarted {
        step_id: "two".to_owned(),
        step_index: 1,
        tool_name: "file_create".to_owned(),
        about: "b.txt".to_owned(),
        timestamp_ms: 0,
    });
    session.pane.previews = Default::default();
    for selected in [1, 2] {
        bench.act(Action::Plan(PlanAction::SelectStep(selected)));
        bench.app.plan.prefetch(&mut bench.app.shared);
    }
    // Queries are answered in order.
    bench.wait_until("the preview of the step after it", |app| {
        app.plan.shown.as_ref().unwrap().pane.previews.get(&2).is_some()
    });
    assert!(bench.session().pane.previews.get(&1).is_none());
    bench.app.plan.shown.as_mut().unwrap().run = Default::default();
}
