//! Results on stdout, messages on stderr. Neither panics if the reader has closed the pipe.
//!
//! What programs, planners and plans say is told from what this program says: each line of their output begins with
//! [`QUOTE`], and no line of this program does. Callers show texts from outside with [`quoted`]; whatever they forget is
//! made visible here.

use std::io::{self, BufWriter, ErrorKind, IsTerminal as _, Stdout, Write};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use super::Exit;
use super::folded::{Column, width_of};
use crate::plan::{quoted, quoted_lines, visible_lines, visible_name, write_visible_json};

/// The greatest width to which cells are padded, in characters. A longer cell, such as a list of 10,000 files, moves only the
/// rest of its own row.
const MAX_WIDTH: usize = 200;

/// The beginning of each line with output of a planner or a program.
pub(super) const QUOTE: &str = "| ";

/// The destination of a command's result.
pub(super) struct Output {
    json: bool,
    stdout: BufWriter<Stdout>,
    /// The width of the terminal; `None` if the results go elsewhere.
    width: Option<usize>,
    /// The first error of printing; nothing is printed after it.
    failure: Option<io::Error>,
}

impl Output {
    pub(super) fn new(json: bool) -> Self {
        let stdout = BufWriter::new(io::stdout());
        Self { json, stdout, width: width_of(&io::stdout()), failure: None }
    }

    /// Whether the result is to be printed as JSON.
    pub(super) const fn json(&self) -> bool {
        self.json
    }

    /// Prints one JSON document on one line, with hidden characters as escapes of JSON.
    pub(super) fn document(&mut self, document: &impl Serialize) {
        let mut line = Vec::new();
        match write_visible_json(&mut line, document) {
            Ok(()) => {
                line.push(b'\n');
                self.exact(&line);
            }
            Err(error) => self.failure = Some(error),
        }
    }

    /// Whether something could not be printed, for example because the reader is gone.
    pub(super) const fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Passes everything so far to the reader, before a question.
    pub(super) fn flush(&mut self) {
        if self.failure.is_none() {
            self.failure = self.stdout.flush().err();
        }
    }

    /// Prints one line of text for people.
    pub(super) fn line(&mut self, text: &str) {
        let text = visible_lines(text);
        let mut column = Column::START;
        let text = self.width.map(|width| column.fold(&text, width)).unwrap_or(text);
        self.exact(format!("{text}\n").as_bytes());
    }

    /// Prints these bytes and nothing else, for programs.
    pub(super) fn exact(&mut self, bytes: &[u8]) {
        if self.failure.is_none()
            && let Err(error) = self.stdout.write_all(bytes)
        {
            self.failure = Some(error);
        }
    }

    /// The stream of results, for a result that is written piece by piece.
    pub(super) fn stream(&mut self) -> &mut impl Write {
        &mut self.stdout
    }

    /// Prints a plan: its exact bytes, or on a terminal a text for people.
    pub(super) fn plan(&mut self, source: &[u8]) {
        if self.stdout.get_ref().is_terminal() {
            self.line(quoted_lines(&String::from_utf8_lossy(source)).trim_end());
        } else {
            self.exact(source);
        }
    }

    /// Prints rows in columns, each as wide as its widest cell up to [`MAX_WIDTH`], with each cell as [`quoted`].
    pub(super) fn table<R: IntoIterator<Item = String>>(
        &mut self,
        rows: impl IntoIterator<Item = R>,
    ) {
        let cells = |row: R| row.into_iter().map(|cell| quoted(&cell).into_owned());
        self.columns(rows.into_iter().map(cells));
    }

    /// As [`table`](Self::table), with the cells as they are.
    pub(super) fn columns<R: IntoIterator<Item = String>>(
        &mut self,
        rows: impl IntoIterator<Item = R>,
    ) {
        let rows: Vec<Vec<String>> =
            rows.into_iter().map(|row| row.into_iter().collect()).collect();
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let first_line =
                |cell: &String| cell.lines().next().unwrap_or_default().chars().count();
            rows.iter().filter_map(|row| row.get(column)).map(first_line).max()
        };
        let width = |column: usize| width(column).unwrap_or(0).min(MAX_WIDTH);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &rows {
            let line: Vec<String> =
                row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
            self.line(line.join("  ").trim_end());
        }
    }

    /// Prints names and their values, one pair per line; further lines of a value as [`quoted_in_line`].
    pub(super) fn fields<'a>(&mut self, fields: impl IntoIterator<Item = (&'a str, String)>) {
        let pairs = fields.into_iter().map(|(name, value)| {
            [quoted(name).into_owned(), quoted_in_line(value.trim_end_matches('\n'))]
        });
        self.columns(pairs);
    }

    /// Flushes stdout. Returns `exit`, or `Failed` if a successful result could not be written. A closed pipe is not
    /// an error.
    pub(super) fn finish(mut self, exit: Exit) -> Exit {
        let flushed = self.stdout.flush();
        match self.failure.or(flushed.err()) {
            None => exit,
            Some(error) if error.kind() == ErrorKind::BrokenPipe => exit,
            Some(error) => {
                say(&format!("The result could not be written: {error}"));
                if exit == Exit::Done { Exit::Failed } else { exit }
            }
        }
    }
}

