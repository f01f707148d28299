//! Evidence that differs from the kept head, through the real command (SPEC §8, §11): it can be read, nothing
//! runs with it, and a person may accept it with a reason.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::harness::home::{Done, Home};
use crate::harness::{create_file, read_file};

/// A home with one recorded run, and a plan that creates another file.
fn home() -> Home {
    let home = Home::new();
    home.write("a.txt", "a wombat\n");
    run_of(&home, "b.txt").exits(0);
    home
}

fn run_of(home: &Home, file: &str) -> Done {
    home.plan(json!([read_file("look", "a.txt"), create_file("make", file, "new\n")]));
    home.json(["run", "space/p.json", "--yes"])
}

fn state(home: &Home) -> PathBuf {
    home.path().join(".local/state/countersign")
}

fn settings(home: &Home) -> PathBuf {
    home.path().join(".config/countersign")
}

fn verify(home: &Home, code: i32) -> Value {
    home.json(["evidence", "verify"]).exits(code).document()
}

fn accept(home: &Home, reason: &str) -> Done {
    home.json(["evidence", "accept-head", "--reason", reason])
}

/// Asserts that the evidence can be read, that nothing runs, and that accepting it records the reason.
fn assert_only_readable(home: &Home, words: &str) {
    let report = verify(home, 6);
    let said = report["kept"]["difference"].as_str().unwrap().to_owned();
    assert!(said.contains(words), "{said}");
    assert_eq!(report["ok"], false);
    let searched = home.json(["evidence", "search"]).exits(0);
    assert!(searched.stderr.contains(words) && searched.stderr.contains("accept-head"));
    let refused = run_of(home, "never.txt").exits(4);
    assert_eq!(refused.error_code(), "E401");
    assert!(
        refused.stderr.contains(words) && refused.stderr.contains("accept-head"),
        "{refused:#?}"
    );
    assert!(!home.file("never.txt").exists());
    assert_eq!(verify(home, 6), report, "asking changes nothing");

    let accepted = accept(home, "I know why").exits(0).document();
    assert_eq!(accepted["difference"], said.as_str());
    let report = verify(home, 0);
    assert!(report["kept"]["difference"].is_null() && report["kept"]["kept_head"].is_string());
    assert_eq!(recorded(home), [("I know why".to_owned(), said)]);
    run_of(home, "later.txt").exits(0);
    assert!(home.file("later.txt").exists());
    verify(home, 0);
}

fn recorded(home: &Home) -> Vec<(String, String)> {
    let conn = home.sql();
    let mut statement = conn.prepare("SELECT reason, difference FROM head_acceptances").unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

#[test]
fn an_emptied_database_is_found() {
    let home = home();
    fs::write(home.database(), "").unwrap();
    assert_only_readable(&home, "is gone or empty");
}

#[test]
fn a_removed_evidence_folder_is_found() {
    let home = home();
    fs::remove_dir_all(home.evidence()).unwrap();
    assert_only_readable(&home, "is gone or empty");
}

#[test]
fn restored_older_database_is_found() {
    let home = home();
    let earlier = fs::read(home.database()).unwrap();
    run_of(&home, "c.txt").exits(0);
    fs::write(home.database(), earlier).unwrap();
    assert_only_readable(&home, "was removed or replaced");
}

#[test]
fn another_database_is_found() {
    let (home, other) = (home(), self::home());
    fs::copy(other.database(), home.database()).unwrap();
    assert_only_readable(&home, "another database is in the place");
}

/// The remaining copy shows that heads were kept and one copy was removed.
#[test]
fn lost_copy_of_heads_is_reported() {
    let never = Home::new();
    assert!(verify(&never, 0)["kept"]["note"].is_null(), "no head was ever kept");
    let home = home();
    assert!(verify(&home, 0)["kept"]["note"].is_null());
    for folder in [state(&home), settings(&home)] {
        let copy = folder.join("evidence_heads.json");
        for damage in [None, Some("{}")] {
            match damage {
                None => fs::remove_file(&copy).unwrap(),
                Some(text) => fs::write(&copy, text).unwrap(),
            }
            let report = verify(&home, 0);
            let note = report["kept"]["note"].as_str().unwrap();
            assert!(note.contains(copy.to_str().unwrap()), "{note}");
            for words in [&["evidence", "verify"][..], &["evidence", "search"]] {
                let told = home.run(words.iter().copied()).exits(0);
                assert!(
                    told.stderr.contains(
                        "copies of the kept head, the digest of the last record, was lost"
                    ),
                    "{told:#?}"
                );
            }
            let run = run_of(&home, "b.txt");
            assert!(
                run.stderr
                    .contains("copies of the kept head, the digest of the last record, was lost"),
                "{run:#?}"
            );
            assert!(verify(&home, 0)["kept"]["note"].is_null(), "the next run writes both");
        }
    }
}

#[test]
fn evidence_of_another_computer_is_found() {
    let home = home();
    fs::remove_dir_all(state(&home)).unwrap();
    verify(&home, 0);
    run_of(&home, "c.txt").exits(0);
    assert!(state(&home).join("evidence_heads.json").exists(), "from the copy beside the key");
    fs::remove_dir_all(state(&home)).unwrap();
    fs::remove_file(settings(&home).join("evidence_heads.json")).unwrap();
    assert_only_readable(&home, "keeps no head, the digest of the last record");
}

#[test]
fn kept_heads_that_were_changed_are_found() {
    let home = home();
    for folder in [state(&home), settings(&home)] {
        let path = folder.join("evidence_heads.json");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen("\"rows\":", "\"rows\":1", 1)).unwrap();
    }
    assert_only_readable(&home, "the kept head, the digest of the last record, cannot be used");
}

#[test]
fn heads_of_two_databases_are_independent() {
    let home = home();
    let other = home.path().join("other");
    home.plan(json!([create_file("make", "other.txt", "x")]));
    let run = |folder: &Path| {
        let mut command = home.command();
        command.args(["run", "space/p.json", "--yes", "--json", "--evidence"]).arg(folder);
        Done::of(&mut command)
    };
    let _ = run(&other).exits(0);
    run_of(&home, "d.txt").exits(0);
    fs::write(other.join("execution_log.db"), "").unwrap();
    verify(&home, 0);
    assert_eq!(run(&other).exits(4).error_code(), "E401");
    run_of(&home, "e.txt").exits(0);
    // A moved folder holds the same database.
    let moved = home.path().join("moved");
    fs::rename(home.evidence(), &moved).unwrap();
    home.plan(json!([create_file("make", "moved.txt", "x")]));
    let _ = run(&moved).exits(0);
}

#[test]
fn unchanged_evidence_cannot_be_accepted() {
    let home = home();
    let refused = accept(&home, "for fun").exits(4);
    assert!(refused.stderr.contains("there is nothing to accept"), "{refused:#?}");
    assert_eq!(recorded(&home), []);
    assert_eq!(home.run(["evidence", "accept-head"]).code, 5, "a reason is needed");
    assert_eq!(accept(&home, "").code, 5);
}

#[test]
fn without_a_folder_for_heads_nothing_runs() {
    let home = Home::new();
    home.write("a.txt", "a wombat\n");
    fs::create_dir_all(home.path().join(".local")).unwrap();
    fs::write(home.path().join(".local/state"), "not a folder").unwrap();
    let refused = run_of(&home, "b.txt").exits(4);
    assert_eq!(refused.error_code(), "E401");
    assert!(refused.stderr.contains("cannot be kept outside"), "{refused:#?}");
    assert!(!home.file("b.txt").exists());
}
