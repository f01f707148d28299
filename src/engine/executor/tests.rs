//! Plans that mix commands and files, which no plan format allows yet: a person is asked about files that a command has
//! changed since the approval (SPEC §2). Also the end of guided mode.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::authorization::{Method, PlanAuthorization};
use crate::engine::{
    ConfirmationCallback, ControlHandle, NoopProgress, ProgressCallback, Provenance, SystemClock,
    WorkspaceChoice, review,
};
use crate::plan::{Code, parse};
use crate::risk::Policy;
use crate::run::{AnsweredBy, ConfirmationRequest, Decision};
use crate::tools::Toolbox;

/// The outcome of a step, and its error code.
type StepEnd = (Outcome, Option<Code>);
type Requests = Arc<Mutex<Vec<ConfirmationRequest>>>;

/// Gives a fixed answer. Before that, it writes to the file `meanwhile` in place of another program.
struct Person {
    requests: Requests,
    decision: Decision,
    meanwhile: Option<PathBuf>,
}

impl ConfirmationCallback for Person {
    fn request_confirmation(&self, request: &ConfirmationRequest) -> Decision {
        self.requests.lock().unwrap().push(request.clone());
        if let Some(path) = &self.meanwhile {
            fs::write(path, "somebody else\n").unwrap();
        }
        self.decision
    }

    fn provenance(&self) -> Provenance {
        Provenance { by: AnsweredBy::Test, note: String::new() }
    }
}

/// Writes to the file when this step starts, in place of another program.
struct WriteAtStep {
    step_index: usize,
    path: PathBuf,
}

impl ProgressCallback for WriteAtStep {
    fn on_event(&self, event: &RunEvent) {
        if matches!(event, RunEvent::StepStarted { step_index, .. } if *step_index == self.step_index)
        {
            fs::write(&self.path, "somebody else\n").unwrap();
        }
    }
}

struct Case {
    command: &'static str,
    decision: Decision,
    guided: bool,
    meanwhile: bool,
    writes_at: Option<usize>,
}

const DEFAULT: Case = Case {
    command: "echo by the command > a.txt",
    decision: Decision::Approve,
    guided: false,
    meanwhile: false,
    writes_at: None,
};

/// Runs the command, and then a step that writes `a.txt`. Returns the ends of the steps, the requests for confirmation,
/// and the content of the file.
fn run(case: &Case) -> (Vec<StepEnd>, Vec<ConfirmationRequest>, String) {
    let home: TempDir = tempfile::tempdir().unwrap();
    let workspace = home.path().join("ws");
    fs::create_dir(&workspace).unwrap();
    let file = workspace.join("a.txt");
    fs::write(&file, "approved\n").unwrap();
    let parsed = |text: serde_json::Value| parse(text.to_string().as_bytes()).plan.unwrap();
    let mut plan = parsed(json!({ "plan_id": "p", "intent": "MUTATE", "steps": [
        { "step_id": "write", "tool": "file_write",
          "arguments": { "path": "a.txt", "contents": "by the plan\n" } },
    ]}));
    let commands =
        parsed(json!({ "goal": "g", "steps": [{ "id": "run", "command": case.command }] }));
    plan.steps.insert(0, commands.steps[0].clone());
    plan.steps[1].step_index = 1;
    let policy = Policy::default();
    let choice = WorkspaceChoice { folder: workspace.clone(), reason: String::new() };
    let mut binding = review(&plan, &choice, &policy, None).unwrap().binding;
    assert!(binding.inputs.contains_key("a.txt"));
    if case.guided {
        binding.mode = Mode::Guided;
    }
    let authorization = PlanAuthorization::pending(&plan, binding, Method::Window, 1_000);
    let runnable = Runnable {
        fleet: None,
        walls: authorization.binding.walls.clone().unwrap(),
        authorization: authorization.approve(1_000, 1_000),
        toolbox: Toolbox::open(&workspace, &policy).unwrap(),
        plan,
    };
    let requests = Requests::default();
    let progress: Arc<dyn ProgressCallback> = match case.writes_at {
        Some(step_index) => Arc::new(WriteAtStep { step_index, path: file.clone() }),
        None => Arc::new(NoopProgress),
    };
    let person = Person {
        requests: Arc::clone(&requests),
        decision: case.decision,
        meanwhile: case.meanwhile.then(|| file.clone()),
    };
    let mut executor = Executor::new(
        store(home.path()),
        ExecutorDeps {
            policy,
            clock: Arc::new(SystemClock::default()),
            confirmation: Box::new(person),
            progress,
            control: ControlHandle::default(),
            terminal: None,
            secrets: None,
            passphrase: None,
        },
    );
    let result = executor.run(&runnable).unwrap();
    let ended = result.step_results.iter().map(|step| (step.outcome, step.error_code)).collect();
    let requests = requests.lock().unwrap().clone();
    (ended, requests, fs::read_to_string(file).unwrap())
}

