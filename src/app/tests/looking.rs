//! Nothing is authorized unseen.

use super::*;

/// A window in which steps must be looked at, and a plan with two steps that ask.
fn bench(rule: &str) -> Bench {
    let mut bench = Bench::with_settings(&format!("must_see = \"{rule}\"\n"));
    bench.file("a.txt", "bittern\n");
    let plan = bench.file("plan.json", PLAN);
    bench.open(&plan);
    bench
}

fn look_at(bench: &mut Bench, steps: &[usize]) {
    for index in steps {
        bench.act(Action::Plan(PlanAction::LookedAt(*index, OnScreen::Whole)));
    }
}

fn can_authorize(bench: &Bench) -> bool {
    bench.app.situation().not_authorizable.is_none()
}

/// Reviews the plan again, after a file has changed.
fn review(bench: &mut Bench, is_done: fn(&App) -> bool) {
    bench.app.plan.review_again(false, &mut bench.app.shared);
    bench.wait_until("a review", is_done);
}

#[test]
fn a_plan_is_authorized_once_each_step_that_asks_was_looked_at() {
    let mut bench = bench("careful");
    let state = bench.app.situation();
    assert!(state.look_first && state.unseen && !can_authorize(&bench));
    bench.act(Action::Do(Command::Authorize));
    assert!(bench.app.view().dialog.is_none(), "no dialog opens");
    assert_eq!(bench.session().pane.selected, 1, "the first step to look at");
    // An answer that was prepared earlier decides nothing.
    let digest = bench.session().opened.digest;
    bench.act(Action::Dialog(DialogAction::Authorize(digest)));
    assert_eq!(bench.session().approval, Approval::None);

    look_at(&mut bench, &[1]);
    bench.act(Action::Do(Command::NextUnseen));
    assert_eq!(bench.session().pane.selected, 2);
    look_at(&mut bench, &[2]);
    let state = bench.app.situation();
    assert!(!state.look_first && state.unseen, "the first step was not looked at");
    bench.act(Action::Do(Command::NextUnseen));
    assert_eq!(bench.session().pane.selected, 0);
    bench.authorize();
}

#[test]
fn a_long_step_of_which_the_ends_were_shown_is_named() {
    let mut bench = bench("everything");
    look_at(&mut bench, &[0, 2]);
    bench.act(Action::Plan(PlanAction::LookedAt(1, OnScreen::Ends)));
    assert!(can_authorize(&bench));
    let looked_at = &bench.session().seen.looked_at;
    assert!(looked_at.has_ends_only(1) && looked_at.ends == 1);
    // A new review does not make more of it.
    review(&mut bench, |app| app.plan.shown.as_ref().unwrap().seen.looked_at.ends == 1);
    look_at(&mut bench, &[1]);
    assert_eq!(bench.session().seen.looked_at.ends, 0);
}

#[test]
fn the_setting_can_be_stricter_or_off() {
    assert!(can_authorize(&bench("nothing")));
    let mut strict = bench("everything");
    look_at(&mut strict, &[1, 2]);
    assert!(!can_authorize(&strict));
    look_at(&mut strict, &[0]);
    assert!(can_authorize(&strict));
}

#[test]
fn unchanged_steps_of_a_changed_plan_stay_looked_at() {
    let mut bench = bench("careful");
    look_at(&mut bench, &[1, 2]);
    assert!(can_authorize(&bench));
    bench.file("plan.json", &PLAN.replace("heron", "egret"));
    review(&mut bench, |app| !app.plan.shown.as_ref().unwrap().seen.looked_at.missing.eq(&0));
    let looked_at = &bench.session().seen.looked_at;
    assert!(!looked_at.misses(1) && looked_at.misses(2));
    // Back to what was looked at.
    bench.file("plan.json", PLAN);
    review(&mut bench, |app| app.plan.shown.as_ref().unwrap().seen.looked_at.missing == 0);
    assert!(can_authorize(&bench));
}

/// What was seen of a step is kept by the id of the review.
#[test]
fn each_review_has_its_own_id() {
    let mut bench = bench("careful");
    let id = |app: &App| app.view().plan.unwrap().review_id;
    let first = id(&bench.app);
    bench.app.plan.review_again(false, &mut bench.app.shared);
    bench.wait_until("a review", |app| id(app) != first);
    let (second, path) = (id(&bench.app), bench.session().path().unwrap().to_owned());
    bench.act(Action::Plan(PlanAction::Open(path)));
    bench.wait_until("the plan again", |app| ![first, second].contains(&id(app)));
}

#[test]
fn a_step_whose_file_changed_must_be_looked_at_again() {
    let mut bench = bench("careful");
    look_at(&mut bench, &[1, 2]);
    bench.file("a.txt", "changed by another program\n");
    review(&mut bench, |app| app.plan.shown.as_ref().unwrap().seen.looked_at.missing == 1);
    assert!(bench.session().seen.looked_at.misses(1));
    assert!(!can_authorize(&bench));
}

