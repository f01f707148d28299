//! Lines that are longer than the terminal is wide.
//!
//! A terminal goes on with the rest of such a line at the beginning of the next one, where a text from outside could then
//! look like a line of this program. So long lines are ended before that, and go on with [`QUOTE`].

use std::io::{self, Write};

use unicode_width::UnicodeWidthChar as _;

use super::output::QUOTE;

/// A narrower terminal is not believed, in columns.
const MIN_WIDTH: usize = 20;
/// The distance of tab stops, in columns.
const TAB: usize = 8;

/// The width of the terminal that this is, in columns; `None` if it is none.
#[cfg(unix)]
pub(super) fn width_of(stream: &impl std::os::fd::AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|width| *width >= MIN_WIDTH)
}

/// The width of the terminal that this is, in columns; not known on this system.
#[cfg(not(unix))]
pub(super) fn width_of<T>(_: &T) -> Option<usize> {
    None
}

/// The column in which a stream is.
#[derive(Debug)]
pub(super) struct Column(usize);

impl Column {
    /// The beginning of a line.
    pub(super) const START: Self = Self(0);

    /// This text, which goes on at the column, with line breaks where it would be wider than `width` columns.
    pub(super) fn fold(&mut self, text: &str, width: usize) -> String {
        let mut folded = String::with_capacity(text.len());
        for char in text.chars() {
            if char == '\n' {
                folded.push(char);
                self.0 = 0;
                continue;
            }
            let mut end = self.end_of(char);
            if end > width {
                folded.push('\n');
                folded.push_str(QUOTE);
                self.0 = QUOTE.len();
                end = self.end_of(char);
            }
            folded.push(char);
            self.0 = end;
        }
        folded
    }

    /// The column behind a character. Terminals differ in what they do with combining and ambiguous ones, so that each
    /// counts as wide as any of them may draw it.
    fn end_of(&self, char: char) -> usize {
        match char {
            '\t' => (self.0 / TAB + 1) * TAB,
            // Two of them are a flag, and some terminals give each of them two columns.
            '\u{1f1e6}'..='\u{1f1ff}' => self.0 + 2,
            char => self.0 + char.width_cjk().unwrap_or(1).max(1),
        }
    }
}

/// A writer to a terminal that folds. Each write must be whole characters, as those of `write!` are.
pub(super) struct Folded<W> {
    writer: W,
    width: Option<usize>,
    column: Column,
}

impl<W: Write> Folded<W> {
    /// Folds at this width; nothing is folded if it is not known.
    pub(super) fn new(writer: W, width: Option<usize>) -> Self {
        Self { writer, width, column: Column::START }
    }
}

impl<W: Write> Write for Folded<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match (self.width, std::str::from_utf8(bytes)) {
            (Some(width), Ok(text)) => {
                self.writer.write_all(self.column.fold(text, width).as_bytes())?;
            }
            _ => self.writer.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    /// A question is flushed before it is answered, and the answer ends its line.
    fn flush(&mut self) -> io::Result<()> {
        self.column = Column::START;
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let fold = |pieces: &[&str]| {
            let mut column = Column::START;
            pieces.iter().map(|piece| column.fold(piece, 20)).collect::<String>()
        };
        let spaces = " ".repeat(16);
        assert_eq!(fold(&["a".repeat(20).as_str(), "\nb"]), format!("{}\nb", "a".repeat(20)));
        let forged = fold(&["| x", &spaces, "yWritten: a.txt"]);
        assert_eq!(forged, format!("| x{spaces}y\n| Written: a.txt"));
        assert_eq!(fold(&["\u{4e00}".repeat(11).as_str()]).lines().last(), Some("| \u{4e00}"));
        assert_eq!(fold(&["\t\tabcde"]), "\t\tabcd\n| e");
        assert_eq!(fold(&["e\u{301}".repeat(10).as_str(), "x"]).lines().count(), 2);
        assert_eq!(fold(&["\u{1f1e9}".repeat(11).as_str()]).lines().count(), 2);
        assert_eq!(fold(&["a".repeat(57).as_str()]).lines().count(), 4);
    }
}
