//! Outcomes of step and run by cause, with events and callbacks (SPEC §3).

use std::sync::Mutex;
use std::sync::mpsc::sync_channel;

use countersign::run::{AnsweredBy, Control, Decision, RunEvent};

use crate::harness::{FinishedRun, Harness, and, asking, create_file, plan, read_file, write_file};

/// The recorded decisions about runs and steps, in order.
pub fn decisions(harness: &Harness) -> Vec<String> {
    harness.texts("SELECT decision FROM decisions WHERE run_id NOT NULL ORDER BY id", [])
}

/// The recorded end of the run.
pub fn recorded_end(harness: &Harness) -> Vec<String> {
    harness.texts(
        "SELECT status || ' ' || coalesce(error_code, '-') || ' ' || coalesce(cancelled_by, '-')
             || ' ' || completed_steps FROM run_ends",
        [],
    )
}

/// The events by their names, in order.
pub fn names(ran: &FinishedRun) -> Vec<String> {
    let name = |event| serde_json::to_value(event).unwrap()["event"].as_str().unwrap().to_owned();
    ran.callbacks.events().iter().map(name).collect()
}

#[test]
fn cause_succeeded_goes_on_to_completed() {
    let harness = Harness::new();
    let ran = harness.run(&plan([asking(create_file("a", "a", "1")), create_file("b", "b", "2")]));
    assert_eq!(ran.words(), (vec!["succeeded", "succeeded"], "completed"));
    assert_eq!(recorded_end(&harness), ["completed - - 2"]);
    assert_eq!(decisions(&harness), ["approve"]);
}

#[test]
fn cause_skip_goes_on_to_completed() {
    let harness = Harness::new().answering(|_| Decision::Skip);
    let ran = harness.run(&plan([asking(create_file("a", "a", "1")), create_file("b", "b", "2")]));
    assert_eq!(ran.words(), (vec!["skipped", "succeeded"], "completed"));
    assert_eq!(ran.codes(), [None, None]);
    assert!(!ran.result().step_results[0].success);
    assert_eq!((harness.content("a"), harness.content("b").as_deref()), (None, Some("2")));
    assert_eq!(recorded_end(&harness), ["completed - - 2"]);
    assert_eq!(decisions(&harness), ["skip"]);
}

#[test]
fn cause_skip_and_a_later_failure_is_failed() {
    let harness = Harness::new().answering(|_| Decision::Skip);
    let ran = harness.run(&plan([asking(create_file("a", "a", "1")), read_file("b", "a")]));
    assert_eq!(ran.words(), (vec!["skipped", "failed"], "failed"));
}

#[test]
fn cause_deny_fails_the_run() {
    let harness = Harness::new().answering(|_| Decision::Cancel);
    let ran = harness.run(&plan([asking(read_file("a", "a")), create_file("b", "b", "2")]));
    assert_eq!((ran.words(), ran.codes()), ((vec!["denied"], "failed"), vec![Some("E106")]));
    assert_eq!(recorded_end(&harness), ["failed E106 - 1"]);
    assert_eq!(decisions(&harness), ["cancel"]);
}

#[test]
fn cause_precondition_fails_the_run() {
    let harness = Harness::new();
    let ran = harness.run(&plan([
        and(read_file("a", "a"), "precondition", "file exists"),
        create_file("b", "b", "2"),
    ]));
    assert_eq!(
        (ran.words(), ran.codes()),
        ((vec!["precondition_failed"], "failed"), vec![Some("E101")])
    );
    assert_eq!(recorded_end(&harness), ["failed E101 - 1"]);
    assert_eq!(decisions(&harness), [""; 0]);
}

#[test]
fn cause_tool_failed_fails_the_run() {
    let harness = Harness::new();
    let ran =
        harness.run(&plan([write_file("a", "no/such/folder", "1"), create_file("b", "b", "2")]));
    assert_eq!((ran.words(), ran.codes()), ((vec!["failed"], "failed"), vec![Some("E302")]));
    assert_eq!(recorded_end(&harness), ["failed E302 - 1"]);
    assert_eq!(harness.count("SELECT count(*) FROM intents", []), 1, "the tool was called");
    let result = &ran.result().step_results[0];
    assert!(result.error_message.as_deref().unwrap().contains("no/such/folder"));
    assert!(!result.next.as_deref().unwrap().is_empty());
}

#[test]
fn cause_approved_ingredient_changed_fails_the_run() {
    let mut harness = Harness::with(&[("a", "old")]);
    let path = harness.path("a");
    harness = harness.answering(move |_| {
        std::fs::write(&path, "changed").unwrap();
        Decision::Approve
    });
    let ran = harness.run(&plan([asking(write_file("a", "a", "new")), read_file("b", "a")]));
    assert_eq!((ran.words(), ran.codes()), ((vec!["failed"], "failed"), vec![Some("E004")]));
    assert_eq!(recorded_end(&harness), ["failed E004 - 1"]);
}

