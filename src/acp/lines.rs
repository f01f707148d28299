//! Splits a stream into lines of limited size.

/// The beginning of a line that is not whole yet.
#[derive(Debug, Default)]
pub struct Lines {
    begun: Vec<u8>,
}

impl Lines {
    /// Adds the next bytes, and passes each whole line without its end to `take`. Returns false if a line has more than
    /// `limit` bytes; the stream is then of no use.
    pub fn push(&mut self, bytes: &[u8], limit: usize, mut take: impl FnMut(Vec<u8>)) -> bool {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let line = piece.strip_suffix(b"\n");
            let text = line.unwrap_or(piece);
            if self.begun.len().saturating_add(text.len()) > limit {
                return false;
            }
            self.begun.extend_from_slice(text);
            if line.is_some() {
                take(std::mem::take(&mut self.begun));
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_and_limited() {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        let mut push = |bytes: &[u8]| lines.push(bytes, 4, |line| found.push(line));
        assert!(push(b"ab") && push(b"cd\n\nef\ngh") && push(b"\n"));
        assert!(push(b"1234") && !push(b"5"), "a longer line is refused before it is whole");
        assert_eq!(found, [&b"abcd"[..], b"", b"ef", b"gh"]);
    }
}
