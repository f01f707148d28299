//! Several open plans, and the queue of those that wait for the worker.

use super::*;
use crate::app::shared::Prompt;
use crate::ui::action::{AgentAction, QueueAction};
use crate::ui::agent_page::AgentForm;
use crate::ui::plan::OpenState;

/// A plan that creates the file `name.txt` and asks nothing. It reads a.txt before.
fn quick(bench: &Bench, name: &str) -> PathBuf {
    let text = format!(
        r#"{{"plan_id": "{name}", "intent": "MUTATE", "title": "{name}", "steps": [
            {{"step_id": "b", "tool": "file_create", "arguments": {{"path": "{name}.txt", "contents": "x"}}}},
            {{"step_id": "c", "tool": "file_write", "arguments": {{"path": "of-{name}.txt", "contents": "x"}}}}
        ]}}"#
    );
    bench.file(&format!("{name}.json"), &text)
}

/// A window in which a plan runs and waits for an answer.
fn busy() -> (Bench, PathBuf) {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    (bench, plan)
}

impl Bench {
    fn enqueue(&mut self, path: &Path) {
        self.open(path);
        self.authorize();
        self.act(Action::Do(Command::Enqueue));
    }

    fn queue(&self) -> Vec<String> {
        self.app.plan.queue_view().plans.iter().map(|plan| plan.name.clone()).collect()
    }

    fn answer_all(&mut self, decision: Decision) {
        for step_index in [1, 2] {
            self.wait_for_confirmation(step_index);
            let run_id = self.app.plan.own_run().unwrap();
            let answer =
                DialogAction::Answer { run_id, step_index, decision, reason: String::new() };
            self.act(Action::Dialog(answer));
            if decision != Decision::Approve {
                break;
            }
        }
    }

    fn exists(&self, name: &str) -> bool {
        self.workspace.path().join(name).exists()
    }

    /// Waits until this file of the workspace exists and nothing is under way.
    fn wait_for_file(&mut self, name: &str) {
        let file = self.workspace.path().join(name);
        self.wait_until(name, |app| file.exists() && !app.is_busy());
    }

    fn states(&self) -> Vec<(String, OpenState)> {
        let plans = self.app.plan.open_plans();
        plans.into_iter().map(|plan| (plan.name.to_owned(), plan.state)).collect()
    }
}

#[test]
fn queued_plans_run_one_after_another() {
    let (mut bench, _) = busy();
    let [one, two, three] = ["one", "two", "three"].map(|name| quick(&bench, name));
    for plan in [&one, &two, &three] {
        bench.enqueue(plan);
    }
    assert_eq!(bench.queue(), ["one", "two", "three"]);
    let names = |name: &str| name.to_owned();
    assert_eq!(
        bench.states(),
        [
            (names("Two writes"), OpenState::Asks),
            (names("one"), OpenState::Queued(0)),
            (names("two"), OpenState::Queued(1)),
            (names("three"), OpenState::Queued(2)),
        ]
    );
    // The page shows the last one.
    assert_eq!(bench.app.situation().queue_place, Some(2));
    bench.act(Action::Do(Command::Enqueue));
    assert_eq!(bench.queue().len(), 3, "it is queued once");
    bench.answer_all(Decision::Approve);
    bench.wait_for_file("three.txt");
    assert!(bench.exists("one.txt") && bench.exists("two.txt"));
    assert_eq!(bench.queue(), [""; 0]);
    bench.wait_until("the runs", |app| app.plan.runs.len() == 4);
    let names: Vec<_> = bench.app.plan.runs.iter().map(|run| run.plan_name.as_str()).collect();
    assert_eq!(names, ["three", "two", "one", "Two writes"]);
    assert_eq!(bench.session().run.phase, Phase::Ended(RunStatus::Completed));
}

