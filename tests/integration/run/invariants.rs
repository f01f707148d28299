//! The numbered invariants of `src/lib.rs`, as far as they concern the engine.

use std::sync::Arc;

use countersign::authorization::{ApprovedPlan, SecretInputs};
use countersign::engine::{ExecutionError, Executor};
use countersign::evidence::{EvidenceLocation, verify};
use countersign::plan::{Dialect, Plan, TOOLS, Tool, limits, parse};
use countersign::risk::Policy;
use countersign::run::{
    Control, Decision, ExecutionResult, RunEvent, RunStatus, STREAM_HEAD_BYTES,
};
use countersign::worker::{
    Clock as _, Command, Event, Faults, QueryThread, Search, Setup, SystemClock, Wake, Worker,
};
use serde_json::{Value, json};

use crate::harness::{
    Harness, NOW_MS, and, asking, create_file, plan, read, read_file, step, write_file,
};

#[test]
fn invariant_1_only_an_approved_plan_is_executed() {
    // The only entry, by its type.
    let _door: fn(&mut Executor, ApprovedPlan) -> Result<ExecutionResult, ExecutionError> =
        Executor::execute;
    let harness = Harness::new();
    let plan = read(&plan([create_file("a", "new", "x")]));
    let pending = harness.pending(&plan);
    for authorization in [pending.clone(), pending.clone().reject(NOW_MS, "")] {
        let ran = harness.execute(ApprovedPlan { plan: plan.clone(), authorization });
        assert_eq!(ran.refusal(), "E002");
    }
    assert_eq!(harness.tree().len(), 0);
    let ran = harness.execute(ApprovedPlan { plan, authorization: pending.approve(NOW_MS, 1) });
    assert_eq!(ran.words().1, "completed", "the approval was all that was missing");
}

#[test]
fn invariant_2_text_is_no_call_outside_whitelist() {
    let arguments = json!({ "path": "new", "contents": "x" });
    for name in [
        "FILE_CREATE",
        " file_create",
        "file_create ",
        "file_create\0",
        "file_cre\u{200b}ate",
        "f\u{456}le_create",
        "FileCreate",
        "file_create;file_read",
        "shell",
        "run",
        "mutate_batch",
        "",
    ] {
        let faulty = read(&plan([step("a", name, arguments.clone())]));
        assert_eq!(faulty.steps, [], "{name:?}");
        let harness = Harness::new();
        assert_eq!(harness.execute(harness.approve(&faulty)).refusal(), "E201", "{name:?}");
        assert_eq!(harness.tree().len(), 0, "{name:?}");
    }
}

#[test]
fn invariant_2_hand_made_call_is_never_made() {
    let harness = Harness::new();
    let faulty = read(&plan([step("a", "shell", json!({ "command": "touch new" }))]));
    let by_hand = Plan { steps: read(&plan([create_file("a", "new", "")])).steps, ..faulty };
    let approved = harness.approve(&by_hand);
    assert!(harness.execute(approved).outcome.is_err());
    assert_eq!(harness.tree().len(), 0);
}

#[test]
fn invariant_3_rows_are_never_changed() {
    let harness = Harness::with(&[("a", "1")]);
    let ran = harness.run(&plan([asking(create_file("a", "new", "x")), read_file("b", "a")]));
    assert_eq!(ran.words().1, "completed");
    let connection = harness.sql();
    let tables = harness.texts(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
        [],
    );
    let mut filled = 0;
    for table in &tables {
        let count = harness.count(&format!("SELECT count(*) FROM {table}"), []);
        if count == 0 {
            continue;
        }
        filled += 1;
        let column = harness.texts("SELECT name FROM pragma_table_info(?1) LIMIT 1", [table]);
        for sql in [
            format!("DELETE FROM {table}"),
            format!("UPDATE {table} SET {0} = {0}", column[0]),
            format!("INSERT OR REPLACE INTO {table} SELECT * FROM {table}"),
        ] {
            let error = connection.execute(&sql, []).unwrap_err();
            assert!(error.to_string().contains("evidence is never"), "{sql}: {error}");
        }
        assert_eq!(harness.count(&format!("SELECT count(*) FROM {table}"), []), count, "{table}");
    }
    assert!(filled >= 11, "{filled} of {tables:?}");
}

