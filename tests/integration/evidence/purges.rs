//! Purges of loops and of old backups, and what is said of a purged step, through the real command (SPEC §14).

use std::fs;

use serde_json::json;

use super::retention::{python, with_word};
use crate::harness::create_file;
use crate::harness::home::Home;

/// A home with a loop about a wombat: a plan that fails, and one that does what is wanted. Returns its id.
fn home_with_loop() -> (Home, String) {
    let home = Home::new();
    fs::create_dir(home.path().join("plans")).unwrap();
    for (name, command) in [("1.json", "echo wombat; exit 3"), ("2.json", "echo wombat > a.txt")] {
        let plan = json!({ "goal": "find the wombat", "steps": [{ "command": command }] });
        fs::write(home.path().join("plans").join(name), plan.to_string()).unwrap();
    }
    let goal = "the wombat is found";
    let line =
        ["loop", "--goal", goal, "--planner", "replay:plans", "--workspace", "space", "--yes"];
    let done = home.json(line).exits(0).document();
    let id = done["loop_id"].as_str().map(str::to_owned);
    let id = id.unwrap_or_else(|| home.texts("SELECT id FROM loops", []).remove(0));
    (home, id)
}

#[test]
fn an_old_loop_is_purged_with_its_runs() {
    let (home, id) = home_with_loop();
    let shown = home.json(["evidence", "show", &id]).exits(0).document();
    assert_eq!(shown["loop"]["goal"], "the wombat is found");
    let rule = ["evidence", "purge", "--older-than", "2099-01-01"];
    let preview = home.json(rule.into_iter().chain(["--dry-run"])).exits(0).document();
    assert_eq!(
        (&preview["loops"], &preview["attempts"], &preview["runs"]),
        (&json!(1), &json!(2), &json!(2))
    );
    let said = home.run(rule.into_iter().chain(["--dry-run"])).exits(0).stdout;
    assert!(said.contains("Loops") && said.contains("runs and loops happened"), "{said}");
    let line = rule.into_iter().chain(["--reason", "retention", "--yes"]);
    let done = home.json(line).exits(0).document();
    assert_eq!(done["rows"], preview["rows"]);
    let report = home.json(["evidence", "verify"]).exits(0).document();
    assert_eq!(report["purged"], done["rows"]);
    assert!(python(&home.evidence()).exits(0).stdout.contains("were purged"));
    assert_eq!(with_word(&home, "wombat"), [] as [String; 0]);

    let shown = home.json(["evidence", "show", &id]).exits(0).document();
    let of_loop = &shown["loop"];
    assert_eq!((&of_loop["goal"], &of_loop["status"]), (&json!("(purged)"), &json!("completed")));
    assert_eq!(
        (&of_loop["planner"], &of_loop["purged"]["reason"]),
        (&json!("replay:plans"), &json!("retention"))
    );
    assert_eq!(of_loop["attempts"].as_array().unwrap().len(), 2);
    let said = home.run(["evidence", "show", &id]).exits(0).stdout;
    assert!(said.contains("Attempt 1 of") && said.contains("Records purged on"), "{said}");
    // A case file of one of its runs is sound.
    let run = of_loop["attempts"][0]["runs"][0]["run_id"].as_str().unwrap();
    let case = home.path().join("case.zip");
    home.run(["evidence", "case", run, "--out", case.to_str().unwrap()]).exits(0);
    assert!(python(&case).exits(0).stdout.contains("were purged"));
    // Nothing is left to revert or to continue.
    for word in ["revert", "continue"] {
        assert_ne!(home.run([word, run, "--yes"]).code, 0, "{word}");
    }
    // Another loop is recorded as before.
    let line =
        ["loop", "--goal", "g", "--planner", "replay:plans", "--workspace", "space", "--yes"];
    let _ = home.json(line).exits(0);
    let _ = home.json(["evidence", "verify"]).exits(0);
}

#[test]
fn a_loop_can_be_named() {
    let (home, id) = home_with_loop();
    home.plan(json!([create_file("make", "b.txt", "a quokka\n")]));
    let _ = home.json(["run", "space/p.json", "--yes"]).exits(0);
    let line = ["evidence", "purge", "--loop", &id, "--yes"];
    let done = home.json(line).exits(0).document();
    assert_eq!(
        (&done["loops"], &done["runs"], &done["rule"]["loop_id"]),
        (&json!(1), &json!(2), &json!(id))
    );
    assert_eq!(home.json(["evidence", "search", "quokka"]).exits(0).lines().len(), 1);
    let again = home.run(line).exits(0).stdout;
    assert!(again.contains("nothing to purge"), "{again}");
    let missing = ["evidence", "purge", "--loop", "00000000-0000-4000-8000-000000000000", "--yes"];
    assert!(home.run(missing).exits(5).stderr.contains("has no execution, run or loop"));
}

