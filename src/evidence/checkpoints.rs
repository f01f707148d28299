//! Checkpoints of the evidence (SPEC §14): the links of its chain as the leaves of a Merkle tree, computed from the ledger.
//!
//! Only evidence that was verified as a whole is signed, and a checkpoint is compared with evidence that was verified as a
//! whole: the tree covers the links alone, and links are as good as the rows that they are computed from.

use std::path::Path;

use serde::Serialize;
use uuid::Uuid;

use super::error::Result;
use super::key_file::KeyFile;
use super::migrations::FORMAT_WITH_ID;
use super::verify::{Observer, verify_observed, verify_telling};
use super::{EvidenceError, EvidenceLocation, EvidenceReader, schema};
use crate::plan::Digest;
use crate::proof::{Checkpoint, SignedCheckpoint, SigningKey, Tree};
use crate::run::VerifyReport;

/// The name of the file of the key that signs, in the folder of the key that protects secrets. It is no part of that key,
/// so that either can be replaced.
const KEY_FILE: &str = "signing.key";

/// What a comparison of the evidence with an earlier checkpoint found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckpointReport {
    /// Whether the evidence is sound, and begins with the records of the checkpoint.
    pub ok: bool,
    /// The number of records of the evidence that were verified.
    pub rows: u64,
    /// The first difference; null if there is none.
    pub difference: Option<String>,
}

impl EvidenceLocation {
    /// The key that signs checkpoints and attestations. It is created on first use.
    ///
    /// # Errors
    /// When it cannot be used or created, or other users can use it.
    pub fn signing_key(&self) -> Result<SigningKey> {
        let folder = &self.user_folders.key;
        self.key_of(&key_file(folder).read_or_create()?)
    }

    /// The key that signs; `None` if none was needed so far.
    ///
    /// # Errors
    /// As for [`signing_key`](Self::signing_key).
    pub fn existing_signing_key(&self) -> Result<Option<SigningKey>> {
        let seed = key_file(&self.user_folders.key).read()?;
        seed.map(|seed| self.key_of(&seed)).transpose()
    }

    fn key_of(&self, seed: &[u8]) -> Result<SigningKey> {
        let path = self.user_folders.key.join(KEY_FILE);
        let source = || std::io::Error::new(std::io::ErrorKind::InvalidData, "it is no key");
        SigningKey::from_seed(seed)
            .ok_or_else(|| EvidenceError::SigningKey { source: source(), path })
    }

