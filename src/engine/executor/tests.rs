//! Plans that mix commands and files, which no dialect allows yet: a person is asked again about files that a command
//! has changed (SPEC §2).

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

/// The outcome of a step.
type StepEnd = (Outcome, Option<Code>);
type Asked = Arc<Mutex<Vec<ConfirmationRequest>>>;

/// Gives a fixed answer. Before that, another program may write to the file.
struct Person {
    asked: Asked,
    decision: Decision,
    meanwhile: Option<PathBuf>,
}

impl ConfirmationCallback for Person {
    fn request_confirmation(&self, request: &ConfirmationRequest) -> Decision {
        self.asked.lock().unwrap().push(request.clone());
        if let Some(path) = &self.meanwhile {
            fs::write(path, "somebody else\n").unwrap();
        }
        self.decision
    }

    fn provenance(&self) -> Provenance {
        Provenance { by: AnsweredBy::Test, note: String::new() }
    }
}

/// Another program writes to the file when this step starts.
struct Meddler {
    at: usize,
    path: PathBuf,
}

impl ProgressCallback for Meddler {
    fn on_event(&self, event: &RunEvent) {
        if matches!(event, RunEvent::StepStarted { step_index, .. } if *step_index == self.at) {
            fs::write(&self.path, "somebody else\n").unwrap();
        }
    }
}

struct Case {
    command: &'static str,
    decision: Decision,
    guided: bool,
    meanwhile: bool,
    meddles_at: Option<usize>,
}

const PLAIN: Case = Case {
    command: "echo by the command > a.txt",
    decision: Decision::Approve,
    guided: false,
    meanwhile: false,
    meddles_at: None,
};

/// Runs the command, and then a step that writes `a.txt`. Returns the outcomes, the questions, and the content of the
/// file.
fn run(case: &Case) -> (Vec<StepEnd>, Vec<ConfirmationRequest>, String) {
    let home: TempDir = tempfile::tempdir().unwrap();
    let workspace = home.path().join("ws");
    fs::create_dir(&workspace).unwrap();
    let file = workspace.join("a.txt");
    fs::write(&file, "approved\n").unwrap();
    let of = |text: serde_json::Value| parse(text.to_string().as_bytes()).plan.unwrap();
    let mut plan = of(json!({ "plan_id": "p", "intent": "MUTATE", "steps": [
        { "step_id": "write", "tool": "file_write",
          "arguments": { "path": "a.txt", "contents": "by the plan\n" } },
    ]}));
    let commands = of(json!({ "goal": "g", "steps": [{ "id": "run", "command": case.command }] }));
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
        authorization: authorization.approve(1_000, 1_000),
        toolbox: Toolbox::open(&workspace, &policy).unwrap(),
        plan,
    };
    let asked = Asked::default();
    let progress: Arc<dyn ProgressCallback> = match case.meddles_at {
        Some(at) => Arc::new(Meddler { at, path: file.clone() }),
        None => Arc::new(NoopProgress),
    };
    let person = Person {
        asked: Arc::clone(&asked),
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
        },
    );
    let result = executor.run(&runnable).unwrap();
    let ended = result.step_results.iter().map(|step| (step.outcome, step.error_code)).collect();
    let asked = asked.lock().unwrap().clone();
    (ended, asked, fs::read_to_string(file).unwrap())
}

fn store(home: &Path) -> EvidenceStore {
    EvidenceStore::open(&home.join("evidence"), home.join("key")).unwrap()
}

const DONE: StepEnd = (Outcome::Succeeded, None);

#[test]
fn files_changed_by_commands_are_confirmed_again() {
    let (ended, asked, file) = run(&PLAIN);
    assert_eq!((ended, file.as_str()), (vec![DONE, DONE], "by the plan\n"));
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].step_id, "write");
    let why =
        "An earlier step of this run has changed files that your authorization covers: a.txt.";
    assert_eq!(asked[0].why, why);
    let shown = asked[0].preview.changes[0].unified();
    assert!(shown.contains("-by the command") && shown.contains("+by the plan"), "{shown}");
    // A command that does not change the file causes no question.
    let (ended, asked, _) = run(&Case { command: "echo > b.txt", ..PLAIN });
    assert_eq!((ended, asked.len()), (vec![DONE, DONE], 0));
}

#[test]
fn without_approval_the_file_stays_as_changed() {
    for (decision, outcome) in
        [(Decision::Cancel, Outcome::Denied), (Decision::Skip, Outcome::Skipped)]
    {
        let (ended, _, file) = run(&Case { decision, ..PLAIN });
        assert_eq!(ended[1].0, outcome);
        assert_eq!(file, "by the command\n");
    }
}

#[test]
fn foreign_changes_make_the_step_stale() {
    let stale = (Outcome::Failed, Some(Code::Stale));
    // The other program writes after the command, before it, during a question, and over what the command wrote.
    let cases = [
        (Case { command: "echo > b.txt", meddles_at: Some(1), ..PLAIN }, 0),
        (Case { command: "echo > b.txt", meddles_at: Some(0), ..PLAIN }, 0),
        (Case { meddles_at: Some(0), ..PLAIN }, 0),
        (Case { meanwhile: true, ..PLAIN }, 1),
        (Case { meddles_at: Some(1), ..PLAIN }, 0),
    ];
    for (number, (case, asks)) in cases.into_iter().enumerate() {
        let (ended, asked, file) = run(&case);
        assert_eq!((ended, asked.len()), (vec![DONE, stale], asks), "case {number}");
        assert_ne!(file, "by the plan\n", "case {number}");
    }
}

#[test]
fn files_changed_by_hand_are_confirmed_again() {
    // Only the person who answers writes the file, and does both steps by hand.
    let by_hand = Case { guided: true, meanwhile: true, decision: Decision::DoneByHand, ..PLAIN };
    let (ended, asked, file) = run(&by_hand);
    let done = (Outcome::DoneByHand, None);
    assert_eq!((ended, file.as_str()), (vec![done, done], "somebody else\n"));
    let why =
        "An earlier step of this run has changed files that your authorization covers: a.txt.";
    assert_eq!(asked[1].why, why);
}

/// A wish for guidance ends with the run that it was made for, also with one that never began.
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
        confirmation: Box::new(crate::engine::AutoApprove),
        progress: Arc::new(NoopProgress),
        control: control.clone(),
    };
    let approved = ApprovedPlan { plan, authorization: unanswered };
    Executor::new(store(home.path()), deps).execute(approved).unwrap_err();
    assert!(!control.is_guided());
}
