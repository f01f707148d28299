//! The evidence page, and the artifacts that it and the plan page show.

use std::path::PathBuf;

use uuid::Uuid;

use crate::ui::action::{ArtifactAction, EvidenceAction, Page, Saved};
use crate::ui::artifact::Shape;
use crate::ui::evidence::{self, Verification};
use crate::ui::theme::Tone;
use crate::worker::{FollowUp, Query as _, ReadContent, Reconcile, Save, Search, ToSave, Verify};

use super::super::App;
use super::super::contents::Key;

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
                self.read_execution(id);
            }
            EvidenceAction::CloseDetail => {
                self.evidence.selected = None;
                self.evidence.detail = None;
            }
            EvidenceAction::Reconcile(run_id) => self.reconcile(run_id),
            EvidenceAction::Settle(run_id, way) => self.follow_up(run_id, FollowUp::Settle(way)),
            EvidenceAction::Revert(id) => self.follow_up(id, FollowUp::Revert),
        }
    }

    pub(super) fn reconcile(&mut self, run_id: Uuid) {
        self.ask(Reconcile(run_id), move |app, found| app.take_reconciled(run_id, found));
    }

    pub(super) fn verify(&mut self) {
        self.go(Page::Evidence);
        self.evidence.verification = Verification::UnderWay;
        self.ask_latest(Verify, |app, report| match report {
            Ok(report) => app.evidence.verification = Verification::Done(report),
            Err(unanswered) => {
                app.evidence.verification = Verification::NotAsked;
                app.report(unanswered);
            }
        });
    }

    pub(super) fn apply_artifact(&mut self, action: ArtifactAction) {
        match action {
            ArtifactAction::Load { digest, shape, copy } => {
                if self.contents.ask((digest, shape), copy) {
                    self.load_content((digest, shape));
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

    fn load_content(&mut self, key: Key) {
        self.ask_each(ReadContent(key.0), move |app, content, _| match content {
            Ok(content) => {
                if let Err(error) = app.contents.arrived(key, content) {
                    let next = "Try again in a moment.";
                    app.notify(Tone::Danger, ReadContent::FAILURE, error.to_string(), next);
                }
            }
            Err(unanswered) => {
                app.contents.forget(&key);
                app.report(unanswered);
            }
        });
    }

    /// Writes a content to a file.
    pub(in super::super) fn save(&mut self, file: PathBuf, what: ToSave) {
        let saved = format!("Saved as {}.", file.display());
        self.ask_each(Save { file, what }, |app, done, _| match done {
            Ok(()) => {
                app.notify(Tone::Safe, saved, "", "");
            }
            Err(unanswered) => app.report(unanswered),
        });
    }

    /// Searches for what stands in the search box, when the page shows it.
    pub(in super::super) fn search(&mut self) {
        self.evidence.search_at_ms = None;
        if self.page != Page::Evidence {
            return;
        }
        if let Some(question) = self.evidence.question.clone() {
            self.ask_each(question.clone(), move |app, answer, latest| match answer {
                Ok(answer) if app.evidence.question.as_ref() == Some(&question) => {
                    app.evidence.answer = Some(answer);
                }
                Err(unanswered) if latest => app.report(unanswered),
                _ => {}
            });
        }
        let parsed = evidence::parse(&self.evidence.text, &self.now.zone);
        self.evidence.problems = parsed.problems;
        self.ask(Search(parsed.query), |app, page| app.evidence.page = Some(page));
    }
}

/// What is to be written to a file.
pub(in super::super) fn to_save(what: Saved) -> ToSave {
    match what {
        Saved::Text(text) => ToSave::Text(text),
        Saved::Bytes(bytes) => ToSave::Bytes(bytes),
        // A difference is kept as a JSON string.
        Saved::Kept { digest, shape } => ToSave::Kept { digest, unquoted: shape == Shape::Diff },
    }
}
