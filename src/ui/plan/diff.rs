//! A diff, unified or side by side.

use egui::{Id, Ui};

use super::code::{CodeRow, Gutter, columns, growing_rows_ui, marked_rows, pairs_ui};
use super::incremental_rows::{Rows, Wanted, growing_rows};
use super::marks::{Marks, marks, pairs};
use crate::plan::visible;
use crate::run::{DiffLine, FileChange, LineKind};
use crate::ui::icon;
use crate::ui::theme::{Text, Theme, Tone};
use crate::ui::widgets;

/// The bytes of one line that are laid out in one piece.
pub(super) const PART: usize = 64 << 10;

/// The lines of a change. `place` distinguishes several uses in the same part of the window.
pub(super) fn diff_ui(
    ui: &mut Ui,
    place: impl egui::AsIdSalt + Copy,
    change: &FileChange,
    lines: &[DiffLine],
) {
    // The states before and after determine the diff.
    let (from, to) = (format!("{:?}", change.before), format!("{:?}", change.after));
    let beside = is_side_by_side(ui);
    let (gutter, width) = if beside {
        (Gutter::one(Gutter::largest(lines)), ui.available_width() / 2.0)
    } else {
        (Gutter::of_diff(lines), ui.available_width())
    };
    let sources = [change.path.clone(), from, to];
    let wanted = Wanted { sources, columns: columns(ui, width, gutter), beside };
    let Rows { layout, laid, left } = growing_rows(ui, place, wanted, lines);
    if layout.is_left_plain(lines) {
        let text = "Too long for colours and for marks of changed words; the text is complete.";
        widgets::remark(ui, icon::INFO, Tone::Dim, text);
    }
    let row = |index: usize| laid.get(index).and_then(|laid| layout.row(lines, laid));
    if beside {
        pairs_ui(ui, ("beside", place), laid.len() / 2 + left, gutter, row);
    } else {
        growing_rows_ui(ui, place, laid.len() + left, gutter, row);
    }
}

/// The chosen layout of diffs, kept until the window closes.
fn side_by_side() -> Id {
    Id::unique("differences side by side")
}

fn is_side_by_side(ui: &Ui) -> bool {
    ui.data(|data| data.get_temp(side_by_side())).unwrap_or(false)
}

/// The choice between unified and side by side.
pub(super) fn layout_ui(ui: &mut Ui) {
    let theme = Theme::of(ui);
    let now = is_side_by_side(ui);
    // The choice is on the line of the path, so it must not be higher.
    ui.spacing_mut().button_padding.y = 0.0;
    ui.spacing_mut().interact_size.y = 18.0;
    // Listed in reverse, because this layout goes from right to left.
    for (name, beside) in [("Side by side", true), ("Unified", false)] {
        let color = if now == beside { theme.text } else { theme.dim };
        let text = widgets::rich(name, Text::Meta, color);
        let button = egui::Button::selectable(now == beside, text).frame_when_inactive(false);
        let response = ui.add(button);
        widgets::focus_ring(ui, &response);
        if response.clicked() {
            ui.data_mut(|data| data.insert_temp(side_by_side(), beside));
        }
    }
}

/// The properties of a diff that are computed before its rows are laid out.
pub(super) struct Layout {
    columns: usize,
    marks: Vec<Marks>,
    /// Pairs of lines that stand side by side; `None` for a unified diff.
    pairs: Option<Vec<(usize, usize)>>,
}

/// The content of a row. Most lines take one row, which is created when it is drawn, so the lines of a long diff are
/// not copied.
pub(super) enum Laid {
    /// The whole line at this index.
    Line(usize),
    /// A part of a line.
    Part(Box<CodeRow>),
    /// The empty space next to a longer line.
    Nothing,
}

impl Layout {
    pub(super) fn new(wanted: &Wanted, lines: &[DiffLine]) -> Self {
        let [path, ..] = &wanted.sources;
        Self {
            columns: wanted.columns,
            marks: marks(path, lines),
            pairs: wanted.beside.then(|| pairs(lines)),
        }
    }

    /// Whether the diff is too long to compute syntax colours and changed words.
    fn is_left_plain(&self, lines: &[DiffLine]) -> bool {
        self.marks.is_empty() && !lines.is_empty()
    }

