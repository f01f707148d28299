//! A bounded loop whose evidence fails, whose program panics, or which a signal interrupts (SPEC §8, §10).

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign::authorization::{AuthorizationClass, Method, SinceBoot};
use countersign::autonomy::{
    AuthorizationRequest, BoundedLoop, LoopDeps, LoopOrder, LoopOutcome, LoopSetup, PlanAuthorizer,
    PlanDecision, resolve,
};
use countersign::engine::{
    AutoApprove, Clock, ControlHandle, ProgressCallback, SystemClock, WorkspaceChoice,
};
use countersign::evidence::{EvidenceLocation, EvidenceReader, verify};
use countersign::plan::VerifyScope;
use countersign::risk::{PlannerNeeds, Policy};
use countersign::run::{
    ActionStatus, LookScope, LoopFate, RunEvent, RunFate, StopCode, VERIFY_GATE,
};
use serde_json::{Value, json};

use crate::harness::scripted_planner::{
    Scripted, assert_in_evidence, cargo_project, class, command,
};

type Hook = dyn Fn(&RunEvent) + Send + Sync;

struct Listener(Arc<Hook>);

impl ProgressCallback for Listener {
    fn on_event(&self, event: &RunEvent) {
        (self.0)(event);
    }
}

struct AuthorizeAll;

impl PlanAuthorizer for AuthorizeAll {
    fn authorize(&mut self, _: &AuthorizationRequest<'_>) -> PlanDecision {
        PlanDecision::Approve { method: Method::CommandLineYes, note: "says the test".to_owned() }
    }
}

/// Runs a loop in this process and calls `hook` at each event.
fn run(planner: &Scripted, hook: impl Fn(&RunEvent) + Send + Sync + 'static) -> LoopOutcome {
    run_with(planner, |_| (), hook)
}

/// As [`run`], with an order that `change` has changed.
fn run_with(
    planner: &Scripted,
    change: impl FnOnce(&mut LoopOrder),
    hook: impl Fn(&RunEvent) + Send + Sync + 'static,
) -> LoopOutcome {
    run_on(planner, Arc::new(SystemClock::default()), change, hook)
}

/// As [`run_with`], with another clock.
fn run_on(
    planner: &Scripted,
    clock: Arc<dyn Clock>,
    change: impl FnOnce(&mut LoopOrder),
    hook: impl Fn(&RunEvent) + Send + Sync + 'static,
) -> LoopOutcome {
    let home = planner.home.path();
    let name = planner.planner();
    // The planner counts its requests in a file.
    let write = [planner.folder().to_str().unwrap(), "."].map(str::to_owned).to_vec();
    let mut policy = Policy::default();
    policy.planners.insert(name.clone(), PlannerNeeds { write, ..PlannerNeeds::default() });
    let program = resolve(&name, home).unwrap();
    let mut order = LoopOrder {
        goal: "g".to_owned(),
        planner: name,
        planner_timeout: Duration::from_secs(60),
        max_attempts: 2,
        verify: None,
        workspace: WorkspaceChoice { folder: home.join("space"), reason: String::new() },
        class: None,
        looks: LookScope::Workspace,
        target: None,
        plan_only: false,
    };
    change(&mut order);
    let location = EvidenceLocation::new(planner.home.evidence(), home.join("secrets"));
    let setup = LoopSetup { order, program, method: Method::CommandLine, location, policy };
    let deps = LoopDeps {
        clock,
        confirmation: Box::new(AutoApprove),
        progress: Arc::new(Listener(Arc::new(hook))),
        control: ControlHandle::default(),
        authorizer: Box::new(AuthorizeAll),
        terminal: None,
        secrets: None,
        passphrase: None,
    };
    BoundedLoop::run(&setup, deps).unwrap()
}

/// A clock that writes `file` at the first call of `since_boot` after `armed` was set.
struct WritingClock {
    clock: SystemClock,
    armed: Arc<AtomicBool>,
    file: PathBuf,
}

