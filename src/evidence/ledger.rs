//! The chain (SPEC §8): what is hashed for a row, and how one link follows from the one before.

use rusqlite::types::ValueRef;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::plan::Digest;

/// What the first link follows.
pub(super) const GENESIS: Digest = Digest::from_bytes([0; 32]);

/// The link of `entry` after the link `previous`.
pub(super) fn link(previous: &Digest, entry: &str) -> Digest {
    let mut hash = Sha256::new();
    hash.update(previous.as_bytes());
    hash.update(entry.as_bytes());
    Digest::from_bytes(hash.finalize().into())
}

/// What is hashed for a row: its table and its columns that are not null. Bytes stand as their digest,
/// so that a purged content leaves its entry behind.
pub(super) fn entry<'v>(
    table: &str,
    columns: impl IntoIterator<Item = (&'v str, ValueRef<'v>)>,
) -> String {
    let columns: Map<String, Value> = columns
        .into_iter()
        .filter_map(|(name, value)| {
            let value = match value {
                ValueRef::Null => return None,
                ValueRef::Integer(number) => number.into(),
                // The schema has no such column; only tampering puts one there, and then any text
                // that cannot be an entry of ours does.
                ValueRef::Real(number) => serde_json::json!({ "real": number.to_bits() }),
                ValueRef::Text(text) => match std::str::from_utf8(text) {
                    Ok(text) => text.into(),
                    Err(_) => serde_json::json!({ "not_text": Digest::of(text).hex() }),
                },
                ValueRef::Blob(bytes) => serde_json::json!({ "sha256": Digest::of(bytes).hex() }),
            };
            Some((name.to_owned(), value))
        })
        .collect();
    canonical(&serde_json::json!({ "columns": columns, "table": table }))
}

/// The value as text with sorted keys and no spaces, whatever order the map keeps.
pub(super) fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    text
}

fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            text.push('{');
            for (n, (key, value)) in entries.into_iter().enumerate() {
                if n > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write_canonical(value, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (n, item) in items.iter().enumerate() {
                if n > 0 {
                    text.push(',');
                }
                write_canonical(item, text);
            }
            text.push(']');
        }
        other => text.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_canonical_form_sorts_keys_at_every_depth() {
        let value = serde_json::json!({"b": [{"z": 1, "a": "é\n"}], "a": null});
        assert_eq!(canonical(&value), r#"{"a":null,"b":[{"a":"é\n","z":1}]}"#);
    }

    #[test]
    fn an_entry_names_table_and_columns_and_leaves_null_out() {
        let columns = [
            ("id", ValueRef::Integer(1)),
            ("none", ValueRef::Null),
            ("data", ValueRef::Blob(b"")),
            ("a", ValueRef::Text(b"x")),
        ];
        let empty = Digest::of(b"").hex();
        assert_eq!(
            entry("t", columns),
            format!(
                r#"{{"columns":{{"a":"x","data":{{"sha256":"{empty}"}},"id":1}},"table":"t"}}"#
            )
        );
        assert_ne!(link(&GENESIS, "x"), link(&link(&GENESIS, "y"), "x"));
    }
}
