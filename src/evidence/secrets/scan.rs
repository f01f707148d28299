//! Small steps through a text, byte by byte and with a bound.

use std::ops::Range;

/// Longest value that is hidden because of its name.
pub(super) const LONGEST: usize = 8 << 10;

/// A place that a rule took in.
#[derive(Debug, Clone)]
pub(in crate::evidence) struct Match {
    /// All of it: the name as well as the value.
    pub(in crate::evidence) span: Range<usize>,
    /// What is to be hidden of it.
    pub(in crate::evidence) secret: Option<Range<usize>>,
    pub(in crate::evidence) kind: &'static str,
    /// The secret as it is meant, where that is not how it is written.
    pub(in crate::evidence) plain: Option<String>,
}

/// The byte at this place; 0 outside of the text.
pub(super) fn at(bytes: &[u8], place: usize) -> u8 {
    bytes.get(place).copied().unwrap_or(0)
}

/// Where the bytes of this kind end that begin here, after `most` of them at most.
pub(super) fn forward_while(
    bytes: &[u8],
    from: usize,
    most: usize,
    is: impl Fn(u8) -> bool,
) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let count = rest.iter().take(most).take_while(|byte| is(**byte)).count();
    // Never between the bytes of one character.
    let mut end = (from + count).min(bytes.len());
    while end > from && (0x80..0xc0).contains(&at(bytes, end)) {
        end -= 1;
    }
    end
}

/// Where the bytes of this kind begin that end here, before `most` of them at most.
pub(super) fn back_while(bytes: &[u8], from: usize, most: usize, is: impl Fn(u8) -> bool) -> usize {
    let before = bytes.get(..from).unwrap_or_default();
    from - before.iter().rev().take(most).take_while(|byte| is(**byte)).count()
}

/// What names of variables, fields and options are made of.
pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// How far the beginning of a line is looked for.
const LINE: usize = 4 << 10;

/// Where the line of this place begins.
pub(super) fn line_start(bytes: &[u8], place: usize) -> usize {
    let start = back_while(bytes, place, LINE, |byte| byte != b'\n');
    let mut start = start;
    while (0x80..0xc0).contains(&at(bytes, start)) {
        start += 1;
    }
    start
}

/// Where it ends.
pub(super) fn line_end(bytes: &[u8], place: usize) -> usize {
    forward_while(bytes, place, LINE, |byte| byte != b'\n')
}

/// What stands between the quotes that begin here, with a letter before them or without.
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

/// The same, for quotes of one kind.
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
            // The quote that closes is escaped as the one that opens; one with more escapes is inside.
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
        if here == quote && escapes == 0 {
            return Some(start..place);
        }
        // Behind an escaped opening quote, a plain one ends the text around it.
        if here == quote {
            return Some(start..place);
        }
        place += 1;
    }
    None
}

/// Where a value ends that goes on in the next lines, as long base64 does.
pub(super) fn wrapped(bytes: &[u8], value: Range<usize>) -> usize {
    let base64 =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_');
    let width = value.len();
    let mut end = value.end;
    if width < 48 || !bytes.get(value).is_some_and(|value| value.iter().all(|byte| base64(*byte))) {
        return end;
    }
    loop {
        // Also the line breaks of a text inside of JSON.
        let escaped = at(bytes, end) == b'\\' && at(bytes, end + 1) == b'n';
        let line = if escaped {
            end + 2
        } else {
            forward_while(bytes, end, 2, |byte| matches!(byte, b'\r' | b'\n'))
        };
        let start = forward_while(bytes, line, 40, |byte| matches!(byte, b' ' | b'\t'));
        let stop = forward_while(bytes, start, width + 40, base64);
        let closed = matches!(at(bytes, stop), b'\n' | b'\r' | b'"' | b'\'' | b'\\' | 0);
        // Filling stands at the end alone; another name with its value is no continuation.
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
