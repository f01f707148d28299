//! Bounded loops from the form to their end, with a scripted planner.

mod elsewhere;
mod planner;
mod workspace;

use super::*;
use crate::autonomy::scripted;
use crate::run::{Attempt, FileFate, LoopPhase, StopCode};
use crate::ui::Tone;
use crate::ui::action::LoopAction;
use crate::ui::dialog::AfterRejection;
use crate::ui::loop_page::{LoopForm, PlannerChoice, Shown, attempt_look};

impl Bench {
    /// Opens and fills the form. The planner prints the n-th of these commands as a plan in the n-th attempt.
    fn fill(&mut self, commands: &[&str]) {
        let plans = commands.iter().map(|command| {
            format!(r#"{{"goal": "an egg", "steps": [{{"command": "{command}"}}]}}"#)
        });
        self.fill_with(&scripted(plans));
    }

    /// Opens and fills the form, with `command` as the planner.
    fn fill_with(&mut self, command: &str) {
        let workspace = self.workspace.path().canonicalize().unwrap();
        self.act(Action::Do(Command::NewLoop));
        let Shown::Form(form) = self.app.view().looping.shown else { panic!("no form") };
        assert!(form.focus_goal, "the goal field has the focus");
        self.act(Action::Loop(LoopAction::Edit(Box::new(LoopForm {
            goal: "an egg".to_owned(),
            planner: PlannerChoice::Command,
            command: command.to_owned(),
            workspace: workspace.display().to_string(),
            ..LoopForm::default()
        }))));
    }

    /// Waits until the plan of this attempt awaits a decision.
    fn wait_for_attempt(&mut self, number: u32) {
        self.wait_until("a plan that awaits a decision", |app| {
            let attempt = app.plan.awaiting_attempt().and_then(|session| session.attempt);
            attempt.is_some_and(|attempt| attempt.attempt.number == number)
        });
    }

    /// Waits for the plan of this attempt, opens it, and authorizes it in the dialog.
    fn authorize_attempt(&mut self, number: u32) {
        self.wait_for_attempt(number);
        self.act(Action::Do(Command::OpenAttempt));
        assert_eq!(self.app.shared.page, Page::Plan);
        assert_eq!(self.session().attempt.unwrap().attempt.number, number);
        self.act(Action::Do(Command::Authorize));
        let digest = self.session().opened.digest;
        let Question::Authorize(view) = self.app.view().dialog.unwrap().question else {
            panic!("another dialog")
        };
        let attempt = view.attempt.map(|it| (it.attempt.number, it.max_attempts));
        assert_eq!((view.plan.digest, attempt), (digest, Some((number, 3))));
        self.act(Action::Dialog(DialogAction::Authorize(digest)));
    }

    /// Waits for the end of the loop. Returns the code of its stop reason.
    fn wait_for_loop_end(&mut self) -> StopCode {
        self.wait_until("the end of the loop", |app| {
            app.loop_page.live.as_ref().is_some_and(|live| live.ended_at_ms.is_some())
        });
        let live = self.app.loop_page.live.as_ref().unwrap();
        let LoopPhase::Ended(reason) = &live.state.phase else { panic!("no stop reason") };
        reason.code
    }
}

/// Fills the form, authorizes each plan, and finds the loop in the evidence.
#[test]
fn a_loop_goes_from_form_to_evidence() {
    let mut bench = Bench::new();
    bench.fill(&["exit 3", "echo heron > egg"]);
    bench.act(Action::Do(Command::StartLoop));
    assert!(bench.app.situation().looping);
    bench.authorize_attempt(1);
    bench.wait_for_attempt(2);
    assert_eq!(bench.session().attempt.unwrap().attempt.number, 2, "the page shows the new plan");
    assert!(!bench.workspace.path().join("egg").exists(), "the plan runs only once authorized");
    bench.authorize_attempt(2);
    assert_eq!(bench.wait_for_loop_end(), StopCode::Completed);
    let egg = std::fs::read_to_string(bench.workspace.path().join("egg")).unwrap();
    assert_eq!(egg, "heron\n");
    bench.wait_until("the end of the run", |app| !app.is_busy());
    assert_eq!(bench.session().run.phase, Phase::Ended(RunStatus::Completed));
    let live = bench.app.loop_page.live.as_ref().unwrap();
    let [first, second] = live.state.attempts.as_slice() else { panic!("{:?}", live.state) };
    assert_eq!(first.planner_output, "thinking\n");
    assert_eq!(second.revised.as_ref().unwrap().1.changed, 1);
    let (loop_id, run_id) =
        (live.state.loop_id.unwrap(), first.run.as_ref().unwrap().run_id.unwrap());

    // The first attempt is no longer on the page and is read from the evidence.
    bench.act(Action::Loop(LoopAction::OpenAttempt(1)));
    bench.wait_until("the run", |app| app.plan.shown.as_ref().unwrap().run.run_id == Some(run_id));
    bench.wait_until("the list of loops", |app| {
        app.loop_page.summaries.first().is_some_and(|it| it.ended_at_ms.is_some())
    });
    bench.act(Action::Evidence(EvidenceAction::Search(format!("loop:{loop_id}"))));
    bench.wait_until("the records of the loop", |app| {
        app.evidence.page.as_ref().is_some_and(|it| it.counts.total == 2)
    });
    // The run and the record of its execution both name the attempt.
    let attempt = Some(Attempt { loop_id, number: 1 });
    assert_eq!(bench.app.view().plan.unwrap().of_loop, attempt);
    let hits = &bench.app.evidence.page.as_ref().unwrap().hits;
    let hit =
        hits.iter().find(|hit| hit.listed.row.run_id == run_id).unwrap().listed.row.execution_id;
    bench.app.shared.attempts.clear();
    bench.act(Action::Evidence(EvidenceAction::Open(hit)));
    bench.wait_until("the record", |app| app.evidence.detail.is_some());
    assert_eq!(bench.app.view().evidence.attempt, attempt);
    bench.app.loop_page.live = None;
    bench.act(Action::Do(Command::GoLoop));
    bench.act(Action::Loop(LoopAction::Show(loop_id)));
    bench.wait_until("the loop", |app| app.loop_page.shown_state().is_some());
    let view = bench.app.view();
    let Shown::Loop(timeline) = &view.looping.shown else { panic!("no loop is shown") };
    assert!(timeline.shown.recorded && matches!(timeline.shown.state.phase, LoopPhase::Ended(_)));
    assert_eq!(timeline.shown.planner_output.get(&1).map(String::as_str), Some("thinking\n"));
}

/// The plan that the person looks at stays, and its bar leads to the plan of the next attempt.
#[test]
fn the_plan_of_an_attempt_says_how_the_loop_went_on() {
    let mut bench = Bench::new();
    bench.fill(&["exit 3", "echo heron > egg"]);
    bench.act(Action::Do(Command::StartLoop));
    bench.wait_for_attempt(1);
    bench.act(Action::Do(Command::OpenAttempt));
    bench.act(Action::Plan(PlanAction::SelectStep(0)));
    bench.authorize_attempt(1);
    bench.wait_for_attempt(2);
    let view = bench.app.view();
    let sequel = view.plan.unwrap().sequel.unwrap();
    assert_eq!((sequel.title.as_str(), sequel.is_over), ("A step failed", false));
    assert_eq!(sequel.detail, "Attempt 2 waits for you.");
    assert_eq!(sequel.leads_to, Some(Command::OpenAttempt));
    assert_eq!(view.status.leads_to, Some(Command::OpenAttempt));
    // The next plan says why there is one.
    bench.act(Action::Do(Command::OpenAttempt));
    let prequel = bench.app.view().plan.unwrap().prequel.unwrap();
    let (first, reason) = prequel.split_once('\n').unwrap();
    assert_eq!(first, "Attempt 2 of 3, because of attempt 1: a step failed.");
    assert!(!reason.is_empty(), "what failed");
    bench.authorize_attempt(2);
    assert_eq!(bench.wait_for_loop_end(), StopCode::Completed);
    let sequel = bench.app.view().plan.unwrap().sequel.unwrap();
    assert_eq!((sequel.leads_to, sequel.is_over), (None, true));
    assert!(sequel.title.starts_with("Loop ended"), "{}", sequel.title);
}

/// One plan takes back what all attempts changed. It is opened, authorized and run like any other.
#[test]
fn whole_loop_is_reverted_from_its_page() {
    let mut bench = Bench::new();
    let file = bench.file("egg", "none");
    let steps = |new: &str, then: &str| {
        let edits =
            format!(r#"{{"edits": [{{"op": "write", "path": "egg", "contents": "{new}"}}]}}"#);
        format!(
            r#"{{"version": "2026-02-19", "goal": "g", "actions": [{{"type": "mutate_batch",
                "request": {edits}}}{then}]}}"#
        )
    };
    let fails = r#", {"type": "mutate_batch", "request": {"edits": [{"op": "replace", "path": "egg",
                "old": "absent", "new": ""}]}}"#;
    bench.fill_with(&scripted([steps("heron", fails), steps("egret", "")]));
    bench.act(Action::Do(Command::StartLoop));
    bench.authorize_attempt(1);
    assert!(!bench.app.situation().loop_changed_files, "the loop is under way");
    bench.authorize_attempt(2);
    assert_eq!(bench.wait_for_loop_end(), StopCode::Completed);
    bench.wait_until("the end of the run", |app| !app.is_busy());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "egret");

    bench.act(Action::Do(Command::GoLoop));
    assert!(bench.app.situation().loop_changed_files);
    let loop_id = bench.app.loop_page.shown_state().unwrap().loop_id.unwrap();
    bench.act(Action::Do(Command::RevertLoop));
    bench.wait_until("the plan", |app| {
        let plan = app.plan.shown.as_ref().and_then(|session| session.opened.plan.as_ref());
        plan.is_some_and(|plan| plan.reverted_loop() == Some(loop_id))
    });
    assert_eq!(bench.app.shared.page, Page::Plan);
    assert!(bench.session().opened.continues.is_some());
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(0);
    bench.answer(0, Decision::Approve);
    bench.wait_for_end();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "none");
}

