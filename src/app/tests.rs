//! Tests of the window's state with real threads and evidence, without a display.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use uuid::Uuid;

use super::plan_page::PlanSession;
use super::shared::Prompt;
use super::*;

mod artifacts;
#[cfg(unix)]
mod bounded_loop;
mod diagnostics;
#[cfg(unix)]
mod flood;
#[cfg(unix)]
mod guided;
mod panics;
mod simulation;
#[cfg(unix)]
mod trust;
#[cfg(unix)]
mod void;

use crate::authorization::SinceBoot;
use crate::plan::Digest;
use crate::run::{Decision, Outcome, Phase, RunStatus};
use crate::ui::action::{Action, DialogAction, EvidenceAction, Page, PlanAction, Tab};
use crate::ui::commands::Command;
use crate::ui::dialog::Question;
use crate::ui::notice::Notice;
use crate::ui::plan::Approval;

/// A window without a display, with a workspace and a home folder of its own.
struct Bench {
    app: App,
    ctx: egui::Context,
    woken: Receiver<()>,
    workspace: tempfile::TempDir,
    _home: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Self::with_settings("")
    }

    fn with_settings(text: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("settings.toml"), text).unwrap();
        let workspace = tempfile::tempdir().unwrap();
        let folders = Folders {
            evidence: home.path().join("evidence"),
            secrets: home.path().join("secrets"),
            state: home.path().join("secrets-state"),
            settings: home.path().join("settings"),
            home: home.path().to_owned(),
        };
        let loaded = settings::load(Some(home.path().join("settings.toml")));
        let (sender, woken) = sync_channel(1_024);
        let wake: Wake = Arc::new(move || {
            let _ = sender.try_send(());
        });
        let app = App::new(folders, loaded, wake).unwrap();
        Self { app, ctx: egui::Context::default(), woken, workspace, _home: home }
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.workspace.path().canonicalize().unwrap().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Applies the messages of the threads until `condition` is true; `name` describes it.
    fn wait_until(&mut self, name: &str, condition: impl Fn(&App) -> bool) {
        for _ in 0..2_000 {
            self.app.shared.now = now();
            self.app.drain();
            if condition(&self.app) {
                return;
            }
            let _ = self.woken.recv_timeout(Duration::from_millis(20));
        }
        panic!("timed out waiting for: {name}; notices: {:?}", self.app.shared.notices);
    }

    fn act(&mut self, action: Action) {
        self.app.apply(action, &self.ctx);
    }

    fn open(&mut self, path: &Path) {
        self.act(Action::Plan(PlanAction::Open(path.to_owned())));
        let path = path.to_owned();
        self.wait_until("opened", |app| {
            app.plan.shown.as_ref().is_some_and(|session| session.path() == Some(path.as_path()))
        });
    }

    fn session(&self) -> &PlanSession {
        self.app.plan.shown.as_ref().unwrap()
    }

    fn authorize(&mut self) {
        self.act(Action::Do(Command::Authorize));
        let digest = self.session().opened.digest;
        assert!(matches!(self.app.view().dialog.unwrap().question, Question::Authorize(_)));
        self.act(Action::Dialog(DialogAction::Authorize(digest)));
        self.wait_until("authorized", |app| {
            matches!(app.plan.shown.as_ref().unwrap().approval, Approval::Approved { .. })
        });
    }

    /// Waits until the run needs the confirmation of this step.
    fn wait_for_confirmation(&mut self, step: usize) {
        self.wait_until("a confirmation", |app| {
            let request = app.plan.running().and_then(PlanSession::request);
            request.is_some_and(|request| request.step_index == step)
        });
    }

    fn answer(&mut self, step_index: usize, decision: Decision) {
        let run_id = self.session().run.run_id.unwrap();
        self.act(Action::Dialog(DialogAction::Answer { run_id, step_index, decision }));
        assert_eq!(self.session().confirmation.answered, Some(step_index));
    }

    fn wait_for_end(&mut self) {
        self.wait_until("the end of the run", |app| {
            let session = app.plan.shown.as_ref().unwrap();
            session.run.is_over() && session.elapsed_ms.is_some()
        });
    }
}

const PLAN: &str = r#"{
  "plan_id": "two-writes", "intent": "MUTATE", "title": "Two writes",
  "steps": [
    {"step_id": "read", "tool": "file_read", "arguments": {"path": "a.txt"}},
    {"step_id": "one", "tool": "file_write", "requires_confirmation": true,
     "arguments": {"path": "a.txt", "contents": "kingfisher\n"}},
    {"step_id": "two", "tool": "file_write", "requires_confirmation": true,
     "arguments": {"path": "b.txt", "contents": "heron\n"}}
  ]
}"#;

