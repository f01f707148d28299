//! Tokens that are recognized by their shape alone.
//!
//! Each shape has a long part without separators. Long words are rare, and checking every twentieth byte finds all
//! of them.

use std::ops::Range;
use std::sync::LazyLock;

use super::Match;
use super::scan::{MAX_VALUE, at, back_while, forward_while};
use super::table::{ALNUM, ANY, BASE64, DOTTED, HEX, Shape, UPPER, URL, shapes};
use super::values::is_wordy;

/// The minimum length of a token's long part.
const MIN_LONG_PART: usize = 20;
/// The maximum length of a token's part before a dot and the long part.
const MAX_BEFORE_DOT: usize = 12;

/// For each byte, the sets that contain it, as bits.
static SETS: LazyLock<[u8; 256]> = LazyLock::new(|| {
    let mut sets = [0; 256];
    for (byte, bits) in (0u8..=255).zip(&mut sets) {
        let mut add = |set: u8, contains: bool| *bits |= u8::from(contains) << set;
        let alnum = byte.is_ascii_alphanumeric();
        let url = alnum || matches!(byte, b'-' | b'_');
        add(HEX, byte.is_ascii_hexdigit() || byte == b'-');
        add(ALNUM, alnum);
        add(URL, url);
        add(DOTTED, url || byte == b'.');
        add(BASE64, alnum || matches!(byte, b'+' | b'/' | b'='));
        add(UPPER, byte.is_ascii_uppercase() || byte.is_ascii_digit());
        add(ANY, url || matches!(byte, b'.' | b'+' | b'/' | b'=' | b'~' | b'%'));
    }
    sets
});

/// The shapes by their first byte.
static BY_FIRST: LazyLock<Vec<Vec<Shape>>> = LazyLock::new(|| {
    let mut by_first = vec![Vec::new(); 256];
    for shape in shapes() {
        let first = shape.prefix.bytes().next().unwrap_or_default();
        by_first.get_mut(usize::from(first)).into_iter().for_each(|all| all.push(shape));
    }
    by_first
});

/// By [`index_of`] three bytes: whether a token may start with them. Few words do.
static BEGINNINGS: LazyLock<[bool; 4096]> = LazyLock::new(|| {
    let mut beginnings = [false; 4096];
    let mut add = |first, second, third| {
        if let Some(is_beginning) = beginnings.get_mut(index_of(first, second, third)) {
            *is_beginning = true;
        }
    };
    for shape in shapes() {
        match *shape.prefix.as_bytes() {
            [first, second, third, ..] => add(first, second, third),
            // After a prefix of two bytes, any byte of the set may follow.
            [first, second] => (0..=255u8)
                .filter(|third| is_in_set(shape.set, *third))
                .for_each(|third| add(first, second, third)),
            _ => {}
        }
    }
    beginnings
});

/// A hash of three bytes below 4096.
fn index_of(first: u8, second: u8, third: u8) -> usize {
    let [first, second, third] = [first, second, third].map(usize::from);
    (first ^ (second << 3) ^ (third << 6)) & 4095
}

fn is_beginning(first: u8, second: u8, third: u8) -> bool {
    BEGINNINGS.get(index_of(first, second, third)).is_some_and(|is_beginning| *is_beginning)
}

fn is_in_set(set: u8, byte: u8) -> bool {
    SETS.get(usize::from(byte)).is_some_and(|sets| sets & (1 << set) != 0)
}

/// Calls `each` with every run of at least [`MIN_LONG_PART`] bytes of [`URL`].
fn long_words(bytes: &[u8], mut each: impl FnMut(Range<usize>)) {
    let sets = &*SETS;
    let is_url = |byte: u8| sets.get(usize::from(byte)).is_some_and(|sets| sets & (1 << URL) != 0);
    let mut position = MIN_LONG_PART - 1;
    let mut done = 0;
    while let Some(byte) = bytes.get(position) {
        if !is_url(*byte) {
            done = position + 1;
            position += MIN_LONG_PART;
            continue;
        }
        let known = bytes.get(done..position).unwrap_or_default();
        let back = known.iter().rev().take_while(|byte| is_url(**byte)).count();
        let start = position - back;
        let rest = bytes.get(position..).unwrap_or_default();
        let end = position + rest.iter().take_while(|byte| is_url(**byte)).count();
        if end - start >= MIN_LONG_PART {
            each(start..end);
        }
        done = end + 1;
        position = end + MIN_LONG_PART;
    }
}

