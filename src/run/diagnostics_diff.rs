//! Compares the diagnostics of two checks of the same code (SPEC §3). Pure.
//!
//! Diagnostics are compared by file, code and message, because lines move. [`compare`] assumes that both checks were
//! complete. If the later one was stopped, or reports only new errors, callers must not use [`Comparison::gone`].

use std::collections::{HashMap, VecDeque};

use super::DiagnosticArtifact;

/// Result of comparing one diagnostic with an earlier check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BaselineState {
    /// Only the later check has it.
    New,
    /// Both checks have it.
    Unchanged,
    /// Only the earlier check has it.
    Gone,
}

/// Result of [`compare`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Comparison {
    /// For each diagnostic of the later check, whether it is new.
    pub is_new: Vec<bool>,
    /// Indices of the diagnostics of the earlier check that are missing from the later one.
    pub gone: Vec<usize>,
}

/// The values in which two diagnostics must agree to be the same.
fn key(diagnostic: &DiagnosticArtifact) -> (&str, Option<&str>, &str) {
    (&diagnostic.file_name, diagnostic.code.as_deref(), &diagnostic.message)
}

/// Compares two checks. Duplicates are paired one to one, those on the same line first.
pub fn compare(before: &[DiagnosticArtifact], after: &[DiagnosticArtifact]) -> Comparison {
    let mut is_gone = vec![true; before.len()];
    let mut is_new = vec![true; after.len()];
    let mut pair = |same_line: bool| {
        let key = |diagnostic| (key(diagnostic), same_line.then_some(diagnostic.line_start));
        let mut unpaired: HashMap<_, VecDeque<usize>> = HashMap::new();
        let earlier = before.iter().enumerate().zip(&is_gone).filter(|(_, is_gone)| **is_gone);
        for ((index, diagnostic), _) in earlier {
            unpaired.entry(key(diagnostic)).or_default().push_back(index);
        }
        for (diagnostic, is_new) in after.iter().zip(&mut is_new).filter(|(_, is_new)| **is_new) {
            let same = unpaired.get_mut(&key(diagnostic)).and_then(VecDeque::pop_front);
            if let Some(is_gone) = same.and_then(|index| is_gone.get_mut(index)) {
                *is_gone = false;
                *is_new = false;
            }
        }
    };
    pair(true);
    pair(false);
    let gone = is_gone.iter().enumerate().filter(|(_, is_gone)| **is_gone);
    Comparison { is_new, gone: gone.map(|(index, _)| index).collect() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::run::Level;

    fn diagnostic(file: &str, code: &str, message: &str, line: i64) -> DiagnosticArtifact {
        DiagnosticArtifact {
            level: Level::Error,
            tool_level: "error".to_owned(),
            message: message.to_owned(),
            file_name: file.to_owned(),
            line_start: line,
            column_start: None,
            line_end: None,
            column_end: None,
            code: Some(code.to_owned()).filter(|code| !code.is_empty()),
            spans: Vec::new(),
            children: Vec::new(),
            rendered: Some(format!("said at {line}")),
        }
    }

    #[test]
    fn a_moved_diagnostic_is_the_same() {
        let before = [
            diagnostic("a.rs", "E0425", "no x", 3),
            diagnostic("a.rs", "E0308", "mismatched", 9),
            diagnostic("b.rs", "", "unused", 1),
        ];
        let after = [
            diagnostic("b.rs", "", "unused", 40),
            diagnostic("a.rs", "E0308", "mismatched, too", 9),
            diagnostic("a.rs", "E0425", "no x", 7),
        ];
        let comparison = compare(&before, &after);
        assert_eq!(comparison, Comparison { is_new: vec![false, true, false], gone: vec![1] });
    }

    #[test]
    fn diagnostics_differ_by_file_code_or_message() {
        let old = [diagnostic("a.rs", "E1", "m", 1)];
        for new in [
            diagnostic("b.rs", "E1", "m", 1),
            diagnostic("a.rs", "E2", "m", 1),
            diagnostic("a.rs", "", "m", 1),
            diagnostic("a.rs", "E1", "n", 1),
        ] {
            let comparison = compare(&old, std::slice::from_ref(&new));
            assert_eq!(comparison, Comparison { is_new: vec![true], gone: vec![0] }, "{new:?}");
        }
    }

    // Each of several equal diagnostics counts. The one on the same line is paired first.
    #[test]
    fn equal_diagnostics_are_matched_by_line_first() {
        let at = |lines: &[i64]| -> Vec<_> {
            lines.iter().map(|line| diagnostic("a.rs", "E1", "m", *line)).collect()
        };
        let more = compare(&at(&[5]), &at(&[2, 5]));
        assert_eq!(more, Comparison { is_new: vec![true, false], gone: vec![] });
        let fewer = compare(&at(&[2, 5]), &at(&[5]));
        assert_eq!(fewer, Comparison { is_new: vec![false], gone: vec![0] });
        assert_eq!(compare(&[], &[]), Comparison::default());
    }

    proptest! {
        #[test]
        fn every_diagnostic_is_counted_once(
            before in prop::collection::vec((0_u8..3, 0_i64..4), 0..30),
            after in prop::collection::vec((0_u8..3, 0_i64..4), 0..30),
        ) {
            let make = |all: &[(u8, i64)]| -> Vec<_> {
                all.iter().map(|(what, line)| diagnostic("a", "E", &what.to_string(), *line)).collect()
            };
            let (before, after) = (make(&before), make(&after));
            let comparison = compare(&before, &after);
            prop_assert_eq!(comparison.is_new.len(), after.len());
            let unchanged = comparison.is_new.iter().filter(|new| !**new).count();
            prop_assert_eq!(unchanged + comparison.gone.len(), before.len());
            // With the checks exchanged, the diagnostics that were gone are new.
            let back = compare(&after, &before);
            prop_assert_eq!(back.is_new.iter().filter(|new| **new).count(), comparison.gone.len());
            let same = compare(&after, &after);
            prop_assert!(same.gone.is_empty() && !same.is_new.contains(&true));
        }
    }
}