#[test]
fn the_queue_is_reordered_and_emptied() {
    let (mut bench, _) = busy();
    let [one, two, three] = ["one", "two", "three"].map(|name| quick(&bench, name));
    for plan in [&one, &two, &three] {
        bench.enqueue(plan);
    }
    bench.act(Action::Do(Command::RunEarlier));
    assert_eq!(bench.queue(), ["one", "three", "two"]);
    let queue = |action| Action::Plan(PlanAction::Queue(action));
    bench.act(queue(QueueAction::Move(one.clone(), 5)));
    assert_eq!(bench.queue(), ["three", "two", "one"], "no further than to the end");
    bench.act(Action::Do(Command::RunEarlier));
    assert_eq!(bench.queue(), ["three", "two", "one"], "it is the first one");
    bench.act(Action::Do(Command::RunLater));
    assert_eq!(bench.queue(), ["two", "three", "one"]);
    bench.act(queue(QueueAction::Remove(one.clone())));
    bench.act(Action::Do(Command::Unqueue));
    assert_eq!(bench.queue(), ["two"]);
    assert!(matches!(bench.session().approval, Approval::Approved { .. }), "it still counts");
    bench.act(Action::Do(Command::Enqueue));
    bench.act(Action::Do(Command::EmptyQueue));
    assert_eq!(bench.queue(), [""; 0]);
    bench.answer_all(Decision::Approve);
    bench.wait_until("idle", |app| !app.is_busy());
    assert!(!["one", "two", "three"].iter().any(|name| bench.exists(&format!("{name}.txt"))));
    // What was taken out can be run by hand.
    bench.open(&two);
    bench.act(Action::Do(Command::Run));
    bench.wait_for_file("two.txt");
}

/// What was planned after a run that failed may not be wanted any more.
#[test]
fn the_queue_waits_after_a_run_that_did_not_complete() {
    let (mut bench, plan) = busy();
    let [one, two] = ["one", "two"].map(|name| quick(&bench, name));
    bench.enqueue(&one);
    bench.enqueue(&two);
    bench.answer_all(Decision::Cancel);
    bench.wait_until("the queue waits", |app| {
        !app.is_busy() && app.plan.queue_view().held.is_some()
    });
    assert!(!bench.exists("one.txt"));
    assert!(bench.app.situation().queue_held);
    bench.act(Action::Do(Command::GoOnQueue));
    bench.wait_for_file("two.txt");
    assert!(bench.exists("one.txt") && !bench.app.situation().queue_held);
    bench.open(&plan);
}

/// The authorization covers what the files contained.
#[test]
fn a_plan_whose_files_have_changed_is_refused_when_its_turn_comes() {
    for is_shown in [false, true] {
        let (mut bench, _) = busy();
        let [one, two] = ["one", "two"].map(|name| quick(&bench, name));
        bench.enqueue(&one);
        bench.enqueue(&two);
        if is_shown {
            bench.open(&one);
        }
        bench.file("of-one.txt", "somebody else\n");
        if is_shown {
            // The page finds the change by itself, or the executor does.
            let session = |app: &App| app.plan.shown.as_ref().unwrap().approval.clone();
            bench.act(Action::Do(Command::Reload));
            bench.app.plan.review_again(true, &mut bench.app.shared);
            bench.wait_until("void", |app| matches!(session(app), Approval::Void(_)));
        }
        bench.answer_all(Decision::Approve);
        bench.wait_until("the notice", |app| {
            app.shared.notices.iter().any(|it| it.summary == "“one” was not run.")
        });
        let notice = bench.app.shared.notices.iter().find(|it| it.summary.contains("was not run"));
        let details = &notice.unwrap().details;
        assert!(details.contains("file of-one.txt"), "{details}");
        assert_eq!(bench.queue(), ["two"], "the queue waits");
        assert!(bench.app.situation().queue_held);
        assert!(!bench.exists("one.txt") && !bench.exists("two.txt"));
        bench.act(Action::Do(Command::GoOnQueue));
        bench.wait_for_file("two.txt");
    }
}

