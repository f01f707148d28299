//! From bytes as they come to text in whole characters.

use std::borrow::Cow;

/// Reads bytes as UTF-8 while they come. What is not UTF-8 becomes U+FFFD.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The beginning of a character whose end has not come yet.
    pending: Vec<u8>,
    has_replaced: bool,
}

impl Decoder {
    /// The text of these bytes, after what was pending.
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
            // No length: the character may go on with the next bytes.
            let Some(wrong) = error.error_len() else { break };
            text.push(char::REPLACEMENT_CHARACTER);
            self.has_replaced = true;
            rest = rest.get(wrong..).unwrap_or_default();
        }
        self.pending = rest.to_vec();
        Cow::Owned(text)
    }

    /// What is left at the end: a character that never became whole.
    pub fn end(&mut self) -> &'static str {
        if std::mem::take(&mut self.pending).is_empty() {
            return "";
        }
        self.has_replaced = true;
        "\u{fffd}"
    }

    /// Whether all of it was UTF-8 so far.
    pub fn is_exact(&self) -> bool {
        !self.has_replaced
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// However the bytes are cut, the text is the same, and no chunk breaks a character.
        #[test]
        fn the_pieces_make_the_text_of_the_whole(
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
