//! Contents by their digest: compressed, in parts, encrypted where they hold a secret (SPEC §8).

use rusqlite::Connection;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::append::{Appender, Cell};
use super::capture::{CapturedContent, CapturedStream, Large};
use super::chunks::Chunks;
use super::error::{EvidenceError, Result};
use super::reader::EvidenceReader;
use super::rows::{find, unreadable, value};
use super::spill_file::{PART_BYTES, PLAIN_PART_BYTES, Parts, SpillFile, Spilled};
use super::vault::Vault;
use crate::plan::Digest;
use crate::run::Decoder;

/// Largest value that stands in its row, in bytes of its text.
const INLINE_BYTES: usize = 4 << 10;
/// How much of a larger value its row shows, in bytes.
const HEAD_BYTES: usize = 1 << 10;
/// Fast; contents are compressed while a run waits for it.
const LEVEL: i32 = 3;

const PLAIN: &str = "zstd";
const SEALED: &str = "zstd+xchacha20poly1305";

/// A value as its row holds it.
pub(super) struct Stored {
    pub(super) json: Cell,
    pub(super) blob: Option<Digest>,
    /// Size of what was captured.
    pub(super) bytes: usize,
}

impl Appender<'_> {
    /// Keeps exact bytes under their digest; encrypted when a secret is in them.
    pub(super) fn exact_blob(&mut self, digest: &Digest, bytes: &[u8]) -> Result<()> {
        if self.is_settled(digest)? {
            return Ok(());
        }
        let sealed = self.is_secret(bytes);
        self.blob(digest, bytes, sealed)
    }

    /// A JSON value for a column: the value, or a reference to its blob.
    pub(super) fn json_value(&mut self, value: Value) -> Result<Stored> {
        let text = self.hidden_json(value);
        let bytes = text.len();
        if bytes <= INLINE_BYTES {
            return Ok(Stored { json: Cell::Word(text), blob: None, bytes });
        }
        self.redacted_blob(&text, bytes)
    }

    /// Captured output for a column: as [`Self::output_value`], one part at a time.
    pub(super) fn captured_value(&mut self, output: &CapturedStream) -> Result<Stored> {
        let Large { spilled, sight } = match &output.content {
            CapturedContent::Small(bytes) => return self.output_value(bytes),
            CapturedContent::Large(large) => &**large,
        };
        let captured = spilled.bytes;
        let head = self.hidden(&String::from_utf8_lossy(&sight.head));
        if sight.is_text() && (sight.has_secret || self.knows_secrets()) {
            let hidden = self.hidden_parts(&spilled.spool)?;
            self.spilled_blob(&hidden, false)?;
            return Ok(apart(hidden.digest, hidden.bytes, &head, true, captured));
        }
        self.spilled_blob(spilled, sight.has_secret || self.knows_secrets())?;
        Ok(apart(spilled.digest, captured, &head, sight.is_text(), captured))
    }

    /// The same text with a marker in place of each secret.
    fn hidden_parts(&self, spool: &SpillFile) -> Result<Spilled> {
        let (mut decoder, mut chunks, mut parts) =
            (Decoder::default(), Chunks::default(), Parts::default());
        for number in 0..spool.parts() {
            chunks.push(&decoder.push(&spool.plain(number)?));
            let hidden = self.hidden_stretch(&mut chunks, false);
            parts.push(hidden.as_bytes(), || spool.another(), |_| {})?;
        }
        let hidden = self.hidden_stretch(&mut chunks, true);
        parts.push(hidden.as_bytes(), || spool.another(), |_| {})?;
        parts.finish(|| spool.another(), |_| {})
    }

    /// Captured output for a column: a JSON string, or a reference to its blob. Bytes that are not UTF-8
    /// are always kept apart and exactly, with `"encoding": "bytes"` beside a readable head.
    pub(super) fn output_value(&mut self, output: &[u8]) -> Result<Stored> {
        match std::str::from_utf8(output) {
            Ok(text) => {
                let text = self.hidden(text);
                if text.len() <= INLINE_BYTES {
                    let json = Cell::Word(Value::from(text).to_string());
                    return Ok(Stored { json, blob: None, bytes: output.len() });
                }
                self.redacted_blob(&text, output.len())
            }
            Err(_) => {
                let digest = Digest::of(output);
                self.exact_blob(&digest, output)?;
                let readable = self.hidden(&String::from_utf8_lossy(output));
                Ok(apart(digest, output.len(), &readable, false, output.len()))
            }
        }
    }

    fn redacted_blob(&mut self, text: &str, captured: usize) -> Result<Stored> {
        let digest = Digest::of(text.as_bytes());
        if !self.is_settled(&digest)? {
            self.blob(&digest, text.as_bytes(), false)?;
        }
        Ok(apart(digest, text.len(), text, true, captured))
    }

    /// Whether nothing needs to be stored: the blob exists, or a person purged it.
    fn is_settled(&self, digest: &Digest) -> Result<bool> {
        let sql = "SELECT 1 FROM blobs WHERE digest = ?1
                   UNION ALL SELECT 1 FROM purges WHERE digest = ?1";
        Ok(self.tx().prepare_cached(sql)?.exists([digest.hex()])?)
    }

    fn blob(&mut self, digest: &Digest, bytes: &[u8], sealed: bool) -> Result<()> {
        let parts = bytes.len().div_ceil(PLAIN_PART_BYTES).max(1);
        for part in 0..parts {
            let start = part * PLAIN_PART_BYTES;
            let end = bytes.len().min(start + PLAIN_PART_BYTES);
            let plain = bytes.get(start..end).unwrap_or_default();
            let data = zstd::bulk::compress(plain, LEVEL)
                .map_err(|source| EvidenceError::Content { source })?;
            self.part(digest, (part, parts), plain.len(), data, sealed)?;
        }
        Ok(())
    }

    /// Keeps what is spilled, unless it is there.
    fn spilled_blob(&mut self, spilled: &Spilled, sealed: bool) -> Result<()> {
        if self.is_settled(&spilled.digest)? {
            return Ok(());
        }
        let parts = spilled.spool.parts();
        for part in 0..parts {
            let (plain, data) = spilled.spool.part(part)?;
            self.part(&spilled.digest, (part, parts), plain, data, sealed)?;
        }
        Ok(())
    }

    fn part(
        &mut self,
        digest: &Digest,
        (part, parts): (usize, usize),
        plain: usize,
        mut data: Vec<u8>,
        sealed: bool,
    ) -> Result<()> {
        if sealed {
            data = self.vault.seal(&data, &place_name(digest, part as i64))?;
        }
        self.insert(
            "blobs",
            [
                ("digest", (*digest).into()),
                ("part", part.into()),
                ("parts", parts.into()),
                ("bytes", plain.into()),
                ("encoding", Cell::word(if sealed { SEALED } else { PLAIN })),
                ("data", Cell::Bytes(data)),
            ],
        )
    }
}

