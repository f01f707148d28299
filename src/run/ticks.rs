//! The marks of a time axis, in the window and in reports. Pure.

use super::text::took;

/// The steps between two marks, in milliseconds: 1, 2 and 5 times powers of ten up to a second, then parts of minutes,
/// hours and days.
const STEPS: [i64; 31] = [
    1,
    2,
    5,
    10,
    20,
    50,
    100,
    200,
    500,
    1_000,
    2_000,
    5_000,
    10_000,
    15_000,
    30_000,
    60_000,
    120_000,
    300_000,
    600_000,
    900_000,
    1_800_000,
    3_600_000,
    7_200_000,
    10_800_000,
    21_600_000,
    43_200_000,
    86_400_000,
    172_800_000,
    604_800_000,
    1_209_600_000,
    2_592_000_000,
];

/// The places of at most `most` marks from 0 to `total_ms`, in milliseconds, without the one at 0.
pub fn ticks(total_ms: i64, most: usize) -> Vec<i64> {
    let most = i64::try_from(most.max(1)).unwrap_or(1);
    let fits = |step: &&i64| total_ms / **step <= most;
    let step = STEPS.iter().find(fits).copied().unwrap_or(total_ms / most).max(1);
    (1..=total_ms / step).map(|index| index * step).collect()
}

/// The label of a mark: `200 ms`, `5 s`, `2 min`, `3 h`, `1 d`. Marks are whole multiples of a unit or of its quarters.
pub fn tick_label(ms: i64) -> String {
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s")];
    let whole = units.into_iter().find(|(unit, _)| ms >= *unit && ms % unit == 0);
    whole.map_or_else(|| took(ms), |(unit, name)| format!("{} {name}", ms / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_few_and_round() {
        for (total, most, expected) in [
            (0, 5, &[][..]),
            (1, 5, &[1]),
            (900, 5, &[200, 400, 600, 800]),
            (61_000, 5, &[15_000, 30_000, 45_000, 60_000]),
            (7_000_000, 4, &[1_800_000, 3_600_000, 5_400_000]),
            (100, 0, &[100]),
        ] {
            assert_eq!(ticks(total, most), expected, "{total}");
        }
        for total in [1, 13, 999, 86_399_999, 1 << 40] {
            assert!(ticks(total, 6).len() <= 6, "{total}");
        }
    }

    #[test]
    fn labels_have_the_largest_whole_unit() {
        let labels = [200, 5_000, 90_000, 120_000, 10_800_000, 86_400_000].map(tick_label);
        assert_eq!(labels, ["200 ms", "5 s", "90 s", "2 min", "3 h", "1 d"]);
    }
}
