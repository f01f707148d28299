//! Where exports go: a file that only the user can read, complete or not at all, and never over another.

use std::fs;

use serde_json::json;

use super::{exported, first_run, further_runs, home, run_id};

#[test]
fn a_file_is_private_and_replaced_only_if_told() {
    let home = home();
    first_run(&home);
    let line = ["evidence", "export", "--format", "csv", "--out", "out.csv"];
    let document = home.json(line).exits(0).document();
    let path = home.path().join("out.csv");
    let bytes = fs::read(&path).unwrap();
    assert_eq!(
        document,
        json!({"file": "out.csv", "format": "csv", "runs": 1, "executions": 6, "changed": 0, "not_proven": null,
               "bytes": bytes.len()})
    );
    assert_eq!(String::from_utf8(bytes).unwrap(), exported(&home, "csv", &[]));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    fs::write(&path, "mine").unwrap();
    let refused = home.run(line).exits(5);
    assert!(refused.stderr.contains("--force"), "{refused:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    let people = home.run(line.into_iter().chain(["--force"])).exits(0);
    assert!(people.stdout.starts_with("6 executions of 1 run are in "), "{people:?}");
    assert!(fs::read_to_string(&path).unwrap().starts_with("\"execution_id\""));
}

/// Neither by an export that may replace files nor by a case file.
#[test]
fn the_evidence_is_never_replaced() {
    let home = home();
    let result = first_run(&home);
    let database = home.evidence().join("execution_log.db");
    let before = fs::read(&database).unwrap();
    let out = database.to_str().unwrap();
    let export = ["evidence", "export", "--format", "csv", "--out", out, "--force"];
    let case = ["evidence", "case", run_id(&result), "--out", out, "--force"];
    for line in [&export[..], &case] {
        let refused = home.run(line.iter().copied()).exits(1);
        assert!(refused.stderr.contains("folder of the evidence"), "{refused:?}");
    }
    assert_eq!(fs::read(&database).unwrap(), before);
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let home = home();
    first_run(&home);
    let line = ["evidence", "export", "--format", "csv", "--out", "absent/out.csv"];
    assert_eq!(home.json(line).exits(1).error_code(), "E302");
    let line = ["evidence", "export", "--format", "asciicast"];
    assert_eq!(home.json(line).exits(5).error_code(), "E014");
    let line = ["evidence", "export", "--format", "pdf"];
    assert!(home.run(line).exits(5).stderr.contains("jsonl, csv, sarif, junit, asciicast, html"));
}

/// The signal may arrive at any time: before the export, in the middle of it, or after it.
#[cfg(unix)]
#[test]
fn an_interrupted_export_leaves_all_or_nothing() {
    use rustix::process::{Pid, Signal, kill_process};

    let home = home();
    let runs = [first_run(&home), further_runs(&home)[1].clone()];
    let before: Vec<_> = names(&home);
    let mut complete = 0;
    for attempt in 0..20 {
        let name = format!("case-{attempt}.zip");
        let line = ["evidence", "case", run_id(&runs[1]), "--out", &name];
        let mut child = home.child(line).stdout(std::process::Stdio::null()).spawn().unwrap();
        // Each attempt gives it longer, counted in other work.
        for _ in 0..attempt * attempt * 10 {
            fs::read(home.database()).unwrap();
        }
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        child.wait().unwrap();
        let path = home.path().join(&name);
        if path.exists() {
            assert_eq!(super::verified(&path).0, 0, "a file that is there is complete");
            fs::remove_file(&path).unwrap();
            complete += 1;
        }
        assert_eq!(names(&home), before, "nothing else is left");
    }
    println!("{complete} of 20 were complete");
}

#[cfg(unix)]
fn names(home: &crate::harness::home::Home) -> Vec<std::ffi::OsString> {
    let entries = fs::read_dir(home.path()).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}
