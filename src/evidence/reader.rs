//! The reader: a connection that cannot write, and the search index beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;
use uuid::Uuid;

use super::aftermath::{self, OpenIntent};
use super::error::{EvidenceError, Result};
use super::folders::UserFolders;
use super::heads::KeptHeads;
use super::history::{self, Kept};
use super::index::Index;
use super::standing::standing;
use super::vault::Vault;
use super::{blobs, lock, loop_reader, queries, replay, schema, schema_check, search};
use crate::authorization::FileState;
use crate::plan::Digest;
use crate::run::{
    HeadReport, History, LoopDetail, LoopSummary, RunEvent, RunSummary, SearchPage, SearchQuery,
};

/// Reads the evidence; never writes to it (SPEC §8). The search index in the same folder is its own and
/// can be rebuilt at any time.
///
/// Owned by one thread. A folder without evidence reads as empty, and is looked at again with each
/// question, so that a first run appears.
#[derive(Debug)]
pub struct EvidenceReader {
    pub(super) dir: PathBuf,
    pub(super) folders: UserFolders,
    opened: Option<Opened>,
    vault: Option<Arc<Vault>>,
    index: Option<Index>,
}

/// A database whose schema was compared.
#[derive(Debug)]
struct Opened {
    conn: Connection,
    format: i64,
    /// As it was when the schema was compared.
    schema_version: i64,
}

/// What a question is answered from.
pub(super) struct Source<'a> {
    pub(super) conn: &'a Connection,
    pub(super) vault: Option<&'a Vault>,
    /// The format of the database: an older one has fewer columns.
    pub(super) format: i64,
    dir: &'a Path,
}

impl Source<'_> {
    /// Whether a living process is still busy with this run.
    pub(super) fn is_alive(&self, run_id: Uuid) -> bool {
        lock::is_alive(self.dir, run_id)
    }
}

impl EvidenceReader {
    /// Opens the evidence in `dir` for reading. `folders` are the user's own outside `dir`; without the key
    /// in them, contents that hold secrets are not available.
    ///
    /// # Errors
    /// A database that is damaged, of another program or of a newer format, or whose schema was changed.
    pub fn open(dir: &Path, folders: impl Into<UserFolders>) -> Result<Self> {
        let mut reader = Self::at(dir, folders);
        reader.source()?;
        Ok(reader)
    }

    /// The same, opened with the first question.
    pub fn at(dir: &Path, folders: impl Into<UserFolders>) -> Self {
        Self {
            dir: dir.to_owned(),
            folders: folders.into(),
            opened: None,
            vault: None,
            index: None,
        }
    }

