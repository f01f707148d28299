//! The screen of a terminal: interprets what a program prints as a terminal would (SPEC §7.2).
//!
//! Sequences that would act outside the screen have no effect: the title, the clipboard, the bell and colours of the
//! window. Queries about the terminal itself are answered ([`TerminalScreen::take_replies`]): its kind, its state and
//! the position of the cursor. The library that interprets the sequences composes these answers without any text of
//! the program.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use alacritty_terminal::Term;
use alacritty_terminal::event::{Event, EventListener};
use alacritty_terminal::grid::{Dimensions, Scroll};
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::term::{Config, Osc52, TermMode};
use alacritty_terminal::vte::ansi::{CursorShape, Processor, Timeout};

use super::cell::{Cell, cell_of};
use super::line::{ScreenLine, ScreenLines};
use super::size::TerminalSize;
use crate::plan::{is_hidden, is_mark};

/// The number of lines above the screen that are kept.
const HISTORY: usize = 10_000;
/// The maximum size of the answers that were not taken, in bytes. A program that only asks gets no more.
const MAX_REPLIES: usize = 4 << 10;
/// The maximum number of combining marks on one character.
const MAX_MARKS: usize = 3;

/// The screen of one terminal with the lines above it.
pub struct TerminalScreen {
    term: Term<Replies>,
    processor: Processor<NeverSynchronized>,
    replies: Replies,
    size: TerminalSize,
    /// The number of combining marks at the end of the output so far.
    marks: usize,
}

impl std::fmt::Debug for TerminalScreen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("TerminalScreen").field(&self.size).finish()
    }
}

/// Collects the answers to queries.
#[derive(Clone, Default)]
struct Replies(Arc<Mutex<Vec<u8>>>);

impl EventListener for Replies {
    fn send_event(&self, event: Event) {
        // Every other event asks for something outside the screen.
        let Event::PtyWrite(text) = event else { return };
        let mut replies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if replies.len() + text.len() <= MAX_REPLIES {
            replies.extend_from_slice(text.as_bytes());
        }
    }
}

/// Shows updates at once that a program wants to be shown together. Otherwise a program that never ends such an update
/// would freeze the screen.
#[derive(Default)]
struct NeverSynchronized;

impl Timeout for NeverSynchronized {
    fn set_timeout(&mut self, _: Duration) {}

    fn clear_timeout(&mut self) {}

    fn pending_timeout(&self) -> bool {
        false
    }
}

impl Dimensions for TerminalSize {
    fn total_lines(&self) -> usize {
        Self::rows(*self).into()
    }

    fn screen_lines(&self) -> usize {
        Self::rows(*self).into()
    }

    fn columns(&self) -> usize {
        Self::columns(*self).into()
    }
}

/// The place of the cursor, from the top left of the visible part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The row, from 0.
    pub row: usize,
    /// The column, from 0.
    pub column: usize,
    /// Whether it is a line between two cells, and not a whole cell.
    pub is_beam: bool,
}

/// What the program has asked of the keyboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TerminalModes {
    /// Cursor keys send their application sequences.
    pub application_cursor: bool,
    /// Pasted text is put in brackets.
    pub bracketed_paste: bool,
    /// The program uses the alternate screen, which has no lines above it.
    pub alternate_screen: bool,
}

impl TerminalScreen {
    /// An empty screen.
    pub fn new(size: TerminalSize) -> Self {
        let config =
            Config { scrolling_history: HISTORY, osc52: Osc52::Disabled, ..Config::default() };
        let replies = Replies::default();
        Self {
            term: Term::new(config, &size, replies.clone()),
            processor: Processor::new(),
            replies,
            size,
            marks: 0,
        }
    }

    /// Interprets the next output of the program.
    pub fn feed(&mut self, text: &str) {
        let shown = shown(text, &mut self.marks);
        self.processor.advance(&mut self.term, shown.as_bytes());
    }

    /// Ends an escape sequence that may be incomplete, because output was left out.
    pub fn resynchronize(&mut self) {
        self.processor.advance(&mut self.term, b"\x18");
    }

