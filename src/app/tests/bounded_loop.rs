//! A bounded loop from the form to its end, with a scripted planner.

use super::*;
use crate::autonomy::scripted;
use crate::run::{Attempt, LoopPhase, StopCode};
use crate::ui::action::LoopAction;
use crate::ui::loop_page::{LoopForm, PlannerChoice, Shown};
use crate::ui::theme::Tone;

impl Bench {
    /// Fills the form: call `n` of the planner prints plan `n`.
    fn fill(&mut self, plans: &[&str]) {
        let plans = plans
            .iter()
            .map(|plan| format!(r#"{{"goal": "an egg", "steps": [{{"command": "{plan}"}}]}}"#));
        self.fill_with(&scripted(plans));
    }

    fn fill_with(&mut self, command: &str) {
        let workspace = self.workspace.path().canonicalize().unwrap();
        self.act(Action::Do(Command::NewLoop));
        let Shown::Form(form) = self.app.view().looping.shown else { panic!("no form") };
        assert!(form.focus_goal, "what is typed now is the goal");
        self.act(Action::Loop(LoopAction::Edit(Box::new(LoopForm {
            goal: "an egg".to_owned(),
            planner: PlannerChoice::Command,
            command: command.to_owned(),
            workspace: workspace.display().to_string(),
            ..LoopForm::default()
        }))));
    }

    fn waits(&mut self, number: u32) {
        self.until("a plan that waits", |app| {
            let waiting = app.plan.waiting_attempt().and_then(|session| session.attempt);
            waiting.is_some_and(|attempt| attempt.attempt.number == number)
        });
    }

    /// Opens the waiting plan, and authorizes it in the dialog.
    fn sign(&mut self, number: u32) {
        self.waits(number);
        self.act(Action::Do(Command::OpenAttempt));
        assert_eq!(self.app.shared.page, Page::Plan);
        assert_eq!(self.session().attempt.unwrap().attempt.number, number);
        self.act(Action::Do(Command::Authorize));
        let digest = self.session().opened.digest;
        let Question::Authorize(view) = self.app.view().dialog.unwrap().question else {
            panic!("another question")
        };
        let of_loop = view.attempt.map(|it| (it.attempt.number, it.max_attempts));
        assert_eq!((view.plan.digest, of_loop), (digest, Some((number, 3))));
        self.act(Action::Dialog(DialogAction::Authorize(digest)));
    }

    fn loop_ended(&mut self) -> StopCode {
        self.until("the end of the loop", |app| {
            app.loops.live.as_ref().is_some_and(|live| live.ended_at_ms.is_some())
        });
        let live = self.app.loops.live.as_ref().unwrap();
        let LoopPhase::Ended(reason) = &live.state.phase else { panic!("it has no reason") };
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
    bench.sign(1);
    bench.waits(2);
    assert_eq!(bench.session().attempt.unwrap().attempt.number, 2, "the page follows its loop");
    assert!(!bench.workspace.path().join("egg").exists(), "nothing runs by itself");
    bench.sign(2);
    assert_eq!(bench.loop_ended(), StopCode::Completed);
    let egg = std::fs::read_to_string(bench.workspace.path().join("egg")).unwrap();
    assert_eq!(egg, "heron\n");
    bench.until("its run is over", |app| !app.is_busy());
    assert_eq!(bench.session().run.phase, Phase::Ended(RunStatus::Completed));
    let live = bench.app.loops.live.as_ref().unwrap();
    let [first, second] = live.state.attempts.as_slice() else { panic!("{:?}", live.state) };
    assert_eq!(first.planner_output, "thinking\n");
    assert_eq!(second.revised.as_ref().unwrap().1.changed, 1);
    let (loop_id, run_id) =
        (live.state.loop_id.unwrap(), first.run.as_ref().unwrap().run_id.unwrap());

    // The first attempt is no longer on the page and is read from the evidence.
    bench.act(Action::Loop(LoopAction::OpenAttempt(1)));
    bench.until("the run", |app| app.plan.shown.as_ref().unwrap().run.run_id == Some(run_id));
    bench.until("the list", |app| {
        app.loops.loops.first().is_some_and(|it| it.ended_at_ms.is_some())
    });
    bench.act(Action::Evidence(EvidenceAction::Search(format!("loop:{loop_id}"))));
    bench.until("its records", |app| app.evidence.page.as_ref().is_some_and(|it| it.total == 2));
    // The record and its run both link to the loop.
    let attempt = Some(Attempt { loop_id, number: 1 });
    assert_eq!(bench.app.view().plan.unwrap().of_loop, attempt);
    let hits = &bench.app.evidence.page.as_ref().unwrap().hits;
    let hit = hits.iter().find(|hit| hit.row.run_id == run_id).unwrap().row.execution_id;
    bench.app.shared.attempts.clear();
    bench.act(Action::Evidence(EvidenceAction::Open(hit)));
    bench.until("the record", |app| app.evidence.detail.is_some());
    assert_eq!(bench.app.view().evidence.attempt, attempt);
    bench.app.loops.live = None;
    bench.act(Action::Do(Command::GoLoop));
    bench.act(Action::Loop(LoopAction::Show(loop_id)));
    bench.until("the loop", |app| app.loops.shown_state().is_some());
    let view = bench.app.view();
    let Shown::Loop(timeline) = &view.looping.shown else { panic!("no loop is shown") };
    assert!(timeline.shown.recorded && matches!(timeline.shown.state.phase, LoopPhase::Ended(_)));
    assert_eq!(timeline.shown.planner_output.get(&1).map(String::as_str), Some("thinking\n"));
}

/// Other plans can be opened and authorized meanwhile; only the answer in the waiting plan's dialog counts.
#[test]
fn a_waiting_plan_survives_other_plans() {
    let mut bench = Bench::new();
    let other = bench.file("plan.json", PLAN);
    bench.file("a.txt", "bittern\n");
    bench.fill(&["echo heron > egg"]);
    bench.act(Action::Do(Command::StartLoop));
    bench.waits(1);
    bench.open(&other);
    assert!(bench.app.situation().attempt_waits);
    // Another plan can be authorized meanwhile. That answers nothing of the loop, and the other plan cannot run.
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    assert!(bench.app.plan.waiting_attempt().is_some() && bench.app.plan.running().is_none());
    bench.act(Action::Do(Command::OpenAttempt));
    // Without the dialog nothing is authorized, whatever actions a view reports.
    let digest = bench.session().opened.digest;
    bench.act(Action::Dialog(DialogAction::Authorize(digest)));
    assert_eq!(bench.session().approval, Approval::None);
    bench.open(&other);
    bench.act(Action::Do(Command::OpenAttempt));
    assert_eq!(bench.session().opened.digest, digest, "it has stayed");
    bench.act(Action::Do(Command::Reject));
    let reason = "not an egg".to_owned();
    bench.act(Action::Dialog(DialogAction::Reject { digest, reason }));
    assert_eq!(bench.loop_ended(), StopCode::NotAuthorized);
    assert!(matches!(bench.session().approval, Approval::Rejected(_)));
    assert!(bench.session().not_authorizable().is_some(), "nobody waits for it any longer");
    assert!(!bench.workspace.path().join("egg").exists());
}

#[test]
fn a_stop_ends_the_loop_and_question() {
    let mut bench = Bench::new();
    bench.fill(&["echo heron > egg"]);
    bench.act(Action::Do(Command::StartLoop));
    bench.waits(1);
    bench.act(Action::Do(Command::OpenAttempt));
    bench.act(Action::Do(Command::Authorize));
    bench.act(Action::Do(Command::StopNow));
    assert_eq!(bench.loop_ended(), StopCode::OperatorStopped);
    assert!(bench.app.view().dialog.is_none());
    assert!(bench.app.shared.notices.iter().any(|notice| notice.tone == Tone::Caution));
    assert!(!bench.workspace.path().join("egg").exists());
    // A stop also works while the planner hangs.
    bench.fill_with("sleep 600");
    bench.act(Action::Do(Command::StartLoop));
    bench.until("the planner is at work", |app| {
        app.loops.under_way().is_some_and(|live| live.state.phase == LoopPhase::Planning)
    });
    bench.act(Action::Do(Command::StopNow));
    assert_eq!(bench.loop_ended(), StopCode::OperatorStopped);
}

#[test]
fn a_refused_loop_returns_to_its_form() {
    let mut bench = Bench::new();
    bench.act(Action::Do(Command::NewLoop));
    bench.act(Action::Do(Command::StartLoop));
    assert!(bench.app.loops.form.start_attempted && bench.app.loops.live.is_none());
    bench.fill_with("true");
    bench.app.loops.form.workspace = "/there/is/no/such/folder".to_owned();
    bench.act(Action::Do(Command::StartLoop));
    bench.until("the refusal", |app| app.loops.form.refusal.is_some());
    assert!(matches!(bench.app.view().looping.shown, Shown::Form(_)));
    assert!(!bench.app.is_busy());
}

/// A plan inside the class is authorized by it; plans outside wait, and the class can be revoked.
#[test]
fn a_class_authorizes_until_revoked() {
    let mut bench = Bench::new();
    bench.fill(&["exit 3", "echo heron > egg"]);
    bench.app.loops.form.class.on = true;
    bench.app.loops.form.class.tools.insert("shell");
    bench.app.loops.form.class.max_attempts = "1".to_owned();
    bench.app.loops.form.class.max_risk = crate::plan::RiskLevel::Caution;
    bench.act(Action::Do(Command::StartLoop));
    bench.waits(2);
    let live = bench.app.loops.live.as_ref().unwrap();
    let (approved, how) = live.state.attempts[0].authorized.clone().unwrap();
    assert!(approved && how.contains("authorization class"), "{how}");
    assert!(matches!(live.state.phase, LoopPhase::AwaitingAuthorization(ref it) if it.len() == 1));
    let class_id = live.state.class_id.unwrap();
    bench.act(Action::Loop(LoopAction::RevokeClass(class_id)));
    bench.until("it is revoked", |app| app.loops.live.as_ref().unwrap().class_revoked);
    bench.sign(2);
    assert_eq!(bench.loop_ended(), StopCode::Completed);
}

#[test]
fn unusable_folders_prevent_the_start() {
    let mut bench = Bench::new();
    bench.fill_with("true");
    let start = |app: &App| (Command::StartLoop.spec().unavailable)(&app.situation());
    bench.until("the folder was looked at", |app| app.loops.place().is_some());
    assert_eq!(start(&bench.app), None);
    let edit = |bench: &mut Bench, change: &dyn Fn(&mut LoopForm)| {
        let mut form = bench.app.loops.form.clone();
        change(&mut form);
        bench.act(Action::Loop(LoopAction::Edit(Box::new(form))));
        assert!(bench.app.loops.place().is_none(), "what was seen is of another folder");
        bench.until("the folder was looked at", |app| app.loops.place().is_some());
    };
    let there = bench.workspace.path().canonicalize().unwrap();
    let nest = there.join("nest");
    edit(&mut bench, &|form| form.workspace = nest.display().to_string());
    assert_eq!(start(&bench.app), Some("The workspace folder does not exist."));
    bench.act(Action::Do(Command::StartLoop));
    assert!(bench.app.loops.live.is_none());
    // Without typing, the folder is checked again after a while.
    std::fs::create_dir(&nest).unwrap();
    bench.until("it is there now", |app| start(app).is_none());

    std::fs::write(there.join("file"), "").unwrap();
    edit(&mut bench, &|form| form.workspace = there.join("file").display().to_string());
    assert_eq!(start(&bench.app), Some("The workspace is not a folder."));
    edit(&mut bench, &|form| {
        form.workspace = there.display().to_string();
        form.planner = PlannerChoice::Replay;
        form.folder = "eggs".to_owned();
    });
    assert_eq!(start(&bench.app), Some("The folder with the plans does not exist."));
    edit(&mut bench, &|form| form.folder = "nest".to_owned());
    assert_eq!(start(&bench.app), Some("The folder with the plans contains no plan."));
    std::fs::write(nest.join("1.json"), "{}").unwrap();
    bench.until("a plan is there now", |app| start(app).is_none());
    // The folder of the plans matters only for the replay planner.
    edit(&mut bench, &|form| form.folder = "eggs".to_owned());
    edit(&mut bench, &|form| form.planner = PlannerChoice::CargoFix);
    assert_eq!(start(&bench.app), None);
}

/// The commands of the workspace are trusted from the form of the loop.
#[test]
fn a_loop_verifies_with_trusted_commands() {
    let mut bench = Bench::new();
    let file = bench.file("countersign.toml", "[verify.local]\ncommand = \"touch verified\"\n");
    bench.fill(&["echo heron > egg"]);
    let trusted = |app: &App| {
        let commands = app.loops.place()?.commands.as_ref().ok()?.as_ref()?;
        Some(commands.trusted)
    };
    bench.until("the commands", |app| trusted(app) == Some(false));
    assert_eq!(bench.app.loops.place().unwrap().verified_by.len(), 2);

    // A change of the file closes the dialog about it.
    bench.act(Action::Loop(LoopAction::ReviewCommands));
    assert!(bench.app.view().dialog.is_some());
    std::fs::write(&file, "[verify.local]\ncommand = \"touch checked\"\n").unwrap();
    bench.app.loops.look_at_folders(0, &bench.app.shared);
    bench.until("no question", |app| app.shared.prompt.is_none());
    assert!(bench.app.shared.notices.iter().any(|it| it.summary.contains("file countersign.toml")));

    bench.act(Action::Loop(LoopAction::ReviewCommands));
    let view = bench.app.view();
    let Some(Question::Trust { commands, of_plan, .. }) = view.dialog.map(|it| it.question) else {
        panic!("the question is in front");
    };
    assert!(!of_plan && commands.commands[0].command == "touch checked");
    let digest = commands.digest;
    bench.act(Action::Dialog(DialogAction::Trust { digest, trusted: true }));
    bench.until("they are trusted", |app| trusted(app) == Some(true));

    bench.act(Action::Do(Command::StartLoop));
    bench.sign(1);
    assert_eq!(bench.loop_ended(), StopCode::Completed);
    assert!(bench.workspace.path().join("checked").exists());
}

/// The loop ends unauthorized instead of verifying with commands that nobody trusts.
#[test]
fn a_loop_never_runs_untrusted_commands() {
    let mut bench = Bench::new();
    bench.file("countersign.toml", "[verify.local]\ncommand = \"touch verified\"\n");
    bench.fill(&["echo heron > egg"]);
    bench.act(Action::Do(Command::StartLoop));
    assert_eq!(bench.loop_ended(), StopCode::NotAuthorized);
    assert!(!bench.workspace.path().join("verified").exists());
}

/// Of a very long output of the planner, the page shows the end.
#[test]
fn a_recorded_loop_shows_planner_stderr_end() {
    let mut bench = Bench::new();
    bench.fill(&["true"]);
    let command = bench.app.loops.form.command.clone();
    let talks = "seq 1 200000 | sed 's/^/heron /' >&2";
    bench.app.loops.form.command = command.replace("echo thinking >&2", talks);
    bench.act(Action::Do(Command::StartLoop));
    bench.waits(1);
    bench.act(Action::Do(Command::StopNow));
    assert_eq!(bench.loop_ended(), StopCode::OperatorStopped);
    let loop_id = bench.app.loops.live.take().unwrap().state.loop_id.unwrap();
    bench.act(Action::Loop(LoopAction::Show(loop_id)));
    bench.until("the loop", |app| app.loops.shown_state().is_some());
    let view = bench.app.view();
    let Shown::Loop(timeline) = &view.looping.shown else { panic!("no loop is shown") };
    let printed = &timeline.shown.planner_output[&1];
    assert!(printed.ends_with("heron 199999\nheron 200000\n"), "{printed}");
    assert!(printed.len() <= 16 << 10, "{}", printed.len());
}
