//! The user's own rules for commands (SPEC §7.1).

use serde::{Deserialize, Serialize};

use crate::plan::RiskLevel;

/// One rule of the settings file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserRule {
    /// The id that verdicts and messages show.
    pub id: String,
    /// The first words of matching commands, starting with the program.
    pub prefix: Vec<String>,
    /// The level of matching commands.
    pub level: RiskLevel,
    /// The reason.
    pub reason: String,
    /// Examples of commands that the rule must match.
    pub must_match: Vec<String>,
    /// Examples of commands that the rule must not match.
    pub must_not_match: Vec<String>,
}

/// The user's rules, each checked against its examples.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct UserRules(pub(super) Vec<UserRule>);

impl UserRules {
    /// The number of rules.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The rules, in the order of the settings file.
    pub fn iter(&self) -> impl Iterator<Item = &UserRule> {
        self.0.iter()
    }
}

impl UserRule {
    /// Whether a command starts with the words of the rule.
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

    /// Whether the rule may replace a built-in level (SPEC §7.1): it may always raise it, but lower it only from
    /// dangerous to caution.
    pub(super) fn changes(&self, builtin: RiskLevel) -> bool {
        self.level > builtin
            || (self.level == RiskLevel::Caution && builtin == RiskLevel::Dangerous)
    }
}
