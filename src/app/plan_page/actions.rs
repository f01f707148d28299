//! Applies the actions of a person on the plan page.

use std::path::Path;

use uuid::Uuid;

use super::{Chosen, PlanPage, PlanSession};
use crate::app::App;
use crate::app::pending::FailedQuery;
use crate::app::recent::RecentChange;
use crate::app::session_rules::for_rule;
use crate::app::shared::{Prompt, Shared};
use crate::authorization::{AuthorizationStatus, Grants, Method, PlanAuthorization};
use crate::plan::Digest;
use crate::run::{Attempt, Failure};
use crate::ui::action::{QueueAction, Tab};
use crate::ui::notice::Scope;
use crate::ui::plan::{Approval, Effect, PlanAttempt, Simulated, StepFilter};
use crate::ui::{Page, PlanAction, Tone};
use crate::worker::{
    FollowUp, OpenProposed, PlanDecision, RecordAuthorization, RememberWalls, ReplayRun,
    SignAuthorization, Simulate, Simulation,
};

impl PlanPage {
    pub fn apply(&mut self, action: PlanAction, shared: &mut Shared) {
        match action {
            PlanAction::Open(path) => self.open(path, None, shared),
            PlanAction::OpenRun(run_id) => self.open_run(run_id, None, shared),
            PlanAction::OpenStepOfRun(run_id, step) => self.open_run(run_id, Some(step), shared),
            PlanAction::OpenRejected(digest) => self.open_rejected(digest, shared),
            PlanAction::SelectStep(index) => self.with_shown(|session| {
                session.pane.selected = index;
                session.pane.is_pinned = true;
                session.pane.allow_retry();
            }),
            PlanAction::FilterSteps(filter) => self.with_shown(|it| it.filter_steps(filter)),
            PlanAction::CloseFilter => self.with_shown(|session| {
                session.steps.list.is_open = false;
                session.filter_steps(StepFilter::default());
            }),
            PlanAction::SelectListed(by) => self.with_shown(|it| it.select_listed(by, true)),
            // The previews of a run that is over are those from before it.
            PlanAction::LookedAt(index, shown) => self.with_shown(|session| {
                if !session.run.is_over() {
                    session.seen.mark(index, shown);
                }
            }),
            PlanAction::ShowTab(tab) => self.with_shown(|session| {
                session.pane.tab = tab;
                session.pane.allow_retry();
            }),
            PlanAction::CloseSimulation => self.with_shown(PlanSession::hide_simulation),
            PlanAction::CopyOutput => {
                self.with_shown(|session| shared.to_copy = Some(session.output.transcript.text()));
            }
            PlanAction::ReviewCommands => shared.show_prompt(Some(Prompt::Trust)),
            PlanAction::OpenConfirmation => self.show_confirmation_dialog(shared),
            PlanAction::Terminal(action) => self.apply_to_terminal(action, shared),
            PlanAction::AskToRememberWalls => shared.show_prompt(Some(Prompt::RememberWalls)),
            PlanAction::ForgetWalls => {
                if let Some(review) = self.review() {
                    Self::decide_walls(review.binding.workspace.clone(), None, shared);
                }
            }
            PlanAction::GrantNeeds(proposed) => {
                self.with_shown(|session| {
                    session.change_choices(|it| it.choices.grants.proposed = proposed);
                });
                self.review_again(true, shared);
            }
            PlanAction::ShowOpen(path) => self.show_open(&path, shared),
            PlanAction::CloseOpen(path) => self.close_open(&path, shared),
            PlanAction::Queue(QueueAction::Move(path, by)) => self.move_queued(&path, by),
            PlanAction::Queue(QueueAction::Remove(path)) => self.unqueue(&path),
            // The window applies it, which knows the inbox.
            PlanAction::Inbox(_) | PlanAction::Agents(_) => {}
            PlanAction::Revise(action) => self.revise(action, shared),
            PlanAction::Choose(choice) => self.choose(choice, shared),
            PlanAction::AuthorizeWithGrant(path) => {
                self.with_shown(|session| {
                    session.change_choices(|it| match path {
                        Some(path) => it.choices.grants.write.extend([path]),
                        None => it.choices.grants.network = true,
                    });
                });
                self.run_again(shared);
            }
        }
    }

