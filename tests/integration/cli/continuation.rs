//! `continue`, and the output of `evidence show` for an interrupted run (SPEC §3, §8, §11).

use std::fs;

use countersign::authorization::{FileState, Method, PlanAuthorization, SecretInputs};
use countersign::engine::{WorkspaceChoice, review};
use countersign::evidence::{Entry, EvidenceStore, ExecutionRecord, IntentRecord, RunStart};
use countersign::plan::{Digest, Plan, parse};
use countersign::risk::Policy;
use countersign::run::{FileEffect, Modes, Outcome, StepResult};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::harness::home::{Home, keys};
use crate::harness::{asking, create_file, read_file, write_file};

/// A home with a run that created `a.txt` and failed because `b.txt` existed.
fn with_a_failed_run() -> (Home, String) {
    let home = Home::new();
    home.write("b.txt", "in the way\n");
    let mut last = read_file("look", "b.txt");
    last["precondition"] = json!("make succeeded");
    home.plan(json!([
        create_file("make", "a.txt", "one\n"),
        create_file("next", "b.txt", "two\n"),
        last
    ]));
    let result = home.json(["run", "space/p.json", "--yes"]).exits(1).document();
    (home, result["run_id"].as_str().unwrap().to_owned())
}

fn parent_of(home: &Home, run_id: &str) -> Option<String> {
    let run = home.json(["evidence", "show", run_id]).exits(0).document();
    run["run"]["parent_run"].as_str().map(str::to_owned)
}

