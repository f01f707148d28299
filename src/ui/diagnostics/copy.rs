//! The text that is copied for diagnostics: the tool's own rendering, or a composed text if there is none.

use super::listing::{Entry, Listing, diagnostic};
use crate::run::{BaselineState, DiagnosticArtifact, RunState};

/// A diagnostic as its tool renders it, or composed if the tool gave no rendering.
pub(crate) fn written(it: &DiagnosticArtifact) -> String {
    it.rendered.as_deref().map_or_else(|| composed(it), |text| text.trim_end().to_owned())
}

/// The text of a diagnostic without a rendering.
fn composed(it: &DiagnosticArtifact) -> String {
    let code = it.code.as_ref().map_or_else(String::new, |code| format!("[{code}]"));
    let mut text = format!("{}{code}: {}", it.tool_level, it.message);
    if !it.file_name.is_empty() {
        text.push_str(&format!("\n --> {}", place(it)));
    }
    for child in &it.children {
        text.push_str(&format!("\n  = {}: {}", child.tool_level, child.message));
    }
    text
}

/// The location of a diagnostic, for example `src/lib.rs:3:5`.
pub(super) fn place(it: &DiagnosticArtifact) -> String {
    let column = it.column_start.map_or_else(String::new, |column| format!(":{column}"));
    format!("{}:{}{column}", it.file_name, it.line_start)
}

/// The text of one entry. Diagnostics that are gone are marked as such.
fn entry(run: &RunState, entry: Entry) -> Option<String> {
    let text = written(diagnostic(run, entry.place)?);
    Some(match entry.standing {
        Some(BaselineState::Gone) => format!("gone since the first check:\n{text}"),
        _ => text,
    })
}

/// The text of the selected diagnostic.
pub fn copied(run: &RunState, listing: &Listing) -> Option<String> {
    entry(run, listing.chosen()?)
}

/// The texts of all shown diagnostics, in order.
pub fn copied_all(run: &RunState, listing: &Listing) -> String {
    let texts: Vec<_> = listing.shown.iter().filter_map(|it| entry(run, *it)).collect();
    texts.join("\n\n")
}
