//! What the plans of a loop cannot change, and its checkpoints (SPEC §9, §10).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use countersign::authorization::{AuthorizationClass, ForAttempt, Method};
use countersign::evidence::{AttemptStart, Entry, LoopStart};
use countersign::plan::{Digest, RiskLevel};
use countersign::run::LookScope;
use serde_json::json;
use uuid::Uuid;

use crate::harness::restore;
use crate::harness::scripted_planner::{Answer, Scripted, actions, cargo_project, class, command};
use crate::harness::{Harness, NOW_MS, plan, write_file};

const FILE: &str = "countersign.toml";
const VERIFY: &str = "[verify.local]\ncommand = \"test -f heron.txt\"\n";

fn edits(edits: serde_json::Value) -> Answer {
    actions(json!([{"type": "mutate_batch", "request": {"edits": edits}}]))
}

fn heron() -> Answer {
    edits(json!([{"op": "create", "path": "heron.txt", "contents": "grey"}]))
}

#[test]
fn untrusted_commands_end_a_loop_unchanged() {
    let planner = Scripted::new([heron()]);
    planner.home.write(FILE, VERIFY);
    let ended = planner.ends(planner.run([]), 3);
    assert_eq!(ended.code(), "not_authorized");
    let digest = Digest::of(VERIFY.as_bytes()).to_string();
    let message = ended.document["stop_reason"]["message"].as_str().unwrap();
    assert!(message.contains("not trusted") && message.contains(&digest), "{message}");
    assert_eq!(planner.request_count(), 0);
    assert!(!planner.home.file("heron.txt").exists());

    // The text output names the commands and the command line that trusts them.
    let words = planner.words(["--yes"]);
    let done = planner.home.run(words.iter().map(String::as_str)).exits(3);
    assert!(done.stderr.contains("verify.local (safe): test -f heron.txt"), "{done:#?}");
    assert!(done.stderr.contains(&format!("loop --trust-commands {digest}")), "{done:#?}");

    let other = Digest::of(b"other").to_string();
    let refused = planner.run(["--trust-commands", &other]).exits(3);
    assert_eq!(refused.document()["error"]["code"], "E004");

    let ended = planner.ends(planner.run(["--trust-commands", &digest]), 0);
    assert_eq!(ended.code(), "completed");
    assert_eq!(ended.detail()["verified"], true);
    assert_eq!(ended.actions(1), ["mutate_batch: succeeded", "verify_gate: succeeded"]);
}

/// Access granted to every plan of a workspace also applies to the loop's own verification.
#[test]
fn workspace_grants_apply_to_the_verification() {
    let planner = Scripted::new([heron(), heron()]);
    let other = planner.home.path().join("other");
    fs::create_dir(&other).unwrap();
    let verify = format!("[verify.local]\ncommand = \"touch {}/verified\"\n", other.display());
    planner.home.write(FILE, &verify);
    let digest = Digest::of(verify.as_bytes()).to_string();
    let run = || planner.run(["--trust-commands", &digest, "--max-attempts", "1"]);
    let ended = planner.ends(run(), 1);
    assert_eq!(ended.actions(1), ["mutate_batch: succeeded", "verify_gate: failed"]);
    let allow = format!("write={}", other.display());
    let _ = planner.home.json(["walls", "--workspace", "space", "--allow", &allow]).exits(0);
    fs::remove_file(planner.home.file("heron.txt")).unwrap();
    let ended = planner.ends(run(), 0);
    assert_eq!(ended.detail()["verified"], true);
    assert!(other.join("verified").exists());
}

