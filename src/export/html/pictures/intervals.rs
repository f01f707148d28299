//! Counts over time, in round intervals that widen as needed. Pure.

use std::collections::BTreeMap;

/// The lengths of intervals, in milliseconds. Each is a multiple of the one before, so that counts can be added up.
const LENGTHS: [i64; 18] = [
    1,
    10,
    100,
    1_000,
    5_000,
    15_000,
    60_000,
    300_000,
    900_000,
    3_600_000,
    10_800_000,
    43_200_000,
    86_400_000,
    604_800_000,
    2_419_200_000,
    31_449_600_000,
    3_144_960_000_000,
    // Of which no time has many.
    3_144_960_000_000_000_000,
];

/// Counts in at most a number of intervals, in as little memory.
#[derive(Debug, Clone)]
pub(super) struct Intervals {
    most: i64,
    /// The index in [`LENGTHS`].
    length: usize,
    /// The counts, fine and bad ones, by the number of their interval.
    counts: BTreeMap<i64, (u64, u64)>,
}

impl Intervals {
    /// No counts yet, in at most so many intervals.
    pub(super) fn new(most: i64) -> Self {
        Self { most, length: 0, counts: BTreeMap::new() }
    }

    /// Counts something so many times.
    pub(super) fn add(&mut self, at_ms: i64, (fine, bad): (u64, u64)) {
        let count = self.counts.entry(at_ms.div_euclid(self.length_ms())).or_default();
        *count = (count.0 + fine, count.1 + bad);
        while self.ends().is_some_and(|(first, last)| last.saturating_sub(first) >= self.most)
            && self.length + 1 < LENGTHS.len()
        {
            self.widen(self.length + 1);
        }
    }

    /// Joins intervals to longer ones.
    fn widen(&mut self, length: usize) {
        let before = self.length_ms();
        self.length = length.min(LENGTHS.len() - 1).max(self.length);
        let factor = self.length_ms() / before;
        for (number, (fine, bad)) in std::mem::take(&mut self.counts) {
            let count = self.counts.entry(number.div_euclid(factor)).or_default();
            *count = (count.0 + fine, count.1 + bad);
        }
    }

    /// The same counts, in intervals at least as long as those of `other`.
    pub(super) fn with_length_of(mut self, other: &Self) -> Self {
        self.widen(other.length);
        self
    }

    /// How long an interval is, in milliseconds.
    pub(super) fn length_ms(&self) -> i64 {
        LENGTHS.get(self.length).copied().unwrap_or(1)
    }

    /// The numbers of the first and the last interval with counts.
    fn ends(&self) -> Option<(i64, i64)> {
        Some((*self.counts.first_key_value()?.0, *self.counts.last_key_value()?.0))
    }

    /// The start of the first and the end of the last interval with counts, in Unix milliseconds.
    pub(super) fn span(&self) -> Option<(i64, i64)> {
        let (first, last) = self.ends()?;
        let length = self.length_ms();
        Some((first.saturating_mul(length), last.saturating_add(1).saturating_mul(length)))
    }

    /// The intervals with counts: their start in Unix milliseconds, and what was fine and bad.
    pub(super) fn counts(&self) -> impl Iterator<Item = (i64, u64, u64)> {
        let length = self.length_ms();
        self.counts
            .iter()
            .map(move |(number, (fine, bad))| (number.saturating_mul(length), *fine, *bad))
    }

    /// The greatest count in one interval.
    pub(super) fn greatest(&self) -> u64 {
        self.counts.values().map(|(fine, bad)| fine + bad).max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_length_is_a_multiple_of_the_one_before() {
        for pair in LENGTHS.windows(2) {
            assert!(pair[1] % pair[0] == 0 && pair[1] > pair[0], "{pair:?}");
        }
    }

    #[test]
    fn intervals_widen_and_lose_nothing() {
        let mut times: Vec<i64> = (0..1_000).map(|n| 1_700_000_000_000 + n * n * 37).collect();
        let of = |times: &[i64]| {
            let mut intervals = Intervals::new(96);
            times.iter().for_each(|at| intervals.add(*at, (1, u64::from(at % 2 == 0))));
            intervals
        };
        let found = of(&times);
        let counts: Vec<_> = found.counts().collect();
        assert!(counts.len() <= 96, "{}", counts.len());
        assert_eq!(found.length_ms(), 900_000);
        assert_eq!(counts.iter().map(|(_, fine, _)| fine).sum::<u64>(), 1_000);
        assert_eq!(counts.iter().map(|(.., bad)| bad).sum::<u64>(), 500);
        let (from, to) = found.span().unwrap();
        assert!(times.iter().all(|at| (from..to).contains(at)));
        // The order does not matter.
        times.reverse();
        assert_eq!(of(&times).counts().collect::<Vec<_>>(), counts);
    }

    #[test]
    fn times_outside_of_any_calendar_are_counted() {
        let mut intervals = Intervals::new(24);
        for at in [i64::MIN, -1, 0, i64::MAX] {
            intervals.add(at, (1, 0));
        }
        assert_eq!(intervals.counts().map(|(_, fine, _)| fine).sum::<u64>(), 4);
        assert!(intervals.counts().count() <= 24 && intervals.span().is_some());
    }
}
