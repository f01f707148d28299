//! Opens the database, checks its format and schema, and migrates it.

use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use uuid::Uuid;

use super::chain::Chain;
use super::error::{LOCK_TIMEOUT, Result};
use super::file_system::network_file_system;
use super::migrations::{FORMAT_WITH_ID, MIGRATIONS, guard_tables};
use super::rows::{find, unreadable};
use super::{EvidenceError, permissions, schema_check};

/// The database's name in the evidence folder.
pub(super) const FILE_NAME: &str = "execution_log.db";

/// StoredValue in the header of the file, so that no other database is accepted as evidence: `Csgn`.
const APPLICATION_ID: i64 = 0x4373_676e;

/// The memory for pages of the database that are kept after they were read, in KiB.
const CACHE_KIB: i64 = 16_384;

/// The database of this evidence folder.
pub(super) fn database_path(dir: &Path) -> PathBuf {
    dir.join(FILE_NAME)
}

/// Opens the database for writing. Returns it with its format, which is 0 for a new file. The caller holds the setup
/// lock, compares the database with the kept head, and then calls [`prepare_for_writing`].
///
/// # Errors
/// When a file cannot be used; when the database is damaged, belongs to another program or a newer version, or its
/// schema was changed.
pub(super) fn connect_for_writing(path: &Path) -> Result<(Connection, i64)> {
    for file in [path.to_owned(), path.with_extension("db-wal"), path.with_extension("db-shm")] {
        permissions::restrict_file(&file)?;
    }
    // SQLite gives its additional files the mode of the database.
    match permissions::create_new(path) {
        Err(source) if source.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(EvidenceError::Folder { source, path: path.to_owned() });
        }
        _ => {}
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = connect(path, flags)?;
    if is_on_network(path) {
        leave_log(&conn).map_err(damaged(path))?;
    }
    let found = format_of(&conn, path, MIGRATIONS.len())?;
    check_schema(&conn, path, found)?;
    Ok((conn, found))
}

/// Whether the folder of the database is on a network file system, where it gets no write-ahead log.
fn is_on_network(path: &Path) -> bool {
    path.parent().is_some_and(|dir| network_file_system(dir).is_some())
}

/// Gives a database that came from another file system a rollback journal in place of its log. The log's index is shared
/// memory, which an exclusive lock makes unnecessary.
fn leave_log(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch(
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE;
         PRAGMA locking_mode = NORMAL; SELECT count(*) FROM sqlite_schema;",
    )
}

/// Configures this connection for writing, and migrates the database from format `found`.
///
/// # Errors
/// When the database cannot be written.
pub(super) fn prepare_for_writing(conn: &mut Connection, path: &Path, found: i64) -> Result<()> {
    set_up(conn, path, found, MIGRATIONS)
}

fn set_up(conn: &mut Connection, path: &Path, found: i64, migrations: &[&str]) -> Result<()> {
    let wanted = if is_on_network(path) { "delete" } else { "wal" };
    let sql = format!("PRAGMA journal_mode = {wanted}");
    let mode: String = conn.query_row(&sql, [], |row| row.get(0)).map_err(damaged(path))?;
    if mode != wanted {
        return Err(unreadable(format!("the journal mode stayed {mode} instead of {wanted}")));
    }
    // FULL: a commit is durable when it returns. fullfsync: on macOS, fsync alone does not reach the disk; elsewhere
    // the setting has no effect. The log may grow to 16 MiB before a checkpoint, because each checkpoint flushes the
    // disk twice.
    conn.execute_batch(
        "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;
         PRAGMA wal_autocheckpoint = 4096;
         PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;",
    )?;
    if wanted == "delete" {
        // EXTRA: the folder of the journal is flushed, too.
        conn.execute_batch("PRAGMA synchronous = EXTRA;")?;
    }
    keep_pages(conn)?;
    migrate(conn, path, found, migrations)
}

/// Lets SQLite keep more pages in memory. The rows of a page of hits and of a step are far apart in large evidence, and the
/// next page and step need many of them again.
fn keep_pages(conn: &Connection) -> rusqlite::Result<()> {
    conn.pragma_update(None, "cache_size", -CACHE_KIB)
}

fn check_schema(conn: &Connection, path: &Path, format: i64) -> Result<()> {
    if format == 0 {
        return Ok(());
    }
    let differences = schema_check::differences(conn, format).map_err(|error| match error {
        EvidenceError::Database { source } => damaged(path)(source),
        other => other,
    })?;
    if differences.is_empty() {
        return Ok(());
    }
    Err(EvidenceError::Schema { differences, path: path.to_owned() })
}

/// Opens the database for reading. Returns it with its format, or `None` if it does not exist or is empty. A database
/// of an older format is not migrated, because only a writer may migrate it.
///
/// # Errors
/// As for [`connect_for_writing`].
pub(super) fn open_for_reading(path: &Path) -> Result<Option<(Connection, i64)>> {
    let opened = open_unchecked(path)?;
    if let Some((conn, format)) = &opened {
        check_schema(conn, path, *format)?;
    }
    Ok(opened)
}

/// As [`open_for_reading`], without the check of the schema.
///
/// # Errors
/// When the database is damaged, or belongs to another program or a newer version.
pub(super) fn open_unchecked(path: &Path) -> Result<Option<(Connection, i64)>> {
    match std::fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => {
            return Err(EvidenceError::NoFile { path: path.to_owned() });
        }
        Ok(metadata) if metadata.len() > 0 => {}
        // An empty file beside a write-ahead log is a database before its first checkpoint.
        Ok(_) if path.with_extension("db-wal").exists() => {}
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(EvidenceError::Folder { source, path: path.to_owned() }),
    }
    let conn = connect_for_reading(path)?;
    let found = format_of(&conn, path, MIGRATIONS.len())?;
    if found == 0 {
        return Ok(None);
    }
    keep_pages(&conn)?;
    Ok(Some((conn, found)))
}

