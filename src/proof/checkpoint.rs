//! Checkpoints (C2SP `tlog-checkpoint`): the size and the root of the tree of a log, as the text of a signed note.

use super::encoding::{base64, from_base64};
use super::error::NoteError;
use super::key::{SigningKey, VerifierKey};
use super::note::SignedNote;
use crate::plan::Digest;

/// A state of a log: of the evidence, whose records are the leaves of its tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The unique name of the log, which is also that of its key.
    pub origin: String,
    /// The number of leaves.
    pub size: u64,
    /// The root of the tree.
    pub root: Digest,
}

/// A checkpoint with the note that it is the text of. The key of its log has signed the note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedCheckpoint {
    /// The state of the log.
    pub checkpoint: Checkpoint,
    /// The note, which others may have signed, too.
    pub note: SignedNote,
}

impl SignedCheckpoint {
    /// Reads a note, and checks that the key of its log has signed it.
    ///
    /// # Errors
    /// When it is no note or no checkpoint, is one of another log, or is not signed by this key.
    pub fn parse(bytes: &[u8], key: &VerifierKey) -> Result<Self, NoteError> {
        let note = SignedNote::parse(bytes)?;
        note.verify(key)?;
        let checkpoint = Checkpoint::of(&note)?;
        if checkpoint.origin != key.name() {
            return Err(NoteError::OtherLog(checkpoint.origin));
        }
        Ok(Self { checkpoint, note })
    }
}

impl Checkpoint {
    /// The checkpoint as a note, signed by the key of the log; `None` if the origin is no name of a key.
    pub fn sign(self, key: &SigningKey) -> Option<SignedCheckpoint> {
        let text = format!("{}\n{}\n{}\n", self.origin, self.size, self.root_text());
        let note = SignedNote::sign(text, key, &self.origin)?;
        Some(SignedCheckpoint { checkpoint: self, note })
    }

    /// Reads the text of a note. Lines after the third are ignored.
    ///
    /// # Errors
    /// When it is no checkpoint.
    fn of(note: &SignedNote) -> Result<Self, NoteError> {
        let parsed = || {
            let mut lines = note.text().strip_suffix('\n')?.split('\n');
            let (origin, size, root) = (lines.next()?, lines.next()?, lines.next()?);
            let root: [u8; 32] = from_base64(root)?.try_into().ok()?;
            let checkpoint = Self {
                origin: origin.to_owned(),
                size: size.parse().ok()?,
                root: Digest::from_bytes(root),
            };
            // No other writing of the number, and no empty line.
            let is_exact = checkpoint.size.to_string() == size && !origin.is_empty();
            (is_exact && lines.all(|line| !line.is_empty())).then_some(checkpoint)
        };
        parsed().ok_or(NoteError::NoCheckpoint)
    }

    /// The root as the checkpoint has it, in base64.
    pub fn root_text(&self) -> String {
        base64(self.root.as_bytes())
    }
}
