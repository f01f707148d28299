//! `run`: authorization, confirmation flags, results, exit codes (SPEC §2, §3, §11).

use std::fs;

use serde_json::{Value, json};

use crate::harness::home::{Done, Home, keys};
use crate::harness::{asking, create_file, read_file};

fn digest(home: &Home) -> String {
    let document = home.json(["check", "space/p.json"]).document();
    document["digest"].as_str().unwrap().to_owned()
}

fn outcomes(document: &Value) -> Vec<&str> {
    let results = document["step_results"].as_array().unwrap();
    results.iter().map(|result| result["outcome"].as_str().unwrap()).collect()
}

/// Whether the evidence has a run.
fn has_run(home: &Home) -> bool {
    !home.json(["evidence", "search"]).exits(0).stdout.is_empty()
}

#[test]
fn a_completed_run_prints_its_result() {
    let home = Home::new();
    home.write("a.txt", "hello\n");
    home.plan(json!([read_file("look", "a.txt"), create_file("make", "b.txt", "new\n")]));
    let done = home.json(["run", "space/p.json", "--yes"]).exits(0);
    let document = done.document();
    assert_eq!(
        keys(&document),
        ["elapsed_ms", "plan_id", "run_id", "status", "step_results", "total_duration_ms"]
    );
    assert_eq!(document["status"], "completed");
    assert_eq!(document["plan_id"], "p");
    assert_eq!(outcomes(&document), ["succeeded", "succeeded"]);
    let first = &document["step_results"][0];
    for key in [
        "step_id",
        "step_index",
        "tool_name",
        "success",
        "outcome",
        "execution_id",
        "exit_code",
        "stdout",
        "stderr",
        "stdout_bytes",
        "stdout_truncated",
        "stderr_bytes",
        "stderr_truncated",
        "error_message",
        "error_code",
        "duration_ms",
        "diagnostic_artifacts",
    ] {
        assert!(first.get(key).is_some(), "{key} is missing");
    }
    assert_eq!(first["stdout"], "hello\n");
    assert_eq!(first["success"], true);
    assert!(first["exit_code"].is_null(), "no process ran");
    assert_eq!(fs::read_to_string(home.file("b.txt")).unwrap(), "new\n");
    assert_eq!(done.stderr, "", "with --json there is nothing to say beside the document");
}

#[test]
fn run_prints_steps_and_a_table() {
    let home = Home::new();
    home.write("a.txt", "hello\n");
    home.plan(json!([read_file("look", "a.txt"), read_file("miss", "absent\u{1b}[31m.txt")]));
    let done = home.run(["run", "space/p.json", "--yes"]).exits(1);
    assert!(done.stderr.contains("Step 2 of 2: file_read absent⟨ESC⟩[31m.txt"), "{done:#?}");
    assert!(done.stdout.contains("Failed: 2 of 2 steps"), "{done:#?}");
    assert!(done.stdout.contains("Step 2: E301 "), "{done:#?}");
    assert!(!done.stdout.contains('\u{1b}') && !done.stderr.contains('\u{1b}'), "{done:#?}");
}

#[test]
fn plan_needs_authorization_of_its_bytes() {
    let home = Home::new();
    home.plan(json!([create_file("make", "b.txt", "new\n")]));
    let digest = digest(&home);

    let neither = home.json(["run", "space/p.json"]).exits(3);
    assert_eq!(neither.error_code(), "E002");

    let other = format!("sha256:{}", "0".repeat(64));
    let stale = home.json(["run", "space/p.json", "--authorize", &other]).exits(3);
    assert_eq!(stale.error_code(), "E004");
    let changes = &stale.document()["error"]["details"]["changes"];
    assert_eq!(changes[0]["now"], digest);
    assert_eq!(changes[0]["approved"], other);

    assert!(!home.file("b.txt").exists() && !has_run(&home), "nothing ran so far");
    home.json(["run", "space/p.json", "--authorize", &digest]).exits(0);
    assert!(home.file("b.txt").exists());

    // One more byte changes the digest.
    let mut bytes = fs::read(home.file("p.json")).unwrap();
    bytes.push(b'\n');
    home.write("p.json", bytes);
    let stale = home.json(["run", "space/p.json", "--authorize", &digest]).exits(3);
    assert_eq!(stale.error_code(), "E004");
}

