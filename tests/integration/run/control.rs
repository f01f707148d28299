//! Pause, stop, callbacks, events and times of a run (SPEC §3).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;

use countersign::run::{AnsweredBy, Control, Decision, Phase, RunEvent, RunStatus, StepState};
use serde_json::json;

use super::outcomes::{decisions, names, recorded_end};
use crate::harness::{Harness, and, asking, create_file, plan, read_file, step, write_file};

#[test]
fn pause_holds_the_run_until_resumed() {
    let mut harness = Harness::new();
    let control = harness.control.clone();
    let (paused, was_paused) = sync_channel::<()>(1);
    let is_paused = Arc::new(AtomicBool::new(false));
    let held = Arc::clone(&is_paused);
    harness = harness.on_event({
        let control = control.clone();
        move |event| match event {
            RunEvent::StepStarted { step_index: 0, .. } => {
                control.request(Control::Pause, AnsweredBy::Test);
            }
            RunEvent::Paused => {
                held.store(true, Ordering::SeqCst);
                paused.send(()).unwrap();
            }
            RunEvent::Resumed => held.store(false, Ordering::SeqCst),
            RunEvent::StepStarted { .. } => {
                assert!(!held.load(Ordering::SeqCst), "no step starts while paused");
            }
            _ => {}
        }
    });
    let approved =
        harness.authorize(&plan([create_file("a", "a", "1"), create_file("b", "b", "2")]));
    let trace = harness.path("b");
    let ran = std::thread::scope(|scope| {
        scope.spawn(move || {
            was_paused.recv().unwrap();
            assert!(!trace.exists(), "the second step waits");
            control.request(Control::Resume, AnsweredBy::Window);
        });
        harness.execute(approved)
    });
    assert_eq!(ran.words(), (vec!["succeeded", "succeeded"], "completed"));
    assert_eq!(
        names(&ran),
        [
            "run_started",
            "step_started",
            "step_completed",
            "control_requested",
            "paused",
            "control_requested",
            "resumed",
            "step_started",
            "step_completed",
            "run_completed",
        ]
    );
    assert_eq!(decisions(&harness), ["pause", "resume"]);
}

#[test]
fn a_paused_run_can_be_stopped() {
    for control in [Control::StopNow, Control::CancelAfterStep] {
        let mut harness = Harness::new();
        let handle = harness.control.clone();
        handle.request(Control::Pause, AnsweredBy::Test);
        harness = harness.on_event(move |event| {
            if matches!(event, RunEvent::Paused) {
                handle.request(control, AnsweredBy::Test);
            }
        });
        let ran = harness.run(&plan([create_file("a", "a", "1")]));
        assert_eq!(ran.words(), (vec![], "cancelled"));
        assert_eq!(decisions(&harness), ["pause", control.as_str()]);
        assert_eq!(recorded_end(&harness), [format!("cancelled - {} 0", control.as_str())]);
    }
}

#[test]
fn every_callback_is_called_once_and_in_order() {
    let harness = Harness::new().answering(|request| match request.step_id.as_str() {
        "skipped" => Decision::Skip,
        "denied" => Decision::Cancel,
        _ => Decision::Approve,
    });
    let ran = harness.run(&plan([
        create_file("plain", "plain", "1"),
        asking(create_file("skipped", "skipped", "2")),
        asking(create_file("approved", "approved", "3")),
        asking(read_file("denied", "plain")),
        read_file("never", "plain"),
    ]));
    assert_eq!(
        ran.callbacks.calls(),
        [
            "start plain",
            "complete plain",
            "start skipped",
            "ask skipped",
            "skipped skipped",
            "start approved",
            "ask approved",
            "complete approved",
            "start denied",
            "ask denied",
            "failed denied",
        ]
    );
    assert_eq!(
        names(&ran),
        [
            "run_started",
            "step_started",
            "step_completed",
            "step_started",
            "confirmation_needed",
            "confirmation_decided",
            "step_skipped",
            "step_started",
            "confirmation_needed",
            "confirmation_decided",
            "step_completed",
            "step_started",
            "confirmation_needed",
            "confirmation_decided",
            "step_failed",
            "run_failed",
        ]
    );
}

