//! The part of an output that a step result carries: all of it, or its start and its end (SPEC §3, §4).
//!
//! The live result and the result rebuilt from the evidence use the same functions, so that both are equal.

use std::fmt::Write as _;

use super::STREAM_HEAD_BYTES;

/// The number of bytes in one line of a hex listing.
const HEX_ROW: usize = 16;
/// The maximum length of a line of a hex listing, in bytes of text.
const HEX_LINE: usize = 80;

/// The part of an output that a [`StepResult`](super::StepResult) carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamExcerpt {
    /// The text: at most the first and the last [`STREAM_HEAD_BYTES`], joined by a line that states how many bytes
    /// are left out.
    pub text: String,
    /// The size of the complete output in bytes.
    pub bytes: u64,
    /// Whether `text` is only a part.
    pub truncated: bool,
}

impl StreamExcerpt {
    /// The excerpt of a complete output of the tool with this name. If the output is not UTF-8, that of `file_read`
    /// becomes a hex listing, and every other output gets replacement characters.
    pub fn of(tool_name: &str, whole: &[u8]) -> Self {
        if tool_name == "file_read" && std::str::from_utf8(whole).is_err() {
            return Self::of_binary(whole);
        }
        let mut ends = StreamEnds::default();
        ends.push(whole);
        ends.excerpt()
    }

    /// The excerpt of an output as a hex listing.
    fn of_binary(whole: &[u8]) -> Self {
        // Fewer bytes, because the listing takes about five characters for each byte.
        let side = STREAM_HEAD_BYTES / HEX_LINE * HEX_ROW;
        let bytes = whole.len() as u64;
        if whole.len() <= 2 * side {
            return Self { text: hex_listing(whole, 0), bytes, truncated: false };
        }
        let (head, rest) = whole.split_at(side);
        let (left_out, tail) = rest.split_at(rest.len() - side);
        let mut text = hex_listing(head, 0);
        push_gap(&mut text, left_out.len() as u64);
        text.push_str(&hex_listing(tail, whole.len() - side));
        Self { text, bytes, truncated: true }
    }

    /// The excerpt of an output of this many bytes, of which only the start and the end are given.
    fn of_ends(head: &[u8], tail: &[u8], bytes: u64) -> Self {
        // A character that was cut is in neither part.
        let head = head.get(..boundary_before(head)).unwrap_or(head);
        let start = tail.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count();
        let tail = tail.get(start..).unwrap_or(tail);
        let mut text = String::from_utf8_lossy(head).into_owned();
        push_gap(&mut text, bytes - head.len() as u64 - tail.len() as u64);
        text.push_str(&String::from_utf8_lossy(tail));
        Self { text, bytes, truncated: true }
    }
}

/// The start and the end of a program's output, collected while it arrives. The excerpt made from them equals that of
/// the complete output, which is never in memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamEnds {
    bytes: u64,
    head: Vec<u8>,
    /// The latest bytes after the head: at least those that an excerpt needs, and at most twice as many.
    tail: Vec<u8>,
}

impl StreamEnds {
    /// Appends the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let room = STREAM_HEAD_BYTES.saturating_sub(self.head.len()).min(bytes.len());
        let (head, rest) = bytes.split_at(room);
        self.head.extend_from_slice(head);
        let rest = rest.get(rest.len().saturating_sub(STREAM_HEAD_BYTES)..).unwrap_or(rest);
        // Not trimmed at every push, because trimming moves all bytes that are kept.
        if self.tail.len() + rest.len() > 2 * STREAM_HEAD_BYTES {
            let keep = STREAM_HEAD_BYTES.saturating_sub(rest.len());
            self.tail.drain(..self.tail.len().saturating_sub(keep));
        }
        self.tail.extend_from_slice(rest);
    }

    /// The size of the complete output in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The latest [`STREAM_HEAD_BYTES`] of a long output, or all of a short one.
    pub fn latest(&self) -> Vec<u8> {
        let tail = self.tail.get(self.tail.len().saturating_sub(STREAM_HEAD_BYTES)..);
        let tail = tail.unwrap_or(&self.tail);
        if self.is_whole() { [&self.head, tail].concat() } else { tail.to_vec() }
    }

    /// The excerpt for a step result.
    pub fn excerpt(&self) -> StreamExcerpt {
        if self.is_whole() {
            let text = String::from_utf8_lossy(&self.latest()).into_owned();
            return StreamExcerpt { text, bytes: self.bytes, truncated: false };
        }
        StreamExcerpt::of_ends(&self.head, &self.latest(), self.bytes)
    }

    fn is_whole(&self) -> bool {
        self.bytes <= 2 * STREAM_HEAD_BYTES as u64
    }
}

