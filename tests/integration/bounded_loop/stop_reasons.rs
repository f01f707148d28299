//! `loop`: every stop reason, reached by a scripted planner, and its evidence (SPEC §10).

use std::fs;

use serde_json::{Value, json};

use crate::harness::scripted_planner::{
    Answer, Scripted, actions, cargo_project, command, failure,
};

const BROKEN: &str = "pub fn heron() -> u32 { \"grey\" }\n";

fn mend() -> Value {
    json!({"type": "mutate_batch", "request": {"edits": [
        {"op": "replace", "path": "src/lib.rs", "old": "\"grey\"", "new": "7"}]}})
}

#[test]
fn applied_and_verified_plan_completes_the_loop() {
    let planner = Scripted::new([actions(json!([mend()]))]);
    cargo_project(&planner.home, BROKEN);
    let ended = planner.ends(planner.run([]), 0);
    assert_eq!(ended.code(), "completed");
    assert_eq!(ended.detail()["verified"], true);
    assert_eq!(ended.actions(1), ["mutate_batch: succeeded", "verify_gate: succeeded"]);
    assert_eq!(ended.attempts()[0]["verify"]["passed"], true);
    assert_eq!(ended.attempts()[0]["verify"]["scope"], "local");
    assert!(fs::read_to_string(planner.home.file("src/lib.rs")).unwrap().contains("{ 7 }"));
}

#[test]
fn plan_with_own_verification_is_not_verified_again() {
    let verify = json!({"type": "verify", "request": {}});
    let planner = Scripted::new([actions(json!([mend(), verify]))]);
    cargo_project(&planner.home, BROKEN);
    let ended = planner.ends(planner.run([]), 0);
    assert_eq!(ended.code(), "completed");
    assert_eq!(ended.detail()["verified"], true);
    assert_eq!(ended.actions(1), ["mutate_batch: succeeded", "verify: succeeded"]);
}

/// Without a verification command, and with `--verify none`.
#[test]
fn loop_without_verification_completes_unverified() {
    for (words, why) in [
        (&[][..], "the workspace has no verify command"),
        (&["--verify", "none"][..], "not asked for"),
    ] {
        let planner = Scripted::new([command("echo blue > kingfisher.txt")]);
        let ended = planner.ends(planner.run(words.iter().copied()), 0);
        assert_eq!(ended.code(), "completed");
        assert_eq!(ended.detail()["verified"], false);
        assert_eq!(ended.actions(1), ["shell: succeeded", "verify_gate: skipped"]);
        assert_eq!(ended.attempts()[0]["actions"][1]["summary"], why);
        assert!(ended.attempts()[0]["verify"].is_null());
    }
}

#[test]
fn permanent_failure_ends_the_loop_with_its_code() {
    for code in ["clarification_needed", "unsupported_goal", "unsafe_plan", "of_my_own"] {
        let planner = Scripted::new([failure(code, false)]);
        let ended = planner.ends(planner.run([]), 1);
        assert_eq!(ended.code(), "planner_rejected_non_retryable");
        assert_eq!(ended.detail()["planner_failure_code"], code);
        assert_eq!(planner.request_count(), 1);
        assert_eq!(ended.attempts()[0]["planner"]["retryable"], false);
    }
}

