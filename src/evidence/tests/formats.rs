//! Evidence that an older version of the program wrote.

use rusqlite::Connection;

use super::super::chain::Chain;
use super::super::ledger;
use super::super::migrations::{guard_tables, newest};
use super::fixture::*;
use crate::authorization::{StepWalls, WallLevel};
use crate::evidence::*;
use crate::plan::Digest;
use crate::run::*;

const WORKSPACE: &str = "/home/someone/project";

/// Records a run of one step that predicts and makes these changes.
fn run_with(home: &Home, files: &[FileEffect]) {
    let mut store = home.store();
    let mut run = Running::begin(&mut store, plan(vec![write_step(0, "a", "x")]), 2_000);
    let result = result_of(&run.plan.steps[0].clone(), Outcome::Succeeded, 2_001);
    run.intend(&result, files);
    run.record(result, Extra { files, ..Extra::default() });
    run.end(&RunEnding::Completed);
}

/// Rewrites the evidence in the first format, with the same rows.
pub fn to_the_first_format(home: &Home) {
    let path = home.evidence.join("execution_log.db");
    let newer = home.evidence.join("newer.db");
    home.raw().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    std::fs::rename(&path, &newer).unwrap();
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch(include_str!("../schema_v1.sql")).unwrap();
    conn.execute("ATTACH ?1 AS newer", [newer.to_str().unwrap()]).unwrap();
    let list = |sql: &str| -> Vec<String> {
        let mut statement = conn.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    };
    let old: Vec<&'static str> = list("SELECT name FROM main.sqlite_schema WHERE type = 'table'")
        .into_iter()
        .map(|name| &*name.leak())
        .collect();
    let mut links = conn.prepare("SELECT seq, table_name FROM newer.ledger ORDER BY seq").unwrap();
    let links: Vec<(i64, String)> = links
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let mut chain = Chain::of(&conn).unwrap();
    for (seq, table) in links {
        // A table of a later format is absent.
        let Some(table) = old.iter().find(|old| **old == table) else { continue };
        let columns: Vec<&'static str> =
            list(&format!("SELECT name FROM pragma_table_info('{table}', 'main') WHERE pk = 0"))
                .into_iter()
                .map(|name| &*name.leak())
                .collect();
        let sql = format!("SELECT {} FROM newer.{table} WHERE rowid = ?1", columns.join(", "));
        let mut statement = conn.prepare(&sql).unwrap();
        let mut rows = statement.query([seq]).unwrap();
        let row = rows.next().unwrap().unwrap();
        let values: Vec<_> = columns
            .iter()
            .enumerate()
            .map(|(index, name)| (*name, row.get_ref(index).unwrap()))
            .collect();
        chain.append(&conn, table, &values).unwrap();
        if *table == "blobs" {
            // The entry of a blob was stored with its link.
            let mut reader = conn.prepare("SELECT * FROM blobs WHERE id = ?1").unwrap();
            let entry = ledger::entry_of(&mut reader, table, chain.rows).unwrap();
            conn.execute("UPDATE ledger SET entry = ?1 WHERE seq = ?2", (entry, chain.rows))
                .unwrap();
        }
    }
    guard_tables(&conn).unwrap();
    conn.execute_batch(
        "PRAGMA application_id = 0x4373676e; PRAGMA user_version = 1;
         PRAGMA journal_mode = WAL;",
    )
    .unwrap();
    std::fs::remove_file(newer).unwrap();
    home.forget_heads();
}

fn modes(home: &Home) -> Vec<Modes> {
    let history = home.reader().history(WORKSPACE, None).unwrap().1;
    history.entries.iter().flat_map(|entry| &entry.files).map(|file| file.modes).collect()
}

