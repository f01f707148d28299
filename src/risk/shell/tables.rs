//! What the tables of commands say, for people who look something up.

use std::collections::BTreeSet;

use super::readers::read_only_names;
use super::table::TABLE;
use crate::plan::RiskLevel;

/// A built-in rule, without its patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleText<'a> {
    /// The id that verdicts show.
    pub id: &'a str,
    /// The level of the calls that match.
    pub level: RiskLevel,
    /// Why they have this level.
    pub reason: &'a str,
    /// What would be safer, if anything is known.
    pub safer: Option<&'a str>,
    /// A command that matches; `None` if the table has none.
    pub example: Option<&'a str>,
}

/// The rules of `assets/risk/rules.toml`, in the order of the table.
pub fn rule_texts() -> impl Iterator<Item = RuleText<'static>> {
    let rules = TABLE.as_ref().map_or(&[][..], |table| &table.rule);
    rules.iter().map(|rule| RuleText {
        id: &rule.id,
        level: rule.level,
        reason: &rule.reason,
        safer: rule.safer.as_deref(),
        example: rule.examples.first().map(String::as_str),
    })
}

/// The programs of which `assets/risk/readers.toml` knows calls that only read, by name.
pub fn read_only_programs() -> BTreeSet<&'static str> {
    read_only_names().flat_map(|name| name.split('|')).collect()
}