/// Without its file of commands, this workspace has no verification.
#[test]
fn plan_cannot_choose_its_verification() {
    let digest = Digest::of(VERIFY.as_bytes()).to_string();
    let rename = edits(json!([{"op": "rename", "path": FILE, "to": "away.toml"}]));
    let empty = edits(json!([{"op": "write", "path": FILE, "contents": ""}]));
    for plan in [command("rm countersign.toml"), rename, empty] {
        let planner = Scripted::new([plan]);
        planner.home.write(FILE, VERIFY);
        planner.without_walls();
        let words = ["--trust-commands", &digest, "--confirm", "approve"];
        let ended = planner.ends(planner.run(words), 3);
        assert_eq!(ended.code(), "not_authorized");
        let message = ended.document["stop_reason"]["message"].as_str().unwrap();
        assert!(message.contains("is not as it was when the loop began"), "{message}");
        assert_eq!(ended.detail()["action_index"], 1);
    }
    // After a failed plan that changed the verification, no further plan is requested.
    let planner =
        Scripted::new([command("rm countersign.toml; exit 3"), command("touch late.txt")]);
    cargo_project(&planner.home, "");
    planner.home.write(FILE, VERIFY);
    planner.without_walls();
    let words = ["--trust-commands", &digest, "--confirm", "approve"];
    let ended = planner.ends(planner.run(words), 3);
    assert_eq!((ended.code(), planner.request_count()), ("not_authorized", 1));
    // Without a required verification, a plan may change it.
    let planner = Scripted::new([command("rm countersign.toml")]);
    planner.home.write(FILE, VERIFY);
    planner.without_walls();
    let words = ["--verify", "none", "--confirm", "approve"];
    let ended = planner.ends(planner.run(words), 0);
    assert_eq!(ended.detail()["verified"], false);
}

#[test]
fn writing_the_commands_file_is_dangerous() {
    for edit in [
        json!({"op": "create", "path": FILE, "contents": VERIFY}),
        json!({"op": "rename", "path": "a", "to": FILE}),
    ] {
        let planner = Scripted::new([edits(json!([edit]))]);
        planner.home.write("a", VERIFY);
        let ended = planner.ends(planner.run(["--verify", "none", "--confirm", "cancel"]), 1);
        assert_eq!(ended.code(), "operator_stopped");
        assert!(!planner.home.file(FILE).exists());
    }
}

/// Another process revokes the class while a step runs.
#[test]
fn revoked_class_does_not_authorize_verification() {
    // A second process revokes it, because the plan cannot reach the evidence from behind its walls.
    let planner =
        Scripted::new([command("touch begun; until [ -e revoked ]; do sleep 0.05; done")]);
    cargo_project(&planner.home, "");
    let file = planner.home.write("class.json", class(json!({})));
    let words =
        planner.words(["--authorize-class", file.to_str().unwrap(), "--json", "--evidence"]);
    let mut command = planner.home.command();
    command.args(words).arg(planner.home.evidence());
    let [begun, revoked] = ["begun", "revoked"].map(|name| planner.home.file(name));
    let done = planner.revoking(command, &begun, &revoked);
    let ended = planner.ends(done, 3);
    assert_eq!(ended.code(), "not_authorized", "{:#}", ended.document);
    let message = ended.document["stop_reason"]["message"].as_str().unwrap();
    assert!(message.contains("verification") && message.contains("was revoked"), "{message}");
    assert_eq!(ended.actions(1), ["shell: succeeded"]);
}

fn in_a_loop(
    harness: &Harness,
    loop_id: Uuid,
    attempt_id: Uuid,
    class_id: Uuid,
    max_risk: RiskLevel,
) {
    let class = AuthorizationClass {
        tools: vec!["file_write".to_owned()],
        paths: vec![".".to_owned()],
        hosts: Vec::new(),
        max_risk,
        max_attempts: 1,
        expires_at: "9999-01-01T00:00:00Z".to_owned(),
        needs: Default::default(),
    };
    let mut store = harness.store();
    let started_at_ms = NOW_MS;
    store.record_class(class_id, &class, Method::CommandLine, started_at_ms).unwrap();
    let workspace = fs::canonicalize(harness.workspace()).unwrap();
    let begun = store.commit(&Entry::LoopStart(LoopStart {
        loop_id,
        goal: "g",
        planner: "p",
        workspace: workspace.to_str().unwrap(),
        max_attempts: 1,
        verify: "none",
        class_id: Some(class_id),
        looks: LookScope::Workspace,
        target: None,
        started_at_ms,
    }));
    begun.unwrap();
    let (attempt, max_attempts) = (1, 1);
    let start = AttemptStart { attempt_id, loop_id, attempt, max_attempts, started_at_ms };
    store.commit(&Entry::AttemptStart(start)).unwrap();
}

