//! The evidence page.

use crate::ui::action::{EvidenceAction, Page};
use crate::ui::evidence;
use crate::worker::Request;

use super::super::App;
use super::super::purpose::Purpose;

/// How long typing pauses before a search begins, in milliseconds.
const TYPING_MS: i64 = 150;

impl App {
    pub(super) fn apply_evidence(&mut self, action: EvidenceAction) {
        match action {
            EvidenceAction::Edit(text) => {
                self.evidence.text = text;
                self.evidence.close_answer();
                self.evidence.search_at_ms = Some(self.now.ms + TYPING_MS);
            }
            EvidenceAction::Search(text) => {
                self.evidence.text = text;
                self.evidence.close_answer();
                self.page = Page::Evidence;
                self.search();
            }
            EvidenceAction::Ask(question) => {
                self.evidence.close_answer();
                self.evidence.question = Some(question);
                self.go(Page::Evidence);
            }
            EvidenceAction::CloseAnswer => self.evidence.close_answer(),
            EvidenceAction::Open(id) => {
                self.evidence.selected = Some(id);
                self.evidence.detail = None;
                self.ask(Request::Execution(id), Purpose::Execution(id));
            }
            EvidenceAction::CloseDetail => {
                self.evidence.selected = None;
                self.evidence.detail = None;
                self.evidence.blobs.clear();
            }
            EvidenceAction::LoadBlob(digest) => {
                self.ask(Request::Blob(digest), Purpose::Blob);
            }
            EvidenceAction::Reconcile(run_id) => {
                self.ask(Request::Reconcile { run_id }, Purpose::Reconcile);
            }
        }
    }

    /// Searches for what stands in the search box, when the page shows it.
    pub(in super::super) fn search(&mut self) {
        self.evidence.search_at_ms = None;
        if self.page != Page::Evidence {
            return;
        }
        if let Some(question) = self.evidence.question.clone() {
            self.ask(Request::Ask(question.clone()), Purpose::Ask(question));
        }
        let parsed = evidence::parse(&self.evidence.text, &self.now.zone);
        self.evidence.problems = parsed.problems;
        self.ask(Request::Search(Box::new(parsed.query)), Purpose::Search);
    }
}
