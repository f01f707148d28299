//! Results on stdout, messages on stderr. Neither panics if the reader has closed the pipe.

use std::io::{self, BufWriter, ErrorKind, Stdout, Write};

use serde::Serialize;

use super::Exit;
use crate::plan::visible;

/// The destination of a command's result.
pub(super) struct Output {
    json: bool,
    stdout: BufWriter<Stdout>,
    /// The first error of printing; nothing is printed after it.
    failure: Option<io::Error>,
}

impl Output {
    pub(super) fn new(json: bool) -> Self {
        Self { json, stdout: BufWriter::new(io::stdout()), failure: None }
    }

    /// Whether the result is to be printed as JSON.
    pub(super) const fn json(&self) -> bool {
        self.json
    }

    /// Prints one JSON document on one line.
    pub(super) fn document(&mut self, document: &impl Serialize) {
        let line = serde_json::to_string(document).map_err(io::Error::from);
        match line {
            Ok(line) => self.line(&line),
            Err(error) => self.failure = Some(error),
        }
    }

    /// Prints one line of text.
    pub(super) fn line(&mut self, text: &str) {
        if self.failure.is_none()
            && let Err(error) = writeln!(self.stdout, "{text}")
        {
            self.failure = Some(error);
        }
    }

    /// Prints rows in columns, each as wide as its widest cell. Hidden characters are made visible.
    pub(super) fn table<R: IntoIterator<Item = String>>(
        &mut self,
        rows: impl IntoIterator<Item = R>,
    ) {
        let cells = |row: R| row.into_iter().map(|cell| visible(&cell).into_owned()).collect();
        let rows: Vec<Vec<String>> = rows.into_iter().map(cells).collect();
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
        };
        let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
        for row in &rows {
            let line: Vec<String> =
                row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
            self.line(line.join("  ").trim_end());
        }
    }

    /// Prints names and their values, one pair per line.
    pub(super) fn fields<'a>(&mut self, fields: impl IntoIterator<Item = (&'a str, String)>) {
        self.table(fields.into_iter().map(|(name, value)| [name.to_owned(), value]));
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

/// Prints a line to stderr.
pub(super) fn say(text: &str) {
    // A write error of stderr cannot be reported.
    let _ = writeln!(io::stderr(), "{text}");
}

/// Prints a chunk of a program's output to stderr, without adding a line break.
pub(super) fn say_chunk(text: &str) {
    let _ = write!(io::stderr(), "{text}");
}
