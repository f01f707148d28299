//! The shipped plans against JSON Schema and validator, and runs of the examples (SPEC §1.1, §1.4).

use std::fs;
use std::path::{Path, PathBuf};

use countersign::plan::{Severity, rollback};
use countersign::risk::{Shell, of_step};
use countersign::run::Decision;
use serde_json::{Value, json};

use crate::harness::Harness;

/// The shipped plan that shows findings.
const FAULTY: &str = "five-faults.plan.json";

fn assets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets")
}

fn schema() -> jsonschema::Validator {
    schema_of("step-plan")
}

fn schema_of(dialect: &str) -> jsonschema::Validator {
    let file = assets().join("schema").join(format!("{dialect}.schema.json"));
    let text = fs::read_to_string(file).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

fn plans() -> Vec<PathBuf> {
    let mut plans: Vec<PathBuf> = [assets().join("plans"), assets().join("plans/tour")]
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(".plan.json"))
        .collect();
    plans.sort();
    plans
}

fn complaints(schema: &jsonschema::Validator, plan: &Value) -> Vec<String> {
    schema.iter_errors(plan).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// Except for the plan with five faults.
#[test]
fn shipped_plans_fit_the_schema() {
    let (steps, commands) = (schema(), schema_of("command-plan"));
    let actions = schema_of("action-plan");
    let plans = plans();
    assert!(plans.len() >= 8, "{plans:?}");
    for path in plans {
        let plan: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let schema = match &plan {
            plan if plan["version"].is_string() => &actions,
            plan if plan["goal"].is_string() => &commands,
            _ => &steps,
        };
        let complaints = complaints(schema, &plan);
        if path.ends_with(FAULTY) {
            // The fifth fault, a duplicate key, is not visible to a schema.
            assert_eq!(complaints.len(), 4, "{complaints:#?}");
        } else {
            assert_eq!(complaints, Vec::<String>::new(), "{}", path.display());
        }
    }
}

#[test]
fn shipped_plans_are_in_the_readme() {
    let readme = fs::read_to_string(assets().join("plans/README.md")).unwrap();
    for path in plans() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(readme.contains(&name), "{name} is not in assets/plans/README.md");
    }
}

#[test]
fn expected_hashes_match_the_shipped_files() {
    let mut checked = 0;
    for path in plans() {
        let plan: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        for action in plan["actions"].as_array().into_iter().flatten() {
            let hashes = action["request"]["expected_hashes"].as_object();
            for (file, expected) in hashes.into_iter().flatten() {
                let bytes = fs::read(path.parent().unwrap().join(file)).unwrap();
                let digest = countersign::plan::Digest::of(&bytes);
                assert_eq!(Ok(digest), expected.as_str().unwrap().parse(), "{file}");
                checked += 1;
            }
        }
        for step in plan["steps"].as_array().into_iter().flatten() {
            let Some(expected) = step["precondition"].as_str() else { continue };
            let Some(expected) = expected.strip_prefix("file hash is ") else { continue };
            let file = path.parent().unwrap().join(step["arguments"]["path"].as_str().unwrap());
            let digest = countersign::plan::Digest::of(&fs::read(&file).unwrap());
            assert_eq!(Ok(digest), expected.parse(), "{} in {}", file.display(), path.display());
            checked += 1;
        }
    }
    assert!(checked >= 3, "only {checked} hashes are named");
}

/// The findings of the validator for the same plan.
fn findings(plan: &Value) -> Vec<String> {
    let parsed = countersign::plan::parse(plan.to_string().as_bytes());
    let errors = parsed.findings.iter().filter(|f| f.severity == Severity::Error);
    errors.map(|f| format!("{} {}: {}", f.code, f.pointer, f.message)).collect()
}

#[test]
fn the_validator_finds_all_five_faults_at_once() {
    let bytes = fs::read(assets().join("plans").join(FAULTY)).unwrap();
    let parsed = countersign::plan::parse(&bytes);
    let errors = parsed.findings.iter().filter(|f| f.severity == Severity::Error);
    let mut codes: Vec<String> = errors.map(|f| f.code.to_string()).collect();
    codes.sort();
    assert_eq!(codes, ["E011", "E012", "E016", "E201", "E202"], "{:#?}", parsed.findings);
}

#[test]
fn every_other_shipped_plan_is_valid() {
    for path in plans().iter().filter(|path| !path.ends_with(FAULTY)) {
        let parsed = countersign::plan::parse(&fs::read(path).unwrap());
        assert!(parsed.is_valid(), "{}: {:#?}", path.display(), parsed.findings);
    }
}

fn with_step(step: Value) -> Value {
    json!({ "plan_id": "p", "intent": "READ", "steps": [step] })
}

