//! The edits of a database of which the changes consist. Each returns its description; `None` if it cannot be made.

use std::fmt::Write as _;
use std::path::PathBuf;

use rusqlite::Connection;

use super::Random;
use super::sample::{self, Sample};
use crate::evidence::chain::Chain;
use crate::evidence::ledger;
use crate::evidence::tests::fixture::*;

pub(super) fn sql(target: &Sample, text: &str) -> Option<String> {
    let conn = connection(target)?;
    conn.execute_batch(text).ok()?;
    Some(text.to_owned())
}

pub(super) fn connection(target: &Sample) -> Option<Connection> {
    let path = target.database();
    if !path.is_file() {
        return None;
    }
    let conn = Connection::open(path).ok()?;
    conn.pragma_update(None, "foreign_keys", false).ok()?;
    conn.pragma_update(None, "ignore_check_constraints", true).ok()?;
    Some(conn)
}

pub(super) fn list(conn: &Connection, text: &str) -> Vec<String> {
    let Ok(mut statement) = conn.prepare(text) else { return Vec::new() };
    let rows = statement.query_map([], |row| row.get(0)).map(Iterator::collect);
    rows.and_then(|rows: rusqlite::Result<Vec<String>>| rows).unwrap_or_default()
}

pub(super) fn name(target: &Sample, random: &mut Random, kind: &str) -> Option<String> {
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
pub(super) fn unguarded(target: &Sample, table: &str, change: &str) -> Option<String> {
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

pub(super) fn a_row(target: &Sample, table: &str, random: &mut Random) -> Option<i64> {
    let conn = connection(target)?;
    let count: i64 =
        conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).ok()?;
    let skipped = random.number(usize::try_from(count).ok()?);
    let sql = format!("SELECT rowid FROM {table} ORDER BY rowid LIMIT 1 OFFSET {skipped}");
    conn.query_row(&sql, [], |row| row.get(0)).ok()
}

pub(super) fn columns(target: &Sample, table: &str) -> Vec<String> {
    connection(target).map_or_else(Vec::new, |conn| {
        list(&conn, &format!("SELECT name FROM pragma_table_info('{table}')"))
    })
}

pub(super) fn change_value(target: &Sample, random: &mut Random) -> Option<String> {
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

pub(super) fn delete_row(target: &Sample, random: &mut Random) -> Option<String> {
    let table = name(target, random, "table")?;
    let row = a_row(target, &table, random)?;
    unguarded(target, &table, &format!("DELETE FROM {table} WHERE rowid = {row}"))
}

pub(super) fn delete_row_and_link(target: &Sample, random: &mut Random) -> Option<String> {
    let table = name(target, random, "table")?;
    let row = a_row(target, &table, random)?;
    unguarded(target, &table, &format!("DELETE FROM {table} WHERE rowid = {row}"))?;
    unguarded(target, "ledger", &format!("DELETE FROM ledger WHERE seq = {row}"))?;
    Some(format!("row {row} of {table} with its link"))
}

pub(super) fn delete_all_rows(target: &Sample, random: &mut Random) -> Option<String> {
    let table = name(target, random, "table")?;
    unguarded(target, &table, &format!("DELETE FROM {table}"))
}

pub(super) fn copy_row(target: &Sample, random: &mut Random) -> Option<String> {
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
pub(super) fn cut_off(target: &Sample, random: &mut Random) -> Option<String> {
    let rows = a_row(target, "ledger", random)?;
    let conn = connection(target)?;
    for table in list(&conn, "SELECT name FROM sqlite_schema WHERE type = 'table'") {
        unguarded(target, &table, &format!("DELETE FROM {table} WHERE rowid > {rows}"))?;
    }
    Some(format!("everything after row {rows}"))
}

/// Changes a row and recomputes the whole chain.
pub(super) fn rewrite(target: &Sample, random: &mut Random) -> Option<String> {
    let changed = change_value(target, random)?;
    rechain(target)?;
    Some(format!("{changed}, and the chain anew"))
}

pub(super) fn rechain(target: &Sample) -> Option<()> {
    let conn = connection(target)?;
    let mut links = conn.prepare("SELECT seq, table_name, entry FROM ledger ORDER BY seq").ok()?;
    let links: Vec<(i64, String, Option<String>)> = links
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .ok()?
        .collect::<rusqlite::Result<_>>()
        .ok()?;
    let mut head = ledger::GENESIS;
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
                ledger::entry(&table, columns)
            }
            None => entry.unwrap_or_default(),
        };
        head = ledger::link(&head, &now);
        write!(changes, "UPDATE ledger SET digest = '{}' WHERE seq = {seq};", head.hex()).unwrap();
    }
    unguarded(target, "ledger", &changes)?;
    Some(())
}

/// Appends a grant as this program would write it, but without a valid keyed digest.
pub(super) fn forge_trust(target: &Sample, random: &mut Random) -> Option<String> {
    let conn = connection(target)?;
    let digest = random.one_of(&["revoked", "forged"])?;
    let note = format!("{} /home/someone/project", sample::digest(digest));
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

pub(super) fn file(target: &Sample, random: &mut Random) -> Option<PathBuf> {
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