/// Whether a text certainly contains no token, not even after a JSON escape.
pub(super) fn can_skip(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut has_candidate = false;
    long_words(bytes, |word| {
        has_candidate = has_candidate
            || possible_starts(bytes, &word).any(|start| shapes_at(bytes, start).next().is_some())
            || unprefixed(text, &word).is_some();
    });
    !has_candidate
}

/// Finds the tokens in a text.
pub(super) fn find(text: &str, matches: &mut Vec<Match>) {
    let bytes = text.as_bytes();
    let mut done = 0;
    long_words(bytes, |word| {
        if word.start < done {
            return;
        }
        if let Some(found) = unprefixed(text, &word) {
            done = found.span.end;
            matches.push(found);
            return;
        }
        for start in possible_starts(bytes, &word) {
            if start < done {
                continue;
            }
            let found = shapes_at(bytes, start).find_map(|shape| match_shape(text, shape, start));
            if let Some(found) = found {
                done = found.span.end;
                matches.push(found);
            }
        }
    });
}

/// The shapes whose prefix is at this position.
fn shapes_at(bytes: &[u8], start: usize) -> impl Iterator<Item = &'static Shape> {
    let rest = bytes.get(start..).unwrap_or_default();
    let shapes = BY_FIRST.get(usize::from(at(bytes, start))).into_iter().flatten();
    shapes.filter(|shape| rest.starts_with(shape.prefix.as_bytes()))
}

/// The positions at which a token with this long word may start: at boundaries inside the word, or, if a dot precedes
/// the word, at the part before the dot.
fn possible_starts<'b>(bytes: &'b [u8], word: &Range<usize>) -> impl Iterator<Item = usize> + 'b {
    let dotted = at(bytes, word.start.wrapping_sub(1)) == b'.';
    let from = if dotted {
        back_while(bytes, word.start, MAX_BEFORE_DOT, |byte| is_in_set(DOTTED, byte))
    } else {
        word.start
    };
    // A token that starts inside the word has a long part too.
    let to = (word.end + 1).saturating_sub(MIN_LONG_PART).max(from + usize::from(dotted));
    let before = at(bytes, from.wrapping_sub(1));
    let windows = bytes.get(from..to + 2).unwrap_or_default().windows(3).enumerate();
    let mut previous = if is_in_set(ALNUM, before) && !dotted { before } else { 0 };
    windows.filter_map(move |(offset, window)| {
        let [first, second, third] = *window else { return None };
        let is_boundary = !previous.is_ascii_alphanumeric() || offset == 0
            // After the letter of an escape, such as `\n`.
            || (offset == 1
                && matches!(previous, b'n' | b't' | b'r')
                && at(bytes, from.wrapping_sub(1)) == b'\\');
        previous = first;
        (is_boundary && is_beginning(first, second, third)).then_some(from + offset)
    })
}

/// The token of this shape that starts at this position.
fn match_shape(text: &str, shape: &Shape, start: usize) -> Option<Match> {
    let bytes = text.as_bytes();
    let from = start + shape.prefix.len();
    let mut end = forward_while(bytes, from, shape.max + 1, |byte| is_in_set(shape.set, byte));
    let is_wrapped =
        at(bytes, end) == b'\n' || (at(bytes, end) == b'\r' && at(bytes, end + 1) == b'\n');
    if end - from < shape.min && end > from && is_wrapped {
        // The rest of a wrapped token is on the next line.
        let next = forward_while(bytes, end, 40, |byte| byte.is_ascii_whitespace());
        let stop = forward_while(bytes, next, shape.max, |byte| is_in_set(shape.set, byte));
        if (end - from) + (stop - next) >= shape.min && stop - next >= 4 {
            end = stop;
        }
    }
    // Punctuation at the end belongs to the surrounding text.
    while end > from
        && matches!(at(bytes, end - 1), b'.' | b'-' | b'/' | b'=')
        && shape.set != BASE64
    {
        end -= 1;
    }
    let length = end - from;
    if length < shape.min
        || length > shape.max
        || (shape.max < 200 && is_in_set(ALNUM, at(bytes, end)))
    {
        return None;
    }
    let body = text.get(from..end)?;
    is_random(body, shape).then(|| Match::new(start..end, start..end, shape.kind))
}

