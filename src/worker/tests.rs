//! The executor thread and the query thread, without a window.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

use super::*;
use crate::authorization::{ApprovedPlan, Method, PlanAuthorization};
use crate::evidence::EvidenceLocation;
use crate::plan::Code;
use crate::risk::Policy;
use crate::run::{
    Answer, AnsweredBy, ConfirmationRequest, Control, Decision, ExecutionResult, Failure, Outcome,
    Phase, RunEvent, RunFate, RunState, RunStatus, SettleMode,
};

#[cfg(unix)]
mod bounded_loop;
mod bounds;

/// A workspace, an evidence folder, and both threads.
struct Desktop {
    temp: TempDir,
    faults: Faults,
    worker: Worker,
    queries: QueryThread<()>,
}

fn desktop() -> Desktop {
    let temp = tempfile::tempdir().unwrap();
    std::fs::create_dir(temp.path().join("work")).unwrap();
    let setup = Setup {
        location: EvidenceLocation::new(temp.path().join("evidence"), temp.path().join("secrets")),
        policy: Policy::default(),
        faults: Faults::default(),
    };
    let wake: Wake = Arc::new(|| {});
    let worker = Worker::start(setup.clone(), Arc::clone(&wake)).unwrap();
    let queries = QueryThread::start(setup.clone(), wake).unwrap();
    Desktop { temp, faults: setup.faults, worker, queries }
}

impl Desktop {
    fn workspace(&self) -> PathBuf {
        self.temp.path().join("work")
    }

    /// Sends a query and waits for the answer.
    fn query<Q: Query>(&self, query: Q) -> Result<Q::Answer, QueryError> {
        let answer = self.send(query);
        self.take_next();
        answer.try_recv().expect("an answer to this query")
    }

    /// Sends a query. The receiver gets the answer when the test takes the next continuation.
    fn send<Q: Query>(&self, query: Q) -> Receiver<Result<Q::Answer, QueryError>> {
        let (sender, answer) = sync_channel(1);
        self.queries.send(query, move |(), answer| sender.try_send(answer).unwrap()).unwrap();
        answer
    }

    fn take_next(&self) {
        self.queries.recv().unwrap()(&mut ());
    }

    fn open(&self, steps: &Value) -> OpenedPlan {
        let path = self.workspace().join("p.plan.json");
        let plan = json!({"plan_id": "p", "intent": "MUTATE", "steps": steps});
        std::fs::write(&path, plan.to_string()).unwrap();
        self.query(open(path)).unwrap()
    }

    fn approve(&self, opened: &OpenedPlan) -> ApprovedPlan {
        let plan = Arc::unwrap_or_clone(opened.plan.clone().unwrap()).complete().unwrap();
        let binding = opened.review.as_ref().unwrap().binding.clone();
        let now_ms = SystemClock::default().now_ms();
        let authorization = PlanAuthorization::pending(&plan, binding, Method::Window, now_ms)
            .approve(now_ms, 60_000);
        let recorded = Box::new(authorization.clone());
        let query = RecordAuthorization { authorization: recorded, plan: Box::new(plan.clone()) };
        self.query(query).unwrap();
        ApprovedPlan { plan, authorization }
    }

    /// Runs a plan until the executor thread panics. Returns the message of the panic, and the state of the run.
    fn run_into_panic(&self, approved: ApprovedPlan) -> (String, RunState) {
        self.worker.send(Command::Run { approved: Box::new(approved), file: None }).unwrap();
        let mut state = RunState::default();
        loop {
            match self.worker.recv().unwrap() {
                Event::Run(event) => state.apply(&event),
                Event::Panicked { message } => return (message, state),
                Event::Finished(result) => panic!("the run ended: {result:?}"),
                loop_event => panic!("{loop_event:?}"),
            }
        }
    }