#[test]
fn a_plan_whose_authorization_has_expired_is_refused_when_its_turn_comes() {
    let (mut bench, _) = busy();
    let [one, two] = ["one", "two"].map(|name| quick(&bench, name));
    bench.enqueue(&one);
    bench.open(&two);
    bench.answer_all(Decision::Approve);
    for _ in 0..2_000 {
        bench.app.shared.now.ms = now().ms + 31 * 60_000;
        bench.app.drain();
        if bench.app.shared.notices.iter().any(|it| it.summary.contains("was not run")) {
            break;
        }
        let _ = bench.woken.recv_timeout(Duration::from_millis(20));
    }
    let notice = bench.app.shared.notices.iter().find(|it| it.summary.contains("was not run"));
    assert_eq!(notice.unwrap().details, "Its authorization has expired.");
    assert!(!bench.exists("one.txt"));
}

#[test]
fn a_queued_plan_whose_file_is_gone_is_refused() {
    let (mut bench, plan) = busy();
    let one = quick(&bench, "one");
    bench.enqueue(&one);
    bench.open(&plan);
    std::fs::remove_file(&one).unwrap();
    bench.answer_all(Decision::Approve);
    bench.wait_until("the notice", |app| {
        app.shared.notices.iter().any(|it| it.summary == "“one” was not run.")
    });
    assert_eq!(bench.queue(), [""; 0]);
}

#[test]
fn each_open_plan_keeps_its_authorization() {
    let (mut bench, plan) = bench();
    let [one, two] = ["one", "two"].map(|name| quick(&bench, name));
    bench.open(&one);
    bench.authorize();
    bench.open(&two);
    bench.open(&plan);
    let shown = |app: &App| app.plan.shown.as_ref().and_then(|it| it.path()).map(Path::to_owned);
    assert_eq!(
        bench.states().into_iter().map(|it| it.1).collect::<Vec<_>>(),
        [OpenState::Authorized, OpenState::Undecided, OpenState::Undecided]
    );
    bench.act(Action::Do(Command::NextPlan));
    bench.wait_until("around the end", |app| shown(app) == Some(one.clone()));
    assert!(matches!(bench.session().approval, Approval::Approved { .. }));
    bench.act(Action::Do(Command::PreviousPlan));
    bench.wait_until("back", |app| shown(app) == Some(plan.clone()));
    bench.act(Action::Do(Command::ClosePlan));
    bench.wait_until("another one", |app| shown(app) == Some(two.clone()));
    bench.act(Action::Plan(PlanAction::CloseOpen(one.clone())));
    assert_eq!(bench.states().len(), 1);
    bench.open(&one);
    assert_eq!(bench.session().approval, Approval::None, "closing has ended it");
    for _ in 0..2 {
        bench.act(Action::Do(Command::ClosePlan));
        bench.wait_until("closed", |app| app.shared.pending.is_empty());
    }
    assert!(bench.app.plan.shown.is_none() && bench.states().is_empty());
}

#[test]
fn what_is_queued_or_runs_stays_open() {
    let (mut bench, plan) = busy();
    let one = quick(&bench, "one");
    bench.enqueue(&one);
    for path in [&plan, &one] {
        bench.act(Action::Plan(PlanAction::CloseOpen(path.clone())));
    }
    assert_eq!((bench.states().len(), bench.queue().len()), (2, 1));
    bench.act(Action::Plan(PlanAction::ShowOpen(plan.clone())));
    assert!(bench.session().runs_here(), "the session of the run itself");
    assert_eq!(bench.queue(), ["one"]);
}

/// The decision is recorded while the person looks at another plan already.
#[test]
fn a_decision_is_not_lost_when_another_plan_is_opened_at_once() {
    let (mut bench, plan) = bench();
    let one = quick(&bench, "one");
    bench.open(&one);
    bench.act(Action::Do(Command::Authorize));
    let digest = bench.session().opened.digest;
    bench.act(Action::Dialog(DialogAction::Authorize(digest)));
    bench.open(&plan);
    bench.wait_until("recorded", |app| app.shared.pending.is_empty());
    assert_eq!(bench.session().approval, Approval::None);
    bench.open(&one);
    assert!(matches!(bench.session().approval, Approval::Approved { .. }));
}

