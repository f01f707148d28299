//! `file_create` against the work that cannot be avoided: two commits of one row in SQLite (WAL,
//! `synchronous=FULL`), a new file written, synced and renamed, and its folder synced.

#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "a bench that meets the unexpected should stop"
)]
#![allow(clippy::disallowed_methods, reason = "the other side of the claim is SQLite itself")]
#![allow(dead_code, reason = "each bench uses its part of the support")]

mod support;

use std::fs::File;
use std::io::Write as _;
use std::process::ExitCode;

use serde_json::json;
use support::{Bench, claim, plan, time};

/// Steps per run. The measured time of a step includes its share of the run's start and end.
const STEPS: u32 = 100;

fn main() -> ExitCode {
    let mut bench = Bench::new();
    let folder = bench.folder().to_owned();
    let contents = "a line of text\n".repeat(60);
    let mut round = 0;

    let conn = rusqlite::Connection::open(folder.join("other.db")).expect("a database");
    conn.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
         CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;",
    )
    .expect("a table");
    // The same folder for both: a file system may search long for free space near recently deleted files.
    let shared = bench.workspace();
    let mut file_number = 0;

    let text = contents.clone();
    claim(
        "file_create against two SQLite commits and one synced file",
        1.0,
        15,
        || {
            round += 1;
            let step = |index: u32| {
                let path = format!("f{round}_{index}.txt");
                json!({"tool": "file_create", "arguments": {"path": path, "contents": text}})
            };
            bench.run(&plan((0..STEPS).map(step).collect())).0 / STEPS
        },
        || {
            let took = time(|| {
                for _ in 0..STEPS {
                    file_number += 1;
                    let insert = || {
                        conn.prepare_cached("INSERT INTO rows(text) VALUES (?1)")
                            .and_then(|mut insert| insert.execute([&contents]))
                            .expect("a commit")
                    };
                    insert();
                    let fresh = shared.join(format!("fresh{file_number}"));
                    let mut file = File::create(&fresh).expect("a file");
                    file.write_all(contents.as_bytes()).expect("a write");
                    file.sync_all().expect("a sync");
                    std::fs::rename(&fresh, shared.join(format!("theirs{file_number}")))
                        .expect("a rename");
                    File::open(&shared).and_then(|folder| folder.sync_all()).expect("a sync");
                    insert();
                }
            });
            took / STEPS
        },
    )
}