    /// Removes and returns the answers to the program's queries.
    pub fn take_replies(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.replies.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the size. Lines that do not fit are wrapped.
    pub fn resize(&mut self, size: TerminalSize) {
        if self.size != size {
            self.size = size;
            self.term.resize(size);
        }
    }

    /// The size of the screen.
    pub fn size(&self) -> TerminalSize {
        self.size
    }

    /// Shows earlier lines (positive) or later ones (negative).
    pub fn scroll(&mut self, lines: i32) {
        self.term.scroll_display(Scroll::Delta(lines));
    }

    /// Shows the last lines.
    pub fn scroll_to_end(&mut self) {
        self.term.scroll_display(Scroll::Bottom);
    }

    /// The number of lines below the visible ones; 0 if the last ones are shown.
    pub fn lines_below(&self) -> usize {
        self.term.grid().display_offset()
    }

    /// What the program has asked of the keyboard.
    pub fn modes(&self) -> TerminalModes {
        let mode = self.term.mode();
        TerminalModes {
            application_cursor: mode.contains(TermMode::APP_CURSOR),
            bracketed_paste: mode.contains(TermMode::BRACKETED_PASTE),
            alternate_screen: mode.contains(TermMode::ALT_SCREEN),
        }
    }

    /// The place of the cursor; `None` if it is hidden or not in sight.
    pub fn cursor(&self) -> Option<Cursor> {
        let cursor = self.term.renderable_content().cursor;
        if cursor.shape == CursorShape::Hidden {
            return None;
        }
        let row = usize::try_from(cursor.point.line.0).ok()? + self.lines_below();
        let is_beam = cursor.shape == CursorShape::Beam;
        (row < usize::from(self.size.rows())).then_some(Cursor {
            row,
            column: cursor.point.column.0,
            is_beam,
        })
    }

    /// The cells of a visible row with their columns, from 0; the second half of a wide character is left out.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, Cell<'_>)> {
        let below = i32::try_from(self.lines_below()).unwrap_or(0);
        self.line(Line(i32::try_from(row).unwrap_or(0) - below))
    }

    fn line(&self, line: Line) -> impl Iterator<Item = (usize, Cell<'_>)> {
        let grid = self.term.grid();
        let line = line.clamp(grid.topmost_line(), grid.bottommost_line());
        (0..grid.columns()).filter_map(move |column| {
            let cell = &grid[line][Column(column)];
            let spacers = Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER;
            (!cell.flags.intersects(spacers)).then(|| (column, cell_of(cell)))
        })
    }

    /// The text of the visible rows, without blanks at their ends, and without empty rows at the end.
    pub fn visible_text(&self) -> String {
        let mut text = String::new();
        for row in 0..usize::from(self.size.rows()) {
            let start = text.len();
            for (_, cell) in self.row(row) {
                text.push(cell.character);
                text.extend(cell.marks);
            }
            text.truncate(start + text.get(start..).unwrap_or_default().trim_end().len());
            text.push('\n');
        }
        text.truncate(text.trim_end().len());
        text
    }

    /// Ends the use of the screen: its lines from the first that is kept to the last that is not empty. Rows that the
    /// terminal has wrapped are one line. If the program ended in the alternate screen, its rows come last.
    pub fn into_lines(mut self) -> ScreenLines {
        let alternate = self.modes().alternate_screen.then(|| {
            let lines = self.lines();
            self.term.swap_alt();
            lines
        });
        let is_incomplete = self.term.grid().history_size() >= HISTORY;
        let mut lines = self.lines();
        lines.extend(alternate.into_iter().flatten());
        ScreenLines { lines, is_incomplete }
    }

    fn lines(&self) -> Vec<ScreenLine> {
        let grid = self.term.grid();
        let mut lines = Vec::new();
        let mut current = ScreenLine::default();
        for line in grid.topmost_line().0..=grid.bottommost_line().0 {
            let line = Line(line);
            let is_wrapped = grid[line][grid.last_column()].flags.contains(Flags::WRAPLINE);
            for (_, cell) in self.line(line) {
                current.push(cell);
            }
            if !is_wrapped {
                current.trim_end();
                lines.push(std::mem::take(&mut current));
            }
        }
        let filled = lines.iter().rposition(|line| !line.text.is_empty());
        lines.truncate(filled.map_or(0, |last| last + 1));
        lines
    }
}

/// The text as the terminal gets it. Characters that cannot be seen become replacement characters, because they would
/// change how their neighbours look; variation selectors and marks above the limit are left out. `marks` is the number of
/// marks before the text, and then at its end.
fn shown<'a>(text: &'a str, marks: &mut usize) -> Cow<'a, str> {
    if text.is_empty() {
        return Cow::Borrowed(text);
    }
    if text.is_ascii() {
        *marks = 0;
        return Cow::Borrowed(text);
    }
    // The second and third part of a Korean syllable take no cell of their own either.
    let joins =
        |c: char| is_mark(c) || matches!(c, '\u{1160}'..='\u{11FF}' | '\u{D7B0}'..='\u{D7FF}');
    let shown = text.chars().filter_map(|c| {
        *marks = if joins(c) { *marks + 1 } else { 0 };
        let is_blank = matches!(
            c,
            '\u{00A0}' | '\u{2000}'
                ..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{2800}' | '\u{3000}'
        );
        match c {
            '\u{FE00}'..='\u{FE0F}' => None,
            c if c.is_ascii() || is_blank => Some(c),
            c if is_hidden(c) => Some(char::REPLACEMENT_CHARACTER),
            c => (*marks <= MAX_MARKS).then_some(c),
        }
    });
    Cow::Owned(shown.collect())
}

#[cfg(test)]
mod tests;
