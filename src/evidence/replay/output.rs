//! The excerpts of recorded outputs.

use serde_json::Value;

use super::super::EvidenceError;
use super::super::blobs;
use super::super::error::Result;
use super::super::source::Source;
use crate::run::{ArtifactRecord, StreamEnds, StreamExcerpt};

/// The excerpt of an output that the live result contained.
pub(super) fn output(
    source: &Source<'_>,
    tool_name: &str,
    artifact: &ArtifactRecord,
) -> Result<StreamExcerpt> {
    let Some(digest) = &artifact.blob else {
        let text = artifact.content.as_str().unwrap_or_default();
        return Ok(StreamExcerpt::of(tool_name, text.as_bytes()));
    };
    // A file has a size limit, but the output of a program may be too large for memory.
    let excerpt = if tool_name == "file_read" {
        let content = blobs::read(source.conn, source.vault, digest);
        content.map(|bytes| bytes.map(|bytes| StreamExcerpt::of(tool_name, &bytes)))
    } else {
        let mut ends = StreamEnds::default();
        let push = |part: &[u8]| {
            ends.push(part);
            Ok(())
        };
        let found = blobs::read_each(source.conn, source.vault, digest, push);
        found.map(|found| found.then(|| ends.excerpt()))
    };
    match excerpt {
        Ok(Some(excerpt)) => Ok(excerpt),
        // Purged, or encrypted with another key: only the beginning in the row can be shown.
        Ok(None) | Err(EvidenceError::NotAvailable { .. }) => Ok(StreamExcerpt {
            text: head(artifact).to_owned(),
            bytes: artifact.bytes,
            truncated: true,
        }),
        Err(error) => Err(error),
    }
}

fn head(artifact: &ArtifactRecord) -> &str {
    artifact.content.get("head").and_then(Value::as_str).unwrap_or_default()
}