    /// Runs a plan to its end. Calls `answer` for each confirmation.
    fn run(
        &self,
        approved: ApprovedPlan,
        mut answer: impl FnMut(&Worker, &ConfirmationRequest),
    ) -> (Result<Box<ExecutionResult>, Failure>, RunState) {
        self.worker.send(Command::Run { approved: Box::new(approved), file: None }).unwrap();
        let mut state = RunState::default();
        loop {
            match self.worker.recv().unwrap() {
                Event::Run(event) => {
                    state.apply(&event);
                    if let RunEvent::ConfirmationNeeded { request } = &event {
                        answer(&self.worker, request);
                    }
                }
                Event::Finished(result) => return (result, state),
                Event::Panicked { message } => panic!("{message}"),
                loop_event => panic!("{loop_event:?}"),
            }
        }
    }
}

fn create(path: &str, requires_confirmation: bool) -> Value {
    json!({
        "tool": "file_create",
        "arguments": {"path": path, "contents": "hello\n"},
        "requires_confirmation": requires_confirmation,
    })
}

fn answer(decision: Decision) -> Answer {
    Answer { decision, by: AnsweredBy::Window, note: "a note".to_owned() }
}

/// Opens, authorizes and runs a plan, and reopens its run.
#[test]
fn a_replayed_run_equals_the_live_run() {
    let desktop = desktop();
    let opened = desktop.open(&json!([create("a.txt", true), create("b.txt", true)]));
    assert_eq!(opened.findings, []);
    let approved = desktop.approve(&opened);
    let (result, live) = desktop.run(approved, |worker, request| {
        // An answer about another step, or a second answer, is refused.
        assert!(!worker.answer(request.run_id, request.step_index + 1, answer(Decision::Approve)));
        let decision = [Decision::Approve, Decision::Skip][request.step_index];
        assert!(worker.answer(request.run_id, request.step_index, answer(decision)));
        assert!(!worker.answer(request.run_id, request.step_index, answer(Decision::Approve)));
    });
    let result = result.unwrap();
    assert_eq!(result.status, RunStatus::Completed);
    assert_eq!(live.phase, Phase::Ended(RunStatus::Completed));
    assert!(desktop.workspace().join("a.txt").exists());
    assert!(!desktop.workspace().join("b.txt").exists());

    let replayed = desktop.query(ReplayRun(result.run_id)).unwrap();
    let mut again = RunState::default();
    replayed.events.iter().for_each(|event| again.apply(event));
    assert_eq!(again, live, "the replayed state equals the live state");
    assert_eq!(replayed.plan, opened.plan);
}

/// A run that waits for an answer ends without one.
#[test]
fn stop_now_ends_a_waiting_run() {
    let desktop = desktop();
    let opened = desktop.open(&json!([create("a.txt", true)]));
    let approved = desktop.approve(&opened);
    let (result, _) = desktop.run(approved, |worker, _| worker.control(Control::StopNow));
    let result = result.unwrap();
    assert_eq!(result.status, RunStatus::Cancelled);
    assert_eq!(result.step_results[0].outcome, Outcome::Cancelled);
    assert_eq!(result.step_results[0].error_code, Some(Code::Cancelled));
    assert!(!desktop.workspace().join("a.txt").exists());
}

/// After a run, the executor thread still indexes the evidence while the window can already send the next run and stop
/// it.
#[test]
fn stop_now_counts_before_the_run_begins() {
    let mut desktop = desktop();
    let setup = Setup {
        location: EvidenceLocation::new(
            desktop.temp.path().join("evidence"),
            desktop.temp.path().join("secrets"),
        ),
        policy: Policy::default(),
        faults: Faults::default(),
    };
    // The first run ends at once. After that event, the thread blocks in `wake` until `release` is dropped.
    let (release, gate) = std::sync::mpsc::sync_channel::<()>(0);
    let gate = std::sync::Mutex::new(gate);
    let wake: Wake = Arc::new(move || {
        let _ = gate.lock().unwrap().recv();
    });
    desktop.worker = Worker::start(setup, wake).unwrap();
    let opened = desktop.open(&json!([create("a.txt", false)]));
    let mut refused = desktop.approve(&opened);
    refused.authorization = refused.authorization.reject(0, "no");
    desktop.worker.send(Command::Run { approved: Box::new(refused), file: None }).unwrap();
    assert!(matches!(desktop.worker.recv(), Some(Event::Finished(Err(_)))));

    let approved = desktop.approve(&opened);
    desktop.worker.send(Command::Run { approved: Box::new(approved), file: None }).unwrap();
    desktop.worker.control(Control::StopNow);
    drop(release);
    let ended = loop {
        if let Event::Finished(result) = desktop.worker.recv().unwrap() {
            break result.unwrap();
        }
    };
    assert_eq!(ended.status, RunStatus::Cancelled);
    assert!(!desktop.workspace().join("a.txt").exists());
}

