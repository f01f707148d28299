//! The patch of Codex and others, between `*** Begin Patch` and `*** End Patch`. It names files, and for each place the
//! lines around it, but no line numbers. So each place becomes a replacement of text that must be there exactly once;
//! where the original would look for the first likely place, there is none.

use super::lines::Lines;
use super::written::Edits;
use crate::plan::{Edit, Finding};

/// The first line of a patch.
pub(super) const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";

/// The edits of a patch.
///
/// # Errors
/// An error for each part that cannot be a replacement.
pub(super) fn edits(mut lines: Lines<'_>) -> Result<Edits, Vec<Finding>> {
    let (mut edits, mut errors, mut files) = (Vec::new(), Vec::new(), 0);
    while lines.peek().is_some_and(|line| line.trim_end() != BEGIN) {
        if lines.peek().is_some_and(|line| !line.trim().is_empty()) {
            errors.push(lines.error(format!("a patch begins with {BEGIN:?}")));
        }
        lines.take();
    }
    lines.take();
    loop {
        if let Some(path) = lines.take_after("*** Add File: ") {
            files += 1;
            match added(&mut lines) {
                Ok(contents) => edits.push(Edit::Create { path: path.to_owned(), contents }),
                Err(error) => errors.push(error),
            }
        } else if let Some(path) = lines.take_after("*** Delete File: ") {
            files += 1;
            edits.push(Edit::Delete { path: path.to_owned() });
        } else if let Some(path) = lines.take_after("*** Update File: ") {
            files += 1;
            let to = lines.take_after("*** Move to: ");
            let begun = lines.index();
            while let Some(place) = place(&mut lines) {
                match place {
                    Ok((old, new)) => edits.push(Edit::Replace { path: path.to_owned(), old, new }),
                    Err(error) => errors.push(error),
                }
            }
            if let Some(to) = to {
                edits.push(Edit::Rename { path: path.to_owned(), to: to.to_owned() });
            } else if lines.index() == begun {
                errors.push(lines.error_at(begun - 1, "nothing of the file is changed"));
            }
        } else {
            match lines.take().map(str::trim_end) {
                Some(END) => break,
                None => {
                    errors.push(lines.error(format!("a patch ends with {END:?}; this one is cut off")));
                    break;
                }
                Some(line) => errors.push(lines.error_at(
                    lines.index() - 1,
                    format!("{line:?} is no part of a patch: a file begins with `*** Add File: `, `*** Delete File: ` or \
                             `*** Update File: `"),
                )),
            }
        }
    }
    while let Some(line) = lines.take() {
        if !line.trim().is_empty() {
            errors.push(lines.error_at(lines.index() - 1, format!("there is text behind {END:?}")));
            break;
        }
    }
    if errors.is_empty() { Ok(Edits { edits, files, findings: Vec::new() }) } else { Err(errors) }
}

/// The lines of a new file.
fn added(lines: &mut Lines<'_>) -> Result<String, Finding> {
    let mut contents = String::new();
    while let Some(line) = lines.peek().filter(|line| !line.starts_with("*** ")) {
        let Some(text) = line.strip_prefix('+') else {
            let error = lines.error("each line of a new file begins with `+`");
            lines.take();
            return Err(error);
        };
        contents.push_str(text);
        contents.push('\n');
        lines.take();
    }
    Ok(contents)
}

/// The next place of a file: its lines before and after; `None` if there is no other place.
fn place(lines: &mut Lines<'_>) -> Option<Result<(String, String), Finding>> {
    let line =
        lines.peek().filter(|line| line.trim_end() == END_OF_FILE || !line.starts_with("*** "))?;
    let begun = lines.index();
    let anchor = line.strip_prefix("@@").map(|rest| rest.trim().trim_end_matches("@@").trim_end());
    if anchor.is_some() {
        lines.take();
    }
    let (mut old, mut new, mut wrong) = (String::new(), String::new(), None);
    while let Some(line) =
        lines.peek().filter(|line| !line.starts_with("*** ") && !line.starts_with("@@"))
    {
        let (mark, text) = line.split_at_checked(1).unwrap_or((" ", ""));
        let is_known = matches!(mark, " " | "-" | "+");
        if !is_known && wrong.is_none() {
            wrong = Some(lines.error("a line of a place begins with a space, `-` or `+`"));
        }
        for (side, other) in [(&mut old, "+"), (&mut new, "-")] {
            if mark != other {
                side.push_str(text);
                side.push('\n');
            }
        }
        lines.take();
    }
    let is_at_end = lines.peek().is_some_and(|line| line.trim_end() == END_OF_FILE);
    if is_at_end {
        lines.take();
    }
    let error = |message: &str| Some(Err(lines.error_at(begun, message)));
    if let Some(wrong) = wrong {
        return Some(Err(wrong));
    }
    match anchor {
        Some(anchor) if !anchor.is_empty() => error(
            "`@@` with a line of the file names a place that the text does not: give more lines around the place instead",
        ),
        _ if old.is_empty() && new.is_empty() => error("a place without lines"),
        _ if old.is_empty() => error(
            "lines are added at a place that no line of the file names: give the lines around it",
        ),
        _ if old == new => error("nothing is changed here"),
        _ => Some(Ok((old, new))),
    }
}
