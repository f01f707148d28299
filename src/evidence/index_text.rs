//! Makes the searchable texts of an execution from its rows.

use serde_json::Value;

use super::error::Result;
use super::source::Source;
use super::{blobs, queries};
use crate::run::{ArtifactRecord, Execution};

/// The maximum size of the indexed part of an artifact, in bytes.
const TEXT_BYTES: usize = 1 << 20;

/// The text of one index field of an execution.
///
/// # Errors
/// Any error of the evidence.
pub(super) fn field_text(source: &Source<'_>, row: &Execution, field: &str) -> Result<String> {
    let id = row.execution_id.to_string();
    let text = match field {
        "tool" => row.tool_name.clone(),
        "arguments" => flat(&queries::arguments(source, &id)?),
        "error" => row.error_message.clone().unwrap_or_default(),
        _ => {
            let artifacts = queries::artifacts(source, &id)?;
            // No version wrote two artifacts of a kind. If there are two, the last one is indexed.
            match artifacts.iter().rfind(|artifact| artifact.artifact_type == field) {
                Some(artifact) => text_of(source, artifact)?,
                None => String::new(),
            }
        }
    };
    Ok(searchable(&text))
}

/// The text of an artifact, from its value or from the start of its blob.
pub(super) fn text_of(source: &Source<'_>, artifact: &ArtifactRecord) -> Result<String> {
    let Some(digest) = &artifact.blob else { return Ok(flat(&artifact.content)) };
    let head = || {
        let head = artifact.content.get("head").and_then(Value::as_str);
        head.unwrap_or_default().to_owned()
    };
    // Exact bytes are not text, and may be encrypted.
    if artifact.content.get("encoding").is_some() {
        return Ok(head());
    }
    let Some(bytes) = blobs::read_start(source.conn, digest)? else { return Ok(head()) };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    match artifact.artifact_type.as_str() {
        "stdout" | "stderr" => Ok(text),
        _ => Ok(serde_json::from_str(&text).map_or(text, |value| flat(&value))),
    }
}

/// The texts and numbers of a JSON value, one per line.
pub(super) fn flat(value: &Value) -> String {
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

/// At most the first MiB, without the two characters that mark a match.
pub(super) fn searchable(text: &str) -> String {
    let end = text.floor_char_boundary(TEXT_BYTES);
    text.get(..end).unwrap_or_default().replace(['\u{1}', '\u{2}', '\0'], " ")
}
