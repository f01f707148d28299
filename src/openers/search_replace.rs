//! Edit blocks: a line with the path, and between marks the text that is looked for and the text in its place. Each
//! must be found in its file as whole lines exactly once.

use super::files::Texts;
use super::lines::Lines;
use super::place::{self, Place};
use super::written::Edits;
use crate::plan::{Code, Finding, Severity};

/// What looking at a line costs, in bytes of text.
const LINE_COST: usize = 32;

/// Whether a line begins a block.
pub(super) fn is_search(line: &str) -> bool {
    mark(line, '<') == Some("SEARCH")
}

/// Whether a line ends a block.
pub(super) fn is_end(line: &str) -> bool {
    mark(line, '>') == Some("REPLACE")
}

/// The word behind a mark of this sign, which is written five to nine times; `None` if the line is no such mark.
fn mark(line: &str, sign: char) -> Option<&str> {
    let word = line.trim_start_matches(sign);
    ((5..=9).contains(&(line.len() - word.len()))).then_some(word.trim().trim_end_matches('>'))
}

/// The edits of all blocks.
///
/// # Errors
/// An error for each block that cannot be made.
pub(super) fn edits(mut lines: Lines<'_>, mut texts: Texts<'_>) -> Result<Edits, Vec<Finding>> {
    let (mut made, mut errors, mut around) = (Edits::default(), Vec::new(), 0_usize);
    // The path of the block above, and the lines since then.
    let (mut path, mut above): (Option<&str>, Vec<&str>) = (None, Vec::new());
    while let Some(line) = lines.peek() {
        if !is_search(line) {
            above.push(line.trim());
            lines.take();
            continue;
        }
        let begun = lines.index();
        around += words(&above);
        match name(&above) {
            Ok(None) => {}
            Ok(Some(named)) => {
                path = Some(named);
                around -= 1;
            }
            Err(message) => errors.push(lines.error_at(begun, message)),
        }
        above.clear();
        match (block(&mut lines), path) {
            (Err(error), _) => errors.push(error),
            (Ok(_), None) => {
                errors.push(lines.error_at(begun, "no line above the block names its file"));
            }
            (Ok((old, new)), Some(path)) => {
                let place = (begun, path, old.as_str(), new.as_str());
                if let Err(message) = edit(&lines, place, &mut texts, &mut made.findings) {
                    errors.push(lines.error_at(begun, message));
                }
            }
        }
    }
    around += words(&above);
    match texts.into_edits() {
        Ok((edits, expected)) => (made.edits, made.expected) = (edits, expected),
        Err(message) => errors.push(Finding::error(Code::Limit, "", message)),
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    made.files = made.edits.len();
    let note = format!("{around} lines around the blocks are not part of them, and of the plan");
    let note = (around > 0).then(|| Finding::new(Severity::Note, Code::BadValue, "", note));
    made.findings.extend(note);
    Ok(made)
}

/// The number of lines with words.
fn words(lines: &[&str]) -> usize {
    lines.iter().filter(|line| !line.is_empty() && !is_fence(line)).count()
}

fn is_fence(line: &str) -> bool {
    line.starts_with("```")
}

/// The path that stands on the line above a block, or above its fence; `None` if that line is empty.
///
/// # Errors
/// The line is more than a path. Whether all of it is the name would have to be guessed.
fn name<'a>(above: &[&'a str]) -> Result<Option<&'a str>, String> {
    let Some(line) = above.last() else { return Ok(None) };
    let line = match line.strip_prefix("```") {
        Some(info) if info.contains(['.', '/']) => {
            return Err("a path behind the fence: write it on the line above".to_owned());
        }
        Some(_) => above.iter().rev().nth(1).copied().unwrap_or_default(),
        None => line,
    };
    if line.is_empty() {
        return Ok(None);
    }
    let plain = line.trim_end_matches(':').trim_start_matches('#').trim();
    if plain.trim_matches(['`', '*']) != line || is_fence(line) {
        return Err(format!("{line:?} is more than a path: write the path alone above the block"));
    }
    Ok(Some(line))
}

/// Makes one block in the text of its file.
///
/// # Errors
/// The text is not there exactly once, or it is not clear what of the block is text.
fn edit(
    lines: &Lines<'_>,
    (begun, path, old, new): (usize, &str, &str, &str),
    texts: &mut Texts<'_>,
    findings: &mut Vec<Finding>,
) -> Result<(), String> {
    if old == new {
        return Err("nothing is changed here".to_owned());
    }
    let file_name = path.rsplit('/').next().unwrap_or(path);
    let begins_with_name =
        |text: &str| text.lines().next().is_some_and(|first| first.trim().ends_with(file_name));
    let is_fenced = |text: &str| text.starts_with("```");
    if [old, new].into_iter().any(|text| begins_with_name(text) || is_fenced(text)) {
        return Err(
            "its first line may be the name of the file or a fence, and not part of the text"
                .to_owned(),
        );
    }
    if [old, new].into_iter().any(|text| text.ends_with("\n\n") || text == "\n") {
        return Err(
            "it ends with an empty line, which some readers leave out: end it with a line of text"
                .to_owned(),
        );
    }
    if old.trim().is_empty() {
        if texts.exists(path)? {
            return Err(format!("{path} is there already, and no text of it is looked for"));
        }
        texts.set(path, Some(new.to_owned()));
        return Ok(());
    }
    let before = texts.now(path)?.clone();
    // A line takes work besides its bytes.
    let lines_of_file = before.bytes().filter(|byte| *byte == b'\n').count();
    texts.spend(before.len().saturating_add(lines_of_file.saturating_mul(LINE_COST)))?;
    let (after, found) = place::apply(lines, &before, &[Place::of_lines(begun, old, new)]);
    for finding in found {
        match finding.severity {
            Severity::Error => return Err(finding.message),
            _ => findings.push(finding),
        }
    }
    texts.set(path, Some(after));
    Ok(())
}

/// The text that a block looks for, and the text in its place.
fn block(lines: &mut Lines<'_>) -> Result<(String, String), Finding> {
    let begun = lines.index();
    lines.take();
    let old = until(lines, begun, is_middle, "=======")?;
    let new = until(lines, begun, is_end, ">>>>>>> REPLACE")?;
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
