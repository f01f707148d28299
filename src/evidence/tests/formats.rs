//! Evidence that an older version of the program wrote.

use rusqlite::Connection;
use rusqlite::types::ValueRef::{Integer, Text};

use super::super::chain::Chain;
use super::super::ledger;
use super::super::migrations::{MIGRATIONS, PURGEABLE, guard_tables, newest};
use super::super::purge::ranges::LinkRange;
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
    to_format(home, 1);
}

/// Rewrites the evidence in this format, with the rows of the tables and columns that it has. None may be purged.
pub fn to_format(home: &Home, format: usize) {
    let path = home.evidence.join("execution_log.db");
    let newer = home.evidence.join("newer.db");
    home.raw().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    std::fs::rename(&path, &newer).unwrap();
    let conn = Connection::open(&path).unwrap();
    for sql in &MIGRATIONS[..format] {
        conn.execute_batch(sql).unwrap();
    }
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
        if *table == "blobs" && format < 5 {
            // The entry of a blob was stored with its link.
            let mut reader = conn.prepare("SELECT * FROM blobs WHERE id = ?1").unwrap();
            let entry = ledger::entry_of(&mut reader, table, chain.rows).unwrap();
            conn.execute("UPDATE ledger SET entry = ?1 WHERE seq = ?2", (entry, chain.rows))
                .unwrap();
        }
    }
    guard_tables(&conn).unwrap();
    conn.execute_batch(&format!(
        "PRAGMA application_id = 0x4373676e; PRAGMA user_version = {format};
         PRAGMA journal_mode = WAL;"
    ))
    .unwrap();
    std::fs::remove_file(newer).unwrap();
    home.forget_heads();
}

/// Purges the records of the oldest run as the program did in format 5. Returns the run and the number of rows.
pub fn purge_in_format_5(home: &Home) -> (String, usize) {
    let conn = home.raw();
    conn.pragma_update(None, "foreign_keys", false).unwrap();
    let sql = "SELECT r.id, r.row, e.id FROM runs AS r JOIN run_ends AS e ON e.run_id = r.id
               ORDER BY r.row LIMIT 1";
    let (run, first, last): (String, i64, i64) =
        conn.query_row(sql, [], |row| row.try_into()).unwrap();
    let tables = &PURGEABLE[..8];
    let sql = "SELECT seq, table_name, digest FROM ledger WHERE seq > ?1 AND seq < ?2 ORDER BY seq";
    let mut statement = conn.prepare(sql).unwrap();
    let links = statement.query_map([first, last], |row| row.try_into()).unwrap();
    let links: Vec<(i64, String, String)> = links.collect::<Result<_, _>>().unwrap();
    let mut ranges: Vec<LinkRange> = Vec::new();
    let taken: Vec<_> =
        links.into_iter().filter(|(_, table, _)| tables.contains(&table.as_str())).collect();
    for (seq, table, digest) in &taken {
        match ranges.last_mut().filter(|range| range.last + 1 == *seq) {
            Some(range) => range.push(*seq, table, digest),
            None => ranges.push(LinkRange::of(*seq, table, digest)),
        }
    }
    let mut chain = Chain::of(&conn).unwrap();
    let (text, number) = (|text: &'static str| Text(text.as_bytes()), Integer);
    let purge = [
        ("id", text("the purge")),
        ("rule_json", text("{}")),
        ("reason", text("asked for")),
        ("row_count", number(taken.len() as i64)),
        ("timestamp", number(50_000)),
    ];
    chain.append(&conn, "record_purges", &purge).unwrap();
    let subject = [
        ("purge_id", text("the purge")),
        ("run_id", Text(run.as_bytes())),
        ("outcomes_json", text("{}")),
    ];
    chain.append(&conn, "purged_subjects", &subject).unwrap();
    for range in ranges {
        let (first, last, digest) = (range.first, range.last, range.digest().hex());
        let columns = [
            ("purge_id", text("the purge")),
            ("first_row", number(first)),
            ("last_row", number(last)),
            ("links_digest", Text(digest.as_bytes())),
        ];
        chain.append(&conn, "purged_rows", &columns).unwrap();
    }
    for (seq, table, _) in &taken {
        conn.execute(&format!("DELETE FROM {table} WHERE rowid = ?1"), [seq]).unwrap();
    }
    (run, taken.len())
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

/// What was purged in format 5 stays sound in the format in which loops can be purged, too.
#[test]
fn purges_of_format_5_are_still_sound() {
    let home = Home::new();
    let mut store = home.store();
    let told = super::purged_loops::old_loop(&mut store, "wombat", 2_000, true);
    drop(store);
    run_with(&home, &[effect("a", Some(b"old"), Some(b"x"))]);
    to_format(&home, 5);
    let (run, rows) = purge_in_format_5(&home);
    let verified = home.verify();
    assert_eq!((verified.first_bad, verified.purged), (None, rows as u64));
    assert_eq!(run, told.runs[0].to_string());
    let everything = PurgeRule { before_ms: Some(i64::MAX), ..PurgeRule::default() };
    let preview = home.reader().purge_preview(&everything, 60_000).unwrap();
    assert_eq!((preview.loops, preview.attempts, preview.runs), (1, 3, 2));
    assert_eq!(home.reader().bounded_loop(told.loop_id).unwrap().unwrap().summary.purged, None);
    assert_eq!(format(&home), 5, "reading migrates nothing");
    // This computer keeps no head of the rewritten evidence.
    EvidenceStore::accept_head(&home.evidence, &home.secrets, "a test", 60_000).unwrap();

    let taken = home.store().purge(&everything, "", 60_000).unwrap().taken;
    assert_eq!((format(&home), taken.rows), (newest(), preview.rows));
    let verified = home.verify();
    assert_eq!((verified.first_bad, verified.purged), (None, rows as u64 + taken.rows));
    let purged = home.reader().bounded_loop(told.loop_id).unwrap().unwrap().summary.purged;
    assert!(purged.is_some());
}