fn bench() -> (Bench, PathBuf) {
    let bench = Bench::new();
    bench.file("a.txt", "bittern\n");
    let plan = bench.file("plan.json", PLAN);
    (bench, plan)
}

/// Opens, authorizes and runs a plan, confirms its steps, and finds it in the evidence.
#[test]
fn a_plan_goes_from_file_to_evidence() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    assert_eq!(
        bench.app.situation().not_authorizable,
        None,
        "{:?}",
        bench.session().opened.findings
    );
    bench.wait_until("a preview", |app| {
        app.plan.shown.as_ref().unwrap().pane.previews.get(&0).is_some()
    });
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    assert!(bench.app.situation().running, "the run is shown before its first event");
    bench.wait_for_confirmation(1);
    assert_eq!(bench.session().pane.selected, 1, "the selection follows the run");
    let first = bench.app.view().dialog.unwrap().prompt;
    bench.answer(1, Decision::Approve);
    bench.wait_for_confirmation(2);
    let second = bench.app.view().dialog.unwrap().prompt;
    assert_ne!(first, second, "each confirmation has its own identity");
    bench.answer(2, Decision::Cancel);
    bench.wait_for_end();
    let session = bench.session();
    assert_eq!(session.run.phase, Phase::Ended(RunStatus::Failed));
    let outcomes: Vec<_> = session.run.steps.iter().map(|step| step.outcome().unwrap()).collect();
    assert_eq!(outcomes, [Outcome::Succeeded, Outcome::Succeeded, Outcome::Denied]);
    let folder = plan.parent().unwrap();
    assert_eq!(std::fs::read_to_string(folder.join("a.txt")).unwrap(), "kingfisher\n");
    assert!(!folder.join("b.txt").exists());

    bench.act(Action::Evidence(EvidenceAction::Search("kingfisher".into())));
    bench.wait_until("hits", |app| app.evidence.page.as_ref().is_some_and(|page| page.total > 0));
    let hit = bench.app.evidence.page.as_ref().unwrap().hits[0].listed.row.execution_id;
    bench.act(Action::Evidence(EvidenceAction::Open(hit)));
    bench.wait_until("the record", |app| app.evidence.detail.is_some());
    bench.wait_until("the runs", |app| !app.plan.runs.is_empty());
    let run_id = bench.app.plan.runs[0].run_id;
    bench.app.plan.shown = None;
    bench.act(Action::Plan(PlanAction::OpenRun(run_id)));
    bench.wait_until("the replay", |app| app.plan.shown.is_some());
    assert_eq!(bench.session().approval, Approval::Recorded);
    assert_eq!(bench.session().run.phase, Phase::Ended(RunStatus::Failed));
    bench.act(Action::Plan(PlanAction::ShowTab(Tab::Evidence)));
    let id = bench.session().selected_execution().unwrap();
    bench.wait_until("its record", |app| {
        app.plan.shown.as_ref().unwrap().pane.executions.get(&id).is_some()
    });
}

#[test]
fn arrow_keys_open_the_next_result() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    bench.answer(1, Decision::Cancel);
    bench.wait_for_end();
    bench.act(Action::Do(Command::GoEvidence));
    bench.wait_until("hits", |app| app.evidence.page.as_ref().is_some_and(|page| page.total == 2));
    let ids: Vec<_> = bench
        .app
        .evidence
        .page
        .as_ref()
        .unwrap()
        .hits
        .iter()
        .map(|hit| hit.listed.row.execution_id)
        .collect();
    let mut opened = Vec::new();
    for command in [Command::NextStep, Command::NextStep, Command::NextStep, Command::PreviousStep]
    {
        bench.act(Action::Do(command));
        opened.push(bench.app.evidence.selected.unwrap());
    }
    assert_eq!(opened, [ids[0], ids[1], ids[1], ids[0]]);
}

/// Closing the dialog decides nothing, and the dialog can be shown again.
#[test]
fn a_closed_question_stays_undecided() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    let first = bench.app.view().dialog.unwrap().prompt;
    bench.act(Action::Dialog(DialogAction::LeaveUndecided));
    assert!(bench.app.view().dialog.is_none());
    assert_eq!(bench.app.situation().asking, Some(1), "the step is undecided");
    bench.act(Action::Do(Command::AnswerStep));
    assert_ne!(bench.app.view().dialog.unwrap().prompt, first, "each display has a new identity");
    bench.act(Action::Do(Command::StopNow));
    bench.wait_for_end();
    assert_eq!(bench.session().run.phase, Phase::Ended(RunStatus::Cancelled));
}

