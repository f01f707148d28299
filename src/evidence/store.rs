//! The writer of the evidence. `write_run.rs`, `write_step.rs` and `write_loop.rs` convert records into rows.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;
use uuid::Uuid;

use super::append::Appender;
use super::capture::OutputCapture;
use super::chain::Chain;
use super::entry::Entry;
use super::error::{EvidenceError, Result};
use super::folders::UserFolders;
use super::heads::{self, KeptHeads, Reason};
use super::lock::Lock;
use super::reader::EvidenceReader;
use super::redact::KnownSecrets;
use super::rows::{has_row, unreadable};
use super::standing::standing;
use super::vault::Vault;
use super::write_run::{About, NewDecision};
use super::{migrations, permissions, schema, schema_check, write_loop, write_run, write_step};
use crate::authorization::PlanAuthorization;
use crate::plan::{Digest, Plan};
use crate::run::{AnsweredBy, HeadReport, Reconciled, RunEvent};

/// Appends to the evidence (SPEC §8).
///
/// Owned by one thread. Several processes may open the same folder and share one chain. Each method returns when its
/// rows are on the disk, and writes all of them or none.
#[derive(Debug)]
pub struct EvidenceStore {
    pub(super) conn: Connection,
    pub(super) vault: Arc<Vault>,
    dir: PathBuf,
    folders: UserFolders,
    /// Which copy of the kept heads was missing or unusable.
    note: Option<String>,
    user: Option<String>,
    pub(super) database_id: Uuid,
    /// The end of the chain after the last commit of this store.
    chain: Chain,
    /// SQLite's schema version when the schema was compared.
    schema_version: i64,
    /// The secrets that were found in earlier records of the run.
    known: KnownSecrets,
    /// The locks that mark the runs and loops of this process as active.
    locks: HashMap<Uuid, Lock>,
}

impl EvidenceStore {
    /// Opens the evidence in `dir`; creates it if it does not exist. `folders` are the user's own folders outside
    /// `dir`; the key in them is created if it does not exist.
    ///
    /// # Errors
    /// When a folder or the key cannot be used; when the database is damaged, belongs to another program or a newer
    /// version, or its schema was changed; when it does not continue the chain whose head was kept.
    pub fn open(dir: &Path, folders: impl Into<UserFolders>) -> Result<Self> {
        let accepted = |report: &HeadReport| match &report.difference {
            Some(difference) => Err(EvidenceError::Head { difference: difference.clone() }),
            None => Ok(()),
        };
        let (store, report, _setup) = Self::open_any(dir, folders.into(), accepted)?;
        // Before anything is recorded and before another process opens the database, so that a later exchange of the
        // database is detected.
        if report.kept_head.is_none() || !store.is_kept_here() {
            store.keep_head(store.chain, Reason::Grown)?;
        }
        Ok(store)
    }

    /// Accepts the database in `dir` although the kept head is not on its chain, and records the acceptance with the
    /// reason. Returns the difference.
    ///
    /// # Errors
    /// [`EvidenceError::NothingToAccept`] if there is no difference; otherwise as [`Self::open`].
    pub fn accept_head(
        dir: &Path,
        folders: impl Into<UserFolders>,
        reason: &str,
        timestamp_ms: i64,
    ) -> Result<HeadReport> {
        let differs = |report: &HeadReport| match report.difference {
            Some(_) => Ok(()),
            None => Err(EvidenceError::NothingToAccept),
        };
        let (mut store, report, _setup) = Self::open_any(dir, folders.into(), differs)?;
        let difference = report.difference.as_deref().unwrap_or_default();
        store.write(|appender| {
            appender.insert(
                "head_acceptances",
                [
                    ("reason", reason.into()),
                    ("difference", difference.into()),
                    ("kept_head", report.kept_head.into()),
                    ("kept_rows", report.kept_rows.map(|rows| rows as i64).into()),
                    ("user_name", appender.user.into()),
                    ("timestamp", timestamp_ms.into()),
                ],
            )
        })?;
        store.keep_head(store.chain, Reason::Accepted)?;
        Ok(report)
    }

