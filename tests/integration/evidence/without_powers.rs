//! The evidence for a user who may not write, and on a disk that is full (SPEC §3, §8).

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::unusable::{QUESTIONS, assert_evidence_refusal, files, home};
use crate::harness::create_file;
use crate::harness::home::Home;
use crate::harness::unprivileged::{Unprivileged, with_files_up_to};

/// An ordinary user is restricted by `chmod`; root first becomes one (`setpriv`).
#[test]
fn read_only_folder_answers_and_records_nothing() {
    let home = home();
    let report = home.json(["evidence", "verify"]).exits(0).document();
    let user = Unprivileged::of(&home);
    for file in ["execution_log.db", "locks/setup.lock"] {
        user.forbid(&home.evidence().join(file), 0o444);
    }
    user.forbid(&home.evidence().join("locks"), 0o555);
    user.forbid(&home.evidence(), 0o555);
    let before = files(&home);
    assert_evidence_refusal(user.json(&["run", "space/p.json", "--yes"]), "Permission denied");
    assert!(!home.file("c.txt").exists());
    assert_eq!(user.json(&["evidence", "verify"]).exits(0).document(), report);
    for question in &QUESTIONS[1..3] {
        assert_eq!(user.json(question).exits(0).lines().len(), 1, "{question:?}");
    }
    assert_eq!(files(&home), before);
}

/// Only the database itself, or only its folder, is read-only.
#[test]
fn read_only_database_records_nothing() {
    for (read_only, mode) in [("execution_log.db", 0o444), ("", 0o555)] {
        let home = home();
        let report = home.json(["evidence", "verify"]).exits(0).document();
        // The query above left these files; with them SQLite would not need to create any.
        for suffix in ["-wal", "-shm"] {
            let _ = fs::remove_file(home.evidence().join(format!("execution_log.db{suffix}")));
        }
        let user = Unprivileged::of(&home);
        user.forbid(&home.evidence().join(read_only), mode);
        assert_evidence_refusal(user.json(&["run", "space/p.json", "--yes"]), "");
        assert!(!home.file("c.txt").exists(), "{read_only:?}");
        assert_eq!(user.json(&["evidence", "verify"]).exits(0).document(), report);
    }
}

#[test]
fn uncreatable_folder_is_reported() {
    let home = Home::new();
    home.plan(json!([create_file("make", "c.txt", "never\n")]));
    let user = Unprivileged::of(&home);
    user.forbid(home.path(), 0o555);
    assert_evidence_refusal(user.json(&["run", "space/p.json", "--yes"]), "Permission denied");
    assert!(!home.file("c.txt").exists() && !home.evidence().exists());
}

/// Records in the log of a killed process are read even where the log's index cannot be written.
#[test]
fn records_in_the_log_are_read() {
    let home = home();
    // Closing the last connection would empty the log.
    let other = home.sql();
    let _ = other.query_row("SELECT count(*) FROM runs", [], |row| row.get::<_, i64>(0));
    let _ = home.json(["run", "space/p.json", "--yes"]).exits(0);
    let report = home.json(["evidence", "verify"]).exits(0).document();
    let copy = home.path().join("copy");
    fs::create_dir(&copy).unwrap();
    for name in ["execution_log.db", "execution_log.db-wal"] {
        fs::copy(home.evidence().join(name), copy.join(name)).unwrap();
    }
    drop(other);
    fs::remove_dir_all(home.evidence()).unwrap();
    fs::rename(&copy, home.evidence()).unwrap();
    fs::write(home.evidence().join("execution_log.db-shm"), "").unwrap();
    fs::remove_file(home.file("c.txt")).unwrap();

    let user = Unprivileged::of(&home);
    user.forbid(&home.evidence().join("execution_log.db-shm"), 0o444);
    assert_evidence_refusal(user.json(&["run", "space/p.json", "--yes"]), "");
    assert!(!home.file("c.txt").exists());
    let verified = user.json(&["evidence", "verify"]);
    if verified.code == 0 {
        assert_eq!(verified.document(), report, "answered with all that is in the log");
    } else {
        assert_evidence_refusal(verified, "the latest records are still in a log");
    }
    drop(user);
    fs::remove_file(home.evidence().join("execution_log.db-shm")).unwrap();
    assert_eq!(home.json(["evidence", "verify"]).exits(0).document(), report);
}

