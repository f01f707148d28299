//! Letters that look like other letters, in names of files, hosts and programs.
//!
//! A Cyrillic `а` is drawn as the Latin one, so `pаypal.com` can name another host than `paypal.com`. A word that is
//! wholly in another script is not marked, unless each of its letters looks like a Latin one.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use unicode_script::{Script, UnicodeScript as _};
use unicode_security::{GeneralSecurityProfile as _, MixedScript as _, skeleton};

use super::visible;
use super::visible::OPENS_MARK;

/// The characters, as ranges of bytes in order, that may be taken for others: letters that are drawn as ASCII letters, in
/// words with ASCII letters and in words that consist of such letters only; letters of another script than Latin in words
/// of several scripts; Latin letters and digits that no identifier should have, for example small capitals and
/// superscripts; other characters that are drawn as ASCII ones, for example a full-width slash; full stops of other
/// scripts beside ASCII letters, which the resolver takes for a dot; and the bracket `⟨`, with which the mark of a hidden
/// character begins.
pub fn lookalikes(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if text.is_ascii() {
        return found;
    }
    let is_letter = |c: char| c.is_alphanumeric() || super::is_mark(c);
    let mut rest = text.char_indices().peekable();
    while let Some((start, c)) = rest.next() {
        if !is_letter(c) {
            let end = start + c.len_utf8();
            if c == OPENS_MARK
                || looks_like_ascii(c)
                || is_dot(c) && is_beside_ascii(text, start..end)
            {
                found.push(start..end);
            }
            continue;
        }
        let mut word = vec![(start, c)];
        while let Some(next) = rest.next_if(|(_, c)| is_letter(*c)) {
            word.push(next);
        }
        let letters =
            text.get(start..rest.peek().map_or(text.len(), |it| it.0)).unwrap_or_default();
        let is_mixed = !letters.is_single_script();
        let is_like = |c: char| c.is_ascii() || looks_like_ascii(c);
        let has_ascii = word.iter().any(|(_, c)| c.is_ascii_alphabetic());
        let is_suspect = has_ascii || is_mixed || word.iter().all(|it| is_like(it.1));
        let marked = |c: char| {
            is_odd_latin(c) || is_suspect && (looks_like_ascii(c) || is_mixed && is_foreign(c))
        };
        let letters = word.into_iter().filter(|(_, c)| marked(*c));
        found.extend(letters.map(|(start, c)| start..start + c.len_utf8()));
    }
    found
}

/// Whether a letter belongs to a script that is not written together with Latin letters.
fn is_foreign(c: char) -> bool {
    use Script::{Bopomofo, Common, Han, Hangul, Hiragana, Inherited, Katakana, Latin};
    let usual = [Bopomofo, Common, Han, Hangul, Hiragana, Inherited, Katakana, Latin];
    !usual.contains(&c.script())
}

/// Whether a letter or digit is a variant of a usual one that identifiers should not have (UTS 39): a small capital, a
/// superscript, a ligature.
fn is_odd_latin(c: char) -> bool {
    !c.is_ascii()
        && c.is_alphanumeric()
        && matches!(c.script(), Script::Latin | Script::Common)
        && !c.identifier_allowed()
}

/// Whether a character is a full stop of another script. In the name of a host, it is a dot.
fn is_dot(c: char) -> bool {
    matches!(c, '。' | '．' | '｡')
}

fn is_beside_ascii(text: &str, range: Range<usize>) -> bool {
    let before = text.get(..range.start).and_then(|text| text.chars().next_back());
    let after = text.get(range.end..).and_then(|text| text.chars().next());
    [before, after].into_iter().flatten().any(|c| c.is_ascii_alphanumeric())
}

/// Whether a character that is not ASCII is drawn as ASCII characters (UTS 39).
fn looks_like_ascii(c: char) -> bool {
    let mut bytes = [0; 4];
    !c.is_ascii()
        && !super::is_hidden(c)
        && skeleton(c.encode_utf8(&mut bytes)).all(|it| it.is_ascii())
}

/// As [`visible`], with the code point after each of the [`lookalikes`]: `pа⟨U+0430⟩ypal.com`.
///
/// What joins emoji is written out, too, also in a well-formed sequence: fonts draw several sequences as pictures that look
/// alike, and a name has to be told from every other one. Texts that name nothing are [`super::drawable`].
pub fn visible_name(name: &str) -> Cow<'_, str> {
    let found = lookalikes(name);
    if found.is_empty() {
        return visible(name);
    }
    let mut out = String::with_capacity(name.len() + 10 * found.len());
    let mut end = 0;
    for range in found {
        let letter = name.get(range.clone()).unwrap_or_default();
        out.push_str(&visible(name.get(end..range.start).unwrap_or_default()));
        out.push_str(letter);
        for c in letter.chars() {
            let _ = write!(out, "⟨U+{:04X}⟩", u32::from(c));
        }
        end = range.end;
    }
    out.push_str(&visible(name.get(end..).unwrap_or_default()));
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_that_look_like_latin_ones_are_named() {
        for (name, shown) in [
            ("pаypal.com", "pа⟨U+0430⟩ypal.com"),
            ("src/ѕсоре.rs", "src/ѕ⟨U+0455⟩с⟨U+0441⟩о⟨U+043E⟩р⟨U+0440⟩е⟨U+0435⟩.rs"),
            ("a∕b", "a∕⟨U+2215⟩b"),
            ("host\u{202e}а", "host⟨U+202E⟩а⟨U+0430⟩"),
            ("ｒｍ", "ｒ⟨U+FF52⟩ｍ⟨U+FF4D⟩"),
            ("gοοgle", "gο⟨U+03BF⟩ο⟨U+03BF⟩gle"),
            ("giтhub.com", "giт⟨U+0442⟩hub.com"),
            ("Ⲟκ", "Ⲟ⟨U+2C9E⟩κ⟨U+03BA⟩"),
            ("/tmp/ᴀ", "/tmp/ᴀ⟨U+1D00⟩"),
            ("ꜱʀᴄ/a", "ꜱ⟨U+A731⟩ʀ⟨U+0280⟩ᴄ⟨U+1D04⟩/a"),
            ("x²", "x²⟨U+00B2⟩"),
            ("ⁿ", "ⁿ⟨U+207F⟩"),
            ("ﬁle", "ﬁ⟨U+FB01⟩le"),
            ("paypal。com", "paypal。⟨U+3002⟩com"),
            ("a｡b．c", "a｡⟨U+FF61⟩b．⟨U+FF0E⟩c"),
            ("rm⟨U+200B⟩ x", "rm⟨⟨U+27E8⟩U+200B⟩ x"),
        ] {
            assert_eq!(visible_name(name), shown);
        }
    }

    #[test]
    fn words_of_another_script_are_left_alone() {
        for name in [
            "документы/отчёт.txt",
            "用户/迁移.sql",
            "naïve café.md",
            "λόγος.txt",
            "日本語 のファイル",
            "straße",
            "用户。迁移",
            "Größe für Øl",
            "שלום",
        ] {
            assert!(
                matches!(visible_name(name), Cow::Borrowed(_)),
                "{name}: {}",
                visible_name(name)
            );
        }
    }
}
