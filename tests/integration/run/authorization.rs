//! A run needs an approval that is valid, unused and unchanged (SPEC §2).

use std::fs;
use std::path::Path;
use std::sync::{Arc, Barrier};

use countersign::authorization::{AuthorizationStatus, DEFAULT_TTL_MS, FileState};
use countersign::engine::{Clock as _, ExecutionError};
use countersign::plan::Tool;
use countersign::risk::Policy;
use countersign::run::{Decision, Phase, RunEvent};
use serde_json::json;
use uuid::Uuid;

use super::approval_voided::two_writes;
use crate::harness::{
    FinishedRun, Harness, NOW_MS, asking, create_file, plan, read, read_file, step, write_file,
};

/// The changes that the refusal names.
pub fn changed(ran: &FinishedRun) -> Vec<String> {
    match ran.outcome.as_ref().unwrap_err() {
        ExecutionError::Stale { changes } => {
            changes.iter().map(|change| change.what.clone()).collect()
        }
        other => panic!("{other}"),
    }
}

#[test]
fn the_first_check_that_fails_decides() {
    let harness = Harness::new();
    let faulty = plan([step("a", "file_raed", json!({})), step("b", "file_read", json!({}))]);
    let good = harness.authorize(&faulty);
    let used = good.authorization.authorization_id;
    let mut first = harness.authorize(&plan([create_file("a", "first", "")]));
    first.authorization.authorization_id = used;
    assert_eq!(harness.execute(first).words().1, "completed");

    // Begins with every fault at once, and then repairs them one by one.
    harness.clock.advance(DEFAULT_TTL_MS);
    let mut approved = good.clone();
    approved.authorization.status = AuthorizationStatus::Pending;
    approved.authorization.plan_id = "another".to_owned();
    approved.authorization.plan_digest = countersign::plan::Digest::of(b"other bytes");
    let refusal = |approved: &_| {
        let ran = harness.execute(Clone::clone(approved));
        (ran.refusal(), ran.outcome.unwrap_err().to_string())
    };
    let (code, text) = refusal(&approved);
    assert!(code == "E002" && text.contains("nobody has answered"), "{code} {text}");
    approved.authorization.status = AuthorizationStatus::Approved;
    let (code, text) = refusal(&approved);
    assert!(code == "E002" && text.contains("expired"), "{code} {text}");
    approved.authorization.expires_at_ms += DEFAULT_TTL_MS;
    let (code, text) = refusal(&approved);
    assert!(code == "E002" && text.contains("used by run"), "{code} {text}");
    approved.authorization.authorization_id = Uuid::new_v4();
    assert_eq!(refusal(&approved).0, "E003");
    approved.authorization.plan_id = good.plan.plan_id.clone();
    assert_eq!(refusal(&approved).0, "E004");
    approved.authorization.plan_digest = good.plan.digest;
    assert_eq!(refusal(&approved).0, "E001", "two findings of different codes");
    assert_eq!(harness.count("SELECT count(*) FROM runs", []), 1);
}

#[test]
fn refusal_carries_the_code_of_the_only_fault() {
    for (faulty, code) in [
        (step("a", "file_raed", json!({})), "E201"),
        (step("a", "file_read", json!({})), "E202"),
        (step("a", "file_read", json!({ "path": "x", "mode": "y" })), "E203"),
        (step("a", "file_read", json!({ "path": "../x" })), "E204"),
        (step("a", "file_write", json!({ "path": "/etc/passwd", "contents": "" })), "E204"),
        (json!({ "tool": "file_read", "arguments": { "path": "x" }, "reasn": "" }), "E001"),
    ] {
        let harness = Harness::new();
        let approved = harness.approve(&read(&plan([create_file("first", "new", ""), faulty])));
        let ran = harness.execute(approved);
        assert_eq!(ran.refusal(), code);
        assert_eq!(harness.tree().len(), 0, "{code}: nothing of the plan is run");
        assert_eq!(harness.count("SELECT count(*) FROM runs", []), 0);
    }
}

