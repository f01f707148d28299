//! Formats that name ranges of files and new texts for them: suggestions of the compiler, edits of language servers,
//! and fixes of analysers. The files are read, and what was there becomes part of the plan.

mod cargo;
mod lsp;
mod position;
mod sarif;
mod uri;

use std::ops::Range;

pub(super) use cargo::edits as cargo;
pub(super) use lsp::edits as lsp;
pub(super) use sarif::edits as sarif;

/// A new text for a range of a file, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Replacement {
    range: Range<usize>,
    text: String,
}

impl Replacement {
    /// Whether the result of both depends on their order, or one makes the other wrong. Two insertions at one place do
    /// not: their order is that of the file.
    fn conflicts(&self, other: &Self) -> bool {
        let (a, b) = (&self.range, &other.range);
        a.start < b.end && b.start < a.end
    }
}

/// The text with all of these replacements made.
///
/// # Errors
/// The index of one that changes the same text as one before it.
fn replaced(text: &str, replacements: &[Replacement]) -> Result<String, usize> {
    for (index, it) in replacements.iter().enumerate() {
        if replacements.iter().take(index).any(|before| before.conflicts(it)) {
            return Err(index);
        }
    }
    let mut sorted: Vec<_> = replacements.iter().collect();
    // Stable: insertions at one place keep their order, in front of what is replaced behind it.
    sorted.sort_by_key(|it| (it.range.start, it.range.end));
    let (mut after, mut from) = (String::with_capacity(text.len()), 0);
    for Replacement { range, text: new } in sorted {
        after.push_str(text.get(from..range.start).unwrap_or_default());
        after.push_str(new);
        from = range.end;
    }
    after.push_str(text.get(from..).unwrap_or_default());
    Ok(after)
}