#[test]
fn a_second_plan_is_refused_during_a_run() {
    let desktop = desktop();
    let opened = desktop.open(&json!([create("a.txt", true)]));
    let (first, second) = (desktop.approve(&opened), desktop.approve(&opened));
    let mut second = Some(second);
    let (result, _) = desktop.run(first, |worker, request| {
        let refused =
            worker.send(Command::Run { approved: Box::new(second.take().unwrap()), file: None });
        assert!(refused.is_err());
        // The query thread answers while the run waits.
        assert_eq!(desktop.query(ListRuns(5)).unwrap().len(), 1);
        assert!(worker.answer(request.run_id, request.step_index, answer(Decision::Cancel)));
    });
    assert_eq!(result.unwrap().status, RunStatus::Failed);
}

/// An approval is void once a covered file has changed.
#[test]
fn changed_file_voids_an_approval() {
    let desktop = desktop();
    std::fs::write(desktop.workspace().join("a.txt"), "before").unwrap();
    let write = json!({"tool": "file_write", "arguments": {"path": "a.txt", "contents": "after"}});
    let opened = desktop.open(&json!([write]));
    let approved = desktop.approve(&opened);
    std::fs::write(desktop.workspace().join("a.txt"), "changed").unwrap();
    let (result, state) = desktop.run(approved, |_, _| panic!("a confirmation"));
    assert_eq!(result.unwrap_err().code, Code::Stale);
    assert_eq!(state, RunState::default(), "nothing ran");
    assert_eq!(std::fs::read(desktop.workspace().join("a.txt")).unwrap(), b"changed");
}

/// The finding is at line 1.
#[test]
fn an_unreadable_file_is_a_finding() {
    let desktop = desktop();
    for path in [desktop.workspace(), desktop.workspace().join("absent.json")] {
        let opened = desktop.query(open(path)).unwrap();
        assert_eq!(opened.plan, None);
        assert_eq!((opened.findings[0].line, opened.findings.len()), (1, 1));
    }
}

#[test]
fn a_preview_includes_earlier_steps() {
    let desktop = desktop();
    let write = json!({"tool": "file_write", "arguments": {"path": "a.txt", "contents": "two\n"}});
    let opened = desktop.open(&json!([create("a.txt", false), write]));
    let plan = opened.plan.unwrap();
    let query = PreviewStep { plan, workspace: desktop.workspace(), step_index: 1 };
    let preview = desktop.query(query).unwrap();
    assert!(matches!(
        &preview.changes[0].diff,
        crate::run::Diff::Text { added: 1, removed: 1, .. }
    ));
    assert!(!desktop.workspace().join("a.txt").exists());
}

/// The id of a run that created `a.txt` and failed to create `b.txt`, which existed already.
fn failed_run(desktop: &Desktop) -> Uuid {
    std::fs::write(desktop.workspace().join("b.txt"), "in the way\n").unwrap();
    let opened = desktop.open(&json!([create("a.txt", false), create("b.txt", false)]));
    let approved = desktop.approve(&opened);
    let (result, _) = desktop.run(approved, |_, _| {});
    let result = result.unwrap();
    assert_eq!(result.status, RunStatus::Failed);
    result.run_id
}

fn follow_up(id: Uuid, follow_up: FollowUp) -> OpenFollowUp {
    OpenFollowUp { id, follow_up }
}

fn open(path: PathBuf) -> OpenPlan {
    OpenPlan { path, workspace: None, grants: Default::default() }
}

