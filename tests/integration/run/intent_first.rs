//! Intents are durable before effects, and without evidence nothing runs (SPEC §3, §8).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use countersign::authorization::SinceBoot;
use countersign::engine::{
    AutoApprove, Clock, ExecutionError, Executor, ExecutorDeps, NoopProgress, reconcile,
};
use countersign::evidence::{EvidenceReader, EvidenceStore, verify};
use countersign::run::{Decision, DiskState, Outcome, Phase, RunEvent, RunFate, RunStatus};

use crate::harness::{
    FakeClock, FinishedRun, Harness, and, asking, create_file, plan, read_file, write_file,
};

/// The outcomes of the steps that were recorded before the evidence failed.
fn done(ran: &FinishedRun) -> Vec<Outcome> {
    match ran.outcome.as_ref().unwrap_err() {
        ExecutionError::EvidenceStore { step_results, source, .. } => {
            assert!(source.to_string().contains("failure injected by a test"), "{source}");
            step_results.iter().map(|result| result.outcome).collect()
        }
        other => panic!("{other}"),
    }
}

#[test]
fn intent_is_recorded_before_the_file_exists() {
    let harness = Harness::new();
    let contents = "x".repeat(1 << 20);
    let approved = harness.authorize(&plan([create_file("a", "new", &contents)]));
    let evidence = harness.sql();
    let over = &AtomicBool::new(false);
    let path = harness.path("new");
    let (ran, intents) = std::thread::scope(|scope| {
        let watcher = scope.spawn(move || {
            while !path.exists() && !over.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            let count = |sql| evidence.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
            count("SELECT count(*) FROM intents WHERE step_id = 'a'")
        });
        let ran = harness.execute(approved);
        over.store(true, Ordering::SeqCst);
        (ran, watcher.join().unwrap())
    });
    assert_eq!(ran.words().1, "completed");
    assert_eq!(intents, 1);
}

/// Intent and execution have the same id.
#[test]
fn intent_precedes_its_execution_in_the_chain() {
    let harness = Harness::new();
    let ran = harness.run(&plan([create_file("a", "new", "x")]));
    let id = ran.result().step_results[0].execution_id.to_string();
    let place = |table: &str| {
        let sql = format!(
            "SELECT seq FROM ledger JOIN {table} ON ledger.seq = {table}.row
             WHERE table_name = '{table}' AND {table}.id = ?1"
        );
        harness.count(&sql, [&id])
    };
    assert!(place("intents") < place("executions"));
    let predicted = "SELECT count(*) FROM file_contents p JOIN file_contents a USING
         (execution_id, path, after_digest) WHERE p.phase = 'predicted' AND a.phase = 'actual'";
    assert_eq!(harness.count(predicted, []), 1, "what was predicted is what was done");
}

#[test]
fn only_executed_effects_have_intents() {
    let harness =
        Harness::with(&[("a", "1")]).answering(|request| match request.step_id.as_str() {
            "skipped" => Decision::Skip,
            _ => Decision::Cancel,
        });
    let ran = harness.run(&plan([
        read_file("read", "a"),
        asking(create_file("skipped", "b", "2")),
        create_file("created", "c", "3"),
        asking(create_file("denied", "d", "4")),
    ]));
    assert_eq!(ran.words(), (vec!["succeeded", "skipped", "succeeded", "denied"], "failed"));
    assert_eq!(harness.texts("SELECT step_id FROM intents", []), ["created"]);

    let ran =
        harness.run(&plan([and(create_file("unmet", "e", "5"), "precondition", "file exists")]));
    assert_eq!(ran.words(), (vec!["precondition_failed"], "failed"));
    assert_eq!(harness.texts("SELECT step_id FROM intents", []), ["created"]);
    let called = harness.texts("SELECT step_id FROM executions WHERE invoked ORDER BY row", []);
    assert_eq!(called, ["read", "created"]);
}

#[test]
fn without_an_intent_the_step_is_not_executed() {
    let harness = Harness::with(&[("a", "1")]);
    harness.refuse_rows_of("intents");
    let approved = harness.authorize(&plan([
        read_file("read", "a"),
        asking(create_file("create", "new", "x")),
        read_file("never", "a"),
    ]));
    let (mut executor, callbacks) = harness.executor();
    let ran = FinishedRun { outcome: executor.execute(approved), callbacks };
    assert_eq!(ran.refusal(), "E401");
    assert_eq!(done(&ran), [Outcome::Succeeded], "the recorded results are reported");
    assert_eq!(harness.content("new"), None, "no evidence, no execution");
    assert_eq!(harness.count("SELECT count(*) FROM executions", []), 1);
    assert!(
        matches!(ran.callbacks.events().last(), Some(RunEvent::RunFailed { code, .. }) if code.as_str() == "E401")
    );
    assert_eq!(ran.callbacks.state().phase, Phase::Ended(RunStatus::Failed));
    assert_eq!(ran.callbacks.state().current_step, 1);
}

