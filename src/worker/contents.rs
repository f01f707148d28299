//! Contents of the evidence for the window: to be shown, where they are not too large, and to be saved.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use super::answers::{Content, ToSave};
use super::messages::Reply;
use crate::evidence::{EvidenceError, EvidenceReader};
use crate::plan::{Code, Digest};
use crate::run::Failure;

/// A content that is larger is not shown, but it can be saved.
const MOST_SHOWN: u64 = 256 << 20;

/// The answer about what is not there.
pub(super) fn missing(what: String) -> Reply {
    Reply::Failed(Failure {
        code: Code::EvidenceStore,
        message: format!("the evidence has no {what}"),
        next: "Look it up on the evidence page.".to_owned(),
    })
}

/// What there is of a content for a window.
pub(super) fn content(
    evidence: &mut EvidenceReader,
    digest: &Digest,
) -> Result<Content, EvidenceError> {
    let size = evidence.blob_size(digest)?;
    if size > MOST_SHOWN {
        return Ok(Content::TooLarge(size));
    }
    match evidence.blob(digest) {
        Ok(Some(bytes)) => Ok(Content::Bytes(bytes)),
        Ok(None) => Ok(Content::Gone),
        Err(EvidenceError::NotAvailable { .. }) => Ok(Content::Sealed),
        Err(error) => Err(error),
    }
}

/// Writes a content to a file of the person's choice.
pub(super) fn save(
    evidence: &mut EvidenceReader,
    file: &Path,
    what: ToSave,
) -> Result<Reply, EvidenceError> {
    let written = match what {
        ToSave::Text(text) => std::fs::write(file, &*text),
        ToSave::Bytes(bytes) => std::fs::write(file, &*bytes),
        ToSave::Kept { digest, unquoted } => match content(evidence, &digest)? {
            Content::Bytes(bytes) if unquoted => std::fs::write(file, as_text(bytes)),
            Content::Bytes(bytes) => std::fs::write(file, bytes),
            // Only what was printed is so large, and that is kept as it came.
            Content::TooLarge(_) => save_parts(evidence, &digest, file)?,
            Content::Gone => return Ok(missing(format!("content {digest}"))),
            Content::Sealed => return Err(EvidenceError::NotAvailable { digest }),
        },
    };
    Ok(match written {
        Ok(()) => Reply::Saved,
        Err(error) => Reply::Failed(Failure {
            code: Code::WriteFailed,
            message: format!("cannot write {}: {error}", file.display()),
            next: "Choose another place.".to_owned(),
        }),
    })
}

/// Writes a content without ever having all of it in memory.
fn save_parts(
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

/// A text that is kept as a JSON string as that text; everything else as it is.
fn as_text(bytes: Vec<u8>) -> Vec<u8> {
    let is_string = bytes.first() == Some(&b'"');
    match is_string.then(|| serde_json::from_slice::<String>(&bytes)) {
        Some(Ok(text)) => text.into_bytes(),
        _ => bytes,
    }
}
