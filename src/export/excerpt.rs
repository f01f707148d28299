//! The beginning and the end of a recorded output, and the other artifacts of a step that exports read.

use serde_json::Value;

use super::Result;
use crate::evidence::{EvidenceError, EvidenceReader};
use crate::run::{ArtifactRecord, DiagnosticArtifact, ExecutionDetail, TerminalSize};

/// The maximum number of bytes at the beginning and at the end.
const BEGINNING: usize = 12 << 10;
const END: usize = 4 << 10;

/// A part of an output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Excerpt {
    pub(super) beginning: String,
    /// What stands between the beginning and the end, in words; `None` if nothing is left out.
    pub(super) note: Option<String>,
    pub(super) end: String,
}

impl Excerpt {
    /// The beginning and the end of this output.
    ///
    /// # Errors
    /// When the evidence cannot be read.
    pub(super) fn of(reader: &mut EvidenceReader, output: &ArtifactRecord) -> Result<Self> {
        let Some(blob) = &output.blob else {
            let text = match &output.content {
                Value::String(text) => text.clone(),
                other => format!("{other:#}"),
            };
            let mut ends = Ends::default();
            ends.push(text.as_bytes());
            return Ok(ends.excerpt());
        };
        let mut ends = Ends::default();
        let found = reader.blob_parts(blob, |part| {
            ends.push(part);
            Ok(())
        });
        let why = match found {
            Ok(true) => return Ok(ends.excerpt()),
            Ok(false) => "was purged",
            Err(EvidenceError::NotAvailable { .. }) => "contains a secret and is encrypted",
            Err(error) => return Err(error.into()),
        };
        let head = output.content.get("head").and_then(Value::as_str);
        Ok(Self {
            beginning: head.unwrap_or_default().to_owned(),
            note: Some(format!("The rest of {} bytes {why}.", output.bytes)),
            end: String::new(),
        })
    }

    /// The whole excerpt, with the note on a line of its own.
    pub(super) fn text(&self) -> String {
        match &self.note {
            None => self.beginning.clone(),
            Some(note) => format!("{}\n[{note}]\n{}", self.beginning.trim_end(), self.end),
        }
    }
}

/// The context of a step: why it is in its plan, and whether it had a terminal. Null if it is not available.
///
/// # Errors
/// When the evidence cannot be read.
pub(super) fn context(reader: &mut EvidenceReader, step: &ExecutionDetail) -> Result<Value> {
    value(reader, step, "step_context")
}

/// The size that the terminal of a step had at its end; `None` if it had none, or none is recorded.
///
/// # Errors
/// When the evidence cannot be read.
pub(super) fn terminal_size(
    reader: &mut EvidenceReader,
    step: &ExecutionDetail,
) -> Result<Option<TerminalSize>> {
    let result = value(reader, step, "result")?;
    let terminal = result.get("terminal");
    let number = |name| terminal?.get(name)?.as_u64().and_then(|it| u16::try_from(it).ok());
    Ok(number("columns")
        .zip(number("rows"))
        .map(|(columns, rows)| TerminalSize::new(columns, rows)))
}

/// The first artifact of this type as JSON; null if there is none, or it is not available.
fn value(
    reader: &mut EvidenceReader,
    step: &ExecutionDetail,
    artifact_type: &str,
) -> Result<Value> {
    let Some(found) = step.artifacts.iter().find(|it| it.artifact_type == artifact_type) else {
        return Ok(Value::Null);
    };
    match reader.artifact_value(found) {
        Err(EvidenceError::NotAvailable { .. }) => Ok(Value::Null),
        value => Ok(value?),
    }
}

/// The diagnostics of an execution; none if their content was purged or cannot be read as diagnostics.
///
/// # Errors
/// When the evidence cannot be read.
pub(super) fn diagnostics(
    reader: &mut EvidenceReader,
    step: &ExecutionDetail,
) -> Result<Vec<DiagnosticArtifact>> {
    let found = value(reader, step, "diagnostics")?;
    Ok(serde_json::from_value(found).unwrap_or_default())
}

#[derive(Default)]
struct Ends {
    beginning: Vec<u8>,
    end: Vec<u8>,
    bytes: usize,
}

impl Ends {
    fn push(&mut self, part: &[u8]) {
        self.bytes += part.len();
        let room = BEGINNING.saturating_sub(self.beginning.len()).min(part.len());
        let (beginning, rest) = part.split_at(room);
        self.beginning.extend_from_slice(beginning);
        let kept = rest.get(rest.len().saturating_sub(END)..).unwrap_or(rest);
        self.end.extend_from_slice(kept);
        let surplus = self.end.len().saturating_sub(END);
        self.end.drain(..surplus);
    }

    fn excerpt(mut self) -> Excerpt {
        let left_out = self.bytes - self.beginning.len() - self.end.len();
        if left_out == 0 {
            self.beginning.append(&mut self.end);
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Excerpt {
            beginning: text(&self.beginning),
            note: (left_out > 0).then(|| format!("{left_out} bytes are left out here.")),
            end: text(&self.end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_output_keeps_its_beginning_and_its_end() {
        let whole: Vec<u8> = (0..40_000).map(|n| b'a' + (n % 26) as u8).collect();
        for (size, left_out) in [(100, 0), (BEGINNING + END, 0), (40_000, 40_000 - BEGINNING - END)]
        {
            for chunk in [1, 977, 40_000] {
                let mut ends = Ends::default();
                whole[..size].chunks(chunk).for_each(|part| ends.push(part));
                let excerpt = ends.excerpt();
                assert_eq!(excerpt.beginning.len() + excerpt.end.len() + left_out, size);
                assert!(whole.starts_with(excerpt.beginning.as_bytes()));
                assert!(whole[..size].ends_with(excerpt.end.as_bytes()));
                assert_eq!(excerpt.note.is_some(), left_out > 0, "{size} in {chunk}");
            }
        }
    }
}
