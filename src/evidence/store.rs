//! The writer of the evidence. `write_run.rs`, `write_step.rs` and `write_loop.rs` convert records into rows.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use uuid::Uuid;

use super::append::Appender;
use super::chain::Chain;
use super::durability::{Durability, Flushed};
use super::error::Result;
use super::head_check::check_head;
use super::heads::{KeptHeads, Reason};
use super::lock::Lock;
use super::redact::KnownSecrets;
use super::rows::{has_row, unreadable};
use super::source::Source;
use super::vault::Vault;
use super::write_run::{DecidedStep, NewDecision};
use super::{
    Entry, EvidenceError, EvidenceLocation, EvidenceReader, OutputCapture, UserFolders, heads,
    migrations, permissions, revocations, schema, schema_check, write_loop, write_run, write_step,
};
use crate::authorization::PlanAuthorization;
use crate::plan::Plan;
use crate::run::{AnsweredBy, HeadReport, Reconciled, RunEvent};

/// Appends to the evidence (SPEC §8).
///
/// Owned by one thread. Several processes may open the same folder and share one chain. Each method writes all of its rows
/// or none, and returns when they are on the disk; [`Self::commit`] says which entries reach it later.
#[derive(Debug)]
pub struct EvidenceStore {
    pub(super) conn: Connection,
    pub(super) vault: Arc<Vault>,
    location: EvidenceLocation,
    /// Which copy of the kept heads was missing or unusable when the store was opened.
    note: Option<String>,
    /// The name of the user, from the environment.
    pub(super) user: Option<String>,
    pub(super) database_id: Uuid,
    /// The end of the chain after the last commit of this store.
    chain: Chain,
    durability: Durability,
    /// SQLite's schema version when the schema was last checked.
    schema_version: i64,
    /// The secrets that were found in earlier records of the run.
    pub(super) known: KnownSecrets,
    /// The locks that mark the runs and loops of this process as active.
    locks: HashMap<Uuid, Lock>,
}

impl EvidenceStore {
    /// Opens the evidence in `dir`, and creates it if it does not exist. `folders` are the user's folders outside
    /// `dir`; the key in them is created if it does not exist.
    ///
    /// # Errors
    /// When a folder or the key cannot be used, or another process holds a lock for too long; when the database is
    /// damaged, belongs to another program or a newer version, or its schema was changed;
    /// [`EvidenceError::Head`] when it does not continue the chain whose head is kept.
    pub fn open(dir: &Path, folders: impl Into<UserFolders>) -> Result<Self> {
        let check = |report: &HeadReport| match &report.difference {
            Some(difference) => Err(EvidenceError::Head { difference: difference.clone() }),
            None => Ok(()),
        };
        let (mut store, report, _setup) = Self::open_checked(dir, folders.into(), check)?;
        store.settle_restore()?;
        // Before anything is recorded and before another process opens the database, so that a later replacement of
        // the database is detected.
        if report.kept_head.is_none() || !store.is_kept_here() {
            store.keep_head(store.chain, Reason::Grown)?;
        }
        Ok(store)
    }

    /// Accepts the database in `dir` although it differs from the kept head, and records the acceptance with the
    /// reason. Returns the report of the difference.
    ///
    /// # Errors
    /// [`EvidenceError::NothingToAccept`] if there is no difference; otherwise as [`Self::open`], but never
    /// [`EvidenceError::Head`].
    pub fn accept_head(
        dir: &Path,
        folders: impl Into<UserFolders>,
        reason: &str,
        timestamp_ms: i64,
    ) -> Result<HeadReport> {
        let check = |report: &HeadReport| match report.difference {
            Some(_) => Ok(()),
            None => Err(EvidenceError::NothingToAccept),
        };
        let (mut store, report, _setup) = Self::open_checked(dir, folders.into(), check)?;
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
        store.keep_accepted()?;
        Ok(report)
    }

