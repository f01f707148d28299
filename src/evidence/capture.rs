//! Captures the output of a program for the evidence while the program runs (SPEC §7.2, §8).
//!
//! Output is split into the parts of its blob, compressed, and searched for secrets while it arrives; at most a few
//! parts are in memory. The appender writes the rows later, in the transaction of the execution.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::artifact_type::ArtifactType;
use super::chunks::Chunks;
use super::error::Result;
use super::redact::KnownSecrets;
use super::spill_file::{Parts, SpillFile, Spilled};
use super::vault::Vault;
use crate::run::{Decoder, Stream};

/// The size of the beginning that is kept in memory for the head in the row, in bytes. It is large enough to contain
/// a whole secret that begins in the head.
const HEAD_BYTES: usize = 128 << 10;

/// Captures the output of one step's program.
pub struct OutputCapture {
    stdout: Incoming,
    stderr: Incoming,
    dir: PathBuf,
    vault: Arc<Vault>,
}

impl fmt::Debug for OutputCapture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OutputCapture")
    }
}

impl OutputCapture {
    pub(super) fn new(dir: &Path, vault: &Arc<Vault>) -> Self {
        Self {
            stdout: Incoming::default(),
            stderr: Incoming::default(),
            dir: dir.to_owned(),
            vault: Arc::clone(vault),
        }
    }

    /// Captures the next bytes of an output.
    ///
    /// # Errors
    /// When they cannot be stored; the output is then incomplete, and none of it may be recorded.
    pub fn put(&mut self, stream: Stream, bytes: &[u8]) -> Result<()> {
        let Incoming { parts, sight } = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        let spool = || SpillFile::new(&self.dir, &self.vault);
        parts.push(bytes, spool, |part| sight.look(part, false))
    }

    /// Both outputs in the form in which they can be recorded.
    ///
    /// # Errors
    /// When the last parts cannot be stored.
    pub fn finish(self) -> Result<CapturedOutput> {
        let Self { stdout, stderr, dir, vault } = self;
        let finish = |incoming: Incoming, kind| -> Result<CapturedStream> {
            let Incoming { mut parts, mut sight } = incoming;
            let content = match parts.take_small() {
                Some(bytes) => CapturedContent::Small(bytes),
                None => {
                    let last = |part: &[u8]| sight.look(part, false);
                    let spilled = parts.finish(|| SpillFile::new(&dir, &vault), last)?;
                    sight.look(&[], true);
                    CapturedContent::Large(Box::new(Large { spilled, sight }))
                }
            };
            Ok(CapturedStream { kind, content })
        };
        let streams =
            [finish(stdout, ArtifactType::Stdout)?, finish(stderr, ArtifactType::Stderr)?];
        Ok(CapturedOutput { streams })
    }
}

#[derive(Default)]
struct Incoming {
    parts: Parts,
    sight: Sight,
}

/// What is known about an output after scanning it.
#[derive(Default)]
pub(super) struct Sight {
    decoder: Decoder,
    chunks: Chunks,
    /// The beginning, not redacted.
    pub(super) head: Vec<u8>,
    pub(super) known: KnownSecrets,
    pub(super) has_secret: bool,
}

impl Sight {
    /// Whether the whole output is UTF-8.
    pub(super) fn is_text(&self) -> bool {
        self.decoder.is_exact()
    }

    fn look(&mut self, part: &[u8], is_last: bool) {
        let room = HEAD_BYTES.saturating_sub(self.head.len()).min(part.len());
        self.head.extend_from_slice(part.get(..room).unwrap_or_default());
        self.chunks.push(&self.decoder.push(part));
        if is_last {
            self.chunks.push(self.decoder.end());
        }
        // Known secrets are searched for when the output is recorded, because they are complete only then.
        let stretch = self.chunks.take(&KnownSecrets::default(), is_last);
        self.has_secret |= stretch.learn(&mut self.known);
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

/// One of the two outputs.
pub(super) struct CapturedStream {
    pub(super) kind: ArtifactType,
    pub(super) content: CapturedContent,
}

/// The place of a captured output.
pub(super) enum CapturedContent {
    /// In memory, because it is smaller than one part.
    Small(Vec<u8>),
    Large(Box<Large>),
}

/// An output in a spill file.
pub(super) struct Large {
    pub(super) spilled: Spilled,
    pub(super) sight: Sight,
}