/// The column of stderr in the terminal.
static COLUMN: Mutex<Column> = Mutex::new(Column::START);

/// Prints a line for people to stderr.
pub(super) fn say(text: &str) {
    say_chunk(&format!("{}\n", visible_lines(text)));
}

/// Prints a chunk of text to stderr, as it is if that is not a terminal.
pub(super) fn say_chunk(text: &str) {
    let mut stderr = io::stderr().lock();
    // A write error of stderr cannot be reported.
    let _ = match width_of(&stderr) {
        None => stderr.write_all(text.as_bytes()),
        Some(width) => {
            let mut column = COLUMN.lock().unwrap_or_else(PoisonError::into_inner);
            stderr.write_all(column.fold(text, width).as_bytes())
        }
    };
}

/// A name from outside in a line of this program, with letters that look like others marked.
pub(super) fn name_in_line(name: &str) -> String {
    // The bracket is that of a code point here, and is written as one where the name has it.
    let pieces: Vec<_> = name.split('⟨').map(visible_name).collect();
    pieces.join(&quoted("⟨"))
}

/// A text from outside in a line of this program: its further lines begin with [`QUOTE`].
pub(super) fn quoted_in_line(text: &str) -> String {
    quoted_lines(text).replace('\n', &format!("\n{QUOTE}"))
}

/// Prints the output of planners and programs to stderr, each line with [`QUOTE`] in front.
#[derive(Default)]
pub(super) struct QuotedOutput(Mutex<OpenLine>);

impl QuotedOutput {
    /// Prints a part of the output, which may begin and end anywhere in a line.
    pub(super) fn say(&self, chunk: &str) {
        say_chunk(&self.0.lock().unwrap_or_else(PoisonError::into_inner).add(chunk));
    }

    /// Ends the line if it is open. Must be called before anything else is printed to stderr.
    pub(super) fn end_line(&self) {
        say_chunk(&self.0.lock().unwrap_or_else(PoisonError::into_inner).end());
    }
}

impl Drop for QuotedOutput {
    fn drop(&mut self) {
        self.end_line();
    }
}

/// Where in a line quoted output ended.
#[derive(Default)]
struct OpenLine {
    is_open: bool,
    /// Whether the last character was a carriage return, which may belong to a line break.
    returned: bool,
}

impl OpenLine {
    /// This part of the output with [`QUOTE`] in front of each line, and with hidden characters made visible.
    fn add(&mut self, chunk: &str) -> String {
        let mut shown = String::new();
        if self.returned && !chunk.is_empty() && !chunk.starts_with('\n') {
            shown.push_str(&quoted("\r"));
        }
        for piece in chunk.split_inclusive('\n') {
            let line = piece.strip_suffix('\n');
            let text = line.unwrap_or(piece);
            let text = text.strip_suffix('\r').unwrap_or(text);
            self.returned = line.is_none() && piece.ends_with('\r');
            if !std::mem::replace(&mut self.is_open, line.is_none()) {
                shown.push_str(QUOTE);
            }
            shown.push_str(&quoted(text));
            if line.is_some() {
                shown.push('\n');
            }
        }
        shown
    }

    /// What ends the line if it is open.
    fn end(&mut self) -> String {
        let returned = if std::mem::take(&mut self.returned) { quoted("\r") } else { "".into() };
        if std::mem::take(&mut self.is_open) { format!("{returned}\n") } else { String::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(chunks: &[&str]) -> String {
        let mut line = OpenLine::default();
        let shown: String = chunks.iter().map(|chunk| line.add(chunk)).collect();
        shown + &line.end()
    }

    #[test]
    fn no_line_of_a_program_looks_like_one_of_this_program() {
        for (chunks, expected) in [
            (&["one\nAuthorized: all\n"][..], "| one\n| Authorized: all\n"),
            (&["on", "e\n", "", "\n", "two"], "| one\n| \n| two\n"),
            (&["a\r\nb\r", "\nc\r", "d\r"], "| a\n| b\n| c⟨U+000D⟩d⟨U+000D⟩\n"),
            (&["x\rAuthorized"], "| x⟨U+000D⟩Authorized\n"),
            (&["x\u{1b}[2K\u{1b}[1GAuthorized"], "| x⟨ESC⟩[2K⟨ESC⟩[1GAuthorized\n"),
            (&["x\u{2028}y\u{85}\u{b}z"], "| x⟨U+2028⟩y⟨U+0085⟩⟨U+000B⟩z\n"),
            (&["⟨U+202E⟩ \u{202e}"], "| ⟨U+27E8⟩U+202E⟩ ⟨U+202E⟩\n"),
            (&[""], ""),
        ] {
            assert_eq!(shown(chunks), expected, "{chunks:?}");
        }
    }

    #[test]
    fn output_goes_on_with_a_quote_after_a_line_of_this_program() {
        let mut line = OpenLine::default();
        assert_eq!(line.add("half"), "| half");
        assert_eq!((line.end().as_str(), line.end().as_str()), ("\n", ""));
        assert_eq!(line.add("Authorized\n"), "| Authorized\n");
        assert_eq!(quoted_in_line("why\nAuthorized\u{7}"), "why\n| Authorized⟨U+0007⟩");
    }
}
