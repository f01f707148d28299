//! The rows of a diff in either layout. Pure.

use std::ops::Range;

use super::CodeRow;
use super::code::marked_rows;
use super::code_row::RowSource;
use super::incremental_rows::LayoutKey;
use super::marks::{Marks, marks, pairs, ranges_in};
use super::twin_lines::{SpelledOut, spelled_out};
use super::wrap::is_one_row;
use crate::plan;
use crate::run::{DiffLine, LineKind};
use crate::ui::Tone;

/// The number of bytes of a line that are laid out at once.
pub(super) const PART_BYTES: usize = 64 << 10;

/// The properties of a diff that are computed before its rows are laid out.
pub(super) struct Layout {
    columns: usize,
    marks: Vec<Marks>,
    /// The parts of lines that are written out as code points.
    pub(super) spelled: SpelledOut,
    /// Whether the changed lines are too long to find those that look the same.
    pub(super) is_uncompared: bool,
    /// The removed and added lines that are side by side; `None` for a unified diff.
    pairs: Option<Vec<(usize, usize)>>,
}

/// A row whose position is known. Most lines take one row, whose content is created when it is drawn, so that the lines
/// of a long diff are not copied.
pub(super) enum LaidOutRow {
    /// The complete line at this index.
    Line(usize),
    /// A part of a line.
    Part(Box<CodeRow>),
    /// The empty space beside a line that takes more rows.
    Empty,
}

impl LaidOutRow {
    /// The line of the row.
    pub(super) fn line(&self) -> Option<usize> {
        match self {
            Self::Line(index) => Some(*index),
            Self::Part(row) => row.source.as_ref().map(|source| source.line),
            Self::Empty => None,
        }
    }
}

impl Layout {
    pub(super) fn new(key: &LayoutKey, lines: &[DiffLine]) -> Self {
        let [path, ..] = &key.sources;
        let (spelled, is_compared) = spelled_out(lines);
        Self {
            columns: key.columns,
            marks: marks(path, lines),
            spelled,
            is_uncompared: !is_compared,
            pairs: key.side_by_side.then(|| pairs(lines)),
        }
    }

    /// Whether the diff is too long to compute syntax colours and changed words.
    pub(super) fn is_unmarked(&self, lines: &[DiffLine]) -> bool {
        self.marks.is_empty() && !lines.is_empty()
    }

    /// Adds the rows of [`PART_BYTES`] bytes of the line at `index`, from byte `from` on. In a side-by-side diff, the
    /// call for the removed line of a pair adds both lines, and that for the added line none. Returns the byte from
    /// which on the line has more text; `None` if it has none.
    pub(super) fn push(
        &self,
        lines: &[DiffLine],
        index: usize,
        from: usize,
        rows: &mut Vec<LaidOutRow>,
    ) -> Option<usize> {
        let line = lines.get(index)?;
        let next_part = |sides: [Option<usize>; 2]| {
            let mut sides = sides.into_iter().flatten().filter_map(|index| lines.get(index));
            sides.any(|line| line.text.len() > from + PART_BYTES).then_some(from + PART_BYTES)
        };
        let Some(pairs) = &self.pairs else {
            self.push_line(lines, index, from, rows);
            return next_part([Some(index), None]);
        };
        // The pairs are sorted by both lines.
        let pair = pairs.binary_search_by_key(&index, |(old, _)| *old).ok();
        let (left, right) = match (line.kind, pair.and_then(|pair| pairs.get(pair))) {
            (LineKind::Context | LineKind::Gap, _) => (Some(index), Some(index)),
            (LineKind::Removed, Some((_, new))) => (Some(index), Some(*new)),
            (LineKind::Removed, None) => (Some(index), None),
            (LineKind::Added, _) => {
                if pairs.binary_search_by_key(&index, |(_, new)| *new).is_ok() {
                    return None;
                }
                (None, Some(index))
            }
        };
        // The usual case: each side takes one row.
        if [left, right].into_iter().flatten().all(|index| self.fits(lines, index)) {
            let row = |index: Option<usize>| index.map_or(LaidOutRow::Empty, LaidOutRow::Line);
            rows.extend([left, right].map(row));
            return None;
        }
        let next = next_part([left, right]);
        let [left, right] = [left, right].map(|index| {
            let mut side = Vec::new();
            index.into_iter().for_each(|index| self.push_line(lines, index, from, &mut side));
            side
        });
        let height = left.len().max(right.len());
        let (mut left, mut right) = (left.into_iter(), right.into_iter());
        for _ in 0..height {
            rows.push(left.next().unwrap_or(LaidOutRow::Empty));
            rows.push(right.next().unwrap_or(LaidOutRow::Empty));
        }
        next
    }

