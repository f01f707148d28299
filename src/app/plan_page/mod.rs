//! The plan page: the shown plan, the one whose run is under way, and the lists of recent plans and runs.

mod actions;
mod attempt;
mod host;
mod run;
mod session;
mod step_pane;
mod view;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::pending::Unanswered;
use super::shared::{Prompt, Shared};
use super::watch::Watch;
use crate::authorization::{Change, Grants};
use crate::plan::Digest;
use crate::run::{Review, RunSummary};
use crate::ui::action::Page;
use crate::ui::format::counted;
use crate::ui::plan::{Approval, RecentPlan};
use crate::ui::theme::Tone;
use crate::worker::{OpenPlan, OpenedPlan, Wake};
pub(super) use session::PlanSession;

/// The maximum number of recent plans; older ones are dropped.
const RECENT: usize = 12;

/// The state of the page.
pub(super) struct PlanPage {
    pub(super) shown: Option<PlanSession>,
    /// The session whose run is under way or for which a loop waits, while the page shows another one.
    pub(super) live: Option<PlanSession>,
    pub(super) recent: Vec<RecentPlan>,
    pub(super) runs: Vec<RunSummary>,
    /// The digest of the plan to authorize once it has been reviewed again.
    to_authorize: Option<Digest>,
    /// The notice about a void approval. It is removed when the next decision has been recorded.
    void_notice: Option<u64>,
    /// The notice that a connection to the host is being tried.
    trying: Option<u64>,
    watch: Watch,
}

impl PlanPage {
    pub(super) fn new(recent: Vec<RecentPlan>, wake: Wake) -> Self {
        Self {
            shown: None,
            live: None,
            recent,
            runs: Vec::new(),
            to_authorize: None,
            void_notice: None,
            trying: None,
            watch: Watch::new(wake),
        }
    }

    fn sessions(&self) -> impl Iterator<Item = &PlanSession> {
        [&self.shown, &self.live].into_iter().flatten()
    }

    fn sessions_mut(&mut self) -> impl Iterator<Item = &mut PlanSession> {
        [&mut self.shown, &mut self.live].into_iter().flatten()
    }

    /// The session whose run is under way, shown or not.
    pub(super) fn running(&self) -> Option<&PlanSession> {
        self.sessions().find(|session| session.run.is_active())
    }

    pub(super) fn running_mut(&mut self) -> Option<&mut PlanSession> {
        self.sessions_mut().find(|session| session.run.is_active())
    }

    /// The session whose plan awaits a decision in a loop.
    pub(super) fn waiting_attempt(&self) -> Option<&PlanSession> {
        self.sessions().find(|session| session.waits())
    }

    /// The review of the plan on the page.
    pub(super) fn review(&self) -> Option<&Review> {
        self.shown.as_ref()?.opened.review.as_deref()
    }

    /// Reads and reviews a plan file.
    pub(super) fn open(path: PathBuf, workspace: Option<PathBuf>, shared: &mut Shared) {
        let path = std::path::absolute(&path).unwrap_or(path);
        let query = OpenPlan { path, workspace: workspace.clone(), grants: Grants::default() };
        shared.ask_latest(query, |app, opened| app.opened(opened, workspace));
    }

    /// Reads and reviews the file of the shown plan again. Without `always`, does nothing while its run is under way.
    pub(super) fn review_again(&self, always: bool, shared: &mut Shared) {
        let Some(session) = &self.shown else { return };
        let Some(path) = session.path().map(Path::to_path_buf) else { return };
        if session.run.is_active() && !always {
            return;
        }
        let (workspace, grants) = (session.workspace.clone(), session.grants.clone());
        shared.ask_latest(OpenPlan { path, workspace, grants }, |app, opened| match opened {
            Ok(opened) => app.plan.take_review(opened, &mut app.shared),
            Err(unanswered) => app.plan.not_opened(unanswered, &mut app.shared),
        });
    }

    pub(super) fn not_opened(&mut self, unanswered: Unanswered, shared: &mut Shared) {
        self.to_authorize = None;
        shared.report(unanswered);
    }

    /// Shows a plan that was opened, and adds it to the recent ones.
    pub(super) fn show_opened(
        &mut self,
        opened: OpenedPlan,
        workspace: Option<PathBuf>,
        shared: &mut Shared,
    ) {
        if let Some(plan) = &opened.plan {
            let (path, name) = (opened.path.clone(), plan.name().to_owned());
            self.recent.retain(|other| other.path != path);
            let detail = counted(plan.steps.len(), "step");
            self.recent.insert(0, RecentPlan { path, name, detail });
            self.recent.truncate(RECENT);
        }
        let wanted = self.to_authorize.take();
        self.show(PlanSession::opened(opened, workspace), shared);
        self.authorize_if(wanted, shared);
    }

