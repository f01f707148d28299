//! Choosing where and how a plan runs, before it is authorized.

use super::*;
use crate::plan::Mode;
use crate::ui::action::{PlanChoice, PlanFolder};

const COMMANDS: &str =
    r#"{"goal": "g", "steps": [{"command": "echo one"}, {"command": "echo two"}]}"#;

fn asks(app: &App) -> Vec<bool> {
    let review = app.plan.review().unwrap();
    review.asks.iter().map(Option::is_some).collect()
}

fn choose(bench: &mut Bench, choice: PlanChoice) {
    bench.act(Action::Plan(PlanAction::Choose(choice)));
}

#[test]
fn a_choice_is_reviewed_at_once_and_keeps_the_place() {
    let mut bench = Bench::new();
    let plan = bench.file("commands.json", COMMANDS);
    bench.open(&plan);
    bench.act(Action::Plan(PlanAction::SelectStep(1)));
    choose(&mut bench, PlanChoice::Mode(Some(Mode::Guided)));
    bench.wait_until("guided", |app| app.plan.review().unwrap().binding.mode == Mode::Guided);
    assert_eq!(bench.session().opened.plan.as_ref().unwrap().mode, Mode::Guided);
    assert_eq!(bench.session().pane.selected, 1);
    assert!(bench.app.shared.notices.is_empty(), "the person knows what they chose");
    choose(&mut bench, PlanChoice::Mode(None));
    bench.wait_until("automatic", |app| asks(app) == [false, false]);
    choose(&mut bench, PlanChoice::AskEveryStep(true));
    bench.wait_until("asking", |app| asks(app) == [true, true]);
    // Another plan starts without the choices.
    let other = bench.file("other.json", COMMANDS);
    bench.open(&other);
    assert_eq!(asks(&bench.app), [false, false]);
}

/// What was chosen for a plan, and the authorization that covers it, are there again when the plan is.
#[test]
fn choices_and_authorization_outlast_a_look_at_another_plan() {
    let mut bench = Bench::new();
    let plan = bench.file("commands.json", COMMANDS);
    let other = bench.file("other.json", &COMMANDS.replace("two", "three"));
    let elsewhere = tempfile::tempdir().unwrap();
    let folder = elsewhere.path().canonicalize().unwrap();
    bench.open(&plan);
    choose(&mut bench, PlanChoice::Mode(Some(Mode::Guided)));
    choose(&mut bench, PlanChoice::Network(true));
    let app = &mut bench.app;
    app.plan.choose_folder(&plan, folder.clone(), PlanFolder::Workspace, &mut app.shared);
    let is_covered = |app: &App| {
        let review = app.plan.review().unwrap();
        (review.workspace == folder, review.binding.mode, review.binding.grants.network)
            == (true, Mode::Guided, true)
    };
    bench.wait_until("the review of the choices", is_covered);
    bench.authorize();
    bench.open(&other);
    assert_eq!(bench.session().choices.mode, None);
    bench.open(&plan);
    assert!(is_covered(&bench.app) && bench.app.situation().approved);
    assert_eq!(bench.session().choices.mode, Some(Mode::Guided));
    // So they are on the way back, and when the plan is opened once more.
    bench.open(&other);
    bench.act(Action::Do(Command::GoBack));
    let is_back = |app: &App| app.plan.shown.as_ref().is_some_and(|it| it.path() == Some(&plan));
    bench.wait_until("the plan", is_back);
    bench.act(Action::Plan(PlanAction::Open(plan.clone())));
    bench.wait_until("no query", |app| !app.is_busy());
    assert!(is_covered(&bench.app) && bench.app.situation().approved);
}

#[test]
fn a_choice_makes_an_approval_void() {
    let mut bench = Bench::new();
    let plan = bench.file("commands.json", COMMANDS);
    bench.open(&plan);
    bench.authorize();
    choose(&mut bench, PlanChoice::AskEveryStep(false));
    assert!(bench.app.situation().approved, "the same choice as before");
    choose(&mut bench, PlanChoice::AskEveryStep(true));
    assert!(!bench.app.situation().approved, "at once, before the next review");
    bench.act(Action::Do(Command::Run));
    assert!(!bench.app.situation().running);
    bench.wait_until("what changed", |app| {
        matches!(app.view().plan.unwrap().approval, Approval::Void(changes) if !changes.is_empty())
    });
    let Approval::Void(changes) = &bench.session().approval else { panic!() };
    assert_eq!(changes[0].what, "choices");
    assert_eq!(changes[0].now, "asks before every step");
}