/// The file becomes executable before its step runs, which is more than the class allows.
#[test]
fn step_grown_beyond_its_class_is_refused() {
    for (max_risk, code) in [(RiskLevel::Caution, Some("E004")), (RiskLevel::Dangerous, None)] {
        let harness = Harness::with(&[("tool", "old")]);
        let [loop_id, attempt_id, class_id] = [(); 3].map(|()| Uuid::new_v4());
        in_a_loop(&harness, loop_id, attempt_id, class_id, max_risk);
        let mut approved = harness.authorize(&plan([write_file("a", "tool", "new")]));
        approved.authorization = approved.authorization.for_attempt(ForAttempt {
            loop_id,
            goal: "g".to_owned(),
            attempt_id,
            attempt: 1,
            class_id: Some(class_id),
            max_risk: Some(max_risk),
            note: String::new(),
        });
        let program = fs::Permissions::from_mode(0o755);
        fs::set_permissions(harness.path("tool"), program).unwrap();
        let ran = harness.execute(approved);
        assert_eq!(ran.codes(), [code]);
        // Within the class, a person may still be asked.
        assert_eq!(ran.callbacks.confirmation_requests().len(), usize::from(code.is_none()));
        let content = if code.is_none() { "new" } else { "old" };
        assert_eq!(harness.content("tool").unwrap(), content);
    }
}

/// A project without its manifest cannot be verified.
#[test]
fn removed_verification_is_not_passed() {
    let away = edits(json!([{"op": "rename", "path": "Cargo.toml", "to": "away.toml"}]));
    let back = edits(json!([{"op": "rename", "path": "away.toml", "to": "Cargo.toml"}]));
    let planner = Scripted::new([away, back]);
    cargo_project(&planner.home, "");
    let ended = planner.ends(planner.run([]), 0);
    assert_eq!(ended.actions(1), ["mutate_batch: succeeded", "verify_gate: failed"]);
    assert_eq!(planner.request(2)["last_attempt"]["outcome"], "verify_failed");
    assert_eq!((ended.code(), &ended.detail()["verified"]), ("completed", &json!(true)));
}

#[test]
fn weaker_verification_is_repeated() {
    let with = |words: &[&str], after: &[serde_json::Value]| {
        let verify = json!({"type": "verify", "request": {"scope": "local"}});
        let mut all = vec![verify];
        all.extend(after.iter().cloned());
        let planner = Scripted::new([actions(json!(all))]);
        cargo_project(&planner.home, "");
        fs::write(planner.home.file("src/main.rs"), "fn main() {}\n").unwrap();
        let ended = planner.ends(planner.run(words.iter().copied()), 0);
        assert_eq!(ended.detail()["verified"], true);
        ended
    };
    assert_eq!(with(&[], &[]).actions(1), ["verify: succeeded"]);
    let full = with(&["--verify", "full"], &[]);
    assert_eq!(full.actions(1), ["verify: succeeded", "verify_gate: succeeded"]);
    assert_eq!(full.attempts()[0]["verify"]["scope"], "full");
    // A program that runs later can change what was verified.
    let run = json!({"type": "run", "request": {}});
    let ran = with(&[], &[run]);
    assert_eq!(ran.actions(1), ["verify: succeeded", "run: succeeded", "verify_gate: succeeded"]);
}

#[test]
fn verification_risk_is_checked_against_class_first() {
    for (max_risk, exit) in [("safe", 3), ("caution", 1)] {
        let planner =
            Scripted::new([Answer::Plan(json!({"plan_id": "p", "intent": "READ", "steps": [
            {"tool": "file_read", "arguments": {"path": "src/lib.rs"}}]}))]);
        cargo_project(&planner.home, "");
        let class = class(json!({"tools": ["file_read"], "max_risk": max_risk}));
        let file = planner.home.write("class.json", class);
        let words = ["--max-attempts", "1", "--authorize-class", file.to_str().unwrap()];
        let ended = planner.ends(planner.run_as(words), exit);
        let message = ended.document["stop_reason"]["message"].as_str().unwrap();
        assert_eq!(
            message.contains("the risk caution of the verification"),
            exit == 3,
            "{message}"
        );
        assert_eq!(ended.attempts()[0]["run_id"].is_null(), exit == 3);
    }
}

