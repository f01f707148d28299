//! `simulate` steps in the real command: recorded, and removed from the disk, after a kill as well.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::harness::actions;
use crate::harness::home::Home;
use crate::harness::unprivileged::Unprivileged;

const MANIFEST: &str = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";

fn simulate(home: &Home, request: Value) -> PathBuf {
    home.write("p.json", actions([("simulate", request)]).to_string())
}

/// An edit that needs no program.
fn small() -> Value {
    json!({ "edits": [{ "op": "write", "path": "a.txt", "contents": "two\n" }] })
}

/// The folders of simulations that are left.
fn left(home: &Home) -> Vec<PathBuf> {
    let parent = home.path().join(".cache/countersign/simulations");
    let entries = fs::read_dir(parent).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect()
}

#[test]
fn simulation_is_recorded_and_leaves_nothing() {
    let home = Home::new();
    home.write("a.txt", "one\n");
    simulate(&home, small());
    let done = home.json(["run", "space/p.json", "--yes"]).exits(0);
    let step = &done.document()["step_results"][0];
    assert_eq!((&step["tool_name"], &step["outcome"]), (&json!("simulate"), &json!("succeeded")));
    assert_eq!(fs::read_to_string(home.file("a.txt")).unwrap(), "one\n");
    assert_eq!(left(&home), Vec::<PathBuf>::new());
    let artifacts = |kind: &str| {
        let sql =
            format!("SELECT content_json FROM execution_artifacts WHERE artifact_type = '{kind}'");
        home.texts(&sql, [])
    };
    let [diff] = &artifacts("diff")[..] else { panic!("one difference") };
    assert!(diff.contains("-one\\n+two"), "{diff}");
    assert_eq!(artifacts("preview").len(), 0, "which is as it was predicted");
    let result: Value = serde_json::from_str(&artifacts("result")[0]).unwrap();
    assert_eq!(result["changed_files"][0]["predicted"], true);
    assert_eq!(
        home.texts("SELECT edge_type FROM edges WHERE target = 'a.txt'", []),
        ["REFERENCED"]
    );
    assert_eq!(home.texts("SELECT id FROM intents", []).len(), 1);
}

#[test]
fn unreadable_files_are_left_out_and_named() {
    let home = Home::new();
    fs::create_dir(home.file("closed")).unwrap();
    for name in ["a.txt", "secret.txt", "closed/in.txt"] {
        home.write(name, "x");
    }
    simulate(&home, small());
    let nobody = Unprivileged::of(&home);
    nobody.forbid(&home.file("secret.txt"), 0);
    nobody.forbid(&home.file("closed"), 0);
    nobody.json(&["run", "space/p.json", "--yes"]).exits(0);
    let sql = "SELECT content_json FROM execution_artifacts WHERE artifact_type = 'result'";
    let result: Value = serde_json::from_str(&home.texts(sql, [])[0]).unwrap();
    let left_out = result["copy"]["left_out"].as_array().unwrap();
    let said = |name: &str| left_out.iter().any(|text| text.as_str().unwrap().contains(name));
    assert!(left_out.len() == 2 && said("secret.txt") && said("closed"), "{left_out:?}");
    assert_eq!(left(&home), Vec::<PathBuf>::new());
}

/// A cargo that starts and never ends.
const ENDLESS: &str = "#!/bin/sh\n: > \"$HOME/begun\"\nexec sleep 600\n";

fn start(home: &Home, plan: &Path) -> Child {
    let bin = home.path().join("bin");
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join("cargo"), ENDLESS).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(bin.join("cargo"), mode).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    // Behind walls it could not create its marker outside the copy.
    home.settings("[policy]\nwalls = 'off'\n");
    let mut command = home.child(["run", "--yes", "--confirm", "caution"]);
    command.arg(plan).env("PATH", path).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the program")
}

/// A copy that is still in use remains.
#[test]
fn next_start_removes_leftovers_of_killed_runs() {
    let home = Home::new();
    home.write("a.txt", "one\n");
    home.write("Cargo.toml", MANIFEST);
    fs::create_dir(home.file("src")).unwrap();
    home.write("src/main.rs", "fn main() {}\n");
    let endless = json!({ "function": "app", "inputs": ["x"] });
    let plan = home.write("endless.json", actions([("simulate", endless)]).to_string());
    let mut child = start(&home, &plan);
    while !home.path().join("begun").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended early");
        std::thread::yield_now();
    }
    let live = left(&home);
    let [scratch] = &live[..] else { panic!("one copy: {live:?}") };
    assert!(scratch.join("copy/space/src/main.rs").is_file());

    simulate(&home, small());
    let another = || {
        let mut command = home.command();
        command.args(["run", "space/p.json", "--yes", "--evidence"]).arg(home.path().join("other"));
        crate::harness::home::Done::of(&mut command).exits(0);
    };
    another();
    assert_eq!(left(&home), live, "the one that is alive");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(left(&home), live, "nobody was left to remove it");
    another();
    assert_eq!(left(&home), Vec::<PathBuf>::new());
    assert_eq!(fs::read_to_string(home.file("a.txt")).unwrap(), "one\n");
}