#[test]
fn schema_and_validator_accept_what_the_contract_accepts() {
    let schema = schema();
    for (intent, step) in [
        ("read", json!({ "tool": "file_read", "arguments": { "path": "a" } })),
        ("Explain", json!({ "tool": "file_read", "arguments": { "path": 7 } })),
        ("QUERY", json!({ "tool": "symbols_in_file", "arguments": { "file": "a" } })),
        ("MUTATE", json!({ "tool": "file_write", "arguments": { "path": "a", "contents": "" } })),
        (
            "READ",
            json!({ "tool": "file_read", "arguments": { "path": "a" }, "precondition": " File EXISTS " }),
        ),
        (
            "READ",
            json!({ "tool": "file_glob", "arguments": { "pattern": "*", "root": "." }, "precondition": "cargo project exists" }),
        ),
    ] {
        let mut plan = with_step(step);
        plan["intent"] = json!(intent);
        assert_eq!(complaints(&schema, &plan), Vec::<String>::new(), "{plan}");
        assert_eq!(findings(&plan), Vec::<String>::new(), "{plan}");
    }
}

#[test]
fn schema_and_validator_refuse_what_the_contract_refuses() {
    let schema = schema();
    for (why, plan) in [
        (
            "no intent",
            json!({ "plan_id": "p", "steps": [{ "tool": "file_read", "arguments": { "path": "a" } }] }),
        ),
        ("no steps", json!({ "plan_id": "p", "intent": "READ" })),
        ("an empty plan", json!({ "plan_id": "p", "intent": "READ", "steps": [] })),
        (
            "an empty id",
            json!({ "plan_id": "", "intent": "READ", "steps": [{ "tool": "file_read", "arguments": { "path": "a" } }] }),
        ),
        (
            "an unknown intent",
            json!({ "intent": "DELETE", "steps": [{ "tool": "file_read", "arguments": { "path": "a" } }] }),
        ),
        (
            "a tool of another dialect",
            with_step(json!({ "tool": "shell", "arguments": { "command": "ls" } })),
        ),
        (
            "an unknown argument",
            with_step(json!({ "tool": "file_read", "arguments": { "path": "a", "mode": "b" } })),
        ),
        ("an empty path", with_step(json!({ "tool": "file_read", "arguments": { "path": "" } }))),
        (
            "a boolean argument",
            with_step(json!({ "tool": "file_read", "arguments": { "path": true } })),
        ),
        (
            "an alias beside its name",
            with_step(
                json!({ "tool": "symbols_in_file", "arguments": { "file": "a", "file_path": "a" } }),
            ),
        ),
        (
            "neither name nor alias",
            with_step(json!({ "tool": "symbols_in_file", "arguments": {} })),
        ),
        (
            "an unknown precondition",
            with_step(
                json!({ "tool": "file_read", "arguments": { "path": "a" }, "precondition": "ready" }),
            ),
        ),
        (
            "a precondition without its subject",
            with_step(
                json!({ "tool": "file_glob", "arguments": { "pattern": "*", "root": "." }, "precondition": "file exists" }),
            ),
        ),
        (
            "a short hash",
            with_step(
                json!({ "tool": "file_read", "arguments": { "path": "a" }, "precondition": "file hash is 12ab" }),
            ),
        ),
        (
            "a confirmation that is text",
            with_step(
                json!({ "tool": "file_read", "arguments": { "path": "a" }, "requires_confirmation": "true" }),
            ),
        ),
        (
            "an unknown query",
            json!({ "plan_id": "p", "intent": "READ", "evidence_referenced": ["Q9"], "steps": [{ "tool": "file_read", "arguments": { "path": "a" } }] }),
        ),
    ] {
        assert_ne!(
            complaints(&schema, &plan),
            Vec::<String>::new(),
            "{why} passes the schema: {plan}"
        );
        assert_ne!(findings(&plan), Vec::<String>::new(), "{why} passes the validator: {plan}");
    }
}

/// The example of commands in a copy of its workspace.
fn gathering() -> (Harness, Value) {
    let harness = Harness::new();
    for name in ["style.md", "todo.md"] {
        let note = fs::read(assets().join("plans/notes").join(name)).unwrap();
        harness.put(&format!("notes/{name}"), note);
    }
    let plan = fs::read(assets().join("plans/gather-notes.plan.json")).unwrap();
    (harness, serde_json::from_slice(&plan).unwrap())
}

