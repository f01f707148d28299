//! Hides secrets in the output of a program while it arrives, so that they are neither shown nor stored (SPEC §13).

use std::fmt;
use std::fmt::Write as _;

/// The shortest line of a secret of several lines that is hidden by itself, in bytes.
const MIN_LINE: usize = 8;
/// The shortest part of a secret in base64 that is hidden, in characters: a secret of four bytes has that many which do not
/// depend on what is around it.
const MIN_ENCODED: usize = 4;
/// The shortest beginning of a secret that is hidden at the end of an output, in bytes.
const MIN_BEGINNING: usize = 4;
/// The longest white space between two lines of an encoded text, in bytes.
const MAX_BREAK: usize = 64;

/// Texts that are hidden in output, in the forms in which programs print them: as they are, as one line of several, in a URL
/// and in JSON, and in base64 and as hexadecimal digits, also in several lines. Another form is not recognised.
#[derive(Clone, Default)]
pub struct HiddenTexts {
    /// Longer forms first.
    forms: Vec<Form>,
}

/// One form of a text.
#[derive(Clone)]
struct Form {
    bytes: Vec<u8>,
    /// Whether programs print it in several lines, which they break anywhere.
    is_wrapped: bool,
    /// What is shown in its place.
    marker: String,
}

/// How a form compares with the beginning of some bytes.
enum Match {
    No,
    /// The form is there, and has this many bytes with its line breaks.
    Whole(usize),
    /// The bytes are the beginning of the form.
    Begins,
}

impl Form {
    fn compare(&self, bytes: &[u8]) -> Match {
        if !self.is_wrapped {
            return match bytes.get(..self.bytes.len()) {
                Some(whole) if whole == self.bytes => Match::Whole(whole.len()),
                None if self.bytes.starts_with(bytes) => Match::Begins,
                _ => Match::No,
            };
        }
        let mut at = 0;
        for (index, expected) in self.bytes.iter().enumerate() {
            let rest = bytes.get(at..).unwrap_or_default();
            // A line break, with the indentation of the next line.
            let is_break = index > 0 && matches!(rest.first(), Some(b'\n' | b'\r'));
            let blank = rest.iter().take_while(|it| b"\r\n\t ".contains(it)).count();
            if is_break && blank <= MAX_BREAK {
                at += blank;
            }
            match bytes.get(at) {
                None => return Match::Begins,
                Some(found) if found == expected => at += 1,
                Some(_) => return Match::No,
            }
        }
        Match::Whole(at)
    }
}

/// What follows the bytes that a filter has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// More may follow.
    More,
    /// The program has ended its output.
    Nothing,
    /// The program was ended, so that its last text may be incomplete.
    Cut,
}

impl fmt::Debug for HiddenTexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HiddenTexts")
    }
}

/// No text is hidden.
pub(crate) static NOTHING_HIDDEN: HiddenTexts = HiddenTexts { forms: Vec::new() };

impl HiddenTexts {
    /// Hides a text, with `marker` in its place.
    pub fn add(&mut self, text: &[u8], marker: &str) {
        let mut forms = vec![text.to_vec()];
        let mut wrapped = vec![hex(text, false), hex(text, true)];
        if let Ok(text) = std::str::from_utf8(text) {
            let json = serde_json::Value::from(text).to_string();
            forms.push(json.trim_matches('"').as_bytes().to_vec());
            // A terminal sends two characters for the end of a line.
            forms.push(text.replace('\n', "\r\n").into_bytes());
            forms.push(ascii(json.trim_matches('"')).into_bytes());
            for kept in ["", "/"] {
                for (space, is_upper) in [("%20", true), ("%20", false), ("+", true), ("+", false)]
                {
                    forms.push(in_url(text, kept, space, is_upper).into_bytes());
                }
            }
        }
        let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let in_url = |text: Vec<u8>| -> Vec<u8> {
            let digit = |it| match it {
                b'+' => b'-',
                b'/' => b'_',
                it => it,
            };
            text.into_iter().map(digit).collect()
        };
        let encoded = (0..3).map(|before| base64_within(text, before));
        // By itself, and as `echo` prints it.
        let encoded = encoded.chain([base64(text), base64(&[text, b"\n"].concat())]);
        let encoded = encoded.flat_map(|text| [in_url(text.clone()), text]);
        wrapped.extend(encoded.filter(|part| part.len() >= MIN_ENCODED));
        forms.extend(lines.map(<[u8]>::to_vec).filter(|line| line.len() >= MIN_LINE));
        let forms = forms.into_iter().map(|form| (form, false));
        for (bytes, is_wrapped) in forms.chain(wrapped.into_iter().map(|form| (form, true))) {
            if bytes.is_empty() {
                continue;
            }
            match self.forms.iter_mut().find(|known| known.bytes == bytes) {
                Some(known) => known.is_wrapped |= is_wrapped,
                None => self.forms.push(Form { bytes, is_wrapped, marker: marker.to_owned() }),
            }
        }
        self.forms.sort_by_key(|form| std::cmp::Reverse(form.bytes.len()));
    }

