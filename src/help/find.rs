//! Looking something up by its name, and searching by words.

use super::{Entry, Section, entries};
use crate::plan::Precondition;
use crate::risk::{UserRule, UserRules};

/// The entries of the program and those about a person's own rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Help {
    pub(super) own: Vec<Entry>,
}

/// The answer to a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found<'h> {
    /// Exactly one entry has this name.
    Entry(&'h Entry),
    /// None has; these are the nearest, at most five.
    Nearest(Vec<&'h Entry>),
}

impl Help {
    /// The help with these rules of the settings.
    pub fn with(rules: &UserRules) -> Self {
        Self { own: rules.iter().map(own_rule).collect() }
    }

    /// Every entry, by section; a person's own rules are the last.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        entries().iter().chain(&self.own)
    }

    /// The entries about the rules of the settings.
    pub fn own_rules(&self) -> impl Iterator<Item = &Entry> {
        self.own.iter()
    }

    /// The entry with this name, without regard to case; a number alone is an exit code, and a precondition may be written
    /// as in a plan. Otherwise the entries whose name contains it, or else those that contain it in their texts.
    pub fn find(&self, name: &str) -> Found<'_> {
        const MOST: usize = 5;
        let name = name.trim();
        let is_named = |entry: &&Entry| {
            entry.key.eq_ignore_ascii_case(name)
                || entry.key.strip_prefix("exit ").is_some_and(|code| code == name)
        };
        let precondition = || {
            let word = Precondition::parse(name)?.word();
            self.entries().find(|entry| entry.key == word)
        };
        if let Some(entry) = self.entries().find(is_named).or_else(precondition) {
            return Found::Entry(entry);
        }
        let lower = name.to_lowercase();
        let mut nearest: Vec<_> = self
            .entries()
            .filter(|it| !lower.is_empty() && it.key.to_lowercase().contains(&lower))
            .collect();
        if nearest.is_empty() && !lower.is_empty() {
            nearest = self.matching(name);
        }
        nearest.truncate(MOST);
        Found::Nearest(nearest)
    }

    /// The entries that contain every word of `text`; those whose name begins with it come first.
    pub fn matching(&self, text: &str) -> Vec<&Entry> {
        let lower = text.trim().to_lowercase();
        let words: Vec<_> = lower.split_whitespace().collect();
        let mut found: Vec<_> = self
            .entries()
            .filter(|entry| {
                let searched =
                    format!("{} {} {} {}", entry.key, entry.title, entry.text, entry.next);
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
}

/// A rule of the settings, which the program's tables do not have.
fn own_rule(rule: &UserRule) -> Entry {
    let text = format!(
        "{}. A rule of your own, in policy.command_rules, for commands that begin with: {}",
        rule.reason.trim_end_matches('.'),
        rule.prefix.join(" ")
    );
    Entry {
        section: Section::Rules,
        key: rule.id.clone().into(),
        title: rule.level.as_str().into(),
        text: text.into(),
        next: "".into(),
    }
}
