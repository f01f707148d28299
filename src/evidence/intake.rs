//! The output of a program on its way into the evidence, while the program runs (SPEC §7.2, §8).
//!
//! It is cut into the parts that the blob will have, compressed, and searched for secrets as it comes; at
//! most a few parts are in memory. Rows are written from it later, by the one funnel, in the transaction of
//! the execution that it belongs to.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::artifact_type::ArtifactType;
use super::error::Result;
use super::redact::{KnownSecrets, Redactor};
use super::spool::{Parts, Spool, Spooled};
use super::vault::Vault;
use super::window::Window;
use crate::run::{Decoder, Stream};

/// How much of the beginning is kept beside the parts, for the head that the row shows: enough that a
/// secret which begins in it is whole.
const HEAD_BYTES: usize = 128 << 10;

/// Takes in what the program of one step prints.
pub struct Intake {
    stdout: Incoming,
    stderr: Incoming,
    dir: PathBuf,
    redactor: Arc<Redactor>,
    vault: Arc<Vault>,
}

impl fmt::Debug for Intake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Intake")
    }
}

impl Intake {
    pub(super) fn new(dir: &Path, redactor: &Arc<Redactor>, vault: &Arc<Vault>) -> Self {
        Self {
            stdout: Incoming::default(),
            stderr: Incoming::default(),
            dir: dir.to_owned(),
            redactor: Arc::clone(redactor),
            vault: Arc::clone(vault),
        }
    }

    /// Takes in the next bytes of an output.
    ///
    /// # Errors
    /// When they cannot be kept; the output is then not complete, and nothing may be recorded of it.
    pub fn put(&mut self, stream: Stream, bytes: &[u8]) -> Result<()> {
        let Self { dir, redactor, vault, .. } = self;
        let incoming = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        let Incoming { parts, sight } = incoming;
        parts.push(bytes, || Spool::new(dir, vault), |part| sight.look(redactor, part, false))
    }

    /// Both outputs as they may be recorded.
    ///
    /// # Errors
    /// When their ends cannot be kept.
    pub fn finish(self) -> Result<Taken> {
        let Self { stdout, stderr, dir, redactor, vault } = self;
        let finish = |incoming: Incoming, kind| -> Result<TakenStream> {
            let Incoming { mut parts, mut sight } = incoming;
            let content = match parts.take_small() {
                Some(bytes) => TakenContent::Small(bytes),
                None => {
                    let last = |part: &[u8]| sight.look(&redactor, part, false);
                    let spooled = parts.finish(|| Spool::new(&dir, &vault), last)?;
                    sight.look(&redactor, &[], true);
                    TakenContent::Large(Box::new(Large { spooled, sight }))
                }
            };
            Ok(TakenStream { kind, content })
        };
        let streams =
            [finish(stdout, ArtifactType::Stdout)?, finish(stderr, ArtifactType::Stderr)?];
        Ok(Taken { streams })
    }
}

#[derive(Default)]
struct Incoming {
    parts: Parts,
    sight: Sight,
}

/// What was seen in an output.
#[derive(Default)]
pub(super) struct Sight {
    decoder: Decoder,
    window: Window,
    /// The beginning, not hidden.
    pub(super) head: Vec<u8>,
    pub(super) known: KnownSecrets,
    pub(super) has_secret: bool,
}

impl Sight {
    /// Whether all of it is UTF-8.
    pub(super) fn is_text(&self) -> bool {
        self.decoder.is_exact()
    }

    fn look(&mut self, redactor: &Redactor, part: &[u8], is_last: bool) {
        let room = HEAD_BYTES.saturating_sub(self.head.len()).min(part.len());
        self.head.extend_from_slice(part.get(..room).unwrap_or_default());
        self.window.push(&self.decoder.push(part));
        if is_last {
            self.window.push(self.decoder.end());
        }
        // Known ones are looked for when it is recorded: then all of them are known.
        let stretch = self.window.take(redactor, &KnownSecrets::default(), is_last);
        self.has_secret |= stretch.learn(&mut self.known);
    }
}

/// What a program printed, complete.
pub struct Taken {
    streams: [TakenStream; 2],
}

impl fmt::Debug for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Taken")
    }
}

impl Taken {
    pub(super) fn streams(&self) -> &[TakenStream] {
        &self.streams
    }
}

/// One output.
pub(super) struct TakenStream {
    pub(super) kind: ArtifactType,
    pub(super) content: TakenContent,
}

/// An output as it is at hand.
pub(super) enum TakenContent {
    /// In memory, because it did not fill a part.
    Small(Vec<u8>),
    Large(Box<Large>),
}

/// An output that is only on the disk.
pub(super) struct Large {
    pub(super) spooled: Spooled,
    pub(super) sight: Sight,
}
