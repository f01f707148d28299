//! Makes invisible characters of untrusted texts visible (invariant 8 of the crate).
//!
//! A plan, a file name or an output may contain invisible characters that change how the rest is displayed. Every such
//! text must pass [`visible`] or [`visible_lines`] before it reaches a screen or a terminal.
//!
//! A text may also contain the characters of such a mark, for instance a written `⟨U+202E⟩`. [`quoted`] and [`prose`] tell
//! it apart by writing out its first bracket. They are applied once, to the text as it came; the others leave what they
//! return as it is.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use unicode_normalization::char::is_combining_mark;
use unicode_properties::{GeneralCategory, UnicodeEmoji as _, UnicodeGeneralCategory as _};
use unicode_segmentation::UnicodeSegmentation as _;

/// The bracket that opens the mark of a hidden character.
pub(super) const OPENS_MARK: char = '⟨';
/// The maximum number of combining marks on one character. More would cover the lines above and below.
const MAX_MARKS: usize = 3;
/// The maximum number of characters of a grapheme cluster, which is drawn as one; emoji are joined of more.
const MAX_CLUSTER: usize = 8;
const MAX_EMOJI: usize = 12;

/// Replaces every control, bidirectional, zero-width and otherwise invisible character by its code point in angle
/// brackets, for instance `⟨U+202E⟩`, every combining mark after the third on one character, and all characters of a
/// grapheme cluster of more than 8. A tab becomes four spaces, and an escape character becomes `⟨ESC⟩`. Line breaks are
/// replaced, too, so that the result is one line.
pub fn visible(text: &str) -> Cow<'_, str> {
    replaced(text, |_, _, _| false)
}

/// As [`visible`], with each bracket written out with which a mark begins: `⟨U+27E8⟩U+202E⟩` is no right-to-left override,
/// but these characters. Must not be applied to its own result.
pub fn quoted(text: &str) -> Cow<'_, str> {
    with_brackets(text, visible)
}

/// As [`drawable`], with brackets written out as by [`quoted`].
pub fn prose(text: &str) -> Cow<'_, str> {
    with_brackets(text, drawable)
}

fn with_brackets(text: &str, shown: fn(&str) -> Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains(OPENS_MARK) {
        return shown(text);
    }
    let bracket = format!("⟨U+{:04X}⟩", u32::from(OPENS_MARK));
    let parts: Vec<_> = text.split(OPENS_MARK).map(shown).collect();
    parts.join(&bracket).into()
}

/// As [`visible`], but keeps what joins emoji to one picture. Only for the window, which draws the joined picture or the
/// code points; on a terminal, a joiner may be invisible.
pub fn drawable(text: &str) -> Cow<'_, str> {
    replaced(text, joins_emoji)
}

/// Makes hidden characters visible, but for those that `keeps` accepts. It gets the character before, the character, and
/// the one after.
fn replaced(text: &str, keeps: fn(Option<char>, char, Option<char>) -> bool) -> Cow<'_, str> {
    if text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for cluster in text.graphemes(true) {
        let long = is_too_long(cluster);
        let mut marks = 0;
        let mut before = None;
        let mut chars = cluster.chars().peekable();
        while let Some(c) = chars.next() {
            marks = if is_mark(c) { marks + 1 } else { 0 };
            let replaced = is_hidden(c) && !keeps(before, c, chars.peek().copied());
            match c {
                '\t' => out.push_str("    "),
                '\u{1b}' => out.push_str("⟨ESC⟩"),
                c if replaced || long || marks > MAX_MARKS => {
                    let _ = write!(out, "⟨U+{:04X}⟩", u32::from(c));
                }
                c => out.push(c),
            }
            // A selector or a skin tone belongs to the emoji before it.
            if c != EMOJI_STYLE && !('\u{1F3FB}'..='\u{1F3FF}').contains(&c) {
                before = Some(c);
            }
        }
    }
    if out == text { Cow::Borrowed(text) } else { Cow::Owned(out) }
}

/// Whether a cluster has too many characters to be drawn as one.
fn is_too_long(cluster: &str) -> bool {
    let is_emoji = cluster.chars().next().is_some_and(|c| !c.is_ascii() && c.is_emoji_char());
    let most = if is_emoji { MAX_EMOJI } else { MAX_CLUSTER };
    cluster.len() > most && cluster.chars().count() > most
}