    /// A filter for one output.
    pub(crate) fn filter(&self) -> OutputFilter<'_> {
        OutputFilter { texts: self, held: Vec::new() }
    }

    /// The form at the beginning of these bytes with its length there, and the marker of a longer one that could begin there
    /// if more bytes followed.
    fn at(&self, bytes: &[u8]) -> (Option<(&Form, usize)>, Option<&str>) {
        let mut begins = None;
        for form in &self.forms {
            match form.compare(bytes) {
                Match::No => {}
                Match::Begins => begins = begins.or(Some(form.marker.as_str())),
                Match::Whole(length) => return (Some((form, length)), begins),
            }
        }
        (None, begins)
    }
}

/// Hides texts in one output, whose pieces may be cut anywhere.
pub(crate) struct OutputFilter<'a> {
    texts: &'a HiddenTexts,
    /// The last bytes, with which a text may begin.
    held: Vec<u8>,
}

impl OutputFilter<'_> {
    /// The next bytes without hidden texts. Bytes with which one may begin are held back.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        if self.texts.forms.is_empty() {
            return bytes.to_vec();
        }
        self.held.extend_from_slice(bytes);
        self.take(Next::More)
    }

    /// The bytes that were held back, without the beginning of a hidden text. If the program was ended, `was_cut`, even one
    /// byte of it counts.
    pub(crate) fn end(&mut self, was_cut: bool) -> Vec<u8> {
        self.take(if was_cut { Next::Cut } else { Next::Nothing })
    }

    fn take(&mut self, next: Next) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        let mut shown = Vec::with_capacity(held.len());
        let mut rest = held.as_slice();
        loop {
            // Most output has nothing to hide, and is passed on in large pieces.
            let begins =
                |byte: &u8| self.texts.forms.iter().any(|form| form.bytes.first() == Some(byte));
            let plain = rest.iter().position(begins).unwrap_or(rest.len());
            let (before, from) = rest.split_at_checked(plain).unwrap_or((rest, &[]));
            shown.extend_from_slice(before);
            rest = from;
            let Some((first, behind)) = rest.split_first() else { break };
            let (found, begins) = self.texts.at(rest);
            if next == Next::More && begins.is_some() {
                self.held = rest.to_vec();
                break;
            }
            let is_part = next == Next::Cut || rest.len() >= MIN_BEGINNING;
            if let Some((form, length)) = found {
                shown.extend_from_slice(form.marker.as_bytes());
                rest = rest.get(length..).unwrap_or_default();
            } else if let Some(marker) = begins.filter(|_| is_part) {
                shown.extend_from_slice(marker.as_bytes());
                break;
            } else {
                shown.push(*first);
                rest = behind;
            }
        }
        shown
    }
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A text in base64, by itself.
fn base64(text: &[u8]) -> Vec<u8> {
    let bits = text.len() * 8;
    let mut encoded: Vec<u8> = (0..bits).step_by(6).map(|at| digit(text, at)).collect();
    encoded.resize(encoded.len().next_multiple_of(4), b'=');
    encoded
}

/// The characters of a text in base64 that do not depend on what is around it, if this many bytes stand before it in its
/// group of three.
fn base64_within(text: &[u8], before: usize) -> Vec<u8> {
    let first = (6 - before * 8 % 6) % 6;
    let last = (text.len() * 8).saturating_sub(5);
    (first..last).step_by(6).map(|at| digit(text, at)).collect()
}

/// The character for the six bits of a text from this bit on; zeros follow the text.
fn digit(text: &[u8], at: usize) -> u8 {
    let byte = |index: usize| usize::from(text.get(index).copied().unwrap_or_default());
    let bits = byte(at / 8) << 8 | byte(at / 8 + 1);
    ALPHABET.get(bits >> (10 - at % 8) & 63).copied().unwrap_or_default()
}

