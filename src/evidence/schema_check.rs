//! Checks that a database has exactly the schema of its format (SPEC §8). An additional trigger could drop rows, and
//! a view in place of a table could return rows that were never written.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::error::Result;
use super::migrations;
use super::rows::{list, value};
use crate::plan::Digest;

/// The digest of the schema of each format, from format 1 on.
const DIGESTS: [&str; 7] = [
    "beadde1591794809cf7da06a0d3c0ac4e7ab707a8d5294b74e34b0f998fe3eec",
    "e93161a1f559eb12e0f2039b39d1bba05767ef54c07163dc7eababe123a7e6ce",
    "190bf1e5394eb94754b063aaf3fcf1c326e45f27b65a592b824d4101e98fe7a4",
    "9f42fce7040e6bbd68615d7bea39dbe6141daa2943a729872ae633fef58b5d4d",
    "7e5494cf3887b127d5e0e39e37df54e6d7a58e07b5c5ce98a573223fd18c72b8",
    "2558732cb8497ed228eab49a8451b2c3243fe2da8c7256cf5500e79df4a92b04",
    "4837df4bb12d04fa51beca0d832527d01998c6827c2ae368c3391342eddede2f",
];

/// The objects of a schema: kind and name, with table and SQL statement.
type SchemaObjects = BTreeMap<(String, String), (String, Option<String>)>;

/// The differences from the schema of this format, one sentence each; empty if there are none.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn differences(conn: &Connection, format: i64) -> Result<Vec<String>> {
    let objects = objects(conn)?;
    let known = usize::try_from(format - 1).ok().and_then(|index| DIGESTS.get(index));
    if known.is_some_and(|known| *known == digest_of(&objects).hex()) {
        return Ok(Vec::new());
    }
    // The expected schema is needed only to describe differences. Creating it is slower than comparing a digest.
    let expected = self::objects(&migrations::in_memory(format)?)?;
    let mut differences = compare(&objects, &expected);
    if known.is_some() && differences.is_empty() {
        // The digest decides, so that no difference passes that has no description.
        differences.push("its schema is not what this version makes".to_owned());
    }
    Ok(differences)
}

/// The names of the tables whose definition is that of this format.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn intact_tables(conn: &Connection, format: i64) -> Result<Vec<String>> {
    let objects = objects(conn)?;
    let expected = self::objects(&migrations::in_memory(format)?)?;
    Ok(expected
        .into_iter()
        .filter(|(key, definition)| key.0 == "table" && objects.get(key) == Some(definition))
        .map(|((_, name), _)| name)
        .collect())
}

/// SQLite's counter of schema changes.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn version(conn: &Connection) -> Result<i64> {
    value(conn, "PRAGMA schema_version", [])
}

fn objects(conn: &Connection) -> Result<SchemaObjects> {
    let mut objects = SchemaObjects::new();
    let sql = "SELECT type, name, tbl_name, sql FROM main.sqlite_schema";
    list(conn, sql, [], |row| {
        let mut key: (String, String) = (row.get(0)?, row.get(1)?);
        // SQLite may not detect two objects with the same name. Both are listed, so that one is a difference.
        while objects.contains_key(&key) {
            key.1.push_str(" (again)");
        }
        objects.insert(key, (row.get(2)?, row.get(3)?));
        Ok(())
    })?;
    Ok(objects)
}

fn digest_of(objects: &SchemaObjects) -> Digest {
    let mut text = String::new();
    for ((kind, name), (table, sql)) in objects {
        for part in [kind, name, table, sql.as_deref().unwrap_or_default()] {
            text.push_str(&format!("{}:{part}", part.len()));
        }
    }
    Digest::of(text.as_bytes())
}

fn compare(found: &SchemaObjects, expected: &SchemaObjects) -> Vec<String> {
    let mut differences = Vec::new();
    for ((kind, name), definition) in expected {
        match found.get(&(kind.clone(), name.clone())) {
            Some(actual) if actual == definition => {}
            Some(_) => {
                differences.push(format!("the {kind} {name} is not what this version makes"))
            }
            None => {
                let other = found.keys().find(|(_, other)| other == name);
                differences.push(match other {
                    Some((other, _)) => format!("a {other} is in the place of the {kind} {name}"),
                    None => format!("the {kind} {name} is missing"),
                });
            }
        }
    }
    for key in found.keys().filter(|key| !expected.contains_key(*key)) {
        let (kind, name) = key;
        let stands_in = |known: &&(String, String)| known.1 == *name && !found.contains_key(*known);
        if expected.keys().find(stands_in).is_none() {
            differences.push(format!("there is a {kind} {name} that this version does not make"));
        }
    }
    differences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_digests_match_the_formats() {
        let digests: Vec<_> = (1..=migrations::newest())
            .map(|format| {
                digest_of(&objects(&migrations::in_memory(format).unwrap()).unwrap()).hex()
            })
            .collect();
        assert_eq!(digests, DIGESTS);
    }

    #[test]
    fn the_verifier_in_python_knows_every_format() {
        for format in 1..=migrations::newest() {
            let objects = objects(&migrations::in_memory(format).unwrap()).unwrap();
            let line = format!("    {format}: \"{}\"", digest_of(&objects).hex());
            let verifier = crate::evidence::VERIFIER;
            assert!(verifier.contains(&line), "verify.py lacks this line:\n{line}");
        }
    }

    #[test]
    fn schema_differences_are_described() {
        for (change, message) in [
            ("CREATE TABLE more (a)", "a table more that this version does not make"),
            ("DROP INDEX runs_by_time", "the index runs_by_time is missing"),
            (
                "DROP TRIGGER runs_refuses_update; CREATE TRIGGER runs_refuses_update BEFORE UPDATE ON runs
                 BEGIN SELECT 1; END",
                "the trigger runs_refuses_update is not what this version makes",
            ),
            (
                "DROP TABLE purges; CREATE VIEW purges AS SELECT 1 AS digest",
                "a view is in the place of the table purges",
            ),
            // Triggers have names of their own: one may be named like a table or an index.
            (
                "CREATE TRIGGER runs BEFORE INSERT ON executions BEGIN SELECT RAISE(IGNORE); END",
                "a trigger runs that this version does not make",
            ),
            (
                "CREATE TRIGGER runs_by_time BEFORE INSERT ON runs BEGIN SELECT RAISE(IGNORE); END",
                "a trigger runs_by_time that this version does not make",
            ),
            ("ANALYZE", "a table sqlite_stat1 that this version does not make"),
        ] {
            let conn = migrations::in_memory(3).unwrap();
            assert_eq!(differences(&conn, 3).unwrap(), Vec::<String>::new());
            conn.execute_batch(change).unwrap();
            let found = differences(&conn, 3).unwrap();
            assert!(found.iter().any(|found| found.contains(message)), "{change}: {found:?}");
        }
        let conn = migrations::in_memory(3).unwrap();
        assert!(!differences(&conn, 2).unwrap().is_empty(), "a format that was set back");
    }
}
