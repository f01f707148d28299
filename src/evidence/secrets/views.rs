//! Secrets that are interrupted by colour codes, line continuations or adjacent quotes, or contain encoded characters.
//!
//! The text around each such break is decoded and searched again. The ranges of matches that contain a break are mapped
//! back to the original text.

use std::ops::Range;

use super::Match;
use super::scan::{at, forward_while};

/// The number of bytes before and after a break that are searched again.
const BEFORE: usize = 256;
const AFTER: usize = 640;

/// A decoded part of a text.
struct View {
    text: String,
    /// The start of each piece without breaks and of each decoded character, in the decoded and in the original text.
    pieces: Vec<(usize, usize)>,
    /// The end in the original text.
    end: usize,
}

/// An interruption of a text, or an encoded character.
struct Break {
    /// The length in the original text.
    bytes: usize,
    /// The encoded character, if any.
    decoded: Option<char>,
}

/// Whether a text may contain breaks.
pub(super) fn has_breaks(text: &str) -> bool {
    first_break(text.as_bytes(), 0).is_some()
}

/// Finds the secrets that contain a break. `find_plain` finds the secrets in a text without breaks.
pub(super) fn find(
    text: &str,
    matches: &mut Vec<Match>,
    find_plain: impl Fn(&str, &mut Vec<Match>),
) {
    let bytes = text.as_bytes();
    let mut position = 0;
    while let Some(found) = first_break(bytes, position) {
        let start = word_start(text, found.saturating_sub(BEFORE).max(position));
        let mut last = found;
        let mut next = found + 1;
        // Breaks that are close to each other are decoded together.
        while let Some(another) = first_break(bytes, next) {
            if another > last + BEFORE + AFTER {
                break;
            }
            last = another;
            next = another + 1;
        }
        let end = text.floor_char_boundary(last + AFTER);
        let Some(view) = View::of(text, start..end) else { return };
        let mut inner = Vec::new();
        find_plain(&view.text, &mut inner);
        for found in inner {
            let plain = view.text.get(found.secret.clone()).unwrap_or_default().to_owned();
            let (span, secret) = (view.original(found.span), view.original(found.secret));
            // The original is longer if the match contains a break, which may also be in the name or the option.
            if span.len() != plain.len() {
                matches.push(Match { span, secret, kind: found.kind, plain: Some(plain) });
            }
        }
        position = end.max(last + 1);
    }
}

/// The first white space at or after this position and near it; otherwise the position itself.
fn word_start(text: &str, position: usize) -> usize {
    let position = text.floor_char_boundary(position);
    let rest = text.get(position..).unwrap_or_default();
    if position == 0 {
        return 0;
    }
    rest.find(|c: char| c.is_whitespace())
        .filter(|offset| *offset < BEFORE)
        .map_or(position, |offset| position + offset)
}

