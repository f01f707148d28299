//! Turns suggestions of a compiler into one batch of edits: for the planner `cargo-fix`, and for the suggestions of a
//! diagnostic that a person picks.

use std::collections::BTreeMap;

use super::{ToolError, Toolbox};
use crate::cargo::{Replacement, Suggestion};
use crate::plan::{Batch, Code, Digest, Edit, limits};
use crate::run::{DiagnosticSpan, ErrorInfo};
use crate::workspace::{Access, Last, WorkspaceError, file};

/// Maximum size of a file that a suggestion changes, in bytes.
const MAX_BYTES: u64 = limits::ARGUMENT_BYTES as u64 * 32;

/// Why picked suggestions cannot become edits.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum SuggestionError {
    #[error("{path} has changed since the check that made the suggestion")]
    Changed { path: String },
    #[error("{path} is outside the workspace")]
    Outside { path: String },
    #[error("{path} is not UTF-8 text")]
    NotText { path: String },
    #[error("two of the suggestions change the same text")]
    Overlap,
    #[error("the suggestions change {files} files, and one plan can change {}", limits::EDITS)]
    TooManyFiles { files: usize },
    #[error("the change of {path} is longer than one plan can hold")]
    TooLong { path: String },
    #[error("the suggestions change nothing, or more than one plan can hold")]
    Nothing,
}

impl ErrorInfo for SuggestionError {
    fn code(&self) -> Code {
        match self {
            Self::Changed { .. } => Code::Stale,
            Self::Outside { .. } => Code::OutsideWorkspace,
            Self::NotText { .. } => Code::ReadFailed,
            Self::Overlap | Self::TooManyFiles { .. } | Self::TooLong { .. } | Self::Nothing => {
                Code::BadValue
            }
        }
    }

    fn next(&self) -> String {
        match self {
            Self::Changed { .. } => "Run the check again.",
            Self::Outside { .. } | Self::NotText { .. } => "Change the file by hand.",
            Self::Overlap => "Take one of them away: they are alternatives.",
            Self::TooManyFiles { .. } => "Take fewer suggestions at once.",
            Self::TooLong { .. } => "Take other suggestions, or change the file by hand.",
            Self::Nothing => "Take other suggestions, or change the files by hand.",
        }
        .to_owned()
    }
}

impl Toolbox {
    /// One batch that applies all of these suggestions to the present files. Each suggestion is a list of spans with
    /// replacements, as a check recorded them.
    ///
    /// # Errors
    /// A file that is outside the workspace, cannot be read, or has changed since the check; suggestions that
    /// contradict each other, change nothing, or change more than a batch can hold.
    pub fn suggested_batch(&self, suggestions: &[Vec<DiagnosticSpan>]) -> Result<Batch, ToolError> {
        let mut texts: BTreeMap<&str, String> = BTreeMap::new();
        let mut read = Vec::new();
        for spans in suggestions {
            let mut replacements = Vec::new();
            for span in spans {
                let path = span.file_name.as_str();
                if !texts.contains_key(path) {
                    texts.insert(path, self.suggestion_text(path)?);
                }
                let text = texts.get(path).map_or("", String::as_str);
                replacements.push(replacement(span, text)?);
            }
            read.push(Suggestion { fixes: String::new(), replacements });
        }
        if texts.len() > limits::EDITS {
            return Err(SuggestionError::TooManyFiles { files: texts.len() }.into());
        }
        let Suggested { batch, applied, too_long } = batch(&read, &|path| texts.get(path).cloned());
        if applied.len() < read.len() {
            return Err(SuggestionError::Overlap.into());
        }
        if let Some(path) = too_long.into_iter().next() {
            return Err(SuggestionError::TooLong { path }.into());
        }
        if batch.edits.is_empty() {
            return Err(SuggestionError::Nothing.into());
        }
        Ok(batch)
    }

    fn suggestion_text(&self, path: &str) -> Result<String, ToolError> {
        // Files inside the workspace are recorded by relative paths.
        if path.is_empty() || path.starts_with('/') {
            return Err(SuggestionError::Outside { path: path.to_owned() }.into());
        }
        let not_found = || WorkspaceError::NotFound { path: path.to_owned() }.into();
        self.text(path)?.ok_or_else(not_found)
    }

    /// The text of a file; `None` if there is none.
    ///
    /// # Errors
    /// It is outside the workspace, cannot be read, is too large or not UTF-8.
    pub fn text(&self, path: &str) -> Result<Option<String>, ToolError> {
        let place = self.resolve(path, Last::Follow)?;
        let Some((opened, _)) = place.open(path, Access::Read)? else { return Ok(None) };
        let bytes = file::read_up_to(opened, path, Access::Read, MAX_BYTES)?;
        let not_text = |_| SuggestionError::NotText { path: path.to_owned() };
        Ok(Some(String::from_utf8(bytes).map_err(not_text)?))
    }
}

/// The replacement that a span suggests, if the text is still as the check read it: the recorded lines are the same, and
/// the recorded line, column and byte are the same place.
fn replacement(span: &DiagnosticSpan, text: &str) -> Result<Replacement, SuggestionError> {
    let path = span.file_name.clone();
    let changed = || SuggestionError::Changed { path: span.file_name.clone() };
    let start = offset(text, span.line_start, span.column_start).ok_or_else(changed)?;
    let end = offset(text, span.line_end, span.column_end).ok_or_else(changed)?;
    let is_same_place = (start as u64, end as u64) == (span.byte_start, span.byte_end);
    let first = usize::try_from(span.line_start).unwrap_or(0).saturating_sub(1);
    let lines = text.split('\n').skip(first).map(|line| line.trim_end_matches('\r'));
    let is_same_text = span
        .text
        .iter()
        .map(|line| line.trim_end_matches(['\r', '\n']))
        .eq(lines.take(span.text.len()));
    if !is_same_place || !is_same_text || start > end {
        return Err(changed());
    }
    Ok(Replacement {
        path,
        start,
        end,
        text: span.suggested_replacement.clone().unwrap_or_default(),
    })
}

