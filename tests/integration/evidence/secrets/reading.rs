//! Reads everything that the program wrote: file names, files, and database values, decompressed too.

use std::fs;
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

/// Each file below a folder and each value of each database, with its place.
pub fn everything(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    let mut databases = Vec::new();
    // All files first, because opening a database removes its log.
    files(folder, &mut all, &mut databases);
    for path in databases {
        all.extend(cells(&path));
    }
    all
}

fn files(folder: &Path, all: &mut Vec<(String, Vec<u8>)>, databases: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = entry.path();
        // File names count too.
        all.push((
            format!("the name of {}", path.display()),
            entry.file_name().into_encoded_bytes(),
        ));
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files(&path, all, databases);
        } else if kind.is_file() {
            let bytes = fs::read(&path).unwrap();
            if bytes.starts_with(b"SQLite format 3\0") {
                databases.push(path.clone());
            }
            all.push((path.display().to_string(), bytes));
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "every database is read, as anybody could")]
fn cells(path: &Path) -> Vec<(String, Vec<u8>)> {
    let name = path.file_name().unwrap().to_string_lossy();
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let database = Connection::open_with_flags(path, flags).unwrap();
    let mut names =
        database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
    let tables: Vec<String> =
        names.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    let mut all = Vec::new();
    for table in tables {
        let mut statement = database.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            for (index, column) in columns.iter().enumerate() {
                let bytes = match row.get_ref(index).unwrap() {
                    ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_vec(),
                    _ => continue,
                };
                let place = format!("{name}: {table}.{column}");
                if let Ok(plain) = zstd::decode_all(bytes.as_slice()) {
                    all.push((format!("{place}, unpacked"), plain));
                }
                all.push((place, bytes));
            }
        }
    }
    all
}
