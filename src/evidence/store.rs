//! The writer: one method for each durable commit. What becomes a row, and how, is in `rows.rs` and `steps.rs`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _};
use uuid::Uuid;

use super::error::{EvidenceError, Result};
use super::funnel::Funnel;
use super::intake::Intake;
use super::lock::Lock;
use super::reader::EvidenceReader;
use super::record::{Decided, ExecutionRecord, IntentRecord, NewDecision, RunEnd, RunStart};
use super::redact::Redactor;
use super::rows::About;
use super::vault::Vault;
use super::{rows, schema, steps};
use crate::authorization::{AuthorizationStatus, PlanAuthorization};
use crate::plan::{Digest, Plan};
use crate::run::{AnsweredBy, Reconciled};

/// Appends to the evidence (SPEC §8).
///
/// Owned by one thread; several processes may have the same folder open and share one chain. Each
/// method returns when its rows are on the disk, and is all or nothing.
#[derive(Debug)]
pub struct EvidenceStore {
    pub(super) conn: Connection,
    pub(super) redactor: Arc<Redactor>,
    pub(super) vault: Arc<Vault>,
    pub(super) dir: PathBuf,
    secrets: PathBuf,
    user: Option<String>,
    /// Keeps the runs and loops of this process alive for readers.
    pub(super) locks: HashMap<Uuid, Lock>,
}

