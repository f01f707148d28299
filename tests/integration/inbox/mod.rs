//! The inbox on the command line: what is proposed, listed and removed, and how such plans run.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::harness::create_file;
use crate::harness::home::{Done, Home};

fn inbox(home: &Home) -> PathBuf {
    home.path().join(".local/share/countersign/inbox")
}

fn proposed(home: &Home) -> Value {
    home.plan(json!([create_file("a", "new.txt", "new\n")]));
    home.json(["propose", "space/p.json", "--from", "agent\u{1b}[2J"]).exits(0).document()
}

fn listed(home: &Home) -> Vec<Value> {
    let document = home.json(["inbox", "list"]).exits(0).document();
    assert_eq!(document["omitted"], 0);
    document["entries"].as_array().unwrap().clone()
}

#[test]
fn a_proposal_waits_and_runs_only_when_it_is_authorized() {
    let home = Home::new();
    let handle = proposed(&home);
    let [entry] = &listed(&home)[..] else { panic!("one entry") };
    assert_eq!((&entry["id"], &entry["kind"]), (&handle["id"], &json!("proposal")));
    assert_eq!(entry["from"], "agent\u{1b}[2J");
    assert_eq!(entry["plan"], handle["plan"]);
    let space = home.path().canonicalize().unwrap().join("space");
    assert_eq!(entry["workspace"], space.to_str().unwrap());
    let plain = home.run(["inbox", "list"]).exits(0);
    assert!(plain.stdout.contains("agent⟨ESC⟩[2J"), "{}", plain.stdout);
    assert!(!home.file("new.txt").exists());

    let path = entry["path"].as_str().unwrap();
    let checked = home.json(["check", path]).exits(0).document();
    assert_eq!(checked["digest"], handle["digest"]);
    assert_eq!(checked["choices"]["workspace"], space.to_str().unwrap());
    let _ = home.run(["run", path]).exits(3);
    assert!(!home.file("new.txt").exists());
    let _ = home.run(["run", path, "--authorize", handle["digest"].as_str().unwrap()]).exits(0);
    assert!(home.file("new.txt").exists());

    let id = handle["id"].as_str().unwrap();
    let removed = home.json(["inbox", "remove", &id[..8]]).exits(0).document();
    assert_eq!(removed, json!({"removed": id}));
    assert!(listed(&home).is_empty());
    assert!(inbox(&home).join("removed").join(id).join("plan").exists());
    assert_eq!(home.json(["inbox", "remove", id]).exits(5).error_code(), "E101");
}

#[test]
fn a_file_that_is_no_plan_is_refused_with_findings() {
    let home = Home::new();
    home.write("words", "only words\n");
    let refused = home.run(["propose", "space/words"]).exits(2);
    assert!(refused.stderr.contains("1:1: error E010: not JSON"), "{}", refused.stderr);
    assert_eq!(refused.stdout, "");
    assert_eq!(home.json(["propose", "space/words"]).exits(2).error_code(), "E001");
    assert!(home.run(["propose", "space/absent"]).exits(2).stderr.contains("cannot read"));
    home.write("mode.patch", "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n");
    assert!(home.run(["propose", "space/mode.patch"]).exits(2).stderr.contains("mode"));
    assert!(listed(&home).is_empty());
}

