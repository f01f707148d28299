use proptest::prelude::*;
use uuid::Uuid;

use super::fixture::*;
use crate::authorization::AuthorizationStatus;
use crate::evidence::secrets;
use crate::evidence::*;
use crate::plan::{Code, Digest, Needs};
use crate::run::*;

#[test]
fn a_run_is_replayed_as_it_was() {
    let home = Home::new();
    let mut store = home.store();
    let steps = vec![read_step(0, "a"), write_step(1, "b", "new"), write_step(2, "c", "x")];
    let mut run = Running::begin(&mut store, plan(steps), 2_000);
    let (run_id, plan) = (run.run_id, run.plan.clone());
    run.record(
        with_output(result_of(&plan.steps[0], Outcome::Succeeded, 2_001), b"hello"),
        stdout(b"hello"),
    );
    let mut events_of_controls = Vec::new();
    for control in [Control::Pause, Control::Resume] {
        let by = AnsweredBy::Window;
        let control = ControlRecord { run_id, control, by, timestamp_ms: 2_002 };
        events_of_controls.extend(run.store.commit(&Entry::Control(control)).unwrap());
    }
    let written = result_of(&plan.steps[1], Outcome::Succeeded, 2_003);
    run.intend(&written, &[effect("b", Some(b"old"), Some(b"new"))]);
    run.record(written, Extra::default());
    let denial = StepDecision {
        request: request(run_id, &plan.steps[2]),
        answer: Answer {
            decision: Decision::Cancel,
            by: AnsweredBy::Window,
            note: "not that file".into(),
        },
        timestamp_ms: 2_004,
    };
    let mut denied = result_of(&plan.steps[2], Outcome::Denied, 2_004);
    denied.note = denial.answer.note.clone();
    run.record(denied, Extra { decision: Some(&denial), ..Extra::default() });
    let results = run.results.clone();
    let failure =
        Failure { code: Code::ConfirmationDenied, message: "denied".into(), next: String::new() };
    run.end(&RunEnding::Failed(failure));

    let started = |index: usize, timestamp_ms| RunEvent::StepStarted {
        step_id: plan.steps[index].step_id.clone(),
        step_index: index,
        tool_name: plan.steps[index].tool_name.clone(),
        about: plan.steps[index].arguments["path"].clone(),
        timestamp_ms,
    };
    let result = |index: usize| Box::new(results[index].clone());
    assert_eq!(
        events_of_controls,
        [Control::Pause, Control::Resume].map(|control| RunEvent::ControlRequested { control })
    );
    let events = home.reader().replay(run_id).unwrap();
    assert_eq!(
        events,
        [
            RunEvent::RunStarted {
                run_id,
                plan_id: "p".into(),
                step_count: 3,
                timestamp_ms: 2_000
            },
            started(0, 2_001),
            RunEvent::StepCompleted { result: result(0) },
            RunEvent::ControlRequested { control: Control::Pause },
            RunEvent::Paused,
            RunEvent::ControlRequested { control: Control::Resume },
            RunEvent::Resumed,
            started(1, 2_003),
            RunEvent::StepCompleted { result: result(1) },
            started(2, 2_004),
            RunEvent::ConfirmationDecided {
                step_id: "step_3".into(),
                answer: denial.answer.clone(),
            },
            RunEvent::StepFailed { result: result(2) },
            RunEvent::RunFailed { code: Code::ConfirmationDenied, message: "denied".into() },
        ]
    );
    let mut state = RunState::default();
    events.iter().for_each(|event| state.apply(event));
    assert_eq!(state.phase, Phase::Ended(RunStatus::Failed));
    assert_eq!(state.current_step, 3);
    assert!(home.verify().ok);
    assert_eq!(home.reader().plan_of_run(run_id).unwrap().unwrap(), *plan.source);
}

