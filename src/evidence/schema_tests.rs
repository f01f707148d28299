use super::*;
use crate::evidence::migrations::{in_memory, newest};

fn open_with(path: &Path, migrations: &[&str]) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let mut conn = connect(path, flags)?;
    let found = format_of(&conn, path, migrations.len())?;
    set_up(&mut conn, path, found, migrations)?;
    Ok(conn)
}

fn open_for_writing(path: &Path) -> Result<Connection> {
    let (mut conn, found) = connect_for_writing(path)?;
    prepare_for_writing(&mut conn, path, found)?;
    Ok(conn)
}

fn database(dir: &tempfile::TempDir) -> PathBuf {
    dir.path().join(FILE_NAME)
}

#[test]
fn an_older_format_is_backed_up_and_migrated() {
    let dir = tempfile::tempdir().unwrap();
    let path = database(&dir);
    let old = open_with(&path, &MIGRATIONS[..1]).unwrap();
    old.execute("INSERT INTO purges(digest, reason, timestamp) VALUES ('d', 'r', 1)", []).unwrap();
    drop(old);

    let notes = "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;";
    let newer = [MIGRATIONS, &[notes]].concat();
    let conn = open_with(&path, &newer).unwrap();
    let newest = MIGRATIONS.len() as i64;
    assert_eq!(format_of(&conn, &path, newer.len()).unwrap(), newest + 1);
    conn.execute("INSERT INTO notes(text) VALUES ('new')", []).unwrap();
    let error = conn.execute("DELETE FROM notes", []).unwrap_err();
    assert!(error.to_string().contains("never deleted"), "new tables are guarded too: {error}");

    let backup = Connection::open(path.with_extension("v1.bak")).unwrap();
    assert_eq!(format_of(&backup, &path, 3).unwrap(), 1);
    let reason: String =
        backup.query_row("SELECT reason FROM purges", [], |row| row.get(0)).unwrap();
    assert_eq!(reason, "r");
    // A database of an unknown format is not changed.
    let refused = open_for_writing(&path);
    assert!(matches!(refused, Err(EvidenceError::TooNew { found, known, .. })
            if (found, known) == (newest + 1, newest)));
    assert!(matches!(open_for_reading(&path), Err(EvidenceError::TooNew { .. })));
}

#[test]
fn a_step_that_fails_leaves_the_old_format() {
    let dir = tempfile::tempdir().unwrap();
    let path = database(&dir);
    drop(open_for_writing(&path).unwrap());
    let half = "CREATE TABLE half (id INTEGER PRIMARY KEY) STRICT; NONSENSE;";
    let broken = [MIGRATIONS, &[half]].concat();
    assert!(open_with(&path, &broken).is_err());
    let conn = open_for_writing(&path).unwrap();
    assert!(conn.prepare("SELECT * FROM half").is_err());
}