/// No file can grow (`prlimit --fsize`), as on a full disk.
#[test]
fn on_a_full_disk_nothing_is_begun() {
    let fresh = Home::new();
    fresh.plan(json!([create_file("make", "c.txt", "never\n")]));
    let recorded = home();
    let report = recorded.json(["evidence", "verify"]).exits(0).document();
    for (home, limit) in [(&fresh, 0), (&fresh, 4096), (&recorded, 0), (&recorded, 4096)] {
        assert_evidence_refusal(
            with_files_up_to(limit, home, &["run", "space/p.json", "--yes"]),
            "",
        );
        assert!(!home.file("c.txt").exists(), "{limit}");
    }
    assert_eq!(recorded.json(["evidence", "verify"]).exits(0).document(), report);
    for home in [fresh, recorded] {
        let _ = home.json(["run", "space/p.json", "--yes"]).exits(0);
        assert_eq!(home.json(["evidence", "verify"]).exits(0).document()["ok"], true);
    }
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

/// The disk becomes full (`prlimit --fsize`) at each page that the second of three steps writes: before its
/// intent, between intent and outcome, or after it.
#[test]
fn disk_full_ends_the_run_with_evidence() {
    const PAGE: u64 = 4096;
    let (mut before_the_effect, mut after_the_effect, mut limit) = (0, 0, 40 * PAGE);
    loop {
        let home = Home::new();
        home.plan((0..3).map(|n| create_file(&format!("s{n}"), &format!("f{n}"), "x\n")).collect());
        let done = with_files_up_to(limit, &home, &["run", "space/p.json", "--yes"]);
        if done.code == 0 {
            break;
        }
        let refusal = assert_evidence_refusal(done, "").document();
        let details = &refusal["error"]["details"];
        let recorded = list(details, "step_results").len();
        let made = (0..3).take_while(|n| home.file(&format!("f{n}")).exists()).count();
        assert!((made..3).all(|n| !home.file(&format!("f{n}")).exists()), "nothing later");
        let report = home.json(["evidence", "verify"]).exits(0).document();
        assert_eq!(report["ok"], true, "{limit}: {report}");
        if recorded == 0 && details["run_id"].is_null() {
            assert_eq!(made, 0);
        } else if let Some(lost) = details["not_recorded"].as_object() {
            after_the_effect += 1;
            assert_eq!((made, &lost["step_index"]), (recorded + 1, &json!(recorded)));
            assert_eq!(lost["outcome"], "succeeded");
            let message = refusal["error"]["message"].as_str().unwrap();
            let words = format!("that step s{recorded} succeeded is not recorded");
            assert!(message.contains(&words), "{message}");
        } else {
            before_the_effect += 1;
            assert_eq!(made, recorded, "no evidence, no execution");
        }
        let rows = home.json(["evidence", "search"]).exits(0).lines();
        let succeeded = rows.iter().filter(|row| row["outcome"] == "succeeded").count();
        assert_eq!(succeeded, recorded, "the reported results are the recorded ones");
        let unknown = rows.iter().filter(|row| row["outcome"] == "interrupted").count();
        assert_eq!(unknown, made - recorded, "an effect without its record is in doubt");
        limit += PAGE;
    }
    println!("{before_the_effect} before the effect, {after_the_effect} after it");
    assert!(before_the_effect > 0 && after_the_effect > 0);
}

/// Whether any process has this in its command line. Behind walls process ids differ from those outside.
fn is_running(words: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|process| {
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(words)
    })
}

/// The disk becomes full (`prlimit --fsize`) in the middle of an endless output.
#[test]
fn disk_full_during_output_ends_the_run() {
    const MIB: u64 = 1024 * 1024;
    for (limit, prints) in [
        (MIB, "base64 -w 100 /dev/urandom"),
        (12 * MIB, "base64 -w 0 /dev/urandom >&2"),
        (6 * MIB, "base64 /dev/urandom & base64 /dev/urandom >&2"),
    ] {
        let home = Home::new();
        let mark = format!("echo {} > begun", home.path().display());
        let command = format!("{mark}; {prints}; echo too late > after");
        let steps = json!([
            { "id": "a", "command": "echo before" },
            { "id": "b", "command": command, "timeoutSeconds": 90 },
            { "id": "c", "command": "touch never" },
        ]);
        home.write("p.json", json!({ "id": "p", "goal": "x", "steps": steps }).to_string());
        let began = Instant::now();
        let done = with_files_up_to(limit, &home, &["run", "space/p.json", "--yes"]);
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
        let refusal = assert_evidence_refusal(done, "").document();
        let details = &refusal["error"]["details"];
        let recorded = list(details, "step_results");
        assert_eq!(recorded.len(), 1, "{refusal:#}");
        assert_eq!((&recorded[0]["step_id"], &recorded[0]["success"]), (&json!("a"), &json!(true)));
        assert!(home.file("begun").exists() && !is_running(&mark), "{prints} is ended");
        assert!(!home.file("never").exists() && !home.file("after").exists());
        let report = home.json(["evidence", "verify"]).exits(0).document();
        assert_eq!(report["ok"], true, "{report}");
        let rows = home.json(["evidence", "search"]).exits(0).lines();
        let outcomes: Vec<_> = rows.iter().map(|row| row["outcome"].as_str().unwrap()).collect();
        assert_eq!(outcomes.len(), 2, "{rows:?}");
        assert!(outcomes.contains(&"succeeded") && outcomes.contains(&"interrupted"), "{rows:?}");
        // With free space the next run is recorded.
        home.plan(json!([create_file("make", "c.txt", "new\n")]));
        let _ = home.json(["run", "space/p.json", "--yes"]).exits(0);
        assert_eq!(home.json(["evidence", "verify"]).exits(0).document()["ok"], true);
    }
}
