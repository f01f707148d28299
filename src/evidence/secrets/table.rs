//! Reads the tables of `assets/secrets`, and the token shapes: prefix, byte set and length.

use std::str::SplitAsciiWhitespace;

/// Hex digits.
pub(super) const HEX: u8 = 1;
/// Digits and letters.
pub(super) const ALNUM: u8 = 2;
/// [`ALNUM`], `-` and `_`.
pub(super) const URL: u8 = 3;
/// [`URL`] and `.`.
pub(super) const DOTTED: u8 = 4;
/// Digits, letters, `+`, `/` and `=`.
pub(super) const BASE64: u8 = 5;
/// Digits and capital letters.
pub(super) const UPPER: u8 = 6;
/// [`DOTTED`], [`BASE64`], `~` and `%`.
pub(super) const ANY: u8 = 7;

/// The format of a kind of token.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// The prefix, case-sensitive.
    pub(super) prefix: &'static str,
    /// The set of bytes after the prefix.
    pub(super) set: u8,
    /// The minimum and maximum number of bytes after the prefix.
    pub(super) min: usize,
    pub(super) max: usize,
    pub(super) kind: &'static str,
}

/// The names of the sets in the table.
const SETS: [(&str, u8); 7] = [
    ("hex", HEX),
    ("alnum", ALNUM),
    ("url", URL),
    ("dotted", DOTTED),
    ("base64", BASE64),
    ("upper", UPPER),
    ("any", ANY),
];

/// The maximum length of tokens that have no maximum of their own.
const MAX_TOKEN: usize = 4 << 10;

const TOKENS: &str = include_str!("../../../assets/secrets/tokens.txt");

/// The rows of a table, each as its fields.
pub(super) fn rows(table: &'static str) -> impl Iterator<Item = SplitAsciiWhitespace<'static>> {
    let rows = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(str::split_ascii_whitespace)
}

/// Every shape with each of its prefixes, in the order in which they are tried.
pub(super) fn shapes() -> impl Iterator<Item = Shape> {
    rows(TOKENS).filter_map(shapes_of_row).flatten()
}

/// The shape of a row with each of its prefixes; `None` if a field is invalid.
fn shapes_of_row(mut fields: SplitAsciiWhitespace<'static>) -> Option<impl Iterator<Item = Shape>> {
    let (kind, name) = (fields.next()?, fields.next()?);
    let set = SETS.into_iter().find_map(|(known, set)| (known == name).then_some(set))?;
    let min = fields.next()?.parse().ok()?;
    let max = match fields.next()? {
        "-" => MAX_TOKEN,
        max => max.parse().ok()?,
    };
    Some(fields.map(move |prefix| Shape { prefix, set, min, max, kind }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_tokens_is_valid() {
        assert_eq!(rows(TOKENS).count(), 115);
        for fields in rows(TOKENS) {
            let row = format!("{fields:?}");
            assert!(shapes_of_row(fields).is_some_and(|mut it| it.next().is_some()), "{row}");
        }
        assert!(shapes().all(|shape| 0 < shape.min && shape.min <= shape.max));
    }
}
