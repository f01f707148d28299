//! The hash chain (SPEC §8): the canonical entry of a row, and the computation of its link.

use std::collections::BTreeMap;

use rusqlite::types::ValueRef;
use serde::{Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use crate::plan::Digest;
pub(super) use crate::plan::canonical_json as canonical;

/// The predecessor of the first link: all zeros.
pub(super) const GENESIS: Digest = Digest::from_bytes([0; 32]);

/// The link of `entry` after the link `previous`: the digest of both.
pub(super) fn link(previous: &Digest, entry: impl AsRef<[u8]>) -> Digest {
    let mut hash = Sha256::new();
    hash.update(previous.as_bytes());
    hash.update(entry.as_ref());
    Digest::from_bytes(hash.finalize().into())
}

/// The hashed text of a row: its table and its columns that are not null, as canonical JSON. Binary data is replaced by
/// its digest. Before format 5, the entry of a blob was stored with its link, so that the blob could be purged.
pub(super) fn entry<'v>(
    table: &str,
    columns: impl IntoIterator<Item = (&'v str, ValueRef<'v>)>,
) -> String {
    let columns = columns.into_iter().filter(|(_, value)| *value != ValueRef::Null);
    let columns = columns.map(|(name, value)| (name, Column(value))).collect();
    serialized(&Entry { columns, table })
}

/// An entry. Serialized directly from the columns, because every row is hashed and some are large.
#[derive(Serialize)]
struct Entry<'v> {
    columns: BTreeMap<&'v str, Column<'v>>,
    table: &'v str,
}

/// The value of a column.
struct Column<'v>(ValueRef<'v>);

impl Serialize for Column<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            ValueRef::Null => serializer.serialize_none(),
            ValueRef::Integer(number) => serializer.serialize_i64(number),
            // The schema has no column of real numbers, so only another program can have written one. The text only
            // has to differ from every entry that this program writes.
            ValueRef::Real(number) => serializer.collect_map([("real", number.to_bits())]),
            ValueRef::Text(value) => match std::str::from_utf8(value) {
                Ok(value) => serializer.serialize_str(value),
                Err(_) => serializer.collect_map([("not_text", Digest::of(value).hex())]),
            },
            ValueRef::Blob(bytes) => serializer.collect_map([("sha256", Digest::of(bytes).hex())]),
        }
    }
}

/// The JSON text of a value whose keys are strings. Nothing else could make the serialization fail.
fn serialized(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Writes the entries of the rows of one table, one after the other. The same as [`entry`], without sorting the columns
/// of each row anew.
pub(super) struct EntryWriter {
    /// The indices of the columns in the statement, with the beginning of their text, by name.
    columns: Vec<(usize, String)>,
    /// What follows the columns.
    end: String,
}

impl EntryWriter {
    /// For rows of this table with these columns, of which the first is `skipped` in a statement.
    pub(super) fn new(table: &str, names: &[&str], skipped: usize) -> Self {
        let mut columns: Vec<_> = names.iter().enumerate().collect();
        columns.sort_by_key(|(_, name)| **name);
        let columns = columns
            .into_iter()
            .map(|(index, name)| (index + skipped, format!("{}:", serialized(name))));
        Self { columns: columns.collect(), end: format!("}},\"table\":{}}}", serialized(&table)) }
    }

    /// Replaces `text` by the entry of this row.
    ///
    /// # Errors
    /// When a column cannot be read.
    pub(super) fn write(
        &self,
        row: &rusqlite::Row<'_>,
        text: &mut Vec<u8>,
    ) -> rusqlite::Result<()> {
        text.clear();
        text.extend_from_slice(b"{\"columns\":{");
        let mut is_first = true;
        for (index, beginning) in &self.columns {
            let value = row.get_ref(*index)?;
            if value == ValueRef::Null {
                continue;
            }
            if !std::mem::take(&mut is_first) {
                text.push(b',');
            }
            text.extend_from_slice(beginning.as_bytes());
            // Writing into memory does not fail.
            let _ = serde_json::to_writer(&mut *text, &Column(value));
        }
        text.extend_from_slice(self.end.as_bytes());
        Ok(())
    }
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
    use serde_json::Value;

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