/// Meanwhile other plans can be opened and authorized. Only a decision in the dialog about the attempt's plan counts.
#[test]
fn a_waiting_plan_survives_other_plans() {
    let mut bench = Bench::new();
    let other = bench.file("plan.json", PLAN);
    bench.file("a.txt", "bittern\n");
    bench.fill(&["echo heron > egg"]);
    bench.act(Action::Do(Command::StartLoop));
    bench.wait_for_attempt(1);
    bench.open(&other);
    assert!(bench.app.situation().attempt_waits);
    // Authorizing another plan decides nothing for the loop, and the other plan cannot run meanwhile.
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    assert!(bench.app.plan.awaiting_attempt().is_some() && bench.app.plan.running().is_none());
    bench.act(Action::Do(Command::OpenAttempt));
    // Without an open dialog, an action of a view authorizes nothing.
    let digest = bench.session().opened.digest;
    bench.act(Action::Dialog(DialogAction::Authorize(digest)));
    assert_eq!(bench.session().approval, Approval::None);
    bench.open(&other);
    bench.act(Action::Do(Command::OpenAttempt));
    assert_eq!(bench.session().opened.digest, digest, "the session was kept");
    bench.act(Action::Do(Command::Reject));
    let reason = "not an egg".to_owned();
    bench.act(Action::Dialog(DialogAction::Reject { digest, reason, replan: false }));
    assert_eq!(bench.wait_for_loop_end(), StopCode::NotAuthorized);
    assert!(matches!(bench.session().approval, Approval::Rejected(_)));
    assert!(bench.session().not_authorizable().is_some(), "the loop no longer awaits a decision");
    assert!(!bench.workspace.path().join("egg").exists());
}

