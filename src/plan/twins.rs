//! Texts that differ although they look the same: by letters that look like others (UTS 39), by their normal form, by tabs
//! in place of spaces, or by spaces at the end. Where two such texts stand side by side, what differs is written out.

use std::collections::HashMap;
use std::ops::Range;

use similar::{ChangeTag, TextDiff};
use unicode_security::skeleton;

use super::{drawable, spelled_out};

/// The longest texts that are compared character by character, in bytes. Of longer ones everything between their common
/// beginning and their common end counts as different.
const MAX_COMPARED_BYTES: usize = 2_000;

/// What a text looks like. Two texts that look the same have one key.
pub fn twin_key(text: &str) -> String {
    // A tab is drawn as four spaces.
    let text = text.replace('\t', "    ");
    skeleton(text.trim_end()).collect()
}

/// The ranges in which two texts differ, in each of them.
pub fn differing(one: &str, other: &str) -> [Vec<Range<usize>>; 2] {
    if one.len().max(other.len()) > MAX_COMPARED_BYTES {
        let start = common(one.char_indices(), other.chars());
        let rest = (one.get(start..).unwrap_or_default(), other.get(start..).unwrap_or_default());
        let back = common_end(rest.0, rest.1);
        return [one, other].map(|text| {
            let range = start..text.len() - back;
            if range.is_empty() { Vec::new() } else { vec![range] }
        });
    }
    let mut ranges = [Vec::new(), Vec::new()];
    let mut ends = [0, 0];
    for change in TextDiff::from_chars(one, other).iter_all_changes() {
        let length = change.value().len();
        let sides: &[usize] = match change.tag() {
            ChangeTag::Equal => &[0, 1],
            ChangeTag::Delete => &[0],
            ChangeTag::Insert => &[1],
        };
        for side in sides {
            let (Some(end), Some(ranges)) = (ends.get_mut(*side), ranges.get_mut(*side)) else {
                continue;
            };
            let range = *end..*end + length;
            *end += length;
            if change.tag() == ChangeTag::Equal {
                continue;
            }
            match ranges.last_mut() {
                Some(last @ Range { .. }) if last.end == range.start => last.end = range.end,
                _ => ranges.push(range),
            }
        }
    }
    ranges
}

/// The number of bytes that two texts have in common at their beginning.
fn common(one: impl Iterator<Item = (usize, char)>, other: impl Iterator<Item = char>) -> usize {
    let mut same = one.zip(other).take_while(|((_, one), other)| one == other);
    let mut end = 0;
    for ((start, c), _) in same.by_ref() {
        end = start + c.len_utf8();
    }
    end
}

fn common_end(one: &str, other: &str) -> usize {
    let pairs = one.chars().rev().zip(other.chars().rev());
    pairs.take_while(|(one, other)| one == other).map(|(c, _)| c.len_utf8()).sum()
}

/// The names of a list that look like another name of it, by index, with what differs written out.
pub fn twin_names<'n>(names: impl Iterator<Item = &'n str>) -> HashMap<usize, String> {
    let mut by_key: HashMap<String, Vec<(usize, &str)>> = HashMap::new();
    for (index, name) in names.enumerate() {
        by_key.entry(twin_key(name)).or_default().push((index, name));
    }
    let mut twins = HashMap::new();
    for alike in by_key.into_values() {
        for (index, name) in &alike {
            if let Some((_, other)) = alike.iter().find(|(_, other)| other != name) {
                let [ranges, _] = differing(name, other);
                let shown = spelled_out(name, &ranges).0;
                // Where only the other name has more, the name itself is as it is.
                let shown = if ranges.is_empty() { drawable(name).into_owned() } else { shown };
                twins.insert(*index, shown);
            }
        }
    }
    twins
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(one: &str, other: &str) -> [String; 2] {
        assert_eq!(twin_key(one), twin_key(other), "{one:?} {other:?}");
        let [first, second] = differing(one, other);
        [spelled_out(one, &first).0, spelled_out(other, &second).0]
    }

    #[test]
    fn what_differs_between_twins_is_written_out() {
        for (one, other, expected) in [
            ("use scope;", "use ѕcope;", ["use ⟨U+0073⟩cope;", "use ⟨U+0455⟩cope;"]),
            ("café", "cafe\u{301}", ["caf⟨U+00E9⟩", "caf⟨U+0065⟩⟨U+0301⟩"]),
            ("\tx", "    x", ["⟨U+0009⟩x", "⟨U+0020 ×4⟩x"]),
            ("end", "end  ", ["end", "end⟨U+0020 ×2⟩"]),
            ("if l > 1", "if 1 > 1", ["if ⟨U+006C⟩ > 1", "if ⟨U+0031⟩ > 1"]),
        ] {
            assert_eq!(shown(one, other), expected);
        }
        for (one, other) in [("a", "b"), ("x  y", "x y"), ("  x", "x"), ("ä", "a")] {
            assert_ne!(twin_key(one), twin_key(other));
        }
    }

    #[test]
    fn long_texts_are_compared_from_both_ends() {
        let long = "heron ".repeat(1_000);
        let (one, other) = (format!("{long}é{long}"), format!("{long}e\u{301}{long}"));
        let [first, second] = differing(&one, &other);
        assert_eq!((&one[first[0].clone()], &other[second[0].clone()]), ("é", "e\u{301}"));
        assert!(differing(&one, &one).iter().all(Vec::is_empty));
    }

    #[test]
    fn only_names_that_look_alike_are_written_out() {
        let names = ["src/lib.rs", "src/1ib.rs", "README.md", "REΑDME.md", "other"];
        let twins = twin_names(names.into_iter());
        assert_eq!(twins.len(), 4);
        assert_eq!(twins[&1], "src/⟨U+0031⟩ib.rs");
        assert_eq!(twins[&3], "RE⟨U+0391⟩DME.md");
        assert!(twin_names(["a", "a"].into_iter()).is_empty());
    }
}
