//! What is called safe runs nothing of the repository (SPEC §7.1): the real git in repositories whose settings, hooks and
//! submodules name programs.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::home::Home;
use crate::harness::set_mode;

/// Reading calls, among them those that run most of what a repository names.
const CALLS: &str = "git status
git status --porcelain
git diff
git diff HEAD~1 HEAD
git diff --stat
git diff --no-ext-diff --no-textconv
git --no-optional-locks status
git log -p
git log --oneline
git show
git show HEAD:a.txt
git whatchanged
git blame a.txt
git grep -n 1
git ls-files
git ls-files -m
git ls-tree HEAD
git describe --always --dirty
git cat-file -p HEAD:a.txt
git stash list
git stash show -p
git branch -vv
git for-each-ref
git check-ignore a.txt
git check-attr -a a.txt
git submodule status
git clean -n
git diff-files -p
git diff-index -p HEAD
git diff-tree -p HEAD~1 HEAD
git range-diff HEAD~1..HEAD HEAD~1..HEAD
git rev-parse HEAD
git reflog
git shortlog HEAD
git remote -v
git version
git --version
cd sub && git status
git -C sub diff
bash -c 'cd sub; git status'
for f in a.txt b.txt; do git diff -- $f; done";

fn git(home: &Home, folder: &Path, arguments: &[&str]) {
    let mut git = home.command_of("git");
    git.args(["-c", "user.name=n", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"]);
    let output = git.args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A repository with a submodule, and a program beside it that leaves a mark when it is run.
fn repository(home: &Home) -> String {
    let program = home.path().join("evil");
    let mark = home.path().join("mark");
    let script = format!("#!/bin/sh\ntouch '{}'\ncat \"$1\" 2>/dev/null\n", mark.display());
    fs::write(&program, script).unwrap();
    set_mode(&program, 0o755);
    let (other, top) = (home.path().join("other"), home.file(""));
    for folder in [&other, &top] {
        fs::create_dir_all(folder).unwrap();
        git(home, folder, &["init", "-q", "-b", "main"]);
        fs::write(folder.join("a.txt"), "1\n").unwrap();
        fs::write(folder.join(".gitattributes"), "*.txt diff=d filter=f\n").unwrap();
        git(home, folder, &["add", "."]);
        git(home, folder, &["commit", "-q", "-m", "1"]);
    }
    git(home, &top, &["submodule", "--quiet", "add", other.to_str().unwrap(), "sub"]);
    fs::write(top.join("a.txt"), "2\n").unwrap();
    git(home, &top, &["commit", "-q", "-a", "-m", "2"]);
    fs::write(top.join("a.txt"), "3\n").unwrap();
    git(home, &top, &["stash", "-q"]);
    fs::write(top.join("a.txt"), "4\n").unwrap();
    program.to_str().unwrap().to_owned()
}

/// The calls that are safe in the workspace, as `countersign risk` judges them.
fn safe_calls(home: &Home) -> Vec<&'static str> {
    let mut risk = home.command();
    risk.args(["risk", "--stdin", "--json"]).write_stdin(CALLS).current_dir(home.file(""));
    let output = risk.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let verdicts: Vec<Value> =
        serde_json::Deserializer::from_str(&text).into_iter().map(Result::unwrap).collect();
    assert_eq!(verdicts.len(), CALLS.lines().count());
    let safe = CALLS.lines().zip(&verdicts).filter(|(_, verdict)| verdict["level"] == "safe");
    safe.map(|(call, _)| call).collect()
}

/// The calls that ran the program.
fn that_ran(home: &Home, calls: &[&'static str]) -> Vec<&'static str> {
    let mark = home.path().join("mark");
    let old = fs::FileTimes::new().set_modified(std::time::UNIX_EPOCH);
    let ran = |call: &&&str| {
        // git looks into a file only if its time differs from the one in the index.
        let file = fs::File::options().append(true).open(home.file("a.txt")).unwrap();
        file.set_times(old).unwrap();
        let mut bash = home.command_of("bash");
        bash.args(["--noprofile", "--norc", "-c", call]).current_dir(home.file(""));
        bash.output().unwrap();
        fs::remove_file(&mark).is_ok()
    };
    calls.iter().filter(ran).copied().collect()
}

#[test]
fn safe_calls_run_nothing_of_the_repository() {
    let home = Home::new();
    let program = repository(&home);
    let all: Vec<&str> = CALLS.lines().collect();
    assert_eq!(safe_calls(&home), all, "a repository as git makes it");
    assert_eq!(that_ran(&home, &all), [""; 0]);
    let mut ran = 0;
    let mut check = |what: &str| {
        let safe = safe_calls(&home);
        assert_eq!(that_ran(&home, &safe), [""; 0], "{what}");
        let running = that_ran(&home, &all);
        ran += running.len();
        assert!(safe.len() < all.len(), "{what}");
    };
    let (top, sub) = (home.file(""), home.file("sub"));
    for key in [
        "core.fsmonitor",
        "diff.external",
        "diff.d.command",
        "diff.d.textconv",
        "filter.f.clean",
        "filter.f.process",
        "core.pager",
        "alias.whatchanged",
    ] {
        for folder in [&top, &sub] {
            git(&home, folder, &["config", key, &program]);
            check(&format!("{key} in {}", folder.display()));
            git(&home, folder, &["config", "--unset", key]);
        }
    }
    fs::write(home.path().join("more"), format!("[core]\n\tfsmonitor = {program}\n")).unwrap();
    git(&home, &top, &["config", "include.path", "../../more"]);
    check("an included file");
    git(&home, &top, &["config", "--unset", "include.path"]);
    let hook = home.file(".git/hooks/post-index-change");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::copy(&program, &hook).unwrap();
    check("a hook");
    fs::remove_file(hook).unwrap();
    assert!(ran > 60, "{ran} calls ran the program");
    assert_eq!(safe_calls(&home), all, "as before");
}

/// What an earlier step of the same plan makes of the repository counts when a later one begins.
#[test]
fn a_repository_is_judged_again_when_a_step_begins() {
    let home = Home::new();
    let program = repository(&home);
    home.settings("[policy]\nwalls = \"off\"\n");
    home.write("setup.sh", format!("git config core.fsmonitor '{program}'\n"));
    let plan = json!({"goal": "g", "steps": [
        {"command": "git status"}, {"command": "sh setup.sh"}, {"command": "git status"}
    ]});
    home.write("p.json", plan.to_string());
    let document = home.json(["check", "space/p.json"]).exits(0).document();
    let level = |risk: &Value| risk["level"].as_str().unwrap().to_owned();
    let before: Vec<_> = document["risk"]["steps"].as_array().unwrap().iter().map(level).collect();
    assert_eq!(before, ["safe", "caution", "safe"]);
    let run = home.json(["run", "space/p.json", "--yes", "--confirm", "caution"]).document();
    let run = run["run_id"].as_str().unwrap();
    let rules =
        home.texts("SELECT risk_rule FROM executions WHERE run_id = ?1 ORDER BY step_index", [run]);
    assert_eq!(rules[0], "reads");
    assert_eq!(rules[2], "reads-repository");
    let document = home.json(["check", "space/p.json"]).exits(0).document();
    let after: Vec<_> = document["risk"]["steps"].as_array().unwrap().iter().map(level).collect();
    assert_eq!(after, ["caution", "caution", "caution"]);
}