#[test]
fn rest_is_shown_authorized_and_run() {
    let (home, run_id) = with_a_failed_run();
    fs::remove_file(home.file("b.txt")).unwrap();

    let asked = home.json(["continue", &run_id]).exits(3);
    assert_eq!(asked.error_code(), "E002");
    let shown = asked.document()["error"]["details"].clone();
    let ids: Vec<_> =
        shown["plan"]["steps"].as_array().unwrap().iter().map(|it| &it["step_id"]).collect();
    assert_eq!(ids, ["next", "look"]);
    assert_eq!(shown["plan"]["steps"][1]["precondition"], "none");
    assert_eq!(shown["plan"]["plan_id"], format!("p.continues-{}", &run_id[..8]));
    let messages: Vec<_> = shown["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["severity"].as_str().unwrap(), it["message"].as_str().unwrap()))
        .collect();
    assert_eq!(messages.len(), 1, "only b.txt is another: {messages:?}");
    assert!(messages[0].0 == "warning" && messages[0].1.starts_with("b.txt has changed"));
    assert!(messages[0].1.ends_with("and is absent now"), "{messages:?}");

    let people = home.run(["continue", &run_id]).exits(3);
    let digest = shown["digest"].as_str().unwrap();
    assert!(people.stdout.contains(digest) && people.stdout.contains("b.txt has changed since"));
    assert!(people.stderr.contains("E002"), "{people:#?}");

    let other = format!("sha256:{}", "0".repeat(64));
    let stale = home.json(["continue", &run_id, "--authorize", &other]).exits(3);
    assert_eq!(stale.error_code(), "E004");
    assert!(!home.file("b.txt").exists(), "nothing ran so far");

    let done = home.json(["continue", &run_id, "--authorize", digest]).exits(0).document();
    assert_eq!(done["status"], "completed");
    assert_eq!(fs::read_to_string(home.file("b.txt")).unwrap(), "two\n");
    let next = done["run_id"].as_str().unwrap();
    assert_eq!(parent_of(&home, next).as_deref(), Some(run_id.as_str()));
    assert_eq!(parent_of(&home, &run_id), None);
    let database = home.sql();
    let note: String = database
        .query_row(
            "SELECT d.note FROM decisions AS d JOIN runs AS r
             ON r.authorization_id = d.authorization_id WHERE r.id = ?1",
            [next],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(note, format!("continues run {run_id}"), "the approval itself says so");
    home.json(["evidence", "verify"]).exits(0);
}

#[test]
fn failed_continuation_can_be_continued() {
    let (home, first) = with_a_failed_run();
    let again = home.json(["continue", &first, "--yes"]).exits(1).document();
    let second = again["run_id"].as_str().unwrap();
    fs::remove_file(home.file("b.txt")).unwrap();
    let done = home.json(["continue", second, "--yes"]).exits(0).document();
    assert_eq!(done["plan_id"], format!("p.continues-{}", &second[..8]));
    assert_eq!(parent_of(&home, done["run_id"].as_str().unwrap()).as_deref(), Some(second));
}

#[test]
fn impossible_continuations_are_refused() {
    let home = Home::new();
    home.plan(json!([create_file("make", "a.txt", "one\n")]));
    let done = home.json(["run", "space/p.json", "--yes"]).exits(0).document();
    let completed = home.json(["continue", done["run_id"].as_str().unwrap(), "--yes"]).exits(5);
    assert!(completed.stderr.contains("nothing to continue"), "{completed:#?}");
    let unknown = "00000000-0000-4000-8000-000000000000";
    let refused = home.json(["continue", unknown, "--yes"]).exits(5);
    assert!(refused.stderr.contains("has no run"), "{refused:#?}");
    assert_eq!(refused.error_code(), "E014");
    home.json(["continue", "not-an-id"]).exits(5);
}

#[test]
fn continue_takes_the_options_of_run() {
    let home = Home::new();
    home.plan(json!([read_file("miss", "a.txt"), asking(create_file("make", "made.txt", "x\n"))]));
    let failed = home.json(["run", "space/p.json", "--yes"]).exits(1).document();
    let run_id = failed["run_id"].as_str().unwrap();
    let other = home.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("a.txt"), "here\n").unwrap();

    let workspace = ["--workspace", "other"];
    let line = ["continue", run_id, "--yes"].into_iter().chain(workspace);
    let denied = home.json(line.clone()).exits(1).document();
    assert_eq!(denied["step_results"][1]["error_code"], "E106");
    let line = line.chain(["--confirm", "approve"]);
    home.json(line).exits(0);
    assert!(other.join("made.txt").exists() && !home.file("made.txt").exists());
}

/// The store of a process in the middle of a run: one step is recorded, and the next has an intent but no
/// effect yet.
fn in_the_middle(home: &Home) -> (EvidenceStore, Uuid) {
    home.write("a.txt", "old\n");
    let file =
        home.plan(json!([read_file("look", "a.txt"), write_file("change", "a.txt", "new\n")]));
    let plan: Plan = parse(&fs::read(file).unwrap()).plan.unwrap();
    let folder = home.file("");
    let choice = WorkspaceChoice { folder, reason: String::new() };
    let seen = review(&plan, &choice, &Policy::default(), None).unwrap();
    let authorization = PlanAuthorization::pending(&plan, seen.binding, Method::Window, 1_000)
        .approve(1_000, 1_000);
    let secrets = home.path().join(".config/countersign");
    let mut store = EvidenceStore::open(&home.evidence(), &secrets).unwrap();
    let run_id = Uuid::new_v4();
    store
        .commit(&Entry::RunStart(RunStart {
            fleet: None,
            secret_inputs: SecretInputs::none(),
            run_id,
            plan: &plan,
            authorization: &authorization,
            reached: None,
            started_at_ms: 1_000,
        }))
        .unwrap();
    let result: StepResult = StepResult {
        step_id: "look".into(),
        step_index: 0,
        tool_name: "file_read".into(),
        success: true,
        outcome: Outcome::Succeeded,
        execution_id: Uuid::new_v4(),
        exit_code: None,
        terminal: false,
        stdout: None,
        stdout_bytes: 0,
        stdout_truncated: false,
        stderr: None,
        stderr_bytes: 0,
        stderr_truncated: false,
        error_message: None,
        error_code: None,
        next: None,
        timestamp_ms: 1_000,
        duration_ms: 1,
        diagnostic_artifacts: Vec::new(),
        needs: None,
        walls: None,
        wall_notes: Vec::new(),
        refused: false,
        refused_write: None,
        note: String::new(),
    };
    store
        .commit(&Entry::Execution(ExecutionRecord {
            result: &result,
            run_id,
            plan: &plan,
            step: &plan.steps[0],
            risk: &seen.risks[0],
            policy: Policy::default().digest(),
            host: None,
            walls: None,
            invoked: true,
            stdout: None,
            stderr: None,
            captured: None,
            result_json: &Value::Null,
            artifacts: &[],
            predicted: &[],
            files: &[],
            edges: &[],
            decision: None,
        }))
        .unwrap();
    let state = |text: &str| FileState::Content(Digest::of(text.as_bytes()));
    let bytes = |text: &str| Some(text.as_bytes().into());
    store
        .commit(&Entry::Intent(IntentRecord {
            execution_id: Uuid::new_v4(),
            run_id,
            step: &plan.steps[1],
            risk: &seen.risks[1],
            timestamp_ms: 1_001,
            host: None,
            walls: None,
            files: &[FileEffect {
                path: "a.txt".into(),
                before: state("old\n"),
                after: state("new\n"),
                before_bytes: bytes("old\n"),
                after_bytes: bytes("new\n"),
                modes: Modes::default(),
            }],
            decision: None,
        }))
        .unwrap();
    (store, run_id)
}

/// The files of the interrupted run are compared first.
#[test]
fn interrupted_run_is_continued_active_is_refused() {
    let home = Home::new();
    let (store, run_id) = in_the_middle(&home);
    let run_id = run_id.to_string();
    let refused = home.json(["continue", &run_id, "--yes"]).exits(5);
    assert!(refused.stderr.contains("still under way"), "{refused:#?}");
    let active = home.json(["evidence", "show", &run_id]).exits(0).document();
    assert_eq!(
        keys(&active),
        ["changed", "executions", "run"],
        "nothing to compare while it is alive"
    );

    // Dropping the store releases its locks, as the end of the process would.
    drop(store);
    let rows = || home.json(["evidence", "verify"]).exits(0).document()["rows"].clone();
    let before = rows();
    let set = |contents: Option<&str>| match contents {
        Some(contents) => fs::write(home.file("a.txt"), contents).unwrap(),
        None => fs::remove_file(home.file("a.txt")).unwrap(),
    };
    for (contents, finding) in [
        (Some("old\n"), "as_before"),
        (Some("new\n"), "as_after"),
        (Some("mine\n"), "neither"),
        (None, "absent"),
    ] {
        set(contents);
        let shown = home.json(["evidence", "show", &run_id]).exits(0).document();
        assert_eq!(shown["run"]["status"], "interrupted");
        let found = shown["reconcile"].as_array().unwrap();
        assert_eq!(found.len(), 1, "{shown:#}");
        assert_eq!(found[0]["finding"], finding);
        assert_eq!((&found[0]["path"], &found[0]["step_id"]), (&json!("a.txt"), &json!("change")));
        let asked = home.json(["continue", &run_id]).exits(3).document();
        let warning = &asked["error"]["details"]["findings"][0]["message"];
        assert!(warning.as_str().unwrap().starts_with("step 2 was interrupted; a.txt is "));
    }
    let people = home.run(["evidence", "show", &run_id]).exits(0);
    assert!(people.stdout.contains("something else removed it"), "{people:#?}");
    assert_eq!(rows(), before, "looking records nothing");

    set(Some("old\n"));
    let done = home.json(["continue", &run_id, "--yes"]).exits(0).document();
    assert_eq!(done["step_results"].as_array().unwrap().len(), 1);
    assert_eq!(fs::read_to_string(home.file("a.txt")).unwrap(), "new\n");
}
