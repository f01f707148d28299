//! What a step prints while it is under way, as lines.

use super::code::{CodeRow, wrap};
use crate::run::{RunState, StepState, Stream};

/// The output of the step under way in rows of at most `columns` characters, in order of arrival.
pub fn output_lines(run: &RunState, index: usize, columns: usize) -> Vec<CodeRow> {
    let mut rows = Vec::new();
    match run.steps.get(index) {
        Some(StepState::Running) => {
            if run.live_left_out > 0 {
                let size = crate::ui::format::bytes(run.live_left_out);
                let text = format!("{size} before this are left out here; the evidence gets all.");
                rows.push(CodeRow::numbered(None, text));
            }
            // A chunk may end within a line; the next one of the same stream goes on there.
            let mut joined: Vec<(Stream, String)> = Vec::new();
            for (stream, chunk) in &run.live_output {
                match joined.last_mut() {
                    Some((last, text)) if last == stream => text.push_str(chunk),
                    _ => joined.push((*stream, chunk.clone())),
                }
            }
            for (stream, text) in &joined {
                push(&mut rows, *stream, text, columns);
            }
        }
        Some(StepState::Waiting | StepState::Done(_)) | None => {}
    }
    rows
}

/// Everything that [`output_lines`] shows of a step, for comparing.
pub(super) fn output_sources(run: &RunState, index: usize) -> Vec<&str> {
    match run.steps.get(index) {
        Some(StepState::Running) => run
            .live_output
            .iter()
            .flat_map(|(stream, chunk)| {
                [if *stream == Stream::Stderr { "!" } else { "" }, chunk.as_str()]
            })
            .collect(),
        Some(StepState::Waiting | StepState::Done(_)) | None => Vec::new(),
    }
}

fn push(rows: &mut Vec<CodeRow>, stream: Stream, text: &str, columns: usize) {
    for line in text.lines() {
        for piece in wrap(line, columns) {
            rows.push(CodeRow::output(stream, piece));
        }
    }
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