fn failure<A: std::fmt::Debug>(answer: Result<A, QueryError>) -> Failure {
    match answer {
        Err(QueryError::Failed(failure)) => failure,
        other => panic!("no failure: {other:?}"),
    }
}

/// The plan that continues a run is a file that can be opened like any other.
#[test]
fn the_rest_of_a_run_is_a_file() {
    let desktop = desktop();
    let run_id = failed_run(&desktop);
    std::fs::remove_file(desktop.workspace().join("b.txt")).unwrap();
    let rest = desktop.query(follow_up(run_id, FollowUp::Continue)).unwrap();
    assert!(rest.path.starts_with(desktop.temp.path().join("evidence/continuations")));
    assert_eq!(rest.continues, Some(run_id));
    let plan = rest.plan.clone().unwrap();
    assert_eq!(plan.steps.iter().map(|step| &*step.step_id).collect::<Vec<_>>(), ["step_2"]);
    let review = rest.review.clone().unwrap();
    assert_eq!(review.workspace, desktop.workspace().canonicalize().unwrap());
    assert_eq!(rest.findings.len(), 1, "{:?}", rest.findings);
    assert!(rest.findings[0].message.starts_with("b.txt has changed since the run"));

    // Opened as a file, the plan still belongs to the run. With one more byte it belongs to none.
    let path = rest.path.clone();
    let again = desktop.query(open(path.clone())).unwrap();
    assert_eq!((again.continues, again.digest), (Some(run_id), rest.digest));
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.push(b'\n');
    std::fs::write(&path, bytes).unwrap();
    let edited = desktop.query(open(path)).unwrap();
    // Without a run, the workspace is the folder of the plan file, which is in the evidence folder.
    let codes: Vec<_> = edited.findings.iter().map(|finding| finding.code).collect();
    assert_eq!((edited.continues, codes), (None, vec![crate::plan::Code::OutsideWorkspace]));

    let rest = desktop.query(follow_up(run_id, FollowUp::Continue)).unwrap();
    let mut approved = desktop.approve(&rest);
    approved.authorization =
        PlanAuthorization { authorization_id: Uuid::new_v4(), ..approved.authorization }
            .with_parent_run(rest.continues);
    let (result, _) = desktop.run(approved, |_, _| {});
    let result = result.unwrap();
    assert_eq!(result.status, RunStatus::Completed);
    let runs = desktop.query(ListRuns(5)).unwrap();
    let run = runs.iter().find(|run| run.run_id == result.run_id).unwrap();
    assert_eq!(run.parent_run, Some(run_id));

    let nothing = failure(desktop.query(follow_up(result.run_id, FollowUp::Continue)));
    assert!(nothing.message.contains("nothing to"), "{nothing:?}");
}

#[test]
fn a_run_gives_back_its_exact_plan() {
    let desktop = desktop();
    let run_id = failed_run(&desktop);
    let original = std::fs::read(desktop.workspace().join("p.plan.json")).unwrap();
    std::fs::remove_file(desktop.workspace().join("p.plan.json")).unwrap();
    let again = desktop.query(follow_up(run_id, FollowUp::RunAgain)).unwrap();
    assert_eq!(*again.plan.unwrap().source, *original);
    assert_eq!(again.continues, None);
    let review = again.review.unwrap();
    assert_eq!(review.workspace, desktop.workspace().canonicalize().unwrap());
}

