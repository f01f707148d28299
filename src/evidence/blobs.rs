//! Stores blobs: contents under their digest, in compressed parts, encrypted if they contain a secret (SPEC §8).

use rusqlite::Connection;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::append::{Appender, Cell};
use super::capture::{CapturedContent, CapturedStream, Large};
use super::chunks::Chunks;
use super::error::Result;
use super::rows::{find, unreadable, value};
use super::spill_file::{PART_BYTES, PLAIN_PART_BYTES, Parts, SpillFile, Spilled};
use super::vault::Vault;
use super::{EvidenceError, EvidenceReader};
use crate::plan::Digest;
use crate::run::Decoder;

/// The maximum size of a value that is stored in its row, in bytes of its text. A larger value becomes a blob.
const INLINE_BYTES: usize = 4 << 10;
/// The maximum size of the beginning of a larger value that the row contains, in bytes.
const HEAD_BYTES: usize = 1 << 10;
/// A fast level of zstd, because a run waits while contents are compressed.
const LEVEL: i32 = 3;

const PLAIN: &str = "zstd";
const ENCRYPTED: &str = "zstd+xchacha20poly1305";

/// The columns that store a value.
pub(super) struct StoredValue {
    /// The value, or a reference to its blob.
    pub(super) json: Cell,
    pub(super) blob: Option<Digest>,
    /// The size of the original content, in bytes.
    pub(super) bytes: usize,
}

