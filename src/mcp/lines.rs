//! Reads lines of limited size.

use std::io::{self, BufRead};

/// One line of the input, without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A line.
    Whole(Vec<u8>),
    /// A line that is longer than the limit. It is read to its end and not kept.
    TooLong,
    /// There is no other line.
    End,
}

/// Reads the next line, of which at most `limit` bytes are kept. The last one needs no line break.
///
/// # Errors
/// The input cannot be read.
pub fn read_line(input: &mut impl BufRead, limit: usize) -> io::Result<Line> {
    let (mut line, mut is_too_long, mut is_begun) = (Vec::new(), false, false);
    loop {
        let available = match input.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            return Ok(match (is_begun, is_too_long) {
                (false, _) => Line::End,
                (true, true) => Line::TooLong,
                (true, false) => Line::Whole(line),
            });
        }
        is_begun = true;
        let end = available.iter().position(|byte| *byte == b'\n');
        let (piece, _) = available.split_at(end.unwrap_or(available.len()));
        if is_too_long || line.len() + piece.len() > limit {
            is_too_long = true;
            line = Vec::new();
        } else {
            line.extend_from_slice(piece);
        }
        let consumed = piece.len() + usize::from(end.is_some());
        input.consume(consumed);
        if end.is_some() {
            return Ok(if is_too_long { Line::TooLong } else { Line::Whole(line) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_a_limit_and_need_no_last_break() {
        // The buffer has 3 bytes, so that lines arrive in pieces.
        let text = &b"abcdef\n\nabcdefg\r\nabcdefgh and more\nab"[..];
        let mut input = io::BufReader::with_capacity(3, text);
        let mut next = || read_line(&mut input, 8).unwrap();
        assert_eq!(next(), Line::Whole(b"abcdef".to_vec()));
        assert_eq!(next(), Line::Whole(Vec::new()));
        assert_eq!(next(), Line::Whole(b"abcdefg\r".to_vec()));
        assert_eq!(next(), Line::TooLong);
        assert_eq!(next(), Line::Whole(b"ab".to_vec()));
        assert_eq!((next(), next()), (Line::End, Line::End));
    }
}
