//! Properties of the executor for random plans, answers and controls (SPEC §3).

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use countersign::engine::ControlHandle;
use countersign::evidence::verify;
use countersign::plan::{Tool, ToolClass};
use countersign::run::{AnsweredBy, Control, Decision, Outcome, Phase, RunEvent, StepState};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::harness::{FinishedRun, Harness, plan, tree};

/// One random run.
#[derive(Debug, Clone)]
struct Case {
    steps: Vec<Value>,
    /// The answer for each step, by its index.
    answers: Vec<Decision>,
    /// A control, and the step at whose start it is requested.
    control: Option<(usize, Control)>,
}

fn any_step() -> impl Strategy<Value = Value> {
    let path = || select(vec!["a.txt", "b.txt", "sub/c.txt", "missing/d.txt", ".envrc", "sub"]);
    let contents = || select(vec!["", "one\n", "two\n", "\u{202e}\0"]);
    let call = prop_oneof![
        path().prop_map(|path| ("file_read", json!({ "path": path }))),
        (path(), contents()).prop_map(|(path, contents)| (
            "file_write",
            json!({ "path": path, "contents": contents })
        )),
        (path(), contents()).prop_map(|(path, contents)| (
            "file_create",
            json!({ "path": path, "contents": contents })
        )),
        select(vec![".", "sub", "missing"])
            .prop_map(|root| ("file_search", json!({ "pattern": "o", "root": root }))),
        select(vec![".", "sub", "missing"])
            .prop_map(|root| ("file_glob", json!({ "pattern": "**/*.txt", "root": root }))),
    ];
    let precondition = prop_oneof![
        6 => Just("none"),
        1 => select(vec!["git repository exists", "command available: sh", "s0 succeeded"]),
    ];
    (call, precondition, any::<bool>(), any::<bool>()).prop_map(
        |((tool, arguments), precondition, asks, subject)| {
            let about_path = subject && arguments.get("path").is_some();
            let precondition = if about_path { "file exists" } else { precondition };
            json!({
                "tool": tool,
                "arguments": arguments,
                "precondition": precondition,
                "requires_confirmation": asks,
            })
        },
    )
}

fn any_case() -> impl Strategy<Value = Case> {
    let answer = prop_oneof![
        4 => Just(Decision::Approve),
        2 => Just(Decision::Skip),
        1 => Just(Decision::Cancel),
    ];
    let control = select(vec![Control::CancelAfterStep, Control::StopNow]);
    let steps = prop::collection::vec(any_step(), 1..7);
    let answers = prop::collection::vec(answer, 7);
    (steps, answers, prop::option::weighted(0.25, (0_usize..7, control))).prop_map(
        |(mut steps, answers, control)| {
            for (index, step) in steps.iter_mut().enumerate() {
                step["step_id"] = json!(format!("s{index}"));
                if index == 0 && step["precondition"] == "s0 succeeded" {
                    step["precondition"] = json!("none");
                }
            }
            Case { steps, answers, control }
        },
    )
}

type Trees = Arc<Mutex<Vec<BTreeMap<String, Vec<u8>>>>>;

/// Records the files of the workspace at the start of each step.
fn watch(
    trees: Trees,
    workspace: PathBuf,
    control: Option<(usize, Control)>,
    handle: ControlHandle,
) -> impl Fn(&RunEvent) + Send + Sync + 'static {
    move |event| {
        if let RunEvent::StepStarted { step_index, .. } = event {
            trees.lock().unwrap().push(tree(&workspace));
            if let Some((_, control)) = control.filter(|(at, _)| at == step_index) {
                handle.request(control, AnsweredBy::Test);
            }
        }
    }
}

/// Runs the case in a new workspace. Returns the files before each step and at the end, too.
fn run(case: &Case) -> (Harness, FinishedRun, Vec<BTreeMap<String, Vec<u8>>>) {
    let harness = Harness::with(&[("a.txt", "one\n"), ("sub/c.txt", "three\n")]);
    let trees: Trees = Trees::default();
    let hook =
        watch(Arc::clone(&trees), harness.workspace(), case.control, harness.control.clone());
    let answers = case.answers.clone();
    let harness = harness.answering(move |request| answers[request.step_index]).on_event(hook);
    let ran = harness.run(&plan(case.steps.clone()));
    let mut trees = trees.lock().unwrap().clone();
    trees.push(harness.tree());
    (harness, ran, trees)
}