#[test]
fn an_approval_is_consumed_by_its_run() {
    let harness = Harness::with(&[("a", "1")]);
    let approved = harness.authorize(&plan([read_file("a", "a")]));
    let (mut executor, _) = harness.executor();
    let first = executor.execute(approved.clone()).unwrap();
    let refused = executor.execute(approved.clone()).unwrap_err();
    assert_eq!(refused.code().as_str(), "E002");
    assert!(refused.to_string().contains(&first.run_id.to_string()), "{refused}");
    assert_eq!(harness.execute(approved).refusal(), "E002", "another executor refuses too");
    assert_eq!(harness.count("SELECT count(*) FROM runs", []), 1);
}

#[test]
fn failed_run_consumes_its_approval() {
    let harness = Harness::new();
    let approved = harness.authorize(&plan([read_file("a", "missing")]));
    assert_eq!(harness.execute(approved.clone()).words().1, "failed");
    assert_eq!(harness.execute(approved).refusal(), "E002");
}

#[test]
fn a_refused_plan_has_not_consumed_its_approval() {
    let mut harness = Harness::with(&[("a", "1")]);
    let approved = harness.authorize(&plan([read_file("a", "a")]));
    harness.policy.confirm_tools.insert(Tool::FileRead);
    assert_eq!(harness.execute(approved.clone()).refusal(), "E004");
    harness.policy = Policy::default();
    assert_eq!(harness.execute(approved).words().1, "completed");
}

#[test]
fn unusable_settings_refuse_even_approved_plans() {
    let mut harness = Harness::with(&[("a", "1")]);
    harness.policy = Policy::refusing("the risk rule \"mine\" is bad".to_owned());
    let plan = plan([read_file("a", "a")]);
    let approved = harness.authorize(&plan);
    let (mut executor, _) = harness.executor();
    let refused = executor.execute(approved).unwrap_err();
    assert_eq!(refused.code().as_str(), "E002");
    assert!(refused.to_string().contains("\"mine\""), "{refused}");
    assert_eq!(harness.count("SELECT count(*) FROM executions", []), 0);
}

