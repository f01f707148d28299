//! Text in XML and HTML.

use crate::plan::quoted_lines;

/// A text as the content of an element or of an attribute in quotes, with hidden characters made visible. Line breaks
/// remain.
pub(super) fn escaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for character in quoted_lines(text).chars() {
        match character {
            '&' => result.push_str("&amp;"),
            '<' => result.push_str("&lt;"),
            '>' => result.push_str("&gt;"),
            '"' => result.push_str("&quot;"),
            '\'' => result.push_str("&#39;"),
            // XML has no such characters, not even escaped.
            '\u{fffe}' | '\u{ffff}' => result.push('\u{fffd}'),
            other => result.push(other),
        }
    }
    result
}

/// As [`escaped`], on one line.
pub(super) fn escaped_line(text: &str) -> String {
    escaped(text).replace('\n', " ")
}