/// Whether the bytes after the prefix are neither a name nor a placeholder.
fn is_random(body: &str, shape: &Shape) -> bool {
    let mut seen = [false; 256];
    for byte in body.bytes() {
        if let Some(seen) = seen.get_mut(usize::from(byte)) {
            *seen = true;
        }
    }
    let distinct = seen.iter().filter(|seen| **seen).count();
    let digits = body.bytes().filter(u8::is_ascii_digit).count();
    let is_short = shape.prefix.len() < 4;
    // Names of OpenSSH for key types on hardware tokens.
    if shape.prefix == "sk-" && (body.starts_with("ssh-") || body.starts_with("ecdsa-")) {
        return false;
    }
    if shape.set == UPPER && !is_short {
        return distinct >= 6;
    }
    let mixed = body.bytes().any(|byte| byte.is_ascii_uppercase())
        && body.bytes().any(|byte| byte.is_ascii_lowercase());
    distinct >= 4 && (digits > 0 || mixed) && !is_wordy(body)
        // After a short prefix, the rest must certainly be random.
        && (!is_short || (digits >= 2 && distinct >= 8))
}

/// The token without a fixed prefix that contains this long word.
fn unprefixed(text: &str, word: &Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let length = word.end - word.start;
    let found = |span: Range<usize>, kind| Some(Match::new(span.clone(), span, kind));
    let before = at(bytes, word.start.wrapping_sub(1));
    let next = at(bytes, word.end);
    // Terraform: the id of a token and its key.
    if before == b'.' && text.get(..word.start)?.ends_with(".atlasv1.") {
        let start = back_while(bytes, word.start - 9, 24, |byte| is_in_set(ALNUM, byte));
        return found(start..word.end, "terraform_token");
    }
    // Braintree: `access_token$production$`, the id of a shop and its key.
    if before == b'$' && length == 32 {
        let start = back_while(bytes, word.start, 60, |byte| is_in_set(URL, byte) || byte == b'$');
        if text.get(start..word.start)?.starts_with("access_token$") {
            return found(start..word.end, "braintree_token");
        }
    }
    if next != b'.' && !matches!(before, b':' | b'~') && !(36..=38).contains(&length) {
        return None;
    }
    let begin = text.get(word.clone())?;
    // JSON web tokens: two parts that start with an object, and a signature.
    if next == b'.'
        && let Some(offset) = begin.get(..48).unwrap_or(begin).find("eyJ")
        && offset <= 24
    {
        let start = word.start + offset;
        let second = forward_while(bytes, word.end + 1, MAX_VALUE, |byte| is_in_set(URL, byte));
        let third = forward_while(bytes, second + 1, MAX_VALUE, |byte| is_in_set(DOTTED, byte));
        let object = text.get(word.end + 1..)?.starts_with("eyJ");
        if (object || second - word.end > 20) && at(bytes, second) == b'.' && third - second > 8 {
            return found(start..third, "jwt");
        }
    }
    // Telegram: the number of a bot and its key.
    if before == b':' && begin.starts_with("AA") && (33..=36).contains(&length) {
        let start = back_while(bytes, word.start - 1, 11, |byte| byte.is_ascii_digit());
        if (8..=10).contains(&(word.start - 1 - start)) {
            return found(start..word.end, "telegram_token");
        }
    }
    // Discord: a number in base64, a time and a signature.
    if next == b'.' && (23..=28).contains(&length) && begin.starts_with(['M', 'N', 'O']) {
        let second = forward_while(bytes, word.end + 1, 8, |byte| is_in_set(URL, byte));
        let third = forward_while(bytes, second + 1, 60, |byte| is_in_set(URL, byte));
        if (5..=7).contains(&(second - word.end - 1))
            && at(bytes, second) == b'.'
            && third - second > 26
        {
            return found(word.start..third, "discord_token");
        }
    }
    // Azure: three characters, a digit and `Q~`.
    if before == b'~' && at(bytes, word.start.wrapping_sub(2)) == b'Q' {
        let end =
            forward_while(bytes, word.start, 40, |byte| is_in_set(DOTTED, byte) || byte == b'~');
        let start = word.start.checked_sub(6)?;
        if (31..=36).contains(&(end - word.start)) && at(bytes, start + 3).is_ascii_digit() {
            return found(start..end, "azure_secret");
        }
    }
    // Mailchimp: 32 hex digits and a region.
    if let (Some(hex), Some(region)) = (begin.get(..32), begin.get(32..))
        && region.len() <= 6
        && region
            .strip_prefix("-us")
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
        && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
    {
        return found(word.clone(), "mailchimp_key");
    }
    None
}