/// The notice names the bad rule, and no plan can be authorized.
#[test]
fn a_bad_rule_prevents_authorization() {
    let mut bench = Bench::with_settings(
        "[[policy.command_rules]]\nid = \"mine\"\nprefix = [\"make\"]\nlevel = \"blocked\"\n\
         reason = \"no\"\nmust_match = [\"cargo build\"]\nmust_not_match = []\n",
    );
    assert!(bench.app.shared.notices.iter().any(|notice| notice.details.contains("\"mine\"")));
    bench.file("a.txt", "bittern\n");
    let plan = bench.file("plan.json", PLAN);
    bench.open(&plan);
    assert!(bench.app.situation().not_authorizable.is_some());
    let named = |finding: &crate::plan::Finding| {
        finding.code.as_str() == "E002" && finding.message.contains("\"mine\"")
    };
    assert!(
        bench.session().opened.findings.iter().any(named),
        "{:?}",
        bench.session().opened.findings
    );
    bench.act(Action::Do(Command::Authorize));
    assert!(bench.app.view().dialog.is_none(), "nothing can be authorized");
}

/// The notice names the file that changed.
#[test]
fn a_change_on_disk_voids_the_approval() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    bench.file("a.txt", "changed by another program\n");
    bench.app.plan.review_again(false, &mut bench.app.shared);
    bench.wait_until("a void approval", |app| {
        matches!(app.plan.shown.as_ref().unwrap().approval, Approval::Void(_))
    });
    let Approval::Void(changes) = &bench.session().approval else { panic!("not void") };
    assert_eq!(changes.iter().map(|c| c.what.as_str()).collect::<Vec<_>>(), ["file a.txt"]);
    assert!(bench.app.shared.notices.iter().any(|notice| notice.summary.contains("file a.txt")));
    assert!(!bench.app.situation().approved);
    bench.act(Action::Do(Command::Run));
    assert!(!bench.app.situation().running, "a void approval starts no run");
}

#[test]
fn the_question_shows_the_latest_review() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    let inputs = |bench: &Bench| match bench.app.view().dialog.unwrap().question {
        Question::Authorize(view) => Arc::clone(&view.inputs),
        question => panic!("{question:?}"),
    };
    bench.act(Action::Do(Command::Authorize));
    let before = inputs(&bench);
    assert!(Arc::ptr_eq(&before, &inputs(&bench)), "the list is computed once, not in each frame");
    bench.act(Action::Dialog(DialogAction::LeaveUndecided));
    let binding = bench.session().opened.review.as_ref().unwrap().binding.clone();
    bench.file("a.txt", "changed by another program\n");
    bench.app.plan.review_again(false, &mut bench.app.shared);
    bench.wait_until("another review", |app| {
        app.plan.shown.as_ref().unwrap().opened.review.as_ref().unwrap().binding != binding
    });
    bench.act(Action::Do(Command::Authorize));
    assert_ne!(inputs(&bench), before);
}

/// The notice is shown when the run ends.
#[test]
fn a_change_during_the_run_is_reported() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    std::fs::write(&plan, PLAN.replace("heron", "egret")).unwrap();
    bench.act(Action::Do(Command::StopNow));
    bench.wait_until("a notice", |app| {
        app.shared.notices.iter().any(|notice| notice.summary.contains("changed since its run"))
    });
}

/// The plan file changes while the run waits for a confirmation. The approved steps are executed.
#[test]
fn the_approved_bytes_run_despite_a_change() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    let approved = bench.session().opened.digest;
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    let changed = PLAN.replace("heron", "egret").replace("b.txt", "c.txt");
    std::fs::write(&plan, &changed).unwrap();
    let ctx = bench.ctx.clone();
    bench.app.run_timers(&ctx);
    assert_eq!(bench.session().opened.digest, approved, "the page still shows the plan that runs");
    bench.answer(1, Decision::Approve);
    bench.wait_for_confirmation(2);
    bench.answer(2, Decision::Approve);
    bench.wait_until("a notice", |app| {
        app.shared.notices.iter().any(|notice| notice.summary.contains("changed since its run"))
    });
    let folder = plan.parent().unwrap();
    assert_eq!(std::fs::read_to_string(folder.join("b.txt")).unwrap(), "heron\n");
    assert!(!folder.join("c.txt").exists());
    assert_eq!(
        bench.session().opened.digest,
        Digest::of(changed.as_bytes()),
        "the page shows the new file after the run"
    );
    assert!(!bench.app.situation().approved, "the new file is not approved");
    bench.wait_until("the runs", |app| app.plan.runs.iter().any(|run| run.plan_digest == approved));
}

#[derive(Debug)]
struct Dropped(PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        Err("only the path is used".to_owned())
    }
}

