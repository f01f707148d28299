//! Backups of the evidence (SPEC §14): one file with all rows, and its way back.
//!
//! The key is not in a backup, so that a backup reveals no secret. Without the key, contents with secrets cannot be read,
//! and grants do not count.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;
use uuid::Uuid;

use super::error::Result;
use super::index::Index;
use super::lock::{self, Lock};
use super::schema::{FILE_NAME, database_path};
use super::verify::verify_file;
use super::{EvidenceError, EvidenceLocation, EvidenceStore, permissions, schema};
use crate::run::{BackupReport, RestoreReport, VerifyReport};

/// How long a restore waits until no other process has the database open.
const EXCLUSIVE_WAITS: Duration = Duration::from_secs(3);

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
        let written = write_and_verify(&conn, &temporary).and_then(|report| {
            // A link never replaces a file.
            fs::hard_link(&temporary, file)
                .or_else(|_| match file.symlink_metadata() {
                    Ok(_) => Err(std::io::ErrorKind::AlreadyExists.into()),
                    Err(_) => fs::rename(&temporary, file),
                })
                .map_err(folder(file))?;
            Ok(report)
        });
        let _ = fs::remove_file(&temporary);
        let (rows, head) = written?;
        let bytes = fs::metadata(file).map_or(0, |file| file.len());
        Ok(BackupReport { file: file.to_owned(), bytes, rows, head, has_key: false })
    }

    /// Replaces the evidence by a backup, after verifying it. The evidence that is here now is moved into a folder of its
    /// own beside it. The replacement is recorded with the reason, as `accept-head` does.
    ///
    /// # Errors
    /// [`EvidenceError::BadBackup`] if the file is no sound backup, [`EvidenceError::UnderWay`] while a run or loop is
    /// under way or another process has the database open; then nothing was changed.
    pub fn restore(&self, file: &Path, reason: &str, now_ms: i64) -> Result<RestoreReport> {
        let report = sound(file)?;
        let dir = &self.evidence;
        permissions::create_evidence_folder(dir)?;
        let setup = Lock::setup(dir)?;
        if lock::is_any_alive(dir) {
            return Err(EvidenceError::UnderWay { path: dir.clone() });
        }
        let database = database_path(dir);
        close_for_others(&database)?;
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| EvidenceError::Folder { source, path }
        };
        // Complete before anything is moved.
        let copy = beside(&database);
        permissions::create_new(&copy).map_err(failed(&copy))?;
        fs::copy(file, &copy).map_err(failed(&copy))?;
        permissions::restrict_file(&copy)?;
        fs::File::open(&copy).and_then(|copy| copy.sync_all()).map_err(failed(&copy))?;
        let aside = match database.exists() {
            true => Some(move_aside(dir)?),
            false => None,
        };
        if let Err(source) = fs::rename(&copy, &database) {
            if let Some(aside) = &aside {
                let _ = fs::rename(aside.join(FILE_NAME), &database);
            }
            return Err(failed(&database)(source));
        }
        Index::discard(dir);
        drop(setup);
        let accepted = EvidenceStore::accept_head(dir, &self.user_folders, reason, now_ms);
        let difference = match accepted {
            Ok(head) => head.difference,
            // The backup is what was here.
            Err(EvidenceError::NothingToAccept) => None,
            Err(error) => return Err(error),
        };
        Ok(RestoreReport { rows: report.rows, head: report.head, moved_to: aside, difference })
    }
}

/// A new name beside a file.
fn beside(file: &Path) -> PathBuf {
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
fn sound(backup: &Path) -> Result<VerifyReport> {
    let why = match verify_file(backup) {
        Ok(Some(report)) if report.ok && report.rows > 0 => return Ok(report),
        Ok(None) => "there is no evidence in it".to_owned(),
        Ok(Some(report)) => report.first_bad.unwrap_or_else(|| "it has no records".to_owned()),
        Err(error) => error.to_string(),
    };
    Err(EvidenceError::BadBackup { why, path: backup.to_owned() })
}

/// Moves all rows from the log into the database, while nobody else has it open.
fn close_for_others(database: &Path) -> Result<()> {
    if !database.exists() {
        return Ok(());
    }
    let Ok(conn) = Connection::open(database) else { return Ok(()) };
    let exclusive = conn.busy_timeout(EXCLUSIVE_WAITS).and_then(|()| {
        conn.execute_batch(
            "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT;
             PRAGMA wal_checkpoint(TRUNCATE);",
        )
    });
    match exclusive.map_err(EvidenceError::from) {
        Err(EvidenceError::Locked) => Err(EvidenceError::UnderWay { path: database.to_owned() }),
        // A damaged database is moved as it is.
        _ => Ok(()),
    }
}

/// Moves the database with what belongs to it into a new folder in the evidence folder.
fn move_aside(dir: &Path) -> Result<PathBuf> {
    let aside = (1..).map(|n| dir.join(format!("execution_log.before-restore-{n}")));
    let Some(aside) = aside.into_iter().find(|path| !path.exists()) else {
        return Err(EvidenceError::NoEvidence { path: dir.to_owned() });
    };
    permissions::create_private_folder(&aside)?;
    for suffix in ["-shm", "-wal", ""] {
        let name = format!("{FILE_NAME}{suffix}");
        let (from, to) = (dir.join(&name), aside.join(&name));
        match fs::rename(&from, to) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            moved => moved.map_err(|source| EvidenceError::Folder { source, path: from })?,
        }
    }
    Ok(aside)
}