impl Appender<'_> {
    /// Stores exact bytes under their digest, encrypted if they contain a secret. Does nothing if they are stored
    /// already or were purged.
    pub(super) fn exact_blob(&mut self, digest: &Digest, bytes: &[u8]) -> Result<()> {
        if self.is_stored_or_purged(digest)? {
            return Ok(());
        }
        let encrypted = self.contains_secret(bytes);
        self.blob(digest, bytes, encrypted)
    }

    /// A JSON value for a column, redacted: the value, or a reference to its blob.
    pub(super) fn json_value(&mut self, value: Value) -> Result<StoredValue> {
        let text = self.redacted_json(value);
        let bytes = text.len();
        if bytes <= INLINE_BYTES {
            return Ok(StoredValue { json: Cell::Word(text), blob: None, bytes });
        }
        self.redacted_blob(&text, bytes)
    }

    /// As [`Self::output_value`], for captured output, which is processed one part at a time.
    pub(super) fn captured_value(&mut self, output: &CapturedStream) -> Result<StoredValue> {
        let Large { spilled, scan } = match &output.content {
            CapturedContent::Small(bytes) => return self.output_value(bytes),
            CapturedContent::Large(large) => &**large,
        };
        let captured = spilled.bytes;
        let head = self.redacted(&String::from_utf8_lossy(&scan.head));
        if scan.is_text() && (scan.has_secret || self.has_known_secrets()) {
            let redacted = self.redacted_copy(&spilled.file)?;
            self.spilled_blob(&redacted, false)?;
            return Ok(blob_reference(redacted.digest, redacted.bytes, &head, true, captured));
        }
        self.spilled_blob(spilled, scan.has_secret || self.has_known_secrets())?;
        Ok(blob_reference(spilled.digest, captured, &head, scan.is_text(), captured))
    }

    /// Copies a text to another spill file, with a marker in place of each secret.
    fn redacted_copy(&self, file: &SpillFile) -> Result<Spilled> {
        let (mut decoder, mut chunks, mut parts) =
            (Decoder::default(), Chunks::default(), Parts::default());
        for number in 0..file.parts() {
            chunks.push(&decoder.push(&file.plain(number)?));
            let redacted = self.next_redacted_chunk(&mut chunks, false);
            parts.push(redacted.as_bytes(), || file.new_beside(), |_| {})?;
        }
        let redacted = self.next_redacted_chunk(&mut chunks, true);
        parts.push(redacted.as_bytes(), || file.new_beside(), |_| {})?;
        parts.finish(|| file.new_beside(), |_| {})
    }

    /// Output for a column: a redacted JSON string, or a reference to its blob. Bytes that are not UTF-8 always
    /// become an exact blob; the reference then contains `"encoding": "bytes"` and a readable beginning.
    pub(super) fn output_value(&mut self, output: &[u8]) -> Result<StoredValue> {
        match std::str::from_utf8(output) {
            Ok(text) => {
                let text = self.redacted(text);
                if text.len() <= INLINE_BYTES {
                    let json = Cell::Word(Value::from(text).to_string());
                    return Ok(StoredValue { json, blob: None, bytes: output.len() });
                }
                self.redacted_blob(&text, output.len())
            }
            Err(_) => {
                let digest = Digest::of(output);
                self.exact_blob(&digest, output)?;
                let readable = self.redacted(&String::from_utf8_lossy(output));
                Ok(blob_reference(digest, output.len(), &readable, false, output.len()))
            }
        }
    }

    fn redacted_blob(&mut self, text: &str, captured: usize) -> Result<StoredValue> {
        let digest = Digest::of(text.as_bytes());
        if !self.is_stored_or_purged(&digest)? {
            self.blob(&digest, text.as_bytes(), false)?;
        }
        Ok(blob_reference(digest, text.len(), text, true, captured))
    }

    /// Whether the blob exists or a person purged it, so that it must not be stored.
    fn is_stored_or_purged(&self, digest: &Digest) -> Result<bool> {
        let sql = "SELECT 1 FROM blobs WHERE digest = ?1
                   UNION ALL SELECT 1 FROM purges WHERE digest = ?1";
        Ok(self.tx().prepare_cached(sql)?.exists([digest.hex()])?)
    }

    fn blob(&mut self, digest: &Digest, bytes: &[u8], encrypted: bool) -> Result<()> {
        let parts = bytes.len().div_ceil(PLAIN_PART_BYTES).max(1);
        for part in 0..parts {
            let start = part * PLAIN_PART_BYTES;
            let end = bytes.len().min(start + PLAIN_PART_BYTES);
            let plain = bytes.get(start..end).unwrap_or_default();
            let data = zstd::bulk::compress(plain, LEVEL)
                .map_err(|source| EvidenceError::Content { source })?;
            self.part(digest, (part, parts), plain.len(), data, encrypted)?;
        }
        Ok(())
    }

    /// Stores the content of a spill file, unless it is stored already or was purged.
    fn spilled_blob(&mut self, spilled: &Spilled, encrypted: bool) -> Result<()> {
        if self.is_stored_or_purged(&spilled.digest)? {
            return Ok(());
        }
        let parts = spilled.file.parts();
        for part in 0..parts {
            let (plain, data) = spilled.file.part(part)?;
            self.part(&spilled.digest, (part, parts), plain, data, encrypted)?;
        }
        Ok(())
    }

    fn part(
        &mut self,
        digest: &Digest,
        (part, parts): (usize, usize),
        plain: usize,
        mut data: Vec<u8>,
        encrypted: bool,
    ) -> Result<()> {
        if encrypted {
            data = self.vault.encrypt(&data, &part_name(digest, part as i64))?;
        }
        self.insert(
            "blobs",
            [
                ("digest", (*digest).into()),
                ("part", part.into()),
                ("parts", parts.into()),
                ("bytes", plain.into()),
                ("encoding", Cell::word(if encrypted { ENCRYPTED } else { PLAIN })),
                ("data", Cell::Bytes(data)),
            ],
        )
    }
}

impl EvidenceReader {
    /// The content with this digest; `None` if it does not exist or was purged.
    ///
    /// # Errors
    /// [`NotAvailable`](super::EvidenceError::NotAvailable) if it is encrypted with another key.
    pub fn blob(&mut self, digest: &Digest) -> Result<Option<Vec<u8>>> {
        self.query(|source| read(source.conn, source.vault, digest))
    }

    /// As [`blob`](Self::blob), one part at a time, so that the content need not fit into memory. Returns false if
    /// the content does not exist or was purged. The digest is checked at the end: after an error, discard the parts.
    ///
    /// # Errors
    /// As [`blob`](Self::blob), and errors of `each`.
    pub fn blob_parts(
        &mut self,
        digest: &Digest,
        each: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<bool> {
        self.query(|source| read_each(source.conn, source.vault, digest, each))
    }

    /// The size of the content with this digest, in bytes; 0 if the content does not exist or was purged.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn blob_size(&mut self, digest: &Digest) -> Result<u64> {
        self.query(|source| size(source.conn, digest))
    }
}