    /// Opens the database if `is_acceptable` returns true for it, which is checked before anything is changed. No
    /// other process can open it until the returned lock is dropped.
    fn open_any(
        dir: &Path,
        folders: UserFolders,
        is_acceptable: impl FnOnce(&HeadReport) -> Result<()>,
    ) -> Result<(Self, HeadReport, Lock)> {
        permissions::evidence_folder(dir)?;
        heads::prepare(&folders)?;
        let setup = Lock::setup(dir)?;
        let path = schema::database_path(dir);
        let vault = Vault::open_or_create(&folders.key)?;
        let kept = KeptHeads::read(&folders, Some(&vault));
        let (mut conn, found) = schema::connect_for_writing(&path)?;
        let report = standing((found > 0).then_some((&conn, found)), dir, &kept)?;
        is_acceptable(&report)?;
        schema::bring_up_to_date(&mut conn, &path, found)?;
        let database_id =
            schema::id_of(&conn)?.ok_or_else(|| unreadable("a database without an id"))?;
        let store = Self {
            known: KnownSecrets::default(),
            schema_version: schema_check::version(&conn)?,
            chain: Chain::of(&conn)?,
            conn,
            database_id,
            vault: Arc::new(vault),
            dir: dir.to_owned(),
            folders,
            note: report.note.clone(),
            user: ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| std::env::var(name).ok()),
            locks: HashMap::new(),
        };
        Ok((store, report, setup))
    }

    /// Which copy of the kept heads was missing or unusable when the store was opened, if the other one sufficed.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    fn is_kept_here(&self) -> bool {
        KeptHeads::read(&self.folders, Some(&self.vault)).holds(&self.dir, self.database_id)
    }

    /// Stores the end of the chain outside the folder.
    fn keep_head(&self, chain: Chain, reason: Reason) -> Result<()> {
        heads::keep(&self.folders, &self.vault, (&self.dir, self.database_id), chain, reason)
    }

    /// A reader of the same evidence, with a connection of its own.
    pub fn reader(&self) -> EvidenceReader {
        EvidenceReader::at(&self.dir, &self.folders)
    }

    /// Records the approval or rejection of a plan, with the plan's bytes. A decision that is recorded already is not
    /// recorded again.
    ///
    /// # Errors
    /// [`EvidenceError::NotDecided`] for a pending authorization, and any error of the database.
    pub fn record_authorization(
        &mut self,
        authorization: &PlanAuthorization,
        plan: &Plan,
    ) -> Result<()> {
        self.write(|appender| write_run::authorization(appender, authorization, plan))
    }

    /// The run that used this authorization, if any did.
    ///
    /// # Errors
    /// Any error of the database.
    pub fn authorization_used_by(&self, authorization_id: Uuid) -> Result<Option<Uuid>> {
        write_run::used_by(&self.conn, authorization_id)
    }

    /// Commits one entry of a run or a loop, and returns its events.
    ///
    /// A run or loop counts as active from its start until its end, or until this store is dropped. The start of a
    /// run records its plan and its authorization if they are not recorded yet, and consumes the authorization.
    ///
    /// # Errors
    /// [`EvidenceError::AuthorizationUsed`] if another run consumed it, [`EvidenceError::NotDecided`] for a pending
    /// one, and any error of the database; then nothing of the entry is recorded.
    pub fn commit(&mut self, entry: &Entry<'_>) -> Result<Vec<RunEvent>> {
        match entry {
            Entry::RunStart(start) => {
                self.known = KnownSecrets::default();
                self.begin(start.run_id, |appender| write_run::run(appender, start))
            }
            Entry::Intent(intent) => self.write(|appender| write_step::intent(appender, intent)),
            Entry::Execution(record) => {
                self.write(|appender| write_step::execution(appender, record))
            }
            Entry::Control(control) => self.write(|appender| write_run::control(appender, control)),
            Entry::RunEnd(end) => {
                self.end(end.run_id, |appender| write_run::run_end(appender, end))
            }
            Entry::LoopStart(start) => {
                self.begin(start.loop_id, |appender| write_loop::start(appender, start))
            }
            Entry::AttemptStart(start) => {
                self.write(|appender| write_loop::attempt(appender, start))
            }
            Entry::AttemptEnd(end) => self.write(|appender| write_loop::attempt_end(appender, end)),
            Entry::LoopEnd(end) => self.end(end.loop_id, |appender| write_loop::end(appender, end)),
        }?;
        Ok(entry.told())
    }

    /// Writes the first rows of a run or loop.
    fn begin(
        &mut self,
        id: Uuid,
        rows: impl FnOnce(&mut Appender<'_>) -> Result<()>,
    ) -> Result<()> {
        // Locked before the row is written, because a reader that finds the run must see it as active.
        let lock = Lock::run(&self.dir, id)?;
        if let Err(error) = self.write(rows) {
            lock.end();
            return Err(error);
        }
        self.locks.insert(id, lock);
        Ok(())
    }

    /// Writes the last rows of a run or loop.
    fn end(&mut self, id: Uuid, rows: impl FnOnce(&mut Appender<'_>) -> Result<()>) -> Result<()> {
        self.write_and_keep(rows)?;
        if let Some(lock) = self.locks.remove(&id) {
            lock.end();
        }
        Ok(())
    }

    /// Locks a loop again after its thread in this process has failed, so that its end can be recorded: until then
    /// the loop counts as active. Not for a loop of another process.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn resume_lock(&mut self, loop_id: Uuid) -> Result<()> {
        if !self.locks.contains_key(&loop_id) {
            let lock = Lock::run(&self.dir, loop_id)?;
            self.locks.insert(loop_id, lock);
        }
        Ok(())
    }

    /// Whether an attempt has an end.
    ///
    /// # Errors
    /// Any error of the database.
    pub fn attempt_has_ended(&self, attempt_id: Uuid) -> Result<bool> {
        has_row(&self.conn, "attempt_ends", "attempt_id", attempt_id.to_string())
    }

    /// Captures the output of a step while its program runs. Nothing is recorded before the execution is committed.
    pub fn capture(&self) -> OutputCapture {
        OutputCapture::new(&self.dir, &self.vault)
    }

    /// Commits the findings of a comparison of a run's interrupted steps with the disk: one decision for each
    /// finding.
    ///
    /// # Errors
    /// Any error of the database; then none of them is recorded.
    pub fn record_reconciliation(
        &mut self,
        run_id: Uuid,
        findings: &[Reconciled],
        by: AnsweredBy,
        timestamp_ms: i64,
    ) -> Result<()> {
        self.write(|appender| {
            for found in findings {
                let about = About {
                    execution_id: found.execution_id,
                    step_id: &found.step_id,
                    step_index: found.step_index,
                };
                let note = found.sentence();
                let new = NewDecision::new("reconcile", &by, timestamp_ms);
                let new = NewDecision { note: &note, ..new.of_step(run_id, about) };
                write_run::decision(appender, new)?;
            }
            Ok(())
        })
    }

    /// Deletes the content with this digest, and records the deletion with its reason. The digest is kept.
    ///
    /// # Errors
    /// Any error of the database.
    pub fn purge(&mut self, digest: &Digest, reason: &str, timestamp_ms: i64) -> Result<()> {
        // Deleted pages are overwritten, so that the bytes do not remain in the file.
        self.conn.pragma_update(None, "secure_delete", true)?;
        self.write(|appender| write_run::purge(appender, digest, reason, timestamp_ms))?;
        self.conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE);")?;
        Ok(())
    }

    /// Writes the rows of an end or a grant, and stores the new head outside the folder, so that a later removal of
    /// these rows is detected.
    pub(super) fn write_and_keep(
        &mut self,
        rows: impl FnOnce(&mut Appender<'_>) -> Result<()>,
    ) -> Result<()> {
        self.write(rows)?;
        self.keep_head(self.chain, Reason::Grown)
    }

    pub(super) fn write(
        &mut self,
        rows: impl FnOnce(&mut Appender<'_>) -> Result<()>,
    ) -> Result<()> {
        let known = std::mem::take(&mut self.known);
        let (user, vault, id) = (self.user.as_deref(), &self.vault, self.database_id);
        let mut appender = Appender::begin(&mut self.conn, user, vault, id, known)?;
        #[cfg(any(test, feature = "inspection"))]
        {
            appender.broken = std::fs::read_to_string(self.dir.join("execution_log.broken")).ok();
        }
        // Within the transaction, so that no other process changes the schema before the commit.
        let version = schema_check::version(appender.tx())?;
        if version != self.schema_version {
            let differences = schema_check::differences(appender.tx(), migrations::newest())?;
            if !differences.is_empty() {
                let path = schema::database_path(&self.dir);
                return Err(EvidenceError::Schema { differences, path });
            }
            self.schema_version = version;
        }
        rows(&mut appender)?;
        (self.chain, self.known) = appender.commit()?;
        Ok(())
    }
}
