//! Rules of the person who uses the program (SPEC §7.1).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Shell;
use crate::risk::RiskLevel;

/// One rule of the settings file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserRule {
    /// Its name in verdicts and messages.
    pub id: String,
    /// The first words of the commands it is about, the program first.
    pub prefix: Vec<String>,
    /// What such a command is.
    pub level: RiskLevel,
    /// Why.
    pub reason: String,
    /// Commands that it has to match.
    pub must_match: Vec<String>,
    /// Commands that it must not match.
    pub must_not_match: Vec<String>,
}

/// Rules whose examples hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct UserRules(Vec<UserRule>);

/// Why a rule was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRule {
    /// It is not written as a rule is.
    #[error("the risk rule {id:?} cannot be read: {message}")]
    Unreadable {
        /// The rule, or its place in the list.
        id: String,
        /// What is wrong with it.
        message: String,
    },
    /// It has no name, words, reason or example.
    #[error(
        "the risk rule {0:?} needs an id, a prefix, a reason and a command in must_match, none of them empty"
    )]
    Incomplete(String),
    /// It would make commands safe.
    #[error("the risk rule {0:?} has the level safe; the lowest that a rule can give is caution")]
    Safe(String),
    /// Two rules have one name.
    #[error("two risk rules are called {0:?}")]
    Twice(String),
    /// An example that has to match does not.
    #[error("the risk rule {id:?} does not match {example:?}, which its must_match has")]
    NoMatch {
        /// The rule.
        id: String,
        /// The example.
        example: String,
    },
    /// An example that must not match does.
    #[error("the risk rule {id:?} matches {example:?}, which its must_not_match has")]
    Match {
        /// The rule.
        id: String,
        /// The example.
        example: String,
    },
}

impl UserRules {
    /// Reads rules from the tables of a settings file.
    ///
    /// # Errors
    /// The first bad rule, by its name.
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

    /// Takes rules whose examples hold.
    ///
    /// # Errors
    /// The first bad rule, by its name.
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

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &UserRule> {
        self.0.iter()
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
        // Examples are judged in the very way that commands are, so that they cannot hold where the
        // rule would not.
        let alone = UserRules(vec![self.clone()]);
        let matches = |example: &&String| {
            super::of_command(example, Shell::Bash, &alone).matched.contains(&self.id)
        };
        if let Some(example) = self.must_match.iter().find(|example| !matches(example)) {
            return Err(BadRule::NoMatch { id: id(), example: example.clone() });
        }
        if let Some(example) = self.must_not_match.iter().find(matches) {
            return Err(BadRule::Match { id: id(), example: example.clone() });
        }
        Ok(())
    }

    /// Whether a command begins with the words of the rule.
    pub(super) fn matches(&self, program: &str, arguments: &[(String, bool)]) -> bool {
        let words = std::iter::once(program).chain(arguments.iter().map(|(text, _)| text.as_str()));
        self.prefix.len() <= arguments.len() + 1
            && self
                .prefix
                .iter()
                .map(String::as_str)
                .zip(words)
                .all(|(wanted, word)| wanted == word)
    }

    /// Whether it may decide about a command that the program itself calls so (SPEC §7.1): to raise
    /// is always allowed, to lower only from dangerous to caution.
    pub(super) fn changes(&self, builtin: RiskLevel) -> bool {
        self.level > builtin
            || (self.level == RiskLevel::Caution && builtin == RiskLevel::Dangerous)
    }
}