fn format(home: &Home) -> i64 {
    home.raw().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

#[test]
fn an_older_format_is_read_and_appended_to() {
    let home = Home::new();
    let unknown = FileEffect { modes: Modes::default(), ..effect("a", Some(b"old"), Some(b"x")) };
    run_with(&home, &[unknown]);
    to_the_first_format(&home);

    // Reading migrates nothing, and needs no column of a later format.
    let old = home.verify();
    assert_eq!((old.ok, old.first_bad), (true, None));
    assert_eq!(modes(&home), [Modes::default()]);
    assert_eq!(format(&home), 1);

    // A writer migrates the database, and every row still agrees with its link.
    drop(home.store());
    assert_eq!(format(&home), newest());
    assert!(home.evidence.join("execution_log.v1.bak").exists());
    let kept = home.verify();
    // The additional row is the id of the database.
    assert_eq!((kept.ok, kept.rows), (true, old.rows + 1));
    assert!(verify(&home.evidence, Some(&old.head)).unwrap().ok);

    run_with(&home, &[effect("b", Some(b"old"), None)]);
    let grown = verify(&home.evidence, Some(&old.head)).unwrap();
    assert_eq!((grown.ok, grown.first_bad), (true, None));
    assert!(grown.rows > old.rows);
    let deleted = Modes { before: Some(FileMode::new(0o755)), after: None };
    assert_eq!(modes(&home), [Modes::default(), deleted]);
}

#[test]
fn a_changed_or_invented_mode_is_found() {
    for change in [
        "SET before_mode = 493 WHERE path = 'a'",
        "SET before_mode = 511 WHERE path = 'b'",
        "SET before_mode = NULL WHERE path = 'b'",
    ] {
        let home = Home::new();
        let unknown = FileEffect { modes: Modes::default(), ..effect("a", Some(b"o"), Some(b"x")) };
        run_with(&home, &[unknown, effect("b", Some(b"old"), None)]);
        assert!(home.verify().ok);
        let conn = home.raw();
        conn.execute_batch("DROP TRIGGER file_contents_refuses_update").unwrap();
        assert_eq!(conn.execute(&format!("UPDATE file_contents {change}"), []).unwrap(), 2);
        drop(conn);
        let first_bad = home.verify().first_bad.unwrap();
        assert!(first_bad.contains("of file_contents is not what was written"), "{first_bad}");
    }
}

#[test]
fn walls_are_recorded_and_older_rows_have_none() {
    let home = Home::new();
    run_with(&home, &[]);
    to_the_first_format(&home);
    let old = home.reader().q1("file_write", Range::default()).unwrap();
    assert_eq!(old.iter().map(|it| it.row.walls.clone()).collect::<Vec<_>>(), [None]);

    let walls = StepWalls {
        level: WallLevel::Full,
        network: true,
        write: vec!["/var/cache/x".to_owned()],
        ..StepWalls::default()
    };
    let mut store = home.store();
    let mut run = Running::begin(&mut store, plan(vec![write_step(0, "a", "x")]), 3_000);
    let result = result_of(&run.plan.steps[0].clone(), Outcome::Succeeded, 3_001);
    run.record(result, Extra { walls: Some(&walls), ..Extra::default() });
    run.end(&RunEnding::Completed);
    let rows = home.reader().q1("file_write", Range::default()).unwrap();
    let recorded: Vec<_> = rows.into_iter().map(|it| it.row.walls).collect();
    assert_eq!(recorded, [None, Some(walls.clone())]);
    assert_eq!(walls.to_string(), "full, network, writes /var/cache/x");
    assert!(home.verify().ok);
}

/// Purges of contents by a version before format 5 remain valid, and the content is never stored again.
#[test]
fn an_older_purge_is_still_sound() {
    let home = Home::new();
    run_with(&home, &[effect("a", Some(b"old"), Some(b"x"))]);
    to_the_first_format(&home);
    let conn = home.raw();
    let digest = Digest::of(b"old").hex();
    let text = rusqlite::types::ValueRef::Text;
    let columns = [
        ("digest", text(digest.as_bytes())),
        ("reason", text(b"asked for")),
        ("timestamp", rusqlite::types::ValueRef::Integer(3_000)),
    ];
    Chain::of(&conn).unwrap().append(&conn, "purges", &columns).unwrap();
    assert_eq!(conn.execute("DELETE FROM blobs WHERE digest = ?1", [&digest]).unwrap(), 1);
    drop(conn);
    assert_eq!(home.verify().first_bad, None);
    run_with(&home, &[effect("a", Some(b"old"), Some(b"y"))]);
    assert_eq!(home.verify().first_bad, None);
    let found = home.reader().stored_content(&Digest::of(b"old")).unwrap();
    assert_eq!(found, StoredContent::Purged);
    let conn = home.raw();
    assert!(conn.execute("DELETE FROM blobs", []).is_err(), "no purge of the new kind names them");
}
