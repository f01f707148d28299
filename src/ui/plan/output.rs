//! The output of a running step, and texts with line numbers, as code rows.

use std::collections::BTreeMap;

use super::CodeRow;
use super::code::marked_rows;
use super::marks::Marks;
use super::wrap::wrap;
use crate::plan::{spelled_out, visible_name};
use crate::run::{LineKind, Part, Stream, Transcript, TranscriptLine};

/// About this many bytes of output are laid out. Earlier output is omitted, because the layout is repeated with every
/// new line.
const LATEST_BYTES: usize = 32 << 10;

/// The latest output of a step in rows of at most `columns` columns, in order of arrival. A first row says whether
/// earlier output is omitted.
pub fn output_lines(transcript: &Transcript, step: usize, columns: usize) -> Vec<CodeRow> {
    if transcript.terminal().is_some_and(|terminal| terminal.step_index == step) {
        let text = "The step runs in the terminal below the steps. What it showed is here when it has ended.";
        return remark_rows(text, columns).collect();
    }
    rows_of(transcript.latest_of(step), columns)
}

/// What the terminal of a finished step showed, in rows of at most `columns` columns.
pub(super) fn terminal_rows(transcript: &Transcript, step: usize, columns: usize) -> Vec<CodeRow> {
    rows_of(transcript.all_of(step), columns)
}

/// The latest of these lines, which come in reverse order.
fn rows_of<'a>(
    mut earlier: impl Iterator<Item = &'a TranscriptLine>,
    columns: usize,
) -> Vec<CodeRow> {
    let mut remaining = LATEST_BYTES;
    let mut lines = Vec::new();
    for line in earlier.by_ref() {
        lines.push(line);
        // Counts the line break, so that the number of empty lines is limited too.
        remaining = remaining.saturating_sub(line.text.len() + 1);
        if remaining == 0 {
            break;
        }
    }
    let mut rows = Vec::new();
    if earlier.next().is_some() {
        let text = "Earlier output is in the output pane below the steps.";
        rows.extend(remark_rows(text, columns));
    }
    for line in lines.into_iter().rev() {
        let Part::Output(stream) = line.part else {
            rows.extend(remark_rows(&line.text, columns));
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
fn remark_rows(text: &str, columns: usize) -> impl Iterator<Item = CodeRow> {
    let row = |piece| CodeRow { kind: LineKind::Gap, ..CodeRow::plain(piece) };
    wrap(text, columns).into_iter().map(row)
}

/// An argument of a step with line numbers, in rows of at most `columns` columns. A bracket with which the mark of a
/// hidden character begins is written out, because the argument may contain the text of such a mark. An argument of one
/// line may be a name, which has to be told from every other one.
pub fn argument_rows(value: &str, columns: usize) -> Vec<CodeRow> {
    if let (Some(line), None) = (value.lines().next(), value.lines().nth(1)) {
        let parts: Vec<_> = line.split('⟨').map(visible_name).collect();
        return text_rows(&parts.join("⟨U+27E8⟩"), columns);
    }
    if !value.contains('⟨') {
        return text_rows(value, columns);
    }
    let lines = value.lines().map(|line| {
        let brackets: Vec<_> =
            line.match_indices('⟨').map(|(start, it)| start..start + it.len()).collect();
        spelled_out(line, &brackets).0
    });
    text_rows(&lines.collect::<Vec<_>>().join("\n"), columns)
}

/// A text with line numbers, in rows of at most `columns` columns.
pub fn text_rows(text: &str, columns: usize) -> Vec<CodeRow> {
    let mut rows = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for (piece_index, piece) in wrap(line, columns).into_iter().enumerate() {
            rows.push(CodeRow::numbered((piece_index == 0).then_some(index + 1), piece));
        }
    }
    rows
}

/// The arguments in order of their names, those with one line of at most 200 bytes before the others.
pub(crate) fn short_first(arguments: &BTreeMap<String, String>) -> Vec<(&String, &String)> {
    let mut arguments: Vec<_> = arguments.iter().collect();
    arguments.sort_by_key(|(_, value)| value.len() > 200 || value.contains('\n'));
    arguments
}