/// Each way in which a planner gives no plan, and how the next request describes it.
#[test]
fn planner_without_a_plan_uses_the_budget_up() {
    let wrong = json!({"goal": "g", "steps": [{"comand": "true"}]});
    let planner = Scripted::new([
        Answer::Script("echo 'I would suggest to begin with'"),
        Answer::Plan(wrong),
        Answer::Script("echo 'no credit' >&2; exit 7"),
        Answer::Script("exec sleep 600"),
        failure("planner_unavailable", true),
        command("rm -rf /"),
    ]);
    let words = ["--max-attempts", "6", "--planner-timeout", "2"];
    let ended = planner.ends(planner.run(words), 1);
    assert_eq!(ended.code(), "planner_rejected_retry_budget_exhausted");
    let codes = [
        "planner_invalid_json",
        "planner_validation_failed",
        "planner_provider_error",
        "planner_provider_error",
        "planner_unavailable",
        "planner_validation_failed",
    ];
    for (index, code) in codes.into_iter().enumerate() {
        let planner = &ended.attempts()[index]["planner"];
        assert_eq!(
            (&planner["failure_code"], &planner["status"]),
            (&json!(code), &json!("failed"))
        );
    }
    assert_eq!(ended.detail()["planner_failure_code"], "planner_validation_failed");
    assert!(planner.request(1)["last_attempt"].is_null());
    let last = |number: usize| planner.request(number)["last_attempt"].clone();
    assert_eq!(last(2)["planner"]["findings"][0]["code"], "E010");
    let found = last(3)["planner"]["findings"].to_string();
    assert!(found.contains("\"E012\"") && found.contains("/steps/0/comand"), "{found}");
    assert!(last(3)["plan"].as_str().unwrap().contains("comand"));
    assert!(last(4)["reason"].as_str().unwrap().contains("exit code 7"));
    assert!(last(5)["reason"].as_str().unwrap().contains("ended after 2 s"));
    assert!(last(6)["reason"].as_str().unwrap().contains("not today"));
    assert_eq!(last(6)["outcome"], "planner_rejected");
    let request = planner.request(6);
    assert_eq!(request["earlier_attempts"].as_array().unwrap().len(), 4);
    assert_eq!((&request["attempt"], &request["max_attempts"]), (&json!(6), &json!(6)));

    // Other output of the planner is recorded.
    let id = ended.document["loop_id"].as_str().unwrap();
    let shown = planner.home.json(["evidence", "show", id]).exits(0).document();
    let process = |attempt: usize| &shown["loop"]["attempts"][attempt - 1]["planner_process"];
    assert_eq!(
        (&process(3)["stderr"], &process(3)["exit_code"]),
        (&json!("no credit\n"), &json!(7))
    );
    assert_eq!(process(4)["timed_out"], true);
}

#[test]
fn failed_action_is_terminal_with_one_attempt() {
    let planner = Scripted::new([command("echo grey; exit 3")]);
    let ended = planner.ends(planner.run(["--max-attempts", "1"]), 1);
    assert_eq!(ended.code(), "action_failed_retryable");
    assert_eq!(
        (&ended.detail()["attempt"], &ended.detail()["action_index"]),
        (&json!(1), &json!(0))
    );
    let error = &ended.attempts()[0]["actions"][0]["error"];
    assert_eq!((&error["code"], &error["retryable"]), (&json!("validation_failed"), &json!(true)));
    assert_eq!(
        (&error["details"]["code"], &error["details"]["exit_code"]),
        (&json!("E305"), &json!(3))
    );
}

