//! Every way in which the evidence can be unusable, through the real command (SPEC §3, §8, §11): without
//! evidence nothing runs, the error says what to do, and earlier records are kept.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use countersign::plan::Digest;
use serde_json::json;

use crate::harness::home::{Done, Home};
use crate::harness::tree;
use crate::harness::{create_file, read_file};

/// Queries of the evidence.
pub const QUESTIONS: [&[&str]; 4] = [
    &["evidence", "verify"],
    &["evidence", "search", "wombat"],
    &["evidence", "query", "q1", "file_read"],
    &["evidence", "show", "00000000-0000-4000-8000-000000000000"],
];

/// A home with one recorded run, and a plan that creates another file.
pub fn home() -> Home {
    let home = Home::new();
    home.write("a.txt", "a wombat\n");
    home.plan(json!([read_file("look", "a.txt"), create_file("make", "b.txt", "new\n")]));
    let _ = home.json(["run", "space/p.json", "--yes"]).exits(0);
    home.plan(json!([read_file("look", "a.txt"), create_file("make", "c.txt", "never\n")]));
    home
}

/// The digest of every file of workspace and evidence, without the files that SQLite and the lock leave after
/// reading.
pub fn files(home: &Home) -> BTreeMap<String, Digest> {
    let named = |place: &'static str, folder| {
        let files = tree(folder).into_iter().filter(|(name, bytes)| {
            let log_without_records = name.ends_with("-wal") && bytes.is_empty();
            !name.ends_with("-shm") && !name.ends_with(".lock") && !log_without_records
        });
        files.map(move |(name, bytes)| (format!("{place}/{name}"), Digest::of(&bytes)))
    };
    named("space", &home.file("")).chain(named("evidence", &home.evidence())).collect()
}

/// Asserts an evidence error with these words and advice.
pub fn assert_evidence_refusal(done: Done, words: &str) -> Done {
    let done = done.exits(4);
    assert_eq!(done.error_code(), "E401");
    let message = done.document()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains(words), "{message}");
    let said: Vec<&str> = done.stderr.lines().collect();
    assert!(said.len() >= 2 && said.last().unwrap().ends_with('.'), "what to do next: {said:?}");
    done
}

/// Asserts that no run and no query succeeds, each with these words, and that no file changes.
pub fn assert_unusable(home: &Home, words: &str) {
    let before = files(home);
    let ran = assert_evidence_refusal(home.json(["run", "space/p.json", "--yes"]), words);
    assert_eq!(ran.document()["error"]["details"].get("step_results"), None, "nothing was begun");
    for question in QUESTIONS {
        assert_evidence_refusal(home.json(question.iter().copied()), words);
    }
    assert_eq!(files(home), before);
}

#[test]
fn evidence_of_a_newer_version_is_kept() {
    let home = home();
    home.sql().pragma_update(None, "user_version", 9).unwrap();
    assert_unusable(&home, "written by a newer version of this program (format 9, known is 7)");
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    let home = home();
    home.sql().pragma_update(None, "application_id", 0x1234).unwrap();
    assert_unusable(&home, "a database of another program");
    fs::remove_file(home.database()).unwrap();
    home.sql().execute_batch("CREATE TABLE notes (a); INSERT INTO notes VALUES (1)").unwrap();
    assert_unusable(&home, "a database of another program");
}

/// Pseudorandom bytes, the same in each run.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    })
    .take(length)
    .collect()
}

#[test]
fn damaged_database_is_refused_and_not_written() {
    let sound = home();
    let bytes = fs::read(sound.database()).unwrap();
    let page = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    let pages = bytes.len() / page;
    assert!(pages > 20, "{pages}");
    let header = [&noise(100)[..], &bytes[100..]].concat();
    let first_page = [&bytes[..100], &noise(page - 100), &bytes[page..]].concat();
    let middle = [&bytes[..page], &noise(bytes.len() - page)].concat();
    for (what, damaged) in [
        ("its header", header),
        ("its first page", first_page),
        ("all pages but the first", middle),
        ("cut off in the header", bytes[..50].to_vec()),
        ("cut off after a page", bytes[..page].to_vec()),
        ("cut off in the middle", bytes[..bytes.len() / 2].to_vec()),
        ("cut off within a page", bytes[..bytes.len() / 2 + 123].to_vec()),
    ] {
        println!("{what}");
        fs::write(sound.database(), damaged).unwrap();
        assert_unusable(&sound, "damaged");
    }
    fs::write(sound.database(), &bytes).unwrap();
    let report = sound.json(["evidence", "verify"]).exits(0).document();
    assert_eq!(report["ok"], true, "a copy that is brought back is the evidence again");
}

