//! Whether two readers see the same commands (SPEC §7.1).
//!
//! Each is asked about what the other one saw: a command that only one of them sees may be one that
//! the shell runs and nobody judged.

use std::collections::BTreeSet;

use super::grammar::Second;
use super::syntax::Script;

/// Words that the grammar of editors takes for programs, and that only begin a command.
const BEFORE: [&str; 3] = ["time", "coproc", "!"];

/// The byte at which the readers part; nothing where they agree.
pub(super) fn disagreement(source: &str, script: &Script, second: &Second) -> Option<usize> {
    let mut own = BTreeSet::new();
    // What was read from a text that is no part of the source as it stands has only a rough place.
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
