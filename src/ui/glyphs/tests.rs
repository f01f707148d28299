use egui::FontFamily::{Monospace, Proportional};

use super::cluster::{bundled_columns, drawing};
use super::columns;
use crate::plan::drawable;
use unicode_segmentation::UnicodeSegmentation as _;

/// The columns of the longest code point that is written out.
const MAX_CODE_POINT: usize = "⟨U+10FFFF⟩".len() - 4;

/// The number of columns of a text in which each of these code points is written out.
fn written_out(chars: &str) -> usize {
    chars.chars().map(|c| format!("⟨U+{:04X}⟩", u32::from(c)).chars().count()).sum()
}

#[test]
fn egui_draws_the_characters_of_the_bundled_fonts() {
    for c in "aZ0~éßжΩ→≤│…✓".chars() {
        let cluster = c.to_string();
        assert!(drawing(&cluster, &Monospace).is_none(), "{c}");
        assert_eq!(columns(&cluster), 1, "{c}");
    }
}

// No test of this binary sets fonts of the system.
#[test]
fn a_character_without_a_glyph_is_written_as_its_code_point() {
    for cluster in ["א", "ا", "中", "한", "ก", "क", "𐎀", "क्षि", "שָׁ", "\u{301}", "\u{488}"]
    {
        for family in [Monospace, Proportional] {
            assert!(drawing(cluster, &family).is_some(), "{cluster}");
        }
        assert_eq!(columns(cluster), written_out(cluster), "{cluster}");
    }
}

#[test]
fn a_mark_is_drawn_on_its_letter_if_the_font_can() {
    assert_eq!(columns("e\u{301}"), 1);
    assert_eq!(columns("a\u{308}"), 1);
    assert_eq!(columns(" \u{93F}"), 1 + written_out("\u{93F}"), "a space is no code point");
    // JetBrains Mono has no glyph for an enclosing circle.
    assert_eq!(columns("a\u{20DD}"), 1 + written_out("\u{20DD}"));
}

/// Points of Hebrew and vowels of Thai that follow their letter: also `U+0E33`, which is no combining mark.
#[test]
fn points_and_vowels_stay_with_their_letter() {
    for cluster in ["ש\u{5C1}\u{5B8}", "ב\u{5BC}", "ก\u{E34}\u{E48}", "ก\u{E33}", "ب\u{64E}"]
    {
        assert_eq!(drawable(cluster).graphemes(true).collect::<Vec<_>>(), [cluster]);
    }
}

#[test]
fn a_joiner_that_no_font_draws_is_written_out() {
    let family = "👨\u{200D}👩";
    assert_eq!(drawable(family), family);
    let both = columns("👨") + columns("👩");
    assert_eq!(columns(family), both + written_out("\u{200D}"));
    assert_eq!(columns("⚠\u{FE0F}"), columns("⚠") + written_out("\u{FE0F}"));
}

/// Consonants that a virama joins are one cluster, however many they are.
#[test]
fn a_cluster_may_have_any_length() {
    for count in [2, 5, 11, 1_000] {
        let cluster = "क्".repeat(count);
        let whole = written_out(&cluster);
        assert_eq!(columns(&cluster), whole.min(whole.div_ceil(2).max(36)), "drawn smaller");
        // Written out, it can be wrapped.
        let widest = drawable(&cluster).graphemes(true).map(columns).max();
        assert!(widest <= Some(8 * MAX_CODE_POINT), "{count}: {widest:?}");
    }
    let emoji = "👨\u{200D}".repeat(40) + "👨";
    assert!(columns(&emoji) > 40);
}

/// Input fields show what was pasted as it is: no other view makes it visible first.
#[test]
fn hidden_characters_are_written_out() {
    let hidden = "\u{7}\u{1b}\r\u{85}\u{a0}\u{ad}\u{200b}\u{200e}\u{202e}\u{2066}\u{2060}\u{3000}\u{feff}\u{e000}\u{f8ff}";
    for c in hidden.chars() {
        let cluster = c.to_string();
        for family in [Monospace, Proportional] {
            assert!(drawing(&cluster, &family).is_some(), "U+{:04X}", u32::from(c));
        }
        assert_eq!(columns(&cluster), written_out(&cluster), "U+{:04X}", u32::from(c));
    }
    for usual in ["\t", "\n", "\r\n", " "] {
        assert!(drawing(usual, &Proportional).is_none(), "{usual:?}");
    }
}

#[test]
fn every_bundled_glyph_is_visible() {
    let all = (0x21..0x1_0000).chain(0x1_F000..0x2_0000).filter_map(char::from_u32);
    let mut invisible = Vec::new();
    for c in all.filter(|c| !crate::plan::is_hidden(*c) && !c.is_whitespace()) {
        for family in [Monospace, Proportional] {
            let is_drawn = drawing(&c.to_string(), &family).is_some()
                || super::cluster::is_painted(c, &family);
            if !is_drawn {
                invisible.push(format!("U+{:04X}", u32::from(c)));
            }
        }
    }
    assert_eq!(invisible, [""; 0]);
    assert!(bundled_columns("⚠") <= 2);
}
