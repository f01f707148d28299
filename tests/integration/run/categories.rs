//! The test categories A to H of the executor's specification.

use countersign::engine::ExecutionError;
use countersign::run::Decision;
use rusqlite::params;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::harness::{
    Harness, NOW_MS, and, asking, create_file, plan, read, read_file, step, write_file,
};

#[test]
fn category_a_pending_authorization_is_refused() {
    let harness = Harness::new();
    let mut approved = harness.authorize(&plan([create_file("a", "new", "x")]));
    approved.authorization = harness.pending(&approved.plan);
    assert_eq!(harness.execute(approved).refusal(), "E002");
    assert_eq!(harness.content("new"), None);
    assert_eq!(harness.count("SELECT count(*) FROM runs", []), 0);
}

#[test]
fn category_a_rejected_authorization_is_refused() {
    let harness = Harness::new();
    let mut approved = harness.authorize(&plan([create_file("a", "new", "x")]));
    approved.authorization = harness.pending(&approved.plan).reject(NOW_MS, "too wide");
    let ran = harness.execute(approved);
    assert_eq!(ran.refusal(), "E002");
    assert!(ran.outcome.unwrap_err().to_string().contains("too wide"));
    assert_eq!(harness.content("new"), None);
}

#[test]
fn category_a_mismatched_plan_id_is_refused() {
    let harness = Harness::new();
    let mut approved = harness.authorize(&plan([create_file("a", "new", "x")]));
    approved.authorization.plan_id = "another".to_owned();
    assert_eq!(harness.execute(approved).refusal(), "E003");
    assert_eq!(harness.content("new"), None);
}