/// The result without ids and times.
fn comparable(ran: &FinishedRun) -> Value {
    let mut value = serde_json::to_value(ran.result()).unwrap();
    let forget = |object: &mut Value| {
        let object = object.as_object_mut().unwrap();
        for field in [
            "run_id",
            "execution_id",
            "timestamp_ms",
            "duration_ms",
            "total_duration_ms",
            "elapsed_ms",
        ] {
            object.remove(field);
        }
    };
    forget(&mut value);
    value["step_results"].as_array_mut().unwrap().iter_mut().for_each(forget);
    value
}

fn check(case: &Case) -> Result<(), TestCaseError> {
    let (harness, ran, trees) = run(case);
    let result = ran.result();
    let steps = &result.step_results;

    prop_assert!(steps.len() <= case.steps.len());
    for (index, (step, planned)) in steps.iter().zip(&case.steps).enumerate() {
        prop_assert_eq!(step.step_index, index);
        prop_assert_eq!(&json!(step.step_id), &planned["step_id"]);
        prop_assert_eq!(&json!(step.tool_name), &planned["tool"]);
        prop_assert_eq!(step.success, step.outcome == Outcome::Succeeded);
        prop_assert_eq!(step.error_code.is_some(), !step.outcome.continues_run());
        prop_assert_eq!(step.execution_id.get_version_num(), 4);
        prop_assert!(
            index + 1 == steps.len() || step.outcome.continues_run(),
            "only the last one fails"
        );
    }
    let ids: HashSet<_> = steps.iter().map(|step| step.execution_id).collect();
    prop_assert_eq!(ids.len(), steps.len());
    prop_assert!(steps.iter().map(|step| step.timestamp_ms).is_sorted());

    // Rows: one execution per result, with its context, and intents only for effects.
    prop_assert_eq!(
        harness.count("SELECT count(*) FROM executions", []),
        i64::try_from(steps.len()).unwrap()
    );
    let connection = harness.sql();
    for (index, step) in steps.iter().enumerate() {
        let id = step.execution_id.to_string();
        let (outcome, invoked, contexts, intents): (String, bool, i64, i64) = connection
            .query_row(
                "SELECT outcome, invoked,
                     (SELECT count(*) FROM execution_artifacts WHERE execution_id = ?1
                          AND artifact_type = 'step_context'),
                     (SELECT count(*) FROM intents WHERE id = ?1)
                 FROM executions WHERE id = ?1",
                [&id],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
            )
            .unwrap();
        prop_assert_eq!(outcome.as_str(), step.outcome.as_str());
        prop_assert_eq!(contexts, 1);
        let reads = Tool::from_name(&step.tool_name).unwrap().class() == ToolClass::Read;
        prop_assert_eq!(intents, i64::from(invoked && !reads));
        let must_not_be_called = matches!(
            step.outcome,
            Outcome::Denied | Outcome::Skipped | Outcome::PreconditionFailed
        );
        prop_assert!(!(must_not_be_called && invoked));
        prop_assert!(invoked || step.outcome != Outcome::Succeeded);
        if reads || step.outcome != Outcome::Succeeded {
            prop_assert_eq!(&trees[index], &trees[index + 1], "step {} changed something", index);
        }
    }

    // Events, result and replayed evidence agree.
    let state = ran.callbacks.state();
    prop_assert_eq!(&harness.replayed(result.run_id), &state, "what the evidence replays");
    prop_assert_eq!(state.phase, Phase::Ended(result.status));
    prop_assert_eq!(state.steps.len(), case.steps.len());
    for (index, step) in state.steps.iter().enumerate() {
        let expected = steps
            .get(index)
            .map_or(StepState::Waiting, |step| StepState::Done(Box::new(step.clone())));
        prop_assert_eq!(step, &expected);
    }

    let report = verify(&harness.evidence(), None).unwrap();
    prop_assert!(report.ok, "{:?}", report);
    prop_assert_eq!(
        i64::try_from(report.rows).unwrap(),
        harness.count("SELECT count(*) FROM ledger", [])
    );

    // Once more, on an equal workspace.
    let (_again, again, trees_again) = run(case);
    prop_assert_eq!(comparable(&ran), comparable(&again));
    prop_assert_eq!(trees, trees_again);
    Ok(())
}

proptest! {
    // Each case is two whole runs with all their flushes, so there are few cases.
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_run_keeps_the_executor_invariants(case in any_case()) {
        check(&case)?;
    }
}
