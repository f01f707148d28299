//! The changes of files that a step made, with the differences of their contents.

use std::io::Write;

use super::super::Result;
use super::super::xml::escaped_line;
use super::parts::code;
use crate::authorization::FileState;
use crate::evidence::{EvidenceReader, StoredContent};
use crate::run::line_diff::diff;
use crate::run::{Diff, DiffLine, ExecutionDetail, FileForecast, Known, LineKind};

/// The maximum size of a content that is compared, in bytes. Larger ones are named by their digests alone: comparing them
/// takes too long to give the same result every time.
const CONTENT: u64 = 256 << 10;
/// The maximum number of lines of a difference that are shown.
const LINES: usize = 400;
/// The maximum number of files whose differences are shown.
const FILES: usize = 100;

pub(super) fn write(
    reader: &mut EvidenceReader,
    step: &ExecutionDetail,
    out: &mut dyn Write,
) -> Result<()> {
    let changes = reader.file_changes(step.row.execution_id)?;
    if changes.is_empty() {
        return Ok(());
    }
    let title = match step.row.known {
        Known::Outcome(_) => "Changed files",
        _ => "Predicted changes of files; whether they were made is unknown",
    };
    writeln!(out, "<h3>{title} <span>{}</span></h3>", changes.len())?;
    for change in changes.iter().take(FILES) {
        file(reader, change, out)?;
    }
    if changes.len() > FILES {
        let more = changes.len() - FILES;
        writeln!(out, "<p class=\"note\">{more} more files are left out here.</p>")?;
    }
    Ok(())
}

fn file(reader: &mut EvidenceReader, change: &FileForecast, out: &mut dyn Write) -> Result<()> {
    let word = match (change.before, change.after) {
        (FileState::Absent, FileState::Absent) => "absent",
        (FileState::Absent, _) => "created",
        (_, FileState::Absent) => "deleted",
        (before, after) if before == after => "unchanged",
        _ => "changed",
    };
    writeln!(out, "<p class=\"file\"><span>{word}</span> {}</p>", code(&change.path))?;
    let contents = [content(reader, change.before)?, content(reader, change.after)?];
    let [Ok(before), Ok(after)] = &contents else {
        let why = contents.iter().find_map(|it| it.as_ref().err()).copied().unwrap_or_default();
        let digest = |state| match state {
            FileState::Absent => "absent".to_owned(),
            FileState::Content(digest) => digest.to_string(),
        };
        let (before, after) = (digest(change.before), digest(change.after));
        writeln!(out, "<p class=\"note\">{why} Before: {before}. After: {after}.</p>")?;
        return Ok(());
    };
    match diff(before.as_deref(), after.as_deref()) {
        Diff::Unchanged => {}
        Diff::Binary { before_bytes, after_bytes } => {
            let size =
                |bytes: Option<u64>| bytes.map_or("absent".to_owned(), |it| format!("{it} bytes"));
            writeln!(
                out,
                "<p class=\"note\">No text. Before: {}. After: {}.</p>",
                size(before_bytes),
                size(after_bytes)
            )?;
        }
        Diff::Text { lines, added, removed } => {
            writeln!(out, "<p class=\"note\">+{added} −{removed} lines</p>\n<pre class=\"diff\">")?;
            for line in lines.iter().take(LINES) {
                out.write_all(shown(line).as_bytes())?;
            }
            writeln!(out, "</pre>")?;
            if lines.len() > LINES {
                let more = lines.len() - LINES;
                writeln!(out, "<p class=\"note\">{more} more lines are left out here.</p>")?;
            }
        }
    }
    Ok(())
}

fn shown(line: &DiffLine) -> String {
    let (sign, element) = match line.kind {
        LineKind::Added => ("+", "ins"),
        LineKind::Removed => ("−", "del"),
        LineKind::Context => (" ", "span"),
        LineKind::Gap => return "<span class=\"gap\">…</span>".to_owned(),
    };
    let note = if line.missing_newline { " <i>no line break at the end</i>" } else { "" };
    format!("<{element}>{sign} {}{note}</{element}>", escaped_line(&line.text))
}

/// The content of a file in this state; `None` if it is absent. The error says why the content is not shown.
fn content(
    reader: &mut EvidenceReader,
    state: FileState,
) -> Result<std::result::Result<Option<Vec<u8>>, &'static str>> {
    let FileState::Content(digest) = state else { return Ok(Ok(None)) };
    if reader.blob_size(&digest)? > CONTENT {
        return Ok(Err("The content is too large to be shown here."));
    }
    Ok(match reader.stored_content(&digest)? {
        StoredContent::Content(bytes) => Ok(Some(bytes)),
        StoredContent::Purged => Err("A person purged the content."),
        StoredContent::NoKey => Err("The content contains a secret, and is stored only encrypted."),
        StoredContent::NotStored => Err("The content was not stored."),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_escaped() {
        let line = DiffLine {
            kind: LineKind::Added,
            before: None,
            after: Some(1),
            text: "<b>\u{202e}".to_owned(),
            missing_newline: true,
        };
        let expected = "<ins>+ &lt;b&gt;⟨U+202E⟩ <i>no line break at the end</i></ins>";
        assert_eq!(shown(&line), expected);
    }
}
