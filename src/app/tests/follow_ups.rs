//! Continuing, repeating and reconciling a run.

use super::*;
use crate::ui::notice::Notice;

/// Runs a plan whose first write is approved and whose second write is denied.
fn run_with_denied_step() -> (Bench, PathBuf) {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    bench.answer(1, Decision::Approve);
    bench.wait_for_confirmation(2);
    bench.answer(2, Decision::Cancel);
    bench.wait_for_end();
    (bench, plan)
}

fn authorization_is_open(app: &App) -> bool {
    app.view().dialog.is_some_and(|it| matches!(it.question, Question::Authorize(_)))
}

#[test]
fn a_run_continues_as_another_plan() {
    let (mut bench, plan) = run_with_denied_step();
    let first = bench.session().run.run_id.unwrap();
    bench.act(Action::Do(Command::ContinueFromHere));
    bench.wait_until("the follow-up plan", |app| {
        app.plan.shown.as_ref().unwrap().opened.continues.is_some()
    });
    let session = bench.session();
    assert_eq!(session.opened.continues, Some(first));
    assert_eq!(session.opened.plan.as_ref().unwrap().steps.len(), 1);
    let path = session.path().map(Path::to_path_buf).unwrap();
    assert!(path.starts_with(bench.app.shared.setup.location.evidence.join("continuations")));
    assert_eq!(bench.app.view().plan.unwrap().continues, Some(first), "shown in the header");
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(0);
    bench.answer(0, Decision::Approve);
    bench.wait_for_end();
    assert_eq!(bench.session().run.phase, Phase::Ended(RunStatus::Completed));
    assert!(plan.parent().unwrap().join("b.txt").exists());
    let second = bench.session().run.run_id.unwrap();
    bench.app.plan.shown = None;
    bench.act(Action::Plan(PlanAction::OpenRun(second)));
    bench.wait_until("the replay", |app| app.plan.shown.is_some());
    assert_eq!(bench.session().opened.continues, Some(first), "the link is recorded");
}

#[test]
fn a_run_repeats_from_file_or_records() {
    let (mut bench, plan) = run_with_denied_step();
    let first = bench.session().run.run_id.unwrap();
    bench.act(Action::Do(Command::RunAgain));
    bench.wait_until("the authorization dialog", authorization_is_open);
    bench.act(Action::Dialog(DialogAction::LeaveUndecided));

    bench.act(Action::Plan(PlanAction::OpenRun(Uuid::nil())));
    bench.app.plan.shown = None;
    bench.act(Action::Plan(PlanAction::OpenRun(first)));
    bench.wait_until("the replay", |app| app.plan.shown.is_some());
    let bar = crate::ui::plan::bar(&bench.app.view().plan.unwrap(), &bench.app.situation());
    // *Revert* is offered, because the first write has changed a file.
    let follow_ups = [Command::RunAgain, Command::ContinueFromHere, Command::Revert];
    assert_eq!(bar.others, follow_ups);
    bench.act(Action::Do(Command::RunAgain));
    bench.wait_until("the authorization dialog", authorization_is_open);
    let digest = bench.session().opened.digest;
    assert_eq!(digest, Digest::of(&std::fs::read(&plan).unwrap()));
    bench.act(Action::Dialog(DialogAction::Authorize(digest)));
    bench.wait_until("authorized", |app| app.situation().approved);
}

#[test]
fn a_run_repeats_with_wider_walls() {
    let (mut bench, _) = run_with_denied_step();
    let outside = tempfile::tempdir().unwrap();
    let path = outside.path().canonicalize().unwrap().display().to_string();
    bench.act(Action::Plan(PlanAction::AuthorizeWithGrant(Some(path.clone()))));
    bench.wait_until("the authorization dialog", authorization_is_open);
    let grants =
        |bench: &Bench| bench.session().opened.review.as_ref().unwrap().binding.grants.clone();
    assert_eq!(grants(&bench).write, [path.clone()].into());
    bench.act(Action::Dialog(DialogAction::LeaveUndecided));
    bench.act(Action::Plan(PlanAction::AuthorizeWithGrant(None)));
    bench.wait_until("the authorization dialog", authorization_is_open);
    assert!(grants(&bench).network && grants(&bench).write == [path].into());
}

/// A plan that has changed since its run is shown without the authorization dialog.
#[test]
fn a_changed_plan_is_not_asked_about() {
    let (mut bench, plan) = run_with_denied_step();
    std::fs::write(&plan, PLAN.replace("heron", "egret")).unwrap();
    bench.act(Action::Do(Command::RunAgain));
    bench.wait_until("the new plan", |app| {
        app.shared
            .notices
            .iter()
            .any(|notice| notice.summary.contains("since the run that you want to repeat"))
    });
    assert!(!authorization_is_open(&bench.app));
}

/// Reconciling a run without an interrupted step shows a notice.
#[test]
fn a_run_without_interruption_has_no_findings() {
    let (mut bench, _) = run_with_denied_step();
    let run_id = bench.session().run.run_id.unwrap();
    bench.act(Action::Do(Command::Reconcile));
    assert!(!bench.app.shared.pending.has::<crate::worker::Reconcile>());
    bench.act(Action::Evidence(EvidenceAction::Reconcile(run_id)));
    bench.wait_until("the answer", |app| {
        app.shared.reconciled.get(&run_id).is_some_and(Vec::is_empty)
    });
    // The same once more is counted.
    bench.act(Action::Evidence(EvidenceAction::Reconcile(run_id)));
    bench.wait_until("the second answer", |app| {
        app.shared.notices.last().is_some_and(|notice| notice.times == 2)
    });
    let notices = &bench.app.shared.notices;
    let is_about = |it: &&Notice| it.summary.starts_with("No step of this run");
    assert_eq!(notices.iter().filter(is_about).count(), 1, "{notices:?}");
}