    /// Opens the question whether to authorize the shown plan, if its digest is `wanted`.
    fn authorize_if(&self, wanted: Option<Digest>, shared: &mut Shared) {
        let Some((wanted, session)) = wanted.zip(self.shown.as_ref()) else { return };
        if session.opened.digest != wanted {
            shared.notify(
                Tone::Caution,
                "The plan file has changed since that run.",
                format!("Its digest was {wanted} and is {} now.", session.opened.digest),
                "Look at the steps as they are now, then authorize them.",
            );
        } else if session.not_authorizable().is_none() {
            shared.show_prompt(Some(Prompt::Authorize));
        }
    }

    /// Shows a session. The session before it is kept as `live` if its run is under way or a loop waits for it.
    pub(super) fn show(&mut self, mut session: PlanSession, shared: &mut Shared) {
        session.pane.previews.forget_missing();
        session.pane.executions.forget_missing();
        self.to_authorize = None;
        shared.try_again();
        let before = self.shown.replace(session);
        if let Some(before) = before.filter(PlanSession::is_kept) {
            self.live = Some(before);
        }
        shared.page = Page::Plan;
        if shared.prompt != Some(Prompt::Close) {
            shared.prompt = None;
        }
        self.watch_files(shared);
    }

    /// Shows the session in `live` if it is the wanted one. Returns whether it was.
    fn show_live(
        &mut self,
        is_wanted: impl FnOnce(&PlanSession) -> bool,
        shared: &mut Shared,
    ) -> bool {
        let live = self.live.take_if(|live| is_wanted(live));
        let found = live.is_some();
        if let Some(live) = live {
            self.show(live, shared);
        }
        found
    }

    fn take_review(&mut self, opened: OpenedPlan, shared: &mut Shared) {
        let Some(session) = &mut self.shown else { return };
        if session.path() != Some(&*opened.path) || session.run.is_active() {
            return;
        }
        let ran = session.run.is_over() && session.opened.digest != opened.digest;
        let was_approved = matches!(session.approval, Approval::Approved { .. });
        let changes = session.reviewed(opened);
        self.tell_changes(&changes, ran, was_approved, shared);
        let wanted = self.to_authorize.take();
        self.authorize_if(wanted, shared);
        self.watch_files(shared);
    }

    fn tell_changes(&mut self, changes: &[Change], ran: bool, approved: bool, shared: &mut Shared) {
        let Some(first) = changes.first().map(|change| &change.what) else { return };
        let all: Vec<_> = changes.iter().map(ToString::to_string).collect();
        let all = all.join("\n");
        if ran {
            shared.notify(
                Tone::Caution,
                "The plan file has changed since its run.",
                all,
                "The page shows the file as it is now. What ran is in the list of runs.",
            );
        } else if shared.close_prompt(&Prompt::ABOUT_PLAN) {
            shared.notify(
                Tone::Caution,
                format!("Changed while you were reading: {first}."),
                all,
                "Look at the steps again, then answer.",
            );
        } else if approved {
            self.void_notice = Some(shared.notify(
                Tone::Caution,
                format!("The authorization is void. Changed since: {first}."),
                all,
                "Look at the steps again, then authorize again.",
            ));
        }
    }

    /// Watches the file of the shown plan and the files that an approval of it would cover.
    fn watch_files(&mut self, shared: &mut Shared) {
        let mut files = BTreeSet::new();
        if let Some(session) = &self.shown {
            files.extend(session.path().map(Path::to_path_buf));
            if let Some(review) = &session.opened.review {
                let inputs = review.binding.inputs.keys();
                files.extend(inputs.map(|path| review.workspace.join(path)));
            }
        }
        let files: BTreeSet<PathBuf> =
            files.into_iter().map(|file| std::path::absolute(&file).unwrap_or(file)).collect();
        if let Err(error) = self.watch.files(files) {
            shared.notify(
                Tone::Caution,
                "Changes on disk are not noticed at once.",
                error.to_string(),
                "They are still found before anything runs.",
            );
        }
    }

    /// Reviews again if a watched file has changed and the debounce time is over; otherwise returns the milliseconds
    /// left. `None` if nothing has changed.
    pub(super) fn review_when_due(&mut self, shared: &mut Shared) -> Option<i64> {
        let left = self.watch.due_in(shared.now.ms)?;
        if left > 0 {
            return Some(left);
        }
        if self.running().is_none() {
            self.watch.settle();
            self.review_again(false, shared);
        }
        None
    }
}
