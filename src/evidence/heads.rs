//! Keeps the last head of each evidence database outside its folder (SPEC §8), because a chain alone does not show
//! that its end was cut off or that all of it was replaced.
//!
//! One small file contains the heads of all databases of the user, with the random id and the folder of each. There
//! are two copies of the file, in the state folder and beside the key. A database must agree with both, so that a lost
//! or older database is detected even if one of these folders was lost or restored together with it.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::chain::Chain;
use super::error::Result;
use super::kept_revocations::KeptRevocations;
use super::lock::Lock;
use super::rows::{find, value};
use super::signatures::REQUEST_USED;
use super::vault::Vault;
use super::{EvidenceError, UserFolders, permissions};
use crate::plan::Digest;

const FILE_NAME: &str = "evidence_heads.json";
/// The maximum size of the file, in bytes. A larger file cannot be used.
const MAX_BYTES: u64 = 4 << 20;

/// The last head of one database.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeptHead {
    /// The random id of the database.
    pub(super) database_id: Uuid,
    /// The folder of the database; `None` if another database has replaced it there.
    folder: Option<String>,
    /// The length of the chain.
    pub(super) rows: i64,
    /// The digest of its last link.
    pub(super) head: Digest,
    /// The revocations; `None` if it is not known that they are complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revocations: Option<KeptRevocations>,
}

/// A restore that was begun. It is kept until it is over, so that an interrupted one is finished or forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BegunRestore {
    /// The evidence folder.
    pub(super) folder: String,
    /// The random id of the backup's database; `None` before it had one.
    pub(super) database_id: Option<Uuid>,
    /// The length of the backup's chain.
    pub(super) rows: i64,
    /// The digest of its last link.
    pub(super) head: Digest,
    /// The person's reason.
    pub(super) reason: String,
    /// How the backup differs from the kept head.
    pub(super) difference: String,
    /// The head that was kept, with the length of its chain.
    pub(super) kept: Option<(Digest, u64)>,
    /// The name of the folder for the evidence that is replaced, in the evidence folder; `None` if there is none.
    pub(super) aside: Option<String>,
    /// The time of the restore, in Unix milliseconds.
    pub(super) timestamp_ms: i64,
}

impl BegunRestore {
    /// Whether this database is the backup, with nothing but its acceptance, and the requests that were used before, after
    /// the backup's rows.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(super) fn is_done_in(&self, conn: &Connection, database_id: Option<Uuid>) -> Result<bool> {
        let link = "SELECT digest FROM ledger WHERE seq = ?1";
        let later = format!(
            "SELECT count(*) FROM ledger WHERE seq > ?1
             AND table_name <> 'database_ids' AND table_name <> 'head_acceptances'
             AND seq NOT IN (SELECT id FROM decisions
                             WHERE run_id IS NULL AND decision = '{REQUEST_USED}')"
        );
        let has_head =
            find(conn, link, [self.rows], |row| Ok(row.get(0)?))? == Some(self.head.hex());
        let has_id = self.database_id.is_none() || self.database_id == database_id;
        Ok(has_head && has_id && value::<i64>(conn, &later, [self.rows])? == 0)
    }
}

/// The content of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptFile {
    heads: Vec<KeptHead>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    restore: Option<BegunRestore>,
    /// Keyed digest of `heads`, with the restore if there is one.
    digest: String,
}

/// The kept heads of all usable copies.
#[derive(Debug, Default)]
pub(super) struct KeptHeads {
    heads: BTreeSet<KeptHead>,
    /// The restore that was begun, from the first usable copy.
    restore: Option<BegunRestore>,
    /// Why no copy can be used; `None` if one can, or if both are missing.
    pub(super) unusable: Option<String>,
    /// Which copy is missing or unusable while the other one is used.
    pub(super) note: Option<String>,
}

