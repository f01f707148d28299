//! The members of the zip: hashed while they are written.

use std::io::{self, Seek, Write};

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::super::Result;
use crate::plan::Digest;

/// A member in the manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Listed {
    name: String,
    bytes: u64,
    /// In 64 hex digits.
    sha256: String,
}

/// The zip with the members so far.
pub(super) struct Members<W: Write + Seek> {
    zip: ZipWriter<W>,
    pub(super) listed: Vec<Listed>,
}

impl<W: Write + Seek> Members<W> {
    pub(super) fn new(out: W) -> Self {
        Self { zip: ZipWriter::new(out), listed: Vec::new() }
    }

    /// Adds a member that `write` writes. `is_large`: it may have 4 GiB or more.
    ///
    /// # Errors
    /// When the zip cannot be written, and errors of `write`.
    pub(super) fn add(
        &mut self,
        name: &str,
        is_large: bool,
        write: impl FnOnce(&mut dyn Write) -> Result<()>,
    ) -> Result<()> {
        // The time is fixed, so that the same evidence gives the same bytes.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::default())
            .unix_permissions(0o600)
            .large_file(is_large);
        self.zip.start_file(name, options)?;
        let mut hashed = Hashed { out: &mut self.zip, hash: Sha256::new(), bytes: 0 };
        write(&mut hashed)?;
        let sha256 = Digest::from_bytes(hashed.hash.finalize().into()).hex();
        self.listed.push(Listed { name: name.to_owned(), bytes: hashed.bytes, sha256 });
        Ok(())
    }

    /// As [`add`](Self::add), with this text.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub(super) fn text(&mut self, name: &str, text: &str) -> Result<()> {
        self.add(name, false, |out| Ok(out.write_all(text.as_bytes())?))
    }

    /// Ends the zip.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn finish(self) -> Result<()> {
        self.zip.finish()?.flush()?;
        Ok(())
    }
}

/// Hashes and counts what is written.
struct Hashed<'o, W> {
    out: &'o mut W,
    hash: Sha256,
    bytes: u64,
}

impl<W: Write> Write for Hashed<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.update(bytes.get(..written).unwrap_or(bytes));
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