    /// Adds the rows of one line, as [`Layout::push`] does.
    fn push_line(&self, lines: &[DiffLine], index: usize, from: usize, rows: &mut Vec<LaidOutRow>) {
        if self.fits(lines, index) {
            rows.extend((from == 0).then_some(LaidOutRow::Line(index)));
        } else {
            rows.extend(self.parts(lines, index, from).map(|row| LaidOutRow::Part(Box::new(row))));
        }
    }

    /// Whether a line takes one row.
    fn fits(&self, lines: &[DiffLine], index: usize) -> bool {
        lines.get(index).is_some_and(|line| {
            // Most characters take at least as many columns as bytes, so that the columns of a longer text are not counted.
            let is_short = || {
                line.kind == LineKind::Gap
                    || line.text.len() <= self.columns.max(8)
                        && is_one_row(&line.text, self.columns)
            };
            !line.missing_newline && !self.spelled.contains_key(&index) && is_short()
        })
    }

    /// The rows of a part of a line, from byte `from` on.
    fn parts(
        &self,
        lines: &[DiffLine],
        index: usize,
        from: usize,
    ) -> impl Iterator<Item = CodeRow> {
        let none = Marks::default();
        let marks = self.marks.get(index).unwrap_or(&none);
        let spelled = self.spelled.get(&index).map_or(&[][..], Vec::as_slice);
        let rows = lines
            .get(index)
            .map(|line| line_rows((index, line), marks, spelled, self.columns, from));
        rows.into_iter().flatten()
    }

    /// The content of a laid out row; `None` if there is no such line.
    pub(super) fn row(&self, lines: &[DiffLine], row: &LaidOutRow) -> Option<CodeRow> {
        match row {
            LaidOutRow::Line(index) => self.parts(lines, *index, 0).next(),
            LaidOutRow::Part(row) => Some(CodeRow::clone(row)),
            LaidOutRow::Empty => {
                Some(CodeRow { kind: LineKind::Gap, ..CodeRow::plain(String::new()) })
            }
        }
    }
}

