//! Lines of a diff that differ although they look the same: what differs is written out, so that a change that only the
//! background shows is not missed.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use crate::plan::{differing, twin_key};
use crate::run::{DiffLine, LineKind};

/// The maximum length of the changed lines that are compared, in bytes. Comparing more would cause a noticeable pause.
const MAX_COMPARED_BYTES: usize = 512 << 10;

/// The parts of lines that are written out, by the index of the line.
pub(super) type SpelledOut = BTreeMap<usize, Vec<Range<usize>>>;

/// What differs between a removed and an added line of one change that look the same; and each bracket with which the
/// mark of a hidden character begins. Also returns whether the changed lines were compared: not if they are too long.
pub(super) fn spelled_out(lines: &[DiffLine]) -> (SpelledOut, bool) {
    let mut spelled = SpelledOut::new();
    let is_compared = compare(lines, &mut spelled);
    for (index, line) in lines.iter().enumerate() {
        for (start, bracket) in line.text.match_indices('⟨') {
            let range = start..start + bracket.len();
            let ranges = spelled.entry(index).or_default();
            if !ranges.iter().any(|known| known.contains(&start)) {
                ranges.push(range);
            }
        }
    }
    for ranges in spelled.values_mut() {
        ranges.sort_by_key(|range| range.start);
    }
    (spelled, is_compared)
}

/// Returns whether the lines were compared.
fn compare(lines: &[DiffLine], spelled: &mut SpelledOut) -> bool {
    let is_changed = |line: &&DiffLine| matches!(line.kind, LineKind::Added | LineKind::Removed);
    let mut remaining = MAX_COMPARED_BYTES;
    for line in lines.iter().filter(is_changed) {
        match remaining.checked_sub(line.text.len() + 1) {
            Some(rest) => remaining = rest,
            None => return false,
        }
    }
    let mut first = 0;
    for change in lines.chunk_by(|one, next| is_changed(&one) == is_changed(&next)) {
        let indices = first..first + change.len();
        first = indices.end;
        let has = |kind| change.iter().any(|line| line.kind == kind);
        if has(LineKind::Added) && has(LineKind::Removed) {
            compare_change(indices.zip(change), spelled);
        }
    }
    true
}

/// Compares the removed lines of a change with its added lines, in whatever order they are.
fn compare_change<'l>(
    change: impl Iterator<Item = (usize, &'l DiffLine)> + Clone,
    spelled: &mut SpelledOut,
) {
    let mut removed: HashMap<String, (usize, &str)> = HashMap::new();
    for (index, line) in change.clone().filter(|(_, line)| line.kind == LineKind::Removed) {
        removed.entry(twin_key(&line.text)).or_insert((index, &line.text));
    }
    for (index, line) in change.filter(|(_, line)| line.kind == LineKind::Added) {
        let Some((old, text)) = removed.get(&twin_key(&line.text)) else { continue };
        let [before, after] = differing(text, &line.text);
        spelled.entry(*old).or_insert(before);
        spelled.insert(index, after);
    }
}

#[cfg(test)]
mod tests {
    use LineKind::{Added, Context, Removed};

    use super::*;
    use crate::plan;

    fn shown(lines: &[(LineKind, &str)]) -> Vec<String> {
        let lines: Vec<_> = lines
            .iter()
            .map(|(kind, text)| DiffLine {
                kind: *kind,
                before: None,
                after: None,
                text: (*text).to_owned(),
                missing_newline: false,
            })
            .collect();
        let (spelled, _) = spelled_out(&lines);
        let none = Vec::new();
        let shown = |(index, line): (usize, &DiffLine)| {
            plan::spelled_out(&line.text, spelled.get(&index).unwrap_or(&none)).0
        };
        lines.iter().enumerate().map(shown).collect()
    }

    #[test]
    fn lines_that_look_the_same_are_told_apart() {
        assert_eq!(
            shown(&[(Removed, "let scope = 1;"), (Added, "let ѕcope = 1;")]),
            ["let ⟨U+0073⟩cope = 1;", "let ⟨U+0455⟩cope = 1;"]
        );
        assert_eq!(shown(&[(Removed, "a"), (Added, "a ")]), ["a", "a⟨U+0020⟩"]);
        assert_eq!(shown(&[(Removed, "a"), (Context, ""), (Added, "a ")]), ["a", "", "a "]);
        // A line before the pair must not hide it.
        assert_eq!(
            shown(&[(Removed, "\tx"), (Added, "new"), (Added, "    x")]),
            ["⟨U+0009⟩x", "new", "⟨U+0020 ×4⟩x"]
        );
    }

    #[test]
    fn a_written_mark_is_not_a_mark() {
        assert_eq!(shown(&[(Context, "rm⟨U+200B⟩")]), ["rm⟨U+27E8⟩U+200B⟩"]);
        assert_eq!(shown(&[(Context, "rm\u{200b}")]), ["rm⟨U+200B⟩"]);
    }

    #[test]
    fn very_long_changes_are_not_compared() {
        let long = "x".repeat(MAX_COMPARED_BYTES);
        let line =
            DiffLine { kind: Added, before: None, after: None, text: long, missing_newline: false };
        assert!(!spelled_out(&[line]).1);
    }
}