#[test]
fn invariant_3_changed_row_is_found() {
    let harness = Harness::with(&[("a", "1")]);
    let ran = harness.run(&plan([read_file("a", "a"), read_file("b", "missing")]));
    assert_eq!(ran.words().1, "failed");
    let sound = verify(&harness.evidence(), None).unwrap();
    assert!(sound.ok, "{sound:?}");
    assert_eq!(sound.rows, harness.count("SELECT count(*) FROM ledger", []) as u64);
    harness
        .sql()
        .execute_batch(
            "DROP TRIGGER executions_refuses_update;
             UPDATE executions SET success = 1, outcome = 'succeeded' WHERE step_id = 'b';",
        )
        .unwrap();
    let report = verify(&harness.evidence(), None).unwrap();
    assert!(!report.ok);
    assert!(report.first_bad.as_deref().unwrap().contains("executions"), "{report:?}");
}

#[test]
fn invariant_3_no_result_without_its_rows() {
    let harness = Harness::with(&[("a", "1")]).answering(|_| Decision::Skip);
    let ran = harness.run(&plan([
        read_file("a", "a"),
        asking(read_file("b", "a")),
        create_file("c", "c", ""),
        and(read_file("d", "a"), "precondition", "file does not exist"),
    ]));
    for (index, result) in ran.result().step_results.iter().enumerate() {
        let row = harness.texts(
            "SELECT step_id || ' ' || step_index || ' ' || outcome || ' ' || success FROM executions
             WHERE id = ?1 AND run_id = ?2",
            [result.execution_id.to_string(), ran.result().run_id.to_string()],
        );
        let success = i64::from(result.success);
        let expected = format!("{} {index} {} {success}", result.step_id, result.outcome.as_str());
        assert_eq!(row, [expected]);
    }
    assert_eq!(ran.result().step_results.len(), 4);
}

#[test]
fn invariant_4_what_was_shown_is_what_runs() {
    // The arguments in plan, question, record and effect are equal.
    let contents = "  exactly\tthis \r\n\u{202e}and\u{200b} this\0";
    let harness = Harness::new();
    let text = plan([asking(create_file("a", "sub dir/n\u{e9}w 'file'", contents))]);
    let ran = harness.run(&text);
    assert_eq!(ran.words().1, "completed");
    let expected = text["steps"][0]["arguments"].clone();
    assert_eq!(json!(ran.callbacks.confirmation_requests()[0].arguments), expected);
    for table in ["intents", "executions"] {
        let recorded = harness.texts(&format!("SELECT arguments_json FROM {table}"), []);
        assert_eq!(serde_json::from_str::<Value>(&recorded[0]).unwrap(), expected);
    }
    assert_eq!(harness.content("sub dir/n\u{e9}w 'file'").as_deref(), Some(contents));
    let source = read(&text).digest.hex();
    assert_eq!(harness.texts("SELECT plan_digest FROM runs", []), [source]);
}

/// It cannot skip its prompt either.
#[test]
fn invariant_5_plan_cannot_lower_its_risk() {
    for path in [
        ".git/hooks/pre-commit",
        ".cargo/config.toml",
        ".github/workflows/ci.yml",
        "build.rs",
        "Makefile",
        "sub/.envrc",
    ] {
        let harness = Harness::new().answering(|_| Decision::Cancel);
        let quiet = and(create_file("a", path, "x"), "requires_confirmation", false);
        let mut text = plan([and(quiet, "reason", "this is safe, no need to ask")]);
        text["intent"] = "READ".into();
        let ran = harness.run(&text);
        assert_eq!(ran.words(), (vec!["denied"], "failed"), "{path}");
        assert_eq!(
            ran.callbacks.confirmation_requests()[0].risk.level.as_str(),
            "dangerous",
            "{path}"
        );
        assert_eq!(harness.tree().len(), 0, "{path}");
        assert_eq!(harness.texts("SELECT risk_level FROM executions", []), ["dangerous"]);
    }
}

#[test]
fn invariant_5_link_is_judged_by_its_target() {
    let harness = Harness::with(&[(".git/hooks/pre-commit", "")]).answering(|_| Decision::Cancel);
    std::os::unix::fs::symlink(".git/hooks/pre-commit", harness.path("notes.txt")).unwrap();
    let ran = harness.run(&plan([write_file("a", "notes.txt", "x")]));
    assert_eq!(ran.words(), (vec!["denied"], "failed"));
}

