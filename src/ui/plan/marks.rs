//! Marks that make a diff easy to read: syntax colours, and the words that changed within a line.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use similar::{ChangeTag, TextDiff};

use crate::code::{Class, Language, highlight};
use crate::plan::{drawable, lookalikes};
use crate::run::{AnsiStyle, DiffLine, LineKind};
use crate::ui::Tone;

/// The maximum length of a diff that has marks, in bytes. Computing those of a longer one would cause a noticeable
/// pause.
const MAX_COLOURED_BYTES: usize = 128 << 10;
/// The maximum length of lines whose changed words are marked, in bytes.
const MAX_COMPARED_BYTES: usize = 1_000;
/// The minimum similarity ratio of two lines whose changed words are marked.
const MIN_SIMILARITY: f32 = 0.5;

/// The marks of one line; ranges are bytes of its text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marks {
    /// Syntax colours, in order.
    pub colours: Vec<(Range<usize>, Class)>,
    /// Text that the other version of the line does not have, in order.
    pub changed: Vec<Range<usize>>,
    /// Text that needs attention, in order, with the tone of the reason.
    pub emphasized: Vec<(Range<usize>, Tone)>,
    /// Text that a program printed with its own style, in order.
    pub styles: Vec<(Range<usize>, AnsiStyle)>,
}

impl Marks {
    /// The marks of a part of the line, with ranges relative to the start of the part.
    pub fn part(&self, part: Range<usize>) -> Self {
        Self {
            colours: marks_in(&part, &self.colours),
            changed: ranges_in(&part, &self.changed),
            styles: marks_in(&part, &self.styles),
            emphasized: marks_in(&part, &self.emphasized),
        }
    }
}

/// The part of a range that is in `part`, relative to the start of `part`.
fn intersection(part: &Range<usize>, range: &Range<usize>) -> Option<Range<usize>> {
    let (start, end) = (range.start.max(part.start), range.end.min(part.end));
    (start < end).then(|| start - part.start..end - part.start)
}

/// The parts of these ranges that are in `part`, relative to the start of `part`.
pub fn ranges_in(part: &Range<usize>, ranges: &[Range<usize>]) -> Vec<Range<usize>> {
    ranges.iter().filter_map(|range| intersection(part, range)).collect()
}

fn marks_in<T: Copy>(part: &Range<usize>, marks: &[(Range<usize>, T)]) -> Vec<(Range<usize>, T)> {
    marks.iter().filter_map(|(range, mark)| Some((intersection(part, range)?, *mark))).collect()
}

/// Splits a text at the ends of these ranges. Returns each part with its byte offset.
pub fn sections<'t, 'r>(
    text: &'t str,
    ranges: impl Iterator<Item = &'r Range<usize>>,
) -> Vec<(usize, &'t str)> {
    let mut bounds: Vec<usize> = ranges.flat_map(|range| [range.start, range.end]).collect();
    bounds.extend([0, text.len()]);
    bounds.sort_unstable();
    bounds.dedup();
    let ends = bounds.iter().skip(1);
    let parts = bounds.iter().zip(ends).map(|(start, end)| (*start, text.get(*start..*end)));
    parts.filter_map(|(start, part)| Some((start, part?))).collect()
}

/// The marks of every line of the diff of the file at `path`; empty when the diff is too long.
pub fn marks(path: &str, lines: &[DiffLine]) -> Vec<Marks> {
    let mut remaining = MAX_COLOURED_BYTES;
    for line in lines {
        // Stops as soon as the limit is exceeded, without reading a hundred thousand lines.
        match remaining.checked_sub(line.text.len() + 1) {
            Some(rest) => remaining = rest,
            None => return Vec::new(),
        }
    }
    let mut marks = vec![Marks::default(); lines.len()];
    if let Some(language) = Language::of_path(Path::new(path)) {
        // The text before and the text after are each a valid program; the mixed lines are not.
        colour(language, lines, LineKind::Added, &mut marks);
        colour(language, lines, LineKind::Removed, &mut marks);
    }
    compare(lines, &mut marks);
    for (line, marks) in lines.iter().zip(&mut marks) {
        if matches!(drawable(&line.text), Cow::Owned(_)) {
            // Hidden characters get longer when made visible, which would shift the ranges after them.
            *marks = Marks::default();
        } else {
            let alike = lookalikes(&line.text).into_iter();
            marks.emphasized.extend(alike.map(|range| (range, Tone::Caution)));
        }
    }
    marks
}

/// Colours the text after the change (if `side` is added) or before it (if removed). The lines between two gaps are
/// parsed as one text.
fn colour(language: Language, lines: &[DiffLine], side: LineKind, marks: &mut [Marks]) {
    let mut text = String::new();
    let mut starts: Vec<(usize, usize)> = Vec::new();
    let mut flush = |text: &mut String, starts: &mut Vec<(usize, usize)>| {
        for (range, class) in highlight(language, text) {
            let first =
                starts.partition_point(|(_, start)| *start <= range.start).saturating_sub(1);
            for (index, start) in starts.iter().skip(first).take_while(|it| it.1 < range.end) {
                let (Some(line), Some(marks)) = (lines.get(*index), marks.get_mut(*index)) else {
                    continue;
                };
                let begin = range.start.saturating_sub(*start);
                let end = (range.end - start).min(line.text.len());
                // Unchanged lines occur in both texts; they get the colours of the text after the change.
                if begin < end && (line.kind == side || side == LineKind::Added) {
                    marks.colours.push((begin..end, class));
                }
            }
        }
        text.clear();
        starts.clear();
    };
    for (index, line) in lines.iter().enumerate() {
        if line.kind == LineKind::Gap {
            flush(&mut text, &mut starts);
        } else if line.kind == LineKind::Context || line.kind == side {
            starts.push((index, text.len()));
            text.push_str(&line.text);
            text.push('\n');
        }
    }
    flush(&mut text, &mut starts);
}