#[test]
fn a_changed_file_counts_however_its_path_is_spelled() {
    let mut bench = bench("careful");
    let plan = PLAN.replace("\"a.txt\"", "\"./a.txt\"");
    let plan = bench.file("spelled.json", &plan);
    bench.open(&plan);
    look_at(&mut bench, &[1, 2]);
    assert!(can_authorize(&bench));
    bench.file("a.txt", "changed by another program\n");
    review(&mut bench, |app| app.plan.shown.as_ref().unwrap().seen.looked_at.missing > 0);
    assert!(bench.session().seen.looked_at.misses(1));
}

#[test]
fn a_change_of_an_earlier_step_counts() {
    let mut bench = bench("careful");
    look_at(&mut bench, &[1, 2]);
    bench.file("plan.json", &PLAN.replace("kingfisher", "egret"));
    review(&mut bench, |app| app.plan.shown.as_ref().unwrap().seen.looked_at.missing > 0);
    let looked_at = &bench.session().seen.looked_at;
    assert!(looked_at.misses(1) && looked_at.misses(2));
}

#[test]
fn what_an_ended_run_did_is_not_what_the_steps_would_do_now() {
    let mut bench = bench("careful");
    look_at(&mut bench, &[1, 2]);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    for step in [1, 2] {
        bench.wait_for_confirmation(step);
        bench.answer(step, Decision::Approve);
    }
    bench.wait_for_end();
    bench.wait_until("a review", |app| app.plan.shown.as_ref().unwrap().seen.looked_at.missing > 0);
    look_at(&mut bench, &[1, 2]);
    assert!(!can_authorize(&bench), "the previews are those from before the run");
    bench.act(Action::Do(Command::NextUnseen));
    assert!(!bench.session().run.is_over());
    look_at(&mut bench, &[1, 2]);
    bench.authorize();
}

#[test]
fn changed_steps_of_a_changed_file_are_marked_until_they_are_seen() {
    use crate::ui::plan::StepChange;
    let mut bench = bench("careful");
    let path = bench.session().path().unwrap().to_owned();
    let marks = |bench: &Bench| -> Vec<&'static str> {
        let count = bench.session().opened.plan.as_ref().unwrap().steps.len();
        let changed = &bench.session().seen.changed;
        let mark = |index| match changed.get(index) {
            None => "",
            Some(StepChange::New) => "new",
            Some(StepChange::Changed(_)) => "changed",
        };
        (0..count).map(mark).collect()
    };
    let edit = |bench: &mut Bench, text: &str| {
        std::fs::write(&path, text).unwrap();
        let digest = Digest::of(text.as_bytes());
        bench.app.plan.review_again(false, &mut bench.app.shared);
        bench.wait_until("the new version", |app| {
            app.plan.shown.as_ref().is_some_and(|session| session.opened.digest == digest)
        });
    };
    let none = vec![""; marks(&bench).len()];
    assert_eq!(marks(&bench), none);
    let second = PLAN.replace("heron", "egret");
    edit(&mut bench, &second);
    let changed = marks(&bench);
    assert!(changed.contains(&"changed") && changed.contains(&""), "{changed:?}");
    bench.app.update_lists();
    let count = changed.iter().filter(|mark| **mark == "changed").count();
    assert_eq!(bench.session().steps.list.counts[5], count);
    // Not seen, so that the version from before is still the one to compare with.
    edit(&mut bench, PLAN);
    assert_eq!(marks(&bench), none);
    edit(&mut bench, &second);
    look_at(&mut bench, &[0, 1, 2]);
    edit(&mut bench, &format!("{second}\n"));
    assert_eq!(marks(&bench), none, "seen as it is");
}

#[test]
fn what_was_looked_at_stays_while_another_plan_is_shown() {
    let mut bench = bench("everything");
    let (plan, other) =
        (bench.session().path().unwrap().to_owned(), bench.file("other.json", PLAN));
    look_at(&mut bench, &[0, 1]);
    bench.act(Action::Plan(PlanAction::SelectStep(2)));
    bench.open(&other);
    assert_eq!((bench.session().pane.selected, bench.session().seen.looked_at.missing), (0, 3));
    bench.open(&plan);
    let session = bench.session();
    assert_eq!((session.seen.looked_at.missing, session.pane.selected), (1, 2));
    assert!(session.pane.scroll_to_selected, "the list is where the selection is");
    // A step that is another one now must be looked at again.
    bench.open(&other);
    bench.file("plan.json", &PLAN.replace("heron", "egret"));
    bench.open(&plan);
    let session = bench.session();
    assert!(!session.seen.looked_at.misses(1) && session.seen.looked_at.misses(2));
    assert_eq!(session.pane.selected, 0, "steps of another version may be elsewhere");
    // The same file again, from the page that shows it.
    let id = bench.session().review_id;
    bench.act(Action::Plan(PlanAction::Open(plan)));
    bench.wait_until("the plan again", |app| app.plan.shown.as_ref().unwrap().review_id != id);
    assert!(!bench.session().seen.looked_at.misses(1));
}