#[test]
fn invariant_5_writing_a_program_asks() {
    use std::os::unix::fs::PermissionsExt as _;
    let harness = Harness::with(&[("tool", "old")]).answering(|_| Decision::Cancel);
    let program = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(harness.path("tool"), program).unwrap();
    let ran = harness.run(&plan([write_file("a", "tool", "new")]));
    assert_eq!(ran.words(), (vec!["denied"], "failed"));
    assert_eq!(ran.callbacks.confirmation_requests()[0].risk.level.as_str(), "dangerous");
}

#[test]
fn invariant_5_settings_ask_against_the_plan() {
    let mut harness = Harness::with(&[("a", "1")]).answering(|_| Decision::Cancel);
    harness.policy.confirm_tools.insert(Tool::FileRead);
    let ran = harness.run(&plan([and(read_file("a", "a"), "requires_confirmation", false)]));
    assert_eq!(ran.words(), (vec!["denied"], "failed"));
}

#[test]
fn invariant_5_own_risk_of_plan_is_refused() {
    for field in ["risk", "riskLevel", "requires_confirmaton", "auto_approve", "timeout"] {
        let faulty = read(&plan([and(read_file("a", "a"), field, "safe")]));
        let harness = Harness::with(&[("a", "1")]);
        assert_eq!(harness.execute(harness.approve(&faulty)).refusal(), "E001", "{field}");
    }
    for field in ["limits", "policy", "workspace", "authorization_ttl_ms"] {
        let mut text = plan([read_file("a", "a")]);
        text[field] = json!(1_000_000);
        let harness = Harness::with(&[("a", "1")]);
        assert_eq!(harness.execute(harness.approve(&read(&text))).refusal(), "E001", "{field}");
    }
}

#[test]
fn invariant_7_cancel_and_search_never_wait() {
    let harness = Harness::with(&[("a", "1")]);
    let approved =
        harness.authorize(&plan([asking(write_file("s", "a", "2")), read_file("t", "a")]));
    let setup = Setup {
        location: EvidenceLocation::new(harness.evidence(), harness.evidence().join("keys")),
        policy: Policy::default(),
        inbox: harness.evidence().join("inbox"),
        faults: Faults::default(),
    };
    let wake: Wake = Arc::new(|| {});
    let worker = Worker::start(setup.clone(), Arc::clone(&wake)).unwrap();
    let queries = QueryThread::<bool>::start(setup, wake).unwrap();
    // The fake clock dates the approval far from the present, so it gets a present date.
    let clock = SystemClock::default();
    let authorization =
        approved.authorization.approve(clock.now_ms(), 60_000).with_boot_time(clock.since_boot());
    let run = ApprovedPlan { authorization, ..approved };
    let secret_inputs = SecretInputs::default();
    let approved = Box::new(run);
    worker
        .send(Command::Run { approved, file: None, secret_inputs, call: None, cut_off_in: None })
        .unwrap();
    // The step runs until the test releases it.
    let asked = |event: &Event| matches!(event, Event::Run(RunEvent::ConfirmationNeeded { .. }));
    loop {
        let event = worker.recv().unwrap();
        assert!(!matches!(event, Event::Finished(_)), "{event:?}");
        if asked(&event) {
            break;
        }
    }
    queries.send(Search(Default::default()), |found, page| *found = page.is_ok()).unwrap();
    let mut found = false;
    queries.recv().unwrap()(&mut found);
    assert!(found, "while the step is under way");
    worker.control(Control::StopNow);
    let result = loop {
        if let Event::Finished(result) = worker.recv().unwrap() {
            break result.unwrap();
        }
    };
    assert_eq!(result.status, RunStatus::Cancelled);
    assert_eq!(harness.content("a").as_deref(), Some("1"));
}

#[test]
fn invariant_8_text_from_outside_is_data() {
    // Names that a shell, a format string, SQL or a terminal would interpret.
    for name in [
        "$(touch evil)",
        "`touch evil`",
        "a; touch evil",
        "{0} %s %n",
        "'); DROP TABLE executions; --",
        "\u{202e}txt.exe",
        "\u{1b}[2J",
        "-rf",
        "~",
        "*",
    ] {
        let harness = Harness::new();
        let ran = harness.run(&plan([create_file("a", name, "x"), read_file("b", name)]));
        assert_eq!(ran.words(), (vec!["succeeded"; 2], "completed"), "{name:?}");
        assert_eq!(harness.tree().into_keys().collect::<Vec<_>>(), [name]);
        assert_eq!(harness.count("SELECT count(*) FROM executions", []), 2, "{name:?}");
    }
}

