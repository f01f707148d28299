//! The migrations between formats, and the triggers that protect the tables (SPEC §8).

use rusqlite::Connection;

use super::error::Result;
use super::rows::{list, value};

/// The migrations from an empty file to the current format; migration `n`, from 0, creates format `n + 1`. The SQL of a
/// released migration is never edited.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("schema_v1.sql"),
    include_str!("schema_v2.sql"),
    include_str!("schema_v3.sql"),
    include_str!("schema_v4.sql"),
    include_str!("schema_v5.sql"),
    include_str!("schema_v6.sql"),
    include_str!("schema_v7.sql"),
];

/// The first format in which a database has an id and grants have a keyed digest.
pub(super) const FORMAT_WITH_ID: i64 = 3;

/// The first format with what planners looked at.
pub(super) const FORMAT_WITH_LOOKS: i64 = 4;

/// The first format in which rows can be purged.
pub(super) const FORMAT_WITH_PURGES: i64 = 5;

/// The first format in which the records of loops can be purged.
pub(super) const FORMAT_WITH_LOOP_PURGES: i64 = 6;

/// The first format with signatures of persons.
pub(super) const FORMAT_WITH_SIGNATURES: i64 = 7;

/// The tables whose rows a purge may delete, in an order in which no row refers to one that is deleted before it. A loop,
/// its end and the plans of its attempts are written anew without their text.
pub(super) const PURGEABLE: [&str; 13] = [
    "edges",
    "diagnostics",
    "execution_artifacts",
    "file_contents",
    "decisions",
    "executions",
    "intents",
    "blobs",
    "planner_looks",
    "attempt_ends",
    "loop_ends",
    "loops",
    "plans",
];

/// The purgeable tables that had rows to be purged before [`FORMAT_WITH_LOOP_PURGES`].
const PURGEABLE_OF_STEPS: usize = 8;

/// The purgeable tables that a database of this format has.
pub(super) fn purgeable(format: i64) -> impl Iterator<Item = &'static str> {
    let has = move |table: &&str| format >= FORMAT_WITH_LOOKS || *table != "planner_looks";
    PURGEABLE.into_iter().filter(has)
}

/// The current format.
pub(super) fn newest() -> i64 {
    MIGRATIONS.len() as i64
}

/// A database in memory with the schema of this format and no rows.
pub(super) fn in_memory(format: i64) -> Result<Connection> {
    let conn = Connection::open_in_memory()?;
    for sql in MIGRATIONS.iter().take(usize::try_from(format).unwrap_or_default()) {
        conn.execute_batch(sql)?;
    }
    guard_tables(&conn)?;
    Ok(conn)
}

/// Creates the missing triggers that refuse to change, delete or replace a row. Only the rows of a recorded purge may be
/// deleted; before [`FORMAT_WITH_PURGES`], only purged blobs.
pub(super) fn guard_tables(conn: &Connection) -> Result<()> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let tables = list::<String>(conn, sql, [], |row| Ok(row.get(0)?))?;
    let has_purges = tables.iter().any(|table| table == "purged_rows");
    let of_loops =
        "SELECT count(*) FROM pragma_table_info('purged_subjects') WHERE name = 'loop_id'";
    let purgeable = match (has_purges, value::<i64>(conn, of_loops, [])? > 0) {
        (false, _) => &[],
        (true, false) => &PURGEABLE[..PURGEABLE_OF_STEPS],
        (true, true) => &PURGEABLE[..],
    };
    for table in tables {
        let allowed = match table.as_str() {
            table if purgeable.contains(&table) => {
                // The last range that begins at or before the row: ranges do not overlap.
                "WHEN coalesce((SELECT last_row FROM purged_rows WHERE first_row <= OLD.rowid
                                ORDER BY first_row DESC LIMIT 1), 0) < OLD.rowid"
            }
            "blobs" => "WHEN NOT EXISTS (SELECT 1 FROM purges WHERE digest = OLD.digest)",
            _ => "",
        };
        // REPLACE deletes without running the delete trigger, so an insert that would replace a row is refused.
        let mut conflicts = vec![format!("EXISTS (SELECT 1 FROM {table} WHERE rowid = NEW.rowid)")];
        for columns in unique_columns(conn, &table)? {
            let equal: Vec<_> =
                columns.iter().map(|column| format!("{column} = NEW.{column}")).collect();
            conflicts.push(format!("EXISTS (SELECT 1 FROM {table} WHERE {})", equal.join(" AND ")));
        }
        conn.execute_batch(&format!(
            "CREATE TRIGGER IF NOT EXISTS {table}_refuses_update BEFORE UPDATE ON {table}
             BEGIN SELECT RAISE(ABORT, 'evidence is never changed'); END;
             CREATE TRIGGER IF NOT EXISTS {table}_refuses_delete BEFORE DELETE ON {table} {allowed}
             BEGIN SELECT RAISE(ABORT, 'evidence is never deleted'); END;
             CREATE TRIGGER IF NOT EXISTS {table}_refuses_replace BEFORE INSERT ON {table}
             WHEN {}
             BEGIN SELECT RAISE(ABORT, 'evidence is never replaced'); END;",
            conflicts.join(" OR ")
        ))?;
    }
    Ok(())
}

/// The columns of each unique index of a table.
fn unique_columns(conn: &Connection, table: &str) -> Result<Vec<Vec<String>>> {
    let indexes = "SELECT name FROM pragma_index_list(?1) WHERE \"unique\" = 1";
    let columns = "SELECT name FROM pragma_index_info(?1) ORDER BY seqno";
    let indexes: Vec<String> = list(conn, indexes, [table], |row| Ok(row.get(0)?))?;
    indexes.iter().map(|index| list(conn, columns, [index], |row| Ok(row.get(0)?))).collect()
}