/// The rows of [`PART_BYTES`] bytes of a line, from byte `from` on.
fn line_rows(
    (line_index, line): (usize, &DiffLine),
    marks: &Marks,
    spelled: &[Range<usize>],
    columns: usize,
    from: usize,
) -> Vec<CodeRow> {
    let sign = match line.kind {
        LineKind::Added => "+",
        LineKind::Removed => "-",
        LineKind::Context => " ",
        LineKind::Gap => "",
    };
    let text = if line.kind == LineKind::Gap { "⋯" } else { &line.text };
    if from > 0 && from >= text.len() {
        return Vec::new();
    }
    let (start, end) =
        (text.floor_char_boundary(from), text.floor_char_boundary(from + PART_BYTES));
    let is_last = end == text.len();
    let text = text.get(start..end).unwrap_or_default();
    let in_part = ranges_in(&(start..end), spelled);
    let rows: Box<dyn Iterator<Item = CodeRow>> = if in_part.is_empty() {
        Box::new(marked_rows(text, marks, start, columns))
    } else {
        // What is written out shifts the ranges after it, so that a line has only these marks.
        let (text, written) = plan::spelled_out(text, &in_part);
        let emphasized = written.into_iter().map(|range| (range, Tone::Danger)).collect();
        let marks = Marks { emphasized, ..Marks::default() };
        Box::new(marked_rows(&text, &marks, 0, columns).collect::<Vec<_>>().into_iter())
    };
    let mut shown = 0;
    let mut rows: Vec<_> = rows
        .enumerate()
        .map(|(index, row)| {
            let first = index == 0 && from == 0;
            let source = RowSource { line: line_index, part: start..end, shown };
            shown += row.text.len();
            CodeRow {
                numbers: if first { (line.before, line.after) } else { (None, None) },
                kind: line.kind,
                sign: if first { sign } else { "" },
                source: (line.kind != LineKind::Gap).then_some(source),
                ..row
            }
        })
        .collect();
    if line.missing_newline && is_last {
        let text = "(no line break at the end of the file)".to_owned();
        rows.push(CodeRow { kind: line.kind, ..CodeRow::plain(text) });
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(lines: &[DiffLine], columns: usize, side_by_side: bool) -> Vec<CodeRow> {
        let sources = ["a.txt", "", ""].map(str::to_owned);
        let layout = Layout::new(&LayoutKey { sources, columns, side_by_side }, lines);
        let mut rows = Vec::new();
        for index in 0..lines.len() {
            let mut next = Some(0);
            while let Some(from) = next {
                next = layout.push(lines, index, from, &mut rows);
            }
        }
        rows.iter().map(|row| layout.row(lines, row).unwrap()).collect()
    }

    fn line(kind: LineKind, number: usize, text: &str) -> DiffLine {
        let side = |other| (kind != other).then_some(number);
        DiffLine {
            kind,
            before: side(LineKind::Added),
            after: side(LineKind::Removed),
            text: text.to_owned(),
            missing_newline: false,
        }
    }

    /// However wide its characters are: those without a font are drawn as code points.
    #[test]
    fn rows_have_all_of_a_line() {
        let clusters = ["a", "é", "🛠", "👩\u{200d}👩\u{200d}👧", "ก", "\u{202e}", "設", " ", "字"];
        for length in 1..=24 {
            for start in 0..clusters.len() {
                let text: String = (0..length)
                    .map(|index| clusters[(start + index * (start % 3 + 1)) % clusters.len()])
                    .collect();
                for columns in [8, 13, 21, 34, 55] {
                    for side_by_side in [false, true] {
                        let lines = [line(LineKind::Added, 1, &text)];
                        let rows = rows(&lines, columns, side_by_side);
                        let shown: String = rows.iter().map(|row| &*row.text).collect();
                        let whole = super::super::wrap::wrap(&text, columns).concat();
                        assert_eq!(shown, whole, "{columns} columns");
                    }
                }
            }
        }
    }

    #[test]
    fn replaced_lines_stand_side_by_side() {
        let lines = [
            line(LineKind::Context, 1, "same"),
            line(LineKind::Removed, 2, "old"),
            line(LineKind::Removed, 3, "gone"),
            line(LineKind::Added, 2, "a new line that is longer"),
            line(LineKind::Context, 4, "end"),
            line(LineKind::Added, 5, "more"),
        ];
        let rows = rows(&lines, 14, true);
        let shown: Vec<_> = rows
            .chunks(2)
            .map(|pair| {
                let number = |row: &CodeRow, side: usize| <[_; 2]>::from(row.numbers)[side];
                [0, 1].map(|side| (number(&pair[side], side).unwrap_or(0), &*pair[side].text))
            })
            .collect();
        assert_eq!(
            shown,
            [
                [(1, "same"), (1, "same")],
                [(2, "old"), (2, "a new line ")],
                [(0, ""), (0, "that is longer")],
                [(3, "gone"), (0, "")],
                [(4, "end"), (4, "end")],
                [(0, ""), (5, "more")],
            ]
        );
    }

    #[test]
    fn long_lines_are_whole_in_both_layouts() {
        let text = "é一 word".repeat(3 * PART_BYTES / 8);
        let old = line(LineKind::Removed, 1, &text[..text.floor_char_boundary(PART_BYTES + 10)]);
        let new = DiffLine { missing_newline: true, ..line(LineKind::Added, 1, &text) };
        for side_by_side in [false, true] {
            let rows = rows(&[old.clone(), new.clone()], 80, side_by_side);
            for (line, kind) in [(&old, LineKind::Removed), (&new, LineKind::Added)] {
                let of_kind: Vec<_> = rows.iter().filter(|row| row.kind == kind).collect();
                let shown: String = of_kind.iter().map(|row| row.text.as_str()).collect();
                let end = "(no line break at the end of the file)";
                assert!(
                    shown.strip_suffix(end).unwrap_or(&shown) == line.text,
                    "{kind:?} {side_by_side}"
                );
                assert_eq!(shown.ends_with(end), line.missing_newline);
                assert_eq!(of_kind.iter().filter(|row| !row.sign.is_empty()).count(), 1);
            }
        }
    }

    #[test]
    fn overlong_diff_is_left_uncoloured() {
        let is_unmarked = |lines: &[DiffLine]| {
            let sources = ["a.rs", "", ""].map(str::to_owned);
            let key = LayoutKey { sources, columns: 80, side_by_side: false };
            Layout::new(&key, lines).is_unmarked(lines)
        };
        assert!(is_unmarked(&[line(LineKind::Added, 1, &"x".repeat(1 << 20))]));
        assert!(!is_unmarked(&[line(LineKind::Added, 1, "x")]));
        assert!(!is_unmarked(&[]));
    }

    #[test]
    fn every_line_is_in_both_layouts() {
        let lines: Vec<_> = (1..40)
            .map(|number| {
                let kinds =
                    [LineKind::Context, LineKind::Removed, LineKind::Removed, LineKind::Added];
                line(kinds[number % 4], number, &format!("text {number}"))
            })
            .collect();
        let texts = |rows: Vec<CodeRow>| -> Vec<String> {
            let mut texts: Vec<_> = rows.into_iter().map(|row| row.text).collect();
            texts.retain(|text| !text.is_empty());
            texts.sort();
            texts.dedup();
            texts
        };
        assert_eq!(texts(rows(&lines, 80, false)), texts(rows(&lines, 80, true)));
    }
}
