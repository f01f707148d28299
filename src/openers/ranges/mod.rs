//! Formats that name ranges of files and new texts for them: suggestions of the compiler, edits of language servers,
//! and fixes of analysers. The files are read, and what was there becomes part of the plan.

mod accepted;
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
    /// Whether the result of both depends on their order, or one makes the other wrong: they overlap, are at the same
    /// place, or one is an insertion at the border of the other.
    fn conflicts(&self, other: &Self) -> bool {
        let (a, b) = (&self.range, &other.range);
        let inserts = a.is_empty() || b.is_empty();
        let overlap = a.start < b.end && b.start < a.end;
        overlap || a == b || inserts && (a.end == b.start || b.end == a.start)
    }
}

/// The text with all of these replacements made. Insertions at one place keep their order, as others rely on it.
///
/// # Errors
/// The index of one that changes the same text as another one, or is an insertion in front of one before it.
fn replaced(text: &str, replacements: &[Replacement]) -> Result<String, usize> {
    let mut sorted: Vec<_> = replacements.iter().enumerate().collect();
    // Stable: what begins at the same place keeps its order.
    sorted.sort_by_key(|(_, it)| it.range.start);
    let (mut after, mut from) = (String::with_capacity(text.len()), 0);
    for (index, Replacement { range, text: new }) in sorted {
        if range.start < from {
            return Err(index);
        }
        after.push_str(text.get(from..range.start).unwrap_or_default());
        after.push_str(new);
        from = range.end;
    }
    after.push_str(text.get(from..).unwrap_or_default());
    Ok(after)
}