    /// Opens the database if `check` accepts its comparison with the kept head, which precedes any change of the
    /// database. No other process can open it for writing until the returned lock is dropped.
    fn open_checked(
        dir: &Path,
        folders: UserFolders,
        check: impl FnOnce(&HeadReport) -> Result<()>,
    ) -> Result<(Self, HeadReport, Lock)> {
        permissions::create_evidence_folder(dir)?;
        heads::prepare(&folders)?;
        let setup = Lock::setup(dir)?;
        let path = schema::database_path(dir);
        let vault = Vault::open_or_create(&folders.key)?;
        let kept = KeptHeads::read(&folders, Some(&vault));
        let (mut conn, format) = schema::connect_for_writing(&path)?;
        let report = check_head((format > 0).then_some((&conn, format)), dir, &kept)?;
        check(&report)?;
        schema::prepare_for_writing(&mut conn, &path, format)?;
        let database_id =
            schema::id_of(&conn)?.ok_or_else(|| unreadable("a database without an id"))?;
        let store = Self {
            known: KnownSecrets::default(),
            schema_version: schema_check::version(&conn)?,
            chain: Chain::of(&conn)?,
            durability: Durability::of(&conn)?,
            conn,
            database_id,
            vault: Arc::new(vault),
            location: EvidenceLocation::new(dir, folders),
            note: report.note.clone(),
            user: ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| std::env::var(name).ok()),
            locks: HashMap::new(),
        };
        Ok((store, report, setup))
    }

    /// Which copy of the kept heads was missing or unusable when the store was opened; `None` if both were usable or
    /// neither was needed.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Whether a head of this database in this folder is kept.
    fn is_kept_here(&self) -> bool {
        let EvidenceLocation { evidence, user_folders } = &self.location;
        KeptHeads::read(user_folders, Some(&self.vault)).has_head_in(evidence, self.database_id)
    }

    /// The evidence folder.
    pub(super) fn folder(&self) -> &Path {
        &self.location.evidence
    }

    /// Stores the end of the chain outside the folder, although a longer one may be kept.
    pub(super) fn keep_accepted(&self) -> Result<()> {
        self.keep_head(self.chain, Reason::Accepted)
    }

    /// Stores the end of the chain outside the folder.
    fn keep_head(&self, chain: Chain, reason: Reason) -> Result<()> {
        let EvidenceLocation { evidence, user_folders } = &self.location;
        let database = (evidence.as_path(), self.database_id);
        let revocations = revocations::to_keep(&self.source(), reason)?;
        heads::keep(user_folders, &self.vault, database, (chain, revocations), reason)
    }

    /// The database, to be read.
    pub(super) fn source(&self) -> Source<'_> {
        Source::of_newest(&self.conn, &self.vault, &self.location)
    }

    /// The location of the evidence.
    pub(super) fn location(&self) -> &EvidenceLocation {
        &self.location
    }

    /// A reader of the same evidence, which opens its own connection with its first query.
    pub fn reader(&self) -> EvidenceReader {
        self.location.reader()
    }

    /// Records the approval or rejection of a plan, with the plan's bytes, unless it is recorded already.
    ///
    /// # Errors
    /// [`EvidenceError::NotDecided`] for a pending authorization, and any error of the database.
    pub fn record_authorization(
        &mut self,
        authorization: &PlanAuthorization,
        plan: &Plan,
    ) -> Result<()> {
        self.record_revised(authorization, plan, None)
    }

    /// The run that used this authorization; `None` if it was not used.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn authorization_used_by(&self, authorization_id: Uuid) -> Result<Option<Uuid>> {
        write_run::used_by(&self.conn, authorization_id)
    }

    /// Commits one entry of a run or a loop, and returns its events.
    ///
    /// The entry survives the end of this process. It is also on the disk, except for the execution of a step that
    /// succeeded: that is with the next commit, or after [`Self::flush`]. After a power cut, a step that reads may be
    /// missing with all that follow it, and the last other step may be interrupted.
    ///
    /// A run or loop counts as active from its start until its end, or until this store is dropped. The start of a
    /// run records its plan and its authorization if they are not recorded yet, and consumes the authorization.
    ///
    /// # Errors
    /// [`EvidenceError::AuthorizationUsed`] if another run consumed the authorization, [`EvidenceError::NotDecided`] if
    /// it is pending, and any error of the database; then nothing of the entry is recorded.
    /// [`EvidenceError::State`] if the end of a run or loop is recorded but the new head cannot be stored.
    pub fn commit(&mut self, entry: &Entry<'_>) -> Result<Vec<RunEvent>> {
        match entry {
            Entry::RunStart(start) => {
                self.known = KnownSecrets::given(start.secret_inputs);
                self.begin(start.run_id, |appender| write_run::run(appender, start))
            }
            Entry::Intent(intent) => self.write(|appender| write_step::intent(appender, intent)),
            Entry::Execution(record) | Entry::HostExecution(record, _) => {
                let rows = |appender: &mut Appender<'_>| write_step::execution(appender, record);
                self.write_flushed(entry.flushed(), rows)
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
            Entry::PlannerLooks(looks) => self.write(|appender| write_loop::looks(appender, looks)),
            Entry::AttemptEnd(end) => self.write(|appender| write_loop::attempt_end(appender, end)),
            Entry::LoopEnd(end) => self.end(end.loop_id, |appender| write_loop::end(appender, end)),
        }?;
        Ok(entry.events())
    }

    /// Brings the execution of a step that may have changed something to the disk, if it is not there yet.
    ///
    /// # Errors
    /// When the log of the database cannot be flushed.
    pub fn flush(&mut self) -> Result<()> {
        let path = &self.location.evidence;
        let failed = |source| EvidenceError::Folder { source, path: path.clone() };
        self.durability.flush(path).map_err(failed)
    }

    /// Writes the first rows of a run or loop, and marks it as active.
    fn begin(
        &mut self,
        id: Uuid,
        rows: impl FnOnce(&mut Appender<'_>) -> Result<()>,
    ) -> Result<()> {
        // Locked before the row is written, because a reader that finds the row must find the lock.
        let lock = Lock::run(&self.location.evidence, id)?;
        if let Err(error) = self.write(rows) {
            lock.remove();
            return Err(error);
        }
        self.locks.insert(id, lock);
        Ok(())
    }

    /// Writes the last rows of a run or loop, which is then no longer active.
    fn end(&mut self, id: Uuid, rows: impl FnOnce(&mut Appender<'_>) -> Result<()>) -> Result<()> {
        self.write_and_keep(rows)?;
        if let Some(lock) = self.locks.remove(&id) {
            lock.remove();
        }
        Ok(())
    }

    /// Locks a loop whose thread in this process has failed, so that the loop counts as active until its end is
    /// recorded. Not for a loop of another process.
    ///
    /// # Errors
    /// Any error of the file system, or [`EvidenceError::Locked`].
    pub fn resume_lock(&mut self, loop_id: Uuid) -> Result<()> {
        if !self.locks.contains_key(&loop_id) {
            let lock = Lock::run(&self.location.evidence, loop_id)?;
            self.locks.insert(loop_id, lock);
        }
        Ok(())
    }

    /// Whether the end of an attempt is recorded.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn attempt_has_ended(&self, attempt_id: Uuid) -> Result<bool> {
        has_row(&self.conn, "attempt_ends", "attempt_id", attempt_id.to_string())
    }

    /// A capture for the output of a step's program. Nothing is recorded before the execution is committed.
    pub fn capture(&self) -> OutputCapture {
        OutputCapture::new(&self.location.evidence, &self.vault)
    }

    /// Records the results of comparing a run's interrupted steps with the disk: one decision for each.
    ///
    /// # Errors
    /// Any error of the database; then no result is recorded.
    pub fn record_reconciliation(
        &mut self,
        run_id: Uuid,
        results: &[Reconciled],
        by: AnsweredBy,
        timestamp_ms: i64,
    ) -> Result<()> {
        self.write(|appender| {
            for result in results {
                let step = DecidedStep {
                    execution_id: result.execution_id,
                    step_id: &result.step_id,
                    step_index: result.step_index,
                };
                let note = result.sentence();
                let new = NewDecision::new("reconcile", &by, timestamp_ms);
                let new = NewDecision { note: &note, ..new.of_step(run_id, step) };
                write_run::decision(appender, new)?;
            }
            Ok(())
        })
    }

    /// As [`Self::write`], and stores the new head outside the folder, so that a later removal of these rows is
    /// detected.
    pub(super) fn write_and_keep(
        &mut self,
        rows: impl FnOnce(&mut Appender<'_>) -> Result<()>,
    ) -> Result<()> {
        self.write(rows)?;
        self.keep_head(self.chain, Reason::Grown)
    }

    /// Writes these rows in one transaction, after checking that the schema is unchanged. They are on the disk when this
    /// returns.
    pub(super) fn write(
        &mut self,
        rows: impl FnOnce(&mut Appender<'_>) -> Result<()>,
    ) -> Result<()> {
        self.write_flushed(Flushed::Now, rows)
    }

    fn write_flushed(
        &mut self,
        flushed: Flushed,
        rows: impl FnOnce(&mut Appender<'_>) -> Result<()>,
    ) -> Result<()> {
        self.durability.prepare(&self.conn, flushed)?;
        let known = std::mem::take(&mut self.known);
        let (user, vault, id) = (self.user.as_deref(), &self.vault, self.database_id);
        let mut appender = Appender::begin(&mut self.conn, user, vault, id, known)?;
        #[cfg(any(test, feature = "inspection"))]
        {
            appender.failing_table =
                std::fs::read_to_string(self.location.evidence.join("execution_log.broken")).ok();
        }
        // Within the transaction, so that no other process can change the schema before the commit.
        let version = schema_check::version(appender.tx())?;
        if version != self.schema_version {
            let differences = schema_check::differences(appender.tx(), migrations::newest())?;
            if !differences.is_empty() {
                let path = schema::database_path(&self.location.evidence);
                return Err(EvidenceError::Schema { differences, path });
            }
            self.schema_version = version;
        }
        rows(&mut appender)?;
        (self.chain, self.known) = appender.commit()?;
        self.durability.committed();
        Ok(())
    }
}
