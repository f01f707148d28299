//! Going back and forward between pages, plans, runs and records.

use super::*;
use crate::worker::OpenPlan;

fn shown(bench: &Bench) -> (Page, Option<&Path>) {
    (bench.app.shared.page, bench.app.plan.shown.as_ref().and_then(|session| session.path()))
}

fn go(bench: &mut Bench, command: Command, page: Page, path: Option<&Path>) {
    bench.act(Action::Do(command));
    let path = path.map(Path::to_owned);
    bench.wait_until("the place", |app| {
        let session = app.plan.shown.as_ref();
        app.shared.page == page && session.and_then(|session| session.path()) == path.as_deref()
    });
}

#[test]
fn back_leads_to_earlier_plans_and_pages() {
    let (mut bench, plan) = bench();
    let other = bench.file("other.json", &PLAN.replace("two-writes", "other"));
    assert!(!bench.app.situation().can_go_back);
    bench.open(&plan);
    bench.act(Action::Do(Command::GoEvidence));
    bench.open(&other);
    go(&mut bench, Command::GoBack, Page::Evidence, Some(&other));
    go(&mut bench, Command::GoBack, Page::Plan, Some(&plan));
    bench.act(Action::Plan(PlanAction::SelectStep(1)));
    go(&mut bench, Command::GoBack, Page::Plan, None);
    assert!(!bench.app.situation().can_go_back, "the window began without a plan");
    for (page, path) in [(Page::Plan, &plan), (Page::Evidence, &plan), (Page::Plan, &other)] {
        go(&mut bench, Command::GoForward, page, Some(path));
    }
    assert!(!bench.app.situation().can_go_forward);
}

/// Nothing is reported about a vanished file while there is another place to show.
#[test]
fn a_vanished_plan_is_skipped() {
    let (mut bench, plan) = bench();
    let gone = bench.file("gone.json", &PLAN.replace("two-writes", "gone"));
    let last = bench.file("last.json", &PLAN.replace("two-writes", "last"));
    for path in [&plan, &gone, &last] {
        bench.open(path);
    }
    std::fs::remove_file(&gone).unwrap();
    go(&mut bench, Command::GoBack, Page::Plan, Some(&plan));
    assert!(bench.app.shared.notices.is_empty(), "{:?}", bench.app.shared.notices);
    go(&mut bench, Command::GoForward, Page::Plan, Some(&last));
}

/// The place that is shown stays the current one where the only other one cannot be read.
#[test]
fn a_vanished_plan_without_another_is_told() {
    let (mut bench, plan) = bench();
    let gone = bench.file("gone.json", &PLAN.replace("two-writes", "gone"));
    bench.open(&plan);
    bench.open(&gone);
    go(&mut bench, Command::GoBack, Page::Plan, Some(&plan));
    std::fs::remove_file(&gone).unwrap();
    bench.act(Action::Do(Command::GoForward));
    bench.wait_until("told", |app| !app.shared.notices.is_empty());
    assert_eq!(shown(&bench), (Page::Plan, Some(&*plan)));
    bench.act(Action::Do(Command::GoEvidence));
    go(&mut bench, Command::GoBack, Page::Plan, Some(&plan));
}

#[test]
fn back_leads_to_runs_and_records() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    bench.answer(1, Decision::Cancel);
    bench.wait_for_end();
    let run_id = bench.session().run.run_id;
    bench.act(Action::Do(Command::GoEvidence));
    bench.wait_until("hits", |app| {
        app.evidence.page.as_ref().is_some_and(|page| page.counts.total == 2)
    });
    let hits = &bench.app.evidence.page.as_ref().unwrap().hits;
    let [first, second] = [0, 1].map(|index| hits[index].listed.row.execution_id);
    bench.act(Action::Evidence(EvidenceAction::Open(first)));
    bench.act(Action::Evidence(EvidenceAction::Open(second)));
    let other = bench.file("other.json", &PLAN.replace("two-writes", "other"));
    bench.open(&other);
    for record in [Some(second), Some(first), None] {
        bench.act(Action::Do(Command::GoBack));
        assert_eq!((shown(&bench).0, bench.app.evidence.selected), (Page::Evidence, record));
    }
    bench.act(Action::Do(Command::GoBack));
    bench.wait_until("the run", |app| {
        app.plan.shown.as_ref().is_some_and(|session| session.run.run_id == run_id)
    });
    assert_eq!(bench.session().approval, Approval::Recorded);
    bench.act(Action::Do(Command::GoForward));
    assert_eq!(shown(&bench).0, Page::Evidence);
}

/// While the plan of the place is read, the person goes elsewhere.
#[test]
fn going_elsewhere_ends_the_way() {
    let (mut bench, plan) = bench();
    let other = bench.file("other.json", &PLAN.replace("two-writes", "other"));
    bench.open(&plan);
    bench.open(&other);
    bench.act(Action::Do(Command::GoBack));
    bench.act(Action::Do(Command::GoLoop));
    bench.wait_until("the plan", |app| !app.shared.pending.has::<OpenPlan>());
    assert_eq!(shown(&bench), (Page::Loop, Some(other.as_path())));
}