#[test]
fn faulty_commands_are_reported_before_changes() {
    for (text, said) in [
        ("[verify.local]\ncomand = \"true\"\n", "has no command"),
        ("[verify.local]\ncommand = \"rm -rf /\"\n", "blocked"),
    ] {
        let planner = Scripted::new([heron()]);
        planner.home.write(FILE, text);
        let digest = Digest::of(text.as_bytes()).to_string();
        let ended = planner.ends(planner.run(["--trust-commands", &digest]), 3);
        assert_eq!(ended.code(), "not_authorized");
        let message = ended.document["stop_reason"]["message"].as_str().unwrap();
        assert!(message.contains(said), "{message}");
        assert_eq!(planner.request_count(), 0);
    }
}

/// A file that is unreadable both times may have changed.
#[test]
fn unreadable_commands_do_not_count_as_unchanged() {
    let planner = Scripted::new([heron()]);
    cargo_project(&planner.home, "");
    fs::create_dir(planner.home.file(FILE)).unwrap();
    let ended = planner.ends(planner.run([]), 3);
    assert_eq!(ended.code(), "not_authorized");
    let message = ended.document["stop_reason"]["message"].as_str().unwrap();
    assert!(message.contains("cannot be read"), "{message}");
    assert!(!planner.home.file("heron.txt").exists());
}

#[test]
fn plan_writing_a_redaction_marker_is_rejected() {
    let copied = r#"
        marker=$(sed 's/.*\(\[secret:[a-z_]*:[0-9a-f]*\]\).*/\1/' < "$d/request$n")
        printf '{"version": "2026-02-19", "goal": "g", "actions": [{"type": "mutate_batch", "request": {"edits": [
            {"op": "create", "path": "a.txt", "contents": "%s"}]}}]}' "$marker"
    "#;
    let planner = Scripted::new([
        command("echo 'password=h3ron-of-the-marsh'; exit 3"),
        Answer::Script(copied),
        command("touch done.txt"),
    ]);
    let document = planner.run([]).exits(0).document();
    let answer = &document["attempts"][1]["planner"];
    assert_eq!(answer["failure_code"], "planner_validation_failed", "{answer:#}");
    assert!(answer["findings"][0]["message"].as_str().unwrap().contains("[secret:password:"));
    assert!(!planner.home.file("a.txt").exists());
}

/// A program of the plan removes the commands before the verification, and could restore them afterwards.
#[test]
fn program_of_plan_cannot_choose_verification() {
    let text = "[verify.local]\ncommand = \"false\"\n";
    let away = json!([
        {"type": "run", "request": {}},
        {"type": "verify", "request": {}}]);
    let planner = Scripted::new([actions(away)]);
    cargo_project(&planner.home, "");
    let main = "fn main() { std::fs::remove_file(\"countersign.toml\").unwrap(); }\n";
    planner.home.write("src/main.rs", main);
    planner.home.write(FILE, text);
    planner.without_walls();
    let digest = Digest::of(text.as_bytes()).to_string();
    let words = ["--trust-commands", &digest, "--confirm", "approve", "--max-attempts", "1"];
    let ended = planner.ends(planner.run(words), 1);
    assert_eq!(ended.code(), "verify_failed");
    assert_eq!(ended.actions(1), ["run: succeeded", "verify: failed"]);
    assert_eq!(ended.attempts()[0]["actions"][1]["error"]["details"]["code"], "E004");
}

/// Each attempt begins with a checkpoint that can be restored.
#[test]
fn attempt_checkpoint_restores_the_workspace() {
    let file = |name: &str, library: &str| {
        edits(json!([
            {"op": "create", "path": name, "contents": "grey"},
            {"op": "write", "path": "src/lib.rs", "contents": library}]))
    };
    let planner = Scripted::new([file("a.txt", "fn"), file("b.txt", "pub fn b() {}\n")]);
    cargo_project(&planner.home, "");
    let ended = planner.ends(planner.run([]), 0);
    assert_eq!(ended.attempts().len(), 2);
    let id = ended.document["loop_id"].as_str().unwrap();
    for (attempt, there, library) in [(2, [true, false], "fn"), (1, [false, false], "")] {
        let checkpoint = format!("loop:{id}:{attempt}");
        planner.home.write("back.json", restore(&checkpoint).to_string());
        let words = ["run", "space/back.json", "--yes", "--confirm", "approve"];
        planner.home.json(words).exits(0);
        let is_there = ["a.txt", "b.txt"].map(|name| planner.home.file(name).exists());
        assert_eq!(is_there, there);
        assert_eq!(fs::read_to_string(planner.home.file("src/lib.rs")).unwrap(), library);
    }
}
