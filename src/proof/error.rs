//! Errors of notes, checkpoints and keys.

/// Why a note, a checkpoint or a key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// The bytes are no note.
    #[error("it is no signed note")]
    NoNote,
    /// The text of the note is no checkpoint.
    #[error("its text is no checkpoint")]
    NoCheckpoint,
    /// The checkpoint has another origin than the name of the key.
    #[error("it is a checkpoint of another log, {0}")]
    OtherLog(String),
    /// The text is no verifier key, or one of another kind than Ed25519.
    #[error("a verifier key is NAME+ID+KEY, for Ed25519")]
    Key,
    /// No signature of the note is of the key.
    #[error("it is not signed by {0}")]
    NotSigned(String),
    /// A signature that names the key is of another one, or of another text.
    #[error("the signature of {0} is not one of this text")]
    BadSignature(String),
}