    /// Verifies the evidence, and signs the root of all its records. `progress` gets the number of verified rows and of
    /// all.
    ///
    /// # Errors
    /// [`EvidenceError::Unsound`] if the evidence was changed; when there is none or it cannot be read, or when the key
    /// cannot be used.
    pub fn sign_checkpoint(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<SignedCheckpoint> {
        self.sign_first(None, progress)
    }

    /// As [`sign_checkpoint`](Self::sign_checkpoint), for the first `size` records if a size is given.
    fn sign_first(
        &self,
        size: Option<u64>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<SignedCheckpoint> {
        let origin = self.reader().origin()?;
        let mut tree = Tree::default();
        size.iter().for_each(|size| tree.want_root(*size));
        let report = self.verify_tree(&mut tree, progress)?;
        if !report.ok {
            return Err(EvidenceError::Unsound { difference: difference_of(report) });
        }
        let key = self.signing_key()?;
        let size = size.unwrap_or(tree.size());
        let removed = || format!("there are no {size} records");
        let root = if size == tree.size() { Some(tree.root()) } else { tree.root_at(size) };
        let root = root.ok_or_else(|| EvidenceError::Unsound { difference: removed() })?;
        let checkpoint = Checkpoint { origin, size, root };
        // The origin has no sign that a name of a key must not have.
        checkpoint.sign(&key).ok_or_else(|| EvidenceError::NoId { path: self.evidence.clone() })
    }

    /// Verifies the evidence, and returns the first difference; `None` if it is sound. On a computer that keeps no head of
    /// this evidence, for instance that of an auditor, that is no difference.
    ///
    /// # Errors
    /// When there is no evidence or it cannot be read.
    pub fn first_difference(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<Option<String>> {
        let report = verify_telling(&self.evidence, &self.user_folders, None, progress)?;
        Ok(unsound(report))
    }

    /// Compares the evidence with an earlier checkpoint of it, which its key has signed.
    ///
    /// # Errors
    /// When there is no evidence or it cannot be read. A change is not an error but a difference in the report.
    pub fn verify_checkpoint(
        &self,
        checkpoint: &Checkpoint,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<CheckpointReport> {
        let Checkpoint { origin, size, root } = checkpoint;
        let mut tree = Tree::default();
        tree.want_root(*size);
        let report = self.verify_tree(&mut tree, progress)?;
        let rows = report.rows;
        // Where no head is kept, the checkpoint takes its place.
        let difference = if let Some(difference) = unsound(report) {
            Some(difference)
        } else if self.reader().origin()? != *origin {
            Some(format!("this is a checkpoint of other evidence, {origin}"))
        } else if tree.size() < *size {
            Some(format!(
                "the checkpoint has {size} records, and {rows} are there: later ones were removed, or an earlier \
                 state was put back"
            ))
        } else if tree.root_at(*size) != Some(*root) {
            Some(format!(
                "the first {size} records are not those of the checkpoint: the chain was made anew"
            ))
        } else {
            None
        };
        Ok(CheckpointReport { ok: difference.is_none(), rows, difference })
    }

    /// Verifies the evidence, and adds each of its links to the tree.
    fn verify_tree(
        &self,
        tree: &mut Tree,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<VerifyReport> {
        let mut link = |link: &Digest| tree.push(link.as_bytes());
        let observer = &mut Observer { progress, link: &mut link };
        verify_observed(&self.evidence, self.user_folders.clone(), None, observer)
    }
}

impl EvidenceReader {
    /// Verifies the evidence, and signs the root of its first `size` records with its own key, which is always the same
    /// checkpoint.
    ///
    /// # Errors
    /// As [`EvidenceLocation::sign_checkpoint`].
    pub fn sign_first(
        &self,
        size: u64,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<SignedCheckpoint> {
        self.location.sign_first(Some(size), progress)
    }

    /// The name of this evidence as a log, which is also the name of its key: made of the random id of the database.
    ///
    /// # Errors
    /// When there is no evidence, it has no id yet, or it cannot be read.
    pub fn origin(&mut self) -> Result<String> {
        let path = self.location.evidence.clone();
        let id = self.query(|source| match source.format >= FORMAT_WITH_ID {
            true => schema::id_of(source.conn).map(Some),
            false => Ok(Some(None)),
        })?;
        match id {
            None => Err(EvidenceError::NoEvidence { path }),
            Some(None) => Err(EvidenceError::NoId { path }),
            Some(Some(id)) => Ok(Self::origin_of(id)),
        }
    }

    /// The name of the evidence whose database has this id.
    pub(super) fn origin_of(id: Uuid) -> String {
        format!("countersign/evidence/{id}")
    }

    /// Adds the links of the first `size` records to the tree, without verifying the records.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn read_tree(&mut self, size: u64, tree: &mut Tree) -> Result<()> {
        let sql = "SELECT digest FROM ledger WHERE seq <= ?1 ORDER BY seq";
        self.query(|source| {
            let mut links = source.conn.prepare(sql)?;
            let mut links = links.query([i64::try_from(size).unwrap_or(i64::MAX)])?;
            while let Some(link) = links.next()? {
                let digest = link.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
                let digest: Digest = digest.parse().map_err(super::rows::unreadable)?;
                tree.push(digest.as_bytes());
            }
            Ok(())
        })
    }
}

fn key_file(folder: &Path) -> KeyFile<'_> {
    let error = |source, path| EvidenceError::SigningKey { source, path };
    KeyFile { folder, name: KEY_FILE, error }
}

fn difference_of(report: VerifyReport) -> String {
    report.first_bad.unwrap_or_else(|| "the evidence was changed".to_owned())
}

/// The first difference of evidence that is not sound, but for that this computer keeps no head of it.
fn unsound(report: VerifyReport) -> Option<String> {
    let unknown = report.kept.as_ref().filter(|kept| kept.kept_head.is_none());
    let is_unknown = unknown.is_some_and(|kept| kept.difference == report.first_bad);
    (!report.ok && !is_unknown).then(|| difference_of(report))
}
