//! Searches a text for the words of several lists at once.

use std::ops::Range;

use aho_corasick::{AhoCorasick, Span, packed};

/// Searches for the words of one list, each with a value. The packed searcher gives fewer false candidates for fewer
/// words.
pub(super) struct Finder<T> {
    /// Ten times as fast as the automaton, but not available on every processor.
    packed: Option<packed::Searcher>,
    /// The automaton, if there is no packed searcher.
    automaton: Option<AhoCorasick>,
    values: Vec<T>,
}

impl<T: Copy> Finder<T> {
    /// The words of each row have the same value.
    pub(super) fn of(rows: &[(T, &[&'static str])]) -> Self {
        let words = rows.iter().flat_map(|(value, words)| words.iter().map(|word| (*word, *value)));
        let (words, values): (Vec<_>, Vec<_>) = words.unzip();
        let packed = packed::Searcher::new(&words);
        let automaton = packed.is_none().then(|| AhoCorasick::new(&words).ok()).flatten();
        Self { packed, automaton, values }
    }

    /// Whether every word is searched for, by the fast searcher where there is one.
    #[cfg(test)]
    pub(super) fn is_complete(&self) -> bool {
        let has_packed = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
        self.packed.is_some() == has_packed && (has_packed || self.automaton.is_some())
    }

    /// The first word at or after this position.
    fn next(&self, lower: &str, start: usize) -> Option<(Range<usize>, T)> {
        let found = match (&self.packed, &self.automaton) {
            (Some(packed), _) => packed.find_in(lower, Span { start, end: lower.len() }),
            (None, Some(automaton)) => {
                automaton.find(aho_corasick::Input::new(lower).range(start..lower.len()))
            }
            (None, None) => None,
        }?;
        let value = self.values.get(found.pattern().as_usize()).copied()?;
        Some((found.start()..found.end(), value))
    }
}

/// The words of these lists in a text, in order, each with its value and its range. The text must be in lower case.
pub(super) fn words<'t, T: Copy, const N: usize>(
    finders: &'t [Finder<T>; N],
    lower: &'t str,
) -> impl Iterator<Item = (T, Range<usize>)> {
    let mut next = finders.each_ref().map(|finder| finder.next(lower, 0));
    std::iter::from_fn(move || {
        let starts = next.iter().map(|found| found.as_ref().map_or(usize::MAX, |it| it.0.start));
        let (index, start) = starts.enumerate().min_by_key(|(_, start)| *start)?;
        let found = next.get_mut(index)?;
        let (range, value) = found.take()?;
        *found = finders.get(index)?.next(lower, start + 1);
        Some((value, range))
    })
}
