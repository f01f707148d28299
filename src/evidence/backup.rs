//! Backups of the evidence (SPEC §14): one file with all rows. `restore.rs` brings one back.
//!
//! The key is not in a backup, so that a backup reveals no secret. Without the key, contents with secrets cannot be read,
//! and grants do not count.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use uuid::Uuid;

use super::error::Result;
use super::schema::database_path;
use super::verify::verify_file;
use super::{EvidenceError, EvidenceLocation, fault, permissions, schema};
use crate::run::{BackupReport, VerifyReport};

impl EvidenceLocation {
    /// Writes all rows, as they are now, into a new file that only this user can read, and verifies it. Other processes
    /// may record meanwhile.
    ///
    /// # Errors
    /// [`EvidenceError::NoEvidence`] if there is none, [`EvidenceError::BadBackup`] if the copy does not verify,
    /// [`EvidenceError::Folder`] if the file exists or cannot be written, and any error of the database.
    pub fn back_up(&self, file: &Path) -> Result<BackupReport> {
        let database = database_path(&self.evidence);
        let Some((conn, _)) = schema::open_for_reading(&database)? else {
            return Err(EvidenceError::NoEvidence { path: self.evidence.clone() });
        };
        let folder = |path: &Path| {
            let path = path.to_owned();
            move |source| EvidenceError::Folder { source, path }
        };
        if file.symlink_metadata().is_ok() {
            return Err(folder(file)(std::io::ErrorKind::AlreadyExists.into()));
        }
        let temporary = beside(file);
        permissions::create_new(&temporary).map_err(folder(&temporary))?;
        fault::point(&self.evidence, "backup begun");
        let written = write_and_verify(&conn, &temporary).and_then(|report| {
            fault::point(&self.evidence, "backup verified");
            // A link never replaces a file.
            fs::hard_link(&temporary, file)
                .or_else(|_| match file.symlink_metadata() {
                    Ok(_) => Err(std::io::ErrorKind::AlreadyExists.into()),
                    Err(_) => fs::rename(&temporary, file),
                })
                .map_err(folder(file))?;
            fault::point(&self.evidence, "backup named");
            Ok(report)
        });
        let _ = fs::remove_file(&temporary);
        let (rows, head) = written?;
        let bytes = fs::metadata(file).map_or(0, |file| file.len());
        Ok(BackupReport { file: file.to_owned(), bytes, rows, head, has_key: false })
    }
}

/// A new name beside a file.
pub(super) fn beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".{}.tmp", Uuid::new_v4()));
    name.into()
}

fn write_and_verify(conn: &Connection, path: &Path) -> Result<(u64, crate::plan::Digest)> {
    conn.execute("VACUUM INTO ?1", [path.to_string_lossy()])?;
    let synced = fs::File::open(path).and_then(|file| file.sync_all());
    synced.map_err(|source| EvidenceError::Folder { source, path: path.to_owned() })?;
    let report = sound(path)?;
    Ok((report.rows, report.head))
}

/// The report about a backup whose records are unchanged.
///
/// # Errors
/// [`EvidenceError::BadBackup`] if they are not, there are none, or the file cannot be read.
pub(super) fn sound(backup: &Path) -> Result<VerifyReport> {
    let why = match verify_file(backup) {
        Ok(Some(report)) if report.ok && report.rows > 0 => return Ok(report),
        Ok(None) => "there is no evidence in it".to_owned(),
        Ok(Some(report)) => report.first_bad.unwrap_or_else(|| "it has no records".to_owned()),
        Err(error) => error.to_string(),
    };
    Err(EvidenceError::BadBackup { why, path: backup.to_owned() })
}
