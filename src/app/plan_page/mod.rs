//! The plan page: the shown plan, the plan whose run is under way, and the lists of recent plans and runs.

mod actions;
mod approval;
mod attempt;
mod authorizing;
mod calls;
mod choices;
mod ended_run;
mod host;
mod inputs;
mod open_plans;
mod previews;
mod question;
mod queue;
mod recorded;
mod reviews;
mod revising;
mod run;
mod save_plan;
mod seen;
mod session;
mod step_list;
mod step_pane;
mod terminal;
mod view;

pub use view::changed_files;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::pending::FailedQuery;
use super::shared::{Prompt, Shared};
use super::watch::Watch;
use crate::authorization::{Change, PlanAuthorization};
use crate::plan::{Digest, drawable};
use crate::run::{Review, RunSummary};
use crate::ui::notice::Scope;
use crate::ui::plan::{Approval, MustSee, RecentPlan};
use crate::ui::{Page, Tone};
use crate::worker::calls::{CallRun, Watched};
use crate::worker::{Clock as _, GivenSignature, OpenedPlan, ReviewPlan, SystemClock, Wake};
pub(super) use choices::Chosen;
use seen::LeftPlan;
pub(super) use session::PlanSession;

/// The state of the page.
pub(super) struct PlanPage {
    pub(super) shown: Option<PlanSession>,
    /// The live session (see [`PlanSession::is_live`]), while the page shows another one.
    pub(super) live: Option<PlanSession>,
    /// The unused approvals of plan files that are not on the page, by path.
    set_aside: BTreeMap<PathBuf, PlanAuthorization>,
    /// What was looked at and chosen of the plan files that are not on the page, by path.
    left: BTreeMap<PathBuf, LeftPlan>,
    /// The plan files that are open in this window.
    open_files: Vec<open_plans::OpenFile>,
    /// The authorized plans that wait for the worker.
    queue: queue::Queue,
    /// The runs that agents wait for and that have not begun, by the files of their plans.
    orders: BTreeMap<PathBuf, CallRun>,
    /// The calls of agents that were authorized and are not run, with the reasons, until the window has noted them.
    refused_calls: Vec<(PathBuf, String)>,
    /// The run under way, if an agent waits for it.
    pub(super) call_run: Option<Watched>,
    /// The recent plans, the latest first after those that are pinned.
    pub(super) recent: Vec<RecentPlan>,
    /// The same plans in the order in which this window lists them.
    pub(super) listed: Vec<RecentPlan>,
    pub(super) runs: Vec<RunSummary>,
    /// The answers of other persons that were opened in this window, by the digest of their plan.
    given: BTreeMap<Digest, Vec<Arc<GivenSignature>>>,
    /// The steps that must be looked at before a plan can be authorized.
    must_see: MustSee,
    /// The digest of the plan whose authorization dialog opens after the next review.
    to_authorize: Option<Digest>,
    /// Whether the person was told that closing the window drops what was typed for an argument.
    told_of_edits: bool,
    /// The notice about the attempt to connect to a host, while it is under way.
    host_notice: Option<u64>,
    /// Whether a terminal was opened since the last frame.
    pub(super) opened_terminal: bool,
    watch: Watch,
}

/// What a change of the shown plan or of its inputs concerns, besides an open dialog about the plan.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Concerned {
    /// A run of the plan that is over; the plan file is another one now.
    Run,
    /// An authorization that can still be used.
    Authorization,
    /// The plan file alone.
    Plan,
    Dialog,
}

impl PlanPage {
    pub(super) fn new(recent: Vec<RecentPlan>, must_see: MustSee, wake: Wake) -> Self {
        Self {
            shown: None,
            live: None,
            set_aside: BTreeMap::new(),
            left: BTreeMap::new(),
            open_files: Vec::new(),
            queue: queue::Queue::default(),
            orders: BTreeMap::new(),
            refused_calls: Vec::new(),
            call_run: None,
            listed: recent.clone(),
            recent,
            runs: Vec::new(),
            given: BTreeMap::new(),
            must_see,
            to_authorize: None,
            opened_terminal: false,
            host_notice: None,
            told_of_edits: false,
            watch: Watch::new(wake),
        }
    }

    pub(super) fn sessions(&self) -> impl Iterator<Item = &PlanSession> {
        [&self.shown, &self.live].into_iter().flatten()
    }

    fn sessions_mut(&mut self) -> impl Iterator<Item = &mut PlanSession> {
        [&mut self.shown, &mut self.live].into_iter().flatten()
    }

    /// The session whose run is under way in this window, whether it is shown or not.
    pub(super) fn running(&self) -> Option<&PlanSession> {
        self.sessions().find(|session| session.runs_here())
    }

    pub(super) fn running_mut(&mut self) -> Option<&mut PlanSession> {
        self.sessions_mut().find(|session| session.runs_here())
    }

    /// The session of the attempt whose plan awaits a decision.
    pub(super) fn awaiting_attempt(&self) -> Option<&PlanSession> {
        self.sessions().find(|session| session.awaits_decision())
    }