    /// Calls `action` with the session on the page, if there is one.
    pub fn with_shown(&mut self, action: impl FnOnce(&mut PlanSession)) {
        if let Some(session) = &mut self.shown {
            action(session);
        }
    }

    /// Shows the session of a run: the one on the page, otherwise the live one, otherwise the recorded run. Selects
    /// `step`, if there is one.
    fn open_run(&mut self, run_id: Uuid, step: Option<usize>, shared: &mut Shared) {
        let has_run = move |session: &PlanSession| session.run.run_id == Some(run_id);
        if self.shown.as_ref().is_some_and(has_run) {
            shared.page = Page::Plan;
        } else if !self.show_live(has_run, shared) {
            return Self::replay(run_id, shared, move |app| app.plan.show_step(step));
        }
        self.show_step(step);
    }

    /// Selects this step, as a person who chose it. A filter that hides it is removed.
    fn show_step(&mut self, step: Option<usize>) {
        let Some(step) = step else { return };
        self.with_shown(|session| {
            session.filter_steps(StepFilter::default());
            session.pane.select(step);
            session.pane.is_pinned = true;
        });
    }

    /// Opens the file of a rejected plan, if the list of plans has it.
    fn open_rejected(&self, digest: Digest, shared: &mut Shared) {
        match self.recent.iter().find(|plan| plan.digest == Some(digest)) {
            Some(plan) => self.open(plan.path.clone(), None, shared),
            None => {
                let summary = "The list of plans no longer has the file of this one.";
                let next = "Open the file itself. The plan then says that it was rejected.";
                shared.notify_here(Tone::Dim, summary, digest.to_string(), next);
            }
        }
    }

    /// Shows a recorded run, and then calls `then`.
    pub fn replay(run_id: Uuid, shared: &mut Shared, then: impl FnOnce(&mut App) + Send + 'static) {
        shared.query(ReplayRun(run_id), move |app, replayed| {
            let attempt = replayed.attempt.map(|attempt| (run_id, attempt));
            app.shared.attempts.extend(attempt);
            // A run that this window began meanwhile has a session already, which controls it.
            let is_own = app.plan.own_run() == Some(run_id);
            if is_own {
                app.plan.open_run(run_id, None, &mut app.shared);
            } else {
                let purged = replayed.summary.purged.clone();
                app.plan.show(PlanSession::from_replayed(replayed), &mut app.shared);
                if let Some(note) = purged {
                    let summary = match note.whole {
                        true => "The records of this run were purged.",
                        false => "Records of some steps of this run were purged.",
                    };
                    let next =
                        "That it happened, when, by whom and how it ended is still recorded.";
                    app.shared.notify_in(Scope::Plan, Tone::Dim, summary, note.sentence(), next);
                }
            }
            then(app);
        });
    }

    /// Shows the session of an attempt: the one on the page, otherwise the live one, otherwise its recorded run, and if
    /// it did not run, the plan that was proposed, as `chosen` by its loop.
    pub fn open_attempt(
        &mut self,
        attempt: Attempt,
        run_id: Option<Uuid>,
        chosen: Chosen,
        shared: &mut Shared,
    ) {
        let has_attempt = |session: &PlanSession| session.is_attempt(attempt);
        if self.shown.as_ref().is_some_and(has_attempt) {
            shared.clear_view_panic();
            shared.page = Page::Plan;
        } else if self.show_live(has_attempt, shared) {
        } else if let Some(run_id) = run_id {
            self.open_run(run_id, None, shared);
        } else {
            let Chosen { workspace, choices, .. } = chosen.clone();
            let workspace = workspace.unwrap_or_default();
            let query = OpenProposed { attempt, workspace, choices };
            shared.query_latest(query, |app, opened| app.show_opened(opened, chosen));
        }
    }

    /// Shows the pending confirmation as a dialog. Any other dialog is closed.
    pub fn show_confirmation_dialog(&mut self, shared: &mut Shared) {
        if let Some(session) = self.running_mut() {
            session.confirmation.dialog_closed = false;
        }
        shared.show_prompt(None);
    }

