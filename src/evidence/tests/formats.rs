//! Evidence that an older version of the program wrote.

use rusqlite::Connection;

use super::fixture::*;
use crate::evidence::*;
use crate::run::*;

const WORKSPACE: &str = "/home/someone/project";

/// A run of one step with these effects, as they are intended and recorded.
fn run_with(home: &Home, files: &[FileEffect]) {
    let mut store = home.store();
    let mut run = Running::begin(&mut store, plan(vec![write_step(0, "a", "x")]), 2_000);
    let result = result_of(&run.plan.steps[0].clone(), Outcome::Succeeded, 2_001);
    run.intend(&result, files);
    run.record(result, Extra { files, ..Extra::default() });
    run.end(RunStatus::Completed, None, None);
}

/// Brings the evidence back to what the first format would have made of the same rows.
fn to_the_first_format(home: &Home) {
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
    conn.pragma_update(None, "foreign_keys", false).unwrap();
    for table in list("SELECT name FROM main.sqlite_schema WHERE type = 'table'") {
        let columns = list(&format!("SELECT name FROM pragma_table_info('{table}', 'main')"));
        assert!(!columns.iter().any(|column| column.ends_with("_mode")), "{table}: {columns:?}");
        let columns = columns.join(", ");
        let copy =
            format!("INSERT INTO main.{table}({columns}) SELECT {columns} FROM newer.{table}");
        conn.execute(&copy, []).unwrap();
    }
    conn.execute_batch(
        "DETACH newer; PRAGMA application_id = 0x4373676e; PRAGMA user_version = 1;
         PRAGMA journal_mode = WAL;",
    )
    .unwrap();
    std::fs::remove_file(newer).unwrap();
}

fn modes(home: &Home) -> Vec<Modes> {
    let history = home.reader().history(WORKSPACE, None).unwrap().1;
    history.entries.iter().flat_map(|entry| &entry.files).map(|file| file.modes).collect()
}

fn format(home: &Home) -> i64 {
    home.raw().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

#[test]
fn what_an_older_version_wrote_is_read_kept_and_added_to() {
    let home = Home::new();
    let unknown = FileEffect { modes: Modes::default(), ..effect("a", Some(b"old"), Some(b"x")) };
    run_with(&home, &[unknown]);
    to_the_first_format(&home);

    // Reading changes nothing and needs nothing that is not there.
    let old = home.verify();
    assert_eq!((old.ok, old.first_bad), (true, None));
    assert_eq!(modes(&home), [Modes::default()]);
    assert_eq!(format(&home), 1);

    // Whoever writes brings it up to date, and every row is still what its link says.
    drop(home.store());
    assert_eq!(format(&home), 2);
    assert!(home.evidence.join("execution_log.v1.bak").exists());
    let kept = home.verify();
    assert_eq!((kept.ok, kept.rows, kept.head), (true, old.rows, old.head));

    run_with(&home, &[effect("b", Some(b"old"), None)]);
    let grown = verify(&home.evidence, Some(&old.head)).unwrap();
    assert_eq!((grown.ok, grown.first_bad), (true, None));
    assert!(grown.rows > old.rows);
    let deleted = Modes { before: Some(FileMode::new(0o755)), after: None };
    assert_eq!(modes(&home), [Modes::default(), deleted]);
}

#[test]
fn a_mode_that_is_changed_or_made_up_shows() {
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