/// Whatever makes a batch impossible, but a file with another content than the expected one is a conflict.
#[test]
fn impossible_batch_is_a_failed_validation() {
    let batch =
        |edit: Value| actions(json!([{"type": "mutate_batch", "request": {"edits": [edit]}}]));
    let hunk = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-grey\n+blue\n";
    let no_code = "fn heron( {";
    let planner = Scripted::new([
        batch(json!({"op": "replace", "path": "a.txt", "old": "grey", "new": "blue"})),
        batch(json!({"op": "replace", "path": "a.txt", "old": "x", "new": "blue"})),
        batch(json!({"op": "patch", "path": "a.txt", "diff": hunk})),
        batch(json!({"op": "create", "path": "a.txt", "contents": ""})),
        batch(json!({"op": "delete", "path": "gone.txt"})),
        batch(json!({"op": "splice", "path": "a.rs", "symbol": "heron", "contents": no_code})),
        batch(
            json!({"op": "splice", "path": "a.rs", "symbol": "egret", "contents": "fn egret() {}"}),
        ),
        actions(json!([{"type": "mutate_batch", "request": {
            "edits": [{"op": "write", "path": "a.txt", "contents": "blue"}],
            "expected_hashes": {"a.txt": "0".repeat(64)}}}])),
    ]);
    planner.home.write("a.txt", "x x\n");
    planner.home.write("a.rs", "fn heron() {}\n");
    let ended = planner.ends(planner.run(["--max-attempts", "8", "--confirm", "approve"]), 1);
    assert_eq!(ended.code(), "retry_budget_exhausted");
    let attempts = ended.attempts();
    for (index, attempt) in attempts.iter().enumerate() {
        let error = &attempt["actions"][0]["error"];
        let (word, code) = match index {
            7 => ("conflict", "E311"),
            _ => ("validation_failed", "E302"),
        };
        assert_eq!(error["code"], word, "{index}: {error}");
        assert_eq!((&error["retryable"], &error["details"]["code"]), (&json!(true), &json!(code)));
    }
    assert_eq!(attempts.len(), 8);
    let execution = attempts[0]["actions"][0]["error"]["details"]["execution_id"].as_str().unwrap();
    let shown = planner.home.json(["evidence", "show", execution]).exits(0).document();
    assert!(shown.to_string().contains("\"refused\":true"), "the evidence has it: {shown}");
}

/// The folder becomes a link to the outside while the plan runs. That is a bad request, which no further attempt
/// can repair.
#[test]
fn impossible_action_ends_the_loop() {
    let steps = json!([
        {"command": "ln -s / out"},
        {"command": "true", "cwd": "out"},
        {"command": "true"},
    ]);
    let planner = Scripted::new([Answer::Plan(json!({"goal": "g", "steps": steps}))]);
    let ended = planner.ends(planner.run(["--confirm", "approve"]), 1);
    assert_eq!(ended.code(), "action_failed_non_retryable");
    assert_eq!(ended.detail()["action_index"], 1);
    assert_eq!(ended.actions(1), ["shell: succeeded", "shell: failed", "shell: skipped"]);
    let error = &ended.attempts()[0]["actions"][1]["error"];
    assert_eq!((&error["code"], &error["retryable"]), (&json!("bad_request"), &json!(false)));
    assert_eq!(planner.request_count(), 1);
}

/// In the last attempt it ends the loop.
#[test]
fn failed_verification_is_told_to_the_planner() {
    let worse = |new: &str| {
        json!({"type": "mutate_batch", "request": {"edits": [
            {"op": "write", "path": "src/lib.rs", "contents": new}]}})
    };
    // With a budget of one attempt, by the check of a replacement and by an action.
    let gate = Scripted::new([actions(json!([worse(BROKEN)]))]);
    cargo_project(&gate.home, "");
    let ended = gate.ends(gate.run(["--max-attempts", "1"]), 1);
    assert_eq!(ended.code(), "verify_failed");
    assert_eq!(ended.actions(1), ["mutate_batch: succeeded", "verify_gate: failed"]);
    let verify = &ended.attempts()[0]["verify"];
    assert_eq!((&verify["passed"], &verify["scope"]), (&json!(false), &json!("local")));
    assert_eq!(verify["diagnostics"][0]["code"], "E0308");

    let verify = json!({"type": "verify", "request": {}});
    let action = Scripted::new([
        actions(json!([worse(BROKEN), verify])),
        actions(json!([worse("pub fn heron() -> u32 { 7 }\n"), verify])),
    ]);
    cargo_project(&action.home, "");
    let ended = action.ends(action.run([]), 0);
    assert_eq!(ended.code(), "completed");
    assert_eq!(ended.actions(1), ["mutate_batch: succeeded", "verify: failed"]);
    let last = &action.request(2)["last_attempt"];
    assert_eq!(
        (&last["outcome"], &last["verify"]["passed"]),
        (&json!("verify_failed"), &json!(false))
    );
    assert_eq!(last["diagnostics"][0]["code"], "E0308");
    // The request also contains the evidence of the attempt.
    let evidence = &action.request(2)["evidence"];
    assert_eq!(evidence["q3"][0]["tool_name"], "verify");
    assert_eq!(evidence["q6"][0]["about"], "src/lib.rs");
    assert_eq!(evidence["q5"][0]["tool_name"], "verify");
}

