//! Which lines of a change a person wants (SPEC §13 *Revisions*). Pure.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Diff, DiffLine, LineKind};

/// The changed lines of a file that a person does not want: a removed line stays, and an added one is left out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DeselectedLines {
    /// The removed lines, by their numbers before the change, from 1.
    pub removed: BTreeSet<usize>,
    /// The added lines, by their numbers after the change, from 1.
    pub added: BTreeSet<usize>,
}

/// Why lines cannot be chosen from a change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum SelectionError {
    #[error("its content is not compared line by line")]
    NoLines,
    #[error("the difference is of another content")]
    OtherContent,
    #[error(
        "line {line} stays, which ends without a line break, so that no line can follow it: choose it too, or deselect \
         the lines after it"
    )]
    NoBreak { line: usize },
}

impl DeselectedLines {
    /// Whether every changed line is wanted.
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty()
    }

    /// Whether a changed line is wanted. Lines that do not change always are.
    pub fn keeps(&self, line: &DiffLine) -> bool {
        match line.kind {
            LineKind::Removed => line.before.is_none_or(|number| !self.removed.contains(&number)),
            LineKind::Added => line.after.is_none_or(|number| !self.added.contains(&number)),
            LineKind::Context | LineKind::Gap => true,
        }
    }

    /// Wants a line, or no longer.
    pub fn set(&mut self, line: &DiffLine, wanted: bool) {
        let (lines, number) = match line.kind {
            LineKind::Removed => (&mut self.removed, line.before),
            LineKind::Added => (&mut self.added, line.after),
            LineKind::Context | LineKind::Gap => return,
        };
        let Some(number) = number else { return };
        if wanted {
            lines.remove(&number);
        } else {
            lines.insert(number);
        }
    }

    /// Deselects every changed line except those of these hunks, counted from 0.
    pub fn except_hunks(diff: &Diff, hunks: &BTreeSet<usize>) -> Self {
        let mut deselected = Self::default();
        for (index, hunk) in self::hunks(diff).enumerate() {
            if !hunks.contains(&index) {
                hunk.iter().for_each(|line| deselected.set(line, false));
            }
        }
        deselected
    }

    /// The content after the change of `before` with the wanted lines only.
    ///
    /// # Errors
    /// The difference is not of these contents, or the wanted lines cannot follow each other.
    pub fn apply(&self, before: &str, diff: &Diff) -> Result<String, SelectionError> {
        let Diff::Text { lines, .. } = diff else { return Err(SelectionError::NoLines) };
        let old: Vec<&str> = before.split_inclusive('\n').collect();
        let mut text = String::with_capacity(before.len());
        // The number of the next line of `before`, from 0.
        let mut next = 0;
        let mut unended = None;
        let mut push = |line: &str, missing_newline: bool, number: Option<usize>| {
            if let Some(line) = unended {
                return Err(SelectionError::NoBreak { line });
            }
            text.push_str(line);
            if missing_newline {
                unended = Some(number.unwrap_or_default());
            } else if !line.ends_with('\n') {
                text.push('\n');
            }
            Ok(())
        };
        for line in lines {
            match line.kind {
                LineKind::Gap => continue,
                LineKind::Added => {
                    if self.keeps(line) {
                        push(&line.text, line.missing_newline, line.after)?;
                    }
                    continue;
                }
                LineKind::Context | LineKind::Removed => {}
            }
            let index = line.before.and_then(|number| number.checked_sub(1));
            let index = index.filter(|index| *index >= next).ok_or(SelectionError::OtherContent)?;
            let until = old.get(next..=index).ok_or(SelectionError::OtherContent)?;
            let Some((this, unchanged)) = until.split_last() else { continue };
            if this.strip_suffix('\n').unwrap_or(this) != line.text {
                return Err(SelectionError::OtherContent);
            }
            for (kept, at) in unchanged.iter().zip(next..) {
                push(kept, !kept.ends_with('\n'), Some(at + 1))?;
            }
            if line.kind == LineKind::Context || !self.keeps(line) {
                push(this, !this.ends_with('\n'), line.before)?;
            }
            next = index + 1;
        }
        for (kept, at) in old.get(next..).unwrap_or_default().iter().zip(next..) {
            push(kept, !kept.ends_with('\n'), Some(at + 1))?;
        }
        Ok(text)
    }
}