    /// Whether the pending confirmation must be approved in its dialog, but the dialog is closed. An approval from the
    /// card then only opens the dialog.
    pub fn approval_needs_dialog(&self) -> bool {
        let session = self.running().filter(|session| session.confirmation.dialog_closed);
        session.and_then(PlanSession::request).is_some_and(|request| request.required)
    }

    /// Records these grants for all later plans of a workspace, or revokes those of the workspace.
    pub fn decide_walls(workspace: String, grants: Option<Grants>, shared: &mut Shared) {
        let query = RememberWalls { workspace, grants };
        shared.query_each(query, |app, recorded, _| app.after_trust_decision(recorded));
    }

    /// The id of the shown run.
    pub fn shown_run(&self) -> Option<Uuid> {
        self.shown.as_ref()?.run.run_id
    }

    /// Opens a follow-up plan of the shown run.
    pub fn follow_up(&self, follow_up: FollowUp, shared: &mut Shared) {
        if let Some(run_id) = self.shown_run() {
            shared.follow_up(run_id, follow_up);
        }
    }

    /// Reviews the file of the shown plan again. If it has none, opens the plan of the shown run from the evidence. The
    /// authorization dialog opens after the review.
    pub fn run_again(&mut self, shared: &mut Shared) {
        let Some(session) = &self.shown else { return };
        let (digest, has_file, run_id) =
            (session.opened.digest, session.path().is_some(), session.run.run_id);
        if has_file {
            self.review_again(true, shared);
        } else if let Some(run_id) = run_id {
            shared.follow_up(run_id, FollowUp::RunAgain);
        }
        self.to_authorize = Some(digest);
    }

    /// Simulates the shown plan and shows the result.
    pub fn simulate(&mut self, shared: &mut Shared) {
        shared.page = Page::Plan;
        let Some(session) = &mut self.shown else { return };
        let (Some(plan), Some(review)) = (session.opened.plan.clone(), &session.opened.review)
        else {
            return;
        };
        let (digest, workspace) = (session.opened.digest, review.workspace.clone());
        session.simulation = Some(Simulated { outcome: None, stale: false, is_shown: true });
        shared.query_each(Simulate { plan, workspace }, move |app, simulated, latest| {
            let outcome = match simulated.map_err(FailedQuery::into_failure) {
                Ok(Simulation { previews, changes, .. }) => Ok(Effect { previews, changes }),
                Err(Ok(failure)) => Err(failure),
                Err(Err(failed)) => {
                    let shown = app.plan.shown.as_mut();
                    if let Some(session) = shown.filter(|it| it.opened.digest == digest) {
                        session.simulation = None;
                    }
                    if latest {
                        app.shared.report(failed);
                    }
                    return;
                }
            };
            app.plan.take_simulation(digest, outcome);
        });
    }

    /// Stores the outcome of the requested simulation. It is stale if the shown plan has changed meanwhile.
    fn take_simulation(&mut self, digest: Digest, outcome: Result<Effect, Failure>) {
        let Some(session) = &mut self.shown else { return };
        if let Some(simulated) = session.simulation.as_mut().filter(|it| it.outcome.is_none()) {
            simulated.stale |= session.opened.digest != digest;
            simulated.outcome = Some(outcome);
        }
    }

    /// Selects the step `by` rows below the selected one.
    pub fn move_selection(&mut self, by: isize) {
        self.with_shown(|session| session.select_listed(by, false));
    }

    /// Shows what the next step would do that was not looked at. Returns whether that is the selected step: then the
    /// page has to scroll to the rest of it.
    pub fn select_unseen(&mut self) -> bool {
        let Some(session) = &mut self.shown else { return false };
        let (looked_at, selected) = (&session.seen.looked_at, session.pane.selected);
        let stays = looked_at.goes_on(selected);
        let Some(next) = looked_at.next(selected).map(|next| if stays { selected } else { next })
        else {
            return false;
        };
        session.leave_ended_run();
        session.hide_simulation();
        session.pane.select(next);
        session.pane.is_pinned = true;
        session.pane.tab = Tab::WillDo;
        stays
    }

