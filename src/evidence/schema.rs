//! Opening the database: format, guards against change, migrations.

use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use uuid::Uuid;

use super::chain::Chain;
use super::error::{EvidenceError, PATIENCE, Result};
use super::migrations::{FORMAT_WITH_ID, MIGRATIONS, guard_tables};
use super::rows::{find, unreadable};
use super::{permissions, schema_check};

/// The database's name in the evidence folder.
pub(super) const FILE_NAME: &str = "execution_log.db";

/// Written into the file's header, so that no other database is taken for evidence: `Csgn`.
const APPLICATION_ID: i64 = 0x4373_676e;

/// The database of this evidence folder.
pub(super) fn database_path(dir: &Path) -> PathBuf {
    dir.join(FILE_NAME)
}

/// Opens for writing. The caller has made sure that no other process does the same at this moment, and
/// brings the database up to date when it has looked whether this is the one that was here.
///
/// # Errors
/// A database that is damaged, of another program or of a newer version, or whose schema was changed.
pub(super) fn connect_for_writing(path: &Path) -> Result<(Connection, i64)> {
    for file in [path.to_owned(), path.with_extension("db-wal"), path.with_extension("db-shm")] {
        permissions::mend_file(&file)?;
    }
    // SQLite gives its other files the mode of the database.
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
    let found = format_of(&conn, path, MIGRATIONS.len())?;
    refuse_other_schema(&conn, path, found)?;
    Ok((conn, found))
}

/// Makes the tables that are missing, and sets how this connection writes.
///
/// # Errors
/// A database that cannot be written.
pub(super) fn bring_up_to_date(conn: &mut Connection, path: &Path, found: i64) -> Result<()> {
    set_up(conn, path, found, MIGRATIONS)
}

fn set_up(conn: &mut Connection, path: &Path, found: i64, migrations: &[&str]) -> Result<()> {
    let mode: String =
        conn.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)).map_err(damaged(path))?;
    if mode != "wal" {
        return Err(unreadable(format!("the journal mode stayed {mode} instead of wal")));
    }
    // FULL: a commit that returned survives a loss of power. fullfsync: on macOS fsync alone does not
    // reach the disk; elsewhere it does nothing. The log grows to 16 MiB before it is moved into the
    // database, because that waits for the disk twice more.
    conn.execute_batch(
        "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;
         PRAGMA wal_autocheckpoint = 4096;
         PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;",
    )?;
    migrate(conn, path, found, migrations)
}

fn refuse_other_schema(conn: &Connection, path: &Path, format: i64) -> Result<()> {
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

/// Opens for reading, with the format of the database. `None` when there is no database yet, or one of
/// 0 bytes: no evidence. One of an older format is read as it is, because only who writes may bring it up
/// to date.
///
/// # Errors
/// As for [`connect_for_writing`].
pub(super) fn open_for_reading(path: &Path) -> Result<Option<(Connection, i64)>> {
    let opened = open_unchecked(path)?;
    if let Some((conn, format)) = &opened {
        refuse_other_schema(conn, path, *format)?;
    }
    Ok(opened)
}

/// The same whatever its schema is, to say what is wrong with it.
///
/// # Errors
/// A database that is damaged, of another program or of a newer version.
pub(super) fn open_unchecked(path: &Path) -> Result<Option<(Connection, i64)>> {
    refuse_what_is_no_file(path)?;
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.len() > 0 => {}
        // An empty file beside a write-ahead log is a database whose first checkpoint is still to come.
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
        // In a folder that cannot be written SQLite cannot share the log's index; where nobody can
        // write, nothing changes under the reader's feet either.
        Err(error)
            if matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)
            ) =>
        {
            // What is still in the log only would be missing from every answer, and nobody would know.
            let log = path.with_extension("db-wal");
            if std::fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
                return Err(EvidenceError::Log { source: error, path: log });
            }
            let uri = format!("file:{}?immutable=1", percent_encoded(path));
            let conn = Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)
                .map_err(damaged(path))?;
            distrust(&conn)?;
            probe(&conn).map_err(damaged(path))?;
            Ok(conn)
        }
        Err(error) => Err(damaged(path)(error)),
    }
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection> {
    let conn = Connection::open_with_flags(path, flags).map_err(damaged(path))?;
    conn.busy_timeout(PATIENCE)?;
    conn.set_prepared_statement_cache_capacity(128);
    distrust(&conn)?;
    Ok(conn)
}

/// Nothing that stands in a database may run by itself: no view, no function of a schema, no statement that
/// writes the schema.
fn distrust(conn: &Connection) -> Result<()> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    Ok(())
}

fn percent_encoded(path: &Path) -> String {
    let text = path.to_string_lossy();
    text.replace('%', "%25").replace('?', "%3f").replace('#', "%23").replace('\\', "/")
}

fn refuse_what_is_no_file(path: &Path) -> Result<()> {
    match std::fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => Err(EvidenceError::NoFile { path: path.to_owned() }),
        _ => Ok(()),
    }
}

fn damaged(path: &Path) -> impl Fn(rusqlite::Error) -> EvidenceError {
    move |source| match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            EvidenceError::Damaged { source, path: path.to_owned() }
        }
        _ => source.into(),
    }
}

/// The format of the file: 0 for an empty one.
fn format_of(conn: &Connection, path: &Path, known: usize) -> Result<i64> {
    // One snapshot: another process may be making the first tables at this moment.
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

/// Runs the steps that are still missing, all in one transaction, after a backup of what is there.
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
        give_id(&tx)?;
    }
    tx.pragma_update(None, "application_id", APPLICATION_ID)?;
    tx.pragma_update(None, "user_version", known)?;
    tx.commit()?;
    Ok(())
}

/// Writes down the random id under which the head of this database is kept outside of it.
fn give_id(conn: &Connection) -> Result<()> {
    if id_of(conn)?.is_some() {
        return Ok(());
    }
    let id = Uuid::new_v4().to_string();
    let columns = [("id", ValueRef::Text(id.as_bytes()))];
    Chain::of(conn)?.append(conn, "database_ids", &columns)
}

/// The id of a database of the present format.
///
/// # Errors
/// A database that cannot be read.
pub(super) fn id_of(conn: &Connection) -> Result<Option<Uuid>> {
    let sql = "SELECT id FROM database_ids ORDER BY row LIMIT 1";
    let id = find::<String>(conn, sql, [], |row| Ok(row.get(0)?))?;
    Ok(id.and_then(|id| id.parse().ok()))
}

fn back_up(conn: &Connection, path: &Path, format: i64) -> Result<()> {
    // A backup that is there already is of a migration that did not finish; both are kept.
    let backup = (0..)
        .map(|n| match n {
            0 => path.with_extension(format!("v{format}.bak")),
            n => path.with_extension(format!("v{format}.{n}.bak")),
        })
        .find(|candidate| !candidate.exists());
    let Some(backup) = backup else { return Ok(()) };
    // Nobody else may read the copy, whoever may read the original.
    permissions::create_new(&backup)
        .map_err(|source| EvidenceError::Folder { source, path: backup.clone() })?;
    conn.execute("VACUUM INTO ?1", [backup.to_string_lossy()])?;
    Ok(())
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