#[test]
fn a_foreign_database_is_refused_and_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    let path = database(&dir);
    std::fs::create_dir(&path).unwrap();
    assert!(matches!(open_for_writing(&path), Err(EvidenceError::NoFile { .. })));
    assert!(matches!(open_for_reading(&path), Err(EvidenceError::NoFile { .. })));
    std::fs::remove_dir(&path).unwrap();

    let text = b"this is certainly not a database, however long it is".repeat(100);
    std::fs::write(&path, &text).unwrap();
    assert!(matches!(open_for_writing(&path), Err(EvidenceError::Damaged { .. })));
    assert!(matches!(open_for_reading(&path), Err(EvidenceError::Damaged { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), text);
    std::fs::remove_file(&path).unwrap();

    Connection::open(&path).unwrap().execute_batch("CREATE TABLE other (a)").unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert!(matches!(open_for_writing(&path), Err(EvidenceError::Foreign { .. })));
    assert!(matches!(open_for_reading(&path), Err(EvidenceError::Foreign { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

#[test]
fn an_empty_file_is_an_empty_evidence() {
    let dir = tempfile::tempdir().unwrap();
    let path = database(&dir);
    assert!(open_for_reading(&path).unwrap().is_none());
    std::fs::write(&path, b"").unwrap();
    assert!(open_for_reading(&path).unwrap().is_none());
    drop(open_for_writing(&path).unwrap());
    assert!(open_for_reading(&path).unwrap().is_some());
}

#[test]
fn every_table_refuses_update_delete_and_replace() {
    let conn = in_memory(newest()).unwrap();
    // This test is not about foreign keys.
    conn.pragma_update(None, "foreign_keys", false).unwrap();
    conn.pragma_update(None, "ignore_check_constraints", true).unwrap();
    let tables: Vec<String> = conn
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert!(tables.len() > 15);
    for table in tables {
        let columns: Vec<(String, String)> = conn
            .prepare("SELECT name, type FROM pragma_table_info(?1)")
            .unwrap()
            .query_map([&table], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        let values: Vec<_> = columns
            .iter()
            .map(|(_, kind)| match kind.as_str() {
                "INTEGER" => "1",
                "BLOB" => "x'01'",
                _ => "'t'",
            })
            .collect();
        let insert = format!("INTO {table} VALUES ({})", values.join(", "));
        conn.execute(&format!("INSERT {insert}"), []).unwrap();
        let key = &columns[0].0;
        for (sql, word) in [
            (format!("UPDATE {table} SET {key} = 2"), "changed"),
            (format!("DELETE FROM {table}"), "deleted"),
            (format!("INSERT OR REPLACE {insert}"), "replaced"),
        ] {
            let error = conn.execute(&sql, []).unwrap_err().to_string();
            assert!(error.contains(&format!("never {word}")), "{sql}: {error}");
        }
    }
}

#[test]
fn only_purged_rows_can_be_deleted() {
    let conn = in_memory(newest()).unwrap();
    conn.pragma_update(None, "foreign_keys", false).unwrap();
    for (table, columns, values) in [
        ("edges", "execution_id, edge_type, target_kind, target", "'x', 'PRODUCED', 'file', 'a'"),
        ("decisions", "decision, decided_by, note, timestamp", "'stop', 'window', '', 1"),
    ] {
        for number in [7, 8, 9] {
            let sql = format!("INSERT INTO {table} (id, {columns}) VALUES ({number}, {values})");
            conn.execute(&sql, []).unwrap();
        }
    }
    let sql = "INSERT INTO purged_rows (id, purge_id, first_row, last_row, links_digest)
               VALUES (20, 'p', 8, 8, 'd'), (21, 'p', 3, 4, 'd')";
    conn.execute(sql, []).unwrap();
    for table in ["edges", "decisions"] {
        assert!(conn.execute(&format!("DELETE FROM {table} WHERE id = 7"), []).is_err());
        assert!(conn.execute(&format!("DELETE FROM {table} WHERE id = 9"), []).is_err());
        assert_eq!(conn.execute(&format!("DELETE FROM {table} WHERE id = 8"), []).unwrap(), 1);
    }
}

#[test]
fn only_a_purged_blob_can_be_deleted_in_an_older_format() {
    let conn = in_memory(4).unwrap();
    for digest in ["a", "b"] {
        conn.execute(
            "INSERT INTO blobs(digest, part, parts, bytes, encoding, data)
             VALUES (?1, 0, 1, 1, 'zstd', x'00')",
            [digest],
        )
        .unwrap();
    }
    conn.execute("INSERT INTO purges(digest, reason, timestamp) VALUES ('a', '', 1)", []).unwrap();
    assert_eq!(conn.execute("DELETE FROM blobs WHERE digest = 'a'", []).unwrap(), 1);
    assert!(conn.execute("DELETE FROM blobs WHERE digest = 'b'", []).is_err());
}

/// A copy in a folder that is not writable. SQLite then reads the database without its log, so that rows that are
/// only in the log would be missing from an answer without an error.
#[cfg(unix)]
#[test]
fn an_unreadable_log_is_not_left_out() {
    let (dir, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (path, copied) = (database(&dir), database(&copy));
    let writer = open_for_writing(&path).unwrap();
    std::fs::copy(&path, &copied).unwrap();
    // Keeps SQLite from creating its index of the log, also for root, who may write in every folder.
    std::os::unix::fs::symlink("nothing", copied.with_extension("db-shm")).unwrap();
    std::fs::copy(path.with_extension("db-wal"), copied.with_extension("db-wal")).unwrap();
    let error = open_for_reading(&copied).unwrap_err();
    assert!(error.to_string().contains("execution_log.db-wal"), "{error}");
    // Without a log no rows are missing.
    drop(writer);
    std::fs::remove_file(copied.with_extension("db-wal")).unwrap();
    std::fs::copy(&path, &copied).unwrap();
    assert!(open_for_reading(&copied).unwrap().is_some());
}