fn connect_for_reading(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let probe = |conn: &Connection| {
        conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))
    };
    let conn = connect(path, flags)?;
    match probe(&conn) {
        Ok(_) => Ok(conn),
        // SQLite cannot create the shared index of the log in a folder that is not writable. Nobody can write there, so
        // the database is opened as immutable.
        Err(error)
            if matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)
            ) =>
        {
            // An immutable database is read without its log, so rows that are only in the log would be omitted.
            let log = path.with_extension("db-wal");
            if std::fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
                return Err(EvidenceError::Log { source: error, path: log });
            }
            let uri = format!("file:{}?immutable=1", percent_encoded(path));
            let conn = Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)
                .map_err(damaged(path))?;
            disable_schema_code(&conn)?;
            probe(&conn).map_err(damaged(path))?;
            Ok(conn)
        }
        Err(error) => Err(damaged(path)(error)),
    }
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection> {
    let conn = Connection::open_with_flags(path, flags).map_err(damaged(path))?;
    conn.busy_timeout(LOCK_TIMEOUT)?;
    conn.set_prepared_statement_cache_capacity(128);
    // SQLite would otherwise plan a statement anew for each new value.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    disable_schema_code(&conn)?;
    Ok(conn)
}

/// Disables views, untrusted functions in the schema, and statements that write the schema tables.
fn disable_schema_code(conn: &Connection) -> Result<()> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    Ok(())
}

fn percent_encoded(path: &Path) -> String {
    let text = path.to_string_lossy();
    text.replace('%', "%25").replace('?', "%3f").replace('#', "%23").replace('\\', "/")
}

fn damaged(path: &Path) -> impl Fn(rusqlite::Error) -> EvidenceError {
    move |source| match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            EvidenceError::Damaged { source, path: path.to_owned() }
        }
        _ => source.into(),
    }
}

/// The format of a database; 0 if it is empty. `known` is the newest format that can be opened.
fn format_of(conn: &Connection, path: &Path, known: usize) -> Result<i64> {
    // One snapshot, because another process may be creating the first tables.
    let tx = conn.unchecked_transaction().map_err(damaged(path))?;
    let number = |sql: &str| tx.query_row(sql, [], |row| row.get::<_, i64>(0));
    let application = number("PRAGMA application_id").map_err(damaged(path))?;
    let format = number("PRAGMA user_version").map_err(damaged(path))?;
    let objects = number("SELECT count(*) FROM sqlite_schema").map_err(damaged(path))?;
    if objects == 0 && format == 0 && application == 0 {
        return Ok(0);
    }
    if application != APPLICATION_ID || format < 1 {
        return Err(EvidenceError::Foreign { path: path.to_owned() });
    }
    let known = known as i64;
    if format > known {
        return Err(EvidenceError::TooNew { found: format, known, path: path.to_owned() });
    }
    Ok(format)
}

/// Runs the missing migrations in one transaction. An existing database is backed up first.
fn migrate(conn: &mut Connection, path: &Path, found: i64, migrations: &[&str]) -> Result<()> {
    let known = migrations.len() as i64;
    if found == known {
        return Ok(());
    }
    if found > 0 {
        back_up(conn, path, found)?;
    }
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for sql in migrations.iter().skip(usize::try_from(found).unwrap_or_default()) {
        tx.execute_batch(sql)?;
    }
    guard_tables(&tx)?;
    if known >= FORMAT_WITH_ID {
        assign_id(&tx)?;
    }
    tx.pragma_update(None, "application_id", APPLICATION_ID)?;
    tx.pragma_update(None, "user_version", known)?;
    tx.commit()?;
    Ok(())
}

/// Gives the database a random id, under which its head is kept outside its folder.
fn assign_id(conn: &Connection) -> Result<()> {
    if id_of(conn)?.is_some() {
        return Ok(());
    }
    let id = Uuid::new_v4().to_string();
    let columns = [("id", ValueRef::Text(id.as_bytes()))];
    Chain::of(conn)?.append(conn, "database_ids", &columns)
}

/// The id of a database of [`FORMAT_WITH_ID`] or later.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn id_of(conn: &Connection) -> Result<Option<Uuid>> {
    let sql = "SELECT id FROM database_ids ORDER BY row LIMIT 1";
    let id = find::<String>(conn, sql, [], |row| Ok(row.get(0)?))?;
    Ok(id.and_then(|id| id.parse().ok()))
}

/// Copies the database to a new file beside it.
fn back_up(conn: &Connection, path: &Path, format: i64) -> Result<()> {
    // A backup that exists is from a migration that did not finish. It is kept.
    let backup = (0..)
        .map(|n| match n {
            0 => path.with_extension(format!("v{format}.bak")),
            n => path.with_extension(format!("v{format}.{n}.bak")),
        })
        .find(|candidate| !candidate.exists());
    let Some(backup) = backup else { return Ok(()) };
    // Created here, so that only this user can read it.
    permissions::create_new(&backup)
        .map_err(|source| EvidenceError::Folder { source, path: backup.clone() })?;
    conn.execute("VACUUM INTO ?1", [backup.to_string_lossy()])?;
    Ok(())
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