/// The groups of changed lines with their context, which a gap separates.
pub fn hunks(diff: &Diff) -> impl Iterator<Item = &[DiffLine]> {
    let lines = match diff {
        Diff::Text { lines, .. } => lines.as_slice(),
        Diff::Unchanged | Diff::Binary { .. } => &[],
    };
    lines.split(|line| line.kind == LineKind::Gap).filter(|hunk| !hunk.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::run::line_diff::diff;

    fn of(before: &str, after: &str) -> Diff {
        diff(Some(before.as_bytes()), Some(after.as_bytes()))
    }

    fn lines(diff: &Diff) -> &[DiffLine] {
        match diff {
            Diff::Text { lines, .. } => lines,
            _ => &[],
        }
    }

    /// The content by hand: each line of the whole difference, which has no gaps, is taken or not.
    fn by_hand(before: &str, after: &str, deselected: &DeselectedLines) -> Vec<String> {
        let old: Vec<&str> = before.split_inclusive('\n').collect();
        let new: Vec<&str> = after.split_inclusive('\n').collect();
        let whole = of(before, after);
        let mut result = Vec::new();
        let (mut at, mut to) = (0, 0);
        let changed = lines(&whole)
            .iter()
            .filter(|it| matches!(it.kind, LineKind::Added | LineKind::Removed));
        for line in changed {
            if line.kind == LineKind::Removed {
                let number = line.before.unwrap() - 1;
                while at < number {
                    result.push(old[at].to_owned());
                    (at, to) = (at + 1, to + 1);
                }
                if deselected.removed.contains(&(number + 1)) {
                    result.push(old[at].to_owned());
                }
                at += 1;
            } else {
                let number = line.after.unwrap() - 1;
                while to < number {
                    result.push(old[at].to_owned());
                    (at, to) = (at + 1, to + 1);
                }
                if !deselected.added.contains(&(number + 1)) {
                    result.push(new[to].to_owned());
                }
                to += 1;
            }
        }
        result.extend(old[at..].iter().map(|line| (*line).to_owned()));
        result
    }

    fn text() -> impl Strategy<Value = String> {
        let line = prop_oneof!["[ab]{0,2}", Just("c\r".to_owned()), Just("é\u{202e}\t".to_owned())];
        (prop::collection::vec(line, 0..40), any::<bool>()).prop_map(|(lines, ended)| {
            let text = lines.join("\n");
            if ended && !text.is_empty() { text + "\n" } else { text }
        })
    }

    proptest! {
        #[test]
        fn a_selection_is_what_a_hand_would_make_of_it(
            before in text(),
            after in text(),
            picks in prop::collection::vec(any::<bool>(), 100),
        ) {
            let whole = of(&before, &after);
            let mut deselected = DeselectedLines::default();
            for (line, picked) in lines(&whole).iter().zip(picks.iter().cycle()) {
                deselected.set(line, *picked);
            }
            let hand = by_hand(&before, &after, &deselected);
            let is_broken = hand.iter().rev().skip(1).any(|line| !line.ends_with('\n'));
            match deselected.apply(&before, &whole) {
                Ok(text) => prop_assert_eq!(text, hand.concat()),
                Err(SelectionError::NoBreak { .. }) => prop_assert!(is_broken),
                Err(SelectionError::NoLines) => prop_assert_eq!(&before, &after),
                Err(other) => prop_assert!(false, "{other}"),
            }
        }

        #[test]
        fn all_lines_give_the_new_content_and_none_the_old(before in text(), after in text()) {
            prop_assume!(before != after);
            let whole = of(&before, &after);
            prop_assert_eq!(DeselectedLines::default().apply(&before, &whole), Ok(after));
            let none = DeselectedLines::except_hunks(&whole, &BTreeSet::new());
            prop_assert_eq!(none.apply(&before, &whole), Ok(before));
        }
    }

    #[test]
    fn hunks_are_chosen_by_their_numbers() {
        let before: String = (1..=30).map(|line| format!("{line}\n")).collect();
        let after = before.replace("\n5\n", "\nfive\n").replace("\n25\n", "\n");
        let whole = of(&before, &after);
        assert_eq!(hunks(&whole).count(), 2);
        let second = DeselectedLines::except_hunks(&whole, &BTreeSet::from([1]));
        assert_eq!(second.apply(&before, &whole).unwrap(), before.replace("\n25\n", "\n"));
    }

    #[test]
    fn no_line_follows_one_without_a_break() {
        let whole = of("a\nb", "a\nc\n");
        let mut deselected = DeselectedLines::default();
        deselected.set(&lines(&whole)[1], false);
        assert_eq!(deselected.apply("a\nb", &whole), Err(SelectionError::NoBreak { line: 2 }));
        deselected.set(&lines(&whole)[2], false);
        assert_eq!(deselected.apply("a\nb", &whole).unwrap(), "a\nb");
    }

    #[test]
    fn a_difference_of_another_content_is_refused() {
        let whole = of("a\nb\n", "a\nc\n");
        for other in ["a\n", "a\nx\n", ""] {
            let result = DeselectedLines::default().apply(other, &whole);
            assert_eq!(result, Err(SelectionError::OtherContent), "{other:?}");
        }
    }
}
