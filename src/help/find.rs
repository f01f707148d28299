//! Looking something up by its name, and searching by words.

use super::{Entry, entries};
use crate::plan::Precondition;

/// The answer to a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Exactly one entry has this name.
    Entry(&'static Entry),
    /// None has; these are the nearest, at most five.
    Nearest(Vec<&'static Entry>),
}

/// The entry with this name, without regard to case; a number alone is an exit code, and a precondition may be written as in
/// a plan. Otherwise the entries whose name
/// contains it, or else those that contain it in their texts.
pub fn find(name: &str) -> Found {
    const MOST: usize = 5;
    let name = name.trim();
    let is_named = |entry: &&Entry| {
        entry.key.eq_ignore_ascii_case(name)
            || entry.key.strip_prefix("exit ").is_some_and(|code| code == name)
    };
    let precondition = || {
        let word = Precondition::parse(name)?.word();
        entries().iter().find(|entry| entry.key == word)
    };
    if let Some(entry) = entries().iter().find(is_named).or_else(precondition) {
        return Found::Entry(entry);
    }
    let lower = name.to_lowercase();
    let mut nearest: Vec<_> = entries()
        .iter()
        .filter(|it| !lower.is_empty() && it.key.to_lowercase().contains(&lower))
        .collect();
    if nearest.is_empty() && !lower.is_empty() {
        nearest = matching(name);
    }
    nearest.truncate(MOST);
    Found::Nearest(nearest)
}

/// The entries that contain every word of `text`; those whose name begins with it come first.
pub fn matching(text: &str) -> Vec<&'static Entry> {
    let lower = text.trim().to_lowercase();
    let words: Vec<_> = lower.split_whitespace().collect();
    let mut found: Vec<_> = entries()
        .iter()
        .filter(|entry| {
            let searched = format!("{} {} {} {}", entry.key, entry.title, entry.text, entry.next);
            let searched = searched.to_lowercase();
            words.iter().all(|word| searched.contains(word))
        })
        .collect();
    found.sort_by_key(|entry| {
        let key = entry.key.to_lowercase();
        (key != lower, !key.starts_with(&lower))
    });
    found
}