#[test]
fn a_stop_ends_the_loop_and_question() {
    let mut bench = Bench::new();
    bench.fill(&["echo heron > egg"]);
    bench.act(Action::Do(Command::StartLoop));
    bench.wait_for_attempt(1);
    bench.act(Action::Do(Command::OpenAttempt));
    bench.act(Action::Do(Command::Authorize));
    bench.act(Action::Do(Command::StopNow));
    assert_eq!(bench.wait_for_loop_end(), StopCode::OperatorStopped);
    assert!(bench.app.view().dialog.is_none());
    assert!(bench.app.shared.notices.iter().any(|notice| notice.tone == Tone::Caution));
    assert!(!bench.workspace.path().join("egg").exists());
    // A stop also works while the planner hangs.
    bench.fill_with("sleep 600");
    bench.act(Action::Do(Command::StartLoop));
    bench.wait_until("the planner", |app| {
        app.loop_page.under_way().is_some_and(|live| live.state.phase == LoopPhase::Planning)
    });
    bench.act(Action::Do(Command::StopNow));
    assert_eq!(bench.wait_for_loop_end(), StopCode::OperatorStopped);
}

#[test]
fn a_refused_loop_returns_to_its_form() {
    let mut bench = Bench::new();
    bench.act(Action::Do(Command::NewLoop));
    bench.act(Action::Do(Command::StartLoop));
    assert!(bench.app.loop_page.live.is_none());
    assert_eq!(bench.app.situation().form_lacks, Some("Enter a goal."));
    bench.fill_with("true");
    bench.app.loop_page.form.max_attempts.clear();
    bench.act(Action::Do(Command::StartLoop));
    assert!(bench.app.loop_page.form.start_attempted && bench.app.loop_page.live.is_none());
    bench.fill_with("true");
    bench.app.loop_page.form.workspace = "/no/such/folder".to_owned();
    bench.act(Action::Do(Command::StartLoop));
    bench.wait_until("the refusal", |app| app.loop_page.form.refusal.is_some());
    assert!(matches!(bench.app.view().looping.shown, Shown::Form(_)));
    assert!(!bench.app.is_busy());
}

