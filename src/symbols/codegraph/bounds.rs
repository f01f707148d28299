//! Limits the cost of reading a database of another program. The limits are counts and not times, so that the
//! same file always gives the same answer.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;

use super::super::SymbolsError;
use super::Codegraph;

/// Maximum time to wait for another program's lock.
const BUSY_TIMEOUT: Duration = Duration::from_millis(500);
/// Maximum number of steps of SQLite's virtual machine for all queries together. It ends queries that would
/// never terminate because of a hostile schema; a time limit would make the answer depend on the machine.
const MAX_STEPS: u64 = if cfg!(test) { 20_000_000 } else { 500_000_000 };
/// Steps between two progress callbacks.
const STEPS_PER_CALLBACK: u32 = 10_000;
/// Maximum number of rows of all answers together, because they are in memory at once.
pub(super) const MAX_TOTAL_ROWS: usize = 2_000_000;
/// Maximum size of a value, in bytes.
const VALUE_BYTES: i32 = 64 << 20;
/// Maximum size of a statement of the schema, in bytes.
const SQL_BYTES: i32 = 1 << 20;

impl Codegraph {
    /// Applies the limits and settings for a hostile file.
    pub(super) fn apply_limits(&mut self) -> rusqlite::Result<()> {
        self.connection.busy_timeout(BUSY_TIMEOUT)?;
        self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        self.connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES)?;
        self.connection.set_limit(Limit::SQLITE_LIMIT_SQL_LENGTH, SQL_BYTES)?;
        self.connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        self.count_steps()
    }

    /// Interrupts every query, including that of the schema, once the total number of steps exceeds the limit.
    fn count_steps(&mut self) -> rusqlite::Result<()> {
        let (is_over_limit, mut steps) = (Arc::clone(&self.is_over_limit), 0_u64);
        let interval = i32::try_from(STEPS_PER_CALLBACK).unwrap_or(i32::MAX);
        let count = move || {
            steps += u64::from(STEPS_PER_CALLBACK);
            let is_over = steps > MAX_STEPS;
            is_over_limit.fetch_or(is_over, Ordering::Relaxed);
            is_over
        };
        self.connection.progress_handler(interval, Some(count))
    }

    /// Checks that `table` is an ordinary table: no view, no virtual table, and without columns that are
    /// computed when read.
    pub(super) fn check_table(&self, table: &str) -> Result<(), SymbolsError> {
        let sql = "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        let statement: Option<Option<String>> = self.query_first(sql, [table], |row| row.get(0))?;
        if !statement.flatten().is_some_and(|statement| statement.starts_with("CREATE TABLE")) {
            return Err(self.wrong_schema(&format!("there is no table {table}")));
        }
        let sql = "SELECT count(*) FROM pragma_table_xinfo(?1) WHERE hidden <> 0";
        let computed: Option<i64> = self.query_first(sql, [table], |row| row.get(0))?;
        match computed {
            Some(0) => Ok(()),
            _ => Err(self.wrong_schema(&format!("the table {table} has computed columns"))),
        }
    }

    /// The error for a query that takes too many steps.
    pub(super) fn too_many_steps(&self) -> SymbolsError {
        let message = format!("it takes more than {MAX_STEPS} steps to answer");
        SymbolsError::Codegraph { path: self.path.clone(), message }
    }
}

/// The size of a database according to the header of its file, or `None` if the header does not contain it.
pub(super) fn size_in_header(head: &[u8; 100]) -> Option<u64> {
    let number = |at: usize| Some(u32::from_be_bytes(head.get(at..at + 4)?.try_into().ok()?));
    let size = u64::from(number(16)? >> 16);
    // Versions of SQLite before 3.7 did not store the number of pages. In their files the two counters
    // differ.
    let counted = number(24)? == number(92)?;
    counted.then_some(u64::from(number(28)?) * if size == 1 { 65_536 } else { size })
}

/// The URI of the file for SQLite, with locks disabled if `unlocked` is set.
pub(super) fn uri(path: &Path, unlocked: bool) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                uri.push(char::from(*byte));
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri.push_str(if unlocked { "?immutable=1" } else { "?mode=ro" });
    uri
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::run::StopSignal;

    const ENTITIES: &str =
        "CREATE TABLE graph_entities(id INTEGER PRIMARY KEY, kind, name, file_path, data);";
    const OTHERS: &str =
        "CREATE TABLE graph_edges(id INTEGER PRIMARY KEY, from_id, to_id, edge_type);
        CREATE TABLE magellan_meta(index_root);";
    const ENDLESS: &str = "AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n)";

    #[expect(clippy::disallowed_methods, reason = "a database of another program")]
    fn graph(sql: &str) -> (tempfile::TempDir, Result<Codegraph, SymbolsError>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("codegraph.db");
        let writer = Connection::open(&path).unwrap();
        writer.execute_batch(sql).unwrap();
        drop(writer);
        let opened = Codegraph::open(&path);
        (folder, opened)
    }

    #[test]
    fn endless_views_are_never_queried() {
        let log =
            format!("CREATE VIEW execution_log {ENDLESS} SELECT id, 'v' AS tool_version FROM n;");
        let (_folder, opened) = graph(&format!("{ENTITIES}{OTHERS}{log}"));
        assert_eq!(opened.unwrap().version, None);
        let entities = format!(
            "CREATE VIEW graph_entities {ENDLESS} SELECT id, 'Symbol' AS kind, 'a' AS name, '' AS file_path, '' AS data FROM n;"
        );
        let (_folder, opened) = graph(&format!("{entities}{OTHERS}"));
        let error = opened.err().unwrap().to_string();
        assert!(error.contains("there is no table graph_entities"), "{error}");
    }

    #[test]
    fn computed_columns_are_refused() {
        let computed = "CREATE TABLE graph_entities(id INTEGER PRIMARY KEY, kind, name, file_path,
            data AS (hex(zeroblob(60000000))));";
        let (_folder, opened) = graph(&format!("{computed}{OTHERS}"));
        let error = opened.err().unwrap().to_string();
        assert!(error.contains("computed columns"), "{error}");
    }

    #[test]
    fn queries_have_a_step_limit() {
        let rows =
            "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 30000)
            INSERT INTO graph_entities SELECT id, 'Reference', 'ref to a', 'f', 'x' FROM n;
            INSERT INTO graph_edges SELECT NULL, 1, id, 'REFERENCES' FROM graph_entities;";
        let (_folder, opened) = graph(&format!("{ENTITIES}{OTHERS}{rows}"));
        let graph = opened.unwrap();
        // Without an index each query scans every row.
        let query = || graph.symbols_named("a", &StopSignal::default());
        let error = (0..1_000).find_map(|_| query().err()).unwrap().to_string();
        assert!(error.contains("steps to answer"), "{error}");
    }
}