#[test]
fn an_invalid_plan_is_refused_with_its_findings() {
    let home = Home::new();
    for (contents, code) in [
        ("", "E001"),
        (
            "{\"plan_id\":\"p\",\"intent\":\"MUTATE\",\"steps\":[{\"tool\":\"rm\",\"arguments\":{}}]}",
            "E201",
        ),
        (
            "{\"plan_id\":\"p\",\"intent\":\"MUTATE\",\"steps\":[{\"tool\":\"file_read\",\"arguments\":{}}]}",
            "E202",
        ),
        (
            "{\"plan_id\":\"p\",\"intent\":\"MUTATE\",\"steps\":[{\"tool\":\"file_read\",\"arguments\":{\"path\":\"/etc/passwd\"}}]}",
            "E204",
        ),
        (
            "{\"plan_id\":\"p\",\"intent\":\"MUTATE\",\"x\":1,\"steps\":[{\"tool\":\"rm\",\"arguments\":{}}]}",
            "E001",
        ),
    ] {
        home.write("p.json", contents);
        let done = home.json(["run", "space/p.json", "--yes"]).exits(2);
        assert_eq!(done.error_code(), code, "{contents}");
        let document = done.document();
        let findings = document["error"]["details"]["findings"].as_array().unwrap();
        assert!(!findings.is_empty(), "{contents}");
        assert!(findings.iter().all(|it| it["line"].as_u64() >= Some(1)), "{contents}");
    }
    for path in ["space/absent.json", "space"] {
        let done = home.json(["run", path, "--yes"]).exits(2);
        assert_eq!(done.document()["error"]["details"]["findings"][0]["line"], 1);
    }
    assert!(!home.evidence().exists(), "what cannot be authorized leaves no authorization");
    let people = home.run(["run", "space/p.json", "--yes"]).exits(2);
    assert!(people.stdout.is_empty() && people.stderr.contains("E201"), "{people:#?}");
}

#[test]
fn a_failed_step_ends_the_run_with_one() {
    let home = Home::new();
    home.plan(json!([read_file("miss", "absent.txt"), create_file("never", "b.txt", "x")]));
    let document = home.json(["run", "space/p.json", "--yes"]).exits(1).document();
    assert_eq!(document["status"], "failed");
    assert_eq!(outcomes(&document), ["failed"]);
    assert_eq!(document["step_results"][0]["error_code"], "E301");
    assert!(!home.file("b.txt").exists());
}

#[test]
fn confirm_flag_answers_and_is_recorded() {
    for (arguments, exit, status, expected, decision, note) in [
        (
            &["--confirm", "approve"][..],
            0,
            "completed",
            "succeeded",
            "approve",
            "--confirm approve",
        ),
        (&["--confirm", "skip"], 0, "completed", "skipped", "skip", "--confirm skip"),
        (&["--confirm", "cancel"], 1, "failed", "denied", "cancel", "--confirm cancel"),
        (&[], 1, "failed", "denied", "cancel", "no terminal to ask on"),
    ] {
        let home = Home::new();
        home.plan(json!([asking(create_file("make", "b.txt", "x"))]));
        let line = ["run", "space/p.json", "--yes"].into_iter().chain(arguments.iter().copied());
        let document = home.json(line).exits(exit).document();
        assert_eq!(document["status"], status);
        assert_eq!(outcomes(&document), [expected]);
        assert_eq!(home.file("b.txt").exists(), expected == "succeeded");
        let id = document["step_results"][0]["execution_id"].as_str().unwrap();
        let detail = home.json(["evidence", "show", id]).exits(0).document();
        let decisions = detail["decisions"].as_array().unwrap();
        let authorized = decisions.iter().find(|it| it["decision"] == "authorize").unwrap();
        assert!(authorized["by"].as_str().unwrap().contains("command_line_yes"), "{authorized}");
        let answer = decisions.iter().find(|it| it["decision"] == decision).unwrap();
        assert!(answer["by"].as_str().unwrap().starts_with("command_line"), "{answer}");
        assert_eq!(answer["note"], note);
        // An approval is no reason for what followed.
        let words = if expected == "succeeded" { json!(null) } else { json!(note) };
        assert_eq!(document["step_results"][0]["note"], words);
    }
}