/// Marks the words that differ between removed lines and the added lines that follow them.
fn compare(lines: &[DiffLine], marks: &mut [Marks]) {
    for (old, new) in pairs(lines) {
        let (Some(before), Some(after)) = (lines.get(old), lines.get(new)) else { continue };
        if before.text.len().max(after.text.len()) > MAX_COMPARED_BYTES {
            continue;
        }
        let words = TextDiff::from_words(before.text.as_str(), after.text.as_str());
        if words.ratio() < MIN_SIMILARITY {
            continue;
        }
        let (mut old_offset, mut new_offset) = (0, 0);
        for change in words.iter_all_changes() {
            let length = change.value().len();
            let (index, offset) = match change.tag() {
                ChangeTag::Equal => {
                    old_offset += length;
                    new_offset += length;
                    continue;
                }
                ChangeTag::Delete => (old, &mut old_offset),
                ChangeTag::Insert => (new, &mut new_offset),
            };
            let range = *offset..*offset + length;
            *offset += length;
            let Some(marks) = marks.get_mut(index) else { continue };
            match marks.changed.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => marks.changed.push(range),
            }
        }
    }
}

/// The indices of removed lines and of the added lines that replace them: the nth of the added lines that directly
/// follow removed lines replaces the nth of those.
pub fn pairs(lines: &[DiffLine]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut removed = 0..0;
    let mut added = 0;
    for (index, line) in lines.iter().enumerate() {
        match line.kind {
            LineKind::Removed if removed.end == index && added == 0 => removed.end += 1,
            LineKind::Removed => (removed, added) = (index..index + 1, 0),
            LineKind::Added if added < removed.len() => {
                pairs.push((removed.start + added, index));
                added += 1;
            }
            LineKind::Added => {}
            LineKind::Context | LineKind::Gap => (removed, added) = (0..0, 0),
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(kind: LineKind, text: &str) -> DiffLine {
        DiffLine { kind, before: None, after: None, text: text.to_owned(), missing_newline: false }
    }

    fn only<T>(one: T) -> Vec<T> {
        std::iter::once(one).collect()
    }

    #[test]
    fn words_that_changed_are_marked_on_both_sides() {
        let lines = [
            line(LineKind::Context, "fn f() {"),
            line(LineKind::Removed, "    let sum = a + b;"),
            line(LineKind::Added, "    let sum = a - b;"),
            line(LineKind::Added, "    other"),
        ];
        let marks = marks("a.txt", &lines);
        assert_eq!(marks[1].changed, only(16..17));
        assert_eq!(marks[2].changed, only(16..17));
        assert_eq!(marks[3], Marks::default());
        assert!(marks.iter().all(|it| it.colours.is_empty()), "no language, no colours");
    }

    #[test]
    fn lines_that_share_little_are_not_compared() {
        let lines =
            [line(LineKind::Removed, "let x = 1;"), line(LineKind::Added, "while going(round) {")];
        assert!(marks("a.txt", &lines).iter().all(|it| it.changed.is_empty()));
    }

    #[test]
    fn each_side_is_coloured_in_its_context() {
        let lines = [
            line(LineKind::Removed, "/* a comment"),
            line(LineKind::Removed, "fn old() */"),
            line(LineKind::Added, "fn new() {}"),
        ];
        let marks = marks("a.rs", &lines);
        assert_eq!(marks[1].colours, [(0..11, Class::Comment)]);
        assert_eq!(marks[2].colours[0], (0..2, Class::Keyword));
    }

    #[test]
    fn hidden_characters_leave_a_line_unmarked() {
        let lines = [line(LineKind::Added, "fn f() {} // \u{202e}")];
        assert_eq!(marks("a.rs", &lines), [Marks::default()]);
    }

    #[test]
    fn removed_lines_pair_with_following_added_lines() {
        use LineKind::{Added, Context, Removed};
        let kinds = [Removed, Removed, Added, Context, Added, Removed, Added, Added, Removed];
        let lines: Vec<_> = kinds.iter().map(|kind| line(*kind, "x")).collect();
        assert_eq!(pairs(&lines), [(0, 2), (5, 6)]);
    }

    #[test]
    fn part_of_a_line_has_its_marks() {
        let marks = Marks {
            colours: vec![(0..4, Class::Keyword), (6..10, Class::String)],
            changed: only(2..8),
            ..Marks::default()
        };
        let part = marks.part(3..8);
        assert_eq!(part.colours, [(0..1, Class::Keyword), (3..5, Class::String)]);
        assert_eq!(part.changed, only(0..5));
    }
}
