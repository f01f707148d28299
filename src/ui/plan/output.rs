//! The output of the current step, as lines.

use super::code::{CodeRow, marked_rows, wrap};
use super::marks::Marks;
use crate::run::{LineKind, Part, Stream, Transcript};

/// The maximum output that is laid out, in bytes. Earlier output is left out, because every new line repeats the
/// layout.
const LATEST_BYTES: usize = 32 << 10;

/// The latest output of a step in rows of at most `columns` characters, in order of arrival.
pub fn output_lines(transcript: &Transcript, step: usize, columns: usize) -> Vec<CodeRow> {
    let mut room = LATEST_BYTES;
    let mut lines = Vec::new();
    let mut earlier = transcript.latest_of(step);
    for line in earlier.by_ref() {
        lines.push(line);
        // Count the line break, so that empty lines use up room too.
        room = room.saturating_sub(line.text.len() + 1);
        if room == 0 {
            break;
        }
    }
    let mut rows = Vec::new();
    if earlier.next().is_some() {
        let text = "Earlier output is in the output pane below the steps.";
        rows.extend(remarks(text, columns));
    }
    for line in lines.into_iter().rev() {
        let Part::Output(stream) = line.part else {
            rows.extend(remarks(&line.text, columns));
            continue;
        };
        let marks = Marks { styles: line.styles.clone(), ..Marks::default() };
        let stderr = stream == Stream::Stderr;
        rows.extend(
            marked_rows(&line.text, &marks, 0, columns).map(|row| CodeRow { stderr, ..row }),
        );
    }
    rows
}

/// A remark about the output, in rows.
fn remarks(text: &str, columns: usize) -> impl Iterator<Item = CodeRow> {
    let row = |piece| CodeRow { kind: LineKind::Gap, ..CodeRow::plain(piece) };
    wrap(text, columns).into_iter().map(row)
}

/// A text with line numbers, in rows of at most `columns` characters.
pub fn text_rows(text: &str, columns: usize) -> Vec<CodeRow> {
    let mut rows = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for (piece_index, piece) in wrap(line, columns).into_iter().enumerate() {
            rows.push(CodeRow::numbered((piece_index == 0).then_some(index + 1), piece));
        }
    }
    rows
}
