//! Decodes a stream of bytes into text without splitting characters.

use std::borrow::Cow;

/// Decodes UTF-8 incrementally. Invalid bytes become U+FFFD.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The beginning of a character that is not complete yet.
    pending: Vec<u8>,
    has_replaced: bool,
}

impl Decoder {
    /// Decodes the next bytes, together with the pending ones.
    pub fn push<'b>(&mut self, bytes: &'b [u8]) -> Cow<'b, str> {
        if self.pending.is_empty()
            && let Ok(text) = std::str::from_utf8(bytes)
        {
            return Cow::Borrowed(text);
        }
        self.pending.extend_from_slice(bytes);
        let mut text = String::with_capacity(self.pending.len());
        let mut rest = self.pending.as_slice();
        loop {
            let error = match std::str::from_utf8(rest) {
                Ok(valid) => {
                    text.push_str(valid);
                    rest = &[];
                    break;
                }
                Err(error) => error,
            };
            let (valid, after) = rest.split_at(error.valid_up_to());
            text.push_str(std::str::from_utf8(valid).unwrap_or_default());
            rest = after;
            // No length: the next bytes may complete the character.
            let Some(wrong) = error.error_len() else { break };
            text.push(char::REPLACEMENT_CHARACTER);
            self.has_replaced = true;
            rest = rest.get(wrong..).unwrap_or_default();
        }
        self.pending = rest.to_vec();
        Cow::Owned(text)
    }

    /// The text for an incomplete character at the end of the stream.
    pub fn end(&mut self) -> &'static str {
        if std::mem::take(&mut self.pending).is_empty() {
            return "";
        }
        self.has_replaced = true;
        "\u{fffd}"
    }

    /// Whether all bytes so far were valid UTF-8.
    pub fn is_exact(&self) -> bool {
        !self.has_replaced
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The text does not depend on how the bytes are divided, and no chunk splits a character.
        #[test]
        fn decoding_is_independent_of_chunks(
            pieces in prop::collection::vec(
                prop_oneof![
                    prop::collection::vec(any::<u8>(), 0..6),
                    "[aé€𝄞]{0,3}".prop_map(String::into_bytes),
                ],
                0..12,
            ),
            cut in 1usize..5,
        ) {
            let whole = pieces.concat();
            let mut text = Decoder::default();
            let mut shown: String = whole.chunks(cut).map(|chunk| text.push(chunk).into_owned()).collect();
            shown.push_str(text.end());
            prop_assert_eq!(shown, String::from_utf8_lossy(&whole));
            prop_assert_eq!(text.is_exact(), std::str::from_utf8(&whole).is_ok());
        }
    }
}
