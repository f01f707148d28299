//! Compares the results of the two parsers (SPEC §7.1).
//!
//! Both directions count: a command that only one parser finds may be one that the shell runs and that was not
//! rated.

use std::collections::BTreeSet;

use super::second_parser::SecondParse;
use super::syntax::Script;

/// Keywords before a command, which the second parser takes for programs.
const BEFORE: [&str; 3] = ["time", "coproc", "!"];

/// The first byte at which the parsers disagree.
pub(super) fn disagreement(source: &str, script: &Script, second: &SecondParse) -> Option<usize> {
    let mut own = BTreeSet::new();
    // Commands that were parsed from a nested text have only approximate positions.
    let mut rough = Vec::new();
    for command in &script.commands {
        if let Some(first) = command.words.first() {
            if command.adopted {
                rough.push(command.span());
            } else {
                own.insert(first.span.start);
            }
        }
    }
    let theirs: BTreeSet<usize> = second.programs.iter().chain(&second.others).copied().collect();
    let begins = |at: usize| {
        let rest = source.get(at..).unwrap_or_default();
        BEFORE.iter().any(|word| {
            rest.strip_prefix(word).is_some_and(|rest| rest.starts_with(char::is_whitespace))
        })
    };
    let unseen_here = second.programs.iter().copied().find(|at| {
        !own.contains(at) && !begins(*at) && !rough.iter().any(|span| span.contains(at))
    });
    let unseen_there = own.iter().copied().find(|at| {
        let behind = |before: usize| {
            let between = source.get(before..*at).unwrap_or_default();
            begins(before) && !between.contains([';', '|', '&', '\n', '(', ')'])
        };
        !theirs.contains(at) && !theirs.range(..*at).next_back().is_some_and(|it| behind(*it))
    });
    let rough_there = rough
        .iter()
        .find(|span| theirs.range(span.start..span.end).next().is_none())
        .map(|span| span.start);
    [unseen_here, unseen_there, rough_there].into_iter().flatten().min()
}
