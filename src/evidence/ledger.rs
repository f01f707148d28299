//! The hash chain (SPEC §8): the canonical entry of a row, and the computation of its link.

use std::fmt::Write as _;

use rusqlite::types::ValueRef;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::plan::Digest;

/// The predecessor of the first link: all zeros.
pub(super) const GENESIS: Digest = Digest::from_bytes([0; 32]);

/// The link of `entry` after the link `previous`: the digest of both.
pub(super) fn link(previous: &Digest, entry: &str) -> Digest {
    let mut hash = Sha256::new();
    hash.update(previous.as_bytes());
    hash.update(entry.as_bytes());
    Digest::from_bytes(hash.finalize().into())
}

/// The hashed text of a row: its table and its columns that are not null, as canonical JSON. Binary data is replaced by
/// its digest, so that the entry of a purged blob can be kept.
pub(super) fn entry<'v>(
    table: &str,
    columns: impl IntoIterator<Item = (&'v str, ValueRef<'v>)>,
) -> String {
    let mut columns: Vec<_> = columns.into_iter().collect();
    columns.sort_unstable_by_key(|(name, _)| *name);
    // Written directly from the columns, because every row is hashed and some are large.
    let mut text = String::with_capacity(512);
    text.push_str("{\"columns\":{");
    let mut separator = "";
    for (name, value) in columns {
        if value == ValueRef::Null {
            continue;
        }
        text.push_str(separator);
        separator = ",";
        write_text(name, &mut text);
        text.push(':');
        match value {
            ValueRef::Null => {}
            ValueRef::Integer(number) => {
                let _ = write!(text, "{number}");
            }
            // The schema has no column of real numbers, so only another program can have written one. The text only
            // has to differ from every entry that this program writes.
            ValueRef::Real(number) => write_field("real", &number.to_bits().into(), &mut text),
            ValueRef::Text(value) => match std::str::from_utf8(value) {
                Ok(value) => write_text(value, &mut text),
                Err(_) => write_field("not_text", &Digest::of(value).hex().into(), &mut text),
            },
            ValueRef::Blob(bytes) => {
                write_field("sha256", &Digest::of(bytes).hex().into(), &mut text);
            }
        }
    }
    text.push_str("},\"table\":");
    write_text(table, &mut text);
    text.push('}');
    text
}

fn write_field(name: &str, value: &Value, text: &mut String) {
    let _ = write!(text, "{{\"{name}\":{value}}}");
}

/// The value as JSON without spaces and with sorted keys, independent of the order in the map.
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
                write_text(key, text);
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
        Value::String(string) => write_text(string, text),
        other => text.push_str(&other.to_string()),
    }
}

/// Writes a JSON string. The text between two escapes is copied at once, because every row is hashed and some are
/// large.
fn write_text(string: &str, text: &mut String) {
    text.reserve(string.len() + string.len() / 8 + 2);
    text.push('"');
    let mut copied = 0;
    for (index, byte) in string.bytes().enumerate() {
        if byte >= b' ' && byte != b'"' && byte != b'\\' {
            continue;
        }
        text.push_str(string.get(copied..index).unwrap_or_default());
        copied = index + 1;
        match byte {
            b'\n' => text.push_str("\\n"),
            b'"' => text.push_str("\\\""),
            b'\\' => text.push_str("\\\\"),
            other => {
                let escaped = Value::from(char::from(other).to_string()).to_string();
                text.push_str(escaped.trim_matches('"'));
            }
        }
    }
    text.push_str(string.get(copied..).unwrap_or_default());
    text.push('"');
}

/// The entry of the row with this number, if it exists. `reader` selects all columns of `table` by the row's number.
pub(super) fn entry_of(
    reader: &mut rusqlite::Statement<'_>,
    table: &str,
    seq: i64,
) -> rusqlite::Result<Option<String>> {
    let names: Vec<String> = reader.column_names().map(str::to_owned).collect();
    let mut rows = reader.query([seq])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let mut columns = Vec::with_capacity(names.len());
    for (n, name) in names.iter().enumerate() {
        columns.push((name.as_str(), row.get_ref(n)?));
    }
    Ok(Some(entry(table, columns)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn text_is_written_as_standard_json(text in any::<String>(), odd in "[\"\\\\\\x00-\\x20\\x7f]*") {
            for text in [format!("{text}{odd}"), format!("{odd}{text}\n")] {
                let value = Value::from(text);
                prop_assert_eq!(canonical(&value), value.to_string());
            }
        }
    }

    #[test]
    fn the_canonical_form_sorts_keys_at_every_depth() {
        let value = serde_json::json!({"b": [{"z": 1, "a": "é\n"}], "a": null});
        assert_eq!(canonical(&value), r#"{"a":null,"b":[{"a":"é\n","z":1}]}"#);
    }

    #[test]
    fn an_entry_leaves_null_columns_out() {
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