#[test]
fn an_authorization_is_used_once() {
    let home = Home::new();
    let mut store = home.store();
    let plan = plan(vec![read_step(0, "a")]);
    let authorization = authorization(&plan);
    let start = |run_id| RunStart {
        fleet: None,
        secret_inputs: crate::authorization::SecretInputs::none(),
        run_id,
        plan: &plan,
        authorization: &authorization,
        reached: None,
        started_at_ms: 2_000,
    };
    store.record_authorization(&authorization, &plan).unwrap();
    let first = Uuid::new_v4();
    store.commit(&Entry::RunStart(start(first))).unwrap();
    let rows = home.verify().rows;
    let second = Uuid::new_v4();
    let error = home.store().commit(&Entry::RunStart(start(second))).unwrap_err();
    assert!(
        matches!(error, EvidenceError::AuthorizationUsed { run_id, .. } if run_id == first),
        "{error}"
    );
    assert_eq!(home.verify().rows, rows, "a refused run leaves no rows");
    assert_eq!(home.reader().run(second).unwrap(), None);
}

#[test]
fn rejections_are_recorded_and_pending_answers_refused() {
    let home = Home::new();
    let mut store = home.store();
    let plan = plan(vec![read_step(0, "a")]);
    let rejected = authorization(&plan).reject(3_000, "too much at once");
    store.record_authorization(&rejected, &plan).unwrap();
    let row: (String, String, String) = home
        .raw()
        .query_row(
            "SELECT a.status, a.reason, d.decision FROM authorizations AS a
             JOIN decisions AS d ON d.authorization_id = a.id",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .unwrap();
    assert_eq!(row, ("rejected".into(), "too much at once".into(), "reject".into()));
    let mut pending = authorization(&plan);
    pending.status = AuthorizationStatus::Pending;
    let error = store.record_authorization(&pending, &plan).unwrap_err();
    assert!(matches!(error, EvidenceError::NotDecided { .. }));
}

#[test]
fn rejections_are_found_by_words_and_plan() {
    let home = Home::new();
    let mut store = home.store();
    let (first, second) = (plan(vec![read_step(0, "a")]), plan(vec![read_step(0, "b")]));
    store
        .record_authorization(&authorization(&first).reject(3_000, "Too MUCH at once"), &first)
        .unwrap();
    store.record_authorization(&authorization(&second).reject(4_000, ""), &second).unwrap();
    let mut reader = home.reader();
    let mut found = |words: &str, range| {
        let rows = reader.rejections(words, range).unwrap();
        rows.into_iter().map(|it| (it.plan_digest, it.reason, it.changed)).collect::<Vec<_>>()
    };
    let much = (first.digest, "Too MUCH at once".to_owned(), false);
    let all = Range::default();
    assert_eq!(found("", all), [(second.digest, String::new(), false), much.clone()]);
    assert_eq!(found("much \"at once\"", all), std::slice::from_ref(&much));
    assert_eq!(found("rename", Range { limit: 1, ..all }), [(second.digest, String::new(), false)]);
    assert_eq!(found("", Range { until_ms: Some(3_000), ..all }), [much]);
    assert_eq!(found("much else", all), []);
    let search = |words: &str| SearchQuery { words: words.into(), ..SearchQuery::default() };
    assert_eq!(reader.search(&search("too much")).unwrap().rejections, 1);
    assert_eq!(reader.search(&search("")).unwrap().rejections, 0);

    let of_first = reader.rejection_of(&first.digest).unwrap().unwrap();
    assert_eq!((of_first.reason.as_str(), of_first.timestamp_ms), ("Too MUCH at once", 3_000));
    assert!(of_first.sentence().starts_with("Rejected in the window"));
    store.record_authorization(&authorization(&first), &first).unwrap();
    assert_eq!(reader.rejection_of(&first.digest).unwrap(), None, "authorized since");
    assert_eq!(reader.rejection_of(&plan(vec![read_step(0, "c")]).digest).unwrap(), None);
    assert_eq!(reader.rejections("", all).unwrap().len(), 2, "what was rejected stays so");
    let title = "UPDATE plans SET title = 'Another' WHERE row = 1 OR title IS NOT NULL";
    super::tampering::rewrite(&home, "plans", title);
    assert!(home.reader().rejections("", all).unwrap().iter().all(|it| it.changed));
}

// A run without an end is active while its store exists, and interrupted afterwards.
#[test]
fn an_unfinished_run_is_active_then_interrupted() {
    let home = Home::new();
    let mut store = home.store();
    let mut run = Running::begin(&mut store, plan(vec![write_step(0, "a", "x")]), 2_000);
    let run_id = run.run_id;
    let result = result_of(&run.plan.steps[0].clone(), Outcome::Succeeded, 2_001);
    run.intend(&result, &[effect("a", None, Some(b"x"))]);
    let mut reader = home.reader();
    assert_eq!(reader.run(run_id).unwrap().unwrap().fate, RunFate::Active);
    let known = |reader: &mut EvidenceReader| {
        reader.execution(result.execution_id).unwrap().unwrap().row.known
    };
    assert_eq!(known(&mut reader), Known::Running);

    // As after a killed process: rows, no end, and no lock.
    drop(store);
    let interrupted = reader.run(run_id).unwrap().unwrap();
    assert_eq!(interrupted.fate, RunFate::Interrupted);
    assert_eq!(reader.interrupted_runs(Range::default()).unwrap(), [interrupted]);
    assert_eq!(known(&mut reader), Known::Interrupted);
    let detail = reader.execution(result.execution_id).unwrap().unwrap();
    assert!(detail.has_changes, "the predicted one can be reverted");
    let page = reader
        .search(&SearchQuery { outcome: Some("interrupted".into()), ..SearchQuery::default() })
        .unwrap();
    assert_eq!(page.hits[0].listed.row.execution_id, result.execution_id);
    assert!(home.verify().ok, "an interrupted run is sound");
    assert_eq!(reader.blob(&Digest::of(b"x")).unwrap().unwrap(), b"x", "the predicted content");
}

#[test]
fn only_recorded_or_predicted_changes_can_be_reverted() {
    let home = Home::new();
    let mut store = home.store();
    let steps = vec![write_step(0, "a", "x"), write_step(1, "b", "x"), write_step(2, "c", "x")];
    let mut run = Running::begin(&mut store, plan(steps), 2_000);
    let results: Vec<_> = (2_001..)
        .zip(run.plan.steps.clone())
        .map(|(at, step)| result_of(&step, Outcome::Succeeded, at))
        .collect();
    let files = [effect("a", None, Some(b"x"))];
    run.intend(&results[0], &files);
    run.record(results[0].clone(), Extra { files: &files, ..stdout(b"") });
    // It did not do what was predicted.
    run.intend(&results[1], &[effect("b", None, Some(b"x"))]);
    run.record(results[1].clone(), stdout(b""));
    // A command, of which nothing can be predicted, is interrupted.
    run.intend(&results[2], &[]);
    drop(store);
    let mut reader = home.reader();
    let found = results.iter().map(|it| reader.execution(it.execution_id).unwrap().unwrap());
    let found: Vec<_> = found.map(|it| (it.row.known, it.has_changes)).collect();
    let succeeded = Known::Outcome(Outcome::Succeeded);
    assert_eq!(found, [(succeeded, true), (succeeded, false), (Known::Interrupted, false)]);
}

#[test]
fn two_stores_share_one_chain() {
    let home = Home::new();
    drop(home.store());
    std::thread::scope(|scope| {
        for n in 0..2 {
            let home = &home;
            scope.spawn(move || {
                let mut store = home.store();
                for k in 0..10 {
                    let plan = plan(vec![read_step(0, &format!("{n}-{k}"))]);
                    let step = plan.steps[0].clone();
                    let mut run = Running::begin(&mut store, plan, 2_000);
                    run.record(result_of(&step, Outcome::Succeeded, 2_001), stdout(b"x"));
                    run.end(&RunEnding::Completed);
                }
            });
        }
    });
    let report = home.verify();
    assert_eq!(report.first_bad, None);
    // plan, its blob, authorization, decision, run, use, execution, two artifacts, end
    assert_eq!(report.rows, 20 * 10 + 1, "and the id of the database");
    assert_eq!(home.reader().runs(100).unwrap().len(), 20);
    let left = std::fs::read_dir(home.evidence.join("locks")).unwrap().count();
    assert_eq!(left, 1, "only the file of the setup lock remains");
}

#[test]
fn two_processes_can_make_the_evidence_at_once() {
    let home = Home::new();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                home.store()
                    .record_authorization(
                        &authorization(&plan(vec![])),
                        &plan(vec![read_step(0, "a")]),
                    )
                    .unwrap();
            });
        }
    });
    assert!(home.verify().ok);
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        Just(Outcome::Succeeded),
        Just(Outcome::Failed),
        Just(Outcome::Denied),
        Just(Outcome::Skipped),
        Just(Outcome::DoneByHand),
        Just(Outcome::PreconditionFailed),
        Just(Outcome::Cancelled),
    ]
}