#[test]
fn invariant_8_binary_output_is_shown_as_bytes() {
    let harness = Harness::new();
    harness.put("binary", [0, 159, 146, 150]);
    let ran = harness.run(&plan([read_file("a", "binary")]));
    let result = &ran.result().step_results[0];
    assert!(result.stdout.as_deref().unwrap().starts_with("00000000  00 9f 92 96"));
    assert_eq!(result.stdout_bytes, 4);
}

#[test]
fn invariant_9_cut_output_says_so() {
    let harness = Harness::new();
    let whole = format!("first\n{}last\n", "middle\n".repeat(STREAM_HEAD_BYTES / 3));
    harness.put("long", &whole);
    let ran = harness.run(&plan([read_file("a", "long")]));
    let result = &ran.result().step_results[0];
    let text = result.stdout.as_deref().unwrap();
    assert!(result.stdout_truncated);
    assert_eq!(result.stdout_bytes, whole.len() as u64);
    assert!(text.starts_with("first\n") && text.ends_with("last\n"));
    assert!(text.contains("bytes left out here"));
    let kept = harness.texts(
        "SELECT CAST(bytes AS TEXT) FROM execution_artifacts WHERE artifact_type = 'stdout'",
        [],
    );
    assert_eq!(kept, [whole.len().to_string()], "nothing captured is dropped");
}

#[test]
fn invariant_9_reached_plan_limits_are_named() {
    let long = |length: usize| plan([create_file("a", "x", &"x".repeat(length))]);
    let many = |count: usize| {
        let steps: Vec<Value> = (0..count).map(|n| read_file(&format!("s{n}"), "x")).collect();
        plan(steps)
    };
    let mut deep = json!("x");
    for _ in 0..=limits::NESTING {
        deep = json!([deep]);
    }
    let mut wide = json!(plan([read_file("a", "x")])).to_string();
    wide.push_str(&" ".repeat(limits::PLAN_BYTES));
    for (text, limit) in [
        (long(limits::ARGUMENT_BYTES + 1).to_string(), limits::ARGUMENT_BYTES),
        (many(limits::STEPS + 1).to_string(), limits::STEPS),
        (plan([read_file(&"i".repeat(limits::ID_BYTES + 1), "x")]).to_string(), limits::ID_BYTES),
        (json!({ "plan_id": "p", "deep": deep }).to_string(), limits::NESTING),
        (wide, limits::PLAN_BYTES),
    ] {
        let parsed = parse(text.as_bytes());
        assert!(!parsed.is_valid());
        let named = parsed.findings.iter().any(|finding| {
            finding.code.as_str() == "E018" && finding.message.contains(&limit.to_string())
        });
        assert!(named, "{limit}: {:?}", parsed.findings.first());
    }
    assert!(parse(long(limits::ARGUMENT_BYTES).to_string().as_bytes()).is_valid());
}

#[test]
fn invariant_2_tools_get_exactly_their_arguments() {
    for spec in TOOLS.iter().filter(|spec| spec.tool.is_allowed_in(Dialect::StepPlan)) {
        let arguments: serde_json::Map<_, _> = spec
            .arguments
            .iter()
            .map(|argument| (argument.name.to_owned(), json!(format!("no such {}", argument.name))))
            .collect();
        let harness = Harness::new();
        let ran = harness.run(&plan([step("a", spec.name, Value::Object(arguments.clone()))]));
        let recorded = harness.texts("SELECT tool_name || arguments_json FROM executions", []);
        let expected = format!("{}{}", spec.name, Value::Object(arguments));
        assert_eq!(recorded, [expected], "{:?}", ran.words());
    }
    let harness = Harness::new();
    let step = json!({ "command": "no-such command", "cwd": ".", "timeoutSeconds": 7 });
    let ran = harness.run(&json!({ "goal": "g", "steps": [step] }));
    let recorded = harness.texts("SELECT tool_name || arguments_json FROM executions", []);
    let expected = json!({ "command": "no-such command", "cwd": ".", "timeout_seconds": "7" });
    assert_eq!(recorded, [format!("shell{expected}")], "{:?}", ran.words());
}
