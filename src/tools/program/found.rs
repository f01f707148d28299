//! Limits the diagnostics of a step (SPEC §3).

use std::collections::HashSet;

use crate::run::MOST_DIAGNOSTICS;

/// Collects diagnostics; over the limit, errors take precedence.
#[derive(Debug)]
pub(super) struct Found<T> {
    errors: Vec<(usize, T)>,
    others: Vec<(usize, T)>,
    count: usize,
}

impl<T> Default for Found<T> {
    fn default() -> Self {
        Self { errors: Vec::new(), others: Vec::new(), count: 0 }
    }
}

impl<T> Found<T> {
    /// Adds the next diagnostic.
    pub(super) fn push(&mut self, is_error: bool, it: T) {
        let kept = if is_error { &mut self.errors } else { &mut self.others };
        if kept.len() < MOST_DIAGNOSTICS {
            kept.push((self.count, it));
        }
        self.count += 1;
    }

    /// The diagnostics within the limit, in order, and how many were left out.
    pub(super) fn finish(mut self) -> (Vec<T>, usize) {
        self.others.truncate(MOST_DIAGNOSTICS - self.errors.len());
        self.errors.append(&mut self.others);
        self.errors.sort_by_key(|(at, _)| *at);
        let left_out = self.count - self.errors.len();
        (self.errors.into_iter().map(|(_, it)| it).collect(), left_out)
    }
}

/// Removes duplicates: cargo repeats a diagnostic for each target that contains the file.
pub(super) fn once<T, K: std::hash::Hash + Eq>(items: Vec<T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut seen = HashSet::new();
    items.into_iter().filter(|item| seen.insert(key(item))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // At the limit, an error replaces a warning; the order stays.
    #[test]
    fn errors_are_kept_before_warnings_in_order() {
        let mut found = Found::default();
        for at in 0..MOST_DIAGNOSTICS + 5 {
            found.push(false, at);
        }
        found.push(true, usize::MAX);
        let (told, left_out) = found.finish();
        assert_eq!((told.len(), left_out), (MOST_DIAGNOSTICS, 6));
        assert_eq!((told[0], told[told.len() - 1]), (0, usize::MAX));
        assert_eq!(once(vec![1, 2, 1], |it| *it), [1, 2]);
    }
}
