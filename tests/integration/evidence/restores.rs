//! Backups and restores that are killed at every point (SPEC §14): the old evidence or the backup is there, whole.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::retention::python;
use crate::harness::home::Home;
use crate::harness::{create_file, tree};

/// Runs a command that is killed at this point.
fn killed_at(home: &Home, point: &str, line: &[&str]) {
    let at = home.evidence().join("execution_log.abort_at");
    fs::write(&at, point).unwrap();
    let status = home.child(line.iter().copied()).output().unwrap().status;
    assert_eq!(status.code(), None, "{point}: the process was killed");
    fs::remove_file(&at).unwrap();
}

fn run(home: &Home, file: &str) -> String {
    home.plan(json!([create_file("make", file, "a wombat digs\n")]));
    let done = home.json(["run", "space/p.json", "--yes"]).exits(0).document();
    done["run_id"].as_str().unwrap().to_owned()
}

fn has_run(home: &Home, run_id: &str) -> bool {
    home.json(["evidence", "show", run_id]).code == 0
}

fn verified(home: &Home) -> Value {
    let report = home.json(["evidence", "verify"]).exits(0).document();
    python(&home.evidence()).exits(0);
    report
}

/// The names in the evidence folder that begin with this.
fn names(home: &Home, begin: &str) -> Vec<String> {
    let entries = fs::read_dir(home.evidence()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(begin)).collect()
}

#[test]
fn a_killed_restore_leaves_the_old_or_the_restored_evidence() {
    let before = ["restore copied", "restore noted", "restore put aside", "restore without log"];
    let after =
        ["restore replaced", "restore without index", "restore recorded", "restore accepted"];
    for point in before.into_iter().chain(after) {
        let home = Home::new();
        let kept = run(&home, "a.txt");
        let backup = home.path().join("backup.db");
        let path = backup.to_str().unwrap();
        let _ = home.run(["evidence", "backup", path]).exits(0);
        let lost = run(&home, "b.txt");
        let _ = home.json(["evidence", "search", "wombat"]).exits(0);
        let restore = ["evidence", "restore", path, "--reason", "the disk failed"];
        killed_at(&home, point, &restore);

        let is_restored = after.contains(&point);
        verified(&home);
        assert!(has_run(&home, &kept), "{point}");
        assert_eq!(has_run(&home, &lost), !is_restored, "{point}");
        // What was there is not lost.
        if is_restored {
            let aside = home.evidence().join("execution_log.before-restore-1");
            python(&aside).exits(0);
        }
        // Nothing is needed before the next run, which finishes the restore or forgets it.
        let next = run(&home, "c.txt");
        let report = verified(&home);
        assert!(report["kept"]["difference"].is_null() && report["kept"]["note"].is_null());
        let reasons = home.texts("SELECT reason FROM head_acceptances", []);
        let expected: &[&str] = if is_restored { &["the disk failed"] } else { &[] };
        assert_eq!(reasons, expected, "{point}");
        let asides = names(&home, "execution_log.before-restore");
        assert_eq!(asides.len(), usize::from(is_restored), "{point}: {asides:?}");
        assert!(has_run(&home, &next), "{point}");

        // Again, to the end.
        let restored = home.json(restore).exits(0).document();
        assert!(restored["moved_to"].is_string() && restored["difference"].is_string());
        verified(&home);
        assert!(has_run(&home, &kept) && !has_run(&home, &next), "{point}");
        let left = tree(&home.evidence()).into_keys().filter(|name| name.ends_with(".tmp"));
        assert_eq!(left.collect::<Vec<_>>(), [] as [String; 0], "{point}");
    }
}

/// A restore into a folder in which nothing was yet, on a computer that knows nothing of the evidence.
#[test]
fn a_killed_restore_elsewhere_is_finished() {
    for point in ["restore noted", "restore without log", "restore replaced", "restore recorded"] {
        let (home, other) = (Home::new(), Home::new());
        let kept = run(&home, "a.txt");
        let backup = home.path().join("backup.db");
        let path = backup.to_str().unwrap();
        let _ = home.run(["evidence", "backup", path]).exits(0);
        fs::create_dir_all(other.evidence()).unwrap();
        let restore = ["evidence", "restore", path, "--reason", "a new computer"];
        killed_at(&other, point, &restore);
        verified_or_empty(&other, &kept);
        run(&other, "b.txt");
        verified_or_empty(&other, &kept);
        let _ = other.json(restore).exits(0);
        verified(&other);
        assert!(has_run(&other, &kept), "{point}");
    }
}

fn verified_or_empty(home: &Home, run_id: &str) {
    let report = home.json(["evidence", "verify"]).exits(0).document();
    if report["rows"] != 0 && has_run(home, run_id) {
        python(&home.evidence()).exits(0);
    }
}

#[test]
fn a_killed_backup_is_whole_or_not_there() {
    for point in ["backup begun", "backup verified", "backup named"] {
        let home = Home::new();
        let kept = run(&home, "a.txt");
        let file = home.path().join("backup.db");
        let line = ["evidence", "backup", file.to_str().unwrap()];
        killed_at(&home, point, &line);
        verified(&home);
        assert!(has_run(&home, &kept), "{point}");
        assert_eq!(file.exists(), point == "backup named", "{point}");
        if file.exists() {
            python(Path::new(&file)).exits(0);
            fs::remove_file(&file).unwrap();
        }
        let _ = home.json(line).exits(0);
        python(&file).exits(0);
    }
}
