//! The patch of Codex and others, between `*** Begin Patch` and `*** End Patch`. It names files, and for each place the
//! lines around it, but no line numbers. So the files are read, and each place must be found in its file as it is
//! written; where the original would go on to places that only look alike, there is an error.

use std::collections::BTreeSet;

use super::files::Texts;
use super::lines::Lines;
use super::place::{self, Place};
use super::written::Edits;
use crate::plan::{Edit, Finding, limits};

/// The first line of a patch.
pub(super) const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
pub(super) const END_OF_FILE: &str = "*** End of File";

/// Whether a line ends a patch.
pub(super) fn is_end(line: &str) -> bool {
    line.trim() == END
}

/// The edits of a patch.
///
/// # Errors
/// An error for each part that cannot be made.
pub(super) fn edits(mut lines: Lines<'_>, texts: &mut Texts<'_>) -> Result<Edits, Vec<Finding>> {
    if lines.has_carriage_returns() {
        let message = "its lines end with CR and LF, and programs differ in whether CR is part of them: end them with LF";
        return Err(vec![lines.error(message)]);
    }
    let mut patch =
        Patch { texts, named: BTreeSet::new(), made: Edits::default(), errors: Vec::new() };
    while lines.peek().is_some_and(|line| line.trim() != BEGIN) {
        if lines.peek().is_some_and(|line| !line.trim().is_empty()) {
            patch.errors.push(lines.error(format!("a patch begins with {BEGIN:?}")));
        }
        lines.take();
    }
    lines.take();
    while patch.errors.len() <= limits::FINDINGS {
        let header = lines.index();
        if let Some(path) = lines.take_header("*** Add File: ") {
            patch.add(&mut lines, header, path);
        } else if let Some(path) = lines.take_header("*** Delete File: ") {
            patch.name(&lines, header, path);
            patch.must_exist(&lines, header, path);
            let digest = patch.texts.digest(path);
            patch.made.expected.extend(digest.map(|digest| (path.to_owned(), digest)));
            patch.texts.set(path, None);
            patch.made.edits.push(Edit::Delete { path: path.to_owned() });
        } else if let Some(path) = lines.take_header("*** Update File: ") {
            patch.update(&mut lines, header, path);
        } else {
            match lines.take().map(str::trim) {
                Some(END) => break,
                None => {
                    let error = lines.error(format!("a patch ends with {END:?}; this one is cut off"));
                    patch.errors.push(error);
                    break;
                }
                Some(line) => patch.errors.push(lines.error_at(
                    header,
                    format!("{line:?} is no part of a patch: a file begins with `*** Add File: `, `*** Delete File: ` or \
                             `*** Update File: `"),
                )),
            }
        }
    }
    while let Some(line) = lines.take() {
        if !line.trim().is_empty() {
            let error = lines.error_at(lines.index() - 1, format!("there is text behind {END:?}"));
            patch.errors.push(error);
            break;
        }
    }
    if patch.errors.is_empty() { Ok(patch.made) } else { Err(patch.errors) }
}

/// A patch as far as it is read.
struct Patch<'p, 'f> {
    texts: &'p mut Texts<'f>,
    /// The files that it named so far.
    named: BTreeSet<String>,
    made: Edits,
    errors: Vec<Finding>,
}

impl Patch<'_, '_> {
    /// Notes that a part names this file. A second part would change what the first one made of it, or the other way
    /// round, depending on who applies the patch.
    fn name(&mut self, lines: &Lines<'_>, header: usize, path: &str) {
        if !self.named.insert(path.to_owned()) {
            let message = format!("{path} is named before: put all of its changes into one part");
            self.errors.push(lines.error_at(header, message));
        }
        self.made.files = self.named.len();
    }

    fn must_exist(&mut self, lines: &Lines<'_>, header: usize, path: &str) {
        match self.texts.exists(path) {
            Ok(true) => {}
            Ok(false) => {
                self.errors.push(lines.error_at(header, format!("{path} is not in the workspace")));
            }
            Err(error) => self.errors.push(lines.error_at(header, error)),
        }
    }

    /// A file that is made must not be there: the original would replace it without a word.
    fn must_be_free(&mut self, lines: &Lines<'_>, header: usize, path: &str) {
        let message = match self.texts.exists(path) {
            Ok(false) => return,
            Ok(true) => format!("{path} is there already, and would be replaced"),
            Err(error) => error,
        };
        self.errors.push(lines.error_at(header, message));
    }

    fn add(&mut self, lines: &mut Lines<'_>, header: usize, path: &str) {
        self.name(lines, header, path);
        self.must_be_free(lines, header, path);
        let mut contents = String::new();
        while let Some(line) = lines.peek().filter(|line| !line.trim_start().starts_with("*** ")) {
            match line.strip_prefix('+') {
                Some(text) => {
                    contents.push_str(text);
                    contents.push('\n');
                }
                None => self.errors.push(lines.error("each line of a new file begins with `+`")),
            }
            lines.take();
        }
        self.texts.set(path, Some(contents.clone()));
        self.made.edits.push(Edit::Create { path: path.to_owned(), contents });
    }

    fn update(&mut self, lines: &mut Lines<'_>, header: usize, path: &str) {
        self.name(lines, header, path);
        let to_line = lines.index();
        let to = lines.take_header("*** Move to: ");
        let (mut places, errors) = (Vec::new(), self.errors.len());
        while let Some(place) = Place::read(lines) {
            match place {
                Ok(place) => places.push(place),
                Err(error) => self.errors.push(error),
            }
        }
        if let Some(to) = to {
            self.name(lines, to_line, to);
            self.must_be_free(lines, to_line, to);
        }
        if places.is_empty() && self.errors.len() == errors {
            self.errors.push(lines.error_at(header, "nothing of the file is changed"));
        }
        let before = match self.texts.now(path) {
            Ok(text) => text.clone(),
            Err(error) => {
                self.errors.push(lines.error_at(header, error));
                return;
            }
        };
        let (after, mut found) = place::apply(lines, &before, &places);
        self.errors.extend(found.extract_if(.., |it| it.severity == crate::plan::Severity::Error));
        self.made.findings.append(&mut found);
        if self.errors.len() > errors {
            return;
        }
        if after != before {
            let edit = Edit::patch(path, &before, &after);
            if edit.is_too_long() {
                let message = "the change is longer than a plan can have";
                self.errors.push(lines.error_at(header, message));
            }
            self.made.edits.push(edit);
            let digest = self.texts.digest(path);
            self.made.expected.extend(digest.map(|digest| (path.to_owned(), digest)));
            self.texts.set(path, Some(after.clone()));
        }
        if let Some(to) = to {
            self.texts.set(path, None);
            self.texts.set(to, Some(after));
            self.made.edits.push(Edit::Rename { path: path.to_owned(), to: to.to_owned() });
        }
    }
}