/// Asks the window to close. Returns whether it stays.
fn stays_open(app: &mut App) -> bool {
    let mut input = egui::RawInput::default();
    let viewport = input.viewports.entry(egui::ViewportId::ROOT).or_default();
    viewport.events.push(egui::ViewportEvent::Close);
    let ctx = egui::Context::default();
    let mut output = ctx.run_ui(input, |ui| app.handle_close_request(ui.ctx()));
    output.textures_delta.clear();
    let commands = &output.viewport_output[&egui::ViewportId::ROOT].commands;
    commands.contains(&egui::ViewportCommand::CancelClose)
}

#[test]
fn closing_the_window_asks_about_an_agent_at_work() {
    let (mut bench, _) = bench();
    let form = AgentForm {
        // It lives until its input ends, and never begins.
        command: "cat".to_owned(),
        prompt: "mend it".to_owned(),
        workspace: bench.workspace.path().display().to_string(),
        refusal: None,
    };
    let start = |bench: &mut Bench| {
        bench.act(Action::Do(Command::NewAgent));
        bench.act(Action::Agent(AgentAction::Edit(Box::new(form.clone()))));
        bench.act(Action::Do(Command::StartAgent));
        assert!(bench.app.agent.works(), "{:?}", bench.app.agent.state());
        assert!(stays_open(&mut bench.app));
        let dialog = bench.app.view().dialog.unwrap();
        assert!(matches!(dialog.question, Question::Close { under_way: Some("agent"), queued: 0 }));
    };
    start(&mut bench);
    bench.act(Action::Dialog(DialogAction::LeaveUndecided));
    assert!(bench.app.agent.works());
    assert!(stays_open(&mut bench.app));
    bench.act(Action::Do(Command::StopAgent));
    bench.wait_until("its end", |app| !app.agent.works());
    assert_eq!(bench.app.shared.prompt, None, "nothing is left to ask");
    start(&mut bench);
    bench.act(Action::Dialog(DialogAction::StopAndClose));
    assert!(!stays_open(&mut bench.app));
}

#[test]
fn closing_the_window_asks_about_the_queue() {
    let (mut bench, _) = busy();
    let one = quick(&bench, "one");
    bench.enqueue(&one);
    bench.answer_all(Decision::Cancel);
    bench.wait_until("the queue waits", |app| {
        !app.is_busy() && app.plan.queue_view().held.is_some()
    });
    assert!(stays_open(&mut bench.app));
    assert_eq!(bench.app.shared.prompt, Some(Prompt::Close));
    let dialog = bench.app.view().dialog.unwrap();
    assert!(matches!(dialog.question, Question::Close { under_way: None, queued: 1 }));
    bench.act(Action::Dialog(DialogAction::LeaveUndecided));
    assert_eq!(bench.queue(), ["one"]);
    assert!(stays_open(&mut bench.app));
    bench.act(Action::Dialog(DialogAction::StopAndClose));
    assert_eq!(bench.queue(), [""; 0]);
    assert!(!stays_open(&mut bench.app), "nothing is left to ask");
    assert!(!bench.exists("one.txt"));
}

/// A review that begins while another plan is being opened, for instance because a run has ended.
#[test]
fn a_review_does_not_end_the_opening_of_another_plan() {
    let (mut bench, plan) = bench();
    let one = quick(&bench, "one");
    bench.open(&plan);
    bench.act(Action::Plan(PlanAction::Open(one.clone())));
    bench.app.plan.review_again(true, &mut bench.app.shared);
    bench.wait_until("opened", |app| app.shared.pending.is_empty());
    assert_eq!(bench.session().path(), Some(&*one));
    bench.app.plan.review_again(true, &mut bench.app.shared);
    bench.act(Action::Plan(PlanAction::Open(plan.clone())));
    bench.wait_until("opened again", |app| app.shared.pending.is_empty());
    assert_eq!(bench.session().path(), Some(&*plan));
    assert_eq!(bench.app.shared.notices, []);
}
