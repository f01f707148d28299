//! Another program changes the database file with SQL.

use rusqlite::Connection;
use uuid::Uuid;

use super::fixture::*;
use crate::evidence::*;
use crate::plan::Digest;
use crate::run::*;

/// Evidence with a row in most tables.
fn filled() -> Home {
    let home = Home::new();
    let mut store = home.store();
    let mut run =
        Running::begin(&mut store, plan(vec![write_step(0, "a", "x"), read_step(1, "b")]), 2_000);
    let run_id = run.run_id;
    let mut result = result_of(&run.plan.steps[0].clone(), Outcome::Succeeded, 2_001);
    result.diagnostic_artifacts.push(diagnostic("E0425", "a"));
    let files = [effect("a", None, Some(b"x"))];
    run.intend(&result, &files);
    let edges =
        [Edge { edge_type: EdgeType::Affected, target_kind: TargetKind::File, target: "a".into() }];
    run.record(
        result,
        Extra { stdout: Some(b"done"), files: &files, edges: &edges, ..Extra::default() },
    );
    let control = ControlRecord {
        run_id,
        control: Control::StopNow,
        by: AnsweredBy::Window,
        timestamp_ms: 2_002,
    };
    run.store.commit(&Entry::Control(control)).unwrap();
    run.end(&RunEnding::Cancelled(Control::StopNow));
    // A later run is purged, and its content is recorded in a purge of its own.
    let other = plan(vec![read_step(0, "purged")]);
    let mut run = Running::begin(&mut store, other.clone(), 2_500);
    let id = run.run_id;
    let result = result_of(&run.plan.steps[0].clone(), Outcome::Succeeded, 2_501);
    run.record(result, stdout(b"seen"));
    run.end(&RunEnding::Completed);
    store.purge_content(&other.digest, "", 3_000).unwrap();
    let rule = PurgeRule { run: Some(id), ..PurgeRule::default() };
    store.purge(&rule, "not needed", 3_001).unwrap();
    home
}

/// Opens the database and drops the triggers that refuse changes.
fn unguarded(home: &Home) -> Connection {
    let conn = home.raw();
    let triggers: Vec<String> = conn
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert!(!triggers.is_empty());
    for trigger in triggers {
        conn.execute_batch(&format!("DROP TRIGGER {trigger}")).unwrap();
    }
    conn.pragma_update(None, "foreign_keys", false).unwrap();
    conn.pragma_update(None, "ignore_check_constraints", true).unwrap();
    conn
}

/// Changes rows and restores the trigger that refuses updates, so that only the chain shows the change.
pub(super) fn rewrite(home: &Home, table: &str, sql: &str) {
    let (conn, trigger) = (home.raw(), format!("{table}_refuses_update"));
    let sql_of_trigger = "SELECT sql FROM sqlite_schema WHERE name = ?1";
    let definition: String = conn.query_row(sql_of_trigger, [&trigger], |row| row.get(0)).unwrap();
    conn.execute_batch(&format!("DROP TRIGGER {trigger}; {sql}; {definition};")).unwrap();
}

fn tables(conn: &Connection) -> Vec<String> {
    conn.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'ledger'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<Vec<String>, _>>()
        .unwrap()
        .into_iter()
        .filter(|table| {
            conn.query_row(&format!("SELECT EXISTS (SELECT 1 FROM {table})"), [], |row| row.get(0))
                .unwrap()
        })
        .collect()
}

/// The difference that `verify` reports after a change.
fn first_bad_after(change: impl FnOnce(&Connection)) -> Option<String> {
    let home = filled();
    assert_eq!(home.verify().first_bad, None);
    let conn = unguarded(&home);
    change(&conn);
    drop(conn);
    let report = home.verify();
    assert_eq!(report.ok, report.first_bad.is_none());
    report.first_bad
}

