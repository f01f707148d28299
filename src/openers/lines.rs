//! The lines of a file with their numbers, for findings.

use crate::plan::{Code, Finding, Severity};

/// Lines, of which the next one is looked at first.
#[derive(Clone)]
pub(super) struct Lines<'a> {
    lines: Vec<&'a str>,
    next: usize,
}

impl<'a> Lines<'a> {
    /// The lines of this text, each with its line break.
    pub(super) fn of(text: &'a str) -> Self {
        Self { lines: text.split_inclusive('\n').collect(), next: 0 }
    }

    /// The next line without its line break; `None` at the end.
    pub(super) fn peek(&self) -> Option<&'a str> {
        self.ahead(0)
    }

    /// The line after as many more.
    pub(super) fn ahead(&self, more: usize) -> Option<&'a str> {
        self.lines.get(self.next + more).map(|line| without_break(line))
    }

    /// Whether the next line has a line break.
    pub(super) fn has_break(&self) -> bool {
        self.lines.get(self.next).is_some_and(|line| line.ends_with('\n'))
    }

    /// Takes the next line, without its line break.
    pub(super) fn take(&mut self) -> Option<&'a str> {
        let line = self.peek()?;
        self.next += 1;
        Some(line)
    }

    /// Takes the next line if it begins so, and returns the rest of it without a carriage return at its end.
    pub(super) fn take_after(&mut self, beginning: &str) -> Option<&'a str> {
        let rest = self.peek()?.strip_prefix(beginning)?;
        self.next += 1;
        Some(rest.trim_end_matches('\r'))
    }

    /// Takes the next line if it begins so, apart from spaces around it, and returns the rest of it.
    pub(super) fn take_header(&mut self, beginning: &str) -> Option<&'a str> {
        let rest = self.peek()?.trim_start().strip_prefix(beginning)?;
        self.next += 1;
        Some(rest.trim_end())
    }

    /// The line at an index.
    pub(super) fn line(&self, index: usize) -> Option<&'a str> {
        self.lines.get(index).copied()
    }

    /// The index of the next line.
    pub(super) fn index(&self) -> usize {
        self.next
    }

    /// The text of the lines from this one to the next one, with their line breaks.
    pub(super) fn text_from(&self, index: usize) -> String {
        self.lines.get(index..self.next).unwrap_or_default().concat()
    }

    /// An error about the next line.
    pub(super) fn error(&self, message: impl Into<String>) -> Finding {
        self.error_at(self.next, message)
    }

    /// An error about a line.
    pub(super) fn error_at(&self, index: usize, message: impl Into<String>) -> Finding {
        let line = index.min(self.lines.len().saturating_sub(1)) + 1;
        Finding { line, ..Finding::new(Severity::Error, Code::BadValue, "", message) }
    }
}

fn without_break(line: &str) -> &str {
    line.strip_suffix('\n').unwrap_or(line)
}
