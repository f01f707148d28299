//! Command plans from the command line (SPEC §1.2, §7.2, §11).

use serde_json::{Value, json};

use crate::harness::home::{Done, Home};

fn plan(home: &Home, steps: Value) {
    let plan = json!({ "id": "c", "goal": "Try it", "steps": steps });
    home.write("p.json", plan.to_string());
}

#[test]
fn check_says_what_a_command_plan_would_do() {
    let home = Home::new();
    plan(
        &home,
        json!([
            { "id": "look", "command": "ls", "description": "Look", "expectedOutput": "files",
              "riskAssessment": { "warningMessage": "Slow." } },
            { "command": "rm -r old", "verificationCommand": "test ! -e old" },
        ]),
    );
    let document = home.json(["check", "space/p.json"]).exits(0).document();
    assert_eq!((&document["valid"], &document["dialect"]), (&json!(true), &json!("command_plan")));
    let shown = &document["plan"];
    assert_eq!((&shown["plan_id"], &shown["title"]), (&json!("c"), &json!("Try it")));
    assert_eq!((&shown["mode"], &shown["target"]), (&json!("automatic"), &Value::Null));
    let ids: Vec<_> = shown["steps"].as_array().unwrap().iter().map(|it| &it["step_id"]).collect();
    assert_eq!(ids, ["look", "step_2", "step_2.verify"]);
    assert_eq!(shown["steps"][0]["arguments"], json!({ "command": "ls" }));
    assert_eq!(shown["steps"][0]["expected_output"], "files");
    assert_eq!(shown["steps"][0]["stated_risk"]["warning"], "Slow.");
    let risk = &document["risk"];
    assert_eq!(risk["worst"], "dangerous");
    assert_eq!(risk["steps"][0]["level"], "safe");
    assert_eq!(risk["steps"][1]["level"], "dangerous");
    assert!(risk["steps"][1]["span"].is_object() && risk["steps"][1]["asks"].is_string());
    assert!(risk["steps"][2]["asks"].is_null());
    let said = home.run(["check", "space/p.json"]).exits(0).stdout;
    assert!(said.contains("Run rm -r old") && said.contains("on this computer"), "{said}");
}

#[test]
fn a_blocked_command_is_refused_at_its_place() {
    let home = Home::new();
    home.write("p.json", "{ \"goal\": \"g\",\n  \"steps\": [{ \"command\": \"rm -rf /\" }] }");
    let document = home.json(["check", "space/p.json"]).exits(2).document();
    let finding = &document["findings"][0];
    assert_eq!((&finding["code"], &finding["line"]), (&json!("E017"), &json!(2)));
    assert_eq!((&finding["pointer"], &finding["column"]), (&json!("/steps/0/command"), &json!(26)));
    assert_eq!(document["risk"]["steps"][0]["level"], "blocked");
    let refused = home.json(["run", "space/p.json", "--yes", "--confirm", "approve"]).exits(2);
    assert_eq!(refused.error_code(), "E001");
    assert!(!home.evidence().exists(), "nothing ran, nothing is recorded");
}

#[test]
fn command_plan_runs_and_shows_output() {
    let home = Home::new();
    plan(
        &home,
        json!([{ "command": "printf 'one\\033[2Jtwo\\n'; echo bad >&2" }, { "command": "exit 4" }]),
    );
    let done = home.run(["run", "space/p.json", "--yes"]).exits(1);
    assert!(done.stderr.contains("Step 1 of 2: shell printf"), "{done:#?}");
    assert!(done.stderr.contains("one⟨ESC⟩[2Jtwo\n") && done.stderr.contains("bad\n"), "{done:#?}");
    assert!(done.stdout.contains("Step 2: E305 the command ended with exit code 4"), "{done:#?}");
    let done = home.json(["run", "space/p.json", "--yes"]).exits(1);
    assert_eq!(done.stderr, "");
    assert_eq!(done.document()["step_results"][1]["exit_code"], 4);
}

#[test]
fn without_a_terminal_a_dangerous_command_is_denied() {
    let home = Home::new();
    home.write("kept.txt", "x");
    plan(&home, json!([{ "command": "rm -r kept.txt" }]));
    let result = home.json(["run", "space/p.json", "--yes"]).exits(1).document();
    assert_eq!(result["step_results"][0]["error_code"], "E106");
    assert!(home.file("kept.txt").exists());
    let result = home.json(["run", "space/p.json", "--yes", "--confirm", "approve"]).exits(0);
    assert_eq!(result.document()["status"], "completed");
    assert!(!home.file("kept.txt").exists());
}

#[test]
fn a_guided_plan_without_a_terminal_is_cancelled() {
    let home = Home::new();
    let plan = json!({ "goal": "g", "mode": "guided", "steps": [{ "command": "echo x > x.txt" }] });
    home.write("p.json", plan.to_string());
    home.json(["run", "space/p.json", "--yes"]).exits(1);
    assert!(!home.file("x.txt").exists());
}

/// A program started by one that ignores a signal ignores it too, and Ctrl-C in a terminal would do nothing.
#[cfg(target_os = "linux")]
#[test]
fn signals_have_their_effect_in_commands_of_a_program_that_ignores_them() {
    let home = Home::new();
    plan(&home, json!([{ "command": "grep SigIgn /proc/self/status" }]));
    let run = ["run", "space/p.json", "--yes", "--confirm", "approve"];
    let done = home.child_ignoring("HUP INT QUIT TERM", run).output().unwrap();
    let printed = String::from_utf8(done.stderr).unwrap();
    let mask = printed.split("SigIgn:").nth(1).and_then(|it| it.split_whitespace().next());
    let mask = u64::from_str_radix(mask.unwrap_or_else(|| panic!("{printed}")), 16).unwrap();
    for signal in [1, 2, 3, 13, 15] {
        assert_eq!(mask >> (signal - 1) & 1, 0, "{signal} in {mask:x}");
    }
}

