//! The end of a planner's standard error in a recorded loop (SPEC §10), from its row or from the stored content to
//! which the row refers.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::evidence::{EvidenceError, EvidenceReader};
use crate::plan::Digest;
use crate::run::LoopDetail;

/// The number of bytes that are read for each attempt. A page shows a few lines.
const LATEST_BYTES: usize = 16 << 10;

/// The output by attempt. Attempts without output are omitted.
pub(super) fn planner_stderr(
    evidence: &mut EvidenceReader,
    detail: &LoopDetail,
) -> Result<BTreeMap<u32, String>, EvidenceError> {
    let mut all = BTreeMap::new();
    for attempt in &detail.attempts {
        let text = match attempt.planner_process.get("stderr") {
            Some(Value::String(text)) => text.clone(),
            Some(stored) => of_stored(evidence, stored)?,
            None => continue,
        };
        if !text.is_empty() {
            all.insert(attempt.attempt, text);
        }
    }
    Ok(all)
}

fn of_stored(evidence: &mut EvidenceReader, stored: &Value) -> Result<String, EvidenceError> {
    let digest = stored.get("blob").and_then(Value::as_str).and_then(|hex| hex.parse().ok());
    let latest = digest.map(|digest| latest(evidence, &digest)).transpose()?.flatten();
    let head = || stored.get("head").and_then(Value::as_str).unwrap_or_default();
    Ok(latest.unwrap_or_else(|| match head() {
        "" => String::new(),
        head => format!("{head}\n(The rest is not available.)"),
    }))
}

/// The end of a content; `None` if it was purged or is encrypted with another key.
fn latest(evidence: &mut EvidenceReader, digest: &Digest) -> Result<Option<String>, EvidenceError> {
    let mut end = Vec::new();
    let found = evidence.blob_parts(digest, |part| {
        let part = part.get(part.len().saturating_sub(LATEST_BYTES)..).unwrap_or(part);
        end.extend_from_slice(part);
        let surplus = end.len().saturating_sub(LATEST_BYTES);
        end.drain(..surplus);
        Ok(())
    });
    match found {
        // The cut may be inside a character.
        Ok(true) => {
            let start = end.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count();
            let whole = end.get(start..).unwrap_or_default();
            Ok(Some(String::from_utf8_lossy(whole).into_owned()))
        }
        Ok(false) | Err(EvidenceError::NotAvailable { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