#[test]
fn a_file_of_another_program_is_proposed_as_a_plan() {
    let home = Home::new();
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n";
    home.write("a.txt", "one\n");
    home.write("x.patch", diff);
    let handle = home.json(["propose", "space/x.patch"]).exits(0).document();
    assert_eq!(handle["plan"]["format"], "diff");
    let entry = listed(&home).remove(0);
    assert_eq!((&entry["name"], &entry["from"]), (&json!("x.patch"), &Value::Null));
    let path = entry["path"].as_str().unwrap();
    let plan = home.run(["convert", "space/x.patch"]).exits(0).stdout;
    assert_eq!(fs::read_to_string(path).unwrap(), plan);
    assert_eq!(handle["digest"], home.json(["check", path]).exits(0).document()["digest"]);
    let _ = home.run(["run", path, "--yes", "--confirm", "approve"]).exits(0);
    assert_eq!(fs::read_to_string(home.file("a.txt")).unwrap(), "two\n");
    // The file is read when it is proposed, and what cannot be in the plan is said to the person, too.
    home.write("b", "one\n");
    let fix = |line: u8| {
        let replacement =
            json!({"deletedRegion": {"startLine": line}, "insertedContent": {"text": "two"}});
        let change = json!({"artifactLocation": {"uri": "b"}, "replacements": [replacement]});
        json!({"fixes": [{"artifactChanges": [change]}]})
    };
    let sarif = json!({"version": "2.1.0", "runs": [{"results": [fix(1), fix(9)]}]});
    home.write("x.sarif", sarif.to_string());
    let id = home.json(["propose", "space/x.sarif"]).exits(0).document()["id"].clone();
    let entry = listed(&home).into_iter().find(|entry| entry["id"] == id).unwrap();
    let checked = home.run(["check", entry["path"].as_str().unwrap()]).exits(0);
    assert!(
        checked.stdout.contains("this fix is left out: the file has no line 9"),
        "{}",
        checked.stdout
    );
    home.write("b", "other\n");
    let _ = home.run(["run", entry["path"].as_str().unwrap(), "--yes"]).exits(1);
    assert_eq!(fs::read_to_string(home.file("b")).unwrap(), "other\n");
}

#[test]
fn a_plan_that_was_put_there_has_no_workspace_until_one_is_chosen() {
    let home = Home::new();
    let _ = proposed(&home);
    fs::copy(home.file("p.json"), inbox(&home).join("by hand.json")).unwrap();
    fs::create_dir(inbox(&home).join(".git")).unwrap();
    let path = inbox(&home).join("by hand.json").display().to_string();
    for command in ["check", "simulate", "run"] {
        let refused = home.run([command, &path]).exits(5);
        assert!(refused.stderr.contains("has no workspace"), "{}", refused.stderr);
        assert!(refused.stderr.contains("--workspace DIR"), "{}", refused.stderr);
        let itself = inbox(&home).display().to_string();
        let refused = home.run([command, &path, "--workspace", &itself]).exits(5);
        assert!(refused.stderr.contains("cannot be the workspace"), "{}", refused.stderr);
    }
    let _ = home.run(["run", &path, "--workspace", "space", "--yes"]).exits(0);
    assert!(home.file("new.txt").exists() && !inbox(&home).join("new.txt").exists());
}

#[test]
fn the_settings_name_the_folder_and_others_may_not_write_into_it() {
    let home = Home::new();
    let folder = home.path().join("post");
    home.settings(format!("inbox = {:?}\n", folder.display().to_string()));
    let handle = proposed(&home);
    let id = handle["id"].as_str().unwrap();
    assert!(folder.join(id).join("plan").exists());
    assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert!(!inbox(&home).exists());
    // No plan touches what waits there.
    let other = folder.join(id).join("plan").display().to_string();
    home.write(
        "q.json",
        json!({"plan_id": "q", "intent": "MUTATE", "steps": [
            {"step_id": "a", "tool": "file_write", "arguments": {"path": other, "contents": "x"}}
        ]})
        .to_string(),
    );
    let up = home.path().display().to_string();
    let checked = home.run(["check", "space/q.json", "--workspace", &up]).exits(2);
    assert!(checked.stdout.contains("a folder of Countersign itself"), "{}", checked.stdout);

    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    for line in [&["propose", "space/p.json"][..], &["inbox", "list"], &["inbox", "remove", id]] {
        let refused: Done = home.run(line.iter().copied()).exits(5);
        assert!(refused.stderr.contains("chmod go-w"), "{}", refused.stderr);
    }
    home.settings("inbox = \"relative\"\n");
    let refused = home.run(["propose", "space/p.json"]).exits(5);
    assert!(refused.stderr.contains("which is not absolute"), "{}", refused.stderr);
}
