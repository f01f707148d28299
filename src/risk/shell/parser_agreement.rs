//! Compares the results of the two parsers (SPEC §7.1).
//!
//! Both directions count: a command that only one parser finds may be one that the shell runs and that was not
//! rated.

use std::collections::BTreeSet;

use super::second_parser::SecondParse;
use super::syntax::Script;

/// Keywords before a command, which the second parser takes for programs.
const KEYWORDS: [&str; 3] = ["time", "coproc", "!"];

/// The first byte at which the parsers disagree; `None` if they agree.
pub(super) fn disagreement(source: &str, script: &Script, second: &SecondParse) -> Option<usize> {
    let mut first_starts = BTreeSet::new();
    // Commands that were parsed from a nested text have only approximate positions.
    let mut approximate = Vec::new();
    for command in &script.commands {
        if let Some(first) = command.words.first() {
            if command.nested {
                approximate.push(command.span());
            } else {
                first_starts.insert(first.span.start);
            }
        }
    }
    let second_starts: BTreeSet<usize> =
        second.programs.iter().chain(&second.others).copied().collect();
    let is_keyword = |start: usize| {
        let rest = source.get(start..).unwrap_or_default();
        KEYWORDS.iter().any(|word| {
            rest.strip_prefix(word).is_some_and(|rest| rest.starts_with(char::is_whitespace))
        })
    };
    let only_second = second.programs.iter().copied().find(|start| {
        !first_starts.contains(start)
            && !is_keyword(*start)
            && !approximate.iter().any(|span| span.contains(start))
    });
    let only_first = first_starts.iter().copied().find(|start| {
        let behind = |before: usize| {
            let between = source.get(before..*start).unwrap_or_default();
            is_keyword(before) && !between.contains([';', '|', '&', '\n', '(', ')'])
        };
        !second_starts.contains(start)
            && !second_starts.range(..*start).next_back().is_some_and(|it| behind(*it))
    });
    let only_first_nested = approximate
        .iter()
        .find(|span| second_starts.range(span.start..span.end).next().is_none())
        .map(|span| span.start);
    [only_second, only_first, only_first_nested].into_iter().flatten().min()
}