impl Clock for WritingClock {
    fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    fn monotonic_ms(&self) -> i64 {
        self.clock.monotonic_ms()
    }

    fn since_boot(&self) -> SinceBoot {
        if self.armed.swap(false, Ordering::SeqCst) {
            std::fs::write(&self.file, "[verify.local]\ncommand = \"true\"\n").unwrap();
        }
        self.clock.since_boot()
    }
}

/// Between review and run of the verification, the workspace gets a file of commands that no person trusts.
#[test]
fn refused_verification_is_recorded_as_failed() {
    let planner = Scripted::new([command("touch done.txt"), command("true")]);
    cargo_project(&planner.home, "");
    let armed = Arc::new(AtomicBool::new(false));
    let clock = WritingClock {
        clock: SystemClock::default(),
        armed: armed.clone(),
        file: planner.home.file("countersign.toml"),
    };
    let order = |order: &mut LoopOrder| order.verify = Some(VerifyScope::Local);
    let outcome = run_on(&planner, Arc::new(clock), order, move |event| {
        if matches!(event, RunEvent::VerifyStarted) {
            armed.store(true, Ordering::SeqCst);
        }
    });
    let record = &outcome.attempts[0];
    let gate = record.actions.last().unwrap();
    assert_eq!(
        (gate.kind.as_str(), gate.status),
        (VERIFY_GATE, ActionStatus::Failed),
        "{outcome:?}"
    );
    assert!(gate.error.as_ref().unwrap().message.contains("countersign.toml"), "{gate:?}");
    assert_eq!(record.verify, None);
}

fn reader(planner: &Scripted) -> EvidenceReader {
    EvidenceReader::open(&planner.home.evidence(), planner.home.path().join("secrets")).unwrap()
}

/// Once inserts into a table fail, the loop ends.
#[test]
fn without_evidence_no_loop_goes_on() {
    for (table, attempts, tries) in [
        // Each row: the table, the attempts in the outcome, and the executed commands.
        ("attempts", 0, 0),
        ("authorizations", 1, 0),
        ("runs", 1, 0),
        ("intents", 1, 0),
        ("executions", 1, 1),
        ("attempt_ends", 1, 1),
        ("loop_ends", 2, 2),
    ] {
        let again = "echo x >> tries.txt; exit 3";
        let planner = Scripted::new([command(again), command("echo x >> tries.txt; exit 4")]);
        let evidence = planner.home.evidence();
        let outcome = run(&planner, move |event| {
            if matches!(event, RunEvent::LoopStarted { .. }) {
                refuse_rows_of(&evidence, table);
            }
        });
        assert_eq!(outcome.stop_reason.code, last_code(table), "{table}: {outcome:?}");
        let failure = outcome.not_recorded.as_ref().unwrap();
        assert!(failure.message.contains("failure injected by a test"), "{table}: {failure:?}");
        assert_eq!(outcome.attempts.len(), attempts, "{table}");
        let last = outcome.attempts.last().map(|attempt| attempt.attempt);
        assert_eq!(outcome.stop_reason.detail.attempt, last, "{table}");
        let done = std::fs::read_to_string(planner.home.file("tries.txt")).unwrap_or_default();
        assert_eq!(done.lines().count(), tries, "{table}");
        let report = verify(&planner.home.evidence(), None).unwrap();
        assert!(report.ok, "{table}: {report:?}");
        let fate = reader(&planner).loops(1).unwrap()[0].fate;
        let expected = match table {
            // A loop's end is recorded only after the end of its last attempt.
            "attempt_ends" | "loop_ends" => LoopFate::Interrupted,
            _ => LoopFate::Ended(StopCode::RunnerInternalError),
        };
        assert_eq!(fate, expected, "{table}");
    }
}

/// The expected stop code. If only the record of the end fails, it is that of the loop itself.
fn last_code(table: &str) -> StopCode {
    match table {
        "loop_ends" => StopCode::RetryBudgetExhausted,
        _ => StopCode::RunnerInternalError,
    }
}