/// Every answer marks the changed execution, and no other one.
#[test]
fn answers_mark_a_changed_execution() {
    let (home, [read, failed, fixed]) = super::reading::filled();
    let marked = |home: &Home| {
        let (mut reader, all) = (home.reader(), Range::default());
        let mut found: Vec<(Uuid, bool)> = Vec::new();
        let mut listed = |rows: Vec<ListedExecution>| {
            found.extend(rows.iter().map(|it| (it.row.execution_id, it.changed)));
        };
        listed(reader.q1("file_write", all).unwrap());
        listed(reader.q2("file_write", all).unwrap());
        listed(reader.q3("E0425", all).unwrap());
        listed(reader.q6("src/lib.rs").unwrap().into_iter().collect());
        listed(reader.q6("docs/notes.md").unwrap().into_iter().collect());
        let touched = reader.q4("src/lib.rs", all).unwrap();
        listed(touched.into_iter().map(|it| it.listed).collect());
        let later = reader.q8("E0425", None, all).unwrap();
        listed(later.into_iter().map(|it| it.listed).collect());
        for question in [
            Question::WithCode("E0425".into()),
            Question::Touched { kind: TargetKind::File, target: "src/lib.rs".into() },
            Question::Latest("src/lib.rs".into()),
            Question::ChangesAfter { code: "E0425".into(), file: None },
        ] {
            let answer = reader.answer(&question).unwrap();
            let rows = (0..answer.len()).filter_map(|index| answer.listed(index));
            listed(rows.cloned().collect());
        }
        found
    };
    let before = marked(&home);
    assert!([read, failed, fixed].iter().all(|id| before.iter().any(|(found, _)| found == id)));
    assert!(before.iter().all(|(_, changed)| !changed), "{before:?}");
    let sql = format!("UPDATE executions SET outcome = 'failed' WHERE id = '{fixed}'");
    rewrite(&home, "executions", &sql);
    let after = marked(&home);
    assert!(after.iter().filter(|(_, changed)| *changed).count() >= 6, "{after:?}");
    assert!(after.iter().all(|(id, changed)| *changed == (*id == fixed)), "{after:?}");
    let sql = format!("UPDATE intents SET about = 'x' WHERE id = '{failed}'");
    rewrite(&home, "intents", &sql);
    let after = marked(&home);
    assert!(after.iter().all(|(id, changed)| *changed == (*id != read)), "{after:?}");
}

