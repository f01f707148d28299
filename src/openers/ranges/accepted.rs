//! The replacements that are made, of suggestions that do not know of each other.

use std::collections::BTreeMap;

use super::super::files::Texts;
use super::super::written::Edits;
use super::{Replacement, replaced};
use crate::plan::{Code, Finding};

/// A suggestion: replacements that belong together, with their paths.
pub(super) type Suggestion = Vec<(String, Replacement)>;

/// What becomes of a suggestion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Added {
    /// It is made, now or by an equal one before it.
    Made,
    /// Two of its own replacements contradict each other.
    Contradiction,
    /// It contradicts one before it.
    Conflict,
}

/// By file, replacements that do not conflict, by their ranges.
#[derive(Default)]
pub(super) struct Accepted(BTreeMap<String, BTreeMap<(usize, usize), String>>);

impl Accepted {
    /// Adds a suggestion with all of its replacements, or nothing of it.
    pub(super) fn add(&mut self, suggestion: Suggestion) -> Added {
        let is_made = |(path, new): &(String, Replacement)| {
            let made = self.0.get(path).and_then(|of| of.get(&(new.range.start, new.range.end)));
            made == Some(&new.text)
        };
        // The same is found in several builds of one file.
        if !suggestion.is_empty() && suggestion.iter().all(is_made) {
            return Added::Made;
        }
        let mut own = Self::default();
        for (path, new) in &suggestion {
            if own.conflicts(path, new) {
                return Added::Contradiction;
            }
            own.insert(path.clone(), new.clone());
        }
        if suggestion.iter().any(|(path, new)| self.conflicts(path, new)) {
            return Added::Conflict;
        }
        suggestion.into_iter().for_each(|(path, new)| self.insert(path, new));
        Added::Made
    }

    fn insert(&mut self, path: String, Replacement { range, text }: Replacement) {
        self.0.entry(path).or_default().insert((range.start, range.end), text);
    }

    fn conflicts(&self, path: &str, new: &Replacement) -> bool {
        let Some(of) = self.0.get(path) else { return false };
        // They do not overlap, so those that begin earlier also end earlier.
        let before = of.range(..=(new.range.end, usize::MAX)).rev();
        before
            .map(|((start, end), text)| Replacement { range: *start..*end, text: text.clone() })
            .take_while(|old| old.range.end >= new.range.start)
            .any(|old| old.conflicts(new))
    }

    /// The edits that make all of it.
    ///
    /// # Errors
    /// An edit is too long for a plan.
    pub(super) fn into_edits(self, mut texts: Texts<'_>) -> Result<Edits, Finding> {
        let files = self.0.len();
        let error = |code, message: String| Finding::error(code, "", message);
        for (path, of) in self.0 {
            let of =
                of.into_iter().map(|((start, end), text)| Replacement { range: start..end, text });
            let of: Vec<_> = of.collect();
            let now = texts.now(&path).map_err(|message| error(Code::BadValue, message))?;
            *now = replaced(now, &of)
                .map_err(|_| error(Code::BadValue, format!("{path} cannot be changed so")))?;
        }
        let (edits, expected) =
            texts.into_edits().map_err(|message| error(Code::Limit, message))?;
        Ok(Edits { edits, expected, files, findings: Vec::new() })
    }
}