#[test]
fn a_dropped_file_is_opened() {
    let (mut bench, plan) = bench();
    let dropped = egui::RawInput {
        dropped_files: vec![Arc::new(Dropped(plan.clone()))],
        ..egui::RawInput::default()
    };
    let ctx = bench.ctx.clone();
    let app = &mut bench.app;
    let mut output = ctx.run_ui(dropped, |ui| app.open_dropped_file(ui.ctx()));
    output.textures_delta.clear();
    bench.wait_until("opened", |app| {
        app.plan.shown.as_ref().is_some_and(|session| session.path() == Some(plan.as_path()))
    });
}

#[test]
fn the_watch_finds_a_changed_plan() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    let before = bench.session().opened.digest;
    std::fs::write(&plan, PLAN.replace("heron", "egret")).unwrap();
    let ctx = bench.ctx.clone();
    for _ in 0..2_000 {
        bench.app.shared.now = now();
        bench.app.drain();
        bench.app.run_timers(&ctx);
        if bench.session().opened.digest != before {
            return;
        }
        let _ = bench.woken.recv_timeout(Duration::from_millis(20));
    }
    panic!("the change was not noticed");
}

#[test]
fn an_approval_runs_out() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    let session = bench.app.plan.shown.as_mut().unwrap();
    let authorization = session.authorization.clone().unwrap();
    let decided_at_ms = authorization.decided_at_ms;
    let (until_ms, given) = (authorization.expires_at_ms, authorization.given_since_boot.unwrap());
    assert_eq!(session.expire(until_ms - 1, &given), Some(1));
    // Setting the wall clock back does not extend the approval.
    let ttl_ms = until_ms - decided_at_ms;
    let later = |ms| SinceBoot { ms: given.ms + ms, ..given.clone() };
    assert_eq!(session.expire(decided_at_ms, &later(ttl_ms - 2)), Some(2));
    assert_eq!(session.expire(decided_at_ms, &later(ttl_ms)), None);
    assert_eq!(session.approval, Approval::Expired);
    bench.act(Action::Do(Command::Run));
    assert!(!bench.app.situation().running);
}

#[test]
fn a_rejection_is_kept_with_its_reason() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.act(Action::Do(Command::Reject));
    let digest = bench.session().opened.digest;
    let reason = "It writes too much.".to_owned();
    bench.act(Action::Dialog(DialogAction::Reject { digest, reason: reason.clone() }));
    bench.wait_until("rejected", |app| {
        app.plan.shown.as_ref().unwrap().approval == Approval::Rejected(reason.clone())
    });
}

/// The digest in the answer differs from that of the plan on the page.
#[test]
fn an_answer_to_another_plan_is_ignored() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.act(Action::Do(Command::Authorize));
    let other = crate::plan::Digest::of(b"another plan");
    bench.act(Action::Dialog(DialogAction::Authorize(other)));
    assert_eq!(bench.session().approval, Approval::None);
}

#[test]
fn another_plan_opens_during_a_run() {
    let (mut bench, plan) = bench();
    let other = bench.file("other.json", &PLAN.replace("two-writes", "other"));
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    bench.open(&other);
    assert!(bench.app.plan.live.is_some() && bench.app.situation().running);
    let run_id = bench.app.plan.live.as_ref().unwrap().run.run_id.unwrap();
    bench.act(Action::Plan(PlanAction::OpenRun(run_id)));
    assert_eq!(bench.session().path(), Some(plan.as_path()));
    bench.answer(1, Decision::Cancel);
    bench.wait_for_end();
}

#[test]
fn a_broken_plan_file_is_a_finding() {
    let mut bench = Bench::new();
    let broken = bench.file("broken.json", "{\"plan_id\": ");
    bench.open(&broken);
    assert!(!bench.session().opened.findings.is_empty());
    assert!(bench.app.situation().not_authorizable.is_some());
}

#[test]
fn the_tour_opens_and_can_be_authorized() {
    let mut bench = Bench::new();
    bench.act(Action::Do(Command::OpenTour));
    bench.wait_until("the tour", |app| app.plan.shown.is_some());
    assert_eq!(
        bench.app.situation().not_authorizable,
        None,
        "{:?}",
        bench.session().opened.findings
    );
    let path = bench.session().path().map(Path::to_path_buf).unwrap();
    let folder = path.parent().unwrap();
    assert!(folder.starts_with(std::env::temp_dir()), "{}", folder.display());
    std::fs::remove_dir_all(folder).unwrap();
}

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
    assert!(
        bench.app.shared.notices.iter().any(|it| it.summary.starts_with("No step of this run"))
    );
}
