//! Brings a backup back (SPEC §14).
//!
//! The database is replaced by one rename, so that at every moment either the old evidence or the backup is there. What is
//! replaced gets a second name in a folder of its own before. That the backup differs from the kept head, and that a person
//! wants that, is noted beside the kept heads before the rename: whoever opens the evidence after an interruption finishes
//! the restore if the rename was done, and forgets it otherwise.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;
use uuid::Uuid;

use super::append::Cell;
use super::backup::{beside, sound};
use super::error::Result;
use super::head_check::difference_from;
use super::heads::{self, BegunRestore, KeptHeads};
use super::index::Index;
use super::lock::{self, Lock};
use super::migrations::FORMAT_WITH_SIGNATURES;
use super::rows::value;
use super::schema::{FILE_NAME, database_path};
use super::signatures::{REQUEST_USED, used_in};
use super::vault::Vault;
use super::{EvidenceError, EvidenceLocation, EvidenceStore, fault, permissions, schema};
use crate::run::{HeadReport, RestoreReport};

/// How long a restore waits until no other process has the database open.
const EXCLUSIVE_WAITS: Duration = Duration::from_secs(3);

fn failed(path: &Path) -> impl FnOnce(std::io::Error) -> EvidenceError {
    let path = path.to_owned();
    move |source| EvidenceError::Folder { source, path }
}

impl EvidenceLocation {
    /// Replaces the evidence by a backup, after verifying it. The evidence that is here now is kept in a folder of its own
    /// beside it. The replacement is recorded with the reason, as `accept-head` does. An interruption at any moment leaves
    /// the old evidence or the backup.
    ///
    /// # Errors
    /// [`EvidenceError::BadBackup`] if the file is no sound backup, [`EvidenceError::UnderWay`] while a run or loop is
    /// under way or another process has the database open; then nothing was changed.
    pub fn restore(&self, file: &Path, reason: &str, now_ms: i64) -> Result<RestoreReport> {
        let report = sound(file)?;
        let (dir, folders) = (&self.evidence, &self.user_folders);
        permissions::create_evidence_folder(dir)?;
        heads::prepare(folders)?;
        let setup = Lock::setup(dir)?;
        if lock::is_any_alive(dir) {
            return Err(EvidenceError::UnderWay { path: dir.clone() });
        }
        let database = database_path(dir);
        close_for_others(&database)?;
        remove_leftovers(dir);
        let copy = beside(&database);
        let replaced = copy_file(file, &copy).and_then(|()| {
            fault::point(dir, "restore copied");
            let vault = Vault::open_or_create(&folders.key)?;
            let kept = KeptHeads::read(folders, Some(&vault));
            let (head, database_id) = self.difference(&copy, &kept)?;
            let aside = if database.exists() { Some(free_name(dir)?) } else { None };
            if let Some(difference) = &head.difference {
                heads::begin_restore(folders, &vault, dir, |folder| BegunRestore {
                    folder,
                    database_id,
                    rows: i64::try_from(report.rows).unwrap_or(i64::MAX),
                    head: report.head,
                    reason: reason.to_owned(),
                    difference: difference.clone(),
                    kept: head.kept_head.zip(head.kept_rows),
                    aside: aside.as_ref().map(|(name, _)| name.clone()),
                    timestamp_ms: now_ms,
                })?;
            }
            fault::point(dir, "restore noted");
            let aside = aside.map(|(_, path)| path);
            if let Some(aside) = &aside {
                put_aside(dir, aside)?;
            }
            fault::point(dir, "restore put aside");
            replace(dir, &copy, &database)?;
            Ok((aside, head.difference))
        });
        let (moved_to, difference) = replaced.inspect_err(|_| {
            let _ = fs::remove_file(&copy);
        })?;
        fault::point(dir, "restore replaced");
        Index::discard(dir);
        fault::point(dir, "restore without index");
        drop(setup);
        // Records the restore.
        drop(EvidenceStore::open(dir, folders)?);
        Ok(RestoreReport { rows: report.rows, head: report.head, moved_to, difference })
    }

    /// How the copy of a backup differs from the kept heads, and its id.
    fn difference(&self, copy: &Path, kept: &KeptHeads) -> Result<(HeadReport, Option<Uuid>)> {
        let Some((conn, format)) = schema::open_for_reading(copy)? else {
            return Err(EvidenceError::NoEvidence { path: copy.to_owned() });
        };
        let has_id = format >= super::migrations::FORMAT_WITH_ID;
        let id = if has_id { schema::id_of(&conn)? } else { None };
        Ok((difference_from(Some((&conn, format)), &self.evidence, kept)?, id))
    }
}

