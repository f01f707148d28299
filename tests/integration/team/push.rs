//! Pushing: every record once, whatever is killed.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use serde_json::Value;

use countersign::evidence::EvidenceStore;

use super::{add_executions, executions, keys, name, origin, push, records, with_password};
use crate::harness::NOW_MS;
use crate::harness::home::{Done, Home};
use crate::harness::postgres::{PASSWORD, Postgres};

/// Starts a push of this evidence.
fn begin(postgres: &Postgres, home: &Home) -> std::process::Child {
    let url = postgres.url("writer", "");
    let mut command = home.child(["evidence", "push", &url, "--json"]);
    command.env("PGPASSWORD", PASSWORD).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Computes the chains in the server by the verifier in Python, from rows as `psql` prints them, and compares them with the
/// records here.
fn check_by_python(postgres: &Postgres, homes: &[Home]) {
    let verifier = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/verifier");
    for home in homes {
        let origin = name(home);
        let rows = postgres.sql(&format!(
            "SELECT json_build_array(sequence, table_name, encode(hash, 'hex'), entry)
             FROM countersign.ledger WHERE origin = '{origin}' ORDER BY sequence"
        ));
        let path = home.path().join("rows.jsonl");
        fs::write(&path, rows.join("\n")).unwrap();
        let script = "
import json, sqlite3, sys
sys.path.insert(0, sys.argv[1])
import verify
database = sqlite3.connect(sys.argv[3])
head, last = verify.GENESIS, 0
for sequence, table, digest, entry in map(json.loads, open(sys.argv[2])):
    assert sequence == last + 1, sequence
    head, last = verify.link(head, entry), sequence
    assert head.hex() == digest and json.loads(entry)['table'] == table, sequence
    here = database.execute('SELECT table_name, digest FROM ledger WHERE seq = ?', (sequence,)).fetchone()
    assert here == (table, digest), sequence
assert database.execute('SELECT max(seq) FROM ledger').fetchone() == (last,)
print('all', last)";
        let mut python = home.command_of("python3");
        let done =
            Done::of(python.args(["-c", script]).arg(&verifier).arg(&path).arg(home.database()));
        assert_eq!(done.exits(0).stdout, format!("all {}\n", records(home)));
    }
}

#[test]
fn kills_and_a_restart_leave_every_record_once() {
    let postgres = Postgres::start();
    let homes: Vec<_> = (1..=3).map(|seed| origin(executions(), seed)).collect();
    // The first batch of each origin is committed, and the second one waits in the server.
    let paused = postgres.pause_second_batches();
    let mut pushes: Vec<_> = homes.iter().map(|home| begin(&postgres, home)).collect();
    paused.wait_for(3);
    pushes[0].kill().unwrap();
    pushes[0].wait().unwrap();
    postgres.restart();
    for push in pushes.drain(1..) {
        let done = Done::read(push.wait_with_output().unwrap()).exits(4);
        assert_eq!(done.error_code(), "E308", "{done:?}");
    }
    drop(paused);
    assert_eq!(postgres.number("SELECT count(*) FROM countersign.ledger"), 1_500);

    // Killed once more, and then all at the same time, one of them twice.
    let paused = postgres.pause_second_batches();
    let mut killed = begin(&postgres, &homes[1]);
    paused.wait_for(1);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let begun = Instant::now();
    let pushes: Vec<_> = [0, 1, 2, 2].map(|n| begin(&postgres, &homes[n])).into_iter().collect();
    drop(paused);
    for push in pushes {
        let done = Done::read(push.wait_with_output().unwrap()).exits(0);
        assert!(!format!("{done:?}").contains(PASSWORD));
    }
    println!("all three are pushed after {:.1?}", begun.elapsed());
    for home in &homes {
        let total =
            format!("SELECT count(*) FROM countersign.ledger WHERE origin = '{}'", name(home));
        assert_eq!(postgres.number(&total), records(home));
        let again = push(&postgres, home);
        assert_eq!((&again["pushed"], &again["total"]), (&0.into(), &records(home).into()));
        assert_eq!(again["ok"], true);
    }
    check_by_python(&postgres, &homes);
    let url = postgres.url("reader", "");
    let begun = Instant::now();
    let verified =
        with_password(&homes[0], &["evidence", "verify", "--team", &url]).exits(0).document();
    let rows: u64 = homes.iter().map(records).sum();
    println!("{rows} records of three origins are verified after {:.1?}", begun.elapsed());
    assert_eq!((&verified["ok"], verified["origins"].as_array().unwrap().len()), (&true.into(), 3));

    // Only what is new is sent.
    let before = records(&homes[1]);
    add_executions(&homes[1], 20, 99);
    let more = push(&postgres, &homes[1]);
    assert_eq!(more["pushed"], records(&homes[1]) - before);
    // The script may be run again, and is the one that is printed.
    postgres.set_up();
    let printed = homes[0].run(["evidence", "push", "--setup"]).exits(0).stdout;
    assert_eq!(printed, countersign::team::SETUP);
    check_by_python(&postgres, &homes);
}

#[test]
fn nothing_behind_a_break_is_pushed() {
    let postgres = Postgres::start();
    let home = origin(30, 5);
    let sql = home.sql();
    let row: i64 = sql
        .query_row("SELECT row FROM executions ORDER BY row LIMIT 1 OFFSET 9", [], |row| row.get(0))
        .unwrap();
    let trigger = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'executions' AND sql LIKE '%UPDATE%'";
    let (trigger, made): (String, String) =
        sql.query_row(trigger, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    sql.execute_batch(&format!(
        "DROP TRIGGER {trigger}; UPDATE executions SET duration_ms = duration_ms + 1 WHERE row = {row}; {made}"
    ))
    .unwrap();
    let url = postgres.url("writer", "");
    for pushed in [row - 1, 0] {
        let report = with_password(&home, &["evidence", "push", &url]).exits(6).document();
        assert_eq!((&report["pushed"], &report["total"]), (&pushed.into(), &(row - 1).into()));
        let difference = report["difference"].as_str().unwrap();
        assert!(difference.contains(&format!("row {row} of executions")), "{difference}");
    }
    let last = postgres.number("SELECT max(sequence) FROM countersign.ledger");
    assert_eq!(last, row as u64 - 1);

    // Of evidence whose tables were changed, nothing is certain.
    let home = origin(30, 6);
    home.sql().execute_batch("CREATE VIEW more AS SELECT 1").unwrap();
    let done = with_password(&home, &["evidence", "push", &url]);
    assert_ne!(done.code, 0, "{done:?}");
    let others =
        format!("SELECT count(*) FROM countersign.ledger WHERE origin = '{}'", name(&home));
    assert_eq!(postgres.number(&others), 0);
}

/// A folder with everything of another one.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[test]
fn another_history_changes_nothing() {
    let postgres = Postgres::start();
    let home = origin(20, 7);
    push(&postgres, &home);
    let kept = home.path().join("kept");
    copy(&home.evidence(), &kept);
    add_executions(&home, 20, 8);
    push(&postgres, &home);
    let there = postgres.sql("SELECT * FROM countersign.ledger ORDER BY origin, sequence");

    // The earlier state, and then another continuation of it.
    fs::remove_dir_all(home.evidence()).unwrap();
    copy(&kept, &home.evidence());
    let refused = || {
        let url = postgres.url("writer", "");
        let done = with_password(&home, &["evidence", "push", &url]).exits(6).document();
        let now = postgres.sql("SELECT * FROM countersign.ledger ORDER BY origin, sequence");
        assert_eq!(now, there);
        done
    };
    assert!(refused()["difference"].as_str().unwrap().contains("end of the database"));
    EvidenceStore::accept_head(&home.evidence(), &*keys(&home), "a test", NOW_MS).unwrap();
    for (executions, why) in [(5, "here are"), (60, "is not the one here")] {
        add_executions(&home, executions, 9 + executions as u64);
        let message = refused()["error"]["message"].take();
        let message = message.as_str().unwrap();
        assert!(message.contains("another history") && message.contains(why), "{message}");
    }
}

/// What was purged before is pushed as links alone, and its absence is verified there, too.
#[test]
fn purged_records_are_pushed_as_links() {
    let postgres = Postgres::start();
    let home = origin(200, 10);
    let oldest = "SELECT run_id FROM executions ORDER BY timestamp LIMIT 1";
    let purge = |home: &Home| {
        let run: String = home.sql().query_row(oldest, [], |row| row.get(0)).unwrap();
        let purge = ["evidence", "purge", "--run", &run, "--yes", "--reason", "a test"];
        home.json(purge).exits(0).document()["rows"].as_u64().unwrap()
    };
    let before = purge(&home);
    push(&postgres, &home);
    assert_eq!(
        postgres.number("SELECT count(*) FROM countersign.ledger WHERE entry IS NULL"),
        before
    );
    // What is purged later stays there.
    purge(&home);
    push(&postgres, &home);
    let url = postgres.url("reader", "");
    let verify = || with_password(&home, &["evidence", "verify", "--team", &url]);
    let origins = verify().exits(0).document()["origins"].take();
    assert_eq!(
        (&origins[0]["purged"], &origins[0]["rows"]),
        (&before.into(), &records(&home).into())
    );

    // The owner of the database can change it, and that is found.
    postgres.sql("ALTER TABLE countersign.ledger DISABLE TRIGGER ALL");
    let changed = |sql: &str| -> String {
        postgres.sql(sql);
        let report = verify().exits(6).document();
        report["origins"][0]["first_bad"].as_str().unwrap().to_owned()
    };
    let gone = changed(
        "DELETE FROM countersign.ledger WHERE sequence = (SELECT max(sequence) - 3 FROM countersign.ledger)",
    );
    assert!(gone.contains("is missing"), "{gone}");
    let first = "SELECT min(sequence) FROM countersign.ledger WHERE entry IS NOT NULL AND table_name = 'executions'";
    let row = postgres.number(first);
    let changed = changed(&format!(
        "UPDATE countersign.ledger SET entry = replace(entry, 'succeeded', 'failed') || ' ' WHERE sequence = {row}"
    ));
    assert!(changed.contains(&format!("record {row} of executions")), "{changed}");
}

#[test]
fn large_outputs_are_pushed_without_secrets() {
    let postgres = Postgres::start();
    let home = Home::new();
    let long = "palimpsest ".repeat(1_000);
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    home.write("long.txt", format!("{long}\n{secret}\nquagmire \0 {}", "x".repeat(9_000)));
    home.write("clean.txt", format!("{long}\nlast words: quagmire\u{1F400}\n"));
    home.plan(serde_json::json!([
        {"step_id": "a", "tool": "file_read", "arguments": {"path": "clean.txt"}},
        {"step_id": "b", "tool": "file_read", "arguments": {"path": "long.txt"}},
    ]));
    let run = home.json(["run", "space/p.json", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    push(&postgres, &home);
    assert!(postgres.number("SELECT count(*) FROM countersign.contents") > 0);
    let dumped = postgres.sql(
        "SELECT text FROM countersign.contents UNION ALL SELECT entry FROM countersign.ledger
                               UNION ALL SELECT text FROM countersign.texts",
    );
    assert!(!dumped.iter().any(|text| text.contains(secret)));
    let url = postgres.url("reader", "");
    let found =
        with_password(&home, &["evidence", "search", "quagmire", "--team", &url]).exits(0).lines();
    let steps: Vec<&Value> = found.iter().map(|hit| &hit["step_id"]).collect();
    assert!(steps.contains(&&Value::from("a")), "{found:?}");
    assert!(found[0]["excerpt"].as_str().unwrap().contains("quagmire"));
}
