//! Reads the values of a TOML file, and collects every fault with its position.

use std::fmt;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::plan::COMMANDS_FILE;

/// A fault in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong, or what is allowed there.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{COMMANDS_FILE}:{}:{}: {}", self.line, self.column, self.message)
    }
}

/// The text of the file, and the faults found so far.
pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) faults: Vec<Fault>,
}

/// A value with its position.
pub(super) type Field<'a> = Spanned<DeValue<'a>>;

impl Parser<'_> {
    /// Adds a fault at this byte offset.
    pub(super) fn fault(&mut self, offset: usize, message: String) {
        let (line, column) = position(self.text, offset);
        self.faults.push(Fault { line, column, message });
    }

    /// Returns the value if it is a table; otherwise adds a fault and returns `None`.
    pub(super) fn table<'v, 'i>(
        &mut self,
        what: &str,
        value: &'v Field<'i>,
    ) -> Option<&'v DeTable<'i>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.fault(value.span().start, format!("{what} must be a table: [{what}]"));
        }
        table
    }

    /// Returns the string if it is not blank, has at most `max_bytes` bytes and no NUL; otherwise adds a fault and
    /// returns `None`.
    pub(super) fn string(
        &mut self,
        what: &str,
        value: &Field<'_>,
        max_bytes: usize,
    ) -> Option<String> {
        let text = value.get_ref().as_str();
        let message = match text {
            None => format!("{what} must be a string"),
            Some(text) if text.trim().is_empty() => format!("{what} is empty"),
            Some(text) if text.len() > max_bytes => {
                format!("{what} has more than {max_bytes} bytes")
            }
            Some(text) if text.contains('\0') => format!("{what} contains a NUL character"),
            Some(text) => return Some(text.to_owned()),
        };
        self.fault(value.span().start, message);
        None
    }
}

/// The line and the column of a byte offset, both from 1.
pub(super) fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..text.floor_char_boundary(offset)).unwrap_or_default();
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |index| index + 1);
    (line, before.get(start..).unwrap_or_default().chars().count() + 1)
}
