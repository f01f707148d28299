//! Secrets that are interrupted by invisible parts: colour codes, line continuations, adjacent quotes, and
//! characters written as their codes.
//!
//! The text around each such break is decoded and searched again. Matches that contain a break are mapped back to
//! the original.

use std::ops::Range;

use super::scan::{Match, at, forward_while};

/// Size of the context around a break.
const BEFORE: usize = 256;
const BEHIND: usize = 640;

/// A decoded part of a text.
struct View {
    text: String,
    /// Starts of pieces, in the decoded part and in the original.
    pieces: Vec<(usize, usize)>,
    end: usize,
}

/// A break: its length in the original, and the character that it encodes.
struct Break {
    bytes: usize,
    meant: Option<char>,
}

/// Whether a text may contain breaks.
pub(super) fn has_breaks(text: &str) -> bool {
    first_break(text.as_bytes(), 0).is_some()
}

/// The secrets that contain a break. `find_plain` finds those of a text without breaks.
pub(super) fn find(
    text: &str,
    matches: &mut Vec<Match>,
    find_plain: impl Fn(&str, &mut Vec<Match>),
) {
    let bytes = text.as_bytes();
    let mut place = 0;
    while let Some(found) = first_break(bytes, place) {
        let start = word_start(text, found.saturating_sub(BEFORE).max(place));
        let mut last = found;
        let mut next = found + 1;
        // Close breaks share one part.
        while let Some(another) = first_break(bytes, next) {
            if another > last + BEFORE + BEHIND {
                break;
            }
            last = another;
            next = another + 1;
        }
        let end = text.floor_char_boundary(last + BEHIND);
        let Some(view) = View::of(text, start..end) else { return };
        let mut inner = Vec::new();
        find_plain(&view.text, &mut inner);
        for found in inner {
            let plain = view.text.get(found.secret.clone()).unwrap_or_default().to_owned();
            let (span, secret) = (view.original(found.span), view.original(found.secret));
            // The span also contains a break in the name or the option.
            if span.len() != plain.len() {
                matches.push(Match { span, secret, kind: found.kind, plain: Some(plain) });
            }
        }
        place = end.max(last + 1);
    }
}

fn word_start(text: &str, place: usize) -> usize {
    let place = text.floor_char_boundary(place);
    let rest = text.get(place..).unwrap_or_default();
    if place == 0 {
        return 0;
    }
    rest.find(|c: char| c.is_whitespace())
        .filter(|offset| *offset < BEFORE)
        .map_or(place, |offset| place + offset)
}

impl View {
    fn of(text: &str, part: Range<usize>) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut view = Self { text: String::new(), pieces: vec![(0, part.start)], end: part.end };
        let mut done = part.start;
        let mut place = part.start;
        while let Some(found) = first_break(bytes, place).filter(|found| *found < part.end) {
            let Some(gap) = break_at(bytes, found) else {
                place = found + 1;
                continue;
            };
            view.text.push_str(text.get(done..found)?);
            if let Some(meant) = gap.meant {
                view.pieces.push((view.text.len(), found));
                view.text.push(meant);
            }
            done = found + gap.bytes;
            place = done;
            view.pieces.push((view.text.len(), done));
        }
        view.text.push_str(text.get(done..part.end.max(done))?);
        view.end = part.end.max(done);
        Some(view)
    }

    /// Maps a range to the original, from the start of its first character to the end of its last.
    fn original(&self, range: Range<usize>) -> Range<usize> {
        let start = self.place(range.start);
        let last = range.end.saturating_sub(1).max(range.start);
        // An encoded character ends where the next piece starts.
        let next = self.pieces.partition_point(|(here, _)| *here <= last);
        let end = match (self.pieces.get(next), self.pieces.get(next.wrapping_sub(1))) {
            (Some((here, original)), Some((piece, from)))
                if *here == range.end && from + (range.end - piece) < *original =>
            {
                // A break after the last character is not part of the range.
                if range.end - piece == 1 && *piece == last {
                    *original
                } else {
                    from + (range.end - piece)
                }
            }
            (_, Some((piece, from))) => from + (range.end - piece),
            _ => self.end,
        };
        start..end.max(start)
    }

    fn place(&self, here: usize) -> usize {
        let next = self.pieces.partition_point(|(piece, _)| *piece <= here);
        self.pieces
            .get(next.wrapping_sub(1))
            .map_or(self.end, |(piece, original)| original + (here - piece))
    }
}

/// Size of one search step.
const BLOCK: usize = 4 << 10;

/// The first break at or after this position.
fn first_break(bytes: &[u8], from: usize) -> Option<usize> {
    let mut place = from;
    while place < bytes.len() {
        let end = bytes.len().min(place + BLOCK);
        let block = bytes.get(place..end)?;
        let mut first = memchr::memchr3_iter(b'\\', 0x1b, b'%', block)
            .map(|offset| place + offset)
            .find(|found| break_at(bytes, *found).is_some());
        // Quotes are searched only before the first other break.
        let before = bytes.get(place..first.unwrap_or(end))?;
        let quote = memchr::memchr3_iter(b'"', b'\'', b'&', before)
            .map(|offset| place + offset)
            .find(|found| break_at(bytes, *found).is_some());
        first = quote.or(first);
        if first.is_some() {
            return first;
        }
        place = end;
    }
    None
}

