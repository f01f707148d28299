//! The line diff that a person reads before approving a change, with three lines of context.

use std::time::Duration;

use similar::{DiffTag, TextDiff};

use super::{Diff, DiffLine, LineKind};

/// Number of unchanged lines shown before and after a change.
const CONTEXT: usize = 3;
/// After this time the remaining lines are shown as one removal and one addition, which is correct but not minimal.
const TIMEOUT: Duration = Duration::from_millis(500);

/// Maximum size of contents that are compared line by line: 16 MiB, far more than a person reads.
pub(crate) const MAX_BYTES: usize = 16 << 20;

/// Whether a content is too large to be compared line by line.
pub(crate) fn is_too_large(bytes: Option<&[u8]>) -> bool {
    bytes.is_some_and(|bytes| bytes.len() > MAX_BYTES)
}

/// The difference between two contents; `None` is an absent file. Contents that are not UTF-8 or too large are
/// reported by their sizes only.
pub(crate) fn diff(before: Option<&[u8]>, after: Option<&[u8]>) -> Diff {
    if before == after {
        return Diff::Unchanged;
    }
    let (Some(old), Some(new)) = (text(before), text(after)) else {
        let size = |bytes: Option<&[u8]>| bytes.map(|bytes| bytes.len() as u64);
        return Diff::Binary { before_bytes: size(before), after_bytes: size(after) };
    };
    // Only a line feed ends a line here, because a carriage return is content that the person should see.
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let changes = TextDiff::configure().timeout(TIMEOUT).diff_slices(&old, &new);
    let mut lines = Lines::default();
    for group in changes.grouped_ops(CONTEXT) {
        for op in group {
            let (tag, before, after) = op.as_tag_tuple();
            lines.push_gap(before.start);
            if tag == DiffTag::Equal {
                for (old_index, new_index) in before.clone().zip(after.clone()) {
                    let line = old.get(old_index);
                    lines.push(LineKind::Context, Some(old_index), Some(new_index), line);
                }
            } else {
                for index in before.clone() {
                    lines.push(LineKind::Removed, Some(index), None, old.get(index));
                }
                for index in after {
                    lines.push(LineKind::Added, None, Some(index), new.get(index));
                }
            }
            lines.next = before.end;
        }
    }
    lines.push_gap(old.len());
    Diff::Text { lines: lines.lines, added: lines.added, removed: lines.removed }
}

#[derive(Default)]
struct Lines {
    lines: Vec<DiffLine>,
    added: usize,
    removed: usize,
    /// The first old line that was not shown yet, from 0.
    next: usize,
}

impl Lines {
    fn push(
        &mut self,
        kind: LineKind,
        before: Option<usize>,
        after: Option<usize>,
        line: Option<&&str>,
    ) {
        let line = line.copied().unwrap_or_default();
        let text = line.strip_suffix('\n');
        self.added += usize::from(kind == LineKind::Added);
        self.removed += usize::from(kind == LineKind::Removed);
        self.lines.push(DiffLine {
            kind,
            before: before.map(|index| index + 1),
            after: after.map(|index| index + 1),
            text: text.unwrap_or(line).to_owned(),
            missing_newline: text.is_none(),
        });
    }

    /// Adds a note about the lines before `index` that are left out, if there are any.
    fn push_gap(&mut self, index: usize) {
        let left_out = index.saturating_sub(self.next);
        if left_out > 0 {
            self.lines.push(DiffLine {
                kind: LineKind::Gap,
                before: None,
                after: None,
                text: format!("{left_out} unchanged {}", crate::run::text::lines(left_out)),
                missing_newline: false,
            });
        }
    }
}

/// The content as text, empty for an absent file; `None` if it is not UTF-8 or too large.
fn text(bytes: Option<&[u8]>) -> Option<&str> {
    if is_too_large(bytes) {
        return None;
    }
    std::str::from_utf8(bytes.unwrap_or_default()).ok()
}