/// The class authorizes plans inside it. Other plans await a decision. The class can be revoked.
#[test]
fn a_class_authorizes_until_revoked() {
    let mut bench = Bench::new();
    bench.fill(&["exit 3", "echo heron > egg"]);
    bench.app.loop_page.form.class.on = true;
    bench.app.loop_page.form.class.tools.insert("shell");
    bench.app.loop_page.form.class.max_attempts = "1".to_owned();
    bench.app.loop_page.form.class.max_risk = crate::plan::RiskLevel::Caution;
    bench.act(Action::Do(Command::StartLoop));
    bench.wait_for_attempt(2);
    let live = bench.app.loop_page.live.as_ref().unwrap();
    let (approved, how) = live.state.attempts[0].authorized.clone().unwrap();
    assert!(approved && how.contains("authorization class"), "{how}");
    assert!(matches!(live.state.phase, LoopPhase::AwaitingAuthorization(ref it) if it.len() == 1));
    let class_id = live.state.class_id.unwrap();
    bench.act(Action::Loop(LoopAction::RevokeClass(class_id)));
    bench.wait_until("the revocation", |app| app.loop_page.live.as_ref().unwrap().class_revoked);
    bench.authorize_attempt(2);
    assert_eq!(bench.wait_for_loop_end(), StopCode::Completed);
}