    /// The review of the plan on the page.
    pub(super) fn review(&self) -> Option<&Review> {
        self.shown.as_ref()?.opened.review.as_deref()
    }

    /// Reads, reviews and shows a plan file, with what the person has chosen for it.
    pub(super) fn open(&self, path: PathBuf, workspace: Option<PathBuf>, shared: &mut Shared) {
        let path = std::path::absolute(&path).unwrap_or(path);
        let mut chosen = self.chosen_for(&path);
        chosen.workspace = workspace.or(chosen.workspace);
        let query = chosen.clone().query(path);
        shared.query_latest(query, |app, opened| app.show_opened(opened, chosen));
    }

    /// Reads and reviews the file of the shown plan again, if it has one. Without `always`, does nothing while its run
    /// is under way.
    pub(super) fn review_again(&self, always: bool, shared: &mut Shared) {
        let Some(session) = &self.shown else { return };
        let Some(path) = session.path().map(Path::to_path_buf) else { return };
        if session.run.is_active() && !always {
            return;
        }
        let query = ReviewPlan(session.chosen().query(path));
        shared.query_latest(query, |app, opened| match opened {
            Ok(opened) => {
                app.note_edited(&opened);
                app.plan.take_review(opened, &mut app.shared);
            }
            // The person has opened another plan meanwhile.
            Err(failed) if failed.is_cancelled() => {}
            Err(failed) => app.plan.open_failed(failed, &mut app.shared),
        });
    }

    /// Reports that a plan could not be opened or reviewed.
    pub(super) fn open_failed(&mut self, failed: FailedQuery, shared: &mut Shared) {
        self.to_authorize = None;
        shared.report(failed);
    }

    /// Shows a plan that was opened.
    pub(super) fn show_opened(&mut self, opened: OpenedPlan, chosen: Chosen, shared: &mut Shared) {
        if let Some(given) = opened.signature {
            return self.take_given(given, shared);
        }
        let wanted = self.to_authorize.take();
        let Chosen { workspace, mut choices, version } = chosen;
        choices.end_with_version(version, opened.digest);
        let session = PlanSession::from_opened(opened, workspace);
        self.show(PlanSession { choices, ..session }, shared);
        self.open_authorization_if(wanted, shared);
    }

    /// Opens the authorization dialog if the shown plan has the digest `wanted` and can be authorized. If it has
    /// another digest, shows a notice that the file has changed. If steps must be looked at first, shows the next one.
    fn open_authorization_if(&mut self, wanted: Option<Digest>, shared: &mut Shared) {
        let Some((wanted, session)) = wanted.zip(self.shown.as_ref()) else { return };
        if session.opened.digest != wanted {
            shared.notify_in(
                Scope::Change,
                Tone::Caution,
                "The plan file has changed since the run that you want to repeat.",
                format!("Its digest was {wanted} and is {} now.", session.opened.digest),
                "Review the steps, then authorize the plan.",
            );
        } else if session.not_authorizable().is_none() {
            // The person may type in a dialog that was opened meanwhile. Then only the plan is shown.
            let is_free =
                shared.prompt.is_none() && shared.secrets.is_empty() && self.request().is_none();
            if is_free {
                shared.show_prompt(Some(Prompt::Authorize));
            }
        } else if session.must_look_first() {
            // The steps of a plan that was just opened begin at their tops.
            let _ = self.select_unseen();
        }
    }

    /// Shows a session. If the previous session is live, it is kept.
    pub(super) fn show(&mut self, mut session: PlanSession, shared: &mut Shared) {
        session.pane.previews.forget_missing();
        session.pane.executions.forget_missing();
        session.previewed.forget_unfinished();
        self.to_authorize = None;
        shared.clear_view_panic();
        self.leave_shown(shared);
        session.return_to(|path| self.left.remove(path));
        session.seen.update(&session.opened, self.must_see);
        if let Some(authorization) = session.path().and_then(|path| self.set_aside.remove(path)) {
            let since_boot = SystemClock::default().since_boot();
            session.restore(authorization, shared.now.ms, &since_boot);
        }
        self.shown = Some(session);
        self.note_reviews(&shared.setup.policy);
        self.note_open();
        shared.page = Page::Plan;
        if shared.prompt != Some(Prompt::Close) {
            shared.prompt = None;
        }
        self.watch_files(shared);
    }

    /// Takes the shown session off the page. A live one is kept, and so is the unused approval of a plan file, for when
    /// the plan is shown again.
    pub(super) fn leave_shown(&mut self, shared: &mut Shared) {
        let Some(mut previous) = self.shown.take() else { return };
        shared.end_notices(|scope| matches!(scope, Scope::Plan | Scope::Change));
        if previous.is_live() {
            self.live = Some(previous);
            return;
        }
        self.left.extend(previous.leave());
        let PlanSession { authorization: Some(authorization), opened, .. } = previous else {
            return;
        };
        if opened.path.as_os_str().is_empty() {
            // A plan that was made from a run is made anew, and never shown again.
            let name = opened.plan.as_ref().map_or("", |plan| plan.name());
            let summary = format!(
                "The authorization of “{}” was not used and no longer counts.",
                drawable(name)
            );
            shared.notify(Tone::Caution, summary, "", "Make the plan again, then authorize it.");
        } else {
            self.set_aside.insert(opened.path, authorization);
        }
    }