impl EvidenceReader {
    /// The content with this digest; `None` when there is none or it was purged.
    ///
    /// # Errors
    /// [`NotAvailable`](super::EvidenceError::NotAvailable) when it is encrypted under another key.
    pub fn blob(&mut self, digest: &Digest) -> Result<Option<Vec<u8>>> {
        self.ask(|source| read(source.conn, source.vault, digest))
    }

    /// The same, a part at a time, so that it need not fit into memory; false when there is none. When
    /// this fails, discard the parts: the digest is checked at the end.
    ///
    /// # Errors
    /// As [`blob`](Self::blob), and what `each` fails with.
    pub fn blob_parts(
        &mut self,
        digest: &Digest,
        each: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<bool> {
        self.ask(|source| read_each(source.conn, source.vault, digest, each))
    }

    /// The size of the content with this digest in bytes; 0 when there is none.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn blob_size(&mut self, digest: &Digest) -> Result<u64> {
        self.ask(|source| size(source.conn, digest))
    }
}

/// The content with this digest; `None` when there is none or it was purged.
///
/// # Errors
/// [`EvidenceError::NotAvailable`] when it is encrypted under another key than this.
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

/// Same as [`read`], one part at a time; false when there is none. The digest is checked at
/// the end: discard everything made of the parts when this fails.
///
/// # Errors
/// As [`read`], and what `each` fails with.
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
        if encoding == SEALED {
            data = vault
                .and_then(|vault| vault.unseal(&data, &place_name(digest, part)))
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

/// The plain size of a content; 0 when there is none.
pub(super) fn size(conn: &Connection, digest: &Digest) -> Result<u64> {
    let sql = "SELECT coalesce(sum(bytes), 0) FROM blobs WHERE digest = ?1";
    Ok(value::<i64>(conn, sql, [digest.hex()])?.unsigned_abs())
}

/// The first part of a content that is not sealed; enough for an index and never the whole of a huge
/// output. `None` when there is none, it was purged, or it is sealed.
pub(super) fn read_start(conn: &Connection, digest: &Digest) -> Result<Option<Vec<u8>>> {
    let sql = "SELECT bytes, data FROM blobs WHERE digest = ?1 AND part = 0 AND encoding = ?2";
    let found =
        find::<(i64, Vec<u8>)>(conn, sql, [&digest.hex(), PLAIN], |row| Ok(row.try_into()?))?;
    found.map(|(size, data)| decompressed(&data, size)).transpose()
}

/// The plain bytes of a part, which the row says to be so many.
fn decompressed(data: &[u8], size: i64) -> Result<Vec<u8>> {
    let size = usize::try_from(size).unwrap_or_default().min(PART_BYTES);
    zstd::bulk::decompress(data, size).map_err(|source| EvidenceError::Content { source })
}

/// Authenticated data of a sealed part, so that parts cannot be exchanged.
fn place_name(digest: &Digest, part: i64) -> String {
    format!("{digest}/{part}")
}

/// A reference to a blob, in place of a value. `bytes` is the size of the blob, and `text` begins like it; `captured`
/// is the size of what was captured.
fn apart(blob: Digest, bytes: usize, text: &str, is_text: bool, captured: usize) -> Stored {
    let end = text.floor_char_boundary(HEAD_BYTES);
    let head = text.get(..end).unwrap_or_default();
    let mut place = json!({ "blob": blob.to_string(), "bytes": bytes, "head": head });
    if let (Value::Object(place), false) = (&mut place, is_text) {
        place.insert("encoding".to_owned(), "bytes".into());
    }
    let json = Cell::Word(super::ledger::canonical(&place));
    Stored { json, blob: Some(blob), bytes: captured }
}