/// The findings are recorded. A follow-up plan restores the file's state before the step, or completes the step.
#[test]
fn an_interrupted_step_is_reconciled_and_settled() {
    use crate::evidence::{Entry, EvidenceStore, IntentRecord, RunStart};
    use crate::run::{DiskState, FileEffect};
    use crate::tools::Toolbox;

    let desktop = desktop();
    let file = desktop.workspace().join("a.txt");
    std::fs::write(&file, "old\n").unwrap();
    let write = json!({"tool": "file_write", "arguments": {"path": "a.txt", "contents": "new\n"}});
    let opened = desktop.open(&json!([write]));
    let ApprovedPlan { plan, authorization } = desktop.approve(&opened);
    let evidence = desktop.temp.path().join("evidence");
    let mut store = EvidenceStore::open(&evidence, desktop.temp.path().join("secrets")).unwrap();
    let (run_id, execution_id) = (Uuid::new_v4(), Uuid::new_v4());
    let (authorization, started_at_ms) = (&authorization, 1_000);
    let start = RunStart { run_id, plan: &plan, authorization, reached: None, started_at_ms };
    store.commit(&Entry::RunStart(start)).unwrap();
    let step = &plan.steps[0];
    let toolbox = Toolbox::open(&desktop.workspace(), &Policy::default()).unwrap();
    let files: Vec<FileEffect> =
        toolbox.preview_with_effects(&step.call, &crate::run::StopSignal::default()).unwrap().1;
    let intent = IntentRecord {
        execution_id,
        run_id,
        step,
        risk: &opened.review.as_ref().unwrap().risks[0],
        timestamp_ms: 1_000,
        host: None,
        walls: None,
        files: &files,
        decision: None,
    };
    store.commit(&Entry::Intent(intent)).unwrap();
    let active = failure(desktop.query(Reconcile(run_id)));
    assert!(active.message.contains("under way"), "{active:?}");

    drop(store);
    let states = [
        (Some("old\n"), DiskState::AsBefore),
        (Some("new\n"), DiskState::AsAfter),
        (Some("mine\n"), DiskState::Neither),
        (None, DiskState::Absent),
    ];
    for (contents, finding) in states {
        match contents {
            Some(contents) => std::fs::write(&file, contents).unwrap(),
            None => std::fs::remove_file(&file).unwrap(),
        }
        let found = desktop.query(Reconcile(run_id)).unwrap();
        assert_eq!(found.iter().map(|found| found.finding).collect::<Vec<_>>(), [finding]);
        let unchanged = std::fs::read_to_string(&file).ok();
        assert_eq!(contents, unchanged.as_deref(), "a comparison changes nothing");
        let (detail, _) = desktop.query(ReadExecution(execution_id)).unwrap();
        let last = detail.decisions.last().unwrap();
        assert_eq!((&*last.decision, &last.note), ("reconcile", &found[0].sentence()));
    }
    let leftover = format!(".countersign-{execution_id}");
    std::fs::write(desktop.workspace().join(&leftover), "ne").unwrap();
    let found = desktop.query(Reconcile(run_id)).unwrap();
    assert_eq!(found[0].leftover.as_ref(), Some(&leftover));
    assert!(found[0].sentence().ends_with(&format!("{leftover}, which can be deleted")));
    assert!(desktop.workspace().join(&leftover).exists(), "a comparison deletes nothing");
    let report = desktop.query(Verify).unwrap();
    assert!(report.ok, "{report:?}");
    // The recorded finding is neither a decision about the step nor its outcome, so it adds no event.
    let replayed = desktop.query(ReplayRun(run_id)).unwrap();
    assert_eq!(replayed.events.len(), 2, "{:?}", replayed.events);

    // The follow-up plan is opened, authorized, confirmed if it deletes a file, and run like any other plan.
    for (before, way, after) in
        [("new\n", SettleMode::RollBack, "old\n"), ("old\n", SettleMode::Finish, "new\n")]
    {
        std::fs::write(&file, before).unwrap();
        std::fs::write(desktop.workspace().join(&leftover), "ne").unwrap();
        let settle = || follow_up(run_id, FollowUp::Settle(way));
        let offered = desktop.query(settle()).unwrap();
        assert_eq!(before, std::fs::read_to_string(&file).unwrap(), "opening changes nothing");
        assert_eq!(offered.continues, None);
        let (result, _) = desktop.run(desktop.approve(&offered), |worker, request| {
            assert!(worker.answer(request.run_id, request.step_index, answer(Decision::Approve)));
        });
        assert_eq!(result.unwrap().status, RunStatus::Completed);
        assert_eq!(after, std::fs::read_to_string(&file).unwrap());
        assert!(!desktop.workspace().join(&leftover).exists());
        let again = failure(desktop.query(settle()));
        assert!(
            again.message.contains("every file already has the content that it would get"),
            "{again:?}"
        );
    }
    std::fs::write(&file, "mine\n").unwrap();
    let refused = failure(desktop.query(follow_up(run_id, FollowUp::Settle(SettleMode::Finish))));
    assert!(refused.message.contains("somebody changed it"), "{refused:?}");
}