    /// Whether this is the database that was here: what there is to say of the head that is kept outside of
    /// the folder. Where something differs, questions are answered and nothing can be recorded.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn standing(&mut self) -> Result<HeadReport> {
        self.source()?;
        let kept = KeptHeads::read(&self.folders, self.vault.as_deref());
        let opened = self.opened.as_ref().map(|opened| (&opened.conn, opened.format));
        standing(opened, &self.dir, &kept)
    }

    fn source(&mut self) -> Result<Option<Source<'_>>> {
        if let Some(opened) = &self.opened
            && schema_check::version(&opened.conn)? != opened.schema_version
        {
            // Migrated, or tampered with: which of the two is found out by opening it anew.
            self.opened = None;
        }
        if self.opened.is_none()
            && let Some((conn, format)) =
                schema::open_for_reading(&schema::database_path(&self.dir))?
        {
            let schema_version = schema_check::version(&conn)?;
            self.opened = Some(Opened { conn, format, schema_version });
        }
        if self.vault.is_none() {
            // A broken key is no reason to hide the rest of the evidence; one that others may read is not
            // used, and what needs it says so.
            self.vault = Vault::open(&self.folders.key).unwrap_or_default().map(Arc::new);
        }
        Ok(self.opened.as_ref().map(|opened| Source {
            conn: &opened.conn,
            format: opened.format,
            vault: self.vault.as_deref(),
            dir: &self.dir,
        }))
    }

    pub(super) fn ask<T: Default>(
        &mut self,
        question: impl FnOnce(&Source<'_>) -> Result<T>,
    ) -> Result<T> {
        match self.source()? {
            Some(source) => question(&source),
            None => Ok(T::default()),
        }
    }

    /// The latest runs, newest first.
    ///
    /// # Errors
    /// Any failure of the database; so for every other question.
    pub fn runs(&mut self, limit: usize) -> Result<Vec<RunSummary>> {
        self.ask(|source| queries::runs(source, None, limit))
    }

    /// One run.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn run(&mut self, run_id: Uuid) -> Result<Option<RunSummary>> {
        Ok(self.ask(|source| queries::runs(source, Some(run_id), 1))?.pop())
    }

    /// The exact bytes of the plan of a run; `None` when there is no such run or they were purged.
    ///
    /// # Errors
    /// [`NotAvailable`](super::EvidenceError::NotAvailable) when they are encrypted under another key.
    pub fn plan_of_run(&mut self, run_id: Uuid) -> Result<Option<Vec<u8>>> {
        match self.run(run_id)? {
            Some(run) => self.blob(&run.plan_digest),
            None => Ok(None),
        }
    }

    /// The events of a run, rebuilt from its rows; empty when there is no such run.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn replay(&mut self, run_id: Uuid) -> Result<Vec<RunEvent>> {
        self.ask(|source| replay::events(source, run_id))
    }

    /// The latest bounded loops, newest first.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn loops(&mut self, limit: usize) -> Result<Vec<LoopSummary>> {
        self.ask(|source| loop_reader::loops(source, None, limit))
    }

    /// One bounded loop in full, with its attempts.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn bounded_loop(&mut self, loop_id: Uuid) -> Result<Option<LoopDetail>> {
        self.ask(|source| loop_reader::detail(source, loop_id))
    }

    /// The events of a bounded loop and of its runs, rebuilt from their rows; empty when there is none.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn replay_loop(&mut self, loop_id: Uuid) -> Result<Vec<RunEvent>> {
        self.ask(|source| loop_reader::events(source, loop_id))
    }

    /// The ids of the steps of a run that succeeded.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn succeeded_steps(&mut self, run_id: Uuid) -> Result<BTreeSet<String>> {
        self.ask(|source| aftermath::succeeded_steps(source, run_id))
    }

    /// What each file that a run took as input or changed was at its end, by canonical path: as
    /// approved, or as its last recorded step left it.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn files_after(&mut self, run_id: Uuid) -> Result<BTreeMap<String, FileState>> {
        self.ask(|source| aftermath::files_after(source, run_id))
    }

    /// The intents of a run that have no execution, with what was predicted. Of a run that is still
    /// alive, the step under way is among them.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn open_intents(&mut self, run_id: Uuid) -> Result<Vec<OpenIntent>> {
        self.ask(|source| aftermath::open_intents(source, run_id))
    }

    /// What was changed in a workspace, with the moments that its files can be brought back to. `known` is
    /// the answer to the last such question: it is given again where nothing was recorded since.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn history(
        &mut self,
        workspace: &str,
        known: Option<(i64, Arc<History>)>,
    ) -> Result<(i64, Arc<History>)> {
        self.ask(|source| {
            let length = history::length(source)?;
            match known {
                Some(known) if known.0 == length => Ok(known),
                _ => Ok((length, Arc::new(history::of(source, workspace)?))),
            }
        })
    }

    /// A content that steps were recorded with, or why it cannot be had.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn kept(&mut self, digest: &Digest) -> Result<Kept> {
        let kept = self.ask(|source| history::kept(source, digest).map(Some))?;
        Ok(kept.unwrap_or(Kept::NotKept))
    }

    /// The steps of a run whose tools were called: their places from 0, and their executions.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn invoked_steps(&mut self, run_id: Uuid) -> Result<Vec<(usize, Uuid)>> {
        self.ask(|source| history::invoked_steps(source, run_id))
    }

    /// The run of a step, by its execution.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn run_of(&mut self, execution_id: Uuid) -> Result<Option<Uuid>> {
        self.ask(|source| history::run_of(source, execution_id))
    }

    /// The content with this digest; `None` when there is none or it was purged.
    ///
    /// # Errors
    /// [`NotAvailable`](super::EvidenceError::NotAvailable) when it is encrypted under another key.
    pub fn blob(&mut self, digest: &Digest) -> Result<Option<Vec<u8>>> {
        self.ask(|source| blobs::read(source.conn, source.vault, digest))
    }

    /// The same, a part at a time, so that it need not fit into memory; false when there is none. When
    /// this fails, what was handed over is not what was stored.
    ///
    /// # Errors
    /// As [`blob`](Self::blob), and what `each` fails with.
    pub fn blob_parts(
        &mut self,
        digest: &Digest,
        each: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<bool> {
        self.ask(|source| blobs::read_each(source.conn, source.vault, digest, each))
    }

    /// The size of the content with this digest in bytes; 0 when there is none.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn blob_size(&mut self, digest: &Digest) -> Result<u64> {
        self.ask(|source| blobs::size(source.conn, digest))
    }

    /// Brings the search index up to date; cheap when it is. [`search`](Self::search) does it first,
    /// so this is for idle moments.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn catch_up_index(&mut self) -> Result<()> {
        let mut index = match self.index.take() {
            Some(index) => index,
            None if self.source()?.is_none() => return Ok(()),
            None => Index::open(&self.dir, self.vault.as_ref())?,
        };
        if let Some(source) = self.source()? {
            index.catch_up(&source)?;
        }
        self.index = Some(index);
        Ok(())
    }

    /// Full-text search with filters over all executions and interrupted steps.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn search(&mut self, query: &SearchQuery) -> Result<SearchPage> {
        let mut answered = self.search_once(query);
        // It is not flushed like the evidence, so a power cut may leave it damaged; and anybody may have
        // written into it.
        if answered.as_ref().is_err_and(EvidenceError::is_damage) {
            self.index = None;
            Index::discard(&self.dir);
            answered = self.search_once(query);
        }
        let mut page = answered?;
        let standing = self.standing()?;
        (page.read_only, page.note) = (standing.difference, standing.note);
        Ok(page)
    }

    fn search_once(&mut self, query: &SearchQuery) -> Result<SearchPage> {
        self.catch_up_index()?;
        let Some(index) = self.index.take() else { return Ok(SearchPage::default()) };
        let page = self.ask(|source| search::page(&index, source, query));
        self.index = Some(index);
        page
    }
}
