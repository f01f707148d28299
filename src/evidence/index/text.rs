//! Builds the searchable texts of an execution from its rows.

use serde_json::Value;

use super::MARK;
use crate::evidence::error::Result;
use crate::evidence::source::Source;
use crate::evidence::{blobs, queries};
use crate::run::{ArtifactRecord, Execution};

/// The maximum size of the indexed beginning of a text, in bytes.
const TEXT_BYTES: usize = 1 << 20;

/// The texts of an execution, by field. Its artifacts are read once, when the first of them is needed.
pub(in crate::evidence) struct FieldTexts<'s> {
    source: &'s Source<'s>,
    row: &'s Execution,
    artifacts: Option<Vec<ArtifactRecord>>,
}

impl<'s> FieldTexts<'s> {
    pub(in crate::evidence) fn new(source: &'s Source<'s>, row: &'s Execution) -> Self {
        Self { source, row, artifacts: None }
    }

    /// The text of one index field; empty if there is none.
    ///
    /// # Errors
    /// When the evidence cannot be read.
    pub(in crate::evidence) fn field(&mut self, field: &str) -> Result<String> {
        let id = self.row.execution_id.to_string();
        let text = match field {
            "tool" => self.row.tool_name.clone(),
            "arguments" => flat_text(&queries::arguments(self.source, &id)?),
            "error" => self.row.error_message.clone().unwrap_or_default(),
            _ => {
                let artifacts = match self.artifacts.take() {
                    Some(artifacts) => artifacts,
                    None => queries::artifacts(self.source, &id)?,
                };
                // An execution has at most one artifact of each type. If another program added one, the last is shown.
                let found = artifacts.iter().rfind(|artifact| artifact.artifact_type == field);
                let text =
                    found.map(|artifact| artifact_text(self.source, artifact)).transpose()?;
                self.artifacts = Some(artifacts);
                text.unwrap_or_default()
            }
        };
        Ok(searchable(&text))
    }
}

/// The text of an artifact, from its value, from the first part of its blob, or from the beginning in its row if the
/// blob is not text, is encrypted or was purged.
pub(super) fn artifact_text(source: &Source<'_>, artifact: &ArtifactRecord) -> Result<String> {
    let Some(digest) = &artifact.blob else { return Ok(flat_text(&artifact.content)) };
    let head = || {
        let head = artifact.content.get("head").and_then(Value::as_str);
        head.unwrap_or_default().to_owned()
    };
    // The blob is not text, and may be encrypted.
    if artifact.content.get("encoding").is_some() {
        return Ok(head());
    }
    let Some(bytes) = blobs::read_start(source.conn, digest)? else { return Ok(head()) };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    match artifact.artifact_type.as_str() {
        "stdout" | "stderr" => Ok(text),
        _ => Ok(serde_json::from_str(&text).map_or(text, |value| flat_text(&value))),
    }
}

/// The strings and numbers of a JSON value, one per line, without the names of fields.
pub(super) fn flat_text(value: &Value) -> String {
    fn collect(value: &Value, text: &mut String) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => push(text, &number.to_string()),
            Value::String(string) => push(text, string),
            Value::Array(items) => items.iter().for_each(|item| collect(item, text)),
            Value::Object(map) => map.values().for_each(|value| collect(value, text)),
        }
    }
    fn push(text: &mut String, line: &str) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(line);
    }
    let mut text = String::new();
    collect(value, &mut text);
    text
}

/// The first [`TEXT_BYTES`], with spaces in place of NUL and of the character with which facts begin.
pub(super) fn searchable(text: &str) -> String {
    let end = text.floor_char_boundary(TEXT_BYTES);
    text.get(..end).unwrap_or_default().replace([MARK, '\0'], " ")
}
