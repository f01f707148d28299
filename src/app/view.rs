//! From the state to what one frame shows.

use uuid::Uuid;

use super::App;
use super::Prompt;
use super::looping::Which;
use super::session::PlanSession;
use crate::plan::{ShownStep, ToolCall, ToolClass};
use crate::run::{
    Attempt, ConfirmationRequest, Phase, PlaceReview, Reconciled, RunState, StepState,
};
use crate::ui::action::Page;
use crate::ui::commands::Situation;
use crate::ui::dialog::{Dialog, Question};
use crate::ui::evidence::EvidenceView;
use crate::ui::plan::{
    Approval, AttemptView, CardView, PlanView, SidebarView, SimulationState, SimulationView,
};
use crate::ui::{StatusView, WindowView};

static IDLE: std::sync::LazyLock<RunState> = std::sync::LazyLock::new(RunState::default);

impl App {
    pub(super) fn view(&self) -> WindowView<'_> {
        let live = self.running();
        let status_of = live.or(self.shown.as_ref());
        let run = status_of.map_or(&*IDLE, |session| &session.run);
        let elapsed = status_of.and_then(|session| session.elapsed_ms);
        let trouble = self.evidence_trouble.as_deref();
        WindowView {
            workspace: self.workspace(),
            situation: self.situation(),
            sidebar: SidebarView {
                plans: &self.recent,
                open: self.shown.as_ref().and_then(|session| session.path.as_deref()),
                runs: &self.runs,
                run: self.shown.as_ref().and_then(|session| session.run.run_id),
                now: &self.now,
            },
            plan: self.shown.as_ref().map(|session| self.plan_view(session)),
            evidence: EvidenceView {
                text: &self.evidence.text,
                problems: &self.evidence.problems,
                page: self.evidence.page.as_ref(),
                question: self.evidence.question.as_ref(),
                answer: self.evidence.answer.as_ref(),
                selected: self.evidence.selected,
                detail: self.evidence.detail.as_ref(),
                reconciled: self
                    .reconciled_in(self.evidence.detail.as_ref().map(|it| it.row.run_id)),
                attempt: self.attempt_of(self.evidence.detail.as_ref().map(|it| it.row.run_id)),
                contents: self.contents.all(),
                verification: &self.evidence.verification,
                focus_search: self.evidence.focus_search,
                scroll_to_selected: self.evidence.scroll_to_selected,
                now: &self.now,
            },
            diagnostics: self.shown.as_ref().map(|shown| shown.diagnostics.view(&shown.run)),
            looping: self.looping.view(self.place(), &self.now),
            status: self.status(run, elapsed, trouble),
            notices: &self.notices,
            dialog: self.dialog(),
            overlay: self.overlay.as_ref(),
        }
    }

    fn status(&self, run: &RunState, elapsed: Option<i64>, trouble: Option<&str>) -> StatusView {
        match self.looping.under_way() {
            Some(looping) if self.running().is_none() => {
                StatusView::of_loop(&looping.state, self.now.ms, trouble)
            }
            _ => StatusView::new(run, self.now.ms, elapsed, trouble),
        }
    }

    fn workspace(&self) -> Option<(String, String)> {
        if self.page == Page::Loop {
            let state = self.looping.shown_state()?;
            return Some((state.workspace.clone(), "The workspace of the loop.".to_owned()));
        }
        let session = self.shown.as_ref()?;
        match &session.review {
            Some(review) => {
                Some((review.workspace.display().to_string(), review.workspace_reason.clone()))
            }
            None => {
                let workspace = session.workspace.as_ref()?.display().to_string();
                Some((workspace, String::new()))
            }
        }
    }

    fn reconciled_in(&self, run_id: Option<Uuid>) -> &[Reconciled] {
        run_id.and_then(|run_id| self.reconciled.get(&run_id)).map_or(&[], Vec::as_slice)
    }

    fn attempt_of(&self, run_id: Option<Uuid>) -> Option<Attempt> {
        self.attempts.get(&run_id?).copied()
    }

    fn plan_view<'a>(&'a self, session: &'a PlanSession) -> PlanView<'a> {
        PlanView {
            path: session.path.as_deref(),
            digest: session.digest,
            plan: session.plan.as_deref(),
            figures: session.figures,
            findings: &session.findings,
            review: session.review.as_deref(),
            approval: &session.approval,
            run: &session.run,
            transcript: &session.transcript,
            pace: session.pace,
            shows_output: session.shows_output,
            continues: session.continues,
            attempt: session.attempt.map(|attempt| AttemptView {
                attempt: attempt.attempt,
                max_attempts: attempt.max_attempts,
                waits: attempt.waits,
            }),
            of_loop: match session.attempt {
                Some(it) => Some(Attempt { loop_id: it.loop_id, number: it.attempt }),
                None => self.attempt_of(session.run.run_id),
            },
            reconciled: self.reconciled_in(session.run.run_id),
            selected: session.selected,
            scroll_to_selected: session.scroll_to_selected,
            tab: session.tab,
            card: self.card(session),
            preview: session.previews.get(&session.selected),
            simulation: session.simulation.as_ref().filter(|_| session.shows_simulation).map(
                |it| SimulationView {
                    state: match &it.outcome {
                        None => SimulationState::UnderWay,
                        Some(Err(failure)) => SimulationState::Failed(failure),
                        Some(Ok(simulation)) => SimulationState::Done {
                            previews: &simulation.previews,
                            changes: &simulation.changes,
                        },
                    },
                    stale: it.stale,
                },
            ),
            contents: self.contents.all(),
            execution: session.selected_execution().and_then(|id| session.executions.get(&id)),
            now: &self.now,
        }
    }

    /// What decides which commands can be given.
    pub(super) fn situation(&self) -> Situation {
        let shown = self.shown.as_ref();
        let live = self.running();
        Situation {
            page: self.page,
            plan_open: shown.is_some(),
            steps: shown
                .and_then(|session| session.plan.as_ref())
                .map_or(0, |plan| plan.steps.len()),
            results: self.evidence.listed().len(),
            diagnostics: shown.map_or(0, |session| session.diagnostics.listing.shown.len()),
            not_authorizable: shown.and_then(PlanSession::not_authorizable),
            not_simulatable: shown.and_then(PlanSession::not_simulatable),
            approved: shown
                .is_some_and(|session| matches!(session.approval, Approval::Approved { .. })),
            over: shown.is_some_and(PlanSession::is_over),
            unfinished: shown.is_some_and(PlanSession::is_unfinished),
            remote: shown
                .and_then(|session| session.plan.as_ref())
                .is_some_and(|plan| plan.target.is_some()),
            trying: self.trying.is_some(),
            way_back: shown
                .and_then(|session| session.plan.as_ref())
                .is_some_and(|plan| !plan.notes.rollback.is_empty()),
            changed_files: shown.is_some_and(changed_files),
            interrupted: shown.is_some_and(|it| it.is_over() && it.run.phase == Phase::Interrupted),
            running: live.is_some(),
            paused: live.is_some_and(|session| session.run.phase == Phase::Paused),
            automatic: live.is_some_and(PlanSession::is_automatic),
            requested: live.is_some_and(|session| session.run.requested.is_some()),
            asking: live.and_then(PlanSession::asking),
            looping: self.looping.under_way().is_some(),
            attempt_waits: self.waiting_attempt().is_some(),
            loop_form: self.looping.which == Which::Form,
            no_place: self.place().and_then(PlaceReview::refusal),
            looking_elsewhere: live.is_some_and(|session| {
                self.page != Page::Plan
                    || self.live.is_some()
                    || session.selected != session.run.current_step
            }),
        }
    }

    /// The question in front: one that the person opened before the run's own.
    fn dialog(&self) -> Option<Dialog<'_>> {
        match self.prompt {
            Some(Prompt::Close) => {
                Some(Dialog { prompt: self.prompt_id(None, 0), question: Question::Close })
            }
            Some(prompt @ (Prompt::Trust | Prompt::TrustPlace)) => {
                let (workspace, commands) = self.asked_to_trust(prompt)?;
                let of_plan = prompt == Prompt::Trust;
                let question = Question::Trust { workspace, commands, of_plan };
                Some(Dialog { prompt: self.prompt_id(None, 0), question })
            }
            Some(prompt @ (Prompt::Authorize | Prompt::Reject)) => {
                let session = self.shown.as_ref()?;
                let plan = session.plan.as_ref()?;
                let question = match prompt {
                    Prompt::Reject => Question::Reject {
                        digest: plan.digest,
                        name: plan.name(),
                        ends_loop: session.attempt.is_some(),
                    },
                    _ => {
                        let ttl_ms = self.setup.policy.authorization_ttl_ms;
                        Question::Authorize(session.question(ttl_ms)?)
                    }
                };
                Some(Dialog { prompt: self.prompt_id(None, 0), question })
            }
            None => {
                let request = self.request()?;
                Some(Dialog {
                    prompt: self.prompt_id(Some(request.run_id), request.step_index),
                    question: Question::Confirm(request),
                })
            }
        }
    }

    fn request(&self) -> Option<&ConfirmationRequest> {
        self.running().filter(|session| !session.dismissed)?.request()
    }

    /// The question of a guided step, in its place among the steps.
    fn card<'a>(&'a self, session: &'a PlanSession) -> Option<CardView<'a>> {
        let request = session.request().filter(|request| request.guided)?;
        Some(CardView {
            prompt: self.prompt_id(Some(request.run_id), request.step_index),
            request,
            reveal: session.reveal_card,
            covered: self.overlay.is_some() || self.dialog().is_some(),
            in_front: self.prompt.is_none() && !session.dismissed,
        })
    }
}

/// Whether a run is over and may have changed files that are on the record. What a step that failed left
/// behind is taken back from its own record.
fn changed_files(session: &PlanSession) -> bool {
    let may_change = |step: &ShownStep| {
        let class = step.call.as_ref().map(ToolCall::class);
        matches!(class, Some(ToolClass::Mutate | ToolClass::Check))
            && match session.run.steps.get(step.step_index) {
                Some(StepState::Done(result)) => result.success,
                Some(StepState::Running) => true,
                _ => false,
            }
    };
    let plan = session.plan.as_ref();
    session.is_over() && plan.is_some_and(|plan| plan.steps.iter().any(may_change))
}