#[test]
fn several_failed_attempts_use_the_budget_up() {
    let planner = Scripted::new([command("exit 3"), command("exit 4"), command("exit 5")]);
    let words = planner.words(["--yes"]);
    let done = planner.home.run(words.iter().map(String::as_str)).exits(1);
    assert!(done.stderr.contains("Attempts left: 1"), "{done:#?}");
    assert!(!done.stderr.contains("Attempts left: 2"), "{done:#?}");
    assert!(done.stderr.contains("The plan was revised: 1 changed."), "{done:#?}");
    assert!(done.stdout.contains("retry_budget_exhausted: "), "{done:#?}");
    assert_eq!(planner.request_count(), 3);

    let planner = Scripted::new([command("exit 3"), command("exit 4")]);
    let ended = planner.ends(planner.run(["--max-attempts", "2"]), 1);
    assert_eq!(ended.code(), "retry_budget_exhausted");
    assert_eq!(ended.detail()["attempt"], 2);
    let outcome = |attempt: usize| ended.attempts()[attempt - 1]["stop_reason"].clone();
    assert_eq!((outcome(1), outcome(2)), (Value::Null, json!("retry_budget_exhausted")));
}

#[test]
fn denied_step_stops_the_loop() {
    let step = json!({"tool": "file_create", "requires_confirmation": true,
                      "arguments": {"path": "a.txt", "contents": ""}});
    let planner =
        Scripted::new([Answer::Plan(json!({"plan_id": "p", "intent": "MUTATE", "steps": [step]}))]);
    let ended = planner.ends(planner.run(["--confirm", "cancel"]), 1);
    assert_eq!(ended.code(), "operator_stopped");
    assert_eq!(ended.actions(1), ["file_create: failed"]);
    assert!(!planner.home.file("a.txt").exists());
}

/// The repeated plan is not applied.
#[test]
fn repeated_steps_are_no_progress() {
    let step = |title: &str| {
        Answer::Plan(json!({"goal": title, "steps": [
            {"command": "echo x >> tries.txt; exit 3", "explanation": title}]}))
    };
    // A planner failure between the two equal plans does not reset the comparison.
    let planner = Scripted::new([step("one"), failure("planner_unavailable", true), step("two")]);
    let ended = planner.ends(planner.run(["--max-attempts", "5"]), 1);
    assert_eq!(ended.code(), "no_progress");
    assert_eq!(ended.detail()["attempt"], 3);
    assert!(ended.document["stop_reason"]["message"].as_str().unwrap().contains("attempt 1"));
    assert!(ended.attempts()[2]["run_id"].is_null());
    assert_eq!(fs::read_to_string(planner.home.file("tries.txt")).unwrap(), "x\n");
}

#[test]
fn repeated_planner_failures_are_not_no_progress() {
    let again = || failure("planner_unavailable", true);
    let planner = Scripted::new([again(), again(), again()]);
    let ended = planner.ends(planner.run([]), 1);
    assert_eq!(ended.code(), "planner_rejected_retry_budget_exhausted");
}

