//! Errors of exports.

use std::io;
use std::path::PathBuf;

use uuid::Uuid;

use crate::evidence::EvidenceError;
use crate::plan::Code;
use crate::run::Failure;

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
    #[error("the evidence has no such record, or it was purged")]
    NoRecord,
    #[error("these records are later than the checkpoint, which has {0} records")]
    Later(u64),
    #[error(
        "the checkpoint of {0} records is not one of this evidence as it is: run `countersign evidence checkpoint \
         --verify FILE`"
    )]
    OtherCheckpoint(u64),
    #[error("record {0} was changed after it was written")]
    Changed(i64),
    #[error("run {0} is under way")]
    UnderWay(Uuid),
    #[error("run {0} has no verification that passed or failed")]
    NoVerification(Uuid),
    #[error("an asciicast or a case file is of one run, and none is named")]
    OneRun,
    #[error("an export cannot be in the folder of the evidence, the key or the kept heads")]
    OwnFolder,
    #[error("an export cannot replace the settings file")]
    Settings,
    #[error("{} exists already", .0.display())]
    Exists(PathBuf),
    #[error("{} is no regular file, and is not replaced", .0.display())]
    NoFile(PathBuf),
}

impl ExportError {
    /// The failure for the person.
    pub fn failure(&self) -> Failure {
        let (code, next) = match self {
            Self::Evidence(error) => return error.failure(),
            Self::Write(_) => {
                (Code::WriteFailed, "See that the file can be written, then try again.")
            }
            Self::Stopped => (Code::Cancelled, "Nothing is left of it."),
            Self::NoRun(_) | Self::OneRun => (Code::EvidenceStore, "Choose a run."),
            Self::NoRecord => (Code::EvidenceStore, "Look the id up with `evidence search`."),
            Self::Changed(_) => (
                Code::EvidenceStore,
                "Find out what changed it: run `countersign evidence verify`.",
            ),
            Self::Later(_) => (Code::EvidenceStore, "Make a new checkpoint."),
            Self::OtherCheckpoint(_) => (Code::EvidenceStore, "Use another checkpoint."),
            Self::UnderWay(_) => (Code::EvidenceStore, "Wait for its end."),
            Self::NoVerification(_) => (Code::EvidenceStore, "Attest the run itself."),
            Self::OwnFolder => (Code::WriteFailed, "Choose another folder."),
            Self::Exists(_) | Self::NoFile(_) | Self::Settings => {
                (Code::WriteFailed, "Choose another name.")
            }
        };
        Failure { code, message: self.to_string(), next: next.to_owned() }
    }
}

impl From<zip::result::ZipError> for ExportError {
    fn from(error: zip::result::ZipError) -> Self {
        Self::Write(error.into())
    }
}

/// The result type of this room.
pub type Result<T, E = ExportError> = std::result::Result<T, E>;