#[test]
fn example_commands_do_what_they_say() {
    let (harness, plan) = gathering();
    let read = countersign::plan::parse(plan.to_string().as_bytes()).plan.unwrap();
    let risks: Vec<_> = read
        .steps
        .iter()
        .map(|step| of_step(step, &harness.policy, Shell::Bash).level.as_str())
        .collect();
    assert_eq!(risks, ["safe", "caution", "safe", "dangerous", "safe", "safe"]);
    let before = harness.tree();
    let ran = harness.run(&plan);
    assert_eq!(ran.words(), (vec!["succeeded"; 6], "completed"), "{:?}", ran.outcome);
    let asked: Vec<_> =
        ran.callbacks.confirmation_requests().iter().map(|it| it.step_id.clone()).collect();
    assert_eq!(asked, ["clear"]);
    let mut after = harness.tree();
    let all = after.remove("all-notes.md").unwrap();
    assert!(String::from_utf8(all).unwrap().contains("# To do"));
    assert_eq!(after, before);
}

#[test]
fn rollback_plan_of_the_example_restores_files() {
    let (harness, plan) = gathering();
    let harness = harness.answering(|request| match request.step_id.as_str() {
        "clear" => Decision::Cancel,
        _ => Decision::Approve,
    });
    let before = harness.tree();
    let ran = harness.run(&plan);
    assert_eq!(ran.words(), (vec!["succeeded", "succeeded", "succeeded", "denied"], "failed"));
    assert_ne!(harness.tree(), before);
    let read = countersign::plan::parse(plan.to_string().as_bytes()).plan.unwrap();
    let back = rollback(&read, ran.result().run_id, &[]).unwrap();
    let ran = harness.run(&serde_json::from_slice(&back).unwrap());
    assert_eq!(ran.words(), (vec!["succeeded", "succeeded"], "completed"));
    assert_eq!(harness.tree(), before);
}

#[test]
fn example_batch_is_atomic() {
    let harness = Harness::new();
    let folder = assets().join("plans");
    for name in ["src/lib.rs", "notes/style.md", "notes/todo.md"] {
        harness.put(name, fs::read(folder.join(name)).unwrap());
    }
    let plan = fs::read(folder.join("edit-as-a-whole.plan.json")).unwrap();
    let plan: Value = serde_json::from_slice(&plan).unwrap();
    let before = harness.tree();
    let ran = harness.run(&plan);
    assert_eq!(ran.words(), (vec!["succeeded", "succeeded"], "completed"), "{:?}", ran.outcome);
    assert_eq!(ran.callbacks.confirmation_requests().len(), 0, "nothing in it is dangerous");
    let text = |name: &str| harness.content(name).unwrap();
    assert!(text("src/lib.rs").contains("table.iter().rev().max_by_key"));
    assert!(text("src/lib.rs").contains("/// The highest tide of a day"), "what is above it stays");
    assert!(text("notes/style.md").ends_with("the earlier one counts.\n"));
    assert!(!text("notes/open.md").contains("Ties"));
    assert_eq!(harness.content("notes/todo.md"), None);
    // A second run expects the old hashes, so it changes nothing.
    let after = harness.tree();
    assert_ne!(after, before);
    let again = harness.run(&plan);
    assert_eq!(again.words().1, "failed");
    assert_eq!(harness.tree(), after);
}

#[test]
fn example_actions_inspect_verify_and_build() {
    let harness = Harness::new();
    for name in ["Cargo.toml", "src/lib.rs"] {
        harness.put(name, fs::read(assets().join("plans").join(name)).unwrap());
    }
    let plan = fs::read(assets().join("plans/look-and-verify.plan.json")).unwrap();
    let ran = harness.run(&serde_json::from_slice(&plan).unwrap());
    assert_eq!(ran.words(), (vec!["succeeded"; 4], "completed"), "{:?}", ran.outcome);
    let told = |step: usize| -> Value {
        let stdout = ran.result().step_results[step].stdout.as_ref().unwrap();
        serde_json::from_str(stdout).unwrap()
    };
    assert_eq!(told(0)["packages"][0]["name"], "tidewater");
    assert_eq!(told(1)["definitions"][0]["file_path"], "src/lib.rs");
}

#[test]
fn example_simulations_change_nothing() {
    let harness = Harness::new();
    for name in ["Cargo.toml", "src/lib.rs"] {
        harness.put(name, fs::read(assets().join("plans").join(name)).unwrap());
    }
    let before = harness.tree();
    let plan = fs::read(assets().join("plans/try-on-a-copy.plan.json")).unwrap();
    let ran = harness.run(&serde_json::from_slice(&plan).unwrap());
    assert_eq!(ran.words(), (vec!["succeeded"; 2], "completed"), "{:?}", ran.outcome);
    let tests = ran.result().step_results[0].stdout.as_ref().unwrap();
    assert!(tests.contains("test ties_prefer_the_earlier_tide ... ok"), "{tests}");
    let names = ran.result().step_results[1].stdout.as_ref().unwrap();
    assert!(names.starts_with("[\"notes/tides.md\"]"), "{names}");
    assert_eq!(harness.tree(), before);
}