/// A plan that did not run can be looked at, and authorized after all.
#[test]
fn the_plan_of_a_rejected_attempt_opens_from_its_loop() {
    let mut bench = Bench::new();
    bench.fill(&["echo heron > egg"]);
    bench.act(Action::Do(Command::StartLoop));
    bench.wait_for_attempt(1);
    bench.act(Action::Do(Command::OpenAttempt));
    bench.act(Action::Do(Command::Reject));
    let digest = bench.session().opened.digest;
    let reason = "not now".to_owned();
    bench.act(Action::Dialog(DialogAction::Reject { digest, reason, replan: false }));
    assert_eq!(bench.wait_for_loop_end(), StopCode::NotAuthorized);
    let loop_id = bench.app.loop_page.shown_state().unwrap().loop_id.unwrap();
    (bench.app.plan.shown, bench.app.plan.live, bench.app.loop_page.live) = (None, None, None);
    bench.act(Action::Do(Command::GoLoop));
    bench.act(Action::Loop(LoopAction::Show(loop_id)));
    bench.wait_until("the loop", |app| app.loop_page.shown_state().is_some());
    bench.act(Action::Loop(LoopAction::OpenAttempt(1)));
    bench.wait_until("its plan", |app| app.plan.shown.is_some());
    assert_eq!((bench.app.shared.page, bench.session().opened.digest), (Page::Plan, digest));
    let workspace = bench.workspace.path().canonicalize().unwrap();
    assert_eq!(bench.app.plan.review().unwrap().workspace, workspace);
    assert!(bench.session().opened.rejected.is_some(), "the page says so");
    bench.authorize();
}

/// The page of a loop leads to a question of its run whose dialog is closed; a denied step did not fail.
#[test]
fn a_loop_says_that_a_step_waits_and_was_denied() {
    let mut bench = Bench::new();
    let plan = r#"{"plan_id": "p", "intent": "MUTATE", "title": "Egg", "steps": [{"step_id": "a",
        "tool": "file_create", "requires_confirmation": true,
        "arguments": {"path": "egg", "contents": "heron"}}]}"#;
    bench.fill_with(&scripted([plan.to_owned(), plan.to_owned()]));
    bench.act(Action::Do(Command::StartLoop));
    bench.authorize_attempt(1);
    bench.wait_for_confirmation(0);
    bench.act(Action::Dialog(DialogAction::LeaveUndecided));
    bench.act(Action::Do(Command::GoLoop));
    let bar = crate::ui::loop_page::bar_of(&bench.app.view().looping, &bench.app.situation());
    assert_eq!((bar.title.as_str(), bar.primary), ("Waiting for you", Some(Command::AnswerStep)));
    assert_eq!(bar.detail, "Attempt 1 of 3: step 1 waits for your answer");
    bench.act(Action::Do(Command::AnswerStep));
    assert!(bench.app.view().dialog.is_some());
    bench.answer(0, Decision::Cancel);
    bench.wait_for_attempt(2);
    let state = &bench.app.loop_page.live.as_ref().unwrap().state;
    assert_eq!(attempt_look(state, &state.attempts[0]).1, "a step was denied");
    let rows = crate::ui::loop_page::action_rows(&state.attempts[0], None);
    assert_eq!(rows[0].look.1, "denied");
}

/// The page tells what a run did for which nobody was asked, and that nobody was.
#[test]
fn a_run_by_a_class_says_so_and_what_it_did() {
    let mut bench = Bench::new();
    let plan = |tool: &str, path: &str| {
        format!(
            r#"{{"plan_id": "p", "intent": "MUTATE", "title": "Egg", "steps": [{{"step_id": "a",
                "tool": "{tool}", "arguments": {{"path": "{path}", "contents": "heron"}}}}]}}"#
        )
    };
    bench.fill_with(&scripted([plan("file_write", "nest"), plan("file_create", "egg")]));
    let class = &mut bench.app.loop_page.form.class;
    class.on = true;
    class.tools.insert("file_create");
    class.paths = ".".to_owned();
    class.max_risk = crate::plan::RiskLevel::Caution;
    bench.act(Action::Do(Command::StartLoop));
    bench.wait_for_attempt(1);
    bench.act(Action::Do(Command::OpenAttempt));
    bench.act(Action::Do(Command::Reject));
    let (digest, reason) = (bench.session().opened.digest, "elsewhere".to_owned());
    bench.act(Action::Dialog(DialogAction::Reject { digest, reason, replan: true }));
    bench.wait_for_loop_end();
    bench.wait_until("the end of the run", |app| !app.is_busy());
    let view = bench.app.view();
    let shown = view.plan.unwrap();
    assert_eq!(shown.attempt.map(|it| (it.attempt.number, it.by_class)), Some((2, true)));
    assert_eq!(shown.done.unwrap().files, [("egg".to_owned(), FileFate::New)]);
}