#[test]
fn the_workspace_can_be_another_folder() {
    let mut bench = Bench::new();
    let plan = bench.file("commands.json", COMMANDS);
    bench.open(&plan);
    let other = tempfile::tempdir().unwrap();
    let folder = other.path().canonicalize().unwrap();
    let app = &mut bench.app;
    app.plan.choose_folder(&plan, folder.clone(), PlanFolder::Workspace, &mut app.shared);
    bench.wait_until("moved", |app| app.plan.review().unwrap().workspace == folder);
    choose(&mut bench, PlanChoice::DefaultWorkspace);
    bench.wait_until("moved back", |app| app.plan.review().unwrap().workspace != folder);
    // The folder was picked for a plan that is no longer shown.
    let other = bench.file("other.json", COMMANDS);
    bench.open(&other);
    let app = &mut bench.app;
    app.plan.choose_folder(&plan, folder.clone(), PlanFolder::Workspace, &mut app.shared);
    assert_eq!(bench.session().workspace, None);
    assert!(bench.app.shared.notices.iter().any(|it| it.summary.contains("no longer shown")));
}

/// The person answers the dialog, and chooses something else or changes a file before the answer is recorded.
#[test]
fn an_approval_that_arrives_late_is_void() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    let session = bench.app.plan.shown.as_mut().unwrap();
    let late = session.authorization.clone().unwrap();
    bench.file("a.txt", "changed by another program\n");
    bench.act(Action::Do(Command::Reload));
    bench.wait_until("another review", |app| {
        let review = app.plan.review().unwrap();
        !late.binding.changes(&review.binding).is_empty()
    });
    let session = bench.app.plan.shown.as_mut().unwrap();
    session.approval = Approval::Recording;
    session.apply_decision(late);
    let Approval::Void(changes) = &session.approval else { panic!("{:?}", session.approval) };
    assert_eq!(changes[0].what, "file a.txt");
    assert!(session.authorization.is_none());

    let plan = bench.file("commands.json", COMMANDS);
    bench.open(&plan);
    bench.authorize();
    let late = bench.session().authorization.clone().unwrap();
    choose(&mut bench, PlanChoice::AskEveryStep(true));
    let session = bench.app.plan.shown.as_mut().unwrap();
    session.approval = Approval::Recording;
    session.apply_decision(late);
    assert_eq!(session.approval, Approval::Void(Vec::new()), "no review covers the choice yet");
}

/// More for every plan of a folder is asked for, named, and can be taken back.
#[test]
fn grants_for_every_plan_are_confirmed_first() {
    let mut bench = Bench::new();
    let plan = bench.file("commands.json", COMMANDS);
    bench.open(&plan);
    choose(&mut bench, PlanChoice::Network(true));
    bench.wait_until("granted", |app| app.plan.review().unwrap().binding.grants.network);
    bench.act(Action::Plan(PlanAction::AskToRememberWalls));
    let Question::RememberWalls { workspace, grants } = bench.app.view().dialog.unwrap().question
    else {
        panic!("no question")
    };
    assert!(grants.network && workspace == bench.app.plan.review().unwrap().binding.workspace);
    let workspace = workspace.to_owned();
    bench.act(Action::Dialog(DialogAction::LeaveUndecided));
    assert!(bench.app.view().dialog.is_none());
    bench.act(Action::Plan(PlanAction::AskToRememberWalls));
    bench.act(Action::Dialog(DialogAction::RememberWalls { workspace, grants }));
    let remembered =
        |app: &App| app.plan.review().unwrap().walls.as_ref().unwrap().remembered.is_some();
    bench.wait_until("remembered", remembered);
    bench.act(Action::Plan(PlanAction::ForgetWalls));
    bench.wait_until("forgotten", |app| !remembered(app));
}

