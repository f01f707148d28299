//! Tests of the window's state with real threads and evidence, without a display.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use uuid::Uuid;

use super::plan_page::PlanSession;
use super::shared::Prompt;
use super::*;

#[cfg(target_os = "linux")]
mod agents;
mod artifacts;
mod authorizing;
#[cfg(unix)]
mod bounded_loop;
mod bug_report;
mod choices;
mod composing;
mod diagnostics;
mod evidence_hits;
mod exporting;
mod filtering;
#[cfg(unix)]
mod flood;
mod follow_ups;
#[cfg(unix)]
mod guided;
mod history;
mod inbox;
#[cfg(unix)]
mod inputs;
mod looking;
mod notices;
mod opening;
mod panics;
mod previews;
mod queue;
mod retention;
mod revising;
mod run_elsewhere;
mod secrets;
mod settings_page;
#[cfg(unix)]
mod signing;
mod simulation;
mod team;
mod tour;
#[cfg(unix)]
mod trust;
mod two_windows;
#[cfg(unix)]
mod void;

use crate::authorization::SinceBoot;
use crate::plan::{Dialect, Digest};
use crate::run::{Decision, Outcome, Phase, RunStatus};
use crate::ui::OnScreen;
use crate::ui::action::{Action, DialogAction, EvidenceAction, Page, PlanAction, Tab};
use crate::ui::commands::Command;
use crate::ui::dialog::Question;
use crate::ui::notice::Notice;
use crate::ui::plan::{Approval, MustSee};

/// A window without a display, with a workspace and a home folder of its own.
struct Bench {
    app: App,
    ctx: egui::Context,
    woken: Receiver<()>,
    workspace: tempfile::TempDir,
    folders: Folders,
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
            inbox: home.path().join("inbox"),
            window: home.path().join("window"),
            settings: home.path().join("settings"),
            home: home.path().to_owned(),
        };
        let mut loaded = settings::load(Some(home.path().join("settings.toml")));
        if !text.contains("must_see") {
            loaded.settings.must_see = MustSee::Nothing;
        }
        let (sender, woken) = sync_channel(1_024);
        let wake: Wake = Arc::new(move || {
            let _ = sender.try_send(());
        });
        let app = App::new(folders.clone(), loaded, wake).unwrap();
        Self { app, ctx: egui::Context::default(), woken, workspace, folders, _home: home }
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.workspace.path().canonicalize().unwrap().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Applies the messages of the threads until `condition` is true; `name` describes it.
    fn wait_until(&mut self, name: &str, condition: impl Fn(&App) -> bool) {
        wait_until(&mut self.app, &self.woken, name, condition);
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
        let reason = format!("why {step_index}");
        self.act(Action::Dialog(DialogAction::Answer { run_id, step_index, decision, reason }));
        assert_eq!(self.session().confirmation.answered, Some(step_index));
    }

    fn wait_for_end(&mut self) {
        self.wait_until("the end of the run", |app| {
            let session = app.plan.shown.as_ref().unwrap();
            session.run.is_over() && session.elapsed_ms.is_some()
        });
    }
}

fn wait_until(app: &mut App, woken: &Receiver<()>, name: &str, condition: impl Fn(&App) -> bool) {
    for _ in 0..2_000 {
        app.shared.now = now();
        app.drain();
        app.read_lists_when_due();
        app.read_rules_when_due(&egui::Context::default());
        if condition(app) {
            return;
        }
        let _ = woken.recv_timeout(Duration::from_millis(20));
    }
    panic!("timed out waiting for: {name}; notices: {:?}", app.shared.notices);
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
    bench.wait_until("hits", |app| {
        app.evidence.page.as_ref().is_some_and(|page| page.counts.total > 0)
    });
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
    bench.wait_until("hits", |app| {
        app.evidence.page.as_ref().is_some_and(|page| page.counts.total == 2)
    });
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
