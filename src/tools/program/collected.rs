//! Collects the diagnostics of a step up to a limit (SPEC §3).

use std::collections::HashSet;

use crate::run::MAX_DIAGNOSTICS;

/// Collects diagnostics up to [`MAX_DIAGNOSTICS`]. Errors take precedence over others.
#[derive(Debug)]
pub(super) struct Collected<T> {
    /// Each diagnostic with its index among all.
    errors: Vec<(usize, T)>,
    others: Vec<(usize, T)>,
    /// The number of diagnostics so far, including those that are left out.
    count: usize,
}

impl<T> Default for Collected<T> {
    fn default() -> Self {
        Self { errors: Vec::new(), others: Vec::new(), count: 0 }
    }
}

impl<T> Collected<T> {
    /// Adds the next diagnostic.
    pub(super) fn push(&mut self, is_error: bool, diagnostic: T) {
        let kept = if is_error { &mut self.errors } else { &mut self.others };
        if kept.len() < MAX_DIAGNOSTICS {
            kept.push((self.count, diagnostic));
        }
        self.count += 1;
    }

    /// The diagnostics within the limit, in order, and the number of those left out.
    pub(super) fn finish(mut self) -> (Vec<T>, usize) {
        self.others.truncate(MAX_DIAGNOSTICS - self.errors.len());
        self.errors.append(&mut self.others);
        self.errors.sort_by_key(|(index, _)| *index);
        let left_out = self.count - self.errors.len();
        (self.errors.into_iter().map(|(_, diagnostic)| diagnostic).collect(), left_out)
    }
}

/// Removes duplicates: cargo repeats a diagnostic for each target that contains the file.
pub(super) fn without_duplicates<T, K: std::hash::Hash + Eq>(
    items: Vec<T>,
    key: impl Fn(&T) -> K,
) -> Vec<T> {
    let mut seen = HashSet::new();
    items.into_iter().filter(|item| seen.insert(key(item))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Over the limit an error takes the place of a warning, and the order stays.
    #[test]
    fn errors_are_kept_before_warnings_in_order() {
        let mut collected = Collected::default();
        for index in 0..MAX_DIAGNOSTICS + 5 {
            collected.push(false, index);
        }
        collected.push(true, usize::MAX);
        let (kept, left_out) = collected.finish();
        assert_eq!((kept.len(), left_out), (MAX_DIAGNOSTICS, 6));
        assert_eq!((kept[0], kept[kept.len() - 1]), (0, usize::MAX));
        assert_eq!(without_duplicates(vec![1, 2, 1], |item| *item), [1, 2]);
    }
}