#[test]
fn unrecorded_start_begins_nothing() {
    for table in ["runs", "authorization_uses", "ledger"] {
        let harness = Harness::new();
        harness.refuse_rows_of(table);
        let ran = harness.run(&plan([create_file("a", "new", "x")]));
        assert_eq!((ran.refusal(), done(&ran)), ("E401", vec![]), "{table}");
        assert_eq!(harness.tree().len(), 0, "{table}");
        assert_eq!(ran.callbacks.calls(), [""; 0], "{table}: no step was started");
        assert_eq!(harness.count("SELECT count(*) FROM authorization_uses", []), 0);
    }
}

#[test]
fn unstored_result_ends_run_keeps_intent() {
    let harness = Harness::new();
    harness.refuse_rows_of("executions");
    let ran = harness.run(&plan([create_file("a", "new", "x"), create_file("b", "next", "x")]));
    assert_eq!((ran.refusal(), done(&ran)), ("E401", vec![]));
    assert_eq!(harness.content("new").as_deref(), Some("x"), "it was done");
    assert_eq!(harness.content("next"), None, "and nothing after it");
    assert_eq!(harness.texts("SELECT step_id FROM intents", []), ["a"], "outcome unknown");
    assert_eq!(ran.callbacks.calls(), ["start a"], "no unrecorded result is reported");
    let error = ran.outcome.unwrap_err();
    assert!(error.to_string().contains("step a succeeded is not recorded"), "{error}");
    assert!(matches!(
        error,
        ExecutionError::EvidenceStore { not_recorded: Some(result), .. } if result.success
    ));
}

/// A clock that panics once `file` exists, so after the effect, when the duration of the step is measured.
struct BreakingClock {
    clock: Arc<FakeClock>,
    file: PathBuf,
}

impl Clock for BreakingClock {
    fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    fn monotonic_ms(&self) -> i64 {
        assert!(!self.file.exists(), "the clock breaks, says the test");
        self.clock.monotonic_ms()
    }

    fn since_boot(&self) -> SinceBoot {
        self.clock.since_boot()
    }
}

/// The outcome of the step is unknown.
#[test]
fn panic_after_effect_leaves_run_interrupted() {
    let harness = Harness::new();
    let approved =
        harness.authorize(&plan([create_file("a", "new", "x"), create_file("b", "next", "x")]));
    let deps = ExecutorDeps {
        policy: harness.policy.clone(),
        clock: Arc::new(BreakingClock {
            clock: Arc::clone(&harness.clock),
            file: harness.path("new"),
        }),
        confirmation: Box::new(AutoApprove),
        progress: Arc::new(NoopProgress),
        control: harness.control.clone(),
        terminal: None,
        secrets: None,
        passphrase: None,
    };
    let store = harness.store();
    let panicked = catch_unwind(AssertUnwindSafe(|| Executor::new(store, deps).execute(approved)));
    assert!(panicked.is_err());
    assert_eq!(harness.content("new").as_deref(), Some("x"), "it was done");
    assert_eq!(harness.content("next"), None, "and nothing after it");
    let mut evidence = EvidenceReader::open(&harness.evidence(), harness.path("no key")).unwrap();
    let runs = evidence.runs(2).unwrap();
    assert_eq!(runs.iter().map(|run| run.fate).collect::<Vec<_>>(), [RunFate::Interrupted]);
    let open = evidence.open_intents(runs[0].run_id).unwrap();
    assert_eq!(open.iter().map(|intent| intent.step_id.as_str()).collect::<Vec<_>>(), ["a"]);
    let found = reconcile(&mut evidence, runs[0].run_id, &harness.policy).unwrap();
    assert_eq!(found.iter().map(|it| it.finding).collect::<Vec<_>>(), [DiskState::AsAfter]);
    assert!(verify(&harness.evidence(), None).unwrap().ok);
}