/// The length without an incomplete character at the end.
fn boundary_before(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    }
}

fn push_gap(text: &mut String, left_out: u64) {
    let _ = write!(text, "\n[{left_out} bytes left out here]\n");
}

fn hex_listing(bytes: &[u8], offset: usize) -> String {
    let mut text = String::new();
    for (row, line) in bytes.chunks(HEX_ROW).enumerate() {
        let _ = write!(text, "{:08x} ", offset + row * HEX_ROW);
        for byte in line {
            let _ = write!(text, " {byte:02x}");
        }
        for _ in line.len()..HEX_ROW {
            text.push_str("   ");
        }
        text.push_str("  ");
        text.extend(line.iter().map(|byte| match byte {
            0x20..=0x7e => char::from(*byte),
            _ => '.',
        }));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The excerpt does not depend on how the output is divided into chunks.
        #[test]
        fn the_excerpt_of_ends_equals_the_whole(
            size in prop_oneof![0usize..100, (2 * STREAM_HEAD_BYTES - 3)..(2 * STREAM_HEAD_BYTES + 3),
                0usize..5 * STREAM_HEAD_BYTES],
            pieces in prop::collection::vec(1usize..3 * STREAM_HEAD_BYTES, 1..6),
        ) {
            let whole: Vec<u8> = "aé€\n𝄞\u{7f}".bytes().chain([0xff, 0xc3]).cycle().take(size).collect();
            let mut ends = StreamEnds::default();
            let mut rest = whole.as_slice();
            for piece in pieces.into_iter().cycle() {
                let (next, left) = rest.split_at(piece.min(rest.len()));
                ends.push(next);
                rest = left;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert!(ends.tail.len() <= 2 * STREAM_HEAD_BYTES);
            prop_assert_eq!(ends.excerpt(), StreamExcerpt::of("shell", &whole));
            let latest = whole.len().saturating_sub(
                if whole.len() > 2 * STREAM_HEAD_BYTES { STREAM_HEAD_BYTES } else { whole.len() });
            prop_assert_eq!(ends.latest(), &whole[latest..]);
        }
    }

    #[test]
    fn a_short_output_is_whole() {
        let excerpt = StreamExcerpt::of("file_read", "grün".as_bytes());
        assert_eq!(excerpt, StreamExcerpt { text: "grün".into(), bytes: 5, truncated: false });
    }

    #[test]
    fn long_output_keeps_both_ends() {
        let whole = format!("a{}z", "é".repeat(STREAM_HEAD_BYTES));
        let excerpt = StreamExcerpt::of("shell", whole.as_bytes());
        assert!(excerpt.truncated);
        assert_eq!(excerpt.bytes, whole.len() as u64);
        assert!(excerpt.text.starts_with("aé") && excerpt.text.ends_with("éz"));
        assert!(!excerpt.text.contains('\u{fffd}'), "no character is cut in two");
        assert!(excerpt.text.contains("bytes left out here"));
        assert!(excerpt.text.len() < 2 * STREAM_HEAD_BYTES + 100);
    }

    // Bytes of a file are listed in hex; those of a program get replacement characters.
    #[test]
    fn invalid_utf8_is_shown_by_source() {
        let excerpt = StreamExcerpt::of("file_read", b"\x00\xffA");
        assert!(excerpt.text.starts_with("00000000  00 ff 41 "), "{}", excerpt.text);
        assert!(excerpt.text.ends_with("..A\n"));
        assert_eq!(StreamExcerpt::of("shell", b"\xffA").text, "\u{fffd}A");
        let large = StreamExcerpt::of("file_read", &vec![0xff; 1 << 20]);
        assert!(large.truncated && large.text.len() < 2 * STREAM_HEAD_BYTES + 100);
    }
}