#[test]
fn one_of_many_executors_gets_the_approval() {
    const MANY: usize = 6;
    let harness = Harness::with(&[("a", "1")]);
    let approved = harness.authorize(&plan([read_file("a", "a")]));
    let start = Arc::new(Barrier::new(MANY));
    let codes: Vec<Option<&str>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..MANY)
            .map(|_| {
                let (mut executor, _) = harness.executor();
                let (approved, start) = (approved.clone(), Arc::clone(&start));
                scope.spawn(move || {
                    start.wait();
                    executor.execute(approved).err().map(|error| error.code().as_str())
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(codes.iter().filter(|code| code.is_none()).count(), 1, "{codes:?}");
    assert!(codes.iter().flatten().all(|code| *code == "E002"), "{codes:?}");
    assert_eq!(harness.count("SELECT count(*) FROM runs", []), 1);
    assert_eq!(harness.count("SELECT count(*) FROM executions", []), 1);
}

#[test]
fn unused_approval_expires() {
    let harness = Harness::with(&[("a", "1")]);
    let text = plan([read_file("a", "a")]);
    let (early, late) = (harness.authorize(&text), harness.authorize(&text));
    harness.clock.advance(DEFAULT_TTL_MS - 1);
    assert_eq!(harness.execute(early).words().1, "completed");
    harness.clock.advance(1);
    assert_eq!(harness.execute(late).refusal(), "E002");
}

#[test]
fn approval_may_expire_during_its_run() {
    let mut harness = Harness::with(&[("a", "1")]);
    let clock = Arc::clone(&harness.clock);
    harness = harness.answering(move |_| {
        clock.advance(2 * DEFAULT_TTL_MS);
        Decision::Approve
    });
    let ran = harness.run(&plan([asking(read_file("a", "a")), read_file("b", "a")]));
    assert_eq!(ran.words().1, "completed");
}

#[test]
fn file_changed_between_steps_fails_the_step() {
    let mut harness = Harness::with(&[("input", "old")]);
    let input = harness.path("input");
    harness = harness.on_event(move |event| {
        if let RunEvent::StepCompleted { .. } = event {
            fs::write(&input, "somebody else's").unwrap();
        }
    });
    let ran = harness.run(&two_writes());
    assert_eq!(ran.words(), (vec!["succeeded", "failed"], "failed"));
    assert_eq!(ran.codes(), [None, Some("E004")]);
    assert_eq!(harness.content("input").as_deref(), Some("somebody else's"));
    assert_eq!(harness.texts("SELECT step_id FROM intents", []), ["a"]);
}

#[test]
fn file_changed_during_the_question_fails_the_step() {
    let mut harness = Harness::with(&[("input", "old")]);
    let input = harness.path("input");
    harness = harness.answering(move |_| {
        fs::write(&input, "somebody else's").unwrap();
        Decision::Approve
    });
    let ran = harness.run(&plan([asking(write_file("a", "input", "new"))]));
    assert_eq!(ran.codes(), [Some("E004")]);
    assert_eq!(harness.content("input").as_deref(), Some("somebody else's"));
    assert_eq!(harness.count("SELECT count(*) FROM intents", []), 0);
    let decisions = harness.texts("SELECT decision FROM decisions WHERE run_id NOT NULL", []);
    assert_eq!(decisions, ["approve"], "the answer is kept all the same");
}

/// A step expects a file as the earlier steps of its plan left it, not as it was when the plan was approved.
#[test]
fn file_of_an_earlier_step_is_expected() {
    let write_twice =
        || plan([write_file("a", "input", "one"), asking(write_file("b", "input", "two"))]);
    let harness = Harness::with(&[("input", "old")]);
    assert_eq!(harness.run(&write_twice()).words(), (vec!["succeeded"; 2], "completed"));
    assert_eq!(harness.content("input").as_deref(), Some("two"));

    let mut harness = Harness::with(&[("input", "old")]);
    let input = harness.path("input");
    harness = harness.answering(move |_| {
        // The content at approval, which is not what the first step left.
        fs::write(&input, "old").unwrap();
        Decision::Approve
    });
    let ran = harness.run(&write_twice());
    assert_eq!(ran.codes(), [None, Some("E004")]);
    assert_eq!(harness.content("input").as_deref(), Some("old"));
}

#[test]
fn approval_covers_written_files_by_canonical_path() {
    let harness = Harness::with(&[("sub/input", "old")]);
    std::os::unix::fs::symlink("sub", harness.path("link")).unwrap();
    let approved = harness.authorize(&plan([
        write_file("a", "./link/../sub/input", "1"),
        write_file("b", "link/input", "2"),
        create_file("c", "new", "3"),
        read_file("d", "unrelated"),
    ]));
    let covered = approved.authorization.binding.inputs;
    assert_eq!(covered.keys().collect::<Vec<_>>(), ["new", "sub/input"]);
    assert_eq!(covered["new"], FileState::Absent);
}

#[test]
fn executor_runs_again_after_a_refusal() {
    let harness = Harness::with(&[("a", "1")]);
    let mut approved = harness.authorize(&plan([read_file("a", "a")]));
    let good = approved.clone();
    approved.authorization.decided_at_ms = NOW_MS;
    approved.authorization.expires_at_ms = NOW_MS;
    let (mut executor, callbacks) = harness.executor();
    assert!(executor.execute(approved).is_err());
    assert_eq!(callbacks.events(), [], "a refused run sends no events");
    let result = executor.execute(good).unwrap();
    assert_eq!(callbacks.state().phase, Phase::Ended(result.status));
    assert_eq!(callbacks.state().current_step, result.step_results.len());
}

#[test]
fn clock_set_back_prolongs_no_approval() {
    let harness = Harness::new();
    let approved = harness.authorize(&two_writes());
    harness.clock.advance(DEFAULT_TTL_MS);
    harness.clock.drift_wall(-DEFAULT_TTL_MS);
    let _ = harness.clock.now_ms();
    harness.clock.drift_wall(0);
    assert_eq!(harness.clock.now_ms(), NOW_MS, "as when it was given");
    let ran = harness.execute(approved);
    assert_eq!(ran.refusal(), "E002");
    assert!(ran.outcome.unwrap_err().to_string().contains("has expired"));
}

#[test]
fn the_workspace_is_recorded_without_links() {
    let harness = Harness::new();
    let approved = harness.authorize(&two_writes());
    let workspace = fs::canonicalize(harness.workspace()).unwrap();
    assert_eq!(Path::new(&approved.authorization.binding.workspace), workspace);
    assert_eq!(harness.execute(approved).words().1, "completed");
    let recorded = harness.texts("SELECT workspace FROM runs", []);
    assert_eq!(recorded, [workspace.to_str().unwrap()]);
}