#[test]
fn the_last_line_tells_a_skip_and_a_denial_from_a_success_and_a_failure() {
    for (confirm, exit, line) in [
        ("skip", 0, "Completed, nothing ran: 1 skipped of 1 steps in "),
        ("cancel", 1, "Denied: 1 of 1 steps in "),
    ] {
        let home = Home::new();
        home.plan(json!([asking(create_file("make", "b.txt", "x"))]));
        let done = home.run(["run", "space/p.json", "--yes", "--confirm", confirm]).exits(exit);
        assert!(done.stdout.contains(line), "{done:#?}");
        let id = done.stdout.lines().find_map(|line| line.split(", run ").nth(1)).unwrap();
        let shown = home.run(["evidence", "show", id]).exits(0).stdout;
        let id = shown.lines().last().unwrap().split_whitespace().last().unwrap();
        let shown = home.run(["evidence", "show", id]).exits(0).stdout;
        assert!(shown.contains("Asked") && !shown.contains("Started"), "{shown}");
        assert!(!shown.contains("Walls") && !shown.contains("Duration"), "{shown}");
    }
}

/// `--yes` answers no confirmation.
#[test]
fn only_approve_answers_dangerous_steps() {
    let home = Home::new();
    fs::create_dir(home.file(".git")).unwrap();
    home.write("build.rs", "fn main() {}\n");
    home.plan(
        json!([{"tool": "file_write", "arguments": {"path": ".git/config", "contents": "x"}}]),
    );
    let checked = home.json(["check", "space/p.json"]).exits(0).document();
    assert_eq!(checked["risk"]["worst"], "dangerous", "{checked:#}");

    let document = home.json(["run", "space/p.json", "--yes"]).exits(1).document();
    assert_eq!(document["step_results"][0]["error_code"], "E106");
    let approve = ["run", "space/p.json", "--yes", "--confirm", "approve"];
    assert_eq!(outcomes(&home.json(approve).exits(0).document()), ["succeeded"]);
}

#[test]
fn confirm_ask_needs_a_terminal() {
    let home = Home::new();
    home.plan(json!([asking(create_file("make", "b.txt", "x"))]));
    let mut command = home.command();
    command.args(["run", "space/p.json", "--yes", "--confirm", "ask"]).write_stdin("approve\n");
    Done::of(&mut command).exits(5);
    assert!(!home.file("b.txt").exists(), "a pipe is not a person");
}

#[test]
fn without_evidence_nothing_runs() {
    let home = Home::new();
    home.plan(json!([create_file("make", "b.txt", "x")]));
    fs::write(home.evidence(), "not a folder").unwrap();
    let done = home.json(["run", "space/p.json", "--yes"]).exits(4);
    assert_eq!(done.error_code(), "E401");
    assert!(!home.file("b.txt").exists());
}

