//! The log of the program, written by real commands, and the bug report with its end.

mod doctor;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::json;

use crate::harness::home::{Done, Home};
use crate::harness::{create_file, read_file};

/// A text that must not be in the log.
const CONTENT: &str = "wombat";

fn folder(home: &Home) -> PathBuf {
    home.path().join(".local/state/countersign/log")
}

fn log(home: &Home) -> String {
    fs::read_to_string(folder(home).join("countersign.log")).unwrap_or_default()
}

/// The lines without their times, which are checked.
fn lines(home: &Home) -> Vec<String> {
    let log = log(home);
    let rest = |line: &str| {
        let (time, rest) = line.split_once(' ').unwrap();
        assert!(time.len() == 24 && time.parse::<jiff::Timestamp>().is_ok(), "{log}");
        let level = rest.split(' ').next().unwrap();
        assert!(["error", "warn", "info", "debug"].contains(&level), "{log}");
        assert!(rest.rsplit(" pid=").next().is_some_and(|it| it.parse::<u32>().is_ok()), "{log}");
        rest.to_owned()
    };
    log.lines().map(rest).collect()
}

fn has(home: &Home, text: &str) -> bool {
    lines(home).iter().any(|line| line.contains(text))
}

/// A home with a plan whose every text is [`CONTENT`]; its second step fails.
fn home() -> Home {
    let home = Home::new();
    let mut first = create_file(&format!("{CONTENT}-1"), &format!("{CONTENT}.txt"), CONTENT);
    first["title"] = format!("{CONTENT} is written").into();
    let second = read_file(&format!("{CONTENT}-2"), &format!("{CONTENT}-absent.txt"));
    let plan = json!({"plan_id": CONTENT, "intent": "MUTATE", "steps": [first, second]});
    home.write("p.json", plan.to_string());
    home
}

#[test]
fn run_is_logged_without_its_contents() {
    let home = home();
    let done = home.json(["run", "space/p.json", "--yes", "--log-level", "debug"]).exits(1);
    let run_id = done.lines().last().unwrap()["run_id"].as_str().unwrap().to_owned();
    for line in [
        "info cli started command=run version=",
        "info evidence evidence opened folder=",
        &format!("info engine run begun run={run_id} steps=2 pid="),
        "debug engine step begun step=0 pid=",
        "debug engine step ended step=0 outcome=succeeded code=none ms=",
        "warn engine step ended step=1 outcome=",
        "error engine run ended status=failed code=E",
        "info cli command ended exit=1 pid=",
    ] {
        assert!(has(&home, line), "{line}\n{}", log(&home));
    }
    assert!(!log(&home).contains(CONTENT), "{}", log(&home));
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let file = folder(&home).join("countersign.log");
    assert_eq!([mode(folder(&home)), mode(file)], [0o700, 0o600]);
}

#[test]
fn refusal_is_logged_with_its_code_alone() {
    let home = home();
    let _ = home.json(["run", "space/p.json", "--authorize", &"0".repeat(64)]).exits(3);
    assert!(has(&home, "error cli command refused code=E0"), "{}", log(&home));
    let _ = home.run(["check", &format!("space/{CONTENT}.json")]).exits(2);
    assert!(has(&home, "info cli command ended exit=2"), "{}", log(&home));
    assert!(!log(&home).contains(CONTENT), "{}", log(&home));
}

