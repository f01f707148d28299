//! Reads a `codegraph.db` that `magellan` has written, and never writes to it (SPEC §4, code engines).
//!
//! The file is untrusted: its schema is checked before any query, nothing in it is executed, and the callers
//! drop rows about files outside the workspace.

mod bounds;
mod summary;

use std::cell::Cell;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Params, Row};
use rustix::fs::OFlags;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::SymbolsError;
use crate::code::{CodeError, Span};
use crate::run::{StopSignal, text};
use bounds::{MAX_TOTAL_ROWS, size_in_header, uri};

/// The first bytes of an SQLite file.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// Maximum number of rows of one answer. Another program wrote the file, so its size is not limited
/// otherwise.
const MAX_ROWS: usize = 500_000;
/// Maximum size of the text in the rows of all answers together.
const MAX_BYTES: usize = 256 << 20;
/// The tables that are read. Views with these names mean a different schema.
const TABLES: [&str; 3] = ["graph_entities", "graph_edges", "magellan_meta"];

/// An open code graph.
pub(super) struct Codegraph {
    pub(super) path: PathBuf,
    connection: Connection,
    /// The folder to which relative paths in the graph refer.
    root: PathBuf,
    /// The version of the magellan that wrote the graph last, if recorded.
    pub(super) version: Option<String>,
    /// The stamp of the file when it was opened; `None` for a file that is read with locks.
    unlocked: Option<Stamp>,
    /// Whether the queries have taken more steps than the limit.
    is_over_limit: Arc<AtomicBool>,
    /// The number of rows and of bytes read so far, by all queries.
    read: Cell<(usize, usize)>,
}

/// Size and modification time, to detect a write.
type Stamp = (u64, Option<SystemTime>);

/// One symbol in the graph, with the position of its definition.
#[derive(Debug, Clone)]
pub(super) struct Symbol {
    pub(super) name: String,
    /// The file, absolute.
    pub(super) file: PathBuf,
    pub(super) kind: String,
    pub(super) fqn: String,
    pub(super) span: Span,
}

/// One reference and the full name of its target, if known.
#[derive(Debug, Clone)]
pub(super) struct Reference {
    /// The file, absolute.
    pub(super) file: PathBuf,
    pub(super) span: Span,
    pub(super) target: Option<String>,
}

#[derive(Deserialize)]
struct SymbolData {
    kind: String,
    kind_normalized: Option<String>,
    fqn: Option<String>,
    #[serde(flatten)]
    span: Span,
}

#[derive(Deserialize)]
struct FileData {
    /// The modification time of the file when it was indexed, in Unix seconds.
    last_modified: i64,
}

