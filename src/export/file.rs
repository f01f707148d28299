//! A file that appears only when it is complete.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write as _};
use std::path::Path;

use tempfile::NamedTempFile;

use super::{ExportError, Exported, Progress, Result, case_file, export};
use crate::evidence::EvidenceReader;
use crate::run::{ExportFile, SearchQuery};

/// Writes an export beside `path`, and gives it this name when it is complete. Only this user can read it, and nothing
/// is left of an export that failed or was stopped. `replace` allows a file that exists. Returns also the size of the
/// file, in bytes.
///
/// # Errors
/// As for [`export`] and [`case_file`]; when `path` exists already, or is in the folder of the evidence, the key or the kept
/// heads, which it could replace.
pub fn export_to_file(
    reader: &mut EvidenceReader,
    query: &SearchQuery,
    kind: ExportFile,
    (path, replace): (&Path, bool),
    progress: Progress<'_>,
) -> Result<(Exported, u64)> {
    let own = reader.folders().map(Path::to_owned);
    let own = own.each_ref().map(|folder| folder.as_path());
    write_to_file(path, replace, own, |file| write(reader, query, kind, file, progress))
}

/// Writes a file beside `path`, and gives it this name when it is complete. Only this user can read it, and nothing is
/// left of a file that failed. `replace` allows a file that exists. Returns also the size of the file, in bytes.
///
/// # Errors
/// When `path` exists already, or is in one of the program's `own` folders; when it cannot be written; errors of `write`.
pub fn write_to_file<T>(
    path: &Path,
    replace: bool,
    own: [&Path; 3],
    write: impl FnOnce(&mut File) -> Result<T>,
) -> Result<(T, u64)> {
    let exists = || ExportError::Exists(path.to_owned());
    if !replace && path.symlink_metadata().is_ok() {
        return Err(exists());
    }
    // A device or pipe is not replaced by a file, and a folder cannot be.
    if path.metadata().is_ok_and(|it| !it.is_file()) {
        return Err(ExportError::NoFile(path.to_owned()));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    if own.into_iter().any(|own| is_within(folder, own)) {
        return Err(ExportError::OwnFolder);
    }
    let mut file = NamedTempFile::new_in(folder)?;
    let written = write(file.as_file_mut())?;
    file.as_file().sync_all()?;
    let bytes = file.as_file().metadata()?.len();
    let kept = if replace { file.persist(path) } else { file.persist_noclobber(path) };
    match kept {
        Ok(_) => Ok((written, bytes)),
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Err(exists()),
        Err(error) => Err(error.error.into()),
    }
}

/// Whether a folder is this one or below it. Folders that do not exist are not.
fn is_within(folder: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(folder).zip(real(other)).is_some_and(|(folder, other)| folder.starts_with(other))
}

fn write(
    reader: &mut EvidenceReader,
    query: &SearchQuery,
    kind: ExportFile,
    file: &mut File,
    progress: Progress<'_>,
) -> Result<Exported> {
    let mut buffered = BufWriter::new(file);
    let exported = match kind {
        ExportFile::Format(format) => export(reader, query, format, &mut buffered, progress)?,
        ExportFile::Case => {
            let run_id = query.run_id.ok_or(ExportError::OneRun)?;
            case_file(reader, run_id, &mut buffered, progress)?
        }
    };
    buffered.flush()?;
    Ok(exported)
}
