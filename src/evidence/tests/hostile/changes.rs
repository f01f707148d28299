//! The changes, by name.

use std::fs;

use rusqlite::Connection;

use super::Change;
use super::edits::*;
use super::sample::copy_all;
use crate::evidence::migrations;

pub(super) const CHANGES: &[(&str, Change)] = &[
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
    ("trigger named like a table", |t, c| {
        let (table, name) = (name(t, c, "table")?, name(t, c, "table")?);
        sql(
            t,
            &format!(
                "CREATE TRIGGER {name} BEFORE INSERT ON {table} BEGIN SELECT RAISE(IGNORE); END"
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
    ("set format", |t, c| sql(t, &format!("PRAGMA user_version = {}", c.number(8)))),
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
        let conn = migrations::in_memory(format).ok()?;
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
