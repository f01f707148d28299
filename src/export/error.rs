//! Errors of exports.

use std::io;

use uuid::Uuid;

use crate::evidence::EvidenceError;

/// Why an export ended without a complete result.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each variant is described by its message")]
pub enum ExportError {
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
    #[error("the export cannot be written: {0}")]
    Write(#[from] io::Error),
    #[error("the export was stopped")]
    Stopped,
    #[error("the evidence has no run {0}")]
    NoRun(Uuid),
    #[error("an asciicast is the output of one run: name it with --run")]
    OneRun,
}

impl From<zip::result::ZipError> for ExportError {
    fn from(error: zip::result::ZipError) -> Self {
        Self::Write(error.into())
    }
}

/// The result type of this room.
pub type Result<T, E = ExportError> = std::result::Result<T, E>;
