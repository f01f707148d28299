//! Ratings, and the findings that hold the built-in rating of a command and the user's.

use std::ops::Range;

use crate::plan::RiskLevel;

/// A level with the rule that gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rating {
    pub(super) level: RiskLevel,
    pub(super) rule: String,
    pub(super) reason: String,
    /// A safer alternative.
    pub(super) safer: Option<String>,
}

impl Rating {
    pub(super) fn new(level: RiskLevel, rule: &str, reason: &str) -> Self {
        Self { level, rule: rule.to_owned(), reason: reason.to_owned(), safer: None }
    }

    pub(super) fn caution(rule: &str, reason: &str) -> Self {
        Self::new(RiskLevel::Caution, rule, reason)
    }

    pub(super) fn dangerous(rule: &str, reason: &str) -> Self {
        Self::new(RiskLevel::Dangerous, rule, reason)
    }

    pub(super) fn with_safer(self, safer: &str) -> Self {
        Self { safer: Some(safer.to_owned()), ..self }
    }
}

/// The rating of one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) span: Range<usize>,
    pub(super) builtin: Rating,
    /// The rating by the strictest matching rule of the user, if it may replace the built-in level.
    pub(super) user: Option<Rating>,
}

impl Finding {
    /// The rating by the user's rule if there is one, otherwise the built-in one.
    pub(super) fn effective(&self) -> &Rating {
        self.user.as_ref().unwrap_or(&self.builtin)
    }
}
