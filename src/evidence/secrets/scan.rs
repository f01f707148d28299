//! Functions that scan a text by bytes, with limits.

use std::ops::Range;

/// The maximum length of a value, in bytes.
pub(super) const MAX_VALUE: usize = 8 << 10;

/// The match of a rule.
#[derive(Debug, Clone)]
pub(in crate::evidence) struct Match {
    /// The whole match, including the name.
    pub(in crate::evidence) span: Range<usize>,
    /// The part to redact.
    pub(in crate::evidence) secret: Range<usize>,
    pub(in crate::evidence) kind: &'static str,
    /// The decoded secret, if its text is interrupted or encoded.
    pub(in crate::evidence) plain: Option<String>,
}

impl Match {
    pub(super) fn new(span: Range<usize>, secret: Range<usize>, kind: &'static str) -> Self {
        Self { span, secret, kind, plain: None }
    }
}

/// The maximum length of a value between quotes, which may have several lines, in bytes. Less than what a stream holds
/// back, so that no such value is split.
pub(super) const MAX_QUOTED: usize = 60 << 10;

/// A test for these ASCII characters.
pub(super) fn any_of(characters: &[u8]) -> impl Fn(u8) -> bool + Copy + use<> {
    let set = characters.iter().fold(0_u128, |set, byte| set | (1 << byte));
    move |byte| byte.is_ascii() && (set >> byte) & 1 == 1
}

/// A test for ASCII letters, ASCII digits and these ASCII characters.
pub(super) fn alphanumeric_or(others: &[u8]) -> impl Fn(u8) -> bool + Copy + use<> {
    let is_other = any_of(others);
    move |byte| byte.is_ascii_alphanumeric() || is_other(byte)
}

/// A test for any byte but ASCII white space and these ASCII characters.
pub(super) fn unspaced_except(ends: &[u8]) -> impl Fn(u8) -> bool + Copy + use<> {
    let is_end = any_of(ends);
    move |byte| !byte.is_ascii_whitespace() && !is_end(byte)
}

/// The byte at this position; 0 outside the text.
pub(super) fn at(bytes: &[u8], position: usize) -> u8 {
    bytes.get(position).copied().unwrap_or(0)
}

/// The end of the at most `max` matching bytes from `from` on. It is never inside a character.
pub(super) fn forward_while(
    bytes: &[u8],
    from: usize,
    max: usize,
    is: impl Fn(u8) -> bool,
) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let count = rest.iter().take(max).take_while(|byte| is(**byte)).count();
    let mut end = (from + count).min(bytes.len());
    while end > from && (0x80..0xc0).contains(&at(bytes, end)) {
        end -= 1;
    }
    end
}

/// The start of the at most `max` matching bytes before `from`.
pub(super) fn back_while(bytes: &[u8], from: usize, max: usize, is: impl Fn(u8) -> bool) -> usize {
    let before = bytes.get(..from).unwrap_or_default();
    from - before.iter().rev().take(max).take_while(|byte| is(**byte)).count()
}

/// Whether names of variables, fields and options contain this byte.
pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// The maximum distance at which the start or end of a line is searched for, in bytes.
pub(super) const MAX_LINE: usize = 4 << 10;

/// The start of the line at this position.
pub(super) fn line_start(bytes: &[u8], position: usize) -> usize {
    let mut start = back_while(bytes, position, MAX_LINE, |byte| byte != b'\n');
    while (0x80..0xc0).contains(&at(bytes, start)) {
        start += 1;
    }
    start
}

/// The end of the line at this position.
pub(super) fn line_end(bytes: &[u8], position: usize) -> usize {
    forward_while(bytes, position, MAX_LINE, |byte| byte != b'\n')
}

/// The range between the quotes that open at `start`, which may be escaped and may follow a prefix such as `r`.
pub(super) fn quoted(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut open = start;
    if matches!(at(bytes, open), b'b' | b'r' | b'u' | b'f' | b'@' | b'L' | b'$') {
        open += 1;
    }
    let escapes = forward_while(bytes, open, 8, |byte| byte == b'\\') - open;
    let quote = at(bytes, open + escapes);
    if !matches!(quote, b'"' | b'\'' | b'`') {
        return None;
    }
    between(text, open, escapes, quote)
}