/// The choices belong to the plan file, so an unused authorization that was given with them still counts.
#[test]
fn choices_return_with_their_plan() {
    let mut bench = Bench::new();
    let plan = bench.file("commands.json", COMMANDS);
    let other = bench.file("other.json", &format!("{COMMANDS}\n"));
    bench.open(&plan);
    choose(&mut bench, PlanChoice::AskEveryStep(true));
    choose(&mut bench, PlanChoice::Network(true));
    bench.wait_until("reviewed", |app| {
        let binding = &app.plan.review().unwrap().binding;
        binding.grants.network && binding.choices.ask_every_step
    });
    bench.authorize();
    let given = bench.session().authorization.clone().unwrap();
    bench.open(&other);
    assert!(!bench.session().choices.run.ask_every_step, "they are those of one plan");
    bench.open(&plan);
    assert!(bench.session().choices.run.ask_every_step && bench.session().choices.grants.network);
    assert_eq!(bench.session().authorization.as_ref(), Some(&given));
    // Also on the way back, and when the file is opened again while it is shown.
    bench.open(&other);
    bench.act(Action::Do(Command::GoBack));
    bench.wait_until("back", |app| {
        app.plan.shown.as_ref().is_some_and(|session| session.authorization.is_some())
    });
    let before = bench.session().review_id;
    bench.act(Action::Plan(PlanAction::Open(plan)));
    bench.wait_until("again", |app| app.plan.shown.as_ref().unwrap().review_id != before);
    assert_eq!(bench.session().authorization.as_ref(), Some(&given));
}

/// A file that was rewritten may propose more under the same step ids. Its grant ends with the bytes that proposed it,
/// also while another plan is shown. The other choices stay.
#[test]
fn a_grant_of_proposals_ends_with_the_version_that_proposed_them() {
    let mut bench = Bench::new();
    let proposing =
        |command: &str| format!(r#"{{"goal": "g", "steps": [{{"command": "{command}"}}]}}"#);
    let plan = bench.file("commands.json", &proposing("curl https://example.org/a"));
    let other = bench.file("other.json", COMMANDS);
    bench.open(&plan);
    choose(&mut bench, PlanChoice::AskEveryStep(true));
    let granted = |app: &App| {
        let session = app.plan.shown.as_ref().unwrap();
        let binding = &session.opened.review.as_ref().unwrap().binding;
        binding.choices.ask_every_step && binding.grants.proposed && session.choices.grants.proposed
    };
    let ungranted = |app: &App, version: Digest| {
        let session = app.plan.shown.as_ref().unwrap();
        let reviewed = &session.opened.review.as_ref().unwrap().binding.grants;
        session.opened.digest == version && !reviewed.proposed && !session.choices.grants.proposed
    };
    let grant = |bench: &mut Bench| {
        bench.act(Action::Plan(PlanAction::GrantNeeds(true)));
        bench.wait_until("granted", granted);
        bench.authorize();
    };
    grant(&mut bench);
    let shown = proposing("curl -o ~/.profile https://example.org/b");
    bench.file("commands.json", &shown);
    bench.act(Action::Do(Command::Reload));
    bench.wait_until("reviewed", |app| ungranted(app, Digest::of(shown.as_bytes())));
    assert!(!bench.app.situation().approved);
    grant(&mut bench);
    bench.open(&other);
    bench.open(&plan);
    assert!(granted(&bench.app), "the file is the same");
    bench.open(&other);
    let behind = proposing("curl -o ~/.bashrc https://example.org/c");
    bench.file("commands.json", &behind);
    bench.open(&plan);
    assert!(ungranted(&bench.app, Digest::of(behind.as_bytes())));
    grant(&mut bench);
    bench.open(&other);
    bench.file("commands.json", &shown);
    bench.act(Action::Do(Command::GoBack));
    bench.wait_until("back", |app| {
        app.plan.shown.as_ref().unwrap().path() == Some(&plan)
            && ungranted(app, Digest::of(shown.as_bytes()))
    });
}