#[test]
fn broken_evidence_stops_the_run_with_results() {
    let home = Home::new();
    home.write("a.txt", "hello\n");
    home.plan(json!([read_file("look", "a.txt"), create_file("make", "b.txt", "x")]));
    let first = home.json(["run", "space/p.json", "--yes"]).exits(0).document();
    assert_eq!(outcomes(&first), ["succeeded", "succeeded"]);
    fs::remove_file(home.file("b.txt")).unwrap();
    fs::write(home.evidence().join("execution_log.broken"), "intents").unwrap();

    let done = home.json(["run", "space/p.json", "--yes"]).exits(4);
    assert_eq!(done.error_code(), "E401");
    let details = &done.document()["error"]["details"];
    assert!(details["run_id"].is_string());
    assert_eq!(outcomes(details), ["succeeded"]);
    assert!(!home.file("b.txt").exists(), "no evidence, no execution");
    let people = home.run(["run", "space/p.json", "--yes"]).exits(4);
    assert!(people.stdout.contains("succeeded  file_read"), "{people:#?}");
}

#[test]
fn window_settings_apply_on_the_command_line() {
    let home = Home::new();
    home.write("a.txt", "hello\n");
    home.plan(json!([read_file("look", "a.txt")]));
    home.settings("zoom = 1.5\n[policy]\nconfirm_tools = [\"file_read\"]\n");
    let document = home.json(["run", "space/p.json", "--yes"]).exits(1).document();
    assert_eq!(outcomes(&document), ["denied"]);
    for text in ["[policy]\nconfirm_tolls = []\n", "[policy]\nauthorization_minutes = 0\n", "no"] {
        home.settings(text);
        let done = home.json(["run", "space/p.json", "--yes"]).exits(5);
        assert!(done.stderr.contains("settings.toml"), "{done:#?}");
        let _ = home.json(["check", "space/p.json"]).exits(5);
    }
}

#[test]
fn evidence_defaults_to_the_user_folder() {
    let home = Home::new();
    home.plan(json!([create_file("make", "b.txt", "x")]));
    let mut command = home.command();
    command.args(["run", "space/p.json", "--yes", "--json"]);
    let document = Done::of(&mut command).exits(0).document();
    let id = document["run_id"].as_str().unwrap();
    let mut command = home.command();
    command.args(["evidence", "show", id, "--json"]);
    let shown = Done::of(&mut command).exits(0).document();
    assert_eq!(shown["run"]["run_id"], id);
}

/// Another process runs a plan in the same workspace: that is a warning and no error.
#[cfg(unix)]
#[test]
fn run_beside_another_one_warns() {
    let home = Home::new();
    home.write("a.txt", "hello\n");
    let (gate, begun) = (home.file("gate"), home.file("begun"));
    rustix::fs::mkfifoat(rustix::fs::CWD, &gate, 0o600.into()).unwrap();
    let slow = json!({ "goal": "Wait", "steps": [{ "command": "echo > begun; cat gate" }] });
    let slow = home.write("slow.json", slow.to_string());
    home.plan(json!([read_file("look", "a.txt")]));
    let quiet = home.run(["check", "space/p.json"]).exits(0);
    assert!(!quiet.stdout.contains("Another run"), "{quiet:#?}");

    let mut first = home
        .child(["run", "--yes", "--confirm", "caution", slow.to_str().unwrap()])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    while !begun.exists() {
        assert!(first.try_wait().unwrap().is_none(), "it ended before its command began");
        std::thread::yield_now();
    }
    let warning = "Warning: Another run is under way in this workspace (Wait), and may change the same files.";
    let checked = home.run(["check", "space/p.json"]).exits(0);
    assert!(checked.stdout.contains(warning), "{checked:#?}");
    let document = home.json(["check", "space/p.json"]).exits(0).document();
    assert_eq!(document["other_runs"][0]["plan_name"], "Wait");
    let done = home.json(["run", "space/p.json", "--yes"]).exits(0);
    assert!(done.stderr.contains(warning), "{done:#?}");
    let planned =
        home.run(["loop", "--goal", "g", "--planner", "false", "--workspace", "space"]).exits(1);
    assert!(planned.stderr.contains(warning), "{planned:#?}");
    std::fs::write(&gate, "open\n").unwrap();
    assert!(first.wait().unwrap().success());
    let document = home.json(["check", "space/p.json"]).exits(0).document();
    assert!(document.get("other_runs").is_none(), "{document}");
}