fn refuse_rows_of(evidence: &std::path::Path, table: &str) {
    std::fs::write(evidence.join("execution_log.broken"), table).unwrap();
}

/// A panic at any point ends the loop with an internal error. A run that was active is interrupted.
#[test]
fn panic_is_a_recorded_internal_error() {
    type Moment = fn(&RunEvent) -> bool;
    let moments: [(&str, Moment, usize); 5] = [
        ("planner", |event| matches!(event, RunEvent::PlannerStarted { .. }), 0),
        ("answer", |event| matches!(event, RunEvent::PlannerAnswered { .. }), 0),
        ("step", |event| matches!(event, RunEvent::StepStarted { .. }), 1),
        ("end of the run", |event| matches!(event, RunEvent::RunFailed { .. }), 1),
        ("second attempt", |event| matches!(event, RunEvent::AttemptStarted { attempt: 2, .. }), 1),
    ];
    for (name, moment, runs) in moments {
        let planner = Scripted::new([command("exit 3"), command("exit 4")]);
        let outcome = run(&planner, move |event| {
            assert!(!moment(event), "a planted panic \u{1b}[31m");
        });
        assert_eq!(outcome.stop_reason.code, StopCode::RunnerInternalError, "{name}");
        let message = &outcome.stop_reason.message;
        assert!(message.contains("a planted panic ⟨ESC⟩[31m"), "{name}: {message}");
        assert!(outcome.not_recorded.is_none(), "{name}: {outcome:?}");
        let mut reader = reader(&planner);
        let detail = reader.bounded_loop(outcome.loop_id).unwrap().unwrap();
        assert_eq!(detail.summary.fate, LoopFate::Ended(StopCode::RunnerInternalError), "{name}");
        assert!(detail.attempts.iter().all(|attempt| attempt.record.is_some()), "{name}");
        let all = reader.runs(5).unwrap();
        assert_eq!(all.len(), runs, "{name}");
        let interrupted = all.iter().filter(|run| run.fate == RunFate::Interrupted).count();
        assert_eq!(interrupted, usize::from(name == "step"), "{name}");
        assert!(verify(&planner.home.evidence(), None).unwrap().ok, "{name}");
    }
}

/// If the workspace is missing when the verification is reviewed, its risk is unknown.
#[test]
fn unreviewed_verification_is_not_allowed() {
    type Moment = fn(&RunEvent) -> bool;
    let moments: [(Moment, usize, &str); 2] = [
        (|event| matches!(event, RunEvent::AttemptStarted { .. }), 0, "verification: "),
        (|event| matches!(event, RunEvent::PlannerAnswered { .. }), 1, "the verification cannot"),
    ];
    for (moment, asked, said) in moments {
        let planner = Scripted::new([command("touch done.txt")]);
        cargo_project(&planner.home, "");
        let space = planner.home.path().join("space");
        let outside = Arc::new(Mutex::new(String::new()));
        let told = Arc::clone(&outside);
        let outcome = run_with(
            &planner,
            |order| {
                order.verify = Some(VerifyScope::Local);
                let class = class(json!({"max_risk": "dangerous"}));
                order.class = Some(AuthorizationClass::read(class.as_bytes()).unwrap());
            },
            move |event| {
                if moment(event) && space.exists() {
                    std::fs::rename(&space, space.with_extension("gone")).unwrap();
                }
                if let RunEvent::AuthorizationNeeded { outside, .. } = event {
                    *told.lock().unwrap() = outside.join("; ");
                }
            },
        );
        assert_eq!(planner.request_count(), asked, "{outcome:?}");
        let outside = outside.lock().unwrap().clone();
        let message = format!("{} {outside}", outcome.stop_reason.message);
        assert!(message.contains(said), "{message}");
        let code = if asked == 0 { StopCode::NotAuthorized } else { outcome.stop_reason.code };
        assert_eq!(outcome.stop_reason.code, code);
    }
}