#[test]
fn the_events_amount_to_the_result() {
    let answers: [(Decision, RunStatus); 3] = [
        (Decision::Approve, RunStatus::Completed),
        (Decision::Skip, RunStatus::Completed),
        (Decision::Cancel, RunStatus::Failed),
    ];
    for (answer, status) in answers {
        let harness = Harness::with(&[("a", "1")]).answering(move |_| answer);
        let ran = harness.run(&plan([
            read_file("a", "a"),
            asking(create_file("b", "b", "2")),
            read_file("c", "a"),
        ]));
        let (result, state) = (ran.result(), ran.callbacks.state());
        assert_eq!(state.phase, Phase::Ended(status));
        assert_eq!((state.run_id, state.plan_id.as_str()), (Some(result.run_id), "proof"));
        assert_eq!(state.current_step, result.step_results.len());
        assert_eq!(state.steps.len(), 3);
        for (index, step) in state.steps.iter().enumerate() {
            match result.step_results.get(index) {
                Some(expected) => assert_eq!(*step, StepState::Done(Box::new(expected.clone()))),
                None => assert_eq!(*step, StepState::Waiting),
            }
        }
    }
}

#[test]
fn question_has_all_details() {
    let harness = Harness::with(&[("a", "old\n")]);
    let text = plan([
        read_file("first", "a"),
        asking(and(write_file("second", "a", "new\n"), "reason", "it is outdated")),
    ]);
    let ran = harness.run(&text);
    let asked = ran.callbacks.confirmation_requests();
    assert_eq!(asked.len(), 1, "only where it is needed");
    let request = &asked[0];
    assert_eq!((request.step_index, request.step_count), (1, 2));
    assert_eq!((request.run_id, request.tool.as_str()), (ran.result().run_id, "file_write"));
    assert_eq!(request.purpose.as_deref(), Some("it is outdated"));
    assert_eq!(json!(request.arguments), json!({ "path": "a", "contents": "new\n" }));
    let workspace = std::fs::canonicalize(harness.workspace()).unwrap();
    assert_eq!(request.cwd, workspace.to_str().unwrap());
    assert_eq!(request.preview.changes[0].path, "a");
    let shown = harness.texts("SELECT request_json FROM decisions WHERE run_id NOT NULL", []);
    let shown: serde_json::Value = serde_json::from_str(&shown[0]).unwrap();
    assert_eq!(shown["arguments"]["contents"], "new\n", "what was shown is kept");
}

#[test]
fn waiting_counts_as_elapsed_time_only() {
    let mut harness = Harness::with(&[("a", "1")]);
    let clock = Arc::clone(&harness.clock);
    harness = harness.answering(move |_| {
        clock.advance(60_000);
        Decision::Approve
    });
    harness.clock.drift_monotonic(1);
    let ran = harness.run(&plan([asking(read_file("a", "a")), read_file("b", "a")]));
    let result = ran.result();
    let steps: Vec<i64> = result.step_results.iter().map(|step| step.duration_ms).collect();
    assert_eq!((steps, result.total_duration_ms), (vec![1, 1], 2));
    assert!(result.elapsed_ms > 60_000, "{}", result.elapsed_ms);
}

#[test]
fn timestamps_never_decrease() {
    let harness = Harness::with(&[("a", "1")]);
    let approved = harness.authorize(&plan([
        read_file("a", "a"),
        asking(create_file("b", "b", "2")),
        read_file("c", "a"),
    ]));
    harness.clock.drift_wall(-10_000);
    let ran = harness.execute(approved);
    let times: Vec<i64> = ran.result().step_results.iter().map(|step| step.timestamp_ms).collect();
    assert_eq!(times.len(), 3);
    assert!(times.is_sorted(), "{times:?}");
    let recorded = "SELECT timestamp FROM runs UNION ALL SELECT timestamp FROM executions
         UNION ALL SELECT timestamp FROM run_ends";
    let recorded = harness.texts(&format!("SELECT CAST(timestamp AS TEXT) FROM ({recorded})"), []);
    assert_eq!(recorded.len(), 5);
    assert!(recorded.is_sorted(), "{recorded:?}");
    assert!(harness.count("SELECT clock_set_back FROM run_ends", []) > 0, "and it is noted");
}

#[test]
fn step_of_an_earlier_run_runs_again() {
    let harness = Harness::new();
    let text = plan([step("a", "file_write", json!({ "path": "a", "contents": "same" }))]);
    let (first, second) = (harness.run(&text), harness.run(&text));
    for ran in [first, second] {
        assert_eq!(ran.words(), (vec!["succeeded"], "completed"));
        let id = ran.result().step_results[0].execution_id.to_string();
        assert_eq!(harness.count("SELECT invoked FROM executions WHERE id = ?1", [id]), 1);
    }
}