/// The content with this digest; `None` if it does not exist or was purged.
///
/// # Errors
/// [`EvidenceError::NotAvailable`] if it cannot be decrypted with this key, [`EvidenceError::Unreadable`] if its bytes
/// do not have this digest, and any error of the database.
pub(super) fn read(
    conn: &Connection,
    vault: Option<&Vault>,
    digest: &Digest,
) -> Result<Option<Vec<u8>>> {
    let mut content = Vec::new();
    let found = read_each(conn, vault, digest, |part| {
        content.extend_from_slice(part);
        Ok(())
    })?;
    Ok(found.then_some(content))
}

/// As [`read`], one part at a time. Returns false if the content does not exist or was purged. The digest is checked at
/// the end: after an error, discard the parts.
///
/// # Errors
/// As [`read`], and errors of `each`.
pub(super) fn read_each(
    conn: &Connection,
    vault: Option<&Vault>,
    digest: &Digest,
    mut each: impl FnMut(&[u8]) -> Result<()>,
) -> Result<bool> {
    let mut statement = conn.prepare_cached(
        "SELECT part, parts, bytes, encoding, data FROM blobs WHERE digest = ?1 ORDER BY part",
    )?;
    let mut rows = statement.query([digest.hex()])?;
    let mut hash = Sha256::new();
    let mut found = 0;
    let mut expected = None;
    while let Some(row) = rows.next()? {
        let (part, parts, size, encoding, mut data): (i64, i64, i64, String, Vec<u8>) =
            row.try_into()?;
        expected = Some(parts);
        if encoding == ENCRYPTED {
            data = vault
                .and_then(|vault| vault.decrypt(&data, &part_name(digest, part)))
                .ok_or(EvidenceError::NotAvailable { digest: *digest })?;
        }
        let plain = decompressed(&data, size)?;
        hash.update(&plain);
        each(&plain)?;
        found += 1;
    }
    let Some(expected) = expected else { return Ok(false) };
    if found != expected || Digest::from_bytes(hash.finalize().into()) != *digest {
        return Err(unreadable(format!("content {digest}: it is not what was stored")));
    }
    Ok(true)
}

/// The plain size of a content, in bytes; 0 if the content does not exist or was purged.
pub(super) fn size(conn: &Connection, digest: &Digest) -> Result<u64> {
    let sql = "SELECT coalesce(sum(bytes), 0) FROM blobs WHERE digest = ?1";
    Ok(value::<i64>(conn, sql, [digest.hex()])?.unsigned_abs())
}

/// The first part of a content, for the index, which uses only the beginning. `None` if the content does not exist, was
/// purged, or is encrypted.
pub(super) fn read_start(conn: &Connection, digest: &Digest) -> Result<Option<Vec<u8>>> {
    let sql = "SELECT bytes, data FROM blobs WHERE digest = ?1 AND part = 0 AND encoding = ?2";
    let found =
        find::<(i64, Vec<u8>)>(conn, sql, [&digest.hex(), PLAIN], |row| Ok(row.try_into()?))?;
    found.map(|(size, data)| decompressed(&data, size)).transpose()
}

/// Decompresses a part. `size` is the plain size in the part's row, which is not trusted beyond [`PART_BYTES`].
fn decompressed(data: &[u8], size: i64) -> Result<Vec<u8>> {
    let size = usize::try_from(size).unwrap_or_default().min(PART_BYTES);
    zstd::bulk::decompress(data, size).map_err(|source| EvidenceError::Content { source })
}

/// The name of a part, which is authenticated with its encrypted bytes, so that parts cannot be exchanged.
fn part_name(digest: &Digest, part: i64) -> String {
    format!("{digest}/{part}")
}

/// A reference to a blob in place of a value. `bytes` is the size of the blob, `text` starts with the redacted
/// beginning of the value, and `captured` is the size of the original output.
fn blob_reference(
    blob: Digest,
    bytes: usize,
    text: &str,
    is_text: bool,
    captured: usize,
) -> StoredValue {
    let end = text.floor_char_boundary(HEAD_BYTES);
    let head = text.get(..end).unwrap_or_default();
    let mut reference = json!({ "blob": blob.to_string(), "bytes": bytes, "head": head });
    if let (Value::Object(fields), false) = (&mut reference, is_text) {
        fields.insert("encoding".to_owned(), "bytes".into());
    }
    let json = Cell::Word(super::ledger::canonical(&reference));
    StoredValue { json, blob: Some(blob), bytes: captured }
}
