//! Builds the view models of the plan page.

use std::path::Path;
use std::sync::LazyLock;

use super::{PlanPage, PlanSession};
use crate::app::shared::Shared;
use crate::plan::{ShownPlan, ShownStep, ToolCall, ToolClass};
use crate::run::{
    ConfirmationRequest, LoopSummary, Phase, Predicted, Preview, RunFate, RunSummary, StepState,
};
use crate::ui::plan::{Approval, CardView, ChoicesView, InboxView, PlanView, SidebarView};
use crate::ui::{Page, Situation};

/// The preview of a command that an agent runs by itself.
static BY_AGENT: LazyLock<Preview> = LazyLock::new(Preview::by_agent);

impl PlanPage {
    pub fn sidebar<'a>(
        &'a self,
        inbox: InboxView<'a>,
        loops: &'a [LoopSummary],
        shared: &'a Shared,
    ) -> SidebarView<'a> {
        SidebarView {
            inbox,
            queue: self.queue_view(),
            open_plans: self.open_plans(),
            plans: &self.listed,
            open: self.shown.as_ref().and_then(|session| session.path()),
            runs: &self.runs,
            loops,
            run: self.shown_run(),
            now: &shared.now,
        }
    }

    /// The state of this page that decides which commands are available.
    pub fn situation(&self) -> Situation {
        let of_run = match self.running() {
            None => Situation::default(),
            Some(live) => Situation {
                running: true,
                paused: live.run.phase == Phase::Paused,
                automatic: live.is_automatic(),
                requested: live.run.requested.is_some(),
                asking: live.request().map(|request| request.step_index),
                current_step_hidden: self.live.is_some()
                    || live.pane.selected != live.run.current_step,
                ..Situation::default()
            },
        };
        let (queue_place, queued) = self.queue_place();
        let of_run = Situation {
            queue_place,
            queued,
            queue_held: self.queue_view().held.is_some(),
            open_plans: self.open_count(),
            testing_connection: self.host_notice.is_some(),
            attempt_waits: self.awaiting_attempt().is_some(),
            ..of_run
        };
        let Some(shown) = &self.shown else { return of_run };
        let plan = shown.opened.plan.as_deref();
        Situation {
            plan_open: true,
            runs_elsewhere: shown.runs_elsewhere(),
            steps: plan.map_or(0, |plan| plan.steps.len()),
            diagnostics: shown.diagnostics.listing.shown.len(),
            suggestions: shown.diagnostics.picked_count(&shown.run),
            not_authorizable: shown.not_authorizable(),
            unseen: shown.seen.looked_at.missing + shown.seen.looked_at.others > 0,
            look_first: shown.must_look_first(),
            not_rejectable: shown.not_rejectable(),
            lacks_signatures: shown.lacks_signatures(),
            not_askable: shown.not_askable(),
            asked: shown.opened.request.is_some(),
            not_signable: shown.not_signable(),
            not_refusable: shown.not_refusable(),
            answered: shown.answer_file().is_some(),
            not_revisable: self.not_revisable(),
            revised: shown.opened.revised.is_some(),
            no_lines: shown.no_lines(),
            not_simulatable: shown.not_simulatable(),
            not_fillable: self.not_fillable(),
            lacks_inputs: shown.lacks_inputs(),
            approved: matches!(shown.approval, Approval::Approved { .. }),
            over: shown.is_over(),
            unfinished: shown.is_unfinished(),
            terminal: shown.runs_here() && shown.output.transcript.terminal().is_some(),
            remote: plan.is_some_and(|plan| plan.target.is_some() && plan.fleet.is_none()),
            on_hosts: plan.is_some_and(|plan| plan.fleet.is_some()),
            way_back: plan.is_some_and(|plan| {
                let is_needed = plan.fleet.is_none() || shown.run.hosts.has_hosts_to_roll_back();
                !plan.notes.rollback.is_empty() && is_needed
            }),
            changed_files: plan.is_some_and(|plan| changed_files(shown, plan)),
            interrupted: shown.is_over() && shown.run.is_uncertain(),
            ..of_run
        }
    }

    /// The confirmation that the run waits for, unless its dialog is closed.
    pub fn request(&self) -> Option<&ConfirmationRequest> {
        self.running().filter(|session| !session.confirmation.dialog_closed)?.request()
    }

    /// The name of the plan whose run is under way, if the page shows another one.
    pub fn other_plan(&self) -> Option<&str> {
        self.live.as_ref().filter(|live| live.runs_here()).map(PlanSession::name)
    }

    /// The latest run of the shown plan file in its workspace that is over, while the page shows no run of it.
    pub fn last_run(&self) -> Option<&RunSummary> {
        let session =
            self.shown.as_ref().filter(|it| it.path().is_some() && !it.run.has_begun())?;
        let workspace = session.opened.review.as_ref()?.workspace.as_path();
        self.runs.iter().find(|run| {
            run.plan_digest == session.opened.digest
                && Path::new(&run.workspace) == workspace
                && run.fate != RunFate::Active
        })
    }

    /// The view model of the plan on the page; `covered` states whether a dialog or an overlay covers it.
    pub fn view<'a>(&'a self, covered: bool, shared: &'a Shared) -> Option<PlanView<'a>> {
        let session = self.shown.as_ref()?;
        let run_id = session.run.run_id;
        let ended = session.ended_run();
        let agent_acts = session.path().is_some_and(|path| {
            let call = shared.calls.as_ref().and_then(|calls| calls.waiting(path));
            call.is_some_and(|call| !call.runs_here)
        });
        let preview = session.pane.previews.get(&session.pane.selected);
        Some(PlanView {
            path: session.path(),
            digest: session.opened.digest,
            plan: session.opened.plan.as_deref(),
            step_counts: session.step_counts,
            choices: session.can_choose().then(|| ChoicesView {
                chosen: &session.choices,
                chose_workspace: session.workspace.is_some(),
                default_walls: shared.setup.policy.walls,
            }),
            findings: ended.map_or(&session.opened.findings, |ended| &ended.findings),
            done: ended.map(|ended| &ended.done),
            review: session.opened.review.as_deref(),
            review_id: session.review_id,
            approval: &session.approval,
            reviews: session.reviews_view(),
            rejected: session.opened.rejected.as_ref(),
            run: &session.run,
            output: &session.output,
            in_inbox: session.opened.held.is_some(),
            proposed_name: session.opened.held.as_ref().and_then(|held| held.name.as_deref()),
            proposed_by: session.opened.held.as_ref().and_then(|held| held.from.as_deref()),
            asked_until_ms: session.opened.held.as_ref().and_then(|held| held.asked_until_ms),
            session_decided: session.path().and_then(|path| {
                let tally = shared.calls.as_ref()?.tally(path)?;
                Some((tally.authorized, tally.rejected))
            }),
            agent_acts,
            last_run: self.last_run(),
            continues: session.opened.continues,
            attempt: session.attempt,
            other_plan: self.other_plan(),
            other_runs: session.other_runs.as_deref(),
            recorded: session.recorded.as_ref(),
            of_loop: session.attempt.map(|it| it.attempt).or_else(|| shared.attempt_of(run_id)),
            prequel: None,
            sequel: None,
            reconciled: shared.reconciled_in(run_id),
            selected: session.pane.selected,
            scroll_to_selected: session.pane.scroll_to_selected,
            list: &session.steps.list,
            tab: session.pane.tab,
            looked_at: &session.seen.looked_at,
            changed: &session.seen.changed,
            card: session.card(covered, shared),
            // How a command would be run here says nothing about how the agent runs it.
            preview: preview
                .filter(|it| agent_acts && it.predicted == Predicted::Unpredictable)
                .map_or(preview, |_| Some(&*BY_AGENT)),
            previewed: &session.previewed.steps,
            simulation: session.simulation.as_ref().filter(|it| it.is_shown),
            contents: shared.contents.all(),
            execution: session.selected_execution().and_then(|id| session.pane.executions.get(&id)),
            revision: self.revision_view(session),
            now: &shared.now,
        })
    }

    /// Resets the flags that apply to one frame only, after a frame of this page.
    pub fn reset_frame_flags(&mut self, page: Page) {
        self.with_shown(|session| {
            // Another page has not scrolled the list of steps.
            if page == Page::Plan {
                session.pane.scroll_to_selected = false;
                session.steps.list.focus = false;
                session.confirmation.reveal_card = false;
            }
            session.diagnostics.reset_frame_flags();
        });
    }
}

impl PlanSession {
    /// The confirmation of a guided step, as a card in the list of steps.
    fn card(&self, covered: bool, shared: &Shared) -> Option<CardView<'_>> {
        let request = self.request().filter(|request| request.guided)?;
        Some(CardView {
            prompt: shared.prompt_id(Some(request)),
            request,
            changed: &self.confirmation.changed,
            reveal: self.confirmation.reveal_card,
            covered,
            dialog_open: shared.prompt.is_none() && !self.confirmation.dialog_closed,
        })
    }
}

/// Whether the run is over and a step of it succeeded, or has an unknown outcome, whose changes of files are recorded.
/// Failed steps do not count, because their changes can be reverted from their own records.
pub fn changed_files(session: &PlanSession, plan: &ShownPlan) -> bool {
    let may_change = |step: &ShownStep| {
        let class = step.call.as_ref().map(ToolCall::class);
        class == Some(ToolClass::Mutate)
            && match session.run.steps.get(step.step_index) {
                Some(StepState::Done(result)) => result.success,
                Some(StepState::Running) => true,
                _ => false,
            }
    };
    session.is_over() && plan.steps.iter().any(may_change)
}
