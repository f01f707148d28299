//! `revert` (SPEC §11).

use std::fs;

use serde_json::{Value, json};

use crate::harness::create_file;
use crate::harness::home::Home;
use crate::harness::scripted_planner::{Scripted, actions, failure};
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
    assert_eq!(twice["step_results"][0]["next"], "Nothing is left to do.");
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
    let shown = home.run(["revert", id]).exits(3).stdout;
    let title = shown.lines().find(|line| line.contains("Revert step 1 of "));
    let title = title.unwrap_or_else(|| panic!("{shown}"));
    assert!(title.contains(": Create a.txt") && !title.contains(id), "{title}");
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
    assert!(findings.contains("The earlier content of a.txt is not available"), "{findings}");
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
    assert!(refused.stderr.contains("no run, execution or loop"), "{refused:#?}");
    assert_eq!(refused.error_code(), "E014");
    home.json(["revert", "not-an-id"]).exits(5);
    assert!(home.file("a.txt").exists());
}

/// A loop whose attempts create, change, move and delete files; the last one verifies. Returns its id.
fn looped(planner: &Scripted) -> String {
    planner.home.write("a.txt", "one\n");
    planner.home.write("old.txt", "old\n");
    let done = planner.run(["--max-attempts", "3", "--confirm", "approve"]).exits(0);
    done.document()["loop_id"].as_str().unwrap().to_owned()
}

fn three_attempts() -> Scripted {
    let batch = |edits: Value| json!({ "type": "mutate_batch", "request": { "edits": edits } });
    let missing = json!([{ "op": "delete", "path": "gone.txt" }]);
    Scripted::new([
        actions(json!([
            batch(json!([
                { "op": "write", "path": "a.txt", "contents": "two\n" },
                { "op": "create", "path": "new/made.txt", "contents": "made\n" },
            ])),
            batch(missing.clone()),
        ])),
        actions(json!([
            batch(json!([
                { "op": "replace", "path": "a.txt", "old": "two", "new": "three" },
                { "op": "delete", "path": "old.txt" },
                { "op": "rename", "path": "new/made.txt", "to": "moved.txt" },
            ])),
            batch(json!([{ "op": "delete", "path": "nothing.txt" }])),
        ])),
        actions(json!([batch(json!([
            { "op": "write", "path": "a.txt", "contents": "four\n" },
            { "op": "create", "path": "old.txt", "contents": "anew\n" },
        ]))])),
    ])
}

#[test]
fn whole_loop_is_reverted_by_one_plan() {
    let planner = three_attempts();
    let id = looped(&planner);
    let home = &planner.home;
    let names = |name: &str| text(home, name);
    assert_eq!(
        (names("a.txt").as_deref(), names("old.txt").as_deref()),
        (Some("four\n"), Some("anew\n"))
    );

    let asked = home.json(["revert", &id]).exits(3).document();
    let shown = &asked["error"]["details"];
    assert_eq!(shown["plan"]["steps"].as_array().unwrap().len(), 1, "{shown:#}");
    let diff = shown["diff"].as_str().unwrap();
    assert!(diff.contains("-four\n+one\n") && diff.contains("-anew\n+old\n"), "{diff}");
    assert_eq!(names("a.txt").as_deref(), Some("four\n"), "nothing ran so far");

    let done = home.run(["revert", &id, "--yes", "--confirm", "approve"]).exits(0);
    assert!(done.stderr.contains(&format!("Reverts loop {id}")), "{done:#?}");
    let sql = "SELECT count(*) FROM decisions WHERE note LIKE 'reverts loop ' || ?1 || '%'";
    let recorded: i64 = home.sql().query_row(sql, [&id], |row| row.get(0)).unwrap();
    assert_eq!(recorded, 1, "the record says what the question said");
    assert_eq!(
        (names("a.txt").as_deref(), names("old.txt").as_deref()),
        (Some("one\n"), Some("old\n"))
    );
    assert_eq!((names("moved.txt"), names("new/made.txt")), (None, None));

    let twice = home.json(["revert", &id, "--yes", "--confirm", "approve"]).exits(1).document();
    assert_eq!(twice["step_results"][0]["error_code"], "E101", "it is undone already");
    home.json(["evidence", "verify"]).exits(0);
}

#[test]
fn loop_is_not_reverted_over_later_work() {
    let planner = three_attempts();
    let id = looped(&planner);
    let home = &planner.home;
    home.write("moved.txt", "made\nby hand\n");
    let asked = home.run(["revert", &id]).exits(3);
    assert!(asked.stdout.contains("Would fail: moved.txt was changed later"), "{asked:#?}");
    assert!(asked.stdout.contains("+by hand"), "{asked:#?}");
    let failed = home.json(["revert", &id, "--yes", "--confirm", "approve"]).exits(1).document();
    assert_eq!(failed["step_results"][0]["error_code"], "E311");
    assert_eq!(text(home, "a.txt").as_deref(), Some("four\n"), "all or nothing");
    assert_eq!(text(home, "moved.txt").as_deref(), Some("made\nby hand\n"));

    // One attempt is still reverted alone, by its checkpoint, once no later attempt is in its way.
    let plan = json!({ "version": "2026-02-19", "goal": "g", "actions": [
        { "type": "history", "request": { "operation": "undo", "checkpoint": format!("loop:{id}:3") } },
    ]});
    let file = home.write("undo.json", plan.to_string());
    home.json(["run", file.to_str().unwrap(), "--yes", "--confirm", "approve"]).exits(0);
    assert_eq!(text(home, "a.txt").as_deref(), Some("three\n"));
}

#[test]
fn loop_without_a_run_has_nothing_to_revert() {
    let planner = Scripted::new([failure("unsupported_goal", false)]);
    let done = planner.run([]);
    let id = done.document()["loop_id"].as_str().unwrap().to_owned();
    let refused = planner.home.json(["revert", &id, "--yes"]).exits(5);
    assert!(refused.stderr.contains("ran no plan"), "{refused:#?}");
}
