//! Notices: to which page, plan or run they belong, and when they end.

use super::*;
use crate::ui::notice::Scope;

fn has(app: &App, scope: Scope) -> bool {
    app.shared.notices.iter().any(|notice| notice.scope == scope)
}

#[test]
fn the_end_of_a_hidden_run_is_told_and_leads_to_it() {
    let (mut bench, plan) = bench();
    let other = bench.file("other.json", &PLAN.replace("heron", "egret"));
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    bench.open(&other);
    let request = bench.app.plan.running().and_then(PlanSession::request).unwrap();
    let (run_id, step_index) = (request.run_id, request.step_index);
    let answer = DialogAction::Answer {
        run_id,
        step_index,
        decision: Decision::Cancel,
        reason: String::new(),
    };
    bench.act(Action::Dialog(answer));
    bench.wait_until("the notice", |app| has(app, Scope::Run(run_id)));
    let notice = bench.app.shared.notices.last().unwrap();
    assert_eq!(notice.summary, "“Two writes” has ended: denied at step 2.");
    // It lasts until the run is looked at.
    bench.act(Action::Do(Command::GoEvidence));
    bench.act(Action::Do(Command::GoPlan));
    assert!(has(&bench.app, Scope::Run(run_id)));
    bench.act(Action::Plan(PlanAction::OpenRun(run_id)));
    bench.wait_until("the run", |app| app.plan.shown_run() == Some(run_id));
    assert!(!has(&bench.app, Scope::Run(run_id)));
    // A plan that was looked at before leads to its last run, too, until it is changed.
    let last_run = |app: &App| app.view().plan.unwrap().last_run.map(|run| run.run_id);
    assert_eq!(last_run(&bench.app), None, "it is shown");
    bench.open(&plan);
    bench.wait_until("its last run", |app| last_run(app) == Some(run_id));
    assert_eq!(bench.app.view().diagnostics.unwrap().last_run, Some(run_id));
    bench.open(&other);
    assert_eq!(last_run(&bench.app), None, "another plan");
}

/// Nobody needs to be told what is on the page.
#[test]
fn the_end_of_a_shown_run_is_no_notice() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    bench.answer(1, Decision::Cancel);
    bench.wait_for_end();
    assert_eq!(bench.app.shared.notices, []);
}

#[test]
fn a_change_is_told_with_its_plan_until_the_next_decision() {
    let (mut bench, plan) = bench();
    let other = bench.file("other.json", PLAN);
    bench.open(&plan);
    let edit = |bench: &mut Bench, bird: &str| {
        let before = bench.session().opened.digest;
        bench.file("plan.json", &PLAN.replace("heron", bird));
        bench.act(Action::Do(Command::Reload));
        bench.wait_until("edited", |app| app.plan.shown.as_ref().unwrap().opened.digest != before);
    };
    edit(&mut bench, "egret");
    assert!(has(&bench.app, Scope::Change));
    assert!(!Scope::Change.is_on(Page::Evidence) && Scope::Change.is_on(Page::Diagnostics));
    bench.open(&other);
    assert!(!has(&bench.app, Scope::Change), "it is about another plan");
    bench.open(&plan);
    edit(&mut bench, "stork");
    edit(&mut bench, "crane");
    let changes = bench.app.shared.notices.iter().filter(|it| it.scope == Scope::Change);
    assert_eq!(changes.count(), 1, "the latest");
    bench.authorize();
    assert!(!has(&bench.app, Scope::Change), "the plan was reviewed");
}

#[test]
fn a_failure_belongs_to_its_page() {
    let mut bench = Bench::new();
    bench.act(Action::Do(Command::GoEvidence));
    let result = Err(std::io::Error::other("no such program"));
    bench.app.shared.report_io(result, "The editor cannot be opened.", "");
    bench.act(Action::Do(Command::GoEvidence));
    assert!(has(&bench.app, Scope::Page(Page::Evidence)));
    bench.act(Action::Do(Command::GoPlan));
    assert_eq!(bench.app.shared.notices, []);
}

/// A list that was not drawn has not been scrolled.
#[test]
fn another_page_does_not_scroll_the_steps() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.app.plan.with_shown(|session| session.pane.select(2));
    bench.app.plan.reset_frame_flags(Page::Evidence);
    assert!(bench.session().pane.scroll_to_selected);
    bench.app.plan.reset_frame_flags(Page::Plan);
    assert!(!bench.session().pane.scroll_to_selected);
}

/// A rejection is about the bytes that were rejected.
#[test]
fn an_edited_plan_is_not_listed_as_rejected() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    let digest = bench.session().opened.digest;
    bench.act(Action::Do(Command::Reject));
    let reason = "no".to_owned();
    bench.act(Action::Dialog(DialogAction::Reject { digest, reason, replan: false }));
    bench.wait_until("rejected", |app| app.plan.recent[0].rejected);
    bench.file("plan.json", &PLAN.replace("heron", "egret"));
    bench.act(Action::Do(Command::Reload));
    bench.wait_until("no longer", |app| !app.plan.recent[0].rejected);
    assert_ne!(bench.app.plan.recent[0].digest, Some(digest));
}
