//! Hidden characters in what is written to a settings file: as escapes of TOML, so that whoever reads the file sees them, on a
//! terminal and in an editor, and that it is the same file everywhere.

use std::fmt::Write as _;

use toml_edit::{Item, Key, TableLike, Value};

use crate::plan::is_hidden;

/// Writes the hidden characters of every text in a value, and of every key in it, as escapes.
pub(super) fn escape(item: &mut Item) {
    match item {
        Item::Value(value) => escape_value(value),
        Item::Table(table) => escape_table(table),
        Item::ArrayOfTables(tables) => {
            tables.iter_mut().for_each(|table| escape_table(table));
        }
        Item::None => {}
    }
}

/// Puts a value into a table, with the hidden characters of its key as escapes.
pub(super) fn insert(table: &mut dyn TableLike, name: &str, item: Item) {
    if is_plain(name) {
        table.insert(name, item);
    } else {
        table.remove(name);
        table.entry_format(&key_of(name)).or_insert(item);
    }
}

/// A key with its hidden characters as escapes.
pub(super) fn key_of(name: &str) -> Key {
    let escaped = (!is_plain(name)).then(|| basic_string(name).parse().ok()).flatten();
    escaped.unwrap_or_else(|| Key::new(name))
}

fn escape_value(value: &mut Value) {
    match value {
        Value::String(text) if !is_plain(text.value()) => {
            if let Ok(mut escaped) = basic_string(text.value()).parse::<Value>() {
                *escaped.decor_mut() = text.decor().clone();
                *value = escaped;
            }
        }
        Value::Array(list) => list.iter_mut().for_each(escape_value),
        Value::InlineTable(table) => escape_table(table),
        _ => {}
    }
}

fn escape_table(table: &mut dyn TableLike) {
    table.iter_mut().for_each(|(_, item)| escape(item));
    let names: Vec<_> =
        table.iter().map(|(name, _)| name.to_owned()).filter(|name| !is_plain(name)).collect();
    for name in names {
        if let Some(item) = table.remove(&name) {
            insert(table, &name, item);
        }
    }
}

/// Whether a text has nothing to escape. The lines of a text stay lines.
fn is_plain(text: &str) -> bool {
    !text.chars().any(|c| is_hidden(c) && !matches!(c, '\n' | '\t'))
}

fn basic_string(text: &str) -> String {
    let mut written = String::from('"');
    for c in text.chars() {
        let _ = match c {
            '"' | '\\' => write!(written, "\\{c}"),
            '\n' => write!(written, "\\n"),
            '\t' => write!(written, "\\t"),
            c if is_hidden(c) && u32::from(c) > 0xFFFF => {
                write!(written, "\\U{:08X}", u32::from(c))
            }
            c if is_hidden(c) => write!(written, "\\u{:04X}", u32::from(c)),
            c => write!(written, "{c}"),
        };
    }
    written + "\""
}
