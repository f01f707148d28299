//! `countersign risk`: verdicts on commands, one by one and line by line.

use std::fs;

use assert_cmd::Command;
use serde_json::{Value, json};

use crate::harness::home::{Done, Home};

fn risk(home: &Home) -> Command {
    let mut command = home.command();
    command.arg("risk");
    command
}

const RULE: &str = r#"
[[policy.command_rules]]
id = "no-deploy"
prefix = ["make", "deploy"]
level = "blocked"
reason = "Only the pipeline deploys."
must_match = ["make deploy", "sudo make deploy"]
must_not_match = ["make test"]
"#;

#[test]
fn verdict_has_rule_place_reason_and_alternative() {
    let output = risk(&Home::new()).args(["--json", "--", "ls && rm -rf build"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let verdict: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(verdict["command"], "ls && rm -rf build");
    assert_eq!(verdict["level"], "dangerous");
    assert_eq!(verdict["rule"], "delete-recursive");
    assert_eq!(verdict["span"], serde_json::json!({"start": 6, "end": 18}));
    assert!(verdict["reason"].is_string() && verdict["suggestion"].is_string());
}

/// The evidence, the key and the settings, also where the evidence is elsewhere.
#[test]
fn own_folders_are_as_dangerous_as_in_a_plan() {
    let home = Home::new();
    home.settings("[policy]\nextra_roots = ['/is/gone']\n");
    for (folder, command) in [
        (None, "cat ~/.config/countersign/settings.toml".to_owned()),
        (None, "rm ~/.local/share/countersign/evidence.key".to_owned()),
        (Some("/srv/evidence"), "cp /srv/evidence/execution_log.db copy".to_owned()),
    ] {
        let mut judged = risk(&home);
        judged.args(folder.into_iter().flat_map(|it| ["--evidence", it])).args(["--", &command]);
        let said = Done::of(&mut judged).exits(0).stdout;
        assert!(said.starts_with("dangerous"), "{command}: {said}");
    }
}

/// A shell has taken the quotes away. What they would make worse is judged, and so is what they would make better.
#[test]
fn words_of_one_command_are_judged_as_such() {
    let home = Home::new();
    for (words, level) in [
        (&["bash", "-c", "rm -rf ~"][..], "blocked"),
        // Perhaps a line that was split at its spaces.
        (&["ls", "|", "sh"], "dangerous"),
        (&["echo", "hi", ">", "/etc/passwd"], "dangerous"),
        (&["cat", "a", "&&", "rm", "-rf", "/"], "blocked"),
        (&["LD_PRELOAD=/tmp/x y.so", "ls"], "dangerous"),
        (&["git", "status"], "safe"),
    ] {
        let said = Done::of(risk(&home).arg("--").args(words)).exits(0).stdout;
        assert!(said.starts_with(level), "{words:?}: {said}");
    }
}

#[test]
fn each_line_of_stdin_has_its_verdict() {
    let output = risk(&Home::new())
        .arg("--stdin")
        .write_stdin("ls\nmake\nrm -rf x\nrm -rf /")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let levels: Vec<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(levels, ["safe", "caution", "dangerous", "blocked"]);
}

#[test]
fn a_command_that_cannot_run_behind_walls_is_named() {
    let text = Done::of(risk(&Home::new()).args(["--", "docker ps"])).exits(0).stdout;
    assert!(text.contains(" Cannot run behind walls: docker: "), "{text}");
    let text = Done::of(risk(&Home::new()).args(["--", "ls"])).exits(0).stdout;
    assert!(!text.contains("walls"), "{text}");
}

#[test]
fn nothing_to_judge_is_a_usage_error() {
    let home = Home::new();
    Done::of(&mut risk(&home)).exits(5);
    Done::of(risk(&home).args(["--stdin", "--", "ls"])).exits(5);
}

#[test]
fn settings_rules_count_beside_built_in_verdict() {
    let home = Home::new();
    home.settings(RULE);
    let verdict = Done::of(risk(&home).args(["--json", "--", "sudo make deploy"])).exits(0);
    let verdict = verdict.document();
    assert_eq!(verdict["level"], "blocked");
    assert_eq!(verdict["rule"], "no-deploy");
    assert_eq!(verdict["user_rule"], true);
    assert_eq!(verdict["reason"], "Only the pipeline deploys.");
    assert_eq!(verdict["builtin"]["level"], "dangerous");
    assert!(verdict["builtin"]["rule"].is_string() && verdict["builtin"]["reason"].is_string());
    let text = Done::of(risk(&home).args(["--", "make deploy"])).exits(0).stdout;
    assert!(text.starts_with("blocked  no-deploy  Only the pipeline deploys."), "{text}");
    assert!(text.contains("by the built-in rules: dangerous"), "{text}");
    let untouched = Done::of(risk(&home).args(["--json", "--", "make test"])).exits(0).document();
    assert_eq!((&untouched["level"], &untouched["user_rule"]), (&json!("caution"), &json!(false)));
}

#[test]
fn a_bad_rule_is_named_and_nothing_runs() {
    let home = Home::new();
    home.write("a", "1");
    let plan = home.plan(json!([
        {"step_id": "s", "tool": "file_write", "arguments": {"path": "a", "contents": "2"}}
    ]));
    let plan = plan.to_str().unwrap();
    for bad in [
        RULE.replace("make test", "make deploy now"),
        RULE.replace("\"make deploy\",", "\"make test\","),
        RULE.replace("must_match", "must_mach"),
        RULE.replace("\"blocked\"", "\"safe\""),
    ] {
        home.settings(&bad);
        for arguments in
            [["run", plan, "--yes"], ["check", plan, "--json"], ["simulate", plan, "--json"]]
        {
            let refused = home.run(arguments).exits(5);
            let said = format!("{}{}", refused.stdout, refused.stderr);
            assert!(said.contains("no-deploy") && said.contains("settings.toml"), "{said}");
        }
        let refused = Done::of(risk(&home).args(["--", "ls"])).exits(5);
        assert!(refused.stderr.contains("no-deploy"), "{refused:?}");
        assert_eq!(fs::read_to_string(home.file("a")).unwrap(), "1");
    }
    home.settings(RULE);
    home.run(["run", plan, "--yes"]).exits(0);
    assert_eq!(fs::read_to_string(home.file("a")).unwrap(), "2");
}

#[test]
fn the_example_rule_of_the_user_guide_works() {
    let page = include_str!("../../../docs/rules.md");
    let shown = page.split("```toml").nth(1).unwrap().split("```").next().unwrap();
    let home = Home::new();
    home.settings(shown);
    let said = Done::of(risk(&home).args(["--", "bash -c 'make deploy'"])).exits(0).stdout;
    assert!(said.starts_with("blocked  no-deploy"), "{said}");
}
