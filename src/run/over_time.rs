//! How often something was seen over time (SPEC §8, Q7). Pure.

use serde::Serialize;

/// The number of intervals of [`OverTime`].
const INTERVALS: usize = 24;
const DAY_MS: i64 = 86_400_000;

/// How often something was seen, in intervals of equal length.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OverTime {
    /// The start of the first interval, in Unix milliseconds.
    pub from_ms: i64,
    /// The end of the last one, exclusive.
    pub to_ms: i64,
    /// How often it was seen in each interval.
    pub counts: Vec<u64>,
}

impl OverTime {
    /// Counts what was seen at these times, each so many times, between `from_ms` and `to_ms`, both included.
    pub fn count(seen: &[(i64, u64)], from_ms: i64, to_ms: i64) -> Self {
        let length = to_ms.saturating_sub(from_ms).saturating_add(1).max(INTERVALS as i64);
        let mut counts = vec![0; INTERVALS];
        for (at_ms, times) in seen {
            let place = i128::from(at_ms.saturating_sub(from_ms)) * INTERVALS as i128;
            let place = usize::try_from(place / i128::from(length)).unwrap_or(usize::MAX);
            if let Some(count) = counts.get_mut(place) {
                *count += times;
            }
        }
        Self { from_ms, to_ms: from_ms.saturating_add(length), counts }
    }
}

/// How often something was seen that was seen this many times between two times, in words: `4 a day`, `2 a week`,
/// `1 in 3 weeks`. A few days are the least time of which a rate is said; else `None`.
pub fn rate(count: u64, first_ms: i64, last_ms: i64) -> Option<String> {
    let days = last_ms.saturating_sub(first_ms) as f64 / DAY_MS as f64;
    if days < 2.0 || count < 2 {
        return None;
    }
    let per_day = count as f64 / days;
    let per_week = per_day * 7.0;
    Some(if per_day >= 1.5 {
        format!("{per_day:.0} a day")
    } else if per_week >= 0.75 {
        format!("{per_week:.0} a week")
    } else {
        format!("1 in {:.0} weeks", (1.0 / per_week).max(2.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_is_in_its_interval() {
        let found = OverTime::count(&[(100, 1), (100, 2), (339, 1), (123, 5)], 100, 339);
        assert_eq!((found.from_ms, found.to_ms, found.counts.len()), (100, 340, 24));
        assert_eq!((found.counts[0], found.counts[2], found.counts[23]), (3, 5, 1));
        assert_eq!(found.counts.iter().sum::<u64>(), 9);
        let one = OverTime::count(&[(7, 2)], 7, 7);
        assert_eq!((one.counts[0], one.to_ms), (2, 31));
    }

    #[test]
    fn rates_have_the_unit_that_fits() {
        let days = |count, days: i64| rate(count, 0, days * DAY_MS);
        assert_eq!(days(40, 10).as_deref(), Some("4 a day"));
        assert_eq!(days(6, 21).as_deref(), Some("2 a week"));
        assert_eq!(days(3, 63).as_deref(), Some("1 in 3 weeks"));
        assert_eq!(days(2, 10).as_deref(), Some("1 a week"));
        assert_eq!(days(9, 1), None);
    }
}
