//! JSON whose texts stay the same when a program reads them, and that a terminal shows whole.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

use super::is_hidden;

/// Writes a value as JSON on one line. Characters that [are hidden](is_hidden) are escapes (`\u202e`).
///
/// # Errors
/// The value has no JSON, or cannot be written.
pub fn write_visible_json(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(out, HiddenAsEscapes)).map_err(io::Error::from)
}

struct HiddenAsEscapes;

impl Formatter for HiddenAsEscapes {
    /// Writes a part of a text in which nothing has to be escaped for JSON.
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        for piece in fragment.split_inclusive(is_hidden) {
            let shown = piece.strip_suffix(is_hidden).unwrap_or(piece);
            out.write_all(shown.as_bytes())?;
            for unit in piece.get(shown.len()..).unwrap_or_default().encode_utf16() {
                write!(out, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_hidden_and_the_texts_are_the_same() {
        let text = "a\u{202E}b\u{9B}c\u{7f}d\u{E0041}é⟨\n\"\\\u{200b}";
        let document = serde_json::json!({ "it": text, text: 1 });
        let mut json = Vec::new();
        write_visible_json(&mut json, &document).unwrap();
        let json = String::from_utf8(json).unwrap();
        assert!(!json.contains(is_hidden), "{json}");
        assert!(json.contains("\\u202e") && json.contains("\\udb40\\udc41") && json.contains("é⟨"));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap(), document);
    }
}
