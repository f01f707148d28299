//! Takes in plans that were opened or looked at again, and puts them on the page.

use std::collections::BTreeSet;
use std::path::PathBuf;

use uuid::Uuid;

use super::session::PlanSession;
use super::{App, Prompt};
use crate::plan::Digest;
use crate::run::Reconciled;
use crate::ui::action::Page;
use crate::ui::plan::{Approval, RecentPlan};
use crate::ui::theme::Tone;
use crate::worker::OpenedPlan;

/// How many plans the list of recent ones keeps.
const RECENT: usize = 12;

impl App {
    pub(super) fn show_opened(&mut self, opened: OpenedPlan, workspace: Option<PathBuf>) {
        if let Some(plan) = &opened.plan {
            let detail = crate::ui::format::counted(plan.steps.len(), "step");
            let recent =
                RecentPlan { path: opened.path.clone(), name: plan.name().to_owned(), detail };
            self.recent.retain(|other| other.path != recent.path);
            self.recent.insert(0, recent);
            self.recent.truncate(RECENT);
            self.save_settings();
        }
        let wanted = self.to_authorize.take();
        self.show_session(PlanSession::opened(opened, workspace));
        self.authorize_if(wanted);
    }

    /// Opens the question about the plan that is shown, when it is the one that was wanted.
    fn authorize_if(&mut self, wanted: Option<Digest>) {
        let Some((wanted, session)) = wanted.zip(self.shown.as_ref()) else { return };
        if session.digest != wanted {
            self.notify(
                Tone::Caution,
                "The plan file is no longer the one of that run.",
                format!("It was {wanted} and is {} now.", session.digest),
                "Look at the steps as they are now, then authorize them.",
            );
        } else if session.not_authorizable().is_none() {
            self.show_prompt(Some(Prompt::Authorize));
        }
    }

    pub(super) fn take_reconciled(&mut self, run_id: Uuid, found: Vec<Reconciled>) {
        if found.is_empty() {
            self.notify(
                Tone::Accent,
                "No step of this run was interrupted.",
                "Every step that had begun has a record.",
                "",
            );
        }
        self.reconciled.insert(run_id, found);
        // What was found is a decision in the record that may be open.
        if let Some(detail) = self.evidence.detail.as_ref().filter(|it| it.row.run_id == run_id) {
            self.read_execution(detail.row.execution_id);
        }
    }

    /// Puts a session on the page; one whose run is under way stays behind it.
    pub(super) fn show_session(&mut self, mut session: PlanSession) {
        session.previews.forget_missing();
        session.executions.forget_missing();
        self.to_authorize = None;
        self.try_again();
        let before = self.shown.replace(session);
        if let Some(before) = before.filter(PlanSession::is_kept) {
            self.live = Some(before);
        }
        self.page = Page::Plan;
        if self.prompt != Some(Prompt::Close) {
            self.prompt = None;
        }
        self.watch_files();
    }

    pub(super) fn take_review(&mut self, opened: OpenedPlan) {
        let Some(session) = &mut self.shown else { return };
        if session.path.as_ref() != Some(&opened.path) || session.run.is_active() {
            return;
        }
        let ran = session.run.is_over() && session.digest != opened.digest;
        let was_approved = matches!(session.approval, Approval::Approved { .. });
        let changes = session.reviewed(opened);
        let first = changes.first().map(|change| change.what.clone());
        let all: Vec<_> = changes.iter().map(ToString::to_string).collect();
        if ran {
            self.notify(
                Tone::Caution,
                "The plan file has changed since its run.",
                all.join("\n"),
                "The page shows the file as it is now. What ran stands in the list of runs.",
            );
        } else if let Some(first) = first {
            if matches!(self.prompt, Some(Prompt::Authorize | Prompt::Reject | Prompt::Trust)) {
                self.prompt = None;
                self.notify(
                    Tone::Caution,
                    format!("Changed while you were reading: {first}."),
                    all.join("\n"),
                    "Look at the steps again, then answer.",
                );
            } else if was_approved {
                let id = self.notify(
                    Tone::Caution,
                    format!("The approval is void. Changed since: {first}."),
                    all.join("\n"),
                    "Look at the steps again, then authorize again.",
                );
                self.void_notice = Some(id);
            }
        }
        let wanted = self.to_authorize.take();
        self.authorize_if(wanted);
        self.watch_files();
    }

    pub(super) fn watch_files(&mut self) {
        let mut files = BTreeSet::new();
        if let Some(session) = &self.shown {
            files.extend(session.path.clone());
            if let Some(review) = &session.review {
                let inputs = review.binding.inputs.keys();
                files.extend(inputs.map(|path| review.workspace.join(path)));
            }
        }
        let files: BTreeSet<PathBuf> =
            files.into_iter().map(|file| std::path::absolute(&file).unwrap_or(file)).collect();
        if let Err(error) = self.watch.files(files) {
            self.notify(
                Tone::Caution,
                "Changes on disk are not noticed at once.",
                error.to_string(),
                "They are still found before anything runs.",
            );
        }
    }
}
