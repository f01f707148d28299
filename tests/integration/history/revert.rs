//! `revert` (SPEC §11).

use std::fs;

use serde_json::{Value, json};

use crate::harness::create_file;
use crate::harness::home::Home;
use crate::harness::write_file;

/// Runs these steps and returns the id of the run.
fn ran(home: &Home, steps: Value) -> String {
    home.plan(steps);
    let done = home.json(["run", "space/p.json", "--yes"]).exits(0).document();
    done["run_id"].as_str().unwrap().to_owned()
}

fn text(home: &Home, name: &str) -> Option<String> {
    fs::read_to_string(home.file(name)).ok()
}

#[test]
fn revert_is_shown_run_and_linked() {
    let home = Home::new();
    home.write("a.txt", "one\n");
    let run_id =
        ran(&home, json!([write_file("w", "a.txt", "two\n"), create_file("c", "new.txt", "n\n")]));
    let asked = home.json(["revert", &run_id]).exits(3);
    assert_eq!(asked.error_code(), "E002");
    let shown = asked.document()["error"]["details"].clone();
    assert_eq!(shown["valid"], true);
    let diff = shown["diff"].as_str().unwrap();
    assert!(diff.contains("-two\n+one\n") && diff.contains("+++ /dev/null"), "{diff}");
    let same = home.json(["revert", &run_id]).document()["error"]["details"]["digest"].clone();
    assert_eq!(same, shown["digest"], "the plan is always the same");
    let people = home.run(["revert", &run_id]).exits(3);
    assert!(people.stdout.contains("-two") && people.stdout.contains("2 files"), "{people:#?}");
    assert_eq!(text(&home, "a.txt").as_deref(), Some("two\n"), "nothing ran so far");

    let other = format!("sha256:{}", "0".repeat(64));
    assert_eq!(home.json(["revert", &run_id, "--authorize", &other]).exits(3).error_code(), "E004");
    let digest = shown["digest"].as_str().unwrap();
    let done = home
        .json(["revert", &run_id, "--authorize", digest, "--confirm", "approve"])
        .exits(0)
        .document();
    assert_eq!(text(&home, "a.txt").as_deref(), Some("one\n"));
    assert!(!home.file("new.txt").exists());
    let reverted = done["run_id"].as_str().unwrap();
    let record = home.json(["evidence", "show", reverted]).exits(0).document();
    assert_eq!(record["run"]["parent_run"], run_id.as_str());
    assert!(record.to_string().contains("history"), "{record}");

    let twice = home.json(["revert", &run_id, "--yes", "--confirm", "approve"]).exits(1).document();
    assert_eq!(twice["step_results"][0]["error_code"], "E101");
    let again = home.run(["revert", reverted, "--yes", "--confirm", "approve"]).exits(0);
    assert!(again.stderr.contains(&format!("Reverts run {reverted}")), "{again:#?}");
    assert_eq!(text(&home, "a.txt").as_deref(), Some("two\n"));
    assert_eq!(text(&home, "new.txt").as_deref(), Some("n\n"));
    home.json(["evidence", "verify"]).exits(0);
}

#[test]
fn one_step_is_reverted_by_its_execution() {
    let home = Home::new();
    home.plan(json!([create_file("c", "a.txt", "a\n"), create_file("d", "b.txt", "b\n")]));
    let done = home.json(["run", "space/p.json", "--yes"]).exits(0).document();
    let id = done["step_results"][0]["execution_id"].as_str().unwrap();
    home.json(["revert", id, "--yes", "--confirm", "approve"]).exits(0);
    assert!(!home.file("a.txt").exists() && home.file("b.txt").exists());
}

#[test]
fn later_work_by_hand_is_kept_and_shown() {
    let home = Home::new();
    home.write("a.txt", "one\n");
    let run_id = ran(&home, json!([write_file("w", "a.txt", "two\n")]));
    home.write("a.txt", "two\nby hand\n");
    let asked = home.run(["revert", &run_id]).exits(3);
    assert!(asked.stdout.contains("Would fail: a.txt was changed later"), "{asked:#?}");
    assert!(asked.stdout.contains("+by hand"), "{asked:#?}");
    let failed =
        home.json(["revert", &run_id, "--yes", "--confirm", "approve"]).exits(1).document();
    assert_eq!(failed["step_results"][0]["error_code"], "E311");
    assert_eq!(text(&home, "a.txt").as_deref(), Some("two\nby hand\n"));
}

#[test]
fn secret_content_comes_back_only_with_key() {
    let home = Home::new();
    let secret = "token = ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789\n";
    home.write("a.txt", secret);
    let run_id = ran(&home, json!([write_file("w", "a.txt", "none\n")]));
    let key = home.path().join(".config/countersign");
    let aside = home.path().join("aside");
    fs::rename(&key, &aside).unwrap();
    let asked = home.json(["revert", &run_id]).exits(3).document();
    let findings = asked["error"]["details"]["findings"].to_string();
    assert!(findings.contains("the earlier content of a.txt is not available"), "{findings}");
    // The kept head was written with the key too.
    let refused = home.json(["revert", &run_id, "--yes", "--confirm", "approve"]).exits(4);
    assert_eq!(refused.error_code(), "E401");
    home.run(["evidence", "accept-head", "--reason", "another key"]).exits(0);
    let failed =
        home.json(["revert", &run_id, "--yes", "--confirm", "approve"]).exits(1).document();
    let message = failed["step_results"][0]["error_message"].as_str().unwrap();
    assert!(message.contains("a.txt is not available") && message.contains("key"), "{message}");
    assert_eq!(text(&home, "a.txt").as_deref(), Some("none\n"));
    fs::remove_dir_all(&key).unwrap();
    // Restoring the key's folder also restores the copy of the head beside it.
    fs::rename(&aside, &key).unwrap();
    home.json(["revert", &run_id, "--yes", "--confirm", "approve"]).exits(0);
    assert_eq!(text(&home, "a.txt").as_deref(), Some(secret));
}

#[test]
fn effects_of_commands_are_reported_as_kept() {
    let home = Home::new();
    let plan = json!({ "goal": "g", "steps": [{ "command": "echo hi > made.txt" }] });
    let file = home.write("c.json", plan.to_string());
    let file = file.to_str().unwrap();
    let done = home.json(["run", file, "--yes", "--confirm", "approve"]).exits(0).document();
    let asked = home.run(["revert", done["run_id"].as_str().unwrap()]).exits(3);
    assert!(asked.stdout.contains("Step 1 ran a program"), "{asked:#?}");
    assert!(asked.stdout.contains("echo hi > made.txt"), "{asked:#?}");
    assert!(asked.stdout.contains("changed no file that is recorded"), "{asked:#?}");
    home.json(["revert", done["run_id"].as_str().unwrap(), "--yes", "--confirm", "approve"])
        .exits(1);
    assert!(home.file("made.txt").exists());
}

#[test]
fn unknown_run_cannot_be_reverted() {
    let home = Home::new();
    ran(&home, json!([create_file("c", "a.txt", "a\n")]));
    let unknown = "00000000-0000-4000-8000-000000000000";
    let refused = home.json(["revert", unknown, "--yes"]).exits(5);
    assert!(refused.stderr.contains("neither a run nor an execution"), "{refused:#?}");
    assert_eq!(refused.error_code(), "E014");
    home.json(["revert", "not-an-id"]).exits(5);
    assert!(home.file("a.txt").exists());
}