#[test]
fn request_is_bounded_and_names_cuts() {
    let flood =
        "i=0; while [ $i -lt 3000 ]; do echo \"line $i of the flood\"; i=$((i+1)); done; exit 3";
    let planner = Scripted::new([command(flood), command("touch done.txt")]);
    for number in 0..2_100 {
        planner.home.write(&format!("f{number:04}.txt"), "");
    }
    planner.ends(planner.run([]), 0);
    let request = planner.request(2);
    let cuts = request["cuts"].to_string();
    assert!(cuts.contains("workspace.files: ") && cuts.contains("stdout of action 0"), "{cuts}");
    assert_eq!(request["workspace"]["files"].as_array().unwrap().len(), 2_000);
    let stdout = request["last_attempt"]["results"][0]["stdout"].as_str().unwrap();
    assert!(stdout.starts_with("line 0 of") && stdout.ends_with("line 2999 of the flood\n"));
    assert!(stdout.len() < 10_000);
    assert!(request["evidence"]["q1"].as_array().unwrap().len() == 1);
}

/// Records of another workspace are not sent, even where its files have the same names.
#[test]
fn planner_gets_evidence_of_its_workspace_only() {
    let planner = Scripted::new([command("exit 3"), command("touch done.txt")]);
    let other = planner.home.path().join("other");
    fs::create_dir(&other).unwrap();
    let plan = json!({"goal": "g", "steps": [{"command": "exit 9"}]});
    fs::write(other.join("p.json"), plan.to_string()).unwrap();
    planner.home.json(["run", "other/p.json", "--yes"]).exits(1);
    planner.ends(planner.run([]), 0);
    for name in ["tools", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8"] {
        assert_eq!(planner.request(1)["evidence"][name], json!([]), "{name}");
    }
    let evidence = planner.request(2)["evidence"].clone();
    assert_eq!(evidence["tools"][0]["count"], 1);
    assert_eq!(evidence["tools"][0]["failed"], 1);
    for name in ["q1", "q2", "q5"] {
        assert_eq!(evidence[name].as_array().unwrap().len(), 1, "{name}");
        assert_eq!(evidence[name][0]["exit_code"], 3, "{name}");
    }
}

/// A verification does not cover later changes.
#[test]
fn changes_after_verification_are_verified_again() {
    let verify = json!({"type": "verify", "request": {}});
    let add = |path: &str| {
        json!({"type": "mutate_batch", "request": {"edits": [
            {"op": "create", "path": path, "contents": "fn heron() -> u32 { \"grey\" }\n"}]}})
    };
    let planner = Scripted::new([
        actions(json!([verify, add("src/main.rs")])),
        actions(json!([{"type": "mutate_batch", "request": {"edits": [
            {"op": "write", "path": "src/main.rs", "contents": "fn main() {}\n"}]}}])),
    ]);
    cargo_project(&planner.home, "");
    let ended = planner.ends(planner.run([]), 0);
    assert_eq!(
        ended.actions(1),
        ["verify: succeeded", "mutate_batch: succeeded", "verify_gate: failed"]
    );
    assert_eq!(ended.detail()["verified"], true);
}

#[test]
fn a_folder_of_plans_is_played_in_order() {
    let planner = Scripted::new([]);
    let folder = planner.home.path().join("plans");
    fs::create_dir(&folder).unwrap();
    for (name, command) in [("1.json", "exit 3"), ("2.json", "echo blue > a.txt")] {
        let plan = json!({"goal": "g", "steps": [{"command": command}]});
        fs::write(folder.join(name), plan.to_string()).unwrap();
    }
    // The path is relative to the current folder of the loop, not to the workspace.
    let words =
        ["loop", "--goal", "g", "--planner", "replay:plans", "--workspace", "space", "--yes"];
    let document = planner.home.json(words).exits(0).document();
    assert_eq!(document["stop_reason"]["code"], "completed");
    assert_eq!(document["attempts"].as_array().unwrap().len(), 2);
    assert!(planner.home.file("a.txt").exists());
    // The planner fails once its folder has no more plans.
    fs::remove_file(folder.join("2.json")).unwrap();
    let reason = &planner.home.json(words).exits(1).document()["stop_reason"];
    assert_eq!(reason["code"], "planner_rejected_non_retryable");
    assert_eq!(reason["detail"]["planner_failure_code"], "planner_unavailable");
    assert_eq!(reason["detail"]["attempt"], 2);
}