/// Any page, also one of an index, which contains no rows itself.
#[test]
fn every_damaged_page_is_found() {
    let home = home();
    let bytes = fs::read(home.database()).unwrap();
    let page = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    let mut told = [0; 7];
    for start in (page..bytes.len()).step_by(page) {
        let mut damaged = bytes.clone();
        damaged[start..start + page].copy_from_slice(&noise(page));
        fs::write(home.database(), &damaged).unwrap();
        let done = home.json(["evidence", "verify"]);
        assert!(!done.stderr.contains("panicked"), "{done:#?}");
        told[usize::try_from(done.code).unwrap()] += 1;
    }
    println!("of {} pages, exit codes {told:?}", bytes.len() / page - 1);
    assert_eq!(told[4] + told[6], bytes.len() / page - 1, "{told:?}");
}

#[test]
fn empty_database_file_is_sound_and_written() {
    let home = Home::new();
    home.write("a.txt", "a wombat\n");
    home.plan(json!([read_file("look", "a.txt"), create_file("make", "c.txt", "x\n")]));
    fs::create_dir(home.evidence()).unwrap();
    fs::write(home.database(), "").unwrap();
    let report = home.json(["evidence", "verify"]).exits(0).document();
    assert_eq!((&report["ok"], &report["rows"]), (&json!(true), &json!(0)));
    assert_eq!(home.json(["evidence", "search", "wombat"]).exits(0).stdout, "");
    let _ = home.json(["run", "space/p.json", "--yes"]).exits(0);
    assert_eq!(home.json(["evidence", "search", "wombat"]).exits(0).lines().len(), 1);
    assert_eq!(home.json(["evidence", "verify"]).exits(0).document()["ok"], true);
}

/// A file instead of the evidence folder, and a folder instead of the database.
#[test]
fn wrong_kinds_of_files_are_reported() {
    let home = home();
    fs::rename(home.evidence(), home.path().join("elsewhere")).unwrap();
    fs::write(home.evidence(), "not a folder").unwrap();
    for arguments in QUESTIONS.into_iter().chain([&["run", "space/p.json", "--yes"][..]]) {
        assert_evidence_refusal(home.json(arguments.iter().copied()), "cannot be used");
    }
    assert!(!home.file("c.txt").exists());
    assert_eq!(fs::read_to_string(home.evidence()).unwrap(), "not a folder");

    fs::remove_file(home.evidence()).unwrap();
    fs::create_dir_all(home.database()).unwrap();
    assert_unusable(&home, "this is no file");
}

/// SQLite keeps its log in a second file and the log's index in a third.
#[test]
fn unwritable_log_is_reported() {
    for suffix in ["-wal", "-shm"] {
        let home = home();
        let log = home.evidence().join(format!("execution_log.db{suffix}"));
        fs::create_dir(&log).unwrap();
        let rows = fs::read(home.database()).unwrap();
        assert_evidence_refusal(home.json(["run", "space/p.json", "--yes"]), "");
        assert!(!home.file("c.txt").exists(), "{suffix}");
        fs::remove_dir(&log).unwrap();
        assert_eq!(fs::read(home.database()).unwrap(), rows, "{suffix}");
        assert_eq!(home.json(["evidence", "verify"]).exits(0).document()["ok"], true, "{suffix}");
        let _ = home.json(["run", "space/p.json", "--yes"]).exits(0);
    }
}

/// Another process locks the database for longer than the timeout; queries are answered meanwhile.
#[test]
fn locked_database_is_waited_for_then_reported() {
    let home = home();
    let other = home.sql();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let report = home.json(["evidence", "verify"]).exits(0).document();
    std::thread::scope(|scope| {
        let begin = std::time::Instant::now();
        let waiting = scope.spawn(|| home.json(["run", "space/p.json", "--yes"]));
        for question in &QUESTIONS[1..3] {
            assert_eq!(home.json(question.iter().copied()).exits(0).lines().len(), 1);
        }
        assert!(begin.elapsed() < Duration::from_secs(25), "a question never waits for a writer");
        let ran = assert_evidence_refusal(
            waiting.join().unwrap(),
            "another program has held the evidence for 30",
        );
        assert!(begin.elapsed() >= Duration::from_secs(30));
        assert!(ran.stderr.contains("Close that program or wait for it"), "{ran:#?}");
    });
    assert!(!home.file("c.txt").exists(), "no evidence, no execution");
    drop(other);
    assert_eq!(home.json(["evidence", "verify"]).exits(0).document(), report);
    let _ = home.json(["run", "space/p.json", "--yes"]).exits(0);
    assert!(home.file("c.txt").exists());
}