/// The value at this position: between quotes, or up to white space or one of these characters.
pub(super) fn quoted_or_word(text: &str, start: usize, ends: &[u8]) -> Range<usize> {
    quoted(text, start).unwrap_or_else(|| {
        start..forward_while(text.as_bytes(), start, MAX_VALUE, unspaced_except(ends))
    })
}

/// The range between quotes of this kind that open at `start` without escapes.
pub(super) fn quoted_as(text: &str, start: usize, quote: u8) -> Option<Range<usize>> {
    (at(text.as_bytes(), start) == quote).then(|| between(text, start, 0, quote)).flatten()
}

/// The range between a quote at `open` with this number of backslashes before it, and the matching quote.
fn between(text: &str, open: usize, escapes: usize, quote: u8) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut start = open + escapes + 1;
    let is_quote = |position| {
        let slashes = forward_while(bytes, position, 64, |byte| byte == b'\\') - position;
        slashes == escapes && at(bytes, position + slashes) == quote
    };
    let is_pair = |position| is_quote(position) && is_quote(position + escapes + 1);
    let triple = is_pair(start);
    if triple {
        start += 2 * (escapes + 1);
        start = forward_while(bytes, start, 2, |byte| matches!(byte, b'\r' | b'\n'));
    }
    let closes =
        |quote_at: usize| at(bytes, quote_at) == quote && (!triple || is_pair(quote_at + 1));
    let mut position = start;
    while position - start <= MAX_QUOTED {
        let here = at(bytes, position);
        let slashes = forward_while(bytes, position, 64, |byte| byte == b'\\') - position;
        if here == 0 || (here == b'\n' && !triple) {
            return None;
        }
        if slashes > 0 {
            // The closing quote has the same number of backslashes. A quote with more of them is inside.
            let after = position + slashes;
            if closes(after) && slashes == escapes {
                return Some(start..position);
            }
            if closes(after) && escapes == 0 && slashes.is_multiple_of(2) {
                return Some(start..after);
            }
            position = after + usize::from(at(bytes, after) == quote && slashes > escapes);
            continue;
        }
        // After an escaped opening quote, an unescaped quote ends the surrounding string.
        if closes(position) {
            return Some(start..position);
        }
        position += 1;
    }
    None
}

/// The end of a value that may be wrapped base64 and continue on the next lines; otherwise the end of the range.
pub(super) fn wrapped(bytes: &[u8], value: Range<usize>) -> usize {
    let base64 = alphanumeric_or(b"+/=-_");
    let width = value.len();
    let mut end = value.end;
    if width < 48 || !bytes.get(value).is_some_and(|value| value.iter().all(|byte| base64(*byte))) {
        return end;
    }
    loop {
        // A line break may be escaped, as in JSON.
        let escaped = at(bytes, end) == b'\\' && at(bytes, end + 1) == b'n';
        let line = if escaped {
            end + 2
        } else {
            forward_while(bytes, end, 2, |byte| matches!(byte, b'\r' | b'\n'))
        };
        let start = forward_while(bytes, line, 40, |byte| matches!(byte, b' ' | b'\t'));
        let stop = forward_while(bytes, start, width + 40, base64);
        let closed = matches!(at(bytes, stop), b'\n' | b'\r' | b'"' | b'\'' | b'\\' | 0);
        // A `=` that is no padding at the end belongs to another assignment.
        let piece = bytes.get(start..stop).unwrap_or_default();
        let assigns = piece.iter().skip_while(|byte| **byte != b'=').any(|byte| *byte != b'=');
        if line == end || assigns || stop - start > width + 40 || !closed || stop - start < 4 {
            return end;
        }
        let short = stop - start + 8 < width;
        end = stop;
        if short {
            return end;
        }
    }
}