/// An answer given after the stop does not count.
#[test]
fn stop_now_during_a_dialog_cancels() {
    for answer in [Decision::Approve, Decision::Skip, Decision::Cancel] {
        let mut harness = Harness::new();
        let control = harness.control.clone();
        harness = harness.answering(move |_| {
            control.request(Control::StopNow, AnsweredBy::Test);
            answer
        });
        let ran =
            harness.run(&plan([asking(create_file("a", "a", "1")), create_file("b", "b", "2")]));
        assert_eq!(
            (ran.words(), ran.codes()),
            ((vec!["cancelled"], "cancelled"), vec![Some("E307")])
        );
        let message = ran.result().step_results[0].error_message.as_deref();
        let why = "its question was ended by Stop now, and nothing was run for it";
        assert_eq!(message, Some(why));
        assert_eq!(harness.tree().len(), 0);
        assert_eq!(harness.count("SELECT count(*) FROM intents", []), 0);
        assert_eq!(recorded_end(&harness), ["cancelled - stop_now 1"]);
        assert_eq!(decisions(&harness), ["stop_now"], "the late answer is no decision");
    }
}

#[test]
fn stop_now_ends_a_waiting_dialog() {
    let mut harness = Harness::new();
    let control = harness.control.clone();
    let (asked, was_asked) = sync_channel::<()>(1);
    let (release, released) = sync_channel::<()>(1);
    let released = Mutex::new(released);
    harness = harness.answering(move |_| {
        asked.send(()).unwrap();
        // Nobody answers, and the dialog is closed by the stop.
        assert!(released.lock().unwrap().recv().is_err());
        Decision::Cancel
    });
    let approved = harness.authorize(&plan([asking(create_file("a", "a", "1"))]));
    let ran = std::thread::scope(|scope| {
        scope.spawn(move || {
            was_asked.recv().unwrap();
            control.request(Control::StopNow, AnsweredBy::Window);
            drop(release);
        });
        harness.execute(approved)
    });
    assert_eq!(ran.words(), (vec!["cancelled"], "cancelled"));
    assert_eq!(
        harness.texts("SELECT decided_by FROM decisions WHERE run_id NOT NULL", []),
        ["window"]
    );
}

#[test]
fn stop_now_before_the_effect_leaves_none() {
    for tool in [create_file("b", "b", "2"), read_file("b", "a")] {
        let mut harness = Harness::new();
        let control = harness.control.clone();
        harness = harness.on_event(move |event| {
            if matches!(event, RunEvent::StepStarted { step_index: 1, .. }) {
                control.request(Control::StopNow, AnsweredBy::Test);
            }
        });
        let ran = harness.run(&plan([create_file("a", "a", "1"), tool, read_file("c", "a")]));
        assert_eq!(ran.words(), (vec!["succeeded", "cancelled"], "cancelled"));
        assert_eq!(ran.codes(), [None, Some("E307")]);
        assert_eq!(harness.tree().into_keys().collect::<Vec<_>>(), ["a"]);
        assert_eq!(recorded_end(&harness), ["cancelled - stop_now 2"]);
    }
}

#[test]
fn stop_now_between_steps_starts_no_other() {
    let mut harness = Harness::new();
    let control = harness.control.clone();
    harness = harness.on_event(move |event| {
        if matches!(event, RunEvent::StepCompleted { .. }) {
            control.request(Control::StopNow, AnsweredBy::Test);
        }
    });
    let ran = harness.run(&plan([create_file("a", "a", "1"), create_file("b", "b", "2")]));
    assert_eq!(ran.words(), (vec!["succeeded"], "cancelled"));
    assert_eq!(ran.callbacks.calls(), ["start a", "complete a"]);
    assert_eq!(recorded_end(&harness), ["cancelled - stop_now 1"]);
}

#[test]
fn cancel_after_step_lets_the_step_end() {
    let mut harness = Harness::new();
    let control = harness.control.clone();
    harness = harness.on_event(move |event| {
        if matches!(event, RunEvent::StepStarted { .. }) {
            control.request(Control::CancelAfterStep, AnsweredBy::Test);
        }
    });
    let ran = harness.run(&plan([create_file("a", "a", "1"), create_file("b", "b", "2")]));
    assert_eq!((ran.words(), ran.codes()), ((vec!["succeeded"], "cancelled"), vec![None]));
    assert_eq!((harness.content("a").as_deref(), harness.content("b")), (Some("1"), None));
    assert_eq!(recorded_end(&harness), ["cancelled - cancel_after_step 1"]);
    assert_eq!(decisions(&harness), ["cancel_after_step"]);
}

#[test]
fn cancel_during_last_step_is_cancelled() {
    let mut harness = Harness::new();
    let control = harness.control.clone();
    harness = harness.on_event(move |event| {
        if matches!(event, RunEvent::StepStarted { .. }) {
            control.request(Control::CancelAfterStep, AnsweredBy::Test);
        }
    });
    let ran = harness.run(&plan([create_file("a", "a", "1")]));
    assert_eq!(ran.words(), (vec!["succeeded"], "cancelled"));
}
