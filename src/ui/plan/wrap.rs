//! Wraps long lines of code and of output into rows: nothing is cut, and no character is separated from its marks.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation as _;

use crate::plan::drawable;
use crate::ui::glyphs;

/// Splits the text, with hidden characters made visible, into pieces of at most `columns` columns, but not below 8.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(8);
    let shown = fitting(drawable(text), columns);
    if row_length(&shown, columns) == shown.len() {
        return vec![shown.into_owned()];
    }
    let mut pieces = Vec::new();
    let mut rest = &*shown;
    loop {
        let (piece, after) = rest.split_at(row_length(rest, columns));
        pieces.push(piece.to_owned());
        if after.is_empty() {
            return pieces;
        }
        rest = after;
    }
}

/// Whether [`wrap`] makes one piece of this text.
pub fn is_one_row(text: &str, columns: usize) -> bool {
    let columns = columns.max(8);
    let shown = fitting(drawable(text), columns);
    row_length(&shown, columns) == shown.len()
}

/// The text, with the code points of clusters that are wider than a row.
fn fitting(shown: Cow<'_, str>, columns: usize) -> Cow<'_, str> {
    // The widest character on its own is its code point, for example `⟨U+10FFFF⟩`.
    let is_wide = |cluster: &str| cluster.len() > 4 && glyphs::columns(cluster) > columns;
    if shown.is_ascii() || !shown.graphemes(true).any(is_wide) {
        return shown;
    }
    let mut text = String::with_capacity(shown.len() * 2);
    for cluster in shown.graphemes(true) {
        if is_wide(cluster) {
            text.extend(cluster.chars().map(|c| format!("⟨U+{:04X}⟩", u32::from(c))));
        } else {
            text.push_str(cluster);
        }
    }
    Cow::Owned(text)
}

/// The number of bytes of a line that fit into its first row. Counts the columns that hidden characters take when they
/// are made visible. A row never ends within a grapheme cluster.
pub(crate) fn row_length(line: &str, columns: usize) -> usize {
    // Breaks after a space, unless that would leave much of the row empty.
    let break_at = |index: usize, after_space: Option<usize>| {
        after_space.filter(|end| *end > index * 3 / 5).unwrap_or(index)
    };
    // Most rows are ASCII: each byte is a column.
    let start = line.as_bytes().get(..=columns).unwrap_or(line.as_bytes());
    if columns > 0 && start.iter().all(|byte| (0x20..0x7f).contains(byte)) {
        let row = start.get(..columns).unwrap_or(start);
        let space = row.iter().rposition(|byte| *byte == b' ').map(|space| space + 1);
        return if line.len() <= columns { line.len() } else { break_at(columns, space) };
    }
    let (mut used, mut after_space) = (0, None);
    for (index, cluster) in line.grapheme_indices(true) {
        used += cluster_columns(cluster);
        if used > columns && index > 0 {
            return break_at(before_mark(line, index), after_space);
        }
        if cluster == " " {
            after_space = Some(index + 1);
        }
    }
    line.len()
}

/// `index`, or where the mark of a hidden character begins that ends behind it. A mark that is wider than the row breaks.
fn before_mark(line: &str, index: usize) -> usize {
    const LONGEST: usize = "⟨U+10FFFF⟩".len();
    let row = line.get(..index).unwrap_or_default();
    let begin = row.rfind('⟨').filter(|begin| *begin > 0 && index - begin < LONGEST);
    begin.filter(|begin| row.rfind('⟩') < Some(*begin)).unwrap_or(index)
}

fn cluster_columns(cluster: &str) -> usize {
    match drawable(cluster) {
        Cow::Borrowed(shown) => glyphs::columns(shown),
        Cow::Owned(shown) => shown.graphemes(true).map(glyphs::columns).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::is_hidden;

    #[test]
    fn ascii_rows_break_as_others_do() {
        for text in ["", "one two three", "onetwothree", "a b c d e f", "ab   ", "abcdefgh ij"] {
            for columns in 1..12 {
                // With a letter that is not ASCII at the end, the general way is taken.
                let general = row_length(&format!("{text}é"), columns);
                let ascii = row_length(&format!("{text}e"), columns);
                assert_eq!(ascii.min(text.len()), general.min(text.len()), "{text:?} {columns}");
            }
        }
    }

    #[test]
    fn marks_stay_whole() {
        let rows = wrap("abcde\u{200B}\u{200B}e\u{1b}g⟨h", 12);
        assert_eq!(rows, ["abcde", "⟨U+200B⟩", "⟨U+200B⟩e", "⟨ESC⟩g⟨h"]);
        assert_eq!(wrap("\u{10FFFF}a", 8).concat(), "⟨U+10FFFF⟩a", "wider than a row");
    }

    #[test]
    fn hidden_characters_count_as_they_are_shown() {
        // Some are in one cluster with what is before them.
        let stands_alone = |c: char| format!(" {c}").graphemes(true).count() == 2;
        let hidden = |c: &char| is_hidden(*c) && stands_alone(*c);
        for c in (0..=0x10_ffff).filter_map(char::from_u32).filter(hidden) {
            let columns = 2 * drawable(&c.to_string()).chars().count();
            assert_eq!(row_length(&format!("{c} {c}"), columns), c.len_utf8() + 1, "{c:?}");
        }
    }
}