const JOINER: char = '\u{200D}';
const EMOJI_STYLE: char = '\u{FE0F}';

/// Whether `c` joins two emoji or selects the style of one. How the result looks depends on the fonts; a view that
/// cannot draw it in one picture shows the code point.
fn joins_emoji(before: Option<char>, c: char, after: Option<char>) -> bool {
    // The digits are emoji, too, but look the same with a selector.
    let is_emoji = |it: Option<char>| it.is_some_and(|c| !c.is_ascii() && c.is_emoji_char());
    match c {
        JOINER => is_emoji(before) && is_emoji(after),
        EMOJI_STYLE => is_emoji(before) && after != Some(EMOJI_STYLE),
        _ => false,
    }
}

/// Whether a character is drawn on the one before it.
pub fn is_mark(c: char) -> bool {
    !c.is_ascii() && is_combining_mark(c)
}

/// Whether a text has a character of a script that is written from right to left.
pub fn has_right_to_left(text: &str) -> bool {
    // The blocks that Unicode reserves for these scripts.
    let is_one = |c| {
        matches!(c,
            '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFE}'
            | '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}')
    };
    !text.is_ascii() && text.chars().any(is_one)
}

/// As [`visible`] for each line. Line breaks are kept, as a line feed.
pub fn visible_lines(text: &str) -> String {
    by_line(text, visible)
}

/// As [`quoted`] for each line. Line breaks are kept, as a line feed.
pub fn quoted_lines(text: &str) -> String {
    by_line(text, quoted)
}

/// [`prose`] applied to each line. Every kind of line break becomes a line feed.
pub fn prose_lines(text: &str) -> String {
    by_line(text, prose)
}

/// As [`drawable`] for each line. Line breaks are kept, as a line feed.
pub fn drawable_lines(text: &str) -> String {
    by_line(text, drawable)
}

fn by_line(text: &str, shown: fn(&str) -> Cow<'_, str>) -> String {
    let lines: Vec<_> =
        text.split('\n').map(|line| shown(line.strip_suffix('\r').unwrap_or(line))).collect();
    lines.join("\n")
}

/// Whether a character is invisible, has no standard appearance, or changes how its neighbours are displayed.
pub fn is_hidden(c: char) -> bool {
    use GeneralCategory as Category;
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    // Drawn as nothing, although their category does not say so.
    matches!(c,
        '\u{034F}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}' | '\u{2800}' | '\u{3164}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FFA0}' | '\u{11A45}' | '\u{11A47}' | '\u{16FE4}' | '\u{1D159}'
        | '\u{E0000}'..='\u{E0FFF}')
        || matches!(
            c.general_category(),
            Category::Control
                | Category::Format
                | Category::LineSeparator
                | Category::ParagraphSeparator
                | Category::SpaceSeparator
                | Category::PrivateUse
                | Category::Surrogate
                | Category::Unassigned
        )
}

/// A text with these ranges of characters written out as code points, and the rest as [`drawable`]. Also returns the
/// ranges of what was written out, in the result. A run of one space character is written once, with its length:
/// `⟨U+0020 ×4⟩`.
pub fn spelled_out(text: &str, ranges: &[Range<usize>]) -> (String, Vec<Range<usize>>) {
    let mut out = String::with_capacity(text.len() + 16 * ranges.len());
    let mut written = Vec::with_capacity(ranges.len());
    for piece in spelled_pieces(text, ranges) {
        let start = out.len();
        out.push_str(&piece.shown);
        if piece.is_spelled {
            written.push(start..out.len());
        }
    }
    (out, written)
}

/// The byte of `text` that is shown at the byte `shown` of its [`spelled_out`] form. Within a mark, the start of what it
/// stands for.
pub fn source_offset(text: &str, ranges: &[Range<usize>], shown: usize) -> usize {
    let mut at = 0;
    for piece in spelled_pieces(text, ranges) {
        let end = at + piece.shown.len();
        if shown >= end {
            at = end;
            continue;
        }
        let Piece { source, is_spelled, .. } = piece;
        let inside = text.get(source.clone()).unwrap_or_default();
        if is_spelled {
            return source.start;
        }
        // Each cluster is shown on its own, wherever it is.
        for (offset, cluster) in inside.grapheme_indices(true) {
            let length = drawable(cluster).len();
            if shown < at + length {
                let within = shown - at;
                let is_same = length == cluster.len() && cluster.is_char_boundary(within);
                return source.start + offset + if is_same { within } else { 0 };
            }
            at += length;
        }
        return source.end;
    }
    text.len()
}

