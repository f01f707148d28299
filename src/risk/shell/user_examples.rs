//! Reads the user's rules and checks each against its own examples.

use std::collections::BTreeSet;

use serde::Deserialize as _;

use super::{Shell, UserRule, UserRules, of_command};
use crate::plan::RiskLevel;

/// Why a rule was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRule {
    /// The table does not have the form of a rule, for instance because a field is missing.
    #[error("the risk rule {id:?} cannot be read: {message}")]
    Unreadable {
        /// The id, or the position in the list.
        id: String,
        /// The message of the TOML parser.
        message: String,
    },
    /// `prefix` or `must_match` is empty or has a blank entry, or the id or the reason is blank.
    #[error(
        "the risk rule {0:?} needs an id, a prefix, a reason and a command in must_match, none of them empty"
    )]
    Incomplete(String),
    /// The level is safe, which no rule may give.
    #[error("the risk rule {0:?} has the level safe; the lowest that a rule can give is caution")]
    Safe(String),
    /// Two rules have the same id.
    #[error("two risk rules are called {0:?}")]
    Twice(String),
    /// An example in `must_match` does not match.
    #[error("the risk rule {id:?} does not match {example:?}, which its must_match has")]
    NoMatch {
        /// The rule.
        id: String,
        /// The example.
        example: String,
    },
    /// An example in `must_not_match` matches.
    #[error("the risk rule {id:?} matches {example:?}, which its must_not_match has")]
    Match {
        /// The rule.
        id: String,
        /// The example.
        example: String,
    },
}

impl UserRules {
    /// Reads rules from the tables of a settings file, and checks them as [`Self::new`] does.
    ///
    /// # Errors
    ///
    /// The first rule that cannot be read; if all can, as [`Self::new`].
    pub fn read(tables: &[toml::Table]) -> Result<Self, BadRule> {
        let rule = |(index, table): (usize, &toml::Table)| {
            UserRule::deserialize(table.clone()).map_err(|error| BadRule::Unreadable {
                id: match table.get("id").and_then(toml::Value::as_str) {
                    Some(id) => id.to_owned(),
                    None => format!("number {}", index + 1),
                },
                message: error.message().to_owned(),
            })
        };
        Self::new(tables.iter().enumerate().map(rule).collect::<Result<_, _>>()?)
    }

    /// Checks rules against their examples.
    ///
    /// # Errors
    ///
    /// The first rule that is incomplete, has the level safe, contradicts one of its examples, or has the id of an
    /// earlier rule.
    pub fn new(rules: Vec<UserRule>) -> Result<Self, BadRule> {
        let mut names = BTreeSet::new();
        for rule in &rules {
            rule.check()?;
            if !names.insert(&rule.id) {
                return Err(BadRule::Twice(rule.id.clone()));
            }
        }
        Ok(Self(rules))
    }

    /// These rules and one more, checked as [`Self::new`] does.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn with(&self, rule: UserRule) -> Result<Self, BadRule> {
        Self::new(self.iter().cloned().chain([rule]).collect())
    }

    /// These rules with another one in the place of that with this id, or at the end if there is none; checked as
    /// [`Self::new`] does.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn replacing(&self, id: &str, rule: UserRule) -> Result<Self, BadRule> {
        let Some(place) = self.iter().position(|old| old.id == id) else { return self.with(rule) };
        let mut rules: Vec<_> = self.iter().cloned().collect();
        rules.splice(place..=place, [rule]);
        Self::new(rules)
    }
}

impl UserRule {
    fn check(&self) -> Result<(), BadRule> {
        let id = || self.id.clone();
        let texts = self.prefix.iter().chain(&self.must_match).chain([&self.id, &self.reason]);
        if self.prefix.is_empty()
            || self.must_match.is_empty()
            || texts.into_iter().any(|text| text.trim().is_empty())
        {
            return Err(BadRule::Incomplete(id()));
        }
        if self.level == RiskLevel::Safe {
            return Err(BadRule::Safe(id()));
        }
        // Examples are classified exactly like commands.
        let alone = UserRules(vec![self.clone()]);
        let matches =
            |example: &&String| of_command(example, Shell::Bash, &alone).matched.contains(&self.id);
        if let Some(example) = self.must_match.iter().find(|example| !matches(example)) {
            return Err(BadRule::NoMatch { id: id(), example: example.clone() });
        }
        if let Some(example) = self.must_not_match.iter().find(matches) {
            return Err(BadRule::Match { id: id(), example: example.clone() });
        }
        Ok(())
    }
}
