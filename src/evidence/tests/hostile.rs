//! Another program changes the files of the evidence (invariant 3 in `lib.rs`). Either opening or `verify` detects the
//! change, or no query, search, replay or grant returns anything else than before.
//!
//! Two changes are not tested, because they cannot be detected: rows that are appended exactly as this program would
//! append them, and a restore of all files of the evidence, the key and the state together.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::json;
use uuid::Uuid;

use super::super::chain::Chain;
use super::super::verify_with_kept_head;
use super::fixture::*;
use crate::authorization::{AuthorizationClass, Method};
use crate::evidence::*;
use crate::plan::Digest;
use crate::run::*;

/// Pseudorandom numbers, the same in each run.
struct Random(u64);

impl Random {
    fn number(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below.max(1)
    }

    fn one_of<'i, T>(&mut self, items: &'i [T]) -> Option<&'i T> {
        items.get(self.number(items.len()))
    }
}

/// Evidence of runs, a loop, classes and trust, with copies of its current files, of earlier ones, and of another
/// database.
struct Sample {
    home: Home,
    root: PathBuf,
    earlier: PathBuf,
    current: PathBuf,
    stranger: PathBuf,
    class_ids: [Uuid; 2],
    /// The result of `observe` before any change.
    expected: String,
}

fn digest(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

fn one_run(store: &mut EvidenceStore, at_ms: i64, word: &str) {
    let mut run =
        Running::begin(store, plan(vec![write_step(0, word, word), read_step(1, word)]), at_ms);
    let mut result = result_of(&run.plan.steps[0].clone(), Outcome::Succeeded, at_ms + 1);
    result.diagnostic_artifacts.push(diagnostic("E0425", word));
    let files = [effect(word, Some(b"before"), Some(word.as_bytes()))];
    run.intend(&result, &files);
    let edges = [Edge {
        edge_type: EdgeType::Affected,
        target_kind: TargetKind::File,
        target: word.into(),
    }];
    let output = format!("the {word} is done");
    run.record(
        with_output(result, output.as_bytes()),
        Extra {
            stdout: Some(output.as_bytes()),
            files: &files,
            edges: &edges,
            result_json: json!({"word": word}),
            ..Extra::default()
        },
    );
    let read = result_of(&run.plan.steps[1].clone(), Outcome::Failed, at_ms + 2);
    run.record(read, Extra::default());
    let failure = Failure {
        code: crate::plan::Code::WriteFailed,
        message: "no".to_owned(),
        next: "look".to_owned(),
    };
    run.end(&RunEnding::Failed(failure));
}

fn trust(store: &mut EvidenceStore, text: &str, trusted: bool) {
    store
        .record_trust(&TrustDecision {
            workspace: "/home/someone/project",
            digest: digest(text),
            trusted,
            shown: None,
            by: AnsweredBy::Window,
            timestamp_ms: 5_000,
        })
        .unwrap();
}

fn class() -> AuthorizationClass {
    AuthorizationClass::read(
        json!({"tools": ["file_read"], "paths": ["."], "max_risk": "caution", "max_attempts": 2,
               "expires_at": "2099-01-31T12:00:00Z"})
        .to_string()
        .as_bytes(),
    )
    .unwrap()
}

impl Sample {
    fn new() -> Self {
        let home = Home::new();
        let root = home.evidence.parent().unwrap().to_owned();
        let outside = tempfile::tempdir().unwrap().keep();
        let mut store = home.store();
        one_run(&mut store, 2_000, "badger");
        trust(&mut store, "kept", true);
        trust(&mut store, "revoked", true);
        let class_ids = [Uuid::new_v4(), Uuid::new_v4()];
        for class_id in class_ids {
            store.record_class(class_id, &class(), Method::Window, 3_000).unwrap();
        }
        drop(store);
        home.reader().catch_up_index().unwrap();
        let earlier = outside.join("earlier");
        copy_all(&root, &earlier);
        let mut store = home.store();
        trust(&mut store, "revoked", false);
        assert!(store.revoke_class(class_ids[1], 4_000).unwrap());
        let loop_id = Uuid::new_v4();
        store
            .commit(&Entry::LoopStart(LoopStart {
                loop_id,
                goal: "all is well",
                planner: "replay",
                workspace: "/home/someone/project",
                max_attempts: 2,
                verify: "none",
                class_id: Some(class_ids[0]),
                started_at_ms: 5_000,
            }))
            .unwrap();
        let reason = StopReason {
            code: StopCode::OperatorStopped,
            message: "stopped".to_owned(),
            detail: StopDetail::default(),
        };
        let end = LoopEnd { loop_id, reason: &reason, ended_at_ms: 5_500 };
        store.commit(&Entry::LoopEnd(end)).unwrap();
        one_run(&mut store, 6_000, "wombat");
        store.purge(&Digest::of(b"badger"), "not wanted", 7_000).unwrap();
        one_run(&mut store, 8_000, "quokka");
        drop(store);
        home.reader().catch_up_index().unwrap();
        // Moves all rows from the log into the database file.
        home.raw().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        let other = Home::new();
        one_run(&mut other.store(), 2_000, "stranger");
        other.raw().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        let stranger = outside.join("stranger");
        copy_all(&other.evidence, &stranger);
        let current = outside.join("current");
        copy_all(&root, &current);
        let mut target =
            Self { home, root, earlier, current, stranger, class_ids, expected: String::new() };
        target.expected = target.observe().unwrap();
        target.restore();
        assert!(target.detected().is_none(), "{:?}", target.detected());
        target
    }

    fn restore(&self) {
        for folder in [&self.home.evidence, &self.home.secrets] {
            let _ = fs::remove_dir_all(folder);
            let _ = fs::remove_file(folder);
        }
        copy_all(&self.current, &self.root);
    }

    fn database(&self) -> PathBuf {
        self.home.evidence.join("execution_log.db")
    }

    /// The difference or error that `verify` or opening reports, if any.
    fn detected(&self) -> Option<String> {
        match verify_with_kept_head(&self.home.evidence, &self.home.secrets, None) {
            Err(error) => return Some(error.to_string()),
            Ok(report) if !report.ok => return report.first_bad,
            Ok(_) => {}
        }
        match EvidenceStore::open(&self.home.evidence, &self.home.secrets) {
            Err(error) => Some(error.to_string()),
            Ok(_) => None,
        }
    }

    /// Everything that queries return or grant.
    fn observe(&self) -> Result<String, EvidenceError> {
        let mut text = String::new();
        let mut reader = EvidenceReader::open(&self.home.evidence, &self.home.secrets)?;
        let mut add = |what: &dyn std::fmt::Debug| writeln!(text, "{what:?}").unwrap();
        let runs = reader.runs(100)?;
        add(&runs);
        for run in runs {
            add(&reader.replay(run.run_id)?);
            add(&reader.plan_of_run(run.run_id)?);
            add(&reader.succeeded_steps(run.run_id)?);
            add(&reader.files_after(run.run_id)?);
            add(&reader.open_intents(run.run_id)?);
        }
        for found in reader.loops(100)? {
            add(&reader.bounded_loop(found.loop_id)?);
            add(&reader.replay_loop(found.loop_id)?);
        }
        add(&reader.history("/home/someone/project", None)?.1);
        for tool in ["file_read", "file_write"] {
            let rows = reader.q1(tool, Range::default())?;
            for row in &rows {
                add(&reader.execution(row.row.execution_id)?);
            }
            add(&rows);
            add(&reader.q2(tool, Range::default())?);
        }
        add(&reader.q3("E0425", Range::default())?);
        add(&reader.q7(2, Range::default())?);
        add(&reader.q8("E0425", None, Range::default())?);
        for file in ["badger", "wombat", "quokka"] {
            add(&reader.q4(file, Range::default())?);
            add(&reader.q6(file)?);
            add(&reader.stored_content(&Digest::of(file.as_bytes()))?);
        }
        for words in ["", "wombat", "done", "platypus"] {
            let query = SearchQuery { words: words.to_owned(), ..SearchQuery::default() };
            let page = reader.search(&query)?;
            // A note reports a change, so the change is not hidden.
            add(&SearchPage { took_us: 0, note: None, ..page });
        }
        add(&reader.trusted_commands()?);
        let store = EvidenceStore::open(&self.home.evidence, &self.home.secrets)?;
        add(&store.trusted_commands()?);
        for class_id in self.class_ids {
            add(&store.is_class_revoked(class_id)?);
        }
        Ok(text)
    }
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_all(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Makes a change, and returns its description; `None` if it cannot be made.
type Change = fn(&Sample, &mut Random) -> Option<String>;

fn sql(target: &Sample, text: &str) -> Option<String> {
    let conn = connection(target)?;
    conn.execute_batch(text).ok()?;
    Some(text.to_owned())
}

fn connection(target: &Sample) -> Option<Connection> {
    let path = target.database();
    if !path.is_file() {
        return None;
    }
    let conn = Connection::open(path).ok()?;
    conn.pragma_update(None, "foreign_keys", false).ok()?;
    conn.pragma_update(None, "ignore_check_constraints", true).ok()?;
    Some(conn)
}

fn list(conn: &Connection, text: &str) -> Vec<String> {
    let Ok(mut statement) = conn.prepare(text) else { return Vec::new() };
    let rows = statement.query_map([], |row| row.get(0)).map(Iterator::collect);
    rows.and_then(|rows: rusqlite::Result<Vec<String>>| rows).unwrap_or_default()
}

fn name(target: &Sample, random: &mut Random, kind: &str) -> Option<String> {
    let conn = connection(target)?;
    let names = list(
        &conn,
        &format!(
            "SELECT name FROM sqlite_schema WHERE type = '{kind}' AND sql IS NOT NULL ORDER BY name"
        ),
    );
    random.one_of(&names).cloned()
}

/// Drops the triggers of a table, changes rows, and restores the triggers.
fn unguarded(target: &Sample, table: &str, change: &str) -> Option<String> {
    let conn = connection(target)?;
    let triggers = list(
        &conn,
        &format!("SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = '{table}'"),
    );
    let names = list(
        &conn,
        &format!("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = '{table}'"),
    );
    let drops: String = names.iter().map(|name| format!("DROP TRIGGER {name};")).collect();
    let makes: String = triggers.iter().map(|sql| format!("{sql};")).collect();
    conn.execute_batch(&format!("BEGIN; {drops} {change}; {makes} COMMIT;")).ok()?;
    Some(change.to_owned())
}

fn a_row(target: &Sample, table: &str, random: &mut Random) -> Option<i64> {
    let conn = connection(target)?;
    let count: i64 =
        conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).ok()?;
    let skipped = random.number(usize::try_from(count).ok()?);
    let sql = format!("SELECT rowid FROM {table} ORDER BY rowid LIMIT 1 OFFSET {skipped}");
    conn.query_row(&sql, [], |row| row.get(0)).ok()
}

fn columns(target: &Sample, table: &str) -> Vec<String> {
    connection(target).map_or_else(Vec::new, |conn| {
        list(&conn, &format!("SELECT name FROM pragma_table_info('{table}')"))
    })
}

fn change_value(target: &Sample, random: &mut Random) -> Option<String> {
    let table = name(target, random, "table")?;
    let row = a_row(target, &table, random)?;
    let column = random.one_of(&columns(target, &table))?.clone();
    let other = format!("(SELECT {column} FROM {table} WHERE rowid <> {row} LIMIT 1)");
    let value = match random.number(6) {
        0 => "NULL".to_owned(),
        1 => format!("{column} + 1"),
        2 => format!("coalesce({column}, '') || 'x'"),
        3 => "x'00'".to_owned(),
        4 => "'succeeded'".to_owned(),
        _ => other,
    };
    unguarded(target, &table, &format!("UPDATE {table} SET {column} = {value} WHERE rowid = {row}"))
}

fn delete_row(target: &Sample, random: &mut Random) -> Option<String> {
    let table = name(target, random, "table")?;
    let row = a_row(target, &table, random)?;
    unguarded(target, &table, &format!("DELETE FROM {table} WHERE rowid = {row}"))
}

fn delete_row_and_link(target: &Sample, random: &mut Random) -> Option<String> {
    let table = name(target, random, "table")?;
    let row = a_row(target, &table, random)?;
    unguarded(target, &table, &format!("DELETE FROM {table} WHERE rowid = {row}"))?;
    unguarded(target, "ledger", &format!("DELETE FROM ledger WHERE seq = {row}"))?;
    Some(format!("row {row} of {table} with its link"))
}

fn delete_all_rows(target: &Sample, random: &mut Random) -> Option<String> {
    let table = name(target, random, "table")?;
    unguarded(target, &table, &format!("DELETE FROM {table}"))
}

fn copy_row(target: &Sample, random: &mut Random) -> Option<String> {
    let table = name(target, random, "table")?;
    let row = a_row(target, &table, random)?;
    let columns = columns(target, &table);
    let key = columns.first()?;
    let copies: Vec<_> = columns
        .iter()
        .map(|column| match column.as_str() {
            column if column == key => format!("{key} + 1000"),
            "id" | "digest" | "authorization_id" | "run_id" | "execution_id" => {
                format!("{column} || '0'")
            }
            column => column.to_owned(),
        })
        .collect();
    sql(
        target,
        &format!(
            "INSERT INTO {table} ({}) SELECT {} FROM {table} WHERE rowid = {row}",
            columns.join(", "),
            copies.join(", ")
        ),
    )
}

/// Cuts the end off. The remaining chain is valid.
fn cut_off(target: &Sample, random: &mut Random) -> Option<String> {
    let rows = a_row(target, "ledger", random)?;
    let conn = connection(target)?;
    for table in list(&conn, "SELECT name FROM sqlite_schema WHERE type = 'table'") {
        unguarded(target, &table, &format!("DELETE FROM {table} WHERE rowid > {rows}"))?;
    }
    Some(format!("everything after row {rows}"))
}

/// Changes a row and recomputes the whole chain.
fn rewrite(target: &Sample, random: &mut Random) -> Option<String> {
    let changed = change_value(target, random)?;
    rechain(target)?;
    Some(format!("{changed}, and the chain anew"))
}

fn rechain(target: &Sample) -> Option<()> {
    let conn = connection(target)?;
    let mut links = conn.prepare("SELECT seq, table_name, entry FROM ledger ORDER BY seq").ok()?;
    let links: Vec<(i64, String, Option<String>)> = links
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .ok()?
        .collect::<rusqlite::Result<_>>()
        .ok()?;
    let mut head = super::super::ledger::GENESIS;
    let mut changes = String::new();
    for (seq, table, entry) in links {
        let mut statement =
            conn.prepare(&format!("SELECT * FROM \"{table}\" WHERE rowid = {seq}")).ok()?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([]).ok()?;
        let now = match rows.next().ok()? {
            Some(row) => {
                let columns: Vec<_> = names
                    .iter()
                    .enumerate()
                    .map(|(index, name)| (name.as_str(), row.get_ref(index).unwrap()))
                    .collect();
                super::super::ledger::entry(&table, columns)
            }
            None => entry.unwrap_or_default(),
        };
        head = super::super::ledger::link(&head, &now);
        write!(changes, "UPDATE ledger SET digest = '{}' WHERE seq = {seq};", head.hex()).unwrap();
    }
    unguarded(target, "ledger", &changes)?;
    Some(())
}

/// Appends a grant as this program would write it, but without a valid keyed digest.
fn forge_trust(target: &Sample, random: &mut Random) -> Option<String> {
    let conn = connection(target)?;
    let digest = random.one_of(&["revoked", "forged"])?;
    let note = format!("{} /home/someone/project", self::digest(digest));
    let proof = "0".repeat(64);
    let text = |text: &'static str| rusqlite::types::ValueRef::Text(text.as_bytes());
    let mut columns = vec![
        ("decision", text("commands_trusted")),
        ("decided_by", text("window")),
        ("note", rusqlite::types::ValueRef::Text(note.as_bytes())),
        ("request_json", text("{}")),
        ("timestamp", rusqlite::types::ValueRef::Integer(9_000)),
    ];
    if random.number(2) == 0 {
        columns.push(("grant_digest", rusqlite::types::ValueRef::Text(proof.as_bytes())));
    }
    Chain::of(&conn).ok()?.append(&conn, "decisions", &columns).ok()?;
    Some(format!("a forged record that {digest} is trusted"))
}

fn file(target: &Sample, random: &mut Random) -> Option<PathBuf> {
    let Home { evidence, secrets, .. } = &target.home;
    random
        .one_of(&[
            evidence.join("execution_log.db"),
            evidence.join("search_index.db"),
            evidence.join("search_index.seal"),
            secrets.join("evidence.key"),
            secrets.join("evidence_heads.json"),
            secrets.join("state/evidence_heads.json"),
        ])
        .cloned()
}

const CHANGES: &[(&str, Change)] = &[
    ("drop table", |t, c| sql(t, &format!("DROP TABLE {}", name(t, c, "table")?))),
    ("rename table", |t, c| {
        sql(t, &format!("ALTER TABLE {} RENAME TO other_{}", name(t, c, "table")?, c.number(9)))
    }),
    ("view for table", |t, c| {
        let table = name(t, c, "table")?;
        sql(
            t,
            &format!(
                "PRAGMA legacy_alter_table = ON; ALTER TABLE {table} RENAME TO hidden;
                 CREATE VIEW {table} AS SELECT * FROM hidden LIMIT 3"
            ),
        )
    }),
    ("view that takes rows", |t, c| {
        let table = name(t, c, "table")?;
        sql(
            t,
            &format!(
                "PRAGMA legacy_alter_table = ON; ALTER TABLE {table} RENAME TO hidden;
                 CREATE VIEW {table} AS SELECT * FROM hidden;
                 CREATE TRIGGER swallow INSTEAD OF INSERT ON {table} BEGIN SELECT 1; END"
            ),
        )
    }),
    ("table anew", |t, c| {
        let table = name(t, c, "table")?;
        sql(
            t,
            &format!(
                "PRAGMA legacy_alter_table = ON; ALTER TABLE {table} RENAME TO hidden;
                 CREATE TABLE {table} AS SELECT * FROM hidden; DROP TABLE hidden"
            ),
        )
    }),
    ("add table", |t, c| sql(t, &format!("CREATE TABLE more_{} (a)", c.number(9)))),
    ("add view", |t, c| sql(t, &format!("CREATE VIEW more_{} AS SELECT 1", c.number(9)))),
    ("add column", |t, c| {
        sql(t, &format!("ALTER TABLE {} ADD COLUMN more TEXT", name(t, c, "table")?))
    }),
    ("drop column", |t, c| {
        let table = name(t, c, "table")?;
        let column = c.one_of(&columns(t, &table))?.clone();
        sql(t, &format!("ALTER TABLE {table} DROP COLUMN {column}"))
    }),
    ("rename column", |t, c| {
        let table = name(t, c, "table")?;
        let column = c.one_of(&columns(t, &table))?.clone();
        sql(t, &format!("ALTER TABLE {table} RENAME COLUMN {column} TO other"))
    }),
    ("add trigger", |t, c| {
        let when = c.one_of(&["BEFORE", "AFTER"])?;
        let what = c.one_of(&["INSERT", "UPDATE", "DELETE"])?;
        let does = c.one_of(&["SELECT RAISE(IGNORE)", "DELETE FROM ledger", "SELECT 1"])?;
        sql(
            t,
            &format!(
                "CREATE TRIGGER more {when} {what} ON {} BEGIN {does}; END",
                name(t, c, "table")?
            ),
        )
    }),
    ("drop trigger", |t, c| sql(t, &format!("DROP TRIGGER {}", name(t, c, "trigger")?))),
    ("other trigger", |t, c| {
        let trigger = name(t, c, "trigger")?;
        sql(
            t,
            &format!(
                "DROP TRIGGER {trigger};
                 CREATE TRIGGER {trigger} BEFORE UPDATE ON runs BEGIN SELECT 1; END"
            ),
        )
    }),
    ("drop index", |t, c| sql(t, &format!("DROP INDEX {}", name(t, c, "index")?))),
    ("add index", |t, c| {
        let table = name(t, c, "table")?;
        let column = c.one_of(&columns(t, &table))?.clone();
        sql(t, &format!("CREATE INDEX more ON {table} ({column})"))
    }),
    ("other index", |t, c| {
        let index = name(t, c, "index")?;
        sql(t, &format!("DROP INDEX {index}; CREATE INDEX {index} ON runs (timestamp DESC)"))
    }),
    ("change value", change_value),
    ("delete row", delete_row),
    ("delete row and link", delete_row_and_link),
    ("delete all rows", delete_all_rows),
    ("copy row", copy_row),
    ("cut off", cut_off),
    ("rewrite", rewrite),
    ("forge trust", forge_trust),
    ("set format", |t, c| sql(t, &format!("PRAGMA user_version = {}", c.number(6)))),
    ("set application", |t, c| sql(t, &format!("PRAGMA application_id = {}", c.number(6)))),
    ("journal mode", |t, c| {
        let mode = c.one_of(&["DELETE", "TRUNCATE", "PERSIST", "MEMORY", "OFF"])?;
        sql(t, &format!("PRAGMA journal_mode = {mode}"))
    }),
    ("vacuum", |t, _| sql(t, "VACUUM")),
    ("analyze", |t, _| sql(t, "ANALYZE")),
    ("other page size", |t, _| {
        sql(t, "PRAGMA journal_mode = DELETE; PRAGMA page_size = 8192; VACUUM")
    }),
    ("edit schema", |t, c| {
        let conn = connection(t)?;
        let names = list(&conn, "SELECT name FROM sqlite_schema WHERE sql IS NOT NULL");
        let (one, other) = (c.one_of(&names)?, c.one_of(&names)?);
        let change = match c.number(5) {
            0 => format!("DELETE FROM sqlite_schema WHERE name = '{one}'"),
            1 => format!(
                "UPDATE sqlite_schema SET sql = replace(sql, 'NOT NULL', '') WHERE name = '{one}'"
            ),
            2 => format!(
                "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema
                 WHERE name = '{other}') WHERE name = '{one}'"
            ),
            3 => format!("UPDATE sqlite_schema SET tbl_name = '{other}' WHERE name = '{one}'"),
            _ => "UPDATE sqlite_schema SET sql = replace(sql, 'ABORT', 'IGNORE')".to_owned(),
        };
        sql(t, &format!("PRAGMA writable_schema = ON; {change}"))
    }),
    ("remove file", |t, c| {
        let file = file(t, c)?;
        fs::remove_file(&file).ok()?;
        Some(format!("{} removed", file.display()))
    }),
    ("empty file", |t, c| {
        let file = file(t, c)?;
        fs::metadata(&file).ok()?;
        fs::write(&file, b"").ok()?;
        Some(format!("{} emptied", file.display()))
    }),
    ("cut file", |t, c| {
        let file = file(t, c)?;
        let bytes = fs::read(&file).ok()?;
        let length = c.number(bytes.len());
        fs::write(&file, &bytes[..length]).ok()?;
        Some(format!("{} cut to {length} bytes", file.display()))
    }),
    ("flip byte", |t, c| {
        let file = file(t, c)?;
        let mut bytes = fs::read(&file).ok()?;
        let index = c.number(bytes.len());
        *bytes.get_mut(index)? ^= 1 << c.number(8);
        fs::write(&file, bytes).ok()?;
        Some(format!("{} at {index}", file.display()))
    }),
    ("flip byte of the database", |t, c| {
        let mut bytes = fs::read(t.database()).ok()?;
        let index = c.number(bytes.len());
        *bytes.get_mut(index)? ^= 1 << c.number(8);
        fs::write(t.database(), bytes).ok()?;
        Some(format!("at {index}"))
    }),
    ("earlier file", |t, c| {
        let file = file(t, c)?;
        fs::copy(t.earlier.join(file.strip_prefix(&t.root).ok()?), &file).ok()?;
        Some(format!("{} as it was earlier", file.display()))
    }),
    ("earlier folder", |t, _| {
        fs::remove_dir_all(&t.home.evidence).ok()?;
        copy_all(&t.earlier.join("evidence"), &t.home.evidence);
        Some("the evidence folder as it was earlier".to_owned())
    }),
    ("another database", |t, _| {
        fs::copy(t.stranger.join("execution_log.db"), t.database()).ok()?;
        Some("another database".to_owned())
    }),
    ("an older format", |t, c| {
        let format = 1 + c.number(2) as i64;
        fs::remove_file(t.database()).ok()?;
        let conn = super::super::migrations::in_memory(format).ok()?;
        conn.execute("VACUUM INTO ?1", [t.database().to_str()?]).ok()?;
        let text = format!("PRAGMA application_id = 0x4373676e; PRAGMA user_version = {format}");
        sql(t, &text)
    }),
    ("garbage log", |t, c| {
        let suffix = c.one_of(&["-wal", "-shm", "-journal"])?;
        let path = t.home.evidence.join(format!("execution_log.db{suffix}"));
        fs::write(path, [0x37, 0x7f, 0x06, 0x82].repeat(1_000)).ok()?;
        Some(suffix.to_string())
    }),
    ("no locks", |t, _| {
        fs::remove_dir_all(t.home.evidence.join("locks")).ok()?;
        Some("locks removed".to_owned())
    }),
    ("no state", |t, _| {
        fs::remove_dir_all(t.home.secrets.join("state")).ok()?;
        Some("state removed".to_owned())
    }),
    ("no evidence", |t, _| {
        fs::remove_dir_all(&t.home.evidence).ok()?;
        Some("evidence removed".to_owned())
    }),
    ("open key", |t, _| {
        use std::os::unix::fs::PermissionsExt as _;
        let key = t.home.secrets.join("evidence.key");
        fs::set_permissions(key, fs::Permissions::from_mode(0o644)).ok()?;
        Some("key for everybody".to_owned())
    }),
    ("poisoned index", |t, c| {
        let index = t.home.evidence.join("search_index.db");
        if !index.is_file() {
            return None;
        }
        let change = *c.one_of(&[
            "UPDATE texts SET stdout = 'the wombat is done, and you may go'",
            "UPDATE texts SET stdout = ''",
            "DELETE FROM texts",
            "DELETE FROM docs",
            "UPDATE docs SET outcome = 'succeeded', tool = 'shell'",
            "INSERT INTO texts (rowid, stdout) VALUES (1000, 'platypus');
             INSERT INTO docs SELECT 1000, execution_id || '0', run_id, plan_id, tool, outcome, risk,
             host, error_code, timestamp, open FROM docs LIMIT 1",
            "UPDATE state SET seq = 0",
            "DELETE FROM texts_data WHERE id > 10",
            "DROP TABLE texts",
        ])?;
        Connection::open(index).ok()?.execute_batch(change).ok()?;
        Some(change.to_owned())
    }),
];

/// The result of a test case.
enum CaseResult {
    Detected,
    Harmless,
    /// No change could be made.
    Unchanged,
}

/// Makes these changes. The error is a difference that remains undetected.
fn hidden_change(
    target: &Sample,
    changes: &[Change],
    random: &mut Random,
) -> Result<CaseResult, String> {
    target.restore();
    let mut done = Vec::new();
    for change in changes {
        done.extend(change(target, random));
    }
    if done.is_empty() {
        return Ok(CaseResult::Unchanged);
    }
    if target.detected().is_some() {
        return Ok(CaseResult::Detected);
    }
    match target.observe() {
        // A refusal counts as detection.
        Err(_) => Ok(CaseResult::Detected),
        Ok(observed) if observed == target.expected => Ok(CaseResult::Harmless),
        Ok(observed) => {
            let differs =
                observed.lines().zip(target.expected.lines()).find(|(now, was)| now != was);
            let (now, was) = differs.unwrap_or_default();
            Err(format!("{done:?}:\n{now:.600}\nbefore:\n{was:.600}"))
        }
    }
}

fn check(cases: impl Iterator<Item = (Vec<usize>, u64)>) {
    let target = Sample::new();
    let (mut detected, mut harmless, mut unchanged, mut hidden) = (0, 0, 0, Vec::new());
    for (indexes, seed) in cases {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let names: Vec<_> = indexes.iter().map(|index| CHANGES[*index].0).collect();
        let changes: Vec<_> = indexes.iter().map(|index| CHANGES[*index].1).collect();
        match hidden_change(&target, &changes, &mut random) {
            Ok(CaseResult::Detected) => detected += 1,
            Ok(CaseResult::Harmless) => harmless += 1,
            Ok(CaseResult::Unchanged) => unchanged += 1,
            Err(why) => hidden.push(format!("{names:?} with {seed}: {why}")),
        }
    }
    let tried = detected + harmless + hidden.len();
    println!(
        "{detected} detected, {harmless} without effect, {} hidden, {unchanged} not made",
        hidden.len()
    );
    let _ = fs::remove_dir_all(target.current.parent().unwrap());
    assert!(detected > tried / 2 && unchanged < tried / 10, "most changes are made and detected");
    assert!(hidden.is_empty(), "{} of {tried}: {}", hidden.len(), hidden.join("\n\n"));
}

/// Makes each change several times, with different tables, rows and values.
#[test]
fn no_single_change_is_hidden() {
    check((0..CHANGES.len()).flat_map(|index| (0..4).map(move |seed| (vec![index], seed))));
}

/// Makes one or two random changes for each seed. The variable `EVIDENCE_CHANGES` sets the number of seeds or their
/// range `FROM..TO`.
#[test]
fn no_pair_of_changes_is_hidden() {
    let seeds = std::env::var("EVIDENCE_CHANGES").unwrap_or_else(|_| "200".to_owned());
    let (from, to) = seeds.split_once("..").unwrap_or(("0", &seeds));
    let (from, to): (u64, u64) = (from.parse().unwrap(), to.parse().unwrap());
    check((from..to).map(|seed| {
        let mut random = Random(seed.wrapping_mul(0xd134_2543_de82_ef95) | 1);
        let count = 1 + usize::from(random.number(4) > 0);
        ((0..count).map(|_| random.number(CHANGES.len())).collect(), seed)
    }));
}