#[test]
fn step_is_recorded_whole_or_not() {
    let harness = Harness::with(&[("a", "1")]);
    harness.refuse_rows_of("edges");
    let ran = harness.run(&plan([read_file("a", "a")]));
    assert_eq!(ran.refusal(), "E401");
    for table in ["executions", "execution_artifacts", "edges", "run_ends"] {
        assert_eq!(harness.count(&format!("SELECT count(*) FROM {table}"), []), 0, "{table}");
    }
}

#[test]
fn unrecorded_end_is_error_with_all_results() {
    let harness = Harness::new();
    harness.refuse_rows_of("run_ends");
    let ran = harness.run(&plan([create_file("a", "new", "x"), read_file("b", "new")]));
    assert_eq!((ran.refusal(), done(&ran)), ("E401", vec![Outcome::Succeeded; 2]));
}

#[test]
fn unrecorded_control_ends_the_run() {
    let mut harness = Harness::new();
    let approved = harness.authorize(&plan([create_file("a", "new", "x")]));
    // The approval is recorded before inserts fail, so only the run's decisions fail.
    harness.store().record_authorization(&approved.authorization, &approved.plan).unwrap();
    harness.refuse_rows_of("decisions");
    let control = harness.control.clone();
    harness = harness.on_event(move |event| {
        if matches!(event, RunEvent::RunStarted { .. }) {
            control.request(countersign::run::Control::Pause, countersign::run::AnsweredBy::Test);
        }
    });
    let ran = harness.execute(approved);
    assert_eq!(ran.refusal(), "E401");
    assert_eq!(harness.tree().len(), 0);
}

#[test]
fn file_that_is_no_database_is_refused() {
    let harness = Harness::new();
    std::fs::create_dir(harness.evidence()).unwrap();
    let database = harness.evidence().join("execution_log.db");
    std::fs::write(&database, "this is no database, whatever its name says".repeat(100)).unwrap();
    let key = harness.path("key");
    let error = EvidenceStore::open(&harness.evidence(), &key).unwrap_err();
    assert!(error.to_string().contains("no database"), "{error}");
    let left = std::fs::read_to_string(&database).unwrap();
    assert!(left.starts_with("this is no database"), "nothing is overwritten");
}

#[test]
fn an_overwritten_content_is_kept() {
    let harness = Harness::with(&[("a", "the only copy")]);
    let ran = harness.run(&plan([write_file("a", "a", "gone")]));
    assert_eq!(ran.words().1, "completed");
    let before = countersign::plan::Digest::of(b"the only copy").hex();
    let kept = "SELECT count(*) FROM file_contents JOIN blobs ON digest = before_digest
         WHERE path = 'a' AND phase = 'actual' AND digest = ?1";
    assert_eq!(harness.count(kept, [before]), 1);
}

/// The content before is stored encrypted, but the preview contains its lines, and a single line of a key is not
/// recognized as one.
#[test]
fn failed_key_replacement_leaves_no_clear_part() {
    let line = |n: u32| format!("MIIEowIBAAKCAQEA7bq98jXy{n}");
    let lines: Vec<_> = (10..20).map(line).collect();
    let words = ["PRIVATE", "KEY"].join(" ");
    let key = format!("-----BEGIN {words}-----\n{}\n-----END {words}-----\n", lines.join("\n"));
    let replace = write_file("a", "key.pem", "none");
    let denied = Harness::with(&[("key.pem", &key)]).answering(|_| Decision::Cancel);
    let mut stopped = Harness::with(&[("key.pem", &key)]);
    let control = stopped.control.clone();
    stopped = stopped.on_event(move |event| {
        if matches!(event, RunEvent::StepStarted { .. }) {
            let by = countersign::run::AnsweredBy::Test;
            control.request(countersign::run::Control::StopNow, by);
        }
    });
    for (harness, step, outcome) in
        [(denied, asking(replace.clone()), "denied"), (stopped, replace, "cancelled")]
    {
        let ran = harness.run(&plan([step]));
        assert_eq!(ran.words().0, [outcome]);
        let mut stored = harness.texts("SELECT content_json FROM execution_artifacts", []);
        let shown = "SELECT request_json FROM decisions WHERE request_json IS NOT NULL";
        stored.extend(harness.texts(shown, []));
        let preview = stored.iter().filter(|text| text.contains("key.pem")).count();
        assert!(preview > 0, "{outcome}: the preview is stored in its row");
        for text in stored {
            assert!(!text.contains(&line(12)), "{outcome}: {text}");
        }
    }
}
