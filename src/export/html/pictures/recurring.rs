//! What occurs more than once, among more different things than can be kept. Pure.

use std::collections::BTreeMap;

/// The maximum number of different things that are kept.
const KEPT: usize = 2_000;

/// Things by their keys. When there are too many, those that were seen only once make room.
#[derive(Debug)]
pub(super) struct Kept<K, V> {
    found: BTreeMap<K, V>,
    /// Whether some were given up.
    pub(super) is_partial: bool,
}

/// Knows how often it was seen.
pub(super) trait Seen {
    fn times(&self) -> u64;
}

impl<K: Ord + Clone, V: Seen> Kept<K, V> {
    pub(super) fn new() -> Self {
        Self { found: BTreeMap::new(), is_partial: false }
    }

    /// What is kept of this thing, which is made if it is new; `None` if there is no room.
    pub(super) fn entry(&mut self, key: K, make: impl FnOnce() -> V) -> Option<&mut V> {
        if self.found.len() >= KEPT && !self.found.contains_key(&key) {
            self.is_partial = true;
            self.found.retain(|_, value| value.times() > 1);
            if self.found.len() >= KEPT {
                return None;
            }
        }
        Some(self.found.entry(key).or_insert_with(make))
    }

    /// Those that were seen more than once, the most frequent first, and how many more there are than `most`.
    pub(super) fn most_frequent(self, most: usize) -> (Vec<(K, V)>, usize) {
        let mut found: Vec<_> = self.found.into_iter().filter(|(_, it)| it.times() > 1).collect();
        // A stable sort: equally frequent ones stay in the order of their keys.
        found.sort_by_key(|(_, value)| std::cmp::Reverse(value.times()));
        let more = found.len().saturating_sub(most);
        found.truncate(most);
        (found, more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Seen for u64 {
        fn times(&self) -> u64 {
            *self
        }
    }

    #[test]
    fn what_recurs_stays_when_there_are_too_many() {
        let mut kept = Kept::new();
        for n in 0..100_000_u64 {
            for key in [n + 10, n % 3] {
                if let Some(times) = kept.entry(key, || 0) {
                    *times += 1;
                }
                assert!(kept.found.len() <= KEPT);
            }
        }
        assert!(kept.is_partial);
        let (found, more) = kept.most_frequent(2);
        assert_eq!((found, more), (vec![(0, 33_334), (1, 33_333)], 1));
    }
}
