//! The text that is copied for diagnostics.

use super::listing::Entry;
use super::{Listing, diagnostic};
use crate::run::{BaselineState, DiagnosticArtifact, RunState};

/// A diagnostic as its tool rendered it, or composed of its parts if there is no rendering.
pub(crate) fn written(it: &DiagnosticArtifact) -> String {
    it.rendered.as_deref().map_or_else(|| composed(it), |text| text.trim_end().to_owned())
}

/// The text of a diagnostic without a rendering.
fn composed(it: &DiagnosticArtifact) -> String {
    let code = it.code.as_ref().map_or_else(String::new, |code| format!("[{code}]"));
    let mut text = format!("{}{code}: {}", it.tool_level, it.message);
    if !it.file_name.is_empty() {
        text.push_str(&format!("\n --> {}", location(it)));
    }
    for child in &it.children {
        text.push_str(&format!("\n  = {}: {}", child.tool_level, child.message));
    }
    text
}

/// The location of a diagnostic, for example `src/lib.rs:3:5`.
pub(super) fn location(it: &DiagnosticArtifact) -> String {
    let column = it.column_start.map_or_else(String::new, |column| format!(":{column}"));
    format!("{}:{}{column}", it.file_name, it.line_start)
}

/// The text of one entry. Diagnostics that are gone are marked as such.
fn entry_text(run: &RunState, entry: Entry) -> Option<String> {
    let text = written(diagnostic(run, entry.position)?);
    Some(match entry.baseline {
        Some(BaselineState::Gone) => format!("gone since the earlier check:\n{text}"),
        _ => text,
    })
}

/// The text of the selected diagnostic; `None` if none is selected.
pub fn copied(run: &RunState, listing: &Listing) -> Option<String> {
    entry_text(run, listing.selected_entry()?)
}

/// The texts of all shown diagnostics, in order.
pub fn copied_all(run: &RunState, listing: &Listing) -> String {
    let texts: Vec<_> = listing.shown.iter().filter_map(|it| entry_text(run, *it)).collect();
    texts.join("\n\n")
}