fn break_at(bytes: &[u8], place: usize) -> Option<Break> {
    let removed = |bytes| Some(Break { bytes, meant: None });
    let next = at(bytes, place + 1);
    match at(bytes, place) {
        0x1b => match next {
            b'[' => {
                let end = forward_while(bytes, place + 2, 32, |byte| (0x20..0x40).contains(&byte));
                removed(end + 1 - place)
            }
            b']' => {
                let end = forward_while(bytes, place + 2, 512, |byte| {
                    byte != 7 && byte != 0x1b && byte != b'\n'
                });
                let close = match (at(bytes, end), at(bytes, end + 1)) {
                    (7, _) => 1,
                    (0x1b, b'\\') => 2,
                    _ => 0,
                };
                removed(end + close - place)
            }
            b'(' => removed(3),
            _ => removed(1),
        },
        b'\\' => match next {
            b'\n' => removed(2),
            b'\r' if at(bytes, place + 2) == b'\n' => removed(3),
            b'u' => escape_of_colour(bytes, place).or_else(|| code(bytes, place, place + 2, 4)),
            b'x' => code(bytes, place, place + 2, 2),
            b'/' => Some(Break { bytes: 2, meant: Some('/') }),
            b'"' => junction(bytes, place),
            // A continued line inside JSON.
            b'\\' if at(bytes, place + 2) == b'\\' && at(bytes, place + 3) == b'n' => removed(4),
            b'0'..=b'3' => octal(bytes, place),
            _ => None,
        },
        b'%' => code(bytes, place, place + 1, 2),
        b'&' if next == b'#' => entity(bytes, place),
        b'"' | b'\'' => junction(bytes, place),
        _ => None,
    }
}

/// The visible ASCII character with this code.
fn character(digits: &[u8], radix: u32) -> Option<char> {
    let number = u32::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()?;
    char::from_u32(number).filter(char::is_ascii_graphic)
}

/// A hexadecimal character code.
fn code(bytes: &[u8], place: usize, from: usize, digits: usize) -> Option<Break> {
    let meant = character(bytes.get(from..from + digits)?, 16)?;
    Some(Break { bytes: from + digits - place, meant: Some(meant) })
}

/// A colour code in JSON: `\u001b[32m`.
fn escape_of_colour(bytes: &[u8], place: usize) -> Option<Break> {
    let escape = bytes.get(place + 2..place + 7)?;
    if !escape.eq_ignore_ascii_case(b"001b[") {
        return None;
    }
    let end = forward_while(bytes, place + 7, 32, |byte| (0x20..0x40).contains(&byte));
    Some(Break { bytes: end + 1 - place, meant: None })
}

/// An octal character code, as in shells and C.
fn octal(bytes: &[u8], place: usize) -> Option<Break> {
    let meant = character(bytes.get(place + 1..place + 4)?, 8)?;
    Some(Break { bytes: 4, meant: Some(meant) })
}

/// A numeric character reference of HTML: `&#103;`, `&#x67;`.
fn entity(bytes: &[u8], place: usize) -> Option<Break> {
    let hex = matches!(at(bytes, place + 2), b'x' | b'X');
    let start = place + 2 + usize::from(hex);
    let end = forward_while(bytes, start, 4, |byte| byte.is_ascii_hexdigit());
    let meant = character(bytes.get(start..end)?, if hex { 16 } else { 10 })?;
    // Most breaks are quotes that interrupt nothing.
    (!matches!(meant, '"' | '\'') && at(bytes, end) == b';')
        .then_some(Break { bytes: end + 1 - place, meant: Some(meant) })
}

/// Adjacent quotes inside a word; in JSON each follows a backslash.
fn junction(bytes: &[u8], place: usize) -> Option<Break> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !is_word(at(bytes, place.wrapping_sub(1))) {
        return None;
    }
    let is_quote = |byte: u8| matches!(byte, b'"' | b'\'');
    let escape = usize::from(at(bytes, place) == b'\\');
    if escape == 0 && is_word(at(bytes, place + 1)) {
        return Some(Break { bytes: 1, meant: None });
    }
    let place_of_quote = place + escape;
    // `"gh" + "p_"`, `"gh" "p_"`, `"gh".'p_'`.
    let spaces = |from| forward_while(bytes, from, 3, |byte| byte == b' ');
    let mut end = spaces(place_of_quote + 1);
    if matches!(at(bytes, end), b'+' | b'.' | b'&' | b'~') {
        end = spaces(end + 1);
    }
    if at(bytes, end) == b'\n' {
        end = forward_while(bytes, end, 40, |byte| matches!(byte, b'\n' | b' ' | b'\t'));
        if at(bytes, end) == b'+' {
            end = spaces(end + 1);
        }
    }
    if escape == 1 && at(bytes, end) == b'\\' {
        end += 1;
    }
    (is_quote(at(bytes, end)) && is_word(at(bytes, end + 1)))
        .then_some(Break { bytes: end + 1 - place, meant: None })
}
