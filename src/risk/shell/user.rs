//! Rules of the person who uses the program (SPEC §7.1).

use serde::Deserialize;

use crate::risk::RiskLevel;

/// One rule of the settings file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserRule {
    /// Its name in verdicts and messages.
    pub id: String,
    /// The first words of the commands it is about.
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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserRules(Vec<UserRule>);

/// Why a rule was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRule {
    /// It has no name, words or reason.
    #[error("the risk rule {0:?} needs an id, a prefix, a reason and examples")]
    Incomplete(String),
    /// Two rules have one name.
    #[error("two risk rules are called {0:?}")]
    Twice(String),
    /// An example that has to match does not.
    #[error("the risk rule {id:?} does not match its example {example:?}")]
    NoMatch {
        /// The rule.
        id: String,
        /// The example.
        example: String,
    },
    /// An example that must not match does.
    #[error("the risk rule {id:?} matches {example:?}, which it must not")]
    Match {
        /// The rule.
        id: String,
        /// The example.
        example: String,
    },
}

impl UserRules {
    /// Takes rules whose examples hold.
    ///
    /// # Errors
    /// The first bad rule, by its name.
    pub fn new(rules: Vec<UserRule>) -> Result<Self, BadRule> {
        for (index, rule) in rules.iter().enumerate() {
            if rule.id.is_empty()
                || rule.prefix.is_empty()
                || rule.reason.is_empty()
                || rule.must_match.is_empty()
            {
                return Err(BadRule::Incomplete(rule.id.clone()));
            }
            if rules.iter().skip(index + 1).any(|other| other.id == rule.id) {
                return Err(BadRule::Twice(rule.id.clone()));
            }
            let matches =
                |example: &String| super::commands(example).iter().any(|words| rule.matches(words));
            if let Some(example) = rule.must_match.iter().find(|example| !matches(example)) {
                return Err(BadRule::NoMatch { id: rule.id.clone(), example: example.clone() });
            }
            if let Some(example) = rule.must_not_match.iter().find(|example| matches(example)) {
                return Err(BadRule::Match { id: rule.id.clone(), example: example.clone() });
            }
        }
        Ok(Self(rules))
    }

    /// The strictest rule that matches.
    pub(super) fn strictest(&self, words: &[String]) -> Option<&UserRule> {
        self.0.iter().filter(|rule| rule.matches(words)).max_by_key(|rule| rule.level)
    }
}

impl UserRule {
    fn matches(&self, words: &[String]) -> bool {
        words.starts_with(&self.prefix)
    }
}
