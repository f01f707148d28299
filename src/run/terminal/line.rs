//! What a screen showed, as lines of text.

use std::ops::Range;

use super::cell::{Cell, CellColor};
use crate::plan::quoted;
use crate::run::{AnsiStyle, Hue};

/// The lines of a screen whose program has ended.
#[derive(Debug, Default)]
pub struct ScreenLines {
    /// The lines, the first one first.
    pub lines: Vec<ScreenLine>,
    /// Whether there may have been earlier lines.
    pub is_incomplete: bool,
}

/// One line of a screen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScreenLine {
    /// The text of the line.
    pub text: String,
    /// The byte ranges of the text that do not have the default style.
    pub styles: Vec<(Range<usize>, AnsiStyle)>,
}

impl ScreenLine {
    /// Adds a cell.
    pub(super) fn push(&mut self, cell: Cell<'_>) {
        let start = self.text.len();
        // As in other output, in whose lines a bracket would begin the mark of a hidden character.
        self.text.push_str(&quoted(cell.character.encode_utf8(&mut [0; 4])));
        self.text.extend(cell.marks);
        // The colour behind reversed text is shown as the colour of the text.
        let color = if cell.text == CellColor::Background { cell.background } else { cell.text };
        let hue = match color {
            CellColor::Hue(hue) => Some(hue),
            CellColor::Rgb(red, green, blue) => Hue::nearest(red.into(), green.into(), blue.into()),
            CellColor::Text | CellColor::Background => None,
        };
        let style = AnsiStyle { hue, faint: cell.faint, underlined: cell.underlined };
        if style == AnsiStyle::default() {
            return;
        }
        match self.styles.last_mut() {
            Some((range, last)) if *last == style && range.end == start => {
                range.end = self.text.len();
            }
            _ => self.styles.push((start..self.text.len(), style)),
        }
    }

    /// Removes the blanks at the end.
    pub(super) fn trim_end(&mut self) {
        self.text.truncate(self.text.trim_end().len());
        let end = self.text.len();
        self.styles.retain_mut(|(range, _)| {
            range.end = range.end.min(end);
            range.start < range.end
        });
    }
}