    /// Adds the rows of the line at `index`: [`PART`] bytes of its text, starting at byte `from`. In a
    /// side-by-side diff, the call for the first line of a pair adds both. Returns the byte from which text
    /// is left.
    pub(super) fn push(
        &self,
        lines: &[DiffLine],
        index: usize,
        from: usize,
        found: &mut Vec<Laid>,
    ) -> Option<usize> {
        let line = lines.get(index)?;
        let more = |sides: [Option<usize>; 2]| {
            let mut sides = sides.into_iter().flatten().filter_map(|index| lines.get(index));
            sides.any(|line| line.text.len() > from + PART).then_some(from + PART)
        };
        let Some(pairs) = &self.pairs else {
            self.lay(lines, index, from, found);
            return more([Some(index), None]);
        };
        // Both columns of the pairs are sorted.
        let beside = pairs.binary_search_by_key(&index, |(old, _)| *old).ok();
        let (left, right) = match (line.kind, beside.and_then(|at| pairs.get(at))) {
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
        // Almost all pairs take one row on both sides, and there are many of them.
        if [left, right].into_iter().flatten().all(|index| self.fits(lines, index)) {
            found.extend([left, right].map(|index| index.map_or(Laid::Nothing, Laid::Line)));
            return None;
        }
        let more = more([left, right]);
        let [left, right] = [left, right].map(|index| {
            let mut rows = Vec::new();
            index.into_iter().for_each(|index| self.lay(lines, index, from, &mut rows));
            rows
        });
        let height = left.len().max(right.len());
        let (mut left, mut right) = (left.into_iter(), right.into_iter());
        for _ in 0..height {
            found.push(left.next().unwrap_or(Laid::Nothing));
            found.push(right.next().unwrap_or(Laid::Nothing));
        }
        more
    }

    fn lay(&self, lines: &[DiffLine], index: usize, from: usize, found: &mut Vec<Laid>) {
        if self.fits(lines, index) {
            found.extend((from == 0).then_some(Laid::Line(index)));
        } else {
            found.extend(self.parts(lines, index, from).map(|row| Laid::Part(Box::new(row))));
        }
    }

    /// Whether a line takes one row.
    fn fits(&self, lines: &[DiffLine], index: usize) -> bool {
        lines.get(index).is_some_and(|line| {
            // Making characters visible never shortens a text, so a text that is too long need not be
            // searched for hidden ones.
            let most = self.columns.max(8);
            let short = || {
                line.kind == LineKind::Gap
                    || line.text.len() <= most && visible(&line.text).len() <= most
            };
            !line.missing_newline && short()
        })
    }

    fn parts(
        &self,
        lines: &[DiffLine],
        index: usize,
        from: usize,
    ) -> impl Iterator<Item = CodeRow> {
        let none = Marks::default();
        let marks = self.marks.get(index).unwrap_or(&none);
        let rows = lines.get(index).map(|line| line_rows(line, marks, self.columns, from));
        rows.into_iter().flatten()
    }

    /// The code row of a laid-out row; an empty row for [`Laid::Nothing`].
    pub(super) fn row(&self, lines: &[DiffLine], laid: &Laid) -> Option<CodeRow> {
        match laid {
            Laid::Line(index) => self.parts(lines, *index, 0).next(),
            Laid::Part(row) => Some(CodeRow::clone(row)),
            Laid::Nothing => Some(CodeRow { kind: LineKind::Gap, ..CodeRow::plain(String::new()) }),
        }
    }
}

/// The rows of [`PART`] bytes of a line.
fn line_rows(line: &DiffLine, marks: &Marks, columns: usize, from: usize) -> Vec<CodeRow> {
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
    let (start, end) = (text.floor_char_boundary(from), text.floor_char_boundary(from + PART));
    let is_last = end == text.len();
    let text = text.get(start..end).unwrap_or_default();
    let mut rows: Vec<_> = marked_rows(text, marks, start, columns)
        .enumerate()
        .map(|(index, row)| {
            let first = index == 0 && from == 0;
            CodeRow {
                numbers: if first { (line.before, line.after) } else { (None, None) },
                kind: line.kind,
                sign: if first { sign } else { "" },
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

    fn rows(lines: &[DiffLine], columns: usize, beside: bool) -> Vec<CodeRow> {
        let sources = ["a.txt", "", ""].map(str::to_owned);
        let layout = Layout::new(&Wanted { sources, columns, beside }, lines);
        let mut laid = Vec::new();
        for index in 0..lines.len() {
            let mut from = Some(0);
            while let Some(at) = from {
                from = layout.push(lines, index, at, &mut laid);
            }
        }
        laid.iter().map(|laid| layout.row(lines, laid).unwrap()).collect()
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

    #[test]
    fn lines_that_were_replaced_stand_beside_each_other() {
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
            .map(|two| {
                let number = |row: &CodeRow, side: usize| <[_; 2]>::from(row.numbers)[side];
                [0, 1].map(|side| (number(&two[side], side).unwrap_or(0), &*two[side].text))
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
    fn a_line_of_many_parts_is_whole_in_both_ways() {
        let text = "é一 word".repeat(3 * PART / 8);
        let old = line(LineKind::Removed, 1, &text[..text.floor_char_boundary(PART + 10)]);
        let new = DiffLine { missing_newline: true, ..line(LineKind::Added, 1, &text) };
        for beside in [false, true] {
            let rows = rows(&[old.clone(), new.clone()], 80, beside);
            for (wanted, kind) in [(&old, LineKind::Removed), (&new, LineKind::Added)] {
                let of_kind: Vec<_> = rows.iter().filter(|row| row.kind == kind).collect();
                let shown: String = of_kind.iter().map(|row| row.text.as_str()).collect();
                let end = "(no line break at the end of the file)";
                assert!(
                    shown.strip_suffix(end).unwrap_or(&shown) == wanted.text,
                    "{kind:?} {beside}"
                );
                assert_eq!(shown.ends_with(end), wanted.missing_newline);
                assert_eq!(of_kind.iter().filter(|row| !row.sign.is_empty()).count(), 1);
            }
        }
    }

    #[test]
    fn a_difference_too_long_for_colours_says_so() {
        let said = |lines: &[DiffLine]| {
            let sources = ["a.rs", "", ""].map(str::to_owned);
            let wanted = Wanted { sources, columns: 80, beside: false };
            Layout::new(&wanted, lines).is_left_plain(lines)
        };
        assert!(said(&[line(LineKind::Added, 1, &"x".repeat(1 << 20))]));
        assert!(!said(&[line(LineKind::Added, 1, "x")]));
        assert!(!said(&[]));
    }

    #[test]
    fn every_line_stands_in_both_ways() {
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
