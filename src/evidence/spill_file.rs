//! A temporary file without a name for the compressed parts of a content that is too large for memory and not recorded
//! yet.
//!
//! The name is removed from the folder before the first write, so that nothing remains after a crash. Each part is
//! encrypted nevertheless, because it may contain a secret, and a disk may keep deleted data.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::EvidenceError;
use super::error::Result;
use super::vault::Vault;
use crate::plan::Digest;

/// The maximum size of a compressed and encrypted part, in bytes.
pub(super) const PART_BYTES: usize = 4 << 20;
/// The maximum plain size of a part, in bytes. It is smaller, because compression and encryption may add bytes.
pub(super) const PLAIN_PART_BYTES: usize = PART_BYTES - (64 << 10);
/// A fast level of zstd, because a program may wait while its output is compressed.
const LEVEL: i32 = 1;

/// The parts of one content, in order.
pub(super) struct SpillFile {
    file: File,
    dir: PathBuf,
    id: Uuid,
    vault: Arc<Vault>,
    parts: Vec<Part>,
    end: u64,
}

struct Part {
    start: u64,
    stored: usize,
    plain: usize,
}

impl SpillFile {
    /// An empty spill file in the evidence folder.
    pub(super) fn new(dir: &Path, vault: &Arc<Vault>) -> Result<Self> {
        let id = Uuid::new_v4();
        let path = dir.join(format!("output-{id}.spool"));
        let file = create_unnamed(&path)
            .map_err(|source| EvidenceError::Folder { source, path: path.clone() })?;
        Ok(Self {
            file,
            dir: dir.to_owned(),
            id,
            vault: Arc::clone(vault),
            parts: Vec::new(),
            end: 0,
        })
    }

    /// Another empty spill file in the same folder, with the same key.
    pub(super) fn new_beside(&self) -> Result<Self> {
        Self::new(&self.dir, &self.vault)
    }

    /// Appends a part of at most [`PLAIN_PART_BYTES`].
    fn push(&mut self, plain: &[u8]) -> Result<()> {
        let content = |source| EvidenceError::Content { source };
        let data = zstd::bulk::compress(plain, LEVEL).map_err(content)?;
        let encrypted = self.vault.encrypt(&data, &self.part_name(self.parts.len()))?;
        self.file.write_all(&encrypted).map_err(|source| self.file_error(source))?;
        let part = Part { start: self.end, stored: encrypted.len(), plain: plain.len() };
        self.end += encrypted.len() as u64;
        self.parts.push(part);
        Ok(())
    }

    /// The number of parts.
    pub(super) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The plain size of a part and its compressed bytes, as a blob stores them.
    pub(super) fn part(&self, number: usize) -> Result<(usize, Vec<u8>)> {
        let unreadable = || EvidenceError::Unreadable { what: self.part_name(number) };
        let part = self.parts.get(number).ok_or_else(unreadable)?;
        let mut encrypted = vec![0; part.stored];
        let mut file = &self.file;
        file.seek(SeekFrom::Start(part.start))
            .and_then(|_| file.read_exact(&mut encrypted))
            .map_err(|source| self.file_error(source))?;
        let data =
            self.vault.decrypt(&encrypted, &self.part_name(number)).ok_or_else(unreadable)?;
        Ok((part.plain, data))
    }

    /// The plain bytes of a part.
    pub(super) fn plain(&self, number: usize) -> Result<Vec<u8>> {
        let (size, data) = self.part(number)?;
        zstd::bulk::decompress(&data, size.min(PART_BYTES))
            .map_err(|source| EvidenceError::Content { source })
    }

    fn part_name(&self, number: usize) -> String {
        format!("spool {}/{number}", self.id)
    }

    fn file_error(&self, source: std::io::Error) -> EvidenceError {
        EvidenceError::Folder { source, path: self.dir.clone() }
    }
}

/// Creates a file that is deleted when it is closed.
#[cfg(not(windows))]
fn create_unnamed(path: &Path) -> std::io::Result<File> {
    let file = super::permissions::create_new(path)?;
    std::fs::remove_file(path)?;
    Ok(file)
}

/// Creates a file that is deleted when it is closed.
#[cfg(windows)]
fn create_unnamed(path: &Path) -> std::io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt as _;
    /// `FILE_FLAG_DELETE_ON_CLOSE`: on Windows, an open file keeps its name.
    const DELETE_ON_CLOSE: u32 = 0x0400_0000;
    let mut options = std::fs::OpenOptions::new();
    options.read(true).write(true).create_new(true).share_mode(0).custom_flags(DELETE_ON_CLOSE);
    options.open(path)
}

/// Splits a content into parts while it arrives, and computes its digest.
#[derive(Default)]
pub(super) struct Parts {
    /// The bytes after the last complete part.
    pending: Vec<u8>,
    hash: Sha256,
    bytes: usize,
    file: Option<SpillFile>,
}

/// A complete content in a spill file.
pub(super) struct Spilled {
    pub(super) digest: Digest,
    pub(super) bytes: usize,
    pub(super) file: SpillFile,
}

impl Parts {
    /// Appends bytes. `create` creates the file for the first part; `each` is called with every complete part.
    pub(super) fn push(
        &mut self,
        mut bytes: &[u8],
        create: impl Fn() -> Result<SpillFile>,
        mut each: impl FnMut(&[u8]),
    ) -> Result<()> {
        // A content that exactly fills one part stays in memory until more bytes follow.
        while self.pending.len() + bytes.len() > PLAIN_PART_BYTES {
            let free = PLAIN_PART_BYTES - self.pending.len();
            let (head, rest) = bytes.split_at_checked(free).unwrap_or((bytes, &[]));
            self.pending.extend_from_slice(head);
            bytes = rest;
            self.flush(&create, &mut each)?;
        }
        self.pending.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(
        &mut self,
        create: &impl Fn() -> Result<SpillFile>,
        each: &mut impl FnMut(&[u8]),
    ) -> Result<()> {
        if self.file.is_none() {
            self.file = Some(create()?);
        }
        if let Some(file) = &mut self.file {
            file.push(&self.pending)?;
        }
        self.hash.update(&self.pending);
        self.bytes += self.pending.len();
        each(&self.pending);
        self.pending.clear();
        Ok(())
    }

    /// Takes the content, if it is not larger than one part; `None` if it is in a spill file.
    pub(super) fn take_small(&mut self) -> Option<Vec<u8>> {
        self.file.is_none().then(|| std::mem::take(&mut self.pending))
    }

    /// Stores the remaining bytes as the last part, and returns the complete content.
    pub(super) fn finish(
        mut self,
        create: impl Fn() -> Result<SpillFile>,
        mut each: impl FnMut(&[u8]),
    ) -> Result<Spilled> {
        if !self.pending.is_empty() || self.file.is_none() {
            self.flush(&create, &mut each)?;
        }
        let file = self.file.map_or_else(create, Ok)?;
        let digest = Digest::from_bytes(self.hash.finalize().into());
        Ok(Spilled { digest, bytes: self.bytes, file })
    }
}