#[test]
fn environment_is_kept_except_shell_variables() {
    let home = Home::new();
    home.write("startup.sh", "echo startup ran\n");
    plan(
        &home,
        json!([{ "command": "echo $HERON; shopt -q extglob && echo glob; ls -d . ; set -o | grep posix" }]),
    );
    let mut command = home.command();
    command
        .args(["run", "space/p.json", "--yes", "--json", "--evidence"])
        .arg(home.evidence())
        .env("HERON", "grey")
        .env("BASH_ENV", home.file("startup.sh"))
        .env("ENV", home.file("startup.sh"))
        .env("BASHOPTS", "extglob")
        .env("SHELLOPTS", "posix")
        .env("POSIXLY_CORRECT", "1")
        .env("BASH_FUNC_ls%%", "() {  echo stolen\n}");
    let done = Done::of(&mut command).exits(0);
    let printed = done.document()["step_results"][0]["stdout"].as_str().unwrap().to_owned();
    let lines: Vec<&str> = printed.lines().map(str::trim_end).collect();
    assert_eq!(lines.len(), 3, "{printed}");
    assert_eq!(lines[..2], ["grey", "."]);
    assert!(lines[2].starts_with("posix") && lines[2].ends_with("off"), "{printed}");
}

/// The rollback plan never runs without a command of a person.
#[test]
fn failure_offers_rollback_as_a_plan() {
    let home = Home::new();
    let plan = json!({ "id": "c", "goal": "Try it", "rollbackPlan": ["rm made.txt", "echo back"],
        "steps": [{ "command": "echo x > made.txt" }, { "command": "false" }] });
    home.write("p.json", plan.to_string());
    let checked = home.json(["check", "space/p.json"]).exits(0).document();
    assert_eq!(checked["risk"]["rollback"][0]["level"], "caution");
    let done = home.json(["run", "space/p.json", "--yes"]).exits(1).document();
    assert!(home.file("made.txt").exists(), "nothing is taken back by itself");
    let text = done["rollback_plan"].as_str().unwrap();
    home.write("back.json", text);
    let back = home.json(["run", "space/back.json", "--yes"]).exits(0).document();
    assert!(back["plan_id"].as_str().unwrap().starts_with("c.rolls-back-"));
    assert!(back.get("rollback_plan").is_none());
    assert!(!home.file("made.txt").exists());
    let said = home.run(["run", "space/p.json", "--yes"]).exits(1).stdout;
    assert!(said.contains("    rm made.txt\n    echo back\n"), "{said}");
}

#[test]
fn rest_of_command_plan_is_command_plan() {
    let home = Home::new();
    plan(
        &home,
        json!([
            { "id": "a", "command": "echo x >> a.txt", "verificationCommand": "test -e gate.txt" },
            { "id": "b", "command": "echo y >> b.txt" },
        ]),
    );
    let result = home.json(["run", "space/p.json", "--yes"]).exits(1).document();
    let run = result["run_id"].as_str().unwrap();
    home.write("gate.txt", "");
    let again = home.json(["continue", run, "--yes"]).exits(0).document();
    let ids: Vec<_> =
        again["step_results"].as_array().unwrap().iter().map(|it| &it["step_id"]).collect();
    assert_eq!(ids, ["a.verify", "b"]);
    assert_eq!(std::fs::read_to_string(home.file("a.txt")).unwrap(), "x\n", "not run twice");
    assert!(home.file("b.txt").exists());
}

#[test]
fn simulate_runs_nothing() {
    let home = Home::new();
    plan(&home, json!([{ "command": "echo x > x.txt" }]));
    let document = home.json(["simulate", "space/p.json"]).exits(0).document();
    assert_eq!(document["steps"][0]["predicted"], "unpredictable");
    let done = home.run(["simulate", "space/p.json"]).exits(0);
    assert!(done.stdout.starts_with("  1  shell  echo x > x.txt  Runs the command"), "{done:#?}");
    assert!(!home.file("x.txt").exists());
}

/// A PATH entry inside the workspace is ignored, also through a link.
#[cfg(unix)]
#[test]
fn workspace_programs_do_not_replace_system_programs() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    std::fs::create_dir(home.file("bin")).unwrap();
    let own = home.write("bin/ls", "#!/bin/sh\necho not the one that was judged\n");
    std::fs::set_permissions(own, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink(home.file("bin"), home.path().join("link")).unwrap();
    plan(&home, json!([{ "command": "ls p.json; echo \"$PATH\"" }]));
    let system = std::env::var("PATH").unwrap();
    let (inside, link) = (home.file("bin"), home.path().join("link"));
    let path = format!("{}:{}:{system}", inside.display(), link.display());
    let run = |words: &[&str]| {
        let mut command = home.command();
        command.env("PATH", &path).args(words).arg("--json");
        Done::of(command.arg("--evidence").arg(home.evidence()))
    };
    let document =
        run(&["run", "space/p.json", "--yes", "--confirm", "approve"]).exits(0).document();
    let step = &document["step_results"][0];
    let lines: Vec<&str> = step["stdout"].as_str().unwrap().lines().collect();
    assert_eq!(lines[0], "p.json");
    assert!(!lines[1].contains("/space/bin") && !lines[1].contains("/link"), "{}", lines[1]);
    let id = step["execution_id"].as_str().unwrap();
    let shown = run(&["evidence", "show", id]).exits(0).stdout;
    assert!(shown.contains("not_in_path"), "{shown}");
}
