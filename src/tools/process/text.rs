//! From bytes as they come to text in whole characters.

/// The beginning of a character whose end has not come yet.
#[derive(Debug, Default)]
pub(super) struct Text {
    pending: Vec<u8>,
}

impl Text {
    /// The text of these bytes, after what was pending. What is not UTF-8 becomes U+FFFD.
    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
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
            rest = rest.get(wrong..).unwrap_or_default();
        }
        self.pending = rest.to_vec();
        text
    }

    /// What is left at the end: a character that never became whole.
    pub(super) fn end(&mut self) -> &'static str {
        if std::mem::take(&mut self.pending).is_empty() { "" } else { "\u{fffd}" }
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
            let mut text = Text::default();
            let mut shown: String = whole.chunks(cut).map(|chunk| text.push(chunk)).collect();
            shown.push_str(text.end());
            prop_assert_eq!(shown, String::from_utf8_lossy(&whole));
        }
    }
}