#[test]
fn level_is_that_of_the_line_then_the_environment_then_the_settings() {
    let run = |settings: &str, variable: &str, option: &[&str]| {
        let home = Home::new();
        home.settings(settings);
        let mut command = home.command();
        command.args(["risk"]).args(option).args(["--", "ls"]).env("COUNTERSIGN_LOG", variable);
        let _ = Done::of(&mut command).exits(0);
        (lines(&home).len(), home)
    };
    // At info: what began, and how it ended.
    assert!(run("", "", &[]).0 >= 3);
    assert_eq!(run("log = 'error'", "", &[]).0, 0);
    assert!(run("log = 'error'", "info", &[]).0 >= 3);
    assert_eq!(run("log = 'info'", "info", &["--log-level", "off"]).0, 0);
    let (_, home) = run("log = 'info'", "off", &[]);
    assert!(!folder(&home).exists());
    // A level that there is not.
    let (_, home) = run("log = 'error'", "loud", &[]);
    assert_eq!(lines(&home).len(), 0, "the warning is below the level of the settings");
    let (_, home) = run("", "loud", &[]);
    assert!(has(&home, "warn cli COUNTERSIGN_LOG is not used reason=\"the log has no level"));
    let (_, home) = run("log = 'loud'", "", &[]);
    assert!(has(&home, "warn cli the level of the settings is not used"));
    let refused = Done::of(home.command().args(["risk", "--log-level", "loud", "--", "ls"]));
    assert!(refused.exits(5).stderr.contains("[possible values: off, error, warn, info, debug]"));
}

/// What a command prints and how it ends does not depend on the log.
#[test]
fn folder_that_cannot_be_used_hinders_nothing() {
    let state = |home: &Home| home.path().join(".local/state/countersign");
    type Breaks = fn(&Home, &PathBuf);
    let faults: [(&str, Breaks); 5] = [
        ("a file in the way", |_, state| fs::write(state.join("log"), "").unwrap()),
        ("a link", |home, state| {
            fs::create_dir(home.path().join("elsewhere")).unwrap();
            symlink(home.path().join("elsewhere"), state.join("log")).unwrap();
        }),
        ("a full device", |_, state| {
            fs::create_dir(state.join("log")).unwrap();
            symlink("/dev/full", state.join("log/countersign.log")).unwrap();
        }),
        ("a folder in place of the file", |_, state| {
            fs::create_dir_all(state.join("log/countersign.log")).unwrap();
        }),
        ("a pipe that nobody reads", |_, state| {
            fs::create_dir(state.join("log")).unwrap();
            let pipe = state.join("log/countersign.log");
            let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
            rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).unwrap();
        }),
    ];
    for (name, fault) in faults {
        let home = home();
        fs::create_dir_all(state(&home)).unwrap();
        fault(&home, &state(&home));
        let done = home.json(["run", "space/p.json", "--yes"]).exits(1);
        assert!(done.stderr.is_empty() || !done.stderr.contains("log"), "{name}: {done:#?}");
        assert_eq!(home.json(["evidence", "verify"]).exits(0).document()["ok"], true, "{name}");
        let elsewhere = home.path().join("elsewhere");
        assert!(!elsewhere.exists() || fs::read_dir(elsewhere).unwrap().count() == 0, "{name}");
    }
}

#[test]
fn name_of_a_folder_forges_no_line_and_keeps_no_secret() {
    let home = home();
    let token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let forged = "x\n2026-11-29T14:29:30.123Z error engine run ended status=forged pid=1\n";
    for name in [forged, token, "\u{1b}[2J\u{202e}", "\" run=forged \""] {
        let evidence = home.path().join(name);
        let mut command = home.command();
        command.args(["run", "space/p.json", "--yes", "--evidence"]).arg(&evidence);
        let _ = Done::of(&mut command);
    }
    assert!(lines(&home).iter().all(|line| !line.starts_with("error engine run ended status=f")
        || line.contains("status=failed")));
    let log = log(&home);
    assert!(!log.contains(token) && log.contains("[secret:"), "{log}");
    assert!(!log.contains(['\u{1b}', '\u{202e}']), "{log}");
    assert!(log.contains(r#"/\" run=forged \"""#), "{log}");
}

#[test]
fn several_processes_keep_their_lines_whole() {
    let home = home();
    let mut children: Vec<_> = (0..8)
        .map(|_| {
            let mut child = home.child(["check", "space/p.json"]);
            child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        })
        .collect();
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    for child in children {
        let own = format!(" pid={}", child.id());
        let own: Vec<_> = lines(&home).into_iter().filter(|line| line.ends_with(&own)).collect();
        assert!(own[0].starts_with("info cli started command=check "), "{own:?}");
        assert!(own.last().unwrap().starts_with("info cli command ended exit=0"), "{own:?}");
    }
}