    /// Shows the session of the run under way, and lets the selection follow its current step. Returns false if that
    /// session has no plan to show.
    pub fn follow_run(&mut self, shared: &mut Shared) -> bool {
        // The verification of a loop has no plan. It is shown on the loop page.
        if self.live.as_ref().is_some_and(|live| live.opened.plan.is_none()) {
            return false;
        }
        if self.shown.as_ref().is_none_or(|session| !session.runs_here()) {
            self.show_live(|_| true, shared);
        }
        if let Some(session) = &mut self.shown {
            session.pane.is_pinned = false;
            session.pane.select(session.run.current_step);
        }
        true
    }

    /// Records a decision about the shown plan, and closes the dialog. The decision is effective once it is recorded.
    pub fn record_decision(
        &mut self,
        digest: Digest,
        shared: &mut Shared,
        decide: impl FnOnce(PlanAuthorization, i64) -> PlanAuthorization,
    ) {
        if !shared.close_prompt(&Prompt::DECISIONS) {
            return;
        }
        let now = shared.now.ms;
        let Some(session) = &mut self.shown else { return };
        let (Some(plan), Some(review)) = (session.opened.plan.clone(), &session.opened.review)
        else {
            return;
        };
        if plan.digest != digest || session.not_rejectable().is_some() {
            return;
        }
        // A faulty plan can be rejected. Its bytes are recorded, so that it is known what was rejected.
        let plan = plan.valid_steps();
        let pending =
            PlanAuthorization::pending(&plan, review.binding.clone(), Method::Window, now)
                .with_parent_run(session.opened.continues);
        let path = session.path().map(Path::to_path_buf);
        let call = path.as_ref().and_then(|path| shared.calls.as_ref()?.waiting(path));
        let authorization = decide(pending, now);
        let approves = matches!(authorization.status, AuthorizationStatus::Approved);
        let authorization = match approves {
            true => Self::as_decided(call.as_ref(), authorization),
            false => authorization,
        };
        let authorization = Box::new(authorization);
        if approves && session.not_authorizable().is_some() {
            return;
        }
        let for_rule = for_rule(session.opened.review.as_deref(), &authorization);
        let signs = SignAuthorization::is_needed(shared.setup.policy.signing.as_ref());
        session.approval = if approves && signs { Approval::Signing } else { Approval::Recording };
        let plan = Box::new(plan);
        let revised = session.opened.revised.clone();
        let reviews = if approves { session.reviews.signatures() } else { Vec::new() };
        let query =
            RecordAuthorization { authorization: authorization.clone(), plan, revised, reviews };
        shared.record(query, move |app, recorded| match recorded {
            Ok(()) => {
                app.plan.take_decision(path.as_deref(), (*authorization).clone());
                if approves {
                    app.plan.forget_given(authorization.plan_digest);
                }
                if let Some(path) = path {
                    let rejected = !approves;
                    app.change_recent(RecentChange::Decided { path: path.clone(), rejected });
                    app.tell_decision(&path, call.as_ref(), &authorization, for_rule);
                }
                app.note_decided();
                app.shared.end_notices(|scope| scope == Scope::Change);
            }
            Err(failed) => {
                let shown = app.plan.shown.as_mut();
                if let Some(session) = shown.filter(|it| it.approval.is_pending()) {
                    session.approval = Approval::None;
                }
                app.shared.report(failed);
            }
        });
    }

    /// Sends the person's decision about the plan of an attempt to the worker, and closes the dialog.
    pub fn decide_attempt(&mut self, digest: Digest, decision: PlanDecision, shared: &mut Shared) {
        if !shared.close_prompt(&Prompt::DECISIONS) {
            return;
        }
        let Some(session) = &mut self.shown else { return };
        let attempt = session.attempt.filter(|_| session.opened.digest == digest);
        let Some(PlanAttempt { attempt, .. }) = attempt else { return };
        let barred = match &decision {
            PlanDecision::Reject { .. } => session.not_rejectable(),
            _ => session.not_authorizable(),
        };
        if barred.is_some() {
            return;
        }
        if shared.worker.answer_plan(attempt.loop_id, attempt.number, decision) {
            session.approval = Approval::Recording;
        } else {
            shared.notify_here(Tone::Caution, "The loop no longer waits for that answer.", "", "");
        }
    }
}
