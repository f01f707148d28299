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
        let bytes = std::mem::take(&mut self.pending);
        let mut text = String::with_capacity(bytes.len());
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            let invalid = chunk.invalid();
            let is_last = chunks.peek().is_none();
            if is_last && is_beginning(invalid) {
                self.pending = invalid.to_vec();
            } else if !invalid.is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
                self.has_replaced = true;
            }
        }
        Cow::Owned(text)
    }

    /// Ends the stream. Returns the replacement of an incomplete character at its end, else an empty text.
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

/// Whether further bytes may complete these bytes to a character.
fn is_beginning(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
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
            let mut decoder = Decoder::default();
            let mut text: String = whole.chunks(cut).map(|chunk| decoder.push(chunk).into_owned()).collect();
            text.push_str(decoder.end());
            prop_assert_eq!(text, String::from_utf8_lossy(&whole));
            prop_assert_eq!(decoder.is_exact(), std::str::from_utf8(&whole).is_ok());
        }
    }
}
