//! The executor thread and the query thread, without a window.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

use super::*;
use crate::authorization::{ApprovedPlan, Method, PlanAuthorization, SecretInputs};
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
mod grants;
mod panics;
mod reconcile;
mod stopped_searches;

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
        inbox: temp.path().join("inbox"),
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
        let plan_of = Box::new(plan.clone());
        let (revised, reviews) = (None, Vec::new());
        let query =
            RecordAuthorization { authorization: recorded, plan: plan_of, revised, reviews };
        self.query(query).unwrap();
        ApprovedPlan { plan, authorization }
    }

    /// Runs a plan until the executor thread panics. Returns the message of the panic, and the state of the run.
    fn run_into_panic(&self, approved: ApprovedPlan) -> (String, RunState) {
        self.worker
            .send(Command::Run {
                approved: Box::new(approved),
                file: None,
                secret_inputs: SecretInputs::default(),
                call: None,
                cut_off_in: None,
            })
            .unwrap();
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
        self.worker
            .send(Command::Run {
                approved: Box::new(approved),
                file: None,
                secret_inputs: SecretInputs::default(),
                call: None,
                cut_off_in: None,
            })
            .unwrap();
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
        inbox: desktop.temp.path().join("inbox"),
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
    desktop
        .worker
        .send(Command::Run {
            approved: Box::new(refused),
            file: None,
            secret_inputs: SecretInputs::default(),
            call: None,
            cut_off_in: None,
        })
        .unwrap();
    assert!(matches!(desktop.worker.recv(), Some(Event::Finished(Err(_)))));

    let approved = desktop.approve(&opened);
    desktop
        .worker
        .send(Command::Run {
            approved: Box::new(approved),
            file: None,
            secret_inputs: SecretInputs::default(),
            call: None,
            cut_off_in: None,
        })
        .unwrap();
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
        let refused = worker.send(Command::Run {
            approved: Box::new(second.take().unwrap()),
            file: None,
            secret_inputs: SecretInputs::default(),
            call: None,
            cut_off_in: None,
        });
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
    OpenPlan { path, workspace: None, choices: Default::default(), chosen_for: None }
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
