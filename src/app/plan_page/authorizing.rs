//! The content of the authorization dialog, and the warning about other runs in the same workspace.

use std::path::Path;
use std::sync::Arc;

use uuid::Uuid;

use super::{PlanPage, PlanSession};
use crate::authorization::{AuthorizationStatus, PlanAuthorization};
use crate::risk::Policy;
use crate::run::{RunSummary, other_runs, other_runs_warning};
use crate::ui::Now;
use crate::ui::dialog::{AuthorizeView, WaitingAgent};

impl PlanPage {
    /// Applies a recorded decision about the plan of this file. If another plan is shown by now, an approval is kept for when
    /// that one is shown again.
    pub(in crate::app) fn take_decision(
        &mut self,
        path: Option<&Path>,
        authorization: PlanAuthorization,
    ) {
        let shown = self.shown.as_mut().filter(|session| session.path() == path);
        match (shown, path) {
            (Some(session), _) => session.apply_decision(authorization),
            (None, Some(path)) if authorization.status == AuthorizationStatus::Approved => {
                self.set_aside.insert(path.to_owned(), authorization);
            }
            (None, _) => {}
        }
    }

    /// The run under way in this window.
    pub(in crate::app) fn own_run(&self) -> Option<Uuid> {
        self.running().and_then(|session| session.run.run_id)
    }

    /// Notes which other runs are under way in the workspace of the shown plan.
    pub(in crate::app) fn note_other_runs(&mut self) {
        let own = self.own_run();
        if let Some(shown) = &mut self.shown {
            shown.note_other_runs(&self.runs, own);
        }
    }
}

impl PlanSession {
    /// The content of the dialog about an approval under this policy; `None` without a plan or a review.
    pub fn authorize_view(
        &self,
        policy: &Policy,
        agent: Option<WaitingAgent>,
        now: &Now,
    ) -> Option<Arc<AuthorizeView>> {
        let (plan, review) = (self.opened.plan.as_ref()?, self.opened.review.as_ref()?);
        // Cached, because a plan may have ten thousand files and this function is called in each frame.
        let ttl_ms = policy.authorization_ttl_ms;
        let new_view = || {
            let (plan, review) = (Arc::clone(plan), Arc::clone(review));
            let (continues, others) = (self.opened.continues, self.other_runs.clone());
            let (attempt, previewed) = (self.attempt, &self.previewed.steps);
            let view =
                AuthorizeView::new(plan, review, continues, attempt, others, ttl_ms, previewed);
            let view = view.with_signing(policy.signing.as_ref());
            let by = self.opened.request.as_ref().map(|it| it.request.requested_by.as_str());
            let view = view.with_request(by, policy.signing.as_ref());
            let view = view.with_answers(&self.reviews_view());
            let view = view.with_findings(&self.opened.findings).with_agent(agent, now);
            Arc::new(view.with_rejection(self.opened.rejected.as_ref(), now))
        };
        Some(Arc::clone(self.authorize_view.get_or_init(new_view)))
    }

    /// Makes the next [`Self::authorize_view`] show the previews that are known now. While the dialog is open, some are
    /// added only once all are known, so that nothing in it moves but once.
    pub fn renew_authorize_view(&mut self) {
        self.authorize_view.take();
    }

    /// Notes which of these runs are under way in the workspace of the plan, besides the run `own` of this window.
    fn note_other_runs(&mut self, runs: &[RunSummary], own: Option<Uuid>) {
        let workspace = self.reviewed_workspace();
        let others =
            workspace.and_then(|workspace| other_runs_warning(&other_runs(runs, &workspace, own)));
        if others != self.other_runs {
            self.other_runs = others;
            self.authorize_view.take();
        }
    }
}
