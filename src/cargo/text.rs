//! Shortens the output of cargo and the compiler for messages.

use crate::run::DiagnosticArtifact;
use crate::run::text::beginning;

/// Maximum size of the part of cargo's output, in bytes, that a message has.
const SAID_BYTES: usize = 4096;

/// A diagnostic in one line, in the compiler's style, with its place.
pub(crate) fn headline(it: &DiagnosticArtifact) -> String {
    let code = it.code.as_ref().map_or_else(String::new, |code| format!("[{code}]"));
    let place = match it.file_name.as_str() {
        "" => String::new(),
        file => format!(" ({file}:{})", it.line_start),
    };
    format!("{}{code}: {}{place}", it.tool_level, beginning(&it.message))
}

/// Cargo's report of a failure, verbatim up to [`SAID_BYTES`]. It begins with the first error, without the
/// progress output before it.
pub(crate) fn said(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let text = text.trim_end();
    let start =
        if text.starts_with("error") { Some(0) } else { text.find("\nerror").map(|at| at + 1) };
    let text = text.get(start.unwrap_or(0)..).unwrap_or(text);
    match text.get(..text.floor_char_boundary(SAID_BYTES)) {
        Some(beginning) if beginning.len() < text.len() => format!("{beginning}…"),
        _ => text.to_owned(),
    }
}
