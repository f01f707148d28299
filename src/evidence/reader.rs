//! The reader of the evidence: a read-only connection, with the search index. The queries are in files of their own,
//! such as `queries.rs` and `history.rs`.

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;

use super::error::Result;
use super::head_check::check_head;
use super::heads::KeptHeads;
use super::index::Index;
use super::source::Source;
use super::vault::Vault;
use super::{EvidenceLocation, UserFolders, schema, schema_check};
use crate::run::HeadReport;

/// Reads the evidence (SPEC §8). It writes only the search index in the same folder, which can be rebuilt at any time.
///
/// Owned by one thread. A folder without a database is read as empty evidence; every query checks again whether there
/// is a database, so that the rows of a first run are found.
#[derive(Debug)]
pub struct EvidenceReader {
    pub(super) location: EvidenceLocation,
    opened: Option<OpenDatabase>,
    pub(super) vault: Option<Arc<Vault>>,
    pub(super) index: Option<Index>,
    /// Whether the key is not used, so that encrypted contents are not available.
    is_locked: bool,
}

/// An open database whose schema was checked.
#[derive(Debug)]
struct OpenDatabase {
    conn: Connection,
    format: i64,
    /// SQLite's schema version when the database was opened.
    schema_version: i64,
}

impl EvidenceLocation {
    /// A reader that opens the evidence with its first query.
    pub fn reader(&self) -> EvidenceReader {
        let location = self.clone();
        EvidenceReader { location, opened: None, vault: None, index: None, is_locked: false }
    }

    /// Opens the evidence for reading.
    ///
    /// # Errors
    /// As for [`EvidenceReader::open`].
    pub fn open(&self) -> Result<EvidenceReader> {
        let mut reader = self.reader();
        reader.source()?;
        Ok(reader)
    }
}

impl EvidenceReader {
    /// Opens the evidence in `dir` for reading. `folders` are the user's folders outside `dir`. Without the key in
    /// them, contents with secrets are not available.
    ///
    /// # Errors
    /// When the database cannot be read, is damaged, belongs to another program, has a newer format, or its schema was
    /// changed.
    pub fn open(dir: &Path, folders: impl Into<UserFolders>) -> Result<Self> {
        EvidenceLocation::new(dir, folders).open()
    }

    /// The folders of the evidence, of the user's key and of the kept heads.
    pub fn folders(&self) -> [&Path; 3] {
        self.location.folders()
    }

    /// Gives up the key: from now on, contents that are encrypted because they contain a secret are not available. For
    /// what leaves this computer.
    pub fn lock_secrets(&mut self) {
        (self.vault, self.index, self.is_locked) = (None, None, true);
    }

    /// Compares the database with the head that is kept outside its folder. If they differ, queries are still
    /// answered, but nothing can be recorded.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn head_report(&mut self) -> Result<HeadReport> {
        self.source()?;
        let kept = KeptHeads::read(&self.location.user_folders, self.vault.as_deref());
        let opened = self.opened.as_ref().map(|opened| (&opened.conn, opened.format));
        check_head(opened, &self.location.evidence, &kept)
    }

    /// The open database; `None` if there is none. Opens it if it is not open or its schema has changed.
    pub(super) fn source(&mut self) -> Result<Option<Source<'_>>> {
        if let Some(opened) = &self.opened
            && schema_check::version(&opened.conn)? != opened.schema_version
        {
            // Another process has migrated the database or changed its schema. Opening it again checks the schema.
            self.opened = None;
        }
        if self.opened.is_none()
            && let Some((conn, format)) =
                schema::open_for_reading(&schema::database_path(&self.location.evidence))?
        {
            let schema_version = schema_check::version(&conn)?;
            log::debug!("evidence opened for reading format={format}");
            self.opened = Some(OpenDatabase { conn, format, schema_version });
        }
        if self.vault.is_none() && !self.is_locked {
            // An unusable key, such as one that others may read, counts as missing: then only contents with secrets
            // cannot be read.
            self.vault =
                Vault::open(&self.location.user_folders.key).unwrap_or_default().map(Arc::new);
        }
        Ok(self.opened.as_ref().map(|opened| Source {
            conn: &opened.conn,
            format: opened.format,
            vault: self.vault.as_deref(),
            dir: &self.location.evidence,
            user_folders: &self.location.user_folders,
        }))
    }

    /// Runs a query; returns the default value if there is no database.
    pub(super) fn query<T: Default>(
        &mut self,
        read: impl FnOnce(&Source<'_>) -> Result<T>,
    ) -> Result<T> {
        match self.source()? {
            Some(source) => read(&source),
            None => Ok(T::default()),
        }
    }
}
