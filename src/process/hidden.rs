//! Hides secrets in the output of a program while it arrives, so that they are neither shown nor stored (SPEC §13).

use std::fmt;
use std::fmt::Write as _;

/// The shortest line of a secret of several lines that is hidden by itself, and the shortest encoded form, in bytes.
const MIN_PART: usize = 8;

/// Texts that are hidden in output, in the forms in which programs print them: as they are, as one line of several, and in
/// base64, in a URL and in JSON. Another form is not recognised.
#[derive(Clone, Default)]
pub struct HiddenTexts {
    /// A form, and what is shown in its place; longer ones first.
    forms: Vec<(Vec<u8>, String)>,
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
        let encoded = (0..3).map(|before| base64(text, before));
        let encoded = encoded.flat_map(|text| [in_url(text.clone()), text]);
        let parts = lines.map(<[u8]>::to_vec).chain(encoded);
        forms.extend(parts.filter(|part| part.len() >= MIN_PART));
        for form in forms {
            if !form.is_empty() && !self.forms.iter().any(|(known, _)| *known == form) {
                self.forms.push((form, marker.to_owned()));
            }
        }
        self.forms.sort_by_key(|(form, _)| std::cmp::Reverse(form.len()));
    }

    /// A filter for one output.
    pub(crate) fn filter(&self) -> OutputFilter<'_> {
        OutputFilter { texts: self, held: Vec::new() }
    }

    /// The form at the beginning of these bytes, and whether a longer one could begin there if more bytes followed.
    fn at(&self, bytes: &[u8]) -> (Option<&(Vec<u8>, String)>, bool) {
        let found = self.forms.iter().find(|(form, _)| bytes.starts_with(form));
        let least = found.map_or(0, |(form, _)| form.len());
        let may_grow = self.forms.iter().take_while(|(form, _)| form.len() > least);
        (found, may_grow.into_iter().any(|(form, _)| form.starts_with(bytes)))
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
        self.take(false)
    }

    /// The bytes that were held back.
    pub(crate) fn end(&mut self) -> Vec<u8> {
        self.take(true)
    }

    fn take(&mut self, is_last: bool) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        let mut shown = Vec::with_capacity(held.len());
        let mut rest = held.as_slice();
        loop {
            // Most output has nothing to hide, and is passed on in large pieces.
            let begins =
                |byte: &u8| self.texts.forms.iter().any(|(form, _)| form.first() == Some(byte));
            let plain = rest.iter().position(begins).unwrap_or(rest.len());
            let (before, from) = rest.split_at_checked(plain).unwrap_or((rest, &[]));
            shown.extend_from_slice(before);
            rest = from;
            let Some((first, behind)) = rest.split_first() else { break };
            match self.texts.at(rest) {
                (_, true) if !is_last => {
                    self.held = rest.to_vec();
                    break;
                }
                (Some((form, marker)), _) => {
                    shown.extend_from_slice(marker.as_bytes());
                    rest = rest.get(form.len()..).unwrap_or_default();
                }
                (None, _) => {
                    shown.push(*first);
                    rest = behind;
                }
            }
        }
        shown
    }
}

/// The part of a text in base64 that does not depend on what is around it, if this many bytes stand before it in its group
/// of three.
fn base64(text: &[u8], before: usize) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let skipped = (3 - before % 3) % 3;
    let whole = text.get(skipped..).unwrap_or_default();
    let digits = |group: &[u8]| {
        let bits = group.iter().fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte));
        [18, 12, 6, 0].map(|shift| ALPHABET.get(bits >> shift & 63).copied().unwrap_or_default())
    };
    whole.chunks_exact(3).flat_map(digits).collect()
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
            shown.extend(filter.end());
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
        shown.extend(filter.end());
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
            ("Z3JleSAiaGVyb24iLzc=", "[hidden]Lzc="),
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
        assert_eq!(filter.push(b"een"), b"green");
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
            if !output.contains(&secret) {
                prop_assert_eq!(shown, output);
            }
        }
    }
}