/// The evidence has the limit that the loop uses, not the ordered 0.
#[test]
fn recorded_limit_of_attempts_is_the_used_one() {
    let planner = Scripted::new([command("exit 3")]);
    let outcome = run_with(&planner, |order| order.max_attempts = 0, |_| ());
    assert_eq!(outcome.attempts[0].max_attempts, 1);
    assert_eq!(reader(&planner).loops(1).unwrap()[0].max_attempts, 1);
}

#[test]
fn unusable_evidence_folder_exits_with_four() {
    let planner = Scripted::new([command("touch a.txt")]);
    std::fs::write(planner.home.evidence(), "no folder").unwrap();
    let document = planner.run([]).exits(4).document();
    assert_eq!(document["stop_reason"]["code"], "runner_internal_error");
    assert_eq!(document["not_recorded"]["code"], "E401");
    assert_eq!(planner.request_count(), 0);
}

/// Ctrl-C while the planner runs and while a step runs: both end with their child processes.
#[test]
fn ctrl_c_ends_loop_and_child_processes() {
    use rustix::process::{Pid, Signal, kill_process};

    // Behind walls process ids differ from those outside, so processes are found by their arguments.
    const ITS_OWN: &str = "600.041735";
    let is_there = || {
        std::fs::read_dir("/proc").unwrap().flatten().any(|process| {
            let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            line.split(|byte| *byte == 0).any(|word| word == ITS_OWN.as_bytes())
        })
    };

    for (answer, ready) in [
        (
            crate::harness::scripted_planner::Answer::Script(
                "echo $$ > \"$d/ready\"; exec sleep 600.041735",
            ),
            "planner/ready",
        ),
        (
            command("echo $$ > ready.part; mv ready.part ready; exec sleep 600.041735"),
            "space/ready",
        ),
    ] {
        let planner = Scripted::new([answer]);
        let mut child = planner.start(Stdio::piped);
        let ready = planner.home.path().join(ready);
        while !ready.exists() || !is_there() {
            assert!(child.try_wait().unwrap().is_none(), "it ended before it was interrupted");
            std::thread::yield_now();
        }
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(1));
        let line = BufReader::new(child.stdout.take().unwrap()).lines().next().unwrap().unwrap();
        let document: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(document["stop_reason"]["code"], "operator_stopped");
        let message = document["stop_reason"]["message"].as_str().unwrap();
        assert!(message.contains("a person stopped the"), "{message}");
        assert_in_evidence(&planner.home, &document);
        assert!(!is_there(), "what it was busy with is gone");
    }
}

/// `nohup` keeps a loop from ending with its terminal.
#[cfg(target_os = "linux")]
#[test]
fn hangup_that_is_ignored_ends_no_loop() {
    use rustix::process::{Pid, Signal, kill_process};

    let wait = "echo > \"$d/ready\"; read -r line < \"$d/gate\"; \
                echo '{\"goal\": \"g\", \"steps\": [{\"command\": \"true\"}]}'";
    let planner = Scripted::new([crate::harness::scripted_planner::Answer::Script(wait)]);
    let gate = planner.folder().join("gate");
    rustix::fs::mkfifoat(rustix::fs::CWD, &gate, 0o600.into()).unwrap();
    // Opened for both, so that neither side waits for the other to open it.
    let mut gate = std::fs::File::options().read(true).write(true).open(gate).unwrap();
    let words = planner.words(["--yes", "--json", "--max-attempts", "1", "--confirm", "approve"]);
    let mut command = planner.home.child_ignoring("HUP", words.iter().map(String::as_str));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !planner.folder().join("ready").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before its terminal");
        std::thread::yield_now();
    }
    kill_process(Pid::from_child(&child), Signal::HUP).unwrap();
    writeln!(gate).unwrap();
    let done = child.wait_with_output().unwrap();
    let document: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_ne!(document["stop_reason"]["code"], "operator_stopped", "{document}");
    assert_eq!(document["attempts"][0]["planner"]["status"], "accepted", "{document}");
}