fn store(home: &Path) -> EvidenceStore {
    EvidenceStore::open(&home.join("evidence"), home.join("key")).unwrap()
}

const SUCCEEDED: StepEnd = (Outcome::Succeeded, None);

#[test]
fn files_changed_by_commands_are_confirmed_again() {
    let (ended, requests, file) = run(&DEFAULT);
    assert_eq!((ended, file.as_str()), (vec![SUCCEEDED, SUCCEEDED], "by the plan\n"));
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].step_id, "write");
    let why =
        "An earlier step of this run has changed files that your authorization covers: a.txt.";
    assert_eq!(requests[0].why, why);
    let shown = requests[0].preview.changes[0].unified();
    assert!(shown.contains("-by the command") && shown.contains("+by the plan"), "{shown}");
    // A command that does not change the file causes no question.
    let (ended, requests, _) = run(&Case { command: "echo > b.txt", ..DEFAULT });
    assert_eq!((ended, requests.len()), (vec![SUCCEEDED, SUCCEEDED], 0));
}

#[test]
fn without_approval_the_file_stays_as_changed() {
    for (decision, outcome) in
        [(Decision::Cancel, Outcome::Denied), (Decision::Skip, Outcome::Skipped)]
    {
        let (ended, _, file) = run(&Case { decision, ..DEFAULT });
        assert_eq!(ended[1].0, outcome);
        assert_eq!(file, "by the command\n");
    }
}

#[test]
fn foreign_changes_make_the_step_stale() {
    let stale = (Outcome::Failed, Some(Code::Stale));
    // The other program writes after the command, before it, before a command that also writes the file, during a
    // question, and after a command that wrote the file.
    let cases = [
        (Case { command: "echo > b.txt", writes_at: Some(1), ..DEFAULT }, 0),
        (Case { command: "echo > b.txt", writes_at: Some(0), ..DEFAULT }, 0),
        (Case { writes_at: Some(0), ..DEFAULT }, 0),
        (Case { meanwhile: true, ..DEFAULT }, 1),
        (Case { writes_at: Some(1), ..DEFAULT }, 0),
    ];
    for (number, (case, asks)) in cases.into_iter().enumerate() {
        let (ended, requests, file) = run(&case);
        assert_eq!((ended, requests.len()), (vec![SUCCEEDED, stale], asks), "case {number}");
        assert_ne!(file, "by the plan\n", "case {number}");
    }
}

#[test]
fn files_changed_by_hand_are_confirmed_again() {
    // Only the person who answers writes the file, and does both steps by hand.
    let by_hand = Case { guided: true, meanwhile: true, decision: Decision::DoneByHand, ..DEFAULT };
    let (ended, requests, file) = run(&by_hand);
    let done = (Outcome::DoneByHand, None);
    assert_eq!((ended, file.as_str()), (vec![done, done], "somebody else\n"));
    let why =
        "An earlier step of this run has changed files that your authorization covers: a.txt.";
    assert_eq!(requests[1].why, why);
}

/// A request for guided mode ends with its run, also if the run never begins.
#[test]
fn refused_run_forgets_guidance() {
    let home: TempDir = tempfile::tempdir().unwrap();
    let plan = json!({ "goal": "g", "steps": [{ "id": "run", "command": "true" }] }).to_string();
    let plan = parse(plan.as_bytes()).plan.unwrap();
    let choice = WorkspaceChoice { folder: home.path().to_owned(), reason: String::new() };
    let binding = review(&plan, &choice, &Policy::default(), None).unwrap().binding;
    let unanswered = PlanAuthorization::pending(&plan, binding, Method::Window, 1_000);
    let control = ControlHandle::default();
    control.request(Control::GoOnGuided, AnsweredBy::Test);
    let deps = ExecutorDeps {
        policy: Policy::default(),
        clock: Arc::new(SystemClock::default()),
        confirmation: Box::new(crate::engine::AutoDeny),
        progress: Arc::new(NoopProgress),
        control: control.clone(),
        terminal: None,
        secrets: None,
        passphrase: None,
    };
    let approved = ApprovedPlan { plan, authorization: unanswered };
    Executor::new(store(home.path()), deps).execute(approved).unwrap_err();
    assert!(!control.is_guided());
}