impl Codegraph {
    /// Opens the file at `path` for reading.
    ///
    /// # Errors
    /// The file is empty, not a database, of another schema, locked or damaged, or a limit is reached.
    pub(super) fn open(path: &Path) -> Result<Self, SymbolsError> {
        let unusable = |message: String| SymbolsError::Codegraph { path: path.to_owned(), message };
        // Taken before anything is read, so that every later write changes it.
        let stamp = stamp(path).map_err(|error| unusable(error.to_string()))?;
        let (file_bytes, _) = stamp;
        let mut head = [0; 100];
        let mut options = std::fs::File::options();
        // Without this flag, opening a named pipe would block.
        options.read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
        let mut file = options.open(path).map_err(|error| unusable(error.to_string()))?;
        match file.read_exact(&mut head) {
            Ok(()) => {}
            Err(_) if file_bytes == 0 => return Err(unusable("it is empty".to_owned())),
            Err(error) => return Err(unusable(format!("it is no SQLite database ({error})"))),
        }
        if !head.starts_with(MAGIC) {
            return Err(unusable("it is no SQLite database".to_owned()));
        }
        // In WAL mode even a reader writes files beside the database. Without a log no other process has the
        // database open, so it is read without locks; after each query, stamp and log show whether this was
        // still true.
        let is_wal = head.get(18..20) == Some(&[2, 2]);
        let unlocked = is_wal && !log_of(path).exists();
        // A truncated file is refused here, because SQLite would report it only when a query reaches the
        // missing part.
        if let Some(stated) =
            size_in_header(&head).filter(|stated| unlocked && *stated > file_bytes)
        {
            return Err(unusable(format!(
                "it is malformed: {file_bytes} of its {stated} bytes are there"
            )));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        #[expect(
            clippy::disallowed_methods,
            reason = "a database of another program, which evidence has nothing to do with"
        )]
        let connection = Connection::open_with_flags(uri(path, unlocked), flags)
            .map_err(|error| unusable(error_text(&error)))?;
        let mut graph = Self {
            path: path.to_owned(),
            connection,
            root: PathBuf::new(),
            version: None,
            unlocked: unlocked.then_some(stamp),
            is_over_limit: Arc::default(),
            read: Cell::default(),
        };
        graph.check()?;
        Ok(graph)
    }

    /// The later modification time of the database and its write-ahead log, if known.
    pub(super) fn modified_at(path: &Path) -> Option<SystemTime> {
        let changed = |path: &Path| stamp(path).ok().and_then(|(_, changed)| changed);
        changed(path).max(changed(&log_of(path)))
    }

    /// Applies the limits for a hostile file, and checks the schema.
    fn check(&mut self) -> Result<(), SymbolsError> {
        self.apply_limits().map_err(|error| self.sql_error(&error))?;
        for table in TABLES {
            self.check_table(table)?;
        }
        let sql = "SELECT index_root FROM magellan_meta";
        let root: Option<Option<String>> = self.query_first(sql, [], |row| row.get(0))?;
        self.root = match root.flatten() {
            Some(root) => root.into(),
            None => self.path.parent().unwrap_or(&self.path).to_owned(),
        };
        // The version is optional.
        let sql = "SELECT tool_version FROM execution_log ORDER BY id DESC LIMIT 1";
        let version = self.check_table("execution_log").and_then(|()| {
            let version: Option<Option<String>> = self.query_first(sql, [], |row| row.get(0))?;
            Ok(version.flatten())
        });
        if self.is_over_limit.load(Ordering::Relaxed) {
            return Err(self.too_many_steps());
        }
        self.version = version.unwrap_or_default();
        let sql =
            "SELECT e.edge_type, e.from_id, e.to_id, n.id, n.kind, n.name, n.file_path, n.data
                   FROM graph_edges AS e JOIN graph_entities AS n ON n.id = e.to_id LIMIT 0";
        self.query_first(sql, [], |_| Ok(()))?;
        Ok(())
    }

    /// The symbols of a file, in the order of the text.
    ///
    /// # Errors
    /// A database that cannot be read completely.
    pub(super) fn symbols_of(
        &self,
        file: &Path,
        stop: &StopSignal,
    ) -> Result<Vec<Symbol>, SymbolsError> {
        let sql = "SELECT name, file_path, data FROM graph_entities
                   WHERE kind = 'Symbol' AND file_path IN (?1, ?2, ?3)";
        let mut symbols =
            self.query_all(sql, self.spellings(file), stop, |row| self.symbol(row))?;
        symbols.sort_by_key(|it| (it.span.byte_start, usize::MAX - it.span.byte_end));
        Ok(symbols)
    }

    /// The symbols with this name in all files.
    ///
    /// # Errors
    /// As [`Self::symbols_of`].
    pub(super) fn symbols_named(
        &self,
        name: &str,
        stop: &StopSignal,
    ) -> Result<Vec<Symbol>, SymbolsError> {
        let sql = "SELECT name, file_path, data FROM graph_entities
                   WHERE kind = 'Symbol' AND name = ?1 ORDER BY file_path, id";
        self.query_all(sql, [name], stop, |row| self.symbol(row))
    }

    /// The references to symbols with this name.
    ///
    /// # Errors
    /// As [`Self::symbols_of`].
    pub(super) fn references_to(
        &self,
        name: &str,
        stop: &StopSignal,
    ) -> Result<Vec<Reference>, SymbolsError> {
        let sql = "SELECT r.file_path, r.data, s.data FROM graph_entities AS r
                   LEFT JOIN graph_edges AS e ON e.from_id = r.id AND e.edge_type = 'REFERENCES'
                   LEFT JOIN graph_entities AS s ON s.id = e.to_id AND s.kind = 'Symbol'
                   WHERE r.kind = 'Reference' AND r.name = ?1 ORDER BY r.id";
        self.query_all(sql, [format!("ref to {name}")], stop, |row| {
            let target: Option<String> = row.get(2)?;
            let target = target.map(|data| json::<SymbolData>(&data)).transpose()?;
            Ok(Reference {
                file: self.absolute(row.get(0)?),
                span: json(&row.get::<_, String>(1)?)?,
                target: target.and_then(|it| it.fqn),
            })
        })
    }

    /// The modification time of the file when it was indexed, in Unix seconds; `None` when the graph does
    /// not contain the file.
    ///
    /// # Errors
    /// As [`Self::symbols_of`].
    pub(super) fn indexed(&self, file: &Path) -> Result<Option<i64>, SymbolsError> {
        let sql = "SELECT data FROM graph_entities
                   WHERE kind = 'File' AND (file_path IN (?1, ?2, ?3) OR name IN (?1, ?2, ?3))";
        let data: Option<FileData> =
            self.query_first(sql, self.spellings(file), |row| json(&row.get::<_, String>(0)?))?;
        Ok(data.map(|data| data.last_modified))
    }

    fn symbol(&self, row: &Row<'_>) -> rusqlite::Result<Symbol> {
        let name: String = row.get(0)?;
        let data: SymbolData = json(&row.get::<_, String>(2)?)?;
        Ok(Symbol {
            file: self.absolute(row.get(1)?),
            kind: data.kind_normalized.unwrap_or(data.kind),
            fqn: data.fqn.unwrap_or_else(|| name.clone()),
            name,
            span: data.span,
        })
    }

    /// The spellings that a path may have in the graph: relative or absolute, depending on how magellan was
    /// called.
    fn spellings(&self, file: &Path) -> [String; 3] {
        let relative = file.strip_prefix(&self.root).unwrap_or(file);
        [file, relative, &Path::new(".").join(relative)]
            .map(|path| path.to_string_lossy().into_owned())
    }

    fn absolute(&self, path: Option<String>) -> PathBuf {
        // The path is rebuilt from its components, so that a `./` in it does not make it a different path.
        self.root.join(path.unwrap_or_default()).components().collect()
    }

    /// The first row of the result, converted by `read`.
    fn query_first<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, SymbolsError> {
        let found = self.connection.query_row(sql, params, read).optional();
        self.check_unchanged(found.map_err(|error| self.sql_error(&error))?)
    }

    /// All rows of the result, converted by `read`, within the limits of all queries together.
    fn query_all<T>(
        &self,
        sql: &str,
        params: impl Params,
        stop: &StopSignal,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, SymbolsError> {
        let handle = self.connection.get_interrupt_handle();
        let interrupt: Arc<dyn Fn() + Send + Sync> = Arc::new(move || handle.interrupt());
        stop.listen(&interrupt);
        let (rows_before, mut bytes) = self.read.get();
        let mut items = Vec::new();
        let rows = || -> rusqlite::Result<bool> {
            let mut statement = self.connection.prepare(sql)?;
            let columns = statement.column_count();
            let mut rows = statement.query(params)?;
            while !stop.is_set()
                && let Some(row) = rows.next()?
            {
                for column in 0..columns {
                    bytes += row
                        .get_ref(column)?
                        .as_bytes_or_null()
                        .ok()
                        .flatten()
                        .map_or(0, <[u8]>::len);
                }
                let is_full = items.len() == MAX_ROWS
                    || rows_before + items.len() >= MAX_TOTAL_ROWS
                    || bytes > MAX_BYTES;
                if is_full {
                    return Ok(false);
                }
                items.push(read(row)?);
            }
            Ok(true)
        };
        let read = rows();
        if stop.is_set() {
            let source = CodeError::Stopped;
            return Err(SymbolsError::Code { path: self.path.display().to_string(), source });
        }
        if !read.map_err(|error| self.sql_error(&error))? {
            let limits = format!("{MAX_ROWS} rows or {} of them", text::size(MAX_BYTES as u64));
            let message = format!("it answers with more than {limits}");
            return Err(SymbolsError::Codegraph { path: self.path.clone(), message });
        }
        self.read.set((rows_before + items.len(), bytes));
        self.check_unchanged(items)
    }

    /// Returns `read`, or an error if another process has written to a file that is read without locks.
    fn check_unchanged<T>(&self, read: T) -> Result<T, SymbolsError> {
        match self.unlocked {
            Some(then) if stamp(&self.path).ok() != Some(then) || log_of(&self.path).exists() => {
                let message = "it was written while it was read; run this again".to_owned();
                Err(SymbolsError::Codegraph { path: self.path.clone(), message })
            }
            _ => Ok(read),
        }
    }

    /// Converts an error of SQLite, which may be caused by the limit of steps or by another schema.
    fn sql_error(&self, error: &rusqlite::Error) -> SymbolsError {
        if self.is_over_limit.load(Ordering::Relaxed) {
            return self.too_many_steps();
        }
        let message = error_text(error);
        if message.starts_with("no such ") {
            return self.wrong_schema(&message);
        }
        SymbolsError::Codegraph { path: self.path.clone(), message }
    }

    fn wrong_schema(&self, message: &str) -> SymbolsError {
        let message = format!("it is no code graph that this engine knows: {message}");
        SymbolsError::Codegraph { path: self.path.clone(), message }
    }
}

/// SQLite's error message, without the text of the query.
fn error_text(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        other => other.to_string(),
    }
}

fn json<T: DeserializeOwned>(text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error))
    })
}

fn stamp(path: &Path) -> io::Result<Stamp> {
    let metadata = std::fs::metadata(path)?;
    Ok((metadata.len(), metadata.modified().ok()))
}

/// The write-ahead log beside a database.
fn log_of(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}
