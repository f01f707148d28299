//! The results of the evidence page: more of them, how many there are, and records that a search has missed.

use super::evidence_page::{EvidencePage, PAGE};
use super::evidence_timeline::Timeline;
use super::shared::Shared;
use crate::run::{SearchCounts, SearchPage, SearchQuery};
use crate::ui::evidence::result_lines;
use crate::worker::{CountHits, IndexRecords, Search};

impl EvidencePage {
    /// Forgets what was found in the evidence that was shown before.
    pub(super) fn forget_results(&mut self) {
        self.close_answer();
        self.close_detail();
        (self.page, self.failure, self.unreadable) = (None, None, None);
        self.lines.clear();
        self.timeline = Timeline::default();
        (self.more, self.is_searching) = (0, false);
    }

    /// Shows these results, which need nothing more.
    pub(super) fn show_results(&mut self, page: SearchPage) {
        self.is_searching = false;
        // That of a question stays until it is answered.
        if self.question.is_none() {
            self.failure = None;
        }
        self.lines = result_lines(&page);
        self.page = Some(page);
    }

    /// Reads the next page of hits.
    pub(super) fn read_more(&mut self, shared: &mut Shared) {
        let Some(after) = self.page.as_ref().and_then(|page| page.next) else { return };
        if self.is_searching {
            return;
        }
        self.more += 1;
        if self.shows_team() {
            self.is_searching = self.read_more_of_team(shared);
            return;
        }
        let query = SearchQuery { limit: PAGE, after: Some(after), ..self.query.clone() };
        self.is_searching = shared.query_latest(Search(query), |app, page| match page {
            _ if app.evidence.shows_team() => {}
            Ok(Some(page)) => app.evidence.take_more(page, &mut app.shared),
            Ok(None) => {}
            Err(failed) => app.evidence.fail(failed, &mut app.shared),
        });
    }

    /// Shows more hits below the others.
    fn take_more(&mut self, more: SearchPage, shared: &mut Shared) {
        self.is_searching = false;
        let Some(page) = &mut self.page else { return };
        page.next = more.next;
        page.hits.extend(more.hits);
        let is_new = |id| !page.runs.iter().any(|run| run.run_id == id);
        let new: Vec<_> = more.runs.into_iter().filter(|run| is_new(run.run_id)).collect();
        page.runs.extend(new);
        self.lines = result_lines(page);
        // Reading them has stopped the counting.
        self.count(shared);
    }

    /// Counts the rest of the hits in the background, if there are more than the page says.
    pub(super) fn count(&self, shared: &mut Shared) {
        if self.page.as_ref().is_some_and(|page| page.counts.is_partial) {
            shared.query_latest(CountHits(self.query.clone()), |app, counts| match counts {
                Ok(Some(counts)) => app.evidence.take_counts(counts),
                Ok(None) => {}
                Err(failed) => app.shared.report(failed),
            });
        }
    }

    fn take_counts(&mut self, counts: SearchCounts) {
        if let Some(page) = self.page.as_mut().filter(|_| !self.team.is_shown()) {
            page.counts = counts;
        }
    }

    /// Indexes what a search has missed in the background, and searches again.
    pub(super) fn index(&mut self, shared: &mut Shared) {
        if self.is_indexing || self.page.as_ref().is_none_or(|page| page.not_indexed == 0) {
            return;
        }
        self.is_indexing = shared.query_latest(IndexRecords, |app, left| {
            app.evidence.is_indexing = false;
            match left {
                Ok(_) if !app.evidence.is_searching => app.evidence.refresh(&mut app.shared),
                Ok(_) => {}
                Err(failed) => app.shared.report(failed),
            }
        });
    }
}
