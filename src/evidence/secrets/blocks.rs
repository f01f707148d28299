//! Values of several lines: block scalars of YAML (`password: |`), also as items of a list, and strings in quotes that
//! continue on the next lines.
//!
//! A block ends at the first line that is indented no more than its name.

use std::ops::Range;

use super::Match;
use super::assign::{MAX_GAP, Name};
use super::lines::{Lines, MAX_LINES};
use super::scan::{MAX_QUOTED, any_of, at, back_while, forward_while, line_end, quoted};
use super::values::{EXAMINED_LINES, ValueForm, has_secret_line};

impl Name<'_> {
    /// The beginning of the lines of a block or list of blocks, without the white space around them; `key` is the start
    /// of its key, and `from` the position after the colon. Lines that begin more than `max` bytes after it are left out.
    fn block_lines(&self, key: usize, from: usize, max: usize) -> Option<Range<usize>> {
        let bytes = self.bytes();
        let mut header = from;
        // Tags and anchors: `!!binary |`, `&main >-`.
        loop {
            header = forward_while(bytes, header, MAX_GAP, any_of(b" \t"));
            if !any_of(b"!&")(at(bytes, header)) {
                break;
            }
            header = forward_while(bytes, header, MAX_GAP, |byte| byte.is_ascii_graphic());
        }
        let is_block = any_of(b"|>")(at(bytes, header));
        let marks = forward_while(bytes, header, 4, any_of(b"|>-+0123456789"));
        let mut end = forward_while(bytes, marks, MAX_GAP, any_of(b" \t\r"));
        if is_block && end > marks && at(bytes, end) == b'#' {
            end = forward_while(bytes, end, 400, |byte| !b"\\\n".contains(&byte));
        }
        let (lines, first) = Lines::after_break(bytes, end)?;
        let is_quote = at(bytes, key) == b'"';
        let key = back_while(bytes, key, 64, |byte| is_quote && byte == b'\\');
        let name_line = lines.start(key);
        let prefix = lines.prefix(name_line, first);
        let column = key.checked_sub(lines.behind(name_line, prefix)?)?;
        let (mut content, mut last) = (None, first);
        let mut next = Some(first);
        while let Some(start) = next.filter(|start| *start < from + max) {
            let (end, following) = lines.end(start);
            next = following;
            let Some(behind) = lines.behind(start, prefix) else { break };
            let text = forward_while(bytes, behind, MAX_LINES, any_of(b" \t\r")).min(end);
            if text == end {
                continue;
            }
            // The items of a list may be indented as its name.
            let is_item = !is_block && at(bytes, text) == b'-';
            if text < behind + column + usize::from(!is_item) {
                break;
            }
            if content.is_none() && !is_block {
                // Only lists of blocks: other lists often contain names.
                let mark = forward_while(bytes, text + 1, MAX_GAP, |byte| byte == b' ');
                if !is_item || !any_of(b"|>")(at(bytes, mark)) {
                    return None;
                }
                content = Some(following?);
            }
            content = content.or(Some(text));
            last = end;
        }
        let start = forward_while(bytes, content?, MAX_LINES, any_of(b" \t\r\n"));
        let text = self.text.get(start..last)?.trim_end();
        (!text.is_empty()).then(|| start..start + text.len())
    }

    /// Whether a block begins after the colon that ends at `from`, for the key that starts at `key`; and its lines, if
    /// they are a secret.
    pub(super) fn block(&self, key: usize, from: usize) -> Option<Option<Match>> {
        let beginning = self.block_lines(key, from, EXAMINED_LINES)?;
        let by_first_word = match quoted(self.text, beginning.start) {
            Some(value) => self.secret_in(value, ValueForm::Quoted),
            None => self.bare(beginning.start, false, true),
        };
        let is_secret =
            by_first_word.is_some() || has_secret_line(self.class, self.text.get(beginning)?);
        let all = if is_secret { self.block_lines(key, from, MAX_LINES) } else { None };
        Some(all.map(|all| self.found(all)))
    }

    /// The secret in a string whose quote at `start` closes on another line.
    pub(super) fn in_quoted_lines(&self, start: usize) -> Option<Match> {
        let bytes = self.bytes();
        let bytes = bytes.get(..bytes.len().min(start + MAX_QUOTED))?;
        let quote = at(bytes, start);
        if !any_of(b"\"'")(quote) {
            return None;
        }
        let is_inside = |byte| byte != quote && byte != b'\\';
        let mut end = start + 1;
        loop {
            end = forward_while(bytes, end, MAX_LINES, is_inside);
            match at(bytes, end) {
                b'\\' if quote == b'"' => end += 2,
                b'\\' => end += 1,
                0 => return None,
                _ => break,
            }
        }
        let value = start + 1..end;
        // The quote of another string follows elsewhere.
        let is_closed = any_of(b"\0\n\r,;)}] #")(at(bytes, end + 1));
        let text = self.text.get(value.clone())?;
        // A command, which may contain a here document.
        let is_command = text.starts_with("$(") || text.starts_with('`');
        let is_whole = is_closed && !is_command && line_end(bytes, start) < end;
        (is_whole && has_secret_line(self.class, text)).then(|| self.found(value))
    }
}

#[cfg(test)]
pub(super) mod tests;