impl KeptHeads {
    /// Reads both copies. Without the key neither can be used, because its digest cannot be checked.
    pub(super) fn read(folders: &UserFolders, vault: Option<&Vault>) -> Self {
        let mut kept = Self::default();
        let (mut failures, mut missing) = (Vec::new(), Vec::new());
        let mut is_read = false;
        for folder in [&folders.state, &folders.key] {
            let path = folder.join(FILE_NAME);
            match read(&path, vault) {
                Ok(None) => missing.push(format!("{} is missing", path.display())),
                Ok(Some((heads, restore))) => {
                    if !std::mem::replace(&mut is_read, true) {
                        kept.restore = restore;
                    }
                    kept.heads.extend(heads);
                }
                Err(why) => failures.push(format!("{}: {why}", path.display())),
            }
        }
        // One usable copy suffices. The next head is written to both.
        if !is_read && !failures.is_empty() {
            kept.unusable = Some(failures.join("; "));
        } else if is_read {
            failures.extend(missing);
            let lost = failures.join("; ");
            kept.note = (!lost.is_empty()).then(|| {
                format!(
                    "one of the two copies of the kept head, the digest of the last record, was lost ({lost}); \
                     the other one agrees with this database, and the next run writes both"
                )
            });
        }
        kept
    }

    /// The heads of the database with this id.
    pub(super) fn of(&self, database_id: Uuid) -> impl Iterator<Item = &KeptHead> {
        self.heads.iter().filter(move |kept| kept.database_id == database_id)
    }

    /// The revocations of the database with this id.
    pub(super) fn revocations(&self, database_id: Uuid) -> Option<KeptRevocations> {
        let longest =
            self.of(database_id).max_by_key(|kept| (kept.rows, Reverse(kept.revocations)));
        longest.and_then(|kept| kept.revocations)
    }

    /// The head of another database in this folder, if any; the one with the longest chain.
    pub(super) fn latest_other_in(
        &self,
        dir: &Path,
        database_id: Option<Uuid>,
    ) -> Option<&KeptHead> {
        let folder = Some(folder_name(dir));
        let is_other =
            |kept: &&KeptHead| kept.folder == folder && Some(kept.database_id) != database_id;
        self.heads.iter().filter(is_other).max_by_key(|kept| kept.rows)
    }

    /// The restore that was begun in this folder and is not over.
    pub(super) fn restore_in(&self, dir: &Path) -> Option<&BegunRestore> {
        self.restore.as_ref().filter(|restore| restore.folder == folder_name(dir))
    }

    /// Whether a head of this database in this folder is kept.
    pub(super) fn has_head_in(&self, dir: &Path, database_id: Uuid) -> bool {
        let folder = Some(folder_name(dir));
        self.of(database_id).any(|kept| kept.folder == folder)
    }
}

/// Why a head is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// The chain has grown.
    Grown,
    /// A person accepted the database as it is now.
    Accepted,
}

/// Creates the state folder, and checks that heads can be written there.
///
/// # Errors
/// When the folder cannot be created or written, or another process holds its lock for longer than [`LOCK_TIMEOUT`].
///
/// [`LOCK_TIMEOUT`]: super::error::LOCK_TIMEOUT
pub(super) fn prepare(folders: &UserFolders) -> Result<()> {
    let state = |error| match error {
        EvidenceError::Folder { source, path } => EvidenceError::State { source, path },
        other => other,
    };
    permissions::create_private_folder(&folders.state).map_err(state)?;
    Lock::heads(&folders.state).map(drop).map_err(state)
}

/// Notes in both copies that a restore begins in this folder.
///
/// # Errors
/// As for [`prepare`].
pub(super) fn begin_restore(
    folders: &UserFolders,
    vault: &Vault,
    dir: &Path,
    restore: impl FnOnce(String) -> BegunRestore,
) -> Result<()> {
    let _lock = Lock::heads(&folders.state)?;
    let heads = latest_of_each(KeptHeads::read(folders, Some(vault)).heads);
    write_copies(folders, vault, &heads, Some(&restore(folder_name(dir))))
}

