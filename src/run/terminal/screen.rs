//! The screen of a terminal: interprets what a program prints as a terminal would (SPEC §7.2).
//!
//! Sequences that would act outside the screen have no effect: the title, the clipboard, the bell and colours of the
//! window. Queries about the terminal itself are answered ([`TerminalScreen::take_replies`]): its kind, its state and
//! the position of the cursor. The library that interprets the sequences composes these answers without any text of
//! the program.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use alacritty_terminal::Term;
use alacritty_terminal::event::{Event, EventListener};
use alacritty_terminal::grid::{Dimensions, Scroll};
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::{Cell as TermCell, Flags};
use alacritty_terminal::term::{Config, Osc52, TermMode};
use alacritty_terminal::vte::ansi::{Color, CursorShape, NamedColor, Processor, Timeout};

use super::TerminalSize;
use crate::plan::{is_hidden, is_mark};
use crate::run::{AnsiStyle, Hue};

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
        self.rows.into()
    }

    fn screen_lines(&self) -> usize {
        self.rows.into()
    }

    fn columns(&self) -> usize {
        self.columns.into()
    }
}

/// The colour of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellColor {
    /// The colour of plain text.
    Text,
    /// The colour behind plain text.
    Background,
    /// One of the colours that every terminal has.
    Hue(Hue),
    /// Red, green and blue.
    Rgb(u8, u8, u8),
}

/// One cell of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell<'a> {
    /// The character; a space for an empty cell.
    pub character: char,
    /// The combining marks on it.
    pub marks: &'a [char],
    /// The colour of the text.
    pub text: CellColor,
    /// The colour behind it.
    pub background: CellColor,
    /// Whether the text is dimmed.
    pub faint: bool,
    /// Whether the text is bold.
    pub bold: bool,
    /// Whether the text is underlined.
    pub underlined: bool,
    /// Whether the text is struck through.
    pub struck: bool,
    /// Whether the character also takes the next cell, which is then left out.
    pub is_wide: bool,
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
        (row < usize::from(self.size.rows)).then_some(Cursor {
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
        for row in 0..usize::from(self.size.rows) {
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
    fn push(&mut self, cell: Cell<'_>) {
        let start = self.text.len();
        self.text.push(cell.character);
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

    fn trim_end(&mut self) {
        self.text.truncate(self.text.trim_end().len());
        let end = self.text.len();
        self.styles.retain_mut(|(range, _)| {
            range.end = range.end.min(end);
            range.start < range.end
        });
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

fn cell_of(cell: &TermCell) -> Cell<'_> {
    let (mut text, mut background) = (color(cell.fg), color(cell.bg));
    if cell.flags.contains(Flags::INVERSE) {
        std::mem::swap(&mut text, &mut background);
    }
    let is_concealed = cell.flags.contains(Flags::HIDDEN) || cell.c.is_control();
    let is_dim = matches!(
        cell.fg,
        Color::Named(
            NamedColor::DimBlack
                | NamedColor::DimRed
                | NamedColor::DimGreen
                | NamedColor::DimYellow
                | NamedColor::DimBlue
                | NamedColor::DimMagenta
                | NamedColor::DimCyan
                | NamedColor::DimWhite
                | NamedColor::DimForeground
        )
    );
    Cell {
        character: if is_concealed { ' ' } else { cell.c },
        marks: cell.zerowidth().filter(|_| !is_concealed).unwrap_or_default(),
        text,
        background,
        faint: is_dim || cell.flags.contains(Flags::DIM),
        bold: cell.flags.contains(Flags::BOLD),
        underlined: cell.flags.intersects(Flags::ALL_UNDERLINES),
        struck: cell.flags.contains(Flags::STRIKEOUT),
        is_wide: cell.flags.contains(Flags::WIDE_CHAR),
    }
}

fn color(color: Color) -> CellColor {
    match color {
        Color::Spec(rgb) => CellColor::Rgb(rgb.r, rgb.g, rgb.b),
        Color::Indexed(index) => indexed(index),
        Color::Named(NamedColor::Background) => CellColor::Background,
        Color::Named(name) => {
            let index = match name as usize {
                bright @ 8..=15 => bright - 8,
                index if index < 8 => index,
                dim => dim.wrapping_sub(NamedColor::DimBlack as usize),
            };
            let hue = u16::try_from(index).ok().and_then(Hue::from_index);
            hue.map_or(CellColor::Text, CellColor::Hue)
        }
    }
}

/// One of the 256 numbered colours.
fn indexed(index: u8) -> CellColor {
    let component = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
    match index {
        0..=15 => Hue::from_index(u16::from(index % 8)).map_or(CellColor::Text, CellColor::Hue),
        16..=231 => {
            let index = index - 16;
            CellColor::Rgb(component(index / 36), component(index / 6 % 6), component(index % 6))
        }
        grey => {
            let grey = 8 + 10 * (grey - 232);
            CellColor::Rgb(grey, grey, grey)
        }
    }
}

#[cfg(test)]
mod tests;
