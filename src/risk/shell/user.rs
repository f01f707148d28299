//! Rules of the person who uses the program (SPEC §7.1).

use serde::{Deserialize, Serialize};

use crate::plan::RiskLevel;

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
pub struct UserRules(pub(super) Vec<UserRule>);

impl UserRules {
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