#[test]
fn every_column_is_covered_by_the_chain() {
    let home = filled();
    let conn = unguarded(&home);
    conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let tables = tables(&conn);
    assert!(tables.len() >= 12, "{tables:?}");
    let mut changed = 0;
    for table in tables {
        let columns: Vec<(String, String)> = conn
            .prepare("SELECT name, type FROM pragma_table_info(?1) WHERE pk = 0")
            .unwrap()
            .query_map([&table], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        for (column, kind) in columns {
            let value = match kind.as_str() {
                "INTEGER" => format!("coalesce({column}, 0) + 1"),
                "BLOB" => "x'00'".to_owned(),
                _ => format!("coalesce({column}, '') || 'x'"),
            };
            let copy = tempfile::tempdir().unwrap();
            let file = copy.path().join("execution_log.db");
            std::fs::copy(home.evidence.join("execution_log.db"), &file).unwrap();
            let other = Connection::open(&file).unwrap();
            other.pragma_update(None, "ignore_check_constraints", true).unwrap();
            other.pragma_update(None, "foreign_keys", false).unwrap();
            other
                .execute_batch(&format!(
                    "UPDATE {table} SET {column} = {value}
                     WHERE rowid = (SELECT max(rowid) FROM {table})"
                ))
                .unwrap();
            drop(other);
            let report = verify(copy.path(), None).unwrap();
            let bad = report.first_bad.unwrap_or_else(|| panic!("{table}.{column}"));
            // Rows that are said to be purged are found before the row that says so.
            let names_row = bad.contains(&format!("of {table} "));
            assert!(names_row || table == "purged_rows", "{table}.{column}: {bad}");
            changed += 1;
        }
    }
    assert!(changed > 60, "{changed}");
}

#[test]
fn a_deleted_row_is_named() {
    for table in tables(&filled().raw()) {
        let bad = first_bad_after(|conn| {
            conn.execute_batch(&format!(
                "DELETE FROM {table} WHERE rowid = (SELECT max(rowid) FROM {table})"
            ))
            .unwrap();
        });
        let bad = bad.unwrap_or_else(|| panic!("{table}"));
        let names_row = bad.contains(&format!("of {table} ")) || table == "purged_rows";
        assert!(names_row && bad.ends_with("missing"), "{bad}");
    }
}

#[test]
fn an_additional_row_is_named() {
    for table in tables(&filled().raw()) {
        let bad = first_bad_after(|conn| {
            let columns: Vec<String> = conn
                .prepare("SELECT name FROM pragma_table_info(?1) WHERE pk = 0")
                .unwrap()
                .query_map([&table], |row| row.get(0))
                .unwrap()
                .collect::<Result<_, _>>()
                .unwrap();
            let copies: Vec<_> = columns
                .iter()
                .map(|column| match column.as_str() {
                    // Unique columns get unique values.
                    "id" | "authorization_id" | "run_id" | "digest" | "execution_id" => {
                        format!("{column} || 'x'")
                    }
                    "first_row" => format!("{column} + 1000"),
                    _ => column.clone(),
                })
                .collect();
            conn.execute_batch(&format!(
                "INSERT INTO {table} ({}) SELECT {} FROM {table} LIMIT 1",
                columns.join(", "),
                copies.join(", ")
            ))
            .unwrap();
        });
        let bad = bad.unwrap_or_else(|| panic!("{table}"));
        assert!(bad.contains(&format!("of {table} is not in the ledger")), "{bad}");
    }
}

#[test]
fn swapped_rows_are_found() {
    let mut first = 0;
    let bad = first_bad_after(|conn| {
        let id = |which| {
            let sql = format!("SELECT {which}(id) FROM execution_artifacts");
            conn.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap()
        };
        let (one, other) = (id("min"), id("max"));
        assert_ne!(one, other);
        conn.execute_batch(&format!(
            "UPDATE execution_artifacts SET id = -1 WHERE id = {one};
             UPDATE execution_artifacts SET id = {one} WHERE id = {other};
             UPDATE execution_artifacts SET id = {other} WHERE id = -1;",
        ))
        .unwrap();
        first = one;
    });
    assert!(bad.unwrap().contains(&format!("row {first} of execution_artifacts")));
}

#[test]
fn a_changed_ledger_is_found() {
    for sql in [
        "UPDATE ledger SET digest = replace(digest, substr(digest, 1, 1), 'g') WHERE seq = 3",
        "DELETE FROM ledger WHERE seq = 3",
        "DELETE FROM ledger WHERE seq = 1",
        "UPDATE ledger SET entry = '{}' WHERE seq = 2",
        "UPDATE ledger SET entry = '{}' WHERE entry IS NOT NULL",
        "UPDATE ledger SET table_name = 'nowhere' WHERE seq = 5",
        "UPDATE ledger SET seq = -seq WHERE seq IN (6, 7); UPDATE ledger SET seq = 13 + seq WHERE seq < 0",
        "DROP TABLE ledger",
        "DROP TABLE decisions",
    ] {
        assert!(first_bad_after(|conn| conn.execute_batch(sql).unwrap()).is_some(), "{sql}");
    }
}

/// The links of purged rows say which rows are absent.
#[test]
fn a_purge_excuses_no_other_row() {
    for sql in [
        "UPDATE ledger SET table_name = 'decisions' WHERE table_name = 'blobs'
         AND seq NOT IN (SELECT id FROM blobs)",
        "UPDATE ledger SET digest =
             CASE substr(digest, 1, 1) WHEN '0' THEN '1' ELSE '0' END || substr(digest, 2) WHERE seq =
         (SELECT max(seq) FROM ledger WHERE table_name = 'executions')",
        "UPDATE ledger SET table_name = 'runs' WHERE seq =
         (SELECT max(seq) FROM ledger WHERE table_name = 'executions')",
    ] {
        let home = filled();
        rewrite(&home, "ledger", sql);
        assert!(home.verify().first_bad.is_some(), "{sql}");
    }
    for sql in [
        "UPDATE purged_rows SET last_row = last_row + 1",
        "UPDATE purged_rows SET first_row = first_row - 1",
        "UPDATE purged_rows SET first_row = 1, last_row = 1000",
        "UPDATE purged_rows SET links_digest = 'x'",
    ] {
        let home = filled();
        let last = format!("{sql} WHERE id = (SELECT max(id) FROM purged_rows)");
        rewrite(&home, "purged_rows", &last);
        assert!(home.verify().first_bad.is_some(), "{sql}");
    }
}

#[test]
fn truncation_is_found_by_a_known_head() {
    let home = filled();
    let plan = plan(vec![read_step(0, "more")]);
    Running::begin(&mut home.store(), plan, 2_000).end(&RunEnding::Completed);
    let head = home.verify().head;
    let conn = unguarded(&home);
    let (table, row_id): (String, i64) = conn
        .query_row("SELECT table_name, seq FROM ledger ORDER BY seq DESC LIMIT 1", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    conn.execute_batch(&format!(
        "DELETE FROM {table} WHERE rowid = {row_id};
         DELETE FROM ledger WHERE seq = (SELECT max(seq) FROM ledger)"
    ))
    .unwrap();
    super::super::migrations::guard_tables(&conn).unwrap();
    assert!(home.verify().ok, "the database alone does not show it");
    let report = verify(&home.evidence, Some(&head)).unwrap();
    assert!(report.first_bad.unwrap().contains("truncated"));
}

#[test]
fn a_known_head_stays_valid_after_growth() {
    let home = filled();
    let head = home.verify().head;
    let plan = plan(vec![read_step(0, "more")]);
    Running::begin(&mut home.store(), plan, 2_000).end(&RunEnding::Completed);
    assert_ne!(home.verify().head, head);
    assert!(verify(&home.evidence, Some(&head)).unwrap().ok);
}

#[test]
fn missing_rows_are_sound_without_known_head() {
    let home = Home::new();
    assert!(home.verify().ok, "no folder");
    std::fs::create_dir_all(&home.evidence).unwrap();
    std::fs::write(home.evidence.join("execution_log.db"), b"").unwrap();
    let report = home.verify();
    assert!(report.ok, "0 bytes");
    assert_eq!(report.rows, 0);
    assert!(!verify(&home.evidence, Some(&Digest::of(b"head"))).unwrap().ok);
    drop(home.store());
    assert!(home.verify().ok, "no rows");
}
