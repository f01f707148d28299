//! A difference: as one list of lines, or before and after beside each other.

use std::ops::Range;

use egui::{Id, Ui};

use super::code::{CodeRow, Gutter, columns, growing_rows_ui, pairs_ui, wrap};
use super::growing::{Rows, Wanted, growing_rows};
use super::marks::{Marks, marks, pairs};
use crate::run::{DiffLine, FileChange, LineKind};
use crate::ui::theme::{Text, Theme};
use crate::ui::widgets;

/// The lines of a change. `place` tells apart what is shown in the same part of the window.
pub(super) fn diff_ui(
    ui: &mut Ui,
    place: impl egui::AsIdSalt + Copy,
    change: &FileChange,
    lines: &[DiffLine],
) {
    // The difference is given by what it leads from and to.
    let (from, to) = (format!("{:?}", change.before), format!("{:?}", change.after));
    let beside = is_side_by_side(ui);
    let (gutter, width) = if beside {
        (Gutter::one(Gutter::largest(lines)), ui.available_width() / 2.0)
    } else {
        (Gutter::of_diff(lines), ui.available_width())
    };
    let sources = [change.path.clone(), from, to];
    let wanted = Wanted { sources, columns: columns(ui, width, gutter), beside };
    let Rows { rows, left } = growing_rows(ui, place, wanted, lines);
    if beside {
        pairs_ui(ui, ("beside", place), &rows, left, gutter);
    } else {
        growing_rows_ui(ui, place, &rows, left, gutter);
    }
}

/// How differences are shown, for as long as the window is open.
fn side_by_side() -> Id {
    Id::unique("differences side by side")
}

fn is_side_by_side(ui: &Ui) -> bool {
    ui.data(|data| data.get_temp(side_by_side())).unwrap_or(false)
}

/// The choice between the two ways.
pub(super) fn layout_ui(ui: &mut Ui) {
    let theme = Theme::of(ui);
    let now = is_side_by_side(ui);
    // On one line with the path beside it.
    ui.spacing_mut().button_padding.y = 0.0;
    ui.spacing_mut().interact_size.y = 18.0;
    // Laid out from the right.
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

/// What is known of a difference before its rows are made.
pub(super) struct Layout {
    columns: usize,
    marks: Vec<Marks>,
    /// Lines that stand beside each other; none where all stand below each other.
    pairs: Option<Vec<(usize, usize)>>,
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

    /// Adds the rows of the line at `index`; of two that stand beside each other with the first.
    pub(super) fn push(&self, lines: &[DiffLine], index: usize, found: &mut Vec<CodeRow>) {
        let Some(pairs) = &self.pairs else {
            found.extend(self.rows(lines, index));
            return;
        };
        let Some(line) = lines.get(index) else { return };
        // Both columns of the pairs are in order.
        let beside = pairs.binary_search_by_key(&index, |(old, _)| *old).ok();
        let rows = |index| self.rows(lines, index);
        match (line.kind, beside.and_then(|at| pairs.get(at))) {
            (LineKind::Context | LineKind::Gap, _) => push_pair(found, rows(index), rows(index)),
            (LineKind::Removed, Some((_, new))) => push_pair(found, rows(index), rows(*new)),
            (LineKind::Removed, None) => push_pair(found, rows(index), Vec::new()),
            (LineKind::Added, _) => {
                if pairs.binary_search_by_key(&index, |(_, new)| *new).is_err() {
                    push_pair(found, Vec::new(), rows(index));
                }
            }
        }
    }

    fn rows(&self, lines: &[DiffLine], index: usize) -> Vec<CodeRow> {
        let none = Marks::default();
        let marks = self.marks.get(index).unwrap_or(&none);
        lines.get(index).map_or_else(Vec::new, |line| line_rows(line, marks, self.columns))
    }
}

/// Puts two lines beside each other; the shorter one is followed by rows of nothing.
fn push_pair(found: &mut Vec<CodeRow>, before: Vec<CodeRow>, after: Vec<CodeRow>) {
    let height = before.len().max(after.len());
    let mut before = before.into_iter().map(|mut row| {
        row.numbers = (None, row.numbers.0);
        row
    });
    let mut after = after.into_iter().map(|mut row| {
        row.numbers = (None, row.numbers.1);
        row
    });
    let nothing = || CodeRow { kind: LineKind::Gap, ..CodeRow::plain(String::new()) };
    for _ in 0..height {
        found.push(before.next().unwrap_or_else(nothing));
        found.push(after.next().unwrap_or_else(nothing));
    }
}

fn line_rows(line: &DiffLine, marks: &Marks, columns: usize) -> Vec<CodeRow> {
    let sign = match line.kind {
        LineKind::Added => "+",
        LineKind::Removed => "-",
        LineKind::Context => " ",
        LineKind::Gap => "",
    };
    let text = if line.kind == LineKind::Gap { "⋯" } else { &line.text };
    let mut at = 0;
    let mut rows: Vec<_> = wrap(text, columns)
        .into_iter()
        .enumerate()
        .map(|(index, text)| {
            let first = index == 0;
            let part: Range<usize> = at..at + text.len();
            at = part.end;
            CodeRow {
                numbers: if first { (line.before, line.after) } else { (None, None) },
                kind: line.kind,
                sign: if first { sign } else { "" },
                text,
                stderr: false,
                marks: marks.part(part),
            }
        })
        .collect();
    if line.missing_newline {
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
        let mut rows = Vec::new();
        (0..lines.len()).for_each(|index| layout.push(lines, index, &mut rows));
        rows
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
            .map(|two| [&two[0], &two[1]].map(|row| (row.numbers.1.unwrap_or(0), &*row.text)))
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
