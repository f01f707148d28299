//! A row of code on screen, and the columns of line numbers beside it. Pure data.

use std::ops::Range;

use super::marks::Marks;
use crate::run::{DiffLine, LineKind};
use crate::ui::{Icon, Tone};

/// A row on screen. A long line of a file takes several rows.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(test, derive(serde::Serialize))]
pub struct CodeRow {
    /// The line numbers before and after the change; only on the first row of a line.
    pub numbers: (Option<usize>, Option<usize>),
    /// The kind of the line.
    pub kind: LineKind,
    /// `+`, `-` or space; empty on the continuation rows of a wrapped line.
    pub sign: &'static str,
    /// The text, with hidden characters made visible.
    pub text: String,
    /// Whether the text comes from standard error.
    pub stderr: bool,
    /// Syntax colours and changed words.
    #[cfg_attr(test, serde(skip))]
    pub marks: Marks,
    /// The part of a line of a diff that the row shows, if its text can be selected.
    #[cfg_attr(test, serde(skip))]
    pub source: Option<RowSource>,
    /// What is shown beside the text of a list's entry; only on its first row.
    #[cfg_attr(test, serde(skip))]
    pub beside: Option<Box<Beside>>,
}

/// An icon before the text of a row, and a note at its right edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beside {
    /// The icon; `None` if the note has a row of its own.
    pub icon: Option<Icon>,
    /// The tone of icon and note.
    pub tone: Tone,
    /// The note; empty for none.
    pub note: String,
}

impl CodeRow {
    /// A row with text only.
    pub(in crate::ui) fn plain(text: String) -> Self {
        Self {
            numbers: (None, None),
            kind: LineKind::Context,
            sign: "",
            text,
            stderr: false,
            marks: Marks::default(),
            source: None,
            beside: None,
        }
    }

    /// A row of a text with line numbers. `number` is `None` for the continuation rows of a wrapped line.
    pub fn numbered(number: Option<usize>, text: String) -> Self {
        Self { numbers: (None, number), ..Self::plain(text) }
    }
}

/// The part of a line that a row shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowSource {
    /// The index of the line.
    pub line: usize,
    /// The bytes of the line that were laid out together with this row.
    pub part: Range<usize>,
    /// Where the row begins in the text of that part as it is shown.
    pub shown: usize,
}

/// The line numbers beside code: none, one number, or the numbers before and after a change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gutter {
    pub(super) numbers: u8,
    digits: u8,
    /// Space for icons, in points.
    icons: f32,
}

/// The maximum width of a digit in a line number, in points.
const DIGIT: f32 = 7.0;

impl Gutter {
    /// No numbers.
    pub const NONE: Self = Self { numbers: 0, digits: 0, icons: 0.0 };

    /// One column, wide enough for this number.
    pub fn one(largest: usize) -> Self {
        Self { numbers: 1, digits: digits(largest), icons: 0.0 }
    }

    /// As [`Gutter::one`], with space for the icons of a list.
    pub fn of_list(largest: usize) -> Self {
        Self { icons: 10.0, ..Self::one(largest) }
    }

    /// Two columns, wide enough for the numbers of these lines.
    pub fn of_diff(lines: &[DiffLine]) -> Self {
        Self { numbers: 2, digits: digits(Self::largest(lines)), icons: 0.0 }
    }

    /// The largest line number of a diff, as far as its last thousand lines tell.
    pub fn largest(lines: &[DiffLine]) -> usize {
        // If all lines were added, searching a million lines for a number before the change would be too slow.
        let last_lines = || lines.iter().rev().take(1_000);
        let last = |number: fn(&DiffLine) -> Option<usize>| last_lines().find_map(number);
        last(|line| line.before).max(last(|line| line.after)).unwrap_or(0)
    }

    /// The right edges of the columns of line numbers before and after, in points.
    pub(super) fn ends(self) -> (f32, f32) {
        let width = DIGIT * f32::from(self.digits);
        match self.numbers {
            0 | 1 => (0.0, 12.0 + width),
            _ => (8.0 + width, 10.0 + 2.0 * width),
        }
    }

    /// The width of the numbers and the space beside them, in points.
    pub fn width(self) -> f32 {
        match self.numbers {
            0 => 18.0,
            1 => self.ends().1 + 18.0 + self.icons,
            _ => self.ends().1 + 24.0,
        }
    }
}

/// The number of digits for which there is space: at least four, so that the code of short texts is aligned.
fn digits(largest: usize) -> u8 {
    largest.checked_ilog10().map_or(0, |log| log as u8 + 1).max(4)
}
