//! The end of the planner's standard error for each attempt of a recorded loop (SPEC §10). It is in the attempt's row
//! or in a stored content to which the row refers.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::evidence::{EvidenceError, EvidenceReader};
use crate::plan::Digest;
use crate::run::LoopDetail;

/// The maximum size of the returned end of a stored content, in bytes. The page shows only a few lines.
const MAX_BYTES: usize = 16 << 10;

/// The standard error by number of the attempt. Attempts without output are omitted.
pub(super) fn planner_stderr(
    evidence: &mut EvidenceReader,
    detail: &LoopDetail,
) -> Result<BTreeMap<u32, String>, EvidenceError> {
    let mut by_attempt = BTreeMap::new();
    for attempt in &detail.attempts {
        let text = match attempt.planner_process.get("stderr") {
            Some(Value::String(text)) => text.clone(),
            Some(reference) => stored_end(evidence, reference)?,
            None => continue,
        };
        if !text.is_empty() {
            by_attempt.insert(attempt.attempt, text);
        }
    }
    Ok(by_attempt)
}

/// The end of the content to which `reference` in a row refers. If the content is not available, its beginning, which
/// the row contains.
fn stored_end(evidence: &mut EvidenceReader, reference: &Value) -> Result<String, EvidenceError> {
    let digest = reference.get("blob").and_then(Value::as_str).and_then(|hex| hex.parse().ok());
    let end = digest.map(|digest| content_end(evidence, &digest)).transpose()?.flatten();
    let head = || reference.get("head").and_then(Value::as_str).unwrap_or_default();
    Ok(end.unwrap_or_else(|| match head() {
        "" => String::new(),
        head => format!("{head}\n(The rest is not available.)"),
    }))
}

/// The end of a content; `None` if the content was purged or is encrypted with another key.
fn content_end(
    evidence: &mut EvidenceReader,
    digest: &Digest,
) -> Result<Option<String>, EvidenceError> {
    let mut end = Vec::new();
    let found = evidence.blob_parts(digest, |part| {
        let part = part.get(part.len().saturating_sub(MAX_BYTES)..).unwrap_or(part);
        end.extend_from_slice(part);
        let surplus = end.len().saturating_sub(MAX_BYTES);
        end.drain(..surplus);
        Ok(())
    });
    match found {
        Ok(true) => {
            // If the cut is inside a character, the rest of that character (UTF-8 continuation bytes) is dropped.
            let start = end.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count();
            let text = end.get(start..).unwrap_or_default();
            Ok(Some(String::from_utf8_lossy(text).into_owned()))
        }
        Ok(false) | Err(EvidenceError::NotAvailable { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
