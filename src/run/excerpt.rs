//! What a step result carries of an output: all of it, or its start and its end (SPEC §3, §4).
//!
//! One function for the live result and for the one rebuilt from the evidence, so that both are equal.

use std::fmt::Write as _;

use super::result::STREAM_HEAD_BYTES;

/// Bytes in one line of a hex listing.
const HEX_ROW: usize = 16;
/// Longest line of a hex listing, in bytes of text.
const HEX_LINE: usize = 80;

/// The part of an output that a [`StepResult`](super::StepResult) carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamExcerpt {
    /// The text: at most the first and last [`STREAM_HEAD_BYTES`], with a line between them that says
    /// how much is left out.
    pub text: String,
    /// Size of the whole output in bytes.
    pub bytes: u64,
    /// Whether `text` is only a part.
    pub truncated: bool,
}

impl StreamExcerpt {
    /// The excerpt of a whole output of the tool with this name. Bytes that are not UTF-8 are shown as
    /// a hex listing where they are a file's content, and else with replacement characters.
    pub fn of(tool_name: &str, whole: &[u8]) -> Self {
        let bytes = whole.len() as u64;
        if tool_name == "file_read" && std::str::from_utf8(whole).is_err() {
            // Fewer bytes, because each takes about five characters.
            let side = STREAM_HEAD_BYTES / HEX_LINE * HEX_ROW;
            let (head, tail) = cut(whole, side);
            let mut text = hex_listing(head, 0);
            if let Some(tail) = tail {
                push_gap(&mut text, whole.len() - head.len() - tail.len());
                text.push_str(&hex_listing(tail, whole.len() - tail.len()));
            }
            return Self { text, bytes, truncated: tail.is_some() };
        }
        let (head, tail) = cut(whole, STREAM_HEAD_BYTES);
        let Some(tail) = tail else {
            return Self {
                text: String::from_utf8_lossy(head).into_owned(),
                bytes,
                truncated: false,
            };
        };
        // A character that the cut went through belongs to neither side.
        let head = head.get(..boundary_before(head)).unwrap_or(head);
        let start = tail.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count();
        let tail = tail.get(start..).unwrap_or(tail);
        let mut text = String::from_utf8_lossy(head).into_owned();
        push_gap(&mut text, whole.len() - head.len() - tail.len());
        text.push_str(&String::from_utf8_lossy(tail));
        Self { text, bytes, truncated: true }
    }
}

/// The whole, or its first and last `side` bytes when it is longer than both.
fn cut(whole: &[u8], side: usize) -> (&[u8], Option<&[u8]>) {
    if whole.len() <= 2 * side {
        return (whole, None);
    }
    (
        whole.get(..side).unwrap_or_default(),
        Some(whole.get(whole.len() - side..).unwrap_or_default()),
    )
}

/// Where the last complete character ends.
fn boundary_before(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    }
}

fn push_gap(text: &mut String, left_out: usize) {
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
    use super::*;

    #[test]
    fn a_short_output_is_whole() {
        let excerpt = StreamExcerpt::of("file_read", "grün".as_bytes());
        assert_eq!(excerpt, StreamExcerpt { text: "grün".into(), bytes: 5, truncated: false });
    }

    #[test]
    fn a_long_output_keeps_both_ends_and_says_what_is_missing() {
        let whole = format!("a{}z", "é".repeat(STREAM_HEAD_BYTES));
        let excerpt = StreamExcerpt::of("shell", whole.as_bytes());
        assert!(excerpt.truncated);
        assert_eq!(excerpt.bytes, whole.len() as u64);
        assert!(excerpt.text.starts_with("aé") && excerpt.text.ends_with("éz"));
        assert!(!excerpt.text.contains('\u{fffd}'), "no character is cut in two");
        assert!(excerpt.text.contains("bytes left out here"));
        assert!(excerpt.text.len() < 2 * STREAM_HEAD_BYTES + 100);
    }

    #[test]
    fn bytes_of_a_file_are_listed_in_hex_and_of_a_program_replaced() {
        let excerpt = StreamExcerpt::of("file_read", b"\x00\xffA");
        assert!(excerpt.text.starts_with("00000000  00 ff 41 "), "{}", excerpt.text);
        assert!(excerpt.text.ends_with("..A\n"));
        assert_eq!(StreamExcerpt::of("shell", b"\xffA").text, "\u{fffd}A");
        let large = StreamExcerpt::of("file_read", &vec![0xff; 1 << 20]);
        assert!(large.truncated && large.text.len() < 2 * STREAM_HEAD_BYTES + 100);
    }
}