/// After the panic the same thread executes the next run.
#[test]
fn a_panic_interrupts_only_its_run() {
    let desktop = desktop();
    let steps = json!([create("a.txt", false), create("b.txt", false)]);
    let opened = desktop.open(&steps);
    desktop.faults.plant("worker");
    let (message, mut live) = desktop.run_into_panic(desktop.approve(&opened));
    let visible = "planted in the worker: ⟨U+202E⟩desrever";
    assert_eq!(message, visible, "control characters are made visible");
    assert!(desktop.workspace().join("a.txt").exists());
    assert!(!desktop.workspace().join("b.txt").exists(), "no step runs after the panic");

    // The evidence marks the run as interrupted at once, although the process still exists.
    let runs = desktop.query(ListRuns(5)).unwrap();
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].fate, RunFate::Interrupted);
    let replayed = desktop.query(ReplayRun(runs[0].run_id)).unwrap();
    let mut recorded = RunState::default();
    replayed.events.iter().for_each(|event| recorded.apply(event));
    live.interrupt();
    recorded.interrupt();
    assert_eq!((recorded.steps.done(), &recorded.phase), (1, &Phase::Interrupted));
    assert_eq!(live.steps, recorded.steps);

    let rest = desktop.query(follow_up(runs[0].run_id, FollowUp::Continue)).unwrap();
    let (result, _) = desktop.run(desktop.approve(&rest), |_, _| {});
    assert_eq!(result.unwrap().status, RunStatus::Completed, "the thread takes another run");
    assert!(desktop.workspace().join("b.txt").exists());
    let report = desktop.query(Verify).unwrap();
    assert!(report.ok, "{report:?}");
}

/// The executor thread calls `wake`, so that a panic there can interrupt a pending confirmation.
#[test]
fn a_panic_during_a_question_decides_nothing() {
    let mut desktop = desktop();
    let setup = Setup {
        location: EvidenceLocation::new(
            desktop.temp.path().join("evidence"),
            desktop.temp.path().join("secrets"),
        ),
        policy: Policy::default(),
        faults: Faults::default(),
    };
    // The run sends three events: its start, the start of the step, and the confirmation.
    let left = std::sync::atomic::AtomicIsize::new(3);
    let wake: Wake = Arc::new(move || {
        let before = left.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
        assert_ne!(before, 1, "during a confirmation");
    });
    desktop.worker = Worker::start(setup, wake).unwrap();
    let opened = desktop.open(&json!([create("a.txt", true)]));
    let (message, state) = desktop.run_into_panic(desktop.approve(&opened));
    assert!(message.contains("during a confirmation"), "{message}");
    let Phase::AwaitingConfirmation(request) = &state.phase else { panic!("{:?}", state.phase) };
    let approval = answer(Decision::Approve);
    assert!(!desktop.worker.answer(request.run_id, request.step_index, approval));
    assert!(!desktop.workspace().join("a.txt").exists());
    let (result, _) = desktop.run(desktop.approve(&opened), |worker, request| {
        assert!(worker.answer(request.run_id, request.step_index, answer(Decision::Approve)));
    });
    assert_eq!(result.unwrap().status, RunStatus::Completed);
}

#[test]
fn a_panicking_query_answers_only_itself() {
    let desktop = desktop();
    let opened = desktop.open(&json!([create("a.txt", false)]));
    let (result, _) = desktop.run(desktop.approve(&opened), |_, _| {});
    assert_eq!(result.unwrap().status, RunStatus::Completed);
    let search = || Search(Default::default());
    desktop.faults.plant("query");
    let Err(QueryError::Panicked(message)) = desktop.query(search()) else { panic!("no panic") };
    assert_eq!(message, "planted in the query: ⟨U+202E⟩desrever");
    let page = desktop.query(search()).unwrap();
    assert_eq!(page.total, 1, "the next query opens the evidence again");
}