/// Killed at every point: the loop is purged or not, and purged after it is started again.
#[test]
fn a_killed_purge_of_a_loop_is_done_or_not() {
    for point in ["selected", "deleted", "committed", "backup deleted", "compacting 1", "compacted"]
    {
        let (home, id) = home_with_loop();
        let old = home.evidence().join("execution_log.v4.bak");
        fs::write(&old, "a wombat").unwrap();
        let at = home.evidence().join("execution_log.abort_at");
        fs::write(&at, point).unwrap();
        let line = ["evidence", "purge", "--loop", &id, "--with-old-backups", "--yes"];
        assert_eq!(home.child(line).output().unwrap().status.code(), None, "{point}");
        fs::remove_file(&at).unwrap();
        let is_done = !["selected", "deleted"].contains(&point);
        let report = home.json(["evidence", "verify"]).exits(0).document();
        assert_eq!(report["purged"].as_u64().unwrap() > 0, is_done, "{point}");
        python(&home.evidence()).exits(0);
        let shown = home.json(["evidence", "show", &id]).exits(0).document();
        assert_eq!(shown["loop"]["goal"] == "(purged)", is_done, "{point}");
        assert_eq!(old.exists(), ["selected", "deleted", "committed"].contains(&point), "{point}");
        let _ = home.run(line).exits(0);
        let _ = home.run(["evidence", "compact"]).exits(0);
        let _ = home.json(["evidence", "verify"]).exits(0);
        assert_eq!(with_word(&home, "wombat"), [] as [String; 0], "{point}");
    }
}

#[test]
fn old_backups_are_listed_and_deleted_if_wanted() {
    let (home, id) = home_with_loop();
    let old = home.evidence().join("execution_log.v4.bak");
    fs::write(&old, "a wombat").unwrap();
    let rule = ["evidence", "purge", "--loop", &id];
    let said = home.run(rule.into_iter().chain(["--dry-run"])).exits(0).stdout;
    assert!(said.contains("execution_log.v4.bak") && said.contains("--with-old-backups"), "{said}");
    let preview = home.json(rule.into_iter().chain(["--dry-run"])).exits(0).document();
    assert_eq!(preview["old_backups"], json!({ "execution_log.v4.bak": 8 }));
    let done = home.run(rule.into_iter().chain(["--yes"])).exits(0);
    assert!(done.stderr.contains("still has these records") && old.exists(), "{done:?}");

    // Deleted alone, too, with a record of that.
    let line = ["evidence", "purge", "--with-old-backups", "--reason", "no longer needed", "--yes"];
    let done = home.json(line).exits(0).document();
    assert_eq!(done["deleted_backups"], json!({ "execution_log.v4.bak": 8 }));
    assert!(!old.exists() && done["purge_id"].is_string());
    let sizes = home.json(["evidence", "sizes"]).exits(0).document();
    let last = sizes["purge_records"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&last["rule"]["with_old_backups"], &last["reason"]),
        (&json!(true), &json!("no longer needed"))
    );
    assert!(home.run(line).exits(0).stdout.contains("nothing to purge"));
    let _ = home.json(["evidence", "verify"]).exits(0);
}

#[test]
fn a_step_of_a_purged_run_says_so() {
    let home = Home::new();
    home.plan(json!([create_file("make", "a.txt", "a wombat\n")]));
    let run = home.json(["run", "space/p.json", "--yes"]).exits(0).document();
    let run = run["run_id"].as_str().unwrap();
    let execution = home.texts("SELECT id FROM executions", []).remove(0);
    let reason = ["--reason", "asked for", "--yes"];
    let _ = home.run(["evidence", "purge", "--run", run].into_iter().chain(reason)).exits(0);
    let unknown = "00000000-0000-4000-8000-000000000000";
    let code = home.run(["evidence", "show", unknown]).code;
    for line in [["evidence", "show", &execution], ["evidence", "durations", &execution]] {
        let refused = home.run(line).exits(code);
        for words in ["records purged on", "asked for", run, &execution] {
            assert!(refused.stderr.contains(words), "{line:?} without {words}: {refused:?}");
        }
    }
    let refused = home.run(["revert", &execution, "--yes"]);
    assert!(refused.code != 0 && refused.stderr.contains("asked for"), "{refused:?}");
    let answer = home.run(["evidence", "query", "q5", &execution]).exits(0);
    assert!(answer.stdout.is_empty() && answer.stderr.contains("asked for"), "{answer:?}");
    let refused = home.json(["evidence", "show", &execution]).exits(code).document();
    assert_eq!(refused["error"]["details"]["run_id"], run);
    assert_eq!(refused["error"]["details"]["purged"]["reason"], "asked for");
}
