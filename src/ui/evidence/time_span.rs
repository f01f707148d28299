//! The span of time that the timeline shows, and the bars that a person marks in it. Pure.

use crate::run::TimeBucket;

/// The shortest span that the timeline shows, in milliseconds.
const SHORTEST: i64 = 60_000;
/// How much of the span one step of zooming leaves.
pub(super) const ZOOM: f64 = 0.6;

/// A span of time in Unix milliseconds, on an axis of some width in points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TimeAxis {
    pub(super) from_ms: i64,
    /// The end, exclusive.
    pub(super) to_ms: i64,
    pub(super) left: f32,
    pub(super) width: f32,
}

impl TimeAxis {
    /// The place of a time, in points.
    pub(super) fn x(&self, ms: i64) -> f32 {
        let share = ms.saturating_sub(self.from_ms) as f64 / self.length() as f64;
        self.left + (share * f64::from(self.width)) as f32
    }

    /// The time at a place, inside the span.
    pub(super) fn time(&self, x: f32) -> i64 {
        let share = f64::from((x - self.left) / self.width.max(1.0)).clamp(0.0, 1.0);
        self.from_ms + (share * self.length() as f64) as i64
    }

    fn length(&self) -> i64 {
        self.to_ms.saturating_sub(self.from_ms).max(1)
    }

    /// The span, both ends included, that is this many times as long, with `pivot_ms` at the same place.
    pub(super) fn zoomed(&self, pivot_ms: i64, factor: f64) -> (i64, i64) {
        let length = ((self.length() as f64 * factor) as i64).max(SHORTEST);
        let before = (pivot_ms - self.from_ms) as f64 / self.length() as f64;
        let from = pivot_ms - (before.clamp(0.0, 1.0) * length as f64) as i64;
        (from, from + length - 1)
    }

    /// The span, both ends included, moved by this share of its length.
    pub(super) fn moved(&self, share: f64) -> (i64, i64) {
        let by = (self.length() as f64 * share) as i64;
        (self.from_ms + by, self.to_ms + by - 1)
    }
}

/// The bars from one place to another, as the times from the start of the first to the end of the last.
pub(super) fn snapped(buckets: &[TimeBucket], one_ms: i64, other_ms: i64) -> Option<(i64, i64)> {
    let (from, to) = (one_ms.min(other_ms), one_ms.max(other_ms));
    let mut hit = buckets.iter().filter(|it| it.to_ms > from && it.from_ms <= to);
    let first = hit.next()?;
    let last = hit.next_back().unwrap_or(first);
    Some((first.from_ms, last.to_ms))
}

/// The bars that the keys have marked, by their indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Marked {
    /// Where marking began.
    pub(super) anchor: usize,
    /// The bar that the arrow keys move.
    pub(super) head: usize,
}

impl Marked {
    /// The bars after a move of the head. With `extend`, the bars from the anchor on are marked.
    pub(super) fn moved(marked: Option<Self>, by: isize, extend: bool, count: usize) -> Self {
        let last = count.saturating_sub(1);
        let Some(marked) = marked else {
            let at = if by < 0 { last } else { 0 };
            return Self { anchor: at, head: at };
        };
        let head = marked.head.saturating_add_signed(by).min(last);
        Self { anchor: if extend { marked.anchor.min(last) } else { head }, head }
    }

    /// The times of the marked bars; `None` if there are no such bars any more.
    pub(super) fn times(self, buckets: &[TimeBucket]) -> Option<(i64, i64)> {
        let (one, other) = (buckets.get(self.anchor)?, buckets.get(self.head)?);
        Some((one.from_ms.min(other.from_ms), one.to_ms.max(other.to_ms)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AXIS: TimeAxis =
        TimeAxis { from_ms: 1_000_000, to_ms: 2_000_000, left: 50.0, width: 200.0 };

    fn buckets() -> Vec<TimeBucket> {
        let bucket = |n: i64| TimeBucket { from_ms: n * 10, to_ms: (n + 1) * 10, fine: 1, bad: 0 };
        (0..5).map(bucket).collect()
    }

    #[test]
    fn places_and_times_correspond() {
        assert_eq!(AXIS.x(1_500_000), 150.0);
        assert_eq!(AXIS.time(150.0), 1_500_000);
        assert_eq!([AXIS.time(0.0), AXIS.time(900.0)], [1_000_000, 2_000_000]);
    }

    #[test]
    fn zooming_keeps_the_place_of_the_pointer() {
        let (from, to) = AXIS.zoomed(1_500_000, 0.5);
        assert_eq!((from, to), (1_250_000, 1_749_999));
        assert_eq!(AXIS.zoomed(1_000_000, 2.0), (1_000_000, 2_999_999));
        let (from, to) = AXIS.zoomed(1_999_999, 1e-9);
        assert_eq!(to - from + 1, SHORTEST);
        assert_eq!(AXIS.moved(0.25), (1_250_000, 2_249_999));
    }

    #[test]
    fn a_drag_covers_whole_bars() {
        let buckets = buckets();
        assert_eq!(snapped(&buckets, 12, 27), Some((10, 30)));
        assert_eq!(snapped(&buckets, 27, 12), Some((10, 30)));
        assert_eq!(snapped(&buckets, 44, 44), Some((40, 50)));
        assert_eq!(snapped(&buckets, 60, 70), None);
    }

    #[test]
    fn keys_mark_bars() {
        let buckets = buckets();
        let first = Marked::moved(None, 1, false, 5);
        assert_eq!(first.times(&buckets), Some((0, 10)));
        let moved = Marked::moved(Some(first), 2, false, 5);
        let wider = Marked::moved(Some(moved), -1, true, 5);
        assert_eq!(wider.times(&buckets), Some((10, 30)));
        assert_eq!(Marked::moved(Some(moved), 9, false, 5).head, 4);
        assert_eq!(Marked::moved(None, -1, false, 5).head, 4);
        assert_eq!(wider.times(&[]), None);
    }
}
