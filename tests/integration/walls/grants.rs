//! Grants beyond the walls: for a run, kept for a workspace, and never wider than shown (SPEC §7.5).

use std::fs;

use serde_json::{Value, json};

use super::needs::plan;
use crate::harness::home::Home;

#[test]
fn workspace_grant_holds_until_forgotten() {
    let home = Home::new();
    let other = home.path().join("other");
    fs::create_dir(&other).unwrap();
    let other = other.to_str().unwrap();
    plan(&home, json!([{ "command": format!("touch {other}/made") }]));
    let walls = |words: &[&str]| {
        let words = [&["walls", "--workspace", "space"], words].concat();
        home.json(words).exits(0).document()
    };
    let granted = || {
        let checked = home.json(["check", "space/p.json"]).exits(0).document();
        checked["risk"]["steps"][0]["walls"]["write"].clone()
    };
    assert_eq!(walls(&[])["remembered"], Value::Null);
    assert_eq!(granted(), json!([]));
    let allow = format!("write={other}");
    let remembered = walls(&["--allow", &allow])["remembered"].clone();
    assert_eq!(remembered["write"], json!([other]));
    assert_eq!(granted(), json!([other]));
    let run = || home.json(["run", "space/p.json", "--yes", "--confirm", "approve"]);
    let _ = run().exits(0);
    assert!(home.path().join("other/made").exists());
    // The grant does not apply to another workspace.
    fs::create_dir(home.path().join("elsewhere")).unwrap();
    fs::copy(home.file("p.json"), home.path().join("elsewhere/p.json")).unwrap();
    let elsewhere = home.json(["check", "elsewhere/p.json"]).exits(0).document();
    assert_eq!(elsewhere["risk"]["steps"][0]["walls"]["write"], json!([]));
    // A path that cannot be granted cannot be kept either.
    for path in ["/", "~/.ssh", home.path().to_str().unwrap(), home.evidence().to_str().unwrap()] {
        let allow = format!("write={path}");
        let done = home.json(["walls", "--workspace", "space", "--allow", &allow]).exits(5);
        assert!(done.stderr.contains("cannot be granted"), "{done:#?}");
    }
    // Later grants add to earlier ones.
    let both = walls(&["--allow", "network"])["remembered"].clone();
    assert_eq!((&both["network"], &both["write"]), (&json!(true), &json!([other])));
    let more = home.path().join("more");
    fs::create_dir(&more).unwrap();
    let more = more.to_str().unwrap();
    let words = ["walls", "--workspace", "space", "--allow", &format!("write={more}")];
    let done = home.run(words).exits(0);
    let holds = format!("Granted to every plan in this workspace: network, writes {more}, {other}");
    assert!(done.stdout.contains(&holds), "{done:#?}");
    assert_eq!(granted(), json!([more, other]));
    assert_eq!(walls(&["--forget"])["remembered"], Value::Null);
    assert_eq!(granted(), json!([]));
    fs::remove_file(home.path().join("other/made")).unwrap();
    let _ = run().exits(1);
    assert!(!home.path().join("other/made").exists());
}

/// Walls cannot hide folders that the workspace contains, such as the home folder.
#[test]
fn workspace_around_everything_has_no_walls() {
    let home = Home::new();
    plan(&home, json!([{ "command": "ls" }]));
    let checked = home.json(["check", "space/p.json", "--workspace", "/"]).exits(2).document();
    let finding = &checked["findings"][0];
    assert_eq!(finding["code"], "E312", "{checked}");
    assert!(finding["message"].as_str().unwrap().contains("the workspace is /"), "{checked}");
    let run = home.run(["run", "space/p.json", "--yes", "--workspace", "/"]).exits(2);
    assert!(run.stderr.contains("the workspace is /"), "{run:#?}");
    // Steps without processes need no walls.
    home.plan(
        json!([{ "step_id": "s", "tool": "file_read", "arguments": { "path": "etc/hostname" } }]),
    );
    let _ = home.json(["check", "space/p.json", "--workspace", "/"]).exits(0);
    // A loop would show the whole workspace to its planner first.
    let words = ["loop", "--goal", "g", "--workspace", "/", "--planner", "x", "--yes"];
    let refused = home.run(words).exits(5);
    assert!(refused.stderr.contains("the workspace is /"), "{refused:#?}");
}

