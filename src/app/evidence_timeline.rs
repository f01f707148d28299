//! The timeline of the evidence page: which span of time it shows, and the counts in it.

use super::evidence_page::EvidencePage;
use super::shared::Shared;
use crate::run::{SearchQuery, TimeBucket};
use crate::ui::evidence::TimelineView;
use crate::worker::CountTimes;

/// The span of the timeline, and what was counted in it.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    /// The span that the person has zoomed to, in Unix milliseconds, both ends included.
    span: Option<(i64, i64)>,
    /// The counts in that span, or around the times of the search. `None` while those of the search page are shown.
    buckets: Option<Vec<TimeBucket>>,
    /// The search without its times for which `span` was chosen.
    of: SearchQuery,
}

/// The search without its times and without its page.
fn without_times(query: &SearchQuery) -> SearchQuery {
    SearchQuery { since_ms: None, until_ms: None, limit: 0, after: None, ..query.clone() }
}

impl EvidencePage {
    /// Shows another span of time.
    pub(super) fn show_times(&mut self, span: Option<(i64, i64)>, shared: &mut Shared) {
        self.timeline.span = span;
        self.count_times(shared);
    }

    /// Counts the hits in the span that is shown, unless the search page has these counts. Another search, other than for
    /// another time, is shown in its own span.
    pub(super) fn count_times(&mut self, shared: &mut Shared) {
        let query = without_times(self.query());
        if query != self.timeline.of {
            self.timeline = Timeline { of: query.clone(), ..Timeline::default() };
        }
        let span = self.timeline.span.or_else(|| around(self.query(), shared.now.ms));
        let Some((since, until)) = span else {
            self.timeline.buckets = None;
            return;
        };
        let query = SearchQuery { since_ms: Some(since), until_ms: Some(until), ..query };
        shared.query_latest(CountTimes(query), |app, buckets| match buckets {
            Ok(Some(buckets)) => app.evidence.take_times(buckets),
            // Another count has stopped this one.
            Ok(None) => {}
            Err(failed) => app.shared.report(failed),
        });
    }

    fn take_times(&mut self, buckets: Vec<TimeBucket>) {
        let ends = buckets.first().zip(buckets.last());
        let ends = ends.map(|(first, last)| (first.from_ms, last.to_ms - 1));
        // There are no records beyond these ends.
        self.timeline.span = self.timeline.span.and(ends);
        self.timeline.buckets = Some(buckets).filter(|buckets| !buckets.is_empty());
    }

    pub(super) fn timeline_view(&self) -> TimelineView<'_> {
        let counts = self.page.as_ref().map(|page| &page.counts);
        match &self.timeline.buckets {
            Some(buckets) => TimelineView { buckets, is_partial: false, span: self.timeline.span },
            None => TimelineView {
                buckets: counts.map_or(&[], |counts| &counts.timeline),
                is_partial: counts.is_some_and(|counts| counts.is_partial),
                span: self.timeline.span,
            },
        }
    }
}

/// The times of a search with as much time before and after them, so that a person sees what they leave out.
fn around(query: &SearchQuery, now_ms: i64) -> Option<(i64, i64)> {
    match (query.since_ms, query.until_ms) {
        (None, None) => None,
        (Some(since), until) => {
            let until = until.unwrap_or(now_ms).max(since);
            let length = (until - since).max(1_000);
            Some((since.saturating_sub(length), until.saturating_add(length)))
        }
        (None, Some(_)) => Some((i64::MIN, i64::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_search_leaves_out_is_around_its_times() {
        let query =
            |since_ms, until_ms| SearchQuery { since_ms, until_ms, ..SearchQuery::default() };
        assert_eq!(around(&query(None, None), 9_000), None);
        assert_eq!(around(&query(Some(5_000), Some(8_000)), 9_000), Some((2_000, 11_000)));
        assert_eq!(around(&query(Some(5_000), None), 9_000), Some((1_000, 13_000)));
        assert_eq!(around(&query(None, Some(8_000)), 9_000), Some((i64::MIN, i64::MAX)));
    }
}
