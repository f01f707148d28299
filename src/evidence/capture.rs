//! Captures the output of a program for the evidence while the program runs (SPEC §7.2, §8).
//!
//! Output is split into the parts of its blob, compressed, and searched for secrets while it arrives, so that only a
//! few parts are in memory. The appender writes the rows later, in the transaction of the execution.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ArtifactType;
use super::chunks::Chunks;
use super::error::Result;
use super::redact::KnownSecrets;
use super::spill_file::{Parts, SpillFile, Spilled};
use super::vault::Vault;
use crate::run::{Decoder, Stream};

/// The maximum size of the beginning of a stream that stays in memory, in bytes. The row contains less of it; the rest
/// makes a secret recognizable that begins in that part.
const HEAD_BYTES: usize = 128 << 10;

/// Captures the output of one step's program.
pub struct OutputCapture {
    stdout: StreamCapture,
    stderr: StreamCapture,
    dir: PathBuf,
    vault: Arc<Vault>,
}

impl OutputCapture {
    pub(super) fn new(dir: &Path, vault: &Arc<Vault>) -> Self {
        Self {
            stdout: StreamCapture::default(),
            stderr: StreamCapture::default(),
            dir: dir.to_owned(),
            vault: Arc::clone(vault),
        }
    }

    /// Captures the next bytes of a stream.
    ///
    /// # Errors
    /// When the bytes cannot be stored. The capture is then incomplete and must be dropped.
    pub fn put(&mut self, stream: Stream, bytes: &[u8]) -> Result<()> {
        let StreamCapture { parts, scan } = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        let create = || SpillFile::new(&self.dir, &self.vault);
        parts.push(bytes, create, |part| scan.push(part, false))
    }

    /// Completes the capture of both streams.
    ///
    /// # Errors
    /// When the last parts cannot be stored.
    pub fn finish(self) -> Result<CapturedOutput> {
        let Self { stdout, stderr, dir, vault } = self;
        let finish = |capture: StreamCapture, kind| -> Result<CapturedStream> {
            let StreamCapture { mut parts, mut scan } = capture;
            let content = match parts.take_small() {
                Some(bytes) => CapturedContent::Small(bytes),
                None => {
                    let last = |part: &[u8]| scan.push(part, false);
                    let spilled = parts.finish(|| SpillFile::new(&dir, &vault), last)?;
                    scan.push(&[], true);
                    CapturedContent::Large(Box::new(Large { spilled, scan }))
                }
            };
            Ok(CapturedStream { kind, content })
        };
        let streams =
            [finish(stdout, ArtifactType::Stdout)?, finish(stderr, ArtifactType::Stderr)?];
        Ok(CapturedOutput { streams })
    }
}

/// The capture of one stream.
#[derive(Default)]
struct StreamCapture {
    parts: Parts,
    scan: SecretScan,
}

/// A scan of one stream for secrets.
#[derive(Default)]
pub(super) struct SecretScan {
    decoder: Decoder,
    chunks: Chunks,
    /// The beginning, not redacted.
    pub(super) head: Vec<u8>,
    /// The secrets that rules have found.
    pub(super) known: KnownSecrets,
    pub(super) has_secret: bool,
}

impl SecretScan {
    /// Whether the complete stream is UTF-8.
    pub(super) fn is_text(&self) -> bool {
        self.decoder.is_exact()
    }

    /// Scans the next part of the stream.
    fn push(&mut self, part: &[u8], is_last: bool) {
        let length = HEAD_BYTES.saturating_sub(self.head.len()).min(part.len());
        self.head.extend_from_slice(part.get(..length).unwrap_or_default());
        self.chunks.push(&self.decoder.push(part));
        if is_last {
            self.chunks.push(self.decoder.end());
        }
        // Known secrets are searched for when the stream is recorded, because only then all of them are known.
        let chunk = self.chunks.take(&KnownSecrets::default(), is_last);
        self.has_secret |= chunk.learn(&mut self.known);
    }
}

/// The complete output of a program.
pub struct CapturedOutput {
    streams: [CapturedStream; 2],
}

impl fmt::Debug for CapturedOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CapturedOutput")
    }
}

impl CapturedOutput {
    pub(super) fn streams(&self) -> &[CapturedStream] {
        &self.streams
    }
}

/// One captured stream.
pub(super) struct CapturedStream {
    pub(super) kind: ArtifactType,
    pub(super) content: CapturedContent,
}

/// The content of a captured stream.
pub(super) enum CapturedContent {
    /// In memory, because it is not larger than one part.
    Small(Vec<u8>),
    Large(Box<Large>),
}

/// A content in a spill file, with the result of its scan.
pub(super) struct Large {
    pub(super) spilled: Spilled,
    pub(super) scan: SecretScan,
}