#[test]
fn category_b_single_step_is_logged() {
    let harness = Harness::with(&[("note.txt", "hello\n")]);
    let ran = harness.run(&plan([read_file("a", "note.txt")]));
    assert_eq!(ran.words(), (vec!["succeeded"], "completed"));
    let result = &ran.result().step_results[0];
    assert_eq!(result.stdout.as_deref(), Some("hello\n"));
    assert_eq!(
        (result.success, result.exit_code, result.tool_name.as_str()),
        (true, None, "file_read")
    );
    let logged = harness.texts(
        "SELECT tool_name || ' ' || arguments_json || ' ' || success FROM executions WHERE id = ?1",
        [result.execution_id.to_string()],
    );
    assert_eq!(logged, [r#"file_read {"path":"note.txt"} 1"#]);
}

#[test]
fn category_b_three_steps_succeed() {
    let harness = Harness::with(&[("note.txt", "hello\n")]);
    let ran = harness.run(&plan([
        read_file("a", "note.txt"),
        create_file("b", "deep/er/new.txt", "one\n"),
        step("c", "file_search", json!({ "pattern": "one", "root": "." })),
    ]));
    assert_eq!(ran.words(), (vec!["succeeded"; 3], "completed"));
    assert_eq!(harness.content("deep/er/new.txt").as_deref(), Some("one\n"));
    let found: Value =
        serde_json::from_str(ran.result().step_results[2].stdout.as_deref().unwrap()).unwrap();
    assert_eq!(
        found,
        json!([{ "path": "deep/er/new.txt", "line": 1, "column": 1, "text": "one" }])
    );
}

#[test]
fn category_c_failure_in_middle_stops_run() {
    let harness = Harness::new();
    let ran = harness.run(&plan([
        create_file("a", "first", "1"),
        read_file("b", "missing"),
        create_file("c", "third", "3"),
    ]));
    assert_eq!(ran.words(), (vec!["succeeded", "failed"], "failed"));
    assert_eq!(ran.codes(), [None, Some("E301")]);
    assert_eq!(harness.content("first").as_deref(), Some("1"), "what was done stays");
    assert_eq!(harness.content("third"), None, "the step after the failure is not run");
    assert_eq!(harness.count("SELECT count(*) FROM executions", []), 2);
}

#[test]
fn category_c_failure_at_first_step_stops_run() {
    let harness = Harness::with(&[("there", "old")]);
    let ran = harness.run(&plan([create_file("a", "there", "new"), create_file("b", "new", "1")]));
    assert_eq!(ran.words(), (vec!["failed"], "failed"));
    assert_eq!(ran.codes(), [Some("E302")]);
    assert_eq!((harness.content("there").as_deref(), harness.content("new")), (Some("old"), None));
}

/// The run fails.
#[test]
fn category_d_denied_step_calls_no_tool() {
    let harness = Harness::new().answering(|_| Decision::Cancel);
    let ran =
        harness.run(&plan([asking(create_file("a", "new", "x")), create_file("b", "next", "x")]));
    assert_eq!(ran.words(), (vec!["denied"], "failed"));
    assert_eq!(ran.codes(), [Some("E106")]);
    assert_eq!(harness.tree().len(), 0, "no tool was called");
    assert_eq!(harness.count("SELECT count(*) FROM intents", []), 0);
    assert_eq!(harness.texts("SELECT CAST(invoked AS TEXT) FROM executions", []), ["0"]);
    assert_eq!(
        harness.texts("SELECT decision FROM decisions WHERE run_id NOT NULL", []),
        ["cancel"]
    );
}

#[test]
fn category_e_executions_have_artifacts() {
    let harness = Harness::with(&[("note.txt", "hello\n")]);
    let ran = harness.run(&plan([
        read_file("a", "note.txt"),
        write_file("b", "note.txt", "bye\n"),
        and(read_file("c", "note.txt"), "precondition", "file does not exist"),
    ]));
    assert_eq!(ran.words(), (vec!["succeeded", "succeeded", "precondition_failed"], "failed"));
    let expected: [&[&str]; 3] = [
        &["result", "stdout", "step_context"],
        &["diff", "result", "step_context"],
        &["step_context"],
    ];
    for (result, expected) in ran.result().step_results.iter().zip(expected) {
        let id = result.execution_id.to_string();
        assert_eq!(
            harness.texts(
                "SELECT outcome FROM executions WHERE id = ?1 AND timestamp = ?2 AND duration_ms = ?3",
                params![id, result.timestamp_ms, result.duration_ms],
            ),
            [result.outcome.as_str()]
        );
        assert_eq!(
            harness.texts(
                "SELECT artifact_type FROM execution_artifacts WHERE execution_id = ?1 ORDER BY 1",
                [&id]
            ),
            expected
        );
    }
    let content = |step: usize, kind: &str| -> Value {
        let id = ran.result().step_results[step].execution_id.to_string();
        let text = harness.texts(
            "SELECT content_json FROM execution_artifacts WHERE execution_id = ?1 AND artifact_type = ?2",
            [id.as_str(), kind],
        );
        serde_json::from_str(&text[0]).unwrap()
    };
    assert_eq!(content(0, "stdout"), "hello\n");
    assert_eq!(content(1, "result")["changed_files"][0]["path"], "note.txt");
    let context = content(1, "step_context");
    assert_eq!(context["run_id"], ran.result().run_id.to_string());
    assert_eq!((&context["plan_id"], &context["step_id"]), (&json!("proof"), &json!("b")));
    assert_eq!((&context["step_index"], &context["intent"]), (&json!(1), &json!("MUTATE")));
}

#[test]
fn category_f_execution_ids_are_unique() {
    let harness = Harness::with(&[("note.txt", "hello\n")]);
    let text = plan([read_file("a", "note.txt"), read_file("b", "note.txt")]);
    let (first, second) = (harness.run(&text), harness.run(&text));
    let ids: std::collections::HashSet<Uuid> = [&first, &second]
        .iter()
        .flat_map(|ran| ran.result().step_results.iter().map(|step| step.execution_id))
        .collect();
    assert_eq!(ids.len(), 4);
    assert!(ids.iter().all(|id| id.get_version_num() == 4));
    assert_ne!(first.result().run_id, second.result().run_id);
}

#[test]
fn category_g_unknown_tool_is_refused() {
    let harness = Harness::with(&[("note.txt", "hello\n")]);
    let faulty = read(&plan([read_file("a", "note.txt"), step("b", "rm -rf /", json!({}))]));
    let ran = harness.execute(harness.approve(&faulty));
    assert_eq!(ran.refusal(), "E201");
    let error = ran.outcome.unwrap_err();
    assert!(error.to_string().contains("rm -rf /"), "{error}");
    let ExecutionError::Refused { findings, .. } = &error else { panic!("{error}") };
    assert_eq!(findings[0].allowed.len(), 11, "all tools are listed");
    assert_eq!(ran.callbacks.events().len(), 0, "nothing was begun");
    assert_eq!(harness.count("SELECT count(*) FROM runs", []), 0);
}

#[test]
fn category_h_failed_precondition_is_failed_result() {
    let harness = Harness::new();
    let ran = harness.run(&plan([
        and(read_file("a", "missing.txt"), "precondition", "file exists"),
        create_file("b", "new", "x"),
    ]));
    assert_eq!(ran.words(), (vec!["precondition_failed"], "failed"));
    let result = &ran.result().step_results[0];
    assert_eq!(result.error_code.unwrap().as_str(), "E101");
    assert!(result.error_message.as_deref().unwrap().contains("missing.txt is absent"));
    assert!(result.next.is_some());
    assert_eq!((result.success, result.stdout.as_deref()), (false, None));
    assert_eq!(harness.tree().len(), 0, "nothing after it was run");
}

#[test]
fn category_h_failed_precondition_calls_no_tool() {
    let harness = Harness::with(&[("there", "old")]);
    let ran = harness.run(&plan([and(
        asking(write_file("a", "there", "new")),
        "precondition",
        "file does not exist",
    )]));
    assert_eq!(ran.codes(), [Some("E105")]);
    assert_eq!(harness.content("there").as_deref(), Some("old"));
    assert_eq!(
        ran.callbacks.confirmation_requests().len(),
        0,
        "a step that cannot run is not confirmed"
    );
    assert_eq!(harness.texts("SELECT CAST(invoked AS TEXT) FROM executions", []), ["0"]);
    assert_eq!(harness.count("SELECT count(*) FROM intents", []), 0);
}

/// Precondition, whether it holds, and the error code when it does not.
const PRECONDITIONS: &[(&str, Result<(), &str>)] = &[
    ("none", Ok(())),
    ("  FILE Exists ", Ok(())),
    ("file does not exist", Err("E105")),
    ("parent exists", Ok(())),
    ("file hash is 5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03", Ok(())),
    (
        "file hash is sha256:0000000000000000000000000000000000000000000000000000000000000000",
        Err("E105"),
    ),
    ("root exists", Err("E105")),
    ("cargo workspace", Err("E102")),
    ("Cargo project exists", Err("E102")),
    ("codegraph.db exists", Err("E103")),
    ("git repository exists", Err("E105")),
    ("command available: sh", Ok(())),
    ("command available: there-is-no-such-command", Err("E105")),
    ("first succeeded", Ok(())),
];

#[test]
fn category_h_preconditions_read_the_workspace() {
    for (precondition, expected) in PRECONDITIONS {
        let harness = Harness::with(&[("note.txt", "hello\n")]);
        let ran = harness.run(&plan([
            read_file("first", "note.txt"),
            and(read_file("a", "note.txt"), "precondition", *precondition),
        ]));
        assert_eq!(ran.codes(), [None, expected.err()], "{precondition}");
    }
}

#[test]
fn category_h_precondition_sees_earlier_steps() {
    let harness = Harness::new();
    let ran = harness.run(&plan([
        and(create_file("a", "sub/new", "x"), "precondition", "file does not exist"),
        and(read_file("b", "sub/new"), "precondition", "file exists"),
        and(
            step("c", "file_glob", json!({ "pattern": "*", "root": "sub" })),
            "precondition",
            "root exists",
        ),
        and(read_file("d", "sub/new"), "precondition", "c succeeded"),
    ]));
    assert_eq!(ran.words(), (vec!["succeeded"; 4], "completed"));
}

#[test]
fn category_h_a_skipped_step_did_not_succeed() {
    let harness = Harness::with(&[("note.txt", "")]).answering(|_| Decision::Skip);
    let ran = harness.run(&plan([
        asking(read_file("a", "note.txt")),
        and(read_file("b", "note.txt"), "precondition", "a succeeded"),
    ]));
    assert_eq!(ran.words(), (vec!["skipped", "precondition_failed"], "failed"));
    assert_eq!(ran.codes(), [None, Some("E105")]);
}

#[test]
fn result_as_json_has_every_field() {
    let harness = Harness::new();
    let ran = harness.run(&plan([read_file("a", "missing.txt")]));
    let value = serde_json::to_value(ran.result()).unwrap();
    for field in ["run_id", "plan_id", "status", "step_results", "total_duration_ms", "elapsed_ms"]
    {
        assert!(value.get(field).is_some(), "{field}");
    }
    let step = &value["step_results"][0];
    for field in [
        "step_id",
        "step_index",
        "tool_name",
        "success",
        "outcome",
        "execution_id",
        "exit_code",
        "stdout",
        "stdout_bytes",
        "stdout_truncated",
        "stderr",
        "stderr_bytes",
        "stderr_truncated",
        "error_message",
        "error_code",
        "duration_ms",
        "diagnostic_artifacts",
    ] {
        assert!(step.get(field).is_some(), "{field}");
    }
    assert_eq!((&value["status"], &step["outcome"]), (&json!("failed"), &json!("failed")));
    assert_eq!((&step["error_code"], &step["exit_code"]), (&json!("E301"), &Value::Null));
}
