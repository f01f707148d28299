//! The first pass: parses JSON into a tree and detects duplicate keys and too deep nesting, which `serde_json::Value`
//! would not show.

use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use crate::plan::limits;

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Array(Vec<Json>),
    /// Members in the order of the file, duplicates included.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Converts the value for serde_json. Of duplicate keys the last one is kept.
    pub(super) fn to_value(&self) -> serde_json::Value {
        use serde_json::Value;
        match self {
            Self::Null => Value::Null,
            Self::Bool(flag) => Value::Bool(*flag),
            Self::Number(number) => Value::Number(number.clone()),
            Self::String(text) => Value::String(text.clone()),
            Self::Array(items) => items.iter().map(Self::to_value).collect(),
            Self::Object(members) => {
                members.iter().map(|(key, json)| (key.clone(), json.to_value())).collect()
            }
        }
    }

    /// The kind of value, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }
}

/// The result of the first pass.
pub(super) enum Read {
    /// The tree, and whether any object has a duplicate key.
    Tree { json: Json, duplicates: bool },
    /// Objects and arrays are nested deeper than the limit, first at this position.
    TooDeep { line: usize, column: usize },
    /// The text is not JSON: position and message of the parser's error.
    Syntax { line: usize, column: usize, message: String },
}

/// Reads a whole text as one JSON value.
pub(super) fn read(text: &str) -> Read {
    let notes = Notes { duplicates: Cell::new(false), too_deep: Cell::new(false) };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read = Tree { notes: &notes, depth: 0 }
        .deserialize(&mut deserializer)
        .and_then(|json| deserializer.end().map(|()| json));
    match read {
        Ok(json) => Read::Tree { json, duplicates: notes.duplicates.get() },
        Err(err) if notes.too_deep.get() => {
            let (line, column) = place(&err, text);
            Read::TooDeep { line, column }
        }
        Err(err) => {
            // serde_json appends the position to its message. Findings have it in fields of their own.
            let message = err.to_string();
            let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
            let (line, column) = place(&err, text);
            Read::Syntax { line, column, message }
        }
    }
}

/// Line and column of an error. The column of a finding counts characters; that of serde_json counts bytes, including
/// the faulty one.
fn place(err: &serde_json::Error, text: &str) -> (usize, usize) {
    let line = err.line().max(1);
    let bytes = text.split('\n').nth(line - 1).unwrap_or_default();
    let before = bytes.floor_char_boundary(err.column().saturating_sub(1));
    (line, bytes.get(..before).map_or(0, |head| head.chars().count()) + 1)
}

struct Notes {
    duplicates: Cell<bool>,
    too_deep: Cell<bool>,
}

#[derive(Clone, Copy)]
struct Tree<'a> {
    notes: &'a Notes,
    depth: usize,
}

impl Tree<'_> {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.depth == limits::NESTING {
            self.notes.too_deep.set(true);
            return Err(E::custom("nested too deep"));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Json, E> {
        Number::from_f64(value).map(Json::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
        let inner = self.deeper()?;
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(inner)? {
            items.push(item);
        }
        Ok(Json::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        /// Up to this many members, comparing a key with every earlier one is faster than a set.
        const FEW: usize = 16;
        let inner = self.deeper::<A::Error>()?;
        let mut members: Vec<(String, Json)> = Vec::new();
        let mut seen: HashSet<String> = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            let duplicate = if members.len() < FEW {
                members.iter().any(|(earlier, _)| *earlier == key)
            } else {
                if seen.is_empty() {
                    seen.extend(members.iter().map(|(earlier, _)| earlier.clone()));
                }
                !seen.insert(key.clone())
            };
            if duplicate {
                self.notes.duplicates.set(true);
            }
            let value = map.next_value_seed(inner)?;
            members.push((key, value));
        }
        Ok(Json::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_are_seen_in_small_and_large_objects() {
        let many: Vec<_> = (0..40).map(|i| format!("\"k{i}\":0")).collect();
        let unique = format!("{{{}}}", many.join(","));
        let twice = format!("{{{},\"k3\":1}}", many.join(","));
        for (text, expected) in [
            ("{\"a\":1,\"b\":{\"a\":2}}", false),
            ("[{\"a\":1,\"a\":1}]", true),
            (&unique, false),
            (&twice, true),
        ] {
            let Read::Tree { duplicates, .. } = read(text) else { panic!("{text} is JSON") };
            assert_eq!(duplicates, expected, "{text}");
        }
    }

    #[test]
    fn nesting_stops_at_the_limit() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(matches!(read(&nested(limits::NESTING)), Read::Tree { .. }));
        assert!(matches!(
            read(&nested(limits::NESTING + 1)),
            Read::TooDeep { line: 1, column: 33.. }
        ));
        assert!(matches!(read(&nested(1_000_000)), Read::TooDeep { .. }));
    }

    #[test]
    fn syntax_error_has_line_and_column() {
        let Read::Syntax { line, column, message } = read("{\n  \"a\": 1,,\n}") else {
            panic!("not JSON")
        };
        assert_eq!((line, column), (2, 10));
        assert!(!message.contains("line"), "{message}");
    }

    #[test]
    fn the_column_of_an_error_counts_characters() {
        for text in ["{\"née🙂\" 1}", "\n\t{\"née🙂\" 1}"] {
            let Read::Syntax { column, .. } = read(text) else { panic!("not JSON") };
            let line = text.lines().last().unwrap();
            assert_eq!(line.chars().nth(column - 1), Some('1'), "{column}");
        }
        let deep = format!("[\"éé\",{}", "[".repeat(limits::NESTING));
        let column = deep.chars().count();
        assert!(matches!(read(&deep), Read::TooDeep { line: 1, column: c } if c == column));
    }
}