/// The byte of the [`spelled_out`] form of `text` at which the byte `source` of `text` is shown.
pub fn shown_offset(text: &str, ranges: &[Range<usize>], source: usize) -> usize {
    let mut at = 0;
    for piece in spelled_pieces(text, ranges) {
        if source >= piece.source.end {
            at += piece.shown.len();
        } else if piece.is_spelled || source <= piece.source.start {
            return at;
        } else {
            let before = text.get(piece.source.start..source).unwrap_or_default();
            return at + drawable(before).len();
        }
    }
    at
}

/// A part of a text, and how it is shown.
struct Piece<'t> {
    source: Range<usize>,
    shown: Cow<'t, str>,
    is_spelled: bool,
}

fn spelled_pieces<'t>(
    text: &'t str,
    ranges: &'t [Range<usize>],
) -> impl Iterator<Item = Piece<'t>> {
    let ends = ranges.iter().map(|range| range.end);
    let gaps = std::iter::once(0)
        .chain(ends)
        .zip(ranges.iter().map(|range| range.start).chain(std::iter::once(text.len())));
    let spelled = ranges.iter().map(Some).chain(std::iter::once(None));
    gaps.zip(spelled).flat_map(move |((start, end), range)| {
        let plain = (start < end).then(|| Piece {
            source: start..end,
            shown: drawable(text.get(start..end).unwrap_or_default()),
            is_spelled: false,
        });
        let spelled = range.into_iter().flat_map(move |range| code_points(text, range));
        plain.into_iter().chain(spelled)
    })
}

