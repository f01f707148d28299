//! Shortens the output of cargo and the compiler for messages.

use crate::run::DiagnosticArtifact;
use crate::run::text::beginning;

/// Maximum number of bytes of cargo's output in a message.
const REPORT_BYTES: usize = 4096;

/// A diagnostic in one line, in the compiler's style, with its file and line.
pub(crate) fn headline(diagnostic: &DiagnosticArtifact) -> String {
    let code = diagnostic.code.as_ref().map_or_else(String::new, |code| format!("[{code}]"));
    let position = match diagnostic.file_name.as_str() {
        "" => String::new(),
        file => format!(" ({file}:{})", diagnostic.line_start),
    };
    format!("{}{code}: {}{position}", diagnostic.tool_level, beginning(&diagnostic.message))
}

/// Cargo's report of a failure, verbatim up to [`REPORT_BYTES`]. It begins with the first error, if there is one,
/// without the progress output before it.
pub(crate) fn failure_report(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let text = text.trim_end();
    let start =
        if text.starts_with("error") { Some(0) } else { text.find("\nerror").map(|at| at + 1) };
    let text = text.get(start.unwrap_or(0)..).unwrap_or(text);
    match text.get(..text.floor_char_boundary(REPORT_BYTES)) {
        Some(beginning) if beginning.len() < text.len() => format!("{beginning}…"),
        _ => text.to_owned(),
    }
}