    /// Shows the session in `live` if it is wanted. Returns whether it was.
    pub(super) fn show_live(
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

    /// Applies a new review of the shown plan, and reports what has changed.
    fn take_review(&mut self, opened: OpenedPlan, shared: &mut Shared) {
        let Some(session) = &mut self.shown else { return };
        if session.path() != Some(&*opened.path) || session.run.is_active() {
            return;
        }
        let is_edited = session.opened.digest != opened.digest;
        let concerned = match session.approval {
            _ if is_edited && session.run.is_over() => Concerned::Run,
            Approval::Approved { .. } => Concerned::Authorization,
            _ if session.is_void_by_choice() => Concerned::Authorization,
            _ if is_edited => Concerned::Plan,
            _ => Concerned::Dialog,
        };
        let changes = session.apply_review(opened);
        session.seen.update(&session.opened, self.must_see);
        self.note_reviews(&shared.setup.policy);
        self.note_open();
        Self::notify_changes(&changes, concerned, shared);
        let wanted = self.to_authorize.take();
        self.open_authorization_if(wanted, shared);
        self.watch_files(shared);
    }

    /// Shows a notice about changes. An open dialog about the plan is closed.
    fn notify_changes(changes: &[Change], concerned: Concerned, shared: &mut Shared) {
        let Some(first) = changes.first().map(|change| &change.what) else { return };
        let details: Vec<_> = changes.iter().map(ToString::to_string).collect();
        let details = details.join("\n");
        if concerned == Concerned::Run {
            shared.notify_in(
                Scope::Change,
                Tone::Caution,
                "The plan file has changed since its run.",
                details,
                "The page shows the file as it is now. The plan that ran is in the list of runs.",
            );
        } else if shared.close_prompt(&Prompt::ABOUT_PLAN) {
            shared.notify_in(
                Scope::Change,
                Tone::Caution,
                format!("The dialog was closed, because this changed: {first}."),
                details,
                "Review the steps again, then reopen the dialog.",
            );
        } else if concerned == Concerned::Authorization {
            shared.notify_in(
                Scope::Change,
                Tone::Caution,
                format!("The authorization is void. Changed since: {first}."),
                details,
                "Review the steps again, then authorize the plan again.",
            );
        } else if concerned == Concerned::Plan {
            shared.notify_in(
                Scope::Change,
                Tone::Caution,
                "The plan file has changed since you opened it.",
                details,
                "The page shows the file as it is now. Review the steps again.",
            );
        }
    }

    /// Watches the file of the shown plan, and the files that an approval of it and of a running plan covers.
    pub(super) fn watch_files(&mut self, shared: &mut Shared) {
        let mut files = BTreeSet::new();
        let shown = self.shown.as_ref();
        files.extend(shown.and_then(PlanSession::path).map(Path::to_path_buf));
        // A revision is made from another file, of which a change is told.
        files.extend(shown.and_then(|it| Some(it.opened.revised.as_ref()?.base.clone())));
        files.extend(shown.and_then(|_| Self::folder_of_answers(shared)).map(|it| it.join("*")));
        for session in shown.into_iter().chain(self.running()) {
            // The files of a request are on another computer.
            let review = session.opened.review.as_ref();
            if let Some(review) = review.filter(|_| session.opened.request.is_none()) {
                let inputs = review.binding.inputs.keys();
                files.extend(inputs.map(|path| review.workspace.join(path)));
            }
        }
        let files: BTreeSet<PathBuf> =
            files.into_iter().map(|file| std::path::absolute(&file).unwrap_or(file)).collect();
        if let Err(error) = self.watch.watch_files(files) {
            shared.notify_in(
                Scope::Plan,
                Tone::Caution,
                "The plan's files cannot be watched for changes.",
                error.to_string(),
                "Changes are found when you review again, or before anything runs.",
            );
        }
    }

    /// Reviews the shown plan again once a watched file has changed and the debounce time is over. While a run is under
    /// way, only a waiting question is compared with the files, and the change stays pending. Returns the milliseconds left of the debounce time; `None` if nothing has changed
    /// or the debounce time is over.
    pub(super) fn review_when_due(&mut self, shared: &mut Shared) -> Option<i64> {
        let left_ms = self.watch.due_in(shared.now.ms)?;
        if left_ms > 0 {
            return Some(left_ms);
        }
        if self.running().is_none() {
            self.watch.clear();
            self.review_again(false, shared);
        } else {
            self.check_question(shared);
        }
        None
    }
}
