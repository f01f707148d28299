//! Queries for stored contents: to show them, unless they are too large, and to save them.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::files::cannot_write;
use super::{Query, QueryContext, QueryError};
use crate::evidence::{EvidenceError, EvidenceReader};
use crate::plan::{Code, Digest};
use crate::run::Failure;

/// The maximum size of a content that is shown. A larger one can only be saved.
const MAX_SHOWN: u64 = 256 << 20;

/// Reads the stored content with this digest.
pub struct ReadContent(pub Digest);

/// The stored content with a digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// The content.
    Bytes(Vec<u8>),
    /// The evidence has no such content: it was purged, or never stored.
    Gone,
    /// The content is encrypted with another key.
    Sealed,
    /// The server of the team does not have the content.
    NotOnServer,
    /// The content has this many bytes, which is too large to show.
    TooLarge(u64),
}

impl Query for ReadContent {
    type Answer = Content;
    const FAILURE: &str = "The artifact cannot be read.";

    fn run(self, context: &mut QueryContext) -> Result<Content, QueryError> {
        Ok(content(&mut context.evidence, &self.0)?)
    }
}

/// Writes a content to a file that the person chose.
pub struct Save {
    /// The file.
    pub file: PathBuf,
    /// The content.
    pub source: SaveSource,
}

/// A content to write to a file.
#[derive(Debug, Clone)]
pub enum SaveSource {
    /// A text.
    Text(Arc<str>),
    /// A sequence of bytes.
    Bytes(Arc<[u8]>),
    /// A content in the evidence.
    Stored {
        /// The digest of the content.
        digest: Digest,
        /// Whether the content is a text that is stored as a JSON string and must be decoded.
        is_json_string: bool,
    },
}

impl Query for Save {
    type Answer = ();
    const FAILURE: &str = "The artifact could not be saved.";

    fn run(self, context: &mut QueryContext) -> Result<(), QueryError> {
        let (file, evidence) = (&self.file, &mut context.evidence);
        let written = match self.source {
            SaveSource::Text(text) => std::fs::write(file, &*text),
            SaveSource::Bytes(bytes) => std::fs::write(file, &*bytes),
            SaveSource::Stored { digest, is_json_string } => match content(evidence, &digest)? {
                Content::Bytes(bytes) if is_json_string => {
                    std::fs::write(file, decode_json_string(bytes))
                }
                Content::Bytes(bytes) => std::fs::write(file, bytes),
                // Only output can be this large, and output is not stored as a JSON string.
                Content::TooLarge(_) => save_chunks(evidence, &digest, file)?,
                Content::Gone | Content::NotOnServer => {
                    return Err(not_in_evidence(format!("content {digest}")).into());
                }
                Content::Sealed => return Err(EvidenceError::NotAvailable { digest }.into()),
            },
        };
        Ok(written.map_err(|error| cannot_write(file, &error, "Choose another place."))?)
    }
}

/// The failure for a record or content that the evidence does not have.
pub(super) fn not_in_evidence(what: String) -> Failure {
    Failure {
        code: Code::EvidenceStore,
        message: format!("the evidence has no {what}"),
        next: "Look it up on the evidence page.".to_owned(),
    }
}

/// Reads a content, unless it is too large to show.
fn content(evidence: &mut EvidenceReader, digest: &Digest) -> Result<Content, EvidenceError> {
    let size = evidence.blob_size(digest)?;
    if size > MAX_SHOWN {
        return Ok(Content::TooLarge(size));
    }
    match evidence.blob(digest) {
        Ok(Some(bytes)) => Ok(Content::Bytes(bytes)),
        Ok(None) => Ok(Content::Gone),
        Err(EvidenceError::NotAvailable { .. }) => Ok(Content::Sealed),
        Err(error) => Err(error),
    }
}

/// Writes a content chunk by chunk, so that it is never completely in memory. The outer result is for errors of the
/// evidence, the inner one for errors of the file.
fn save_chunks(
    evidence: &mut EvidenceReader,
    digest: &Digest,
    file: &Path,
) -> Result<io::Result<()>, EvidenceError> {
    let mut written = File::create(file);
    evidence.blob_parts(digest, |part| {
        if let Ok(open) = &mut written
            && let Err(error) = open.write_all(part)
        {
            written = Err(error);
        }
        Ok(())
    })?;
    Ok(written.map(drop))
}

/// Decodes a JSON string. Returns other content unchanged.
fn decode_json_string(bytes: Vec<u8>) -> Vec<u8> {
    let is_string = bytes.first() == Some(&b'"');
    match is_string.then(|| serde_json::from_slice::<String>(&bytes)) {
        Some(Ok(text)) => text.into_bytes(),
        _ => bytes,
    }
}
