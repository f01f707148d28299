//! The lines of a text: plain, in a diff, with line numbers, or with escaped line breaks, as in a JSON string.

use super::scan::{MAX_LINE, any_of, at, back_while, forward_while};

/// The maximum size of a value of several lines, in bytes. A longer one is redacted up to this size.
pub(super) const MAX_LINES: usize = 1 << 20;

/// What is in front of each line of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Prefix {
    Nothing,
    /// `+`, `-` or a space, as in a diff.
    Diff,
    /// `12:`, `12-` or a number and a tab.
    Number,
}

/// The lines of a text.
#[derive(Clone, Copy)]
pub(super) struct Lines<'t> {
    pub(super) bytes: &'t [u8],
    /// The number of backslashes in a line break (`\n`); 0 if line breaks are not escaped.
    escapes: usize,
}

impl<'t> Lines<'t> {
    /// The lines of a text that has a line break at this position, and the position after the break.
    pub(super) fn after_break(bytes: &'t [u8], position: usize) -> Option<(Self, usize)> {
        let escapes = forward_while(bytes, position, 64, |byte| byte == b'\\') - position;
        let lines = Self { bytes, escapes };
        Some((lines, lines.behind_break(position)?))
    }

    /// The position behind the line break at this position, if there is one. `\r\n` is one break if it is escaped.
    fn behind_break(&self, position: usize) -> Option<usize> {
        if self.escapes == 0 {
            return (at(self.bytes, position) == b'\n').then_some(position + 1);
        }
        let letter = |from| {
            let end = forward_while(self.bytes, from, 64, |byte| byte == b'\\');
            if end - from == self.escapes { (at(self.bytes, end), end + 1) } else { (0, end) }
        };
        match letter(position) {
            (b'n', next) => Some(next),
            (b'r', next) => Some(letter(next)).filter(|it| it.0 == b'n').map(|it| it.1),
            _ => None,
        }
    }

    /// The end of the line at this position, and the start of the next one, if there is one.
    pub(super) fn end(&self, from: usize) -> (usize, Option<usize>) {
        if self.escapes == 0 {
            let end = forward_while(self.bytes, from, MAX_LINES, |byte| byte != b'\n');
            return (end, self.behind_break(end));
        }
        let mut position = from;
        loop {
            let end =
                forward_while(self.bytes, position, MAX_LINES, |byte| !b"\\\"\n".contains(&byte));
            if let Some(next) = self.behind_break(end) {
                return (end, Some(next));
            }
            let after = forward_while(self.bytes, end, 64, |byte| byte == b'\\');
            match at(self.bytes, after) {
                // A quote with fewer backslashes ends the string that contains the block.
                b'"' if after - end < self.escapes => return (end, None),
                b'\n' | 0 => return (end, None),
                _ => position = after + usize::from(at(self.bytes, after) == b'"'),
            }
        }
    }

    /// The start of the line at this position.
    pub(super) fn start(&self, position: usize) -> usize {
        let is_end = any_of(if self.escapes == 0 { b"\n".as_slice() } else { b"\\\"\n" });
        let slashes_before = |end| end - back_while(self.bytes, end, 64, |byte| byte == b'\\');
        let mut start = position;
        while position - start < MAX_LINE {
            start = back_while(self.bytes, start, MAX_LINE, |byte| !is_end(byte));
            let Some(end) = start.checked_sub(1) else { break };
            let (from, slashes) = match at(self.bytes, end) {
                b'\\' => (start, slashes_before(start)),
                b'"' => (end, slashes_before(end)),
                _ => break,
            };
            let is_break = from == start && at(self.bytes, start) == b'n';
            if is_break && slashes == self.escapes {
                return start + 1;
            }
            // A quote with fewer backslashes begins the string that contains the line.
            if from == end && slashes < self.escapes {
                break;
            }
            start = from - slashes;
        }
        start
    }

    /// The position behind the prefix of the line at `start`; `None` if the line has no such prefix.
    pub(super) fn behind(&self, start: usize, prefix: Prefix) -> Option<usize> {
        match prefix {
            Prefix::Nothing => Some(start),
            Prefix::Diff => any_of(b"+- \n\r")(at(self.bytes, start)).then_some(start + 1),
            Prefix::Number => {
                let digits = forward_while(self.bytes, start, 8, |byte| byte == b' ');
                let end = forward_while(self.bytes, digits, 8, |byte| byte.is_ascii_digit());
                (end > digits && any_of(b":-\t")(at(self.bytes, end))).then_some(end + 1)
            }
        }
    }

    /// The prefix that the lines at these positions have.
    pub(super) fn prefix(&self, name: usize, next: usize) -> Prefix {
        let number = |start| self.behind(start, Prefix::Number).is_some();
        if number(name) && number(next) {
            return Prefix::Number;
        }
        let is_changed = any_of(b"+-")(at(self.bytes, next));
        let is_diff = at(self.bytes, name) == b'+' || is_changed;
        if is_diff && self.behind(name, Prefix::Diff).is_some() {
            Prefix::Diff
        } else {
            Prefix::Nothing
        }
    }
}
