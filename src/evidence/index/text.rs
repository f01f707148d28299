//! Builds the searchable texts of an execution from its rows.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

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
        // As it is recorded: a person has to see that it has a character that is indexed as a space.
        Ok(text.get(..text.floor_char_boundary(TEXT_BYTES)).unwrap_or_default().to_owned())
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
        _ => Ok(flat_json(&text).unwrap_or(text)),
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
    let mut text = String::new();
    collect(value, &mut text);
    text
}

fn push(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}

/// As [`flat_text`], of a value as JSON, without building it. `None` if it is no JSON.
pub(super) fn flat_json(json: &str) -> Option<String> {
    let mut text = String::new();
    let mut deserializer = serde_json::Deserializer::from_str(json);
    Flat(&mut text).deserialize(&mut deserializer).and_then(|()| deserializer.end()).ok()?;
    Some(text)
}

/// Adds a value to this text.
struct Flat<'t>(&'t mut String);

impl<'de> DeserializeSeed<'de> for Flat<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Flat<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        push(self.0, &number.to_string());
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        push(self.0, &number.to_string());
        Ok(())
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        if let Some(number) = Number::from_f64(number) {
            push(self.0, &number.to_string());
        }
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        push(self.0, text);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Flat(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while fields.next_key::<IgnoredAny>()?.is_some() {
            fields.next_value_seed(Flat(self.0))?;
        }
        Ok(())
    }
}

/// The first [`TEXT_BYTES`], with spaces in place of NUL and of the character with which facts begin.
pub(super) fn searchable(text: &str) -> Cow<'_, str> {
    let text = text.get(..text.floor_char_boundary(TEXT_BYTES)).unwrap_or_default();
    match text.contains([MARK, '\0']) {
        true => text.replace([MARK, '\0'], " ").into(),
        false => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".*".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                proptest::collection::vec((".*", inner), 0..6)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn text_of_json_is_that_of_the_value(value in json_value()) {
            prop_assert_eq!(flat_json(&value.to_string()), Some(flat_text(&value)));
        }
    }

    #[test]
    fn no_json_has_no_text() {
        for text in ["", "{", "[1] 2", "not"] {
            assert_eq!(flat_json(text), None, "{text}");
        }
    }
}
