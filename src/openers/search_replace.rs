//! Edit blocks: a line with the path, and between marks the text that is looked for and the text in its place. Each
//! becomes a replacement of text that must be in the file exactly once.

use super::lines::Lines;
use super::written::Edits;
use crate::plan::{Code, Edit, Finding, Severity};

/// Whether a line begins a block.
pub(super) fn is_search(line: &str) -> bool {
    mark(line, '<') == Some("SEARCH")
}

/// The word behind a mark of this sign, which is written five to nine times; `None` if the line is no such mark.
fn mark(line: &str, sign: char) -> Option<&str> {
    let word = line.trim_start_matches(sign);
    ((5..=9).contains(&(line.len() - word.len()))).then_some(word.trim().trim_end_matches('>'))
}

/// The edits of all blocks.
///
/// # Errors
/// An error for each block that cannot be a replacement.
pub(super) fn edits(mut lines: Lines<'_>) -> Result<Edits, Vec<Finding>> {
    let (mut edits, mut errors, mut around) = (Vec::new(), Vec::new(), 0_usize);
    // The last line that may be a path, and the path of the block above.
    let (mut named, mut path): (Option<&str>, Option<&str>) = (None, None);
    let mut paths = std::collections::BTreeSet::new();
    while let Some(line) = lines.peek() {
        if !is_search(line) {
            // A fence is between the path and its block.
            if !line.trim().is_empty() && !line.starts_with("```") {
                named = Some(line.trim());
                around += 1;
            }
            lines.take();
            continue;
        }
        let begun = lines.index();
        if let Some(named) = named.take() {
            path = Some(named);
            around -= 1;
        }
        match (block(&mut lines), path) {
            (Err(error), _) => errors.push(error),
            (Ok(_), None) => {
                errors.push(lines.error_at(begun, "no line above the block names its file"))
            }
            (Ok((old, new)), Some(path)) => {
                paths.insert(path);
                let path = path.to_owned();
                match (old.is_empty(), old == new) {
                    (_, true) => errors.push(lines.error_at(begun, "nothing is changed here")),
                    (true, _) => edits.push(Edit::Create { path, contents: new }),
                    (false, _) => edits.push(Edit::Replace { path, old, new }),
                }
            }
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let note = format!("{around} lines around the blocks are not part of them, and of the plan");
    let note = (around > 0).then(|| Finding::new(Severity::Note, Code::BadValue, "", note));
    let findings = note.into_iter().collect();
    Ok(Edits { edits, files: paths.len(), findings, ..Edits::default() })
}

/// The text that a block looks for, and the text in its place.
fn block(lines: &mut Lines<'_>) -> Result<(String, String), Finding> {
    let begun = lines.index();
    lines.take();
    let old = until(lines, begun, is_middle, "=======")?;
    let new = until(lines, begun, |line| mark(line, '>') == Some("REPLACE"), ">>>>>>> REPLACE")?;
    if new.lines().any(is_middle) {
        return Err(lines.error_at(begun, "the block has more than one line \"=======\""));
    }
    Ok((old, new))
}

fn is_middle(line: &str) -> bool {
    mark(line, '=') == Some("")
}

/// The lines until a mark, which is taken as well.
fn until(
    lines: &mut Lines<'_>,
    begun: usize,
    is_end: impl Fn(&str) -> bool,
    end: &str,
) -> Result<String, Finding> {
    let from = lines.index();
    loop {
        match lines.peek() {
            None => return Err(lines.error_at(begun, format!("the block has no line {end:?}"))),
            Some(line) if is_search(line) => {
                return Err(
                    lines.error(format!("a block begins before the line {end:?} of the one above"))
                );
            }
            Some(line) if is_end(line) => {
                let text = lines.text_from(from);
                lines.take();
                return Ok(text);
            }
            Some(_) => lines.take(),
        };
    }
}