/// Writes the end of a chain to both copies, with the revocations. A chain that has grown is not written if a longer one is kept. A restore in
/// this folder is over then.
///
/// # Errors
/// As for [`prepare`].
pub(super) fn keep(
    folders: &UserFolders,
    vault: &Vault,
    (dir, database_id): (&Path, Uuid),
    (chain, revocations): (Chain, Option<KeptRevocations>),
    reason: Reason,
) -> Result<()> {
    let _lock = Lock::heads(&folders.state)?;
    let KeptHeads { mut heads, restore, .. } = KeptHeads::read(folders, Some(vault));
    let restore = restore.filter(|restore| restore.folder != folder_name(dir));
    let folder = Some(folder_name(dir));
    if reason == Reason::Grown {
        // Another process may have appended rows and written its head first.
        let latest = heads.iter().filter(|kept| kept.database_id == database_id);
        if latest.map(|kept| kept.rows).max().is_some_and(|rows| rows > chain.rows) {
            return Ok(());
        }
    }
    heads.retain(|kept| kept.database_id != database_id);
    let mut all = latest_of_each(heads);
    for kept in all.iter_mut().filter(|kept| kept.folder == folder) {
        kept.folder = None;
    }
    all.push(KeptHead { database_id, folder, rows: chain.rows, head: chain.head, revocations });
    all.sort();
    write_copies(folders, vault, &all, restore.as_ref())
}

/// Writes the file to both folders.
fn write_copies(
    folders: &UserFolders,
    vault: &Vault,
    heads: &[KeptHead],
    restore: Option<&BegunRestore>,
) -> Result<()> {
    let text = file_text(heads, restore, vault);
    let path = folders.state.join(FILE_NAME);
    write(&path, text.as_bytes(), true).map_err(|source| EvidenceError::State { source, path })?;
    // The copy beside the key. A failure is harmless: an outdated head is still on the chain, and a damaged copy is
    // replaced with the next head.
    let _ = write(&folders.key.join(FILE_NAME), text.as_bytes(), false);
    Ok(())
}

/// The head with the longest chain for each database, because the two copies may differ.
fn latest_of_each(heads: BTreeSet<KeptHead>) -> Vec<KeptHead> {
    let mut latest: Vec<KeptHead> = Vec::new();
    for kept in heads {
        match latest.iter_mut().find(|other| other.database_id == kept.database_id) {
            Some(other) if other.rows < kept.rows => *other = kept,
            Some(_) => {}
            None => latest.push(kept),
        }
    }
    latest
}

/// The text of the file: the heads and the restore, with their keyed digest.
fn file_text(heads: &[KeptHead], restore: Option<&BegunRestore>, vault: &Vault) -> String {
    let mut file =
        serde_json::json!({ "heads": heads, "digest": digest_of(heads, restore, vault) });
    if let (Some(restore), Some(fields)) = (restore, file.as_object_mut()) {
        fields.insert("restore".to_owned(), serde_json::json!(restore));
    }
    file.to_string()
}

/// The keyed digest of the heads and of a restore.
fn digest_of(heads: &[KeptHead], restore: Option<&BegunRestore>, vault: &Vault) -> String {
    let heads = serde_json::json!(heads);
    let covered = match restore {
        Some(restore) => serde_json::json!({ "heads": heads, "restore": restore }),
        None => heads,
    };
    vault.heads_digest(&super::ledger::canonical(&covered))
}

/// What one copy of the file has.
type KeptCopy = (Vec<KeptHead>, Option<BegunRestore>);

/// The heads and the restore in one copy; `None` if it is missing. The error says why the copy cannot be used.
fn read(path: &Path, vault: Option<&Vault>) -> Result<Option<KeptCopy>, String> {
    let mut text = Vec::new();
    match fs::File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut text)) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    }
    let file: KeptFile =
        serde_json::from_slice(&text).map_err(|_| "it is not what was written".to_owned())?;
    let vault = vault.ok_or_else(|| "the key that it was written with is missing".to_owned())?;
    if digest_of(&file.heads, file.restore.as_ref(), vault) != file.digest {
        return Err("it is not what was written, or was written with another key".to_owned());
    }
    Ok(Some((file.heads, file.restore)))
}

/// Replaces the file atomically.
fn write(path: &Path, text: &[u8], is_durable: bool) -> io::Result<()> {
    let temporary = path.with_extension(format!("{}.tmp", Uuid::new_v4()));
    let written = permissions::create_new(&temporary).and_then(|mut file| {
        file.write_all(text)?;
        if is_durable {
            file.sync_data()?;
        }
        fs::rename(&temporary, path)
    });
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// The absolute path of an evidence folder without links, as text.
fn folder_name(dir: &Path) -> String {
    let absolute: PathBuf = fs::canonicalize(dir)
        .or_else(|_| std::path::absolute(dir))
        .unwrap_or_else(|_| dir.to_owned());
    absolute.to_string_lossy().into_owned()
}