impl EvidenceStore {
    /// Opens the evidence in `dir`, making it when absent. `secrets` is the folder of the user's key,
    /// outside `dir`; the key is made when absent.
    ///
    /// # Errors
    /// A folder or key that cannot be used; a database that is damaged, of another program or of a
    /// newer version.
    pub fn open(dir: &Path, secrets: &Path) -> Result<Self> {
        let folder = |source| EvidenceError::Folder { source, path: dir.to_owned() };
        std::fs::create_dir_all(dir).map_err(folder)?;
        let setup = Lock::setup(dir)?;
        let conn = schema::open_for_writing(&schema::database_path(dir))?;
        let vault = Vault::open_or_create(secrets)?;
        drop(setup);
        Ok(Self {
            conn,
            redactor: Arc::new(Redactor::new()?),
            vault: Arc::new(vault),
            dir: dir.to_owned(),
            secrets: secrets.to_owned(),
            user: ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| std::env::var(name).ok()),
            locks: HashMap::new(),
        })
    }

    /// A reader of the same evidence, on a connection of its own.
    pub fn reader(&self) -> EvidenceReader {
        EvidenceReader::at(&self.dir, &self.secrets)
    }

    /// Records the answer to a plan, approved or rejected, with the plan's bytes. An answer that is
    /// recorded already is left as it is.
    ///
    /// # Errors
    /// [`EvidenceError::NotDecided`] for a pending one, and any failure of the database.
    pub fn record_authorization(
        &mut self,
        authorization: &PlanAuthorization,
        plan: &Plan,
    ) -> Result<()> {
        if authorization.status == AuthorizationStatus::Pending {
            return Err(EvidenceError::NotDecided {
                authorization_id: authorization.authorization_id,
            });
        }
        self.write(|funnel, user| rows::authorization(funnel, user, authorization, plan))
    }

    /// The run that used this authorization, if any did.
    ///
    /// # Errors
    /// Any failure of the database.
    pub fn authorization_used_by(&self, authorization_id: Uuid) -> Result<Option<Uuid>> {
        let used: Option<String> = self
            .conn
            .prepare_cached("SELECT run_id FROM authorization_uses WHERE authorization_id = ?1")?
            .query_row([authorization_id.to_string()], |row| row.get(0))
            .optional()?;
        Ok(used.map(|run_id| run_id.parse().unwrap_or_default()))
    }

    /// Records the start of a run, with plan and authorization where they are not recorded yet, and
    /// consumes the authorization. From now until [`end_run`](Self::end_run), or until this store is
    /// dropped, the run counts as alive.
    ///
    /// # Errors
    /// [`EvidenceError::AuthorizationUsed`] when another run consumed it, [`EvidenceError::NotDecided`]
    /// for a pending one, and any failure of the database.
    pub fn begin_run(&mut self, start: &RunStart<'_>) -> Result<()> {
        if start.authorization.status == AuthorizationStatus::Pending {
            return Err(EvidenceError::NotDecided {
                authorization_id: start.authorization.authorization_id,
            });
        }
        // Before the row: a reader that sees the run must find it alive.
        let lock = Lock::run(&self.dir, start.run_id)?;
        match self.write(|funnel, user| rows::run(funnel, user, start)) {
            Ok(()) => {
                self.locks.insert(start.run_id, lock);
                Ok(())
            }
            Err(error) => {
                lock.end();
                Err(error)
            }
        }
    }

    /// Commits what is about to happen; call it before anything does.
    ///
    /// # Errors
    /// Any failure of the database.
    pub fn record_intent(&mut self, intent: &IntentRecord<'_>) -> Result<()> {
        self.write(|funnel, user| steps::intent(funnel, user, intent))
    }

    /// What takes in the output of a step while its program runs; nothing is recorded before
    /// [`Self::record_execution`].
    pub fn intake(&self) -> Intake {
        Intake::new(&self.dir, &self.redactor, &self.vault)
    }

    /// Commits what became of a step: execution, artifacts, files, edges and decisions.
    ///
    /// # Errors
    /// Any failure of the database; the execution is then not recorded at all.
    pub fn record_execution(&mut self, execution: &ExecutionRecord<'_>) -> Result<()> {
        self.write(|funnel, user| steps::execution(funnel, user, execution))
    }

    /// Commits a decision about a whole run: pause, resume, cancel after this step, stop now.
    ///
    /// # Errors
    /// Any failure of the database.
    pub fn record_decision(&mut self, run_id: Uuid, decision: &NewDecision<'_>) -> Result<()> {
        self.write(|funnel, user| rows::decision(funnel, user, run_id, None, decision))
    }

    /// Commits what a comparison of a run's interrupted steps with the disk found: one decision for
    /// each finding.
    ///
    /// # Errors
    /// Any failure of the database; then none of them is recorded.
    pub fn record_reconciliation(
        &mut self,
        run_id: Uuid,
        findings: &[Reconciled],
        by: AnsweredBy,
        timestamp_ms: i64,
    ) -> Result<()> {
        self.write(|funnel, user| {
            for found in findings {
                let about = About {
                    execution_id: found.execution_id,
                    step_id: &found.step_id,
                    step_index: found.step_index,
                };
                let note = found.sentence();
                let decided = Decided::Reconcile;
                let new = NewDecision { decided, by, note: &note, timestamp_ms, request: None };
                rows::decision(funnel, user, run_id, Some(about), &new)?;
            }
            Ok(())
        })
    }

    /// Commits the end of a run.
    ///
    /// # Errors
    /// Any failure of the database.
    pub fn end_run(&mut self, end: &RunEnd<'_>) -> Result<()> {
        self.write(|funnel, _| rows::run_end(funnel, end))?;
        if let Some(lock) = self.locks.remove(&end.result.run_id) {
            lock.end();
        }
        Ok(())
    }

    /// Deletes the content with this digest, and records that and why. Its digest stays.
    ///
    /// # Errors
    /// Any failure of the database.
    pub fn purge(&mut self, digest: &Digest, reason: &str, timestamp_ms: i64) -> Result<()> {
        // Deleted pages are overwritten: the point of a purge is that the bytes are gone.
        self.conn.pragma_update(None, "secure_delete", true)?;
        self.write(|funnel, user| rows::purge(funnel, user, digest, reason, timestamp_ms))?;
        self.conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE);")?;
        Ok(())
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.conn
    }

    pub(super) fn write(
        &mut self,
        rows: impl FnOnce(&mut Funnel<'_>, Option<&str>) -> Result<()>,
    ) -> Result<()> {
        let mut funnel = Funnel::begin(&mut self.conn, &self.redactor, &self.vault)?;
        rows(&mut funnel, self.user.as_deref())?;
        funnel.commit()
    }
}
