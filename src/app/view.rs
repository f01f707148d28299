//! Builds the view model of one frame from the window's state.

use super::App;
use super::history::Direction;
use super::loop_page::LoopContent;
use super::plan_page::PlanSession;
use super::shared::Prompt;
use crate::run::{CommandsReview, PlaceReview, RunState};
use crate::ui::diagnostics::DiagnosticsView;
use crate::ui::dialog::{AfterRejection, Dialog, Question, Subject, WaitingAgent};
use crate::ui::evidence::is_offered;
use crate::ui::plan::{InboxView, PlanView};
use crate::ui::{Page, Situation, StatusView, WindowView};

/// The state of a run in the status bar if no plan is shown.
static IDLE: std::sync::LazyLock<RunState> = std::sync::LazyLock::new(RunState::default);

impl App {
    pub(super) fn view(&self) -> WindowView<'_> {
        let (shared, shown) = (&self.shared, self.plan.shown.as_ref());
        let dialog = self.dialog();
        let covered = self.overlay.is_some() || dialog.is_some();
        let session = self.session_view();
        let inbox = InboxView {
            sessions: &self.agents.sessions.all,
            open_session: session.as_ref().map(|it| it.session.key),
            ..self.inbox.view()
        };
        WindowView {
            workspace: self.workspace(),
            situation: self.situation(),
            sidebar: self.plan.sidebar(inbox, &self.loop_page.summaries, shared),
            session,
            plan: self.plan.view(covered, shared).map(|view| {
                let of_loop = view.of_loop;
                let prequel = of_loop.and_then(|attempt| self.loop_page.prequel(attempt));
                let sequel = of_loop.and_then(|attempt| self.loop_page.sequel(attempt));
                PlanView { prequel, sequel, ..view }
            }),
            evidence: self.evidence.view(shared),
            diagnostics: shown.map(|shown| DiagnosticsView {
                last_run: self.plan.last_run().map(|run| run.run_id),
                ..shown.diagnostics.view(&shown.run, shown.opened.plan.as_deref())
            }),
            looping: self.loop_page.view(shared),
            agent: self.agent.view(self.inbox.waiting()),
            status: self.status(),
            notices: &shared.notices,
            dialog,
            settings: self.settings_page.view.as_deref(),
            overlay: self.overlay.as_ref(),
            tour: self.tour.view(),
        }
    }

    fn status(&self) -> StatusView {
        let (now_ms, error) = (self.shared.now.ms, self.shared.evidence_error);
        let running = self.plan.running();
        match self.loop_page.under_way() {
            Some(live) if running.is_none() => StatusView::of_loop(&live.state, now_ms, error),
            _ => {
                let is_its_page = matches!(self.shared.page, Page::Plan | Page::Diagnostics);
                // On another page, an end that the person has seen is no news.
                let shown = self.plan.shown.as_ref().filter(|it| is_its_page || !it.end_was_seen);
                let session = running.or(shown);
                let run = session.map_or(&*IDLE, |session| &session.run);
                let elapsed_ms = session.and_then(|session| session.elapsed_ms);
                let status = StatusView::new(run, now_ms, elapsed_ms, error);
                // Any other page or plan leaves open which plan this is about.
                let is_hidden = self.shared.page != Page::Plan || self.plan.other_plan().is_some();
                let status = match running.filter(|_| is_hidden) {
                    Some(running) => status.of_plan(running.name()),
                    None => status,
                };
                let is_elsewhere = session.is_some_and(PlanSession::runs_elsewhere);
                let status = if is_elsewhere { status.of_another_window() } else { status };
                // The end of a run that is on its page is told there.
                let tells_end = session.is_some_and(|it| it.run.has_begun());
                if tells_end { status } else { status.with_inbox(self.inbox.waiting()) }
            }
        }
    }

    /// The workspace of the loop or plan on the page, and why it was chosen.
    fn workspace(&self) -> Option<(String, String)> {
        if self.shared.page == Page::Loop {
            let state = self.loop_page.shown_state()?;
            return Some((state.workspace.clone(), "The workspace of the loop.".to_owned()));
        }
        if self.shared.page == Page::Agent {
            let workspace = self.agent.workspace()?.to_owned();
            return Some((workspace, "The workspace of the agent.".to_owned()));
        }
        let session = self.plan.shown.as_ref()?;
        match &session.opened.review {
            Some(review) => {
                Some((review.workspace.display().to_string(), review.workspace_reason.clone()))
            }
            None => Some((session.workspace.as_ref()?.display().to_string(), String::new())),
        }
    }

    /// The state that decides which commands are available.
    pub(super) fn situation(&self) -> Situation {
        let of_plan = self.plan.situation();
        Situation {
            page: self.shared.page,
            tour: self.tour.is_open(),
            results: self.evidence.listed().len(),
            not_exportable: self.evidence.not_exportable(),
            team_set: self.evidence.team.is_set(),
            team_shown: self.evidence.shows_team(),
            search_offered: is_offered(self.evidence.text()),
            looping: self.loop_page.under_way().is_some(),
            agent_works: self.agent.works(),
            agent_form: self.agent.shows_form(),
            agent_lacks: self.agent.lacks(),
            rule: self.session_view().and_then(|view| view.offer),
            inbox_waiting: self.inbox.waiting(),
            in_inbox: self.shown_in_inbox().is_some(),
            inbox_decided: self.decided_in_inbox().next().is_some(),
            can_go_back: self.can_go(Direction::Back),
            can_go_forward: self.can_go(Direction::Forward),
            loop_form: self.loop_page.content == LoopContent::Form,
            loop_changed_files: self.loop_page.shown_state().is_some_and(|state| {
                state.is_over() && state.attempts.iter().any(|attempt| attempt.run.is_some())
            }),
            form_lacks: self.loop_page.form.missing().next().map(|(_, text)| text),
            folders_unusable: self.loop_page.folder_review().and_then(PlaceReview::refusal),
            current_step_hidden: of_plan.running
                && (of_plan.current_step_hidden || self.shared.page != Page::Plan),
            ..of_plan
        }
    }

    /// The dialog to show. One that the person opened comes before the confirmation of a step.
    pub(super) fn dialog(&self) -> Option<Dialog<'_>> {
        let Some(prompt) = self.shared.prompt else {
            let request = self.plan.request();
            let running = self.plan.running();
            if let Some((prompt, id, question)) = self.shared.shown_secret(request) {
                // A check of a host, or a signature, may ask while a run is under way.
                let is_of_run = !self.shared.worker.is_beside_run(id);
                let plan = running.filter(|_| is_of_run).map(PlanSession::name);
                let question = Question::Secret { id, question, plan };
                return Some(Dialog { prompt, question });
            }
            let request = request?;
            let prompt = self.shared.prompt_id(Some(request));
            let in_loop = running.is_some_and(|session| session.attempt.is_some());
            let plan = running.map_or("", PlanSession::name);
            let changed = running.map_or(&[][..], |session| &session.confirmation.changed);
            let question = Question::Confirm { request, plan, in_loop, changed };
            return Some(Dialog { prompt, question });
        };
        let question = match prompt {
            Prompt::Close => Question::Close {
                under_way: match (self.loop_page.under_way(), self.plan.running()) {
                    (Some(_), _) => Some("loop"),
                    (None, Some(_)) => Some("run"),
                    (None, None) => self.agent.works().then_some("agent"),
                },
                queued: self.plan.queue_place().1,
            },
            Prompt::Trust | Prompt::TrustForLoop => {
                let (workspace, commands) = self.commands_to_trust(prompt)?;
                Question::Trust { workspace, commands, of_plan: prompt == Prompt::Trust }
            }
            Prompt::Export => Question::Export(self.evidence.export_view(&self.shared)),
            Prompt::Purge => Question::Purge(self.purge.as_ref()?),
            Prompt::FillIn => Question::FillIn(self.plan.fill_in_view()?),
            Prompt::RememberWalls => {
                let binding = &self.plan.review()?.binding;
                let grants = binding.grants.for_every_plan()?;
                Question::RememberWalls { workspace: &binding.workspace, grants }
            }
            Prompt::SessionRule => Question::SessionRule(self.rule_view()?),
            Prompt::Reject => {
                let session = self.plan.shown.as_ref()?;
                let plan = session.opened.plan.as_ref()?;
                Question::Reject {
                    digest: plan.digest,
                    name: plan.name(),
                    file: session.path(),
                    then: match session.attempt {
                        _ if session.opened.request.is_some() => AfterRejection::RequesterIsTold,
                        None if self.waiting_agent(session).is_some() => {
                            AfterRejection::AgentIsTold
                        }
                        None => AfterRejection::Nothing,
                        Some(it) if it.attempt.number < it.max_attempts => {
                            AfterRejection::AnotherPlan
                        }
                        Some(_) => AfterRejection::LoopEnds,
                    },
                }
            }
            Prompt::Authorize => {
                let policy = &self.shared.setup.policy;
                let session = self.plan.shown.as_ref()?;
                let agent = self.waiting_agent(session);
                Question::Authorize(session.authorize_view(policy, agent, &self.shared.now)?)
            }
        };
        Some(Dialog { prompt: self.shared.prompt_id(None), question })
    }

    /// The agent that waits for this plan, which is its call.
    fn waiting_agent(&self, session: &PlanSession) -> Option<WaitingAgent> {
        let call = self.shared.calls.as_ref()?.waiting(session.path()?)?;
        let until_ms = session.opened.held.as_ref()?.asked_until_ms?;
        Some(WaitingAgent { name: call.agent, acts: !call.runs_here, until_ms })
    }

    /// Whether a question with text fields may still be answered. A plan can be rejected again and again.
    pub(super) fn is_open(&self, subject: &Subject) -> bool {
        match *subject {
            Subject::Step { run_id, step_index } => {
                let request = self.plan.running().and_then(PlanSession::request);
                request.is_some_and(|it| (it.run_id, it.step_index) == (run_id, step_index))
            }
            Subject::Secret(secret) => self.shared.secrets.iter().any(|(id, _)| *id == secret),
            Subject::RejectedFile(_) | Subject::RejectedPlan(_) => true,
            Subject::Purge => self.purge.is_some(),
            // A secret stays no longer than its dialog.
            Subject::Inputs(ref file) => {
                let shown = self.plan.fill_in_view();
                self.shared.prompt == Some(Prompt::FillIn)
                    && shown.is_some_and(|view| view.file == *file)
            }
        }
    }

    /// The workspace and its commands in the trust dialog `prompt`: those of the shown plan or of the loop form. `None`
    /// for other dialogs, or if there are no commands.
    pub(super) fn commands_to_trust(&self, prompt: Prompt) -> Option<(&str, &CommandsReview)> {
        match prompt {
            Prompt::Trust => {
                let review = self.plan.review()?;
                Some((&review.binding.workspace, review.workspace_commands.as_ref()?))
            }
            Prompt::TrustForLoop => {
                let place = self.loop_page.folder_review()?;
                Some((&place.workspace, place.commands.as_ref().ok()?.as_ref()?))
            }
            Prompt::Authorize
            | Prompt::Reject
            | Prompt::FillIn
            | Prompt::RememberWalls
            | Prompt::SessionRule
            | Prompt::Export
            | Prompt::Purge
            | Prompt::Close => None,
        }
    }
}