/// A text as hexadecimal digits.
fn hex(text: &[u8], is_upper: bool) -> Vec<u8> {
    let mut hex = String::new();
    for byte in text {
        let _ = if is_upper { write!(hex, "{byte:02X}") } else { write!(hex, "{byte:02x}") };
    }
    hex.into_bytes()
}

/// A text in a URL, with `space` for a space. The characters in `kept` stay as they are.
fn in_url(text: &str, kept: &str, space: &str, is_upper: bool) -> String {
    let mut url = String::new();
    for byte in text.bytes() {
        let it = char::from(byte);
        if it.is_ascii_alphanumeric() || "-_.~".contains(it) || it.is_ascii() && kept.contains(it) {
            url.push(it);
        } else if it == ' ' {
            url.push_str(space);
        } else {
            let _ = if is_upper { write!(url, "%{byte:02X}") } else { write!(url, "%{byte:02x}") };
        }
    }
    url
}

/// A text in JSON whose other characters than those of ASCII are written as escapes.
fn ascii(json: &str) -> String {
    let mut escaped = String::new();
    for it in json.chars() {
        if it.is_ascii() && it != '\u{7f}' {
            escaped.push(it);
            continue;
        }
        for unit in it.encode_utf16(&mut [0; 2]) {
            let _ = write!(escaped, "\\u{unit:04x}");
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn forms_that_common_tools_print_are_hidden() {
        let texts = hidden(&["pä ss/wörd?>+\u{1f600}", "??>>?~~~~"]);
        for form in [
            "p%C3%A4+ss%2Fw%C3%B6rd%3F%3E%2B%F0%9F%98%80",
            "p%c3%a4%20ss/w%c3%b6rd%3f%3e%2b%f0%9f%98%80",
            "p\\u00e4 ss/w\\u00f6rd?>+\\ud83d\\ude00",
            "Pz8-Pj9-fn5-",
            "Pz8+Pj9+fn5+",
        ] {
            let mut filter = texts.filter();
            let mut shown = filter.push(form.as_bytes());
            shown.extend(filter.end(false));
            assert_eq!(String::from_utf8(shown).unwrap(), "[hidden]", "{form}");
        }
    }

    fn hidden(texts: &[&str]) -> HiddenTexts {
        let mut hidden = HiddenTexts::default();
        texts.iter().for_each(|text| hidden.add(text.as_bytes(), "[hidden]"));
        hidden
    }

    fn filtered(hidden: &HiddenTexts, output: &[u8], piece: usize) -> Vec<u8> {
        let mut filter = hidden.filter();
        let mut shown: Vec<u8> = output.chunks(piece).flat_map(|it| filter.push(it)).collect();
        shown.extend(filter.end(false));
        shown
    }

    #[test]
    fn every_form_is_hidden() {
        let hidden = hidden(&["grey \"heron\"/7"]);
        for (output, expected) in [
            ("x grey \"heron\"/7 y", "x [hidden] y"),
            ("grey \"hergrey \"heron\"/7", "grey \"her[hidden]"),
            (r#"{"a": "grey \"heron\"/7"}"#, r#"{"a": "[hidden]"}"#),
            ("?a=grey%20%22heron%22%2F7&b", "?a=[hidden]&b"),
            ("?a=grey%20%22heron%22%2f7&b", "?a=[hidden]&b"),
            ("Z3JleSAiaGVyb24iLzc=", "[hidden]"),
            ("eGdyZXkgImhlcm9uIi83eA==", "eG[hidden]eA=="),
            (
                "67726579202268657 67726579202268 65726f6e222f37",
                "67726579202268657 67726579202268 65726f6e222f37",
            ),
            ("67726579202268\n65726f6e222f37", "[hidden]"),
            ("grey heron", "grey heron"),
        ] {
            for piece in 1..output.len() {
                let shown = filtered(&hidden, output.as_bytes(), piece);
                assert_eq!(String::from_utf8(shown).unwrap(), expected, "in pieces of {piece}");
            }
        }
    }

    #[test]
    fn lines_and_line_ends_are_hidden() {
        let hidden = hidden(&["first line\nsecond line\n"]);
        let shown =
            |output: &str| String::from_utf8(filtered(&hidden, output.as_bytes(), 3)).unwrap();
        assert_eq!(shown("a first line\r\nsecond line\r\nb"), "a [hidden]b");
        assert_eq!(shown("> second line <"), "> [hidden] <");
    }

    #[test]
    fn a_prompt_is_shown_at_once() {
        let hidden = hidden(&["grey heron"]);
        let mut filter = hidden.filter();
        assert_eq!(filter.push(b"Name: "), b"Name: ");
        assert_eq!(filter.push(b"gr"), b"");
        assert_eq!(filter.push(b"een: "), b"green: ");
    }

    /// Base64 as `base64` and `openssl` print it, and in an indented block.
    #[test]
    fn base64_in_lines_is_hidden() {
        for length in [4, 5, 6, 7, 8, 30, 57, 58, 100, 300] {
            let secret: String = ('!'..='~').cycle().skip(length).take(length).collect();
            let hidden = hidden(&[&secret]);
            for before in 0..4 {
                let text = [&"\0\x01\x02"[..before.min(3)], &secret, &"tail"[before..]].concat();
                let encoded = String::from_utf8(base64(text.as_bytes())).unwrap();
                for (width, ends) in
                    [(76, "\n"), (64, "\r\n"), (20, "\n    "), (4, "\n"), (1, "\n")]
                {
                    let lines: Vec<&str> = encoded
                        .as_bytes()
                        .chunks(width)
                        .map(|line| std::str::from_utf8(line).unwrap())
                        .collect();
                    let shown = filtered(&hidden, lines.join(ends).as_bytes(), 7);
                    let shown = String::from_utf8(shown).unwrap();
                    let left = shown.replace("[hidden]", "").replace(['\r', '\n', ' '], "");
                    // Characters that also depend on what is around the secret may stay.
                    assert!(shown.contains("[hidden]"), "{length} {before} {width}: {shown}");
                    assert!(left.len() <= 10, "{length} {before} {width}: {left}");
                }
            }
        }
    }

    #[test]
    fn short_secrets_are_hidden_in_base64() {
        for secret in ["abcd", "pass1"] {
            let hidden = hidden(&[secret]);
            for text in [secret.to_owned(), format!("{secret}\n")] {
                let encoded = base64(text.as_bytes());
                assert_eq!(filtered(&hidden, &encoded, 3), b"[hidden]", "{text:?}");
            }
            let encoded = base64(format!("user:{secret}").as_bytes());
            assert!(
                String::from_utf8(filtered(&hidden, &encoded, 3)).unwrap().contains("[hidden]")
            );
        }
    }

    #[test]
    fn a_beginning_at_the_end_is_hidden() {
        let hidden = hidden(&["grey \"heron\"/7"]);
        let shown = |output: &str, was_cut: bool| {
            let mut filter = hidden.filter();
            let mut shown = filter.push(output.as_bytes());
            shown.extend(filter.end(was_cut));
            String::from_utf8(shown).unwrap()
        };
        for (output, ended, cut) in [
            ("x grey \"her", "x [hidden]", "x [hidden]"),
            ("x grey", "x [hidden]", "x [hidden]"),
            ("x g", "x g", "x [hidden]"),
            ("Z3JleSAi", "[hidden]", "[hidden]"),
            ("Z3Jle\nSAi", "[hidden]", "[hidden]"),
            ("g x", "g x", "g x"),
            ("a\n", "a\n", "a\n"),
        ] {
            assert_eq!(shown(output, false), ended, "{output}");
            assert_eq!(shown(output, true), cut, "{output}");
        }
    }

    #[test]
    fn base64_is_that_of_other_programs() {
        for (text, encoded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(String::from_utf8(base64(text.as_bytes())).unwrap(), encoded);
        }
        assert_eq!(base64_within(b"foobar", 0), b"Zm9vYmFy");
        assert_eq!(base64_within(b"abcd", 0).len(), 5);
        assert_eq!(base64_within(b"abcd", 1).len(), 4);
        assert_eq!(base64_within(b"abcd", 2).len(), 5);
    }

    proptest! {
        #[test]
        fn nothing_hidden_is_shown_however_it_is_cut(
            secret in "[ab]{4,9}",
            output in "[abc]{0,60}",
            piece in 1_usize..8,
        ) {
            let hidden = hidden(&[&secret]);
            let shown = filtered(&hidden, output.as_bytes(), piece);
            let shown = String::from_utf8(shown).unwrap();
            prop_assert!(!shown.replace("[hidden]", "\n").contains(&secret), "{}", shown);
            let whole = filtered(&hidden, output.as_bytes(), 100);
            prop_assert_eq!(shown.as_bytes(), whole.as_slice());
            let ends_with_beginning = (1..secret.len()).any(|length| output.ends_with(&secret[..length]));
            if !output.contains(&secret) && !ends_with_beginning {
                prop_assert_eq!(shown, output);
            }
        }
    }
}