/// The byte of a line and a column in characters, both from 1.
fn offset(text: &str, line: i64, column: i64) -> Option<usize> {
    let line = usize::try_from(line).ok()?.checked_sub(1)?;
    let column = usize::try_from(column).ok()?.checked_sub(1)?;
    let mut start = 0;
    for _ in 0..line {
        start += text.get(start..)?.find('\n')? + 1;
    }
    let rest = text.get(start..)?;
    match rest.char_indices().nth(column) {
        Some((offset, _)) => Some(start + offset),
        None => (rest.chars().count() == column).then_some(text.len()),
    }
}

/// The edits of suggestions.
pub struct Suggested<'s> {
    /// One patch for each file, with the hash that it expects.
    pub batch: Batch,
    /// The suggestions used, including those of files whose patch is left out.
    pub applied: Vec<&'s Suggestion>,
    /// The files whose patch is left out because it is too long.
    pub too_long: Vec<String>,
}

/// One patch for each file that suggestions change. A suggestion that conflicts with a different, earlier one is not used.
/// `read` returns the text of a file.
pub fn batch<'s>(
    suggestions: &'s [Suggestion],
    read: &dyn Fn(&str) -> Option<String>,
) -> Suggested<'s> {
    let mut files: BTreeMap<&str, (String, Vec<&Replacement>)> = BTreeMap::new();
    let mut applied = Vec::new();
    for suggestion in suggestions {
        for Replacement { path, .. } in &suggestion.replacements {
            if !files.contains_key(path.as_str())
                && files.len() < limits::EDITS
                && let Some(text) = read(path)
            {
                files.insert(path, (text, Vec::new()));
            }
        }
        let fits = |new: &Replacement| {
            files.get(new.path.as_str()).is_some_and(|(text, accepted)| {
                text.get(new.start..new.end).is_some()
                    && accepted.iter().all(|old| old == &new || !conflict(old, new))
            })
        };
        if suggestion.replacements.iter().all(fits) {
            applied.push(suggestion);
            for new in &suggestion.replacements {
                if let Some((_, accepted)) = files.get_mut(new.path.as_str())
                    && !accepted.contains(&new)
                {
                    accepted.push(new);
                }
            }
        }
    }
    let (mut batch, mut too_long) = (Batch::default(), Vec::new());
    for (path, (text, mut accepted)) in files {
        // Applied from the end of the file, so that earlier offsets stay valid.
        accepted.sort_by_key(|it| std::cmp::Reverse((it.start, it.end)));
        let mut after = text.clone();
        for it in accepted {
            after.replace_range(it.start..it.end, &it.text);
        }
        let edit = Edit::patch(path, &text, &after);
        if after == text {
            continue;
        }
        if edit.is_too_long() {
            too_long.push(path.to_owned());
        } else {
            batch.edits.push(edit);
            batch.expected_hashes.insert(path.to_owned(), Digest::of(text.as_bytes()));
        }
    }
    Suggested { batch, applied, too_long }
}

/// Whether the result of two replacements depends on their order, or one makes the other wrong: they overlap, or one is
/// an insertion at the border of the other.
fn conflict(a: &Replacement, b: &Replacement) -> bool {
    let inserts = a.start == a.end || b.start == b.end;
    let touch = a.end == b.start || b.end == a.start;
    a.start < b.end && b.start < a.end || a.start == b.start || inserts && touch
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::Policy;

    /// A suggestion to insert a text at the beginning of a file.
    fn insertion(path: &str, text: &str) -> Vec<DiagnosticSpan> {
        let (line_start, column_start, line_end, column_end) = (1, 1, 1, 1);
        vec![DiagnosticSpan {
            file_name: path.to_owned(),
            suggested_replacement: Some(text.to_owned()),
            line_start,
            column_start,
            line_end,
            column_end,
            ..DiagnosticSpan::default()
        }]
    }

    /// A suggestion that was picked is in the batch, or it is said why there is none.
    #[test]
    fn no_picked_suggestion_is_left_out_silently() {
        let folder = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..=limits::EDITS).map(|number| format!("{number}.rs")).collect();
        for name in &names {
            std::fs::write(folder.path().join(name), "old\n").unwrap();
        }
        let toolbox = Toolbox::open(folder.path(), &Policy::default()).unwrap();
        let of = |names: &[String]| -> Vec<_> {
            names.iter().map(|name| insertion(name, "new\n")).collect()
        };
        let all = toolbox.suggested_batch(&of(&names[1..])).unwrap();
        assert_eq!(all.edits.len(), limits::EDITS);
        let error = toolbox.suggested_batch(&of(&names)).unwrap_err().to_string();
        assert_eq!(error, "the suggestions change 129 files, and one plan can change 128");
        let long = insertion("1.rs", &"new line\n".repeat(limits::ARGUMENT_BYTES / 9));
        let error = toolbox.suggested_batch(&[insertion("0.rs", "new\n"), long]).unwrap_err();
        assert_eq!(error.to_string(), "the change of 1.rs is longer than one plan can hold");
    }
}
