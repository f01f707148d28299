//! Makes invisible characters of untrusted texts visible (invariant 8 of the crate).
//!
//! A plan, a file name or an output may contain invisible characters that change how the rest is displayed. Every such
//! text must pass [`visible`] or [`visible_lines`] before it reaches a screen or a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Replaces every control, bidirectional, zero-width and otherwise invisible character by its code point in angle
/// brackets, for instance `⟨U+202E⟩`. A tab becomes four spaces, and an escape character becomes `⟨ESC⟩`. Line breaks are
/// replaced, too, so that the result is one line.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\t' => out.push_str("    "),
            '\u{1b}' => out.push_str("⟨ESC⟩"),
            c if is_hidden(c) => {
                let _ = write!(out, "⟨U+{:04X}⟩", u32::from(c));
            }
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// As [`visible`] for each line. Line breaks are kept, as a line feed.
pub fn visible_lines(text: &str) -> String {
    let lines: Vec<_> =
        text.split('\n').map(|line| visible(line.strip_suffix('\r').unwrap_or(line))).collect();
    lines.join("\n")
}

/// Whether a character is invisible, has no standard appearance, or changes how its neighbours are displayed.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00A0}' | '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}'
            | '\u{1680}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
            | '\u{2000}'..='\u{200F}' | '\u{2028}'..='\u{202F}' | '\u{205F}'..='\u{206F}'
            | '\u{2800}' | '\u{3000}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}'
            | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}'
            | '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..='\u{10FFFF}')
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
        ] {
            assert_eq!(visible(text), shown);
        }
    }

    #[test]
    fn nothing_hidden_is_left_in_any_text() {
        let every = (0..=0x10_FFFF).filter_map(char::from_u32).collect::<String>();
        assert!(!visible(&every).chars().any(is_hidden));
    }
}