#[test]
fn forged_grant_does_not_count() {
    let home = Home::new();
    plan(&home, json!([{ "command": "true" }]));
    let _ = home.json(["walls", "--workspace", "space", "--allow", "network"]).exits(0);
    let network = || {
        let checked = home.json(["check", "space/p.json"]).exits(0).document();
        checked["risk"]["steps"][0]["walls"]["network"].clone()
    };
    assert_eq!(network(), true);
    let changed = home.sql();
    let trigger = "decisions_refuses_update";
    let sql = "SELECT sql FROM sqlite_schema WHERE name = ?1";
    let made: String = changed.query_row(sql, [trigger], |row| row.get(0)).unwrap();
    changed.execute_batch(&format!("DROP TRIGGER {trigger}")).unwrap();
    let folder = fs::canonicalize(home.file("")).unwrap();
    let sql = "UPDATE decisions SET request_json = ?1 WHERE note = ?2";
    let json = r#"{"network":true,"proposed":true,"proposed_for":[],"write":[]}"#;
    assert_eq!(changed.execute(sql, [json, folder.to_str().unwrap()]).unwrap(), 1);
    changed.execute_batch(&made).unwrap();
    drop(changed);
    assert_eq!(network(), false);
}

#[test]
fn refused_write_can_be_granted() {
    let home = Home::new();
    let outside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let folder = fs::canonicalize(outside.path()).unwrap();
    let run = |command: String, allow: &[&str]| {
        plan(&home, json!([{ "command": command }]));
        // Where this is built in a home folder, writing there is dangerous.
        let words = [&["run", "space/p.json", "--yes", "--confirm", "approve"], allow].concat();
        home.json(words).document()["step_results"][0].clone()
    };
    let new = folder.join("new").display().to_string();
    let refused = run(format!("touch {new}"), &[]);
    assert_eq!(refused["outcome"], "failed", "{refused}");
    // The file does not exist yet, so its folder is offered.
    assert_eq!(refused["refused_write"], folder.to_str().unwrap(), "{refused}");
    let id = refused["execution_id"].as_str().unwrap();
    let shown = home.run(["evidence", "show", id]).exits(0).stdout;
    assert!(shown.contains("refused_write"), "it is recorded: {shown}");
    let allow = format!("write={}", folder.display());
    let granted = run(format!("touch {new}"), &["--allow", &allow]);
    assert_eq!(granted["outcome"], "succeeded", "{granted}");
    assert!(granted.get("refused_write").is_none(), "{granted}");
    // A path that cannot be granted is not offered.
    let system = run("touch /etc/countersign-test".to_owned(), &[]);
    assert_eq!(system["outcome"], "failed", "{system}");
    assert!(system.get("refused_write").is_none(), "{system}");
}

#[test]
fn grant_does_not_follow_a_new_link() {
    let home = Home::new();
    let place = |name: &str| home.path().join(name);
    fs::create_dir_all(place("given/inner")).unwrap();
    fs::create_dir(place("other")).unwrap();
    let [given, inner, other] =
        ["given", "given/inner", "other"].map(|name| place(name).to_str().unwrap().to_owned());
    for made in [inner.clone(), format!("{inner}/new/")] {
        let swap = format!("rmdir {inner} || rm {inner}; ln -sfn {other} {inner}");
        plan(
            &home,
            json!([
                { "command": swap, "needs": { "write": [given] } },
                { "command": format!("touch {made}/escaped"), "needs": { "write": [made] } },
            ]),
        );
        let words = ["run", "space/p.json", "--yes", "--confirm", "approve"];
        let document = home.json(words).exits(1).document();
        assert_eq!(document["step_results"][0]["success"], true, "{document}");
        let message = document["step_results"][1]["error_message"].as_str().unwrap();
        assert!(message.contains("a link was created"), "{message}");
        assert_eq!(fs::read_dir(place("other")).unwrap().count(), 0, "{made}");
        fs::remove_file(&inner).unwrap();
        fs::create_dir(&inner).unwrap();
    }
}