/// Text of any characters in which no rule finds a secret, because redacted text would differ when read.
fn without_secrets(pattern: &'static str) -> impl Strategy<Value = String> {
    pattern.prop_filter("a secret", |text| secrets::find(text).is_empty())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_run_is_sound_and_reads_back(
        steps in prop::collection::vec(
            (
                outcome(),
                without_secrets("\\PC{0,40}"),
                prop::option::of(without_secrets(".{0,6000}")),
                any::<i32>(),
                0..2_usize,
            ),
            1..8,
        ),
    ) {
        let home = Home::new();
        let mut store = home.store();
        let planned = steps
            .iter()
            .enumerate()
            .map(|(n, (_, path, _, _, mutates))| match mutates {
                0 => read_step(n, path),
                _ => write_step(n, path, "contents"),
            })
            .collect();
        let mut run = Running::begin(&mut store, plan(planned), 2_000);
        let run_id = run.run_id;
        for (n, (outcome, message, output, number, mutates)) in steps.into_iter().enumerate() {
            let step = run.plan.steps[n].clone();
            let mut result = result_of(&step, outcome, 2_000 + n as i64);
            result.exit_code = Some(number);
            result.error_message = (!outcome.continues_run()).then(|| message.clone());
            if let Some(output) = &output {
                result = with_output(result, output.as_bytes());
            }
            result.diagnostic_artifacts =
                (0..mutates).map(|_| diagnostic("E1", &message)).collect();
            if mutates == 1 {
                run.intend(&result, &[effect("f", None, Some(b"after"))]);
            }
            run.record(
                result,
                Extra { stdout: output.as_deref().map(str::as_bytes), ..Extra::default() },
            );
        }
        let written = run.results.clone();
        run.end(&RunEnding::Completed);
        prop_assert_eq!(home.verify().first_bad, None);
        let events = home.reader().replay(run_id).unwrap();
        prop_assert_eq!(events.last(), Some(&RunEvent::RunCompleted { step_count: written.len() }));
        prop_assert_eq!(results(events), written);
    }
}

/// Earlier versions did not record whether a step had a terminal; it follows from what they did record.
#[test]
fn a_step_that_had_a_terminal_is_known() {
    let of_terminal = Needs { terminal: true, ..Needs::default() };
    for (exit_code, recorded, needs, had) in [
        (Some(0), false, Some(&of_terminal), true),
        (None, true, Some(&of_terminal), true),
        (None, false, Some(&of_terminal), false),
        (Some(0), false, None, false),
    ] {
        let home = Home::new();
        let mut store = home.store();
        let mut run = Running::begin(&mut store, plan(vec![read_step(0, "a")]), 2_000);
        let run_id = run.run_id;
        let result = StepResult {
            exit_code,
            terminal: recorded,
            needs: needs.cloned(),
            ..result_of(&run.plan.steps[0].clone(), Outcome::Succeeded, 2_001)
        };
        run.record(result, stdout(b"out"));
        let kept = results(home.reader().replay(run_id).unwrap());
        assert_eq!(kept[0].terminal, had, "{:?}", kept[0]);
    }
}
