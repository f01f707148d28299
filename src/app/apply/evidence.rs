//! The evidence page, and the artifacts that it and the plan page show.

use crate::ui::action::{ArtifactAction, EvidenceAction, Page, Saved};
use crate::ui::artifact::Shape;
use crate::ui::evidence;
use crate::ui::theme::Tone;
use crate::worker::{Request, ToSave};

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
            }
            EvidenceAction::Reconcile(run_id) => {
                self.ask(Request::Reconcile { run_id }, Purpose::Reconcile);
            }
            EvidenceAction::Settle(run_id, way) => {
                self.ask(Request::Settle { run_id, way }, Purpose::FollowUp);
            }
            EvidenceAction::Revert(id) => self.ask(Request::Revert { id }, Purpose::FollowUp),
        }
    }

    pub(super) fn apply_artifact(&mut self, action: ArtifactAction) {
        match action {
            ArtifactAction::Load { digest, shape, copy } => {
                if self.contents.ask((digest, shape), copy) {
                    self.ask(Request::Blob(digest), Purpose::Blob(digest, shape));
                }
            }
            ArtifactAction::Save { name, what } => {
                if let Err(error) = self.picked.save(name, to_save(what)) {
                    let next = "Copy it instead.";
                    let summary = "The file picker cannot be opened.";
                    self.notify(Tone::Danger, summary, error.to_string(), next);
                }
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

/// What the desk is to write.
pub(in super::super) fn to_save(what: Saved) -> ToSave {
    match what {
        Saved::Text(text) => ToSave::Text(text),
        Saved::Bytes(bytes) => ToSave::Bytes(bytes),
        // A difference is kept as a JSON string.
        Saved::Kept { digest, shape } => ToSave::Kept { digest, unquoted: shape == Shape::Diff },
    }
}
