//! The states of the executor, as they are observed during real runs (SPEC §3).

use std::fs;
use std::sync::{Arc, Mutex};

use countersign::engine::{ControlHandle, ExecutorState, Waiting};
use countersign::run::{AnsweredBy, Control, Decision, RunEvent};

use crate::harness::{FinishedRun, Harness, asking, create_file, plan, read_file};

/// Every state once, each time it changes.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<ExecutorState>>>);

impl Seen {
    fn note(&self, control: &ControlHandle) {
        let state = control.state();
        if let ExecutorState::StepInProgress { current_step, completed, .. } = &state {
            assert_eq!(completed.len(), *current_step);
        }
        let mut seen = self.0.lock().unwrap();
        if seen.last() != Some(&state) {
            seen.push(state);
        }
    }

    /// The states in short: the outcomes of the ended steps, and what the run waits for.
    fn words(&self) -> Vec<String> {
        let word = |state: &ExecutorState| match state {
            ExecutorState::StepInProgress { completed, waiting, .. } => {
                let outcomes: Vec<_> = completed.iter().map(|it| it.as_str()).collect();
                let waits = match waiting {
                    None => "",
                    Some(Waiting::AwaitingConfirmation) => " awaiting confirmation",
                    Some(Waiting::Paused) => " paused",
                };
                format!("[{}]{waits}", outcomes.join(" "))
            }
            other => format!("{other:?}"),
        };
        self.0.lock().unwrap().iter().map(word).collect()
    }
}

/// Runs the plan. `at` may request controls at an event; `decision` answers every question.
fn run(
    steps: impl IntoIterator<Item = serde_json::Value>,
    decision: Decision,
    at: impl Fn(&RunEvent, &ControlHandle) + Send + Sync + 'static,
) -> (Vec<String>, FinishedRun) {
    let (harness, seen) = (Harness::new(), Seen::default());
    fs::write(harness.path("here"), "here").unwrap();
    let control = harness.control.clone();
    seen.note(&control);
    let harness = harness.answering(move |_| decision).on_event({
        let (seen, control) = (seen.clone(), control.clone());
        move |event| {
            seen.note(&control);
            at(event, &control);
        }
    });
    let ran = harness.run(&plan(steps));
    seen.note(&control);
    (seen.words(), ran)
}

fn nothing(_: &RunEvent, _: &ControlHandle) {}

#[test]
fn completed_run_passes_all_steps() {
    let steps = [read_file("a", "here"), asking(read_file("b", "here"))];
    let (states, _) = run(steps, Decision::Approve, nothing);
    assert_eq!(
        states,
        [
            "Idle",
            "[]",
            "[succeeded]",
            "[succeeded] awaiting confirmation",
            "[succeeded]",
            "[succeeded succeeded]",
            "Completed",
        ]
    );
}

#[test]
fn skipped_step_counts_as_ended() {
    let steps = [asking(read_file("a", "here")), read_file("b", "here")];
    let (states, _) = run(steps, Decision::Skip, nothing);
    assert_eq!(
        states,
        [
            "Idle",
            "[]",
            "[] awaiting confirmation",
            "[]",
            "[skipped]",
            "[skipped succeeded]",
            "Completed"
        ]
    );
}

#[test]
fn failed_and_denied_steps_fail_the_run() {
    let steps = [read_file("a", "absent"), read_file("b", "here")];
    let (states, _) = run(steps, Decision::Approve, nothing);
    assert_eq!(states, ["Idle", "[]", "[failed]", "Failed"]);
    let (states, _) = run([asking(read_file("a", "here"))], Decision::Cancel, nothing);
    assert_eq!(states, ["Idle", "[]", "[] awaiting confirmation", "[]", "[denied]", "Failed"]);
}

#[test]
fn pause_is_a_state_inside_the_run() {
    let steps = [read_file("a", "here"), read_file("b", "here")];
    let (states, ran) = run(steps, Decision::Approve, |event, control| match event {
        RunEvent::StepStarted { step_index: 0, .. } => {
            control.request(Control::Pause, AnsweredBy::Test);
        }
        RunEvent::Paused => control.request(Control::Resume, AnsweredBy::Test),
        _ => {}
    });
    assert_eq!(
        states,
        [
            "Idle",
            "[]",
            "[succeeded]",
            "[succeeded] paused",
            "[succeeded]",
            "[succeeded succeeded]",
            "Completed"
        ]
    );
    assert_eq!(ran.words().1, "completed");
}

#[test]
fn cancelled_runs_end_in_their_own_state() {
    let steps = || [read_file("a", "here"), asking(read_file("b", "here"))];
    let (states, _) = run(steps(), Decision::Approve, |event, control| {
        if matches!(event, RunEvent::StepStarted { step_index: 0, .. }) {
            control.request(Control::CancelAfterStep, AnsweredBy::Test);
        }
    });
    assert_eq!(states, ["Idle", "[]", "[succeeded]", "Cancelled"]);
    // A stop ends the wait for a decision without one.
    let (states, _) = run(steps(), Decision::Approve, |event, control| {
        if matches!(event, RunEvent::ConfirmationNeeded { .. }) {
            control.request(Control::StopNow, AnsweredBy::Test);
        }
    });
    assert_eq!(
        states,
        [
            "Idle",
            "[]",
            "[succeeded]",
            "[succeeded] awaiting confirmation",
            "[succeeded cancelled]",
            "Cancelled",
        ]
    );
}

// The clock is read while the plan is compared with its approval, before the first event.
#[test]
fn plan_is_loaded_before_it_is_compared() {
    for is_stale in [false, true] {
        let (harness, seen) = (Harness::new(), Seen::default());
        fs::write(harness.path("a"), "1").unwrap();
        let approved = harness.authorize(&plan([crate::harness::write_file("a", "a", "2")]));
        if is_stale {
            fs::write(harness.path("a"), "foreign").unwrap();
        }
        let control = harness.control.clone();
        harness.clock.on_read({
            let (seen, control) = (seen.clone(), control.clone());
            move || seen.note(&control)
        });
        let ran = harness.execute(approved);
        seen.note(&control);
        let states = seen.words();
        if is_stale {
            assert_eq!(ran.refusal(), "E004");
            assert_eq!(states, ["PlanLoaded", "Idle"]);
        } else {
            assert_eq!(states, ["PlanLoaded", "[]", "[succeeded]", "Completed"]);
        }
    }
}

// The executor takes the next plan from every state in which a run can end.
#[test]
fn next_plan_begins_anew() {
    let (harness, seen) = (Harness::new(), Seen::default());
    fs::write(harness.path("here"), "here").unwrap();
    let control = harness.control.clone();
    let harness = harness.on_event({
        let (seen, control) = (seen.clone(), control.clone());
        move |_| seen.note(&control)
    });
    let _failed = harness.run(&plan([read_file("a", "absent")]));
    let _completed = harness.run(&plan([read_file("a", "here"), create_file("b", "b", "2")]));
    assert_eq!(
        seen.words(),
        ["[]", "[failed]", "Failed", "[]", "[succeeded]", "[succeeded succeeded]", "Completed"]
    );
}
