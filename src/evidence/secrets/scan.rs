//! Basic functions to scan a text by bytes, with limits.

use std::ops::Range;

/// Limit for values that are redacted because of their name.
pub(super) const LONGEST: usize = 8 << 10;

/// The match of a rule.
#[derive(Debug, Clone)]
pub(in crate::evidence) struct Match {
    /// The whole match, including the name.
    pub(in crate::evidence) span: Range<usize>,
    /// The part to redact.
    pub(in crate::evidence) secret: Range<usize>,
    pub(in crate::evidence) kind: &'static str,
    /// The decoded secret, if the text contains it in an encoded form.
    pub(in crate::evidence) plain: Option<String>,
}

impl Match {
    pub(super) fn new(span: Range<usize>, secret: Range<usize>, kind: &'static str) -> Self {
        Self { span, secret, kind, plain: None }
    }
}

/// The set of these ASCII characters.
pub(super) fn any_of(characters: &[u8]) -> impl Fn(u8) -> bool + Copy + use<> {
    let set = characters.iter().fold(0_u128, |set, byte| set | (1 << byte));
    move |byte| byte.is_ascii() && (set >> byte) & 1 == 1
}

/// Letters, digits and these ASCII characters.
pub(super) fn alphanumeric_or(others: &[u8]) -> impl Fn(u8) -> bool + Copy + use<> {
    let is_other = any_of(others);
    move |byte| byte.is_ascii_alphanumeric() || is_other(byte)
}

/// Everything but white space and these ASCII characters.
pub(super) fn unspaced_except(ends: &[u8]) -> impl Fn(u8) -> bool + Copy + use<> {
    let is_end = any_of(ends);
    move |byte| !byte.is_ascii_whitespace() && !is_end(byte)
}

/// The byte at this position; 0 outside the text.
pub(super) fn at(bytes: &[u8], place: usize) -> u8 {
    bytes.get(place).copied().unwrap_or(0)
}

/// The end of a run of matching bytes, at most `most` of them.
pub(super) fn forward_while(
    bytes: &[u8],
    from: usize,
    most: usize,
    is: impl Fn(u8) -> bool,
) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let count = rest.iter().take(most).take_while(|byte| is(**byte)).count();
    // Never inside a character.
    let mut end = (from + count).min(bytes.len());
    while end > from && (0x80..0xc0).contains(&at(bytes, end)) {
        end -= 1;
    }
    end
}

/// The start of a run of matching bytes before `from`, at most `most` of them.
pub(super) fn back_while(bytes: &[u8], from: usize, most: usize, is: impl Fn(u8) -> bool) -> usize {
    let before = bytes.get(..from).unwrap_or_default();
    from - before.iter().rev().take(most).take_while(|byte| is(**byte)).count()
}

/// Bytes in names of variables, fields and options.
pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Limit for the search for a line's start or end.
const LINE: usize = 4 << 10;

/// The start of the line.
pub(super) fn line_start(bytes: &[u8], place: usize) -> usize {
    let mut start = back_while(bytes, place, LINE, |byte| byte != b'\n');
    while (0x80..0xc0).contains(&at(bytes, start)) {
        start += 1;
    }
    start
}

/// The end of the line.
pub(super) fn line_end(bytes: &[u8], place: usize) -> usize {
    forward_while(bytes, place, LINE, |byte| byte != b'\n')
}

/// The range between the quotes that open here, optionally after a prefix letter.
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

/// The value at this position: between quotes, or up to white space and one of these characters.
pub(super) fn quoted_or_word(text: &str, start: usize, ends: &[u8]) -> Range<usize> {
    quoted(text, start).unwrap_or_else(|| {
        start..forward_while(text.as_bytes(), start, LONGEST, unspaced_except(ends))
    })
}

/// The range between quotes of this kind that open here.
pub(super) fn quoted_as(text: &str, start: usize, quote: u8) -> Option<Range<usize>> {
    (at(text.as_bytes(), start) == quote).then(|| between(text, start, 0, quote)).flatten()
}

fn between(text: &str, open: usize, escapes: usize, quote: u8) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut start = open + escapes + 1;
    let triple = escapes == 0 && at(bytes, start) == quote && at(bytes, start + 1) == quote;
    if triple {
        start = forward_while(bytes, start + 2, 2, |byte| matches!(byte, b'\r' | b'\n'));
    }
    let mut place = start;
    while place - start <= LONGEST {
        let here = at(bytes, place);
        let slashes = forward_while(bytes, place, 64, |byte| byte == b'\\') - place;
        if here == 0 || (here == b'\n' && !triple) {
            return None;
        }
        if slashes > 0 {
            // The closing quote is escaped like the opening one. A quote with more escapes is inside.
            let closes = at(bytes, place + slashes) == quote && slashes == escapes;
            if closes {
                return Some(start..place);
            }
            place +=
                slashes + usize::from(at(bytes, place + slashes) == quote && slashes > escapes);
            if at(bytes, place) == quote && escapes == 0 && slashes.is_multiple_of(2) {
                return Some(start..place);
            }
            continue;
        }
        // After an escaped opening quote, a plain quote ends the surrounding text.
        if here == quote {
            return Some(start..place);
        }
        place += 1;
    }
    None
}

/// The end of a value that continues on the next lines, like long base64.
pub(super) fn wrapped(bytes: &[u8], value: Range<usize>) -> usize {
    let base64 = alphanumeric_or(b"+/=-_");
    let width = value.len();
    let mut end = value.end;
    if width < 48 || !bytes.get(value).is_some_and(|value| value.iter().all(|byte| base64(*byte))) {
        return end;
    }
    loop {
        // Also escaped line breaks, as in JSON.
        let escaped = at(bytes, end) == b'\\' && at(bytes, end + 1) == b'n';
        let line = if escaped {
            end + 2
        } else {
            forward_while(bytes, end, 2, |byte| matches!(byte, b'\r' | b'\n'))
        };
        let start = forward_while(bytes, line, 40, |byte| matches!(byte, b' ' | b'\t'));
        let stop = forward_while(bytes, start, width + 40, base64);
        let closed = matches!(at(bytes, stop), b'\n' | b'\r' | b'"' | b'\'' | b'\\' | 0);
        // Padding occurs at the end only. Another name with a value is not a continuation.
        let piece = bytes.get(start..stop).unwrap_or_default();
        let filled = piece.iter().skip_while(|byte| **byte != b'=').any(|byte| *byte != b'=');
        if line == end || filled || stop - start > width + 40 || !closed || stop - start < 4 {
            return end;
        }
        let short = stop - start + 8 < width;
        end = stop;
        if short {
            return end;
        }
    }
}
