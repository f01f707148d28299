//! The state of the tour: which of its stations the person has passed, as the window observes it.
//!
//! The tour is recognised by the bytes of its plans, so that it is guided however it was opened. A station is passed when
//! its state was seen once; nothing asks the person to confirm that.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use uuid::Uuid;

use super::App;
use super::examples::tour_file;
use super::plan_page::{PlanSession, changed_files};
use crate::plan::Digest;
use crate::run::{Outcome, Phase, RunStatus};
use crate::ui::plan::Approval;
use crate::ui::tour::{Station, TourView};
use crate::ui::{Action, Page, PlanAction};

/// The file of the second plan, beside that of the first.
const SECOND_PLAN: &str = "cut-off.plan.json";
/// The step of the second plan in which its run is cut off, counted from 0.
const CUT_OFF_IN: usize = 1;
/// The step of the first plan that the person is to approve, counted from 0.
const APPROVED_STEP: usize = 3;

static FIRST: LazyLock<Digest> = LazyLock::new(|| Digest::of(tour_file("tour.plan.json")));
static SECOND: LazyLock<Digest> = LazyLock::new(|| Digest::of(tour_file(SECOND_PLAN)));

/// The step in which the run of the plan with this digest is cut off: one of the tour's second plan. Any other plan, also
/// one that differs from it by a byte, runs to its end.
pub(super) fn cut_off_in(digest: Digest) -> Option<usize> {
    (digest == *SECOND).then_some(CUT_OFF_IN)
}

/// How far the person has come in the tour.
#[derive(Debug, Default)]
pub(super) struct Tour {
    /// The file of the first plan, once it was opened in this window.
    first_plan: Option<PathBuf>,
    /// The run of the first plan, once it is over.
    first_run: Option<Uuid>,
    denied: bool,
    passed: BTreeSet<Station>,
    /// Whether the person has hidden the guide.
    pub(super) is_hidden: bool,
}

impl Tour {
    pub(super) const fn is_open(&self) -> bool {
        self.first_plan.is_some()
    }

    pub(super) fn view(&self) -> Option<TourView> {
        let next = Station::ALL.into_iter().find(|it| !self.passed.contains(it));
        (self.is_open() && !self.is_hidden).then_some(TourView { next, denied: self.denied })
    }

    /// Notes that a plan or a run of the tour is shown. Another copy of the tour begins it anew.
    fn observe_plan(&mut self, session: &PlanSession) {
        let (run, digest) = (&session.run, session.opened.digest);
        let is_of_copy = self.is_of_copy(session);
        if digest == *FIRST && is_of_copy {
            if let Some(path) = session.path()
                && self.first_plan.as_deref() != Some(path)
            {
                *self = Self { first_plan: Some(path.to_owned()), ..Self::default() };
            }
            let decided = matches!(
                session.approval,
                Approval::Approved { .. } | Approval::Used { .. } | Approval::Recorded
            );
            let outcome = |step: usize| run.steps.get(step).and_then(|it| it.outcome());
            let is_denied = (0..run.steps.len()).any(|it| outcome(it) == Some(Outcome::Denied));
            self.denied |= is_denied;
            self.pass(Station::LookAt, decided || session.not_authorizable().is_none());
            self.pass(Station::Authorize, decided);
            self.pass(Station::Run, run.has_begun());
            let is_approved = outcome(APPROVED_STEP) == Some(Outcome::Succeeded);
            self.pass(Station::Approve, is_approved || run.is_over());
            self.pass(Station::Deny, is_denied || run.is_over());
            if run.is_over() {
                self.first_run = run.run_id.or(self.first_run);
                // Nothing is to be taken back of a run that ended before it changed a file.
                let plan = session.opened.plan.as_deref();
                let changed_nothing = plan.is_some_and(|plan| !changed_files(session, plan));
                self.pass(Station::Revert, changed_nothing);
                self.pass(Station::RunRevert, changed_nothing);
            }
        } else if digest == *SECOND && is_of_copy {
            self.pass(Station::OpenSecond, true);
            self.pass(Station::RunSecond, run.is_over());
            // A run that ended before it was cut off leaves nothing to reconcile.
            self.pass(Station::Reconcile, run.is_over() && !run.is_uncertain());
        } else if let Some(plan) = session.opened.plan.as_deref().filter(|it| it.is_revert()) {
            let is_of_first =
                session.opened.continues == self.first_run && self.first_run.is_some();
            self.pass(Station::Revert, is_of_first && !plan.steps.is_empty());
            let completed = run.phase == Phase::Ended(RunStatus::Completed);
            self.pass(Station::RunRevert, is_of_first && completed);
        }
    }

    /// Whether a session belongs to the copy of the tour that is guided. One with a plan file always does, because another
    /// copy begins the tour anew; a recorded run does if it ran in this copy's folder.
    fn is_of_copy(&self, session: &PlanSession) -> bool {
        let folder = self.first_plan.as_deref().and_then(Path::parent);
        session.path().is_some() || session.reviewed_workspace().as_deref() == folder
    }

    fn pass(&mut self, station: Station, is_passed: bool) {
        if is_passed && self.is_open() {
            self.passed.insert(station);
        }
    }
}

impl App {
    /// Notes what the person has done of the tour.
    pub(super) fn observe_tour(&mut self) {
        let (shared, tour) = (&self.shared, &mut self.tour);
        if let Some(session) = &self.plan.shown {
            tour.observe_plan(session);
            let is_second = session.opened.digest == *SECOND && tour.is_of_copy(session);
            let run = session.run.run_id.filter(|_| is_second);
            let reconciled = run.and_then(|run_id| shared.reconciled.get(&run_id));
            tour.pass(Station::Reconcile, reconciled.is_some_and(|found| !found.is_empty()));
        }
        // Looking at the evidence before is no answer to what the guide says then.
        if shared.page == Page::Evidence && tour.passed.contains(&Station::Reconcile) {
            let found = self.evidence.page.as_ref().is_some_and(|page| page.counts.total > 0);
            tour.pass(Station::Search, !self.evidence.text().trim().is_empty() && found);
            tour.pass(Station::Record, self.evidence.detail.is_some());
            tour.pass(Station::Verify, self.evidence.is_verified());
        }
    }

    /// Opens the second plan, beside the file of the first.
    pub(super) fn open_second_plan(&mut self, ctx: &egui::Context) {
        if let Some(first) = &self.tour.first_plan {
            let second = first.with_file_name(SECOND_PLAN);
            self.apply(Action::Plan(PlanAction::Open(second)), ctx);
        }
    }

    /// Shows the run of the first plan as it was recorded.
    pub(super) fn show_first_run(&mut self, ctx: &egui::Context) {
        if let Some(run_id) = self.tour.first_run {
            self.apply(Action::Plan(PlanAction::OpenRun(run_id)), ctx);
        }
    }
}