impl View {
    /// Decodes a part of a text. A break that starts in the part is decoded completely.
    fn of(text: &str, part: Range<usize>) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut view = Self { text: String::new(), pieces: vec![(0, part.start)], end: part.end };
        let mut done = part.start;
        let mut position = part.start;
        while let Some(found) = first_break(bytes, position).filter(|found| *found < part.end) {
            let Some(gap) = break_at(bytes, found) else {
                position = found + 1;
                continue;
            };
            view.text.push_str(text.get(done..found)?);
            if let Some(decoded) = gap.decoded {
                view.pieces.push((view.text.len(), found));
                view.text.push(decoded);
            }
            done = found + gap.bytes;
            position = done;
            view.pieces.push((view.text.len(), done));
        }
        view.text.push_str(text.get(done..part.end.max(done))?);
        view.end = part.end.max(done);
        Some(view)
    }

    /// Maps a range of the view to the original text, from the start of its first character to the end of its last.
    fn original(&self, range: Range<usize>) -> Range<usize> {
        let start = self.original_index(range.start);
        let last = range.end.saturating_sub(1).max(range.start);
        // An encoded character ends where the next piece starts.
        let next = self.pieces.partition_point(|(index, _)| *index <= last);
        let end = match (self.pieces.get(next), self.pieces.get(next.wrapping_sub(1))) {
            (Some((index, original)), Some((piece, from)))
                if *index == range.end && from + (range.end - piece) < *original =>
            {
                // Unless the last character is encoded, the range ends before the break that follows.
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

    /// The index in the original text of an index in the view.
    fn original_index(&self, index: usize) -> usize {
        let next = self.pieces.partition_point(|(piece, _)| *piece <= index);
        self.pieces
            .get(next.wrapping_sub(1))
            .map_or(self.end, |(piece, original)| original + (index - piece))
    }
}

/// The number of bytes that are searched at once.
const BLOCK: usize = 4 << 10;

/// The first break at or after this position.
fn first_break(bytes: &[u8], from: usize) -> Option<usize> {
    let mut position = from;
    while position < bytes.len() {
        let end = bytes.len().min(position + BLOCK);
        let block = bytes.get(position..end)?;
        let mut first = memchr::memchr3_iter(b'\\', 0x1b, b'%', block)
            .map(|offset| position + offset)
            .find(|found| break_at(bytes, *found).is_some());
        // Quotes are searched for only before the first other break.
        let before = bytes.get(position..first.unwrap_or(end))?;
        let quote = memchr::memchr3_iter(b'"', b'\'', b'&', before)
            .map(|offset| position + offset)
            .find(|found| break_at(bytes, *found).is_some());
        first = quote.or(first);
        if first.is_some() {
            return first;
        }
        position = end;
    }
    None
}

/// The break that starts at this position.
fn break_at(bytes: &[u8], position: usize) -> Option<Break> {
    let removed = |bytes| Some(Break { bytes, decoded: None });
    let next = at(bytes, position + 1);
    match at(bytes, position) {
        0x1b => match next {
            b'[' => {
                let end =
                    forward_while(bytes, position + 2, 32, |byte| (0x20..0x40).contains(&byte));
                removed(end + 1 - position)
            }
            b']' => {
                let end = forward_while(bytes, position + 2, 512, |byte| {
                    byte != 7 && byte != 0x1b && byte != b'\n'
                });
                let close = match (at(bytes, end), at(bytes, end + 1)) {
                    (7, _) => 1,
                    (0x1b, b'\\') => 2,
                    _ => 0,
                };
                removed(end + close - position)
            }
            b'(' => removed(3),
            _ => removed(1),
        },
        b'\\' => match next {
            b'\n' => removed(2),
            b'\r' if at(bytes, position + 2) == b'\n' => removed(3),
            b'u' => {
                escape_of_colour(bytes, position).or_else(|| code(bytes, position, position + 2, 4))
            }
            b'x' => code(bytes, position, position + 2, 2),
            b'/' => Some(Break { bytes: 2, decoded: Some('/') }),
            b'"' => junction(bytes, position),
            // A line continuation inside JSON.
            b'\\' if at(bytes, position + 2) == b'\\' && at(bytes, position + 3) == b'n' => {
                removed(4)
            }
            b'0'..=b'3' => octal(bytes, position),
            _ => None,
        },
        b'%' => code(bytes, position, position + 1, 2),
        b'&' if next == b'#' => entity(bytes, position),
        b'"' | b'\'' => junction(bytes, position),
        _ => None,
    }
}

/// The visible ASCII character with this code; `None` for any other character.
fn character(digits: &[u8], radix: u32) -> Option<char> {
    let number = u32::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()?;
    char::from_u32(number).filter(char::is_ascii_graphic)
}

/// A character whose hexadecimal code is at `from`.
fn code(bytes: &[u8], position: usize, from: usize, digits: usize) -> Option<Break> {
    let decoded = character(bytes.get(from..from + digits)?, 16)?;
    Some(Break { bytes: from + digits - position, decoded: Some(decoded) })
}

/// A colour code in JSON: `\u001b[32m`.
fn escape_of_colour(bytes: &[u8], position: usize) -> Option<Break> {
    let escape = bytes.get(position + 2..position + 7)?;
    if !escape.eq_ignore_ascii_case(b"001b[") {
        return None;
    }
    let end = forward_while(bytes, position + 7, 32, |byte| (0x20..0x40).contains(&byte));
    Some(Break { bytes: end + 1 - position, decoded: None })
}

/// An octal character code, as in shells and C.
fn octal(bytes: &[u8], position: usize) -> Option<Break> {
    let decoded = character(bytes.get(position + 1..position + 4)?, 8)?;
    Some(Break { bytes: 4, decoded: Some(decoded) })
}

/// A numeric character reference of HTML: `&#103;`, `&#x67;`.
fn entity(bytes: &[u8], position: usize) -> Option<Break> {
    let hex = matches!(at(bytes, position + 2), b'x' | b'X');
    let start = position + 2 + usize::from(hex);
    let end = forward_while(bytes, start, 4, |byte| byte.is_ascii_hexdigit());
    let decoded = character(bytes.get(start..end)?, if hex { 16 } else { 10 })?;
    // Most encoded characters are quotes, which are no part of a secret.
    (!matches!(decoded, '"' | '\'') && at(bytes, end) == b';')
        .then_some(Break { bytes: end + 1 - position, decoded: Some(decoded) })
}

/// A quote inside a word, or the closing and the opening quote of two strings that are joined. In JSON each quote
/// follows a backslash.
fn junction(bytes: &[u8], position: usize) -> Option<Break> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !is_word(at(bytes, position.wrapping_sub(1))) {
        return None;
    }
    let is_quote = |byte: u8| matches!(byte, b'"' | b'\'');
    let escape = usize::from(at(bytes, position) == b'\\');
    if escape == 0 && is_word(at(bytes, position + 1)) {
        return Some(Break { bytes: 1, decoded: None });
    }
    let quote_start = position + escape;
    // `"gh" + "p_"`, `"gh" "p_"`, `"gh".'p_'`.
    let spaces = |from| forward_while(bytes, from, 3, |byte| byte == b' ');
    let mut end = spaces(quote_start + 1);
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
        .then_some(Break { bytes: end + 1 - position, decoded: None })
}