impl EvidenceStore {
    /// Finishes a restore that was interrupted after the database was replaced, and forgets one that was interrupted
    /// before. The caller holds the setup lock.
    ///
    /// # Errors
    /// When the database or the kept heads cannot be written.
    pub(super) fn settle_restore(&mut self) -> Result<()> {
        let dir = self.folder().to_owned();
        let kept = KeptHeads::read(&self.location().user_folders, Some(&self.vault));
        let Some(restore) = kept.restore_in(&dir) else { return Ok(()) };
        if !restore.is_done_in(&self.conn, Some(self.database_id))? {
            if let Some(name) = &restore.aside {
                remove_second_name(&dir, &dir.join(name));
            }
            remove_leftovers(&dir);
            return self.keep_accepted();
        }
        let recorded = "SELECT count(*) FROM head_acceptances WHERE id > ?1";
        if value::<i64>(&self.conn, recorded, [restore.rows])? == 0 {
            let used = used_before(&dir, restore, &self.conn)?;
            self.write(|appender| {
                for request in used {
                    appender.insert(
                        "decisions",
                        [
                            ("decision", Cell::word(REQUEST_USED)),
                            ("decided_by", Cell::word("restore")),
                            ("user_name", appender.user.into()),
                            ("note", Cell::word(request.to_string())),
                            ("timestamp", restore.timestamp_ms.into()),
                        ],
                    )?;
                }
                appender.insert(
                    "head_acceptances",
                    [
                        ("reason", restore.reason.as_str().into()),
                        ("difference", restore.difference.as_str().into()),
                        ("kept_head", restore.kept.map(|(head, _)| head).into()),
                        ("kept_rows", restore.kept.map(|(_, rows)| rows as i64).into()),
                        ("user_name", appender.user.into()),
                        ("timestamp", restore.timestamp_ms.into()),
                    ],
                )
            })?;
        }
        fault::point(&dir, "restore recorded");
        self.keep_accepted()?;
        fault::point(&dir, "restore accepted");
        Ok(())
    }
}

/// The requests of reviews that the replaced evidence had used, and the restored one does not know to be used.
///
/// # Errors
/// When the restored evidence cannot be read. Nothing can be learned from replaced evidence that cannot be read.
fn used_before(dir: &Path, restore: &BegunRestore, restored: &Connection) -> Result<Vec<Uuid>> {
    let replaced = restore.aside.as_ref().map(|name| dir.join(name).join(FILE_NAME));
    let Some((replaced, format)) =
        replaced.and_then(|path| schema::open_for_reading(&path).ok().flatten())
    else {
        return Ok(Vec::new());
    };
    if format < FORMAT_WITH_SIGNATURES {
        return Ok(Vec::new());
    }
    let known = used_in(restored)?;
    let used = used_in(&replaced).unwrap_or_default();
    Ok(used.into_iter().filter(|request| !known.contains(request)).collect())
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

/// Writes a complete copy of a file that only this user can read.
fn copy_file(from: &Path, to: &Path) -> Result<()> {
    permissions::create_new(to).map_err(failed(to))?;
    fs::copy(from, to).map_err(failed(to))?;
    permissions::restrict_file(to)?;
    fs::File::open(to).and_then(|file| file.sync_all()).map_err(failed(to))
}

/// The name and the path of a folder that does not exist, for the evidence that is replaced.
fn free_name(dir: &Path) -> Result<(String, PathBuf)> {
    let names = (1..).map(|n| format!("execution_log.before-restore-{n}"));
    let mut free = names.map(|name| (dir.join(&name), name)).filter(|(path, _)| !path.exists());
    let Some((path, name)) = free.next() else {
        return Err(EvidenceError::NoEvidence { path: dir.to_owned() });
    };
    Ok((name, path))
}

/// Hard-links the database into a new folder, and copies what is left of its log.
fn put_aside(dir: &Path, aside: &Path) -> Result<()> {
    permissions::create_private_folder(aside)?;
    let (from, to) = (database_path(dir), aside.join(FILE_NAME));
    // Not every file system has hard links.
    fs::hard_link(&from, &to)
        .or_else(|_| copy_file(&from, &to).map_err(std::io::Error::other))
        .map_err(failed(&to))?;
    let (log, copied) = (with_suffix(&from, "-wal"), with_suffix(&to, "-wal"));
    if fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
        // A database whose log could not be emptied is damaged.
        copy_file(&log, &copied)?;
    }
    sync_folder(aside);
    Ok(())
}

/// Replaces the database by the copy of a backup. The log of the old one would damage it.
fn replace(dir: &Path, copy: &Path, database: &Path) -> Result<()> {
    for suffix in ["-wal", "-shm"] {
        let path = with_suffix(database, suffix);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(failed(&path)(error));
            }
            _ => {}
        }
    }
    fault::point(dir, "restore without log");
    fs::rename(copy, database).map_err(failed(database))?;
    sync_folder(dir);
    Ok(())
}

fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Flushes the entries of a folder to the disk, where the system can do that.
fn sync_folder(dir: &Path) {
    // Opening a folder fails on Windows.
    let _ = fs::File::open(dir).and_then(|dir| dir.sync_all());
}

/// Removes the copies that interrupted restores have left. They are complete evidence.
pub(super) fn remove_leftovers(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let id = name.strip_prefix(FILE_NAME).and_then(|name| name.strip_prefix('.'));
        let id = id.and_then(|id| id.strip_suffix(".tmp"));
        if id.is_some_and(|id| Uuid::parse_str(id).is_ok()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Removes the folder of a restore that was interrupted before it replaced the database, if the database there is the one
/// that is still in its place. With two names, it could be opened twice with two logs.
#[cfg(unix)]
fn remove_second_name(dir: &Path, aside: &Path) {
    use std::os::unix::fs::MetadataExt as _;
    let file = |path: &Path| fs::symlink_metadata(path).ok().map(|it| (it.dev(), it.ino()));
    let other = aside.join(FILE_NAME);
    let (one, two) = (file(&database_path(dir)), file(&other));
    if one.is_some() && one == two {
        let _ = fs::remove_file(other);
        let _ = fs::remove_file(with_suffix(&aside.join(FILE_NAME), "-wal"));
    }
    // Only if it is empty.
    let _ = fs::remove_dir(aside);
}

#[cfg(not(unix))]
fn remove_second_name(_dir: &Path, aside: &Path) {
    let _ = fs::remove_dir(aside);
}
