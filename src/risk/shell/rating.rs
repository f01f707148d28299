//! Ratings, and the findings that hold the built-in rating of a command and the user's.

use std::ops::Range;

use crate::plan::RiskLevel;
use crate::risk::is_builtin_rule;

/// The rule id for calls that only read.
const READS: &str = "reads";

/// The rule id for calls that only read, of git in a repository that may name programs.
const READS_REPOSITORY: &str = "reads-repository";

/// The rule id for calls that only read themselves, of programs that load something of the working folder.
const READS_AND_LOADS: &str = "reads-and-loads";

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

    /// A rating by a rule that is not the user's.
    pub(super) fn builtin(level: RiskLevel, rule: &str, reason: &str) -> Self {
        debug_assert!(is_builtin_rule(rule), "{rule} is not in the table of rules that are code");
        Self::new(level, rule, reason)
    }

    pub(super) fn caution(rule: &str, reason: &str) -> Self {
        Self::builtin(RiskLevel::Caution, rule, reason)
    }

    pub(super) fn dangerous(rule: &str, reason: &str) -> Self {
        Self::builtin(RiskLevel::Dangerous, rule, reason)
    }

    /// The rating of a call that only reads.
    pub(super) fn reads() -> Self {
        Self::builtin(RiskLevel::Safe, READS, "Only reads or prints.")
    }

    /// The rating of a call that only reads itself, but first loads something of the working folder.
    pub(super) fn loads(what: &str) -> Self {
        let reason =
            format!("Only reads itself, but first loads what the working folder has: {what}.");
        Self::caution(READS_AND_LOADS, &reason)
    }

    /// The rating of a call that only reads itself, but in which git may run what the repository names.
    pub(super) fn reads_repository(named: &str) -> Self {
        let reason = format!(
            "Only reads itself, but git may run a program that the repository names: {named}."
        );
        Self::caution(READS_REPOSITORY, &reason)
            .with_safer("Look at the settings of the repository, with `cat .git/config`.")
    }

    /// Whether the arguments of the call are only read.
    pub(super) fn is_reading(&self) -> bool {
        matches!(self.rule.as_str(), READS | READS_AND_LOADS | READS_REPOSITORY)
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