/// The code points of a part of a text; those of a run of one space character together.
fn code_points<'t>(text: &'t str, range: &Range<usize>) -> Vec<Piece<'t>> {
    let mut pieces: Vec<(Range<usize>, char, usize)> = Vec::new();
    let part = text.get(range.clone()).unwrap_or_default();
    for (offset, c) in part.char_indices() {
        let start = range.start + offset;
        match pieces.last_mut() {
            Some((source, last, count)) if *last == c && c.is_whitespace() => {
                source.end += c.len_utf8();
                *count += 1;
            }
            _ => pieces.push((start..start + c.len_utf8(), c, 1)),
        }
    }
    let piece = |(source, c, count)| {
        let code = u32::from(c);
        let times = if count > 1 { format!(" ×{count}") } else { String::new() };
        Piece { source, shown: format!("⟨U+{code:04X}{times}⟩").into(), is_spelled: true }
    };
    pieces.into_iter().map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_left_alone() {
        for text in ["", "cargo check", "naïve café", "日本語", "a → b", "🙂"] {
            assert!(matches!(visible(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn invisible_characters_are_shown() {
        for (text, shown) in [
            ("a\u{202E}b", "a⟨U+202E⟩b"),
            ("rm\u{200B} -rf", "rm⟨U+200B⟩ -rf"),
            ("a\u{A0}b", "a⟨U+00A0⟩b"),
            ("x\u{7}", "x⟨U+0007⟩"),
            ("a\nb", "a⟨U+000A⟩b"),
            ("\ta", "    a"),
            ("\u{1b}[31m", "⟨ESC⟩[31m"),
            ("\u{E0041}", "⟨U+E0041⟩"),
            ("\u{E000}", "⟨U+E000⟩"),
            ("\u{2066}", "⟨U+2066⟩"),
            ("e\u{301}\u{302}\u{303}\u{304}", "e\u{301}\u{302}\u{303}⟨U+0304⟩"),
            ("👨\u{200D}👩", "👨⟨U+200D⟩👩"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }

    #[test]
    fn the_window_gets_what_joins_emoji() {
        for (text, shown) in [
            ("👨\u{200D}👩", "👨\u{200D}👩"),
            ("⚠\u{FE0F}", "⚠\u{FE0F}"),
            ("a\u{200D}b", "a⟨U+200D⟩b"),
            ("1\u{FE0F}", "1⟨U+FE0F⟩"),
            ("a\u{202E}b", "a⟨U+202E⟩b"),
        ] {
            assert_eq!(drawable(text), shown);
        }
    }

    #[test]
    fn a_written_mark_is_told_from_a_mark() {
        for (text, shown) in [
            ("rm\u{200B}", "rm⟨U+200B⟩"),
            ("rm⟨U+200B⟩", "rm⟨U+27E8⟩U+200B⟩"),
            ("⟨ESC⟩\u{1b}", "⟨U+27E8⟩ESC⟩⟨ESC⟩"),
            ("⟨⟨", "⟨U+27E8⟩⟨U+27E8⟩"),
            ("naïve ⟩", "naïve ⟩"),
        ] {
            assert_eq!(quoted(text), shown);
            assert_eq!(prose(text), shown);
            assert_eq!(drawable(&prose(text)), shown, "what draws it leaves it alone");
        }
        assert_eq!(quoted_lines("⟨\r\nb\u{7}"), "⟨U+27E8⟩\nb⟨U+0007⟩");
        assert_eq!(prose_lines("⚠\u{FE0F}⟨\nb"), "⚠\u{FE0F}⟨U+27E8⟩\nb");
    }

    #[test]
    fn a_long_cluster_is_written_out() {
        let joined = "क्".repeat(5);
        assert_eq!(visible(&joined), "⟨U+0915⟩⟨U+094D⟩".repeat(5));
        let word = "क्ष्म्य";
        assert_eq!(visible(word), word);
    }

    #[test]
    fn every_kind_of_hidden_character_is_one() {
        let hidden = [
            0x7F, 0x9B, 0xA0, 0xAD, 0x34F, 0x600, 0x605, 0x61C, 0x6DD, 0x70F, 0x890, 0x8E2, 0x115F,
            0x1680, 0x17B4, 0x180E, 0x2000, 0x200B, 0x2028, 0x202E, 0x202F, 0x205F, 0x2065, 0x206F,
            0x2800, 0x3000, 0x3164, 0xE000, 0xFDD0, 0xFE0F, 0xFEFF, 0xFFA0, 0xFFF9, 0xFFFE,
            0x110BD, 0x110CD, 0x11A45, 0x13430, 0x13438, 0x16FE4, 0x1BCA0, 0x1D159, 0x1D173,
            0x1FFFE, 0xE0001, 0xE0100, 0xE0FFF, 0xF0000, 0x10FFFF,
        ];
        for code in hidden {
            assert!(char::from_u32(code).is_some_and(is_hidden), "U+{code:04X}");
        }
        for shown in "aé ñ中文한グ🙂⚠∑ﷺ€’—…→\u{301}\u{94D}ا".chars() {
            assert!(!is_hidden(shown), "{shown}");
        }
    }

    #[test]
    fn nothing_hidden_is_left_in_any_text() {
        let every = (0..=0x10_FFFF).filter_map(char::from_u32).collect::<String>();
        assert!(!visible(&every).chars().any(is_hidden));
    }

    #[test]
    fn parts_are_spelled_out_and_found_again() {
        let text = "a\té \u{202e}b    ";
        let ranges = [1..2, 2..4, text.len() - 4..text.len()];
        let (shown, written) = spelled_out(text, &ranges);
        assert_eq!(shown, "a⟨U+0009⟩⟨U+00E9⟩ ⟨U+202E⟩b⟨U+0020 ×4⟩");
        let written: Vec<_> = written.iter().map(|range| &shown[range.clone()]).collect();
        assert_eq!(written, ["⟨U+0009⟩", "⟨U+00E9⟩", "⟨U+0020 ×4⟩"]);
        let source = |part: &str| source_offset(text, &ranges, shown.find(part).unwrap());
        assert_eq!([source("a"), source("⟨U+0009"), source("⟨U+00E9")], [0, 1, 2]);
        assert_eq!([source(" ⟨U+202E"), source("⟨U+202E"), source("b")], [4, 5, 8]);
        assert_eq!(source("⟨U+0020"), 9);
        assert_eq!(source_offset(text, &ranges, shown.len()), text.len());
        for (source, _) in text.char_indices().take(6) {
            assert_eq!(source_offset(text, &ranges, shown_offset(text, &ranges, source)), source);
        }
        assert_eq!(source_offset("\tab", &[], 4), 1);
        assert_eq!(shown_offset("\tab", &[], 1), 4);
        assert_eq!(source_offset("plain", &[], 3), 3);
    }
}