#[test]
fn git_settings_cannot_move_into_writable_folder() {
    let home = Home::new();
    let git = |words: &[&str]| {
        let mut command = assert_cmd::Command::new("git");
        let _ = command.args(words).current_dir(home.file("")).assert().success();
    };
    git(&["init", "-q"]);
    home.write("s.sh", "mkdir ev; cp .git/config ev; echo ../ev > .git/commondir");
    plan(&home, json!([{ "command": "git add -A && bash s.sh" }]));
    let words = ["run", "space/p.json", "--yes", "--confirm", "approve"];
    let document = home.json(words).exits(1).document();
    assert_eq!(document["step_results"][0]["error_code"], "E312", "{document}");
    assert!(!home.file(".git/commondir").exists());
    git(&["status"]);
}

#[test]
fn naming_an_own_file_does_not_show_it() {
    let home = Home::new();
    plan(&home, json!([{ "command": "true" }]));
    let _ = home.json(["run", "space/p.json", "--yes"]).exits(0);
    let key = home.path().join(".config/countersign/evidence.key");
    let key = if key.exists() { key } else { home.evidence().join("execution_log.db") };
    let key = key.to_str().unwrap();
    // Named by the command of a planner.
    let planner = format!("wc -c '{key}' >&2; echo none");
    let words = ["loop", "--goal", "g", "--workspace", "space", "--yes", "--max-attempts", "1"];
    let mut command = home.command();
    command.args(words).args(["--planner", &planner, "--evidence"]).arg(home.evidence());
    let said = String::from_utf8(command.output().unwrap().stderr).unwrap();
    assert!(said.contains("No such file") && !said.contains(&format!("32 {key}")), "{said}");
    // Named by the settings of a repository.
    let _ = assert_cmd::Command::new("git")
        .args(["init", "-q"])
        .current_dir(home.file(""))
        .assert()
        .success();
    let settings = fs::read_to_string(home.file(".git/config")).unwrap();
    home.write(".git/config", format!("{settings}[include]\n\tpath = {key}\n"));
    home.write("s.sh", format!("cat '{key}'"));
    plan(&home, json!([{ "command": "bash s.sh" }]));
    let document =
        home.json(["run", "space/p.json", "--yes", "--confirm", "approve"]).exits(1).document();
    let stderr = document["step_results"][0]["stderr"].as_str().unwrap();
    assert!(stderr.contains("No such file"), "{document}");
}

/// Below `/tmp`, a planner sees the file that its command names, and nothing else beside the workspace. A failure says so.
#[test]
fn a_planner_beside_the_workspace_is_seen_alone() {
    let home = Home::new();
    assert!(home.path().canonicalize().unwrap().starts_with("/tmp"), "the tests run below /tmp");
    let plan = json!({ "goal": "g", "steps": [{ "command": "echo a > a.txt" }] }).to_string();
    fs::write(home.path().join("planner.sh"), format!("cat >/dev/null\necho '{plan}'\n")).unwrap();
    fs::write(home.path().join("other.sh"), "cat >/dev/null; cat ../plan.json\n").unwrap();
    fs::write(home.path().join("plan.json"), &plan).unwrap();
    let words = ["loop", "--goal", "g", "--workspace", "space", "--yes", "--max-attempts", "1"];
    let looped = |planner: &'static str| home.json(words.into_iter().chain(["--planner", planner]));
    let document = looped("sh ../planner.sh").exits(0).document();
    assert_eq!(document["stop_reason"]["code"], "completed", "{document:#}");
    let document = looped("sh ../other.sh").exits(1).document();
    let message = document["stop_reason"]["message"].as_str().unwrap();
    assert!(message.contains("Its walls hide what is below /tmp"), "{document:#}");
    // Another failure has nothing to do with the walls.
    let document = looped("false").exits(1).document();
    assert!(!document.to_string().contains("walls hide"), "{document:#}");
}
