//! What a decision about the plan does to its session: from its record, over its end by time or by a choice, to the run
//! that uses it.

use std::sync::Arc;

use super::PlanSession;
use super::attempt::started_run;
use crate::authorization::{ApprovedPlan, Change, PlanAuthorization, SinceBoot};
use crate::plan::{Dialect, Severity};
use crate::run::{DecidedBy, PlanRejection, RunState, Transcript};
use crate::ui::plan::Approval;
use crate::worker::OpenedPlan;

impl PlanSession {
    /// Applies a recorded decision, unless it is about another plan.
    pub fn apply_decision(&mut self, authorization: PlanAuthorization) {
        use crate::authorization::AuthorizationStatus::{Approved, Pending, Rejected};
        if authorization.plan_digest != self.opened.digest {
            return;
        }
        // The dialog names a rejection of the plan.
        self.authorize_view.take();
        match &authorization.status {
            Approved => {
                // Another review may have landed, or something else been chosen, while the approval was recorded.
                let changes = self.changes_since(&authorization);
                if self.has_new_choice || !changes.is_empty() {
                    self.approval = Approval::Void(changes);
                    self.authorization = None;
                    return;
                }
                self.approval = Approval::Approved {
                    at_ms: authorization.decided_at_ms,
                    until_ms: authorization.expires_at_ms,
                };
                self.authorization = Some(authorization);
                self.opened.rejected = None;
                // The states of the last run's steps could be mistaken for those of the next run.
                self.run = RunState::default();
                self.elapsed_ms = None;
            }
            Rejected { reason } => {
                self.approval = Approval::Rejected(reason.clone());
                self.opened.rejected = Some(PlanRejection {
                    authorization_id: authorization.authorization_id,
                    plan_digest: authorization.plan_digest,
                    plan_id: authorization.plan_id.clone(),
                    plan_name: self.name().to_owned(),
                    workspace: authorization.binding.workspace.clone(),
                    reason: reason.clone(),
                    by: DecidedBy { place: "window".to_owned(), user: None },
                    timestamp_ms: authorization.decided_at_ms,
                    changed: false,
                });
                self.authorization = None;
            }
            Pending => {}
        }
    }

    /// Ends an approval that has expired, and updates the shown end of a valid one. Returns the milliseconds left, or
    /// `None` if there is no valid approval.
    pub fn expire(&mut self, now_ms: i64, since_boot: &SinceBoot) -> Option<i64> {
        let Approval::Approved { at_ms, .. } = self.approval else { return None };
        let authorization = self.authorization.as_ref()?;
        let left_ms = authorization.remaining_ms(now_ms, since_boot);
        if left_ms > 0 {
            // The end is shown in wall clock time, which may have been set since the approval.
            self.approval = Approval::Approved { at_ms, until_ms: now_ms + left_ms };
            return Some(left_ms);
        }
        self.approval = Approval::Expired;
        self.authorization = None;
        None
    }

    /// Applies an unused approval of the plan file, given before another plan was shown. It still counts if everything
    /// that it covers is unchanged and its time is not over; otherwise the session says why not.
    pub fn restore(
        &mut self,
        authorization: PlanAuthorization,
        now_ms: i64,
        since_boot: &SinceBoot,
    ) {
        if self.approval != Approval::None || self.opened.review.is_none() {
            return;
        }
        let mut changes = self.changes_since(&authorization);
        // The review does not cover the bytes of the file, which may have changed meanwhile.
        if authorization.plan_digest != self.opened.digest {
            let bytes = Change {
                what: "plan bytes".to_owned(),
                approved: authorization.plan_digest.to_string(),
                now: self.opened.digest.to_string(),
            };
            changes.insert(0, bytes);
        }
        if self.has_new_choice || !changes.is_empty() {
            self.approval = Approval::Void(changes);
            return;
        }
        let at_ms = authorization.decided_at_ms;
        self.approval = Approval::Approved { at_ms, until_ms: authorization.expires_at_ms };
        self.authorization = Some(authorization);
        self.expire(now_ms, since_boot);
    }

    /// Consumes the approval, and shows the run as started. `None` if the plan is incomplete or has no approval.
    pub fn begin_run(&mut self) -> Option<ApprovedPlan> {
        let plan = Arc::unwrap_or_clone(self.opened.plan.clone()?).complete()?;
        let authorization = self.authorization.take()?;
        self.approval = Approval::Used { at_ms: authorization.decided_at_ms };
        // The first event of the run arrives later.
        self.run = started_run(plan.steps.len(), authorization.decided_at_ms);
        self.output.transcript = Transcript::default();
        if !self.output.is_shown && plan.dialect == Dialect::CommandPlan {
            (self.output.is_shown, self.output.opened_by_itself) = (true, true);
        }
        self.elapsed_ms = None;
        self.remember_before_run();
        self.pane.executions.clear();
        // The run is shown in the list of steps.
        self.hide_simulation();
        self.pane.is_pinned = false;
        Some(ApprovedPlan { plan, authorization })
    }

    /// Changes what the person chose for the run. A valid approval ends at once: it was given for other choices. Which
    /// of the things that it covers have changed is known after the next review.
    pub fn change_choices(&mut self, change: impl FnOnce(&mut Self)) {
        let before = (self.workspace.clone(), self.choices.clone());
        change(self);
        if (&self.workspace, &self.choices) == (&before.0, &before.1) {
            return;
        }
        self.has_new_choice = true;
        if matches!(self.approval, Approval::Approved { .. }) {
            self.approval = Approval::Void(Vec::new());
            self.authorization = None;
        }
    }

    /// Whether an approval has ended because of a choice, and no review has told yet what the choice changes.
    pub(super) fn is_void_by_choice(&self) -> bool {
        matches!(&self.approval, Approval::Void(changes) if changes.is_empty())
    }

    /// What differs between an approval of this plan and its last review.
    fn changes_since(&self, authorization: &PlanAuthorization) -> Vec<Change> {
        let review = self.opened.review.as_ref();
        let mut changes =
            review.map_or_else(Vec::new, |it| authorization.binding.changes(&it.binding));
        changes.extend(error_of(&self.opened));
        changes
    }
}

/// The first error that the review found, as a change of an approval, which is only given without errors.
pub(super) fn error_of(opened: &OpenedPlan) -> Option<Change> {
    let error = opened.findings.iter().find(|it| it.severity == Severity::Error)?;
    Some(Change {
        what: "result of the review".to_owned(),
        approved: "without errors".to_owned(),
        now: format!("{} {}", error.code, error.message),
    })
}
