//! The reader: a connection that cannot write, and the search index beside it. What it answers is in the files of
//! the questions, such as `queries.rs` and `history.rs`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;

use super::error::Result;
use super::folders::UserFolders;
use super::heads::KeptHeads;
use super::index::Index;
use super::source::Source;
use super::standing::standing;
use super::vault::Vault;
use super::{schema, schema_check};
use crate::run::HeadReport;

/// Reads the evidence; never writes to it (SPEC §8). The search index in the same folder is its own and
/// can be rebuilt at any time.
///
/// Owned by one thread. A folder without evidence reads as empty, and is looked at again with each
/// question, so that a first run appears.
#[derive(Debug)]
pub struct EvidenceReader {
    pub(super) dir: PathBuf,
    folders: UserFolders,
    opened: Option<Opened>,
    pub(super) vault: Option<Arc<Vault>>,
    pub(super) index: Option<Index>,
}

/// A database whose schema was compared.
#[derive(Debug)]
struct Opened {
    conn: Connection,
    format: i64,
    /// As it was when the schema was compared.
    schema_version: i64,
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

    /// The folders of the evidence, of the user's key and of the kept heads.
    pub fn folders(&self) -> [&Path; 3] {
        [&self.dir, &self.folders.key, &self.folders.state]
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

    pub(super) fn source(&mut self) -> Result<Option<Source<'_>>> {
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
}
