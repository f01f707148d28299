//! Calls of agents in the window: each is a plan in the inbox for whose decision an agent waits.

use std::path::{Path, PathBuf};

use super::App;
use super::agent_sessions::note_decision;
use super::plan_page::{PlanPage, PlanSession};
use super::recent::RecentChange;
use super::shared::Prompt;
use crate::authorization::{AuthorizationStatus, Binding, PlanAuthorization};
use crate::plan::drawable;
use crate::run::{AgentCall, CallState, Control};
use crate::ui::notice::Scope;
use crate::ui::plan::Approval;
use crate::ui::{Page, Tone};
use crate::worker::calls::{CallNews, CallRun, Settled, WaitingCall};
use crate::worker::inbox::WithdrawCalls;

impl App {
    /// Applies what has happened to the calls of agents since the last frame.
    pub(super) fn take_calls(&mut self) {
        let Some(calls) = &self.shared.calls else { return };
        let all_news = calls.take_news();
        let is_news = !all_news.is_empty();
        for news in all_news {
            match news {
                CallNews::Arrived(file, call) => self.take_call(file, *call),
                CallNews::Refused(call, why) => {
                    self.agents.sessions.add(*call, None, CallState::Refused(why));
                }
                CallNews::Withdrawn { file, agent, why } => self.withdraw_call(&file, &agent, why),
                CallNews::Run(file, run) => self.begin_call(file, run),
                CallNews::Left => self.stop_left_calls(),
                CallNews::Fault(error) => {
                    let summary = "Hooks of agents cannot ask in this window.";
                    let next =
                        "Their calls are denied. Mend the cause, then open the window again.";
                    self.shared.notify(Tone::Caution, summary, error, next);
                }
            }
        }
        self.plan.refuse_removed_calls();
        self.note_call_runs();
        self.remove_settled_calls();
        if is_news {
            self.list_inbox();
        }
    }

    /// Adds a call that has arrived to its session. A rule answers it, or the person is asked.
    fn take_call(&mut self, file: PathBuf, call: AgentCall) {
        let place = self.agents.sessions.add(call, Some(file.clone()), CallState::Waits);
        self.inbox.refresh();
        if !self.ask_rule(place, &file) {
            self.show_call(file);
        }
    }

    /// Shows a call that waits for the person, if the page shows nothing, or only a call that is done.
    pub(super) fn show_call(&mut self, file: PathBuf) {
        let is_free = match &self.plan.shown {
            None => !self.agents.is_read(),
            Some(shown) => shown.is_done_call(),
        };
        if is_free && self.shared.prompt.is_none() && self.shared.page == Page::Plan {
            self.plan.open(file, None, &mut self.shared);
        }
    }

    /// Closes a plan for whose decision nobody waits any more.
    fn withdraw_call(&mut self, file: &Path, agent: &str, why: &'static str) {
        let shown = self.plan.shown.as_ref().filter(|it| it.path() == Some(file));
        let name = shown.map(|it| it.name().to_owned());
        if name.is_some() {
            self.shared.close_prompt(&Prompt::ABOUT_PLAN);
            self.agents.look_at(file);
        }
        if let Some(call) = self.agents.sessions.of_file_mut(file) {
            call.state = CallState::Withdrawn(why);
        }
        self.forget_call(file);
        self.inbox.refresh();
        if let Some(name) = name {
            let summary = format!("{agent} waits no longer for a decision: {why}.");
            let next = "Nothing was run. The call was denied.";
            self.shared.notify_in(Scope::Window, Tone::Caution, summary, drawable(&name), next);
        }
    }

    fn forget_call(&mut self, file: &Path) {
        self.plan.close_file(file, &mut self.shared);
        self.plan.unqueue(file);
        self.plan.forget_open(file);
        self.change_recent(RecentChange::Remove(file.to_owned()));
    }

    /// Puts the plan whose ticket was used into the queue. It begins at once if nothing is under way.
    fn begin_call(&mut self, file: PathBuf, run: CallRun) {
        if self.close_when_idle {
            return run.refuse("the window is being closed");
        }
        let call = self.agents.sessions.of_file_mut(&file);
        let name = call.map(|it| it.call.subject.clone()).filter(|it| !it.is_empty());
        self.plan.enqueue_call(file, name, run);
        self.start_next();
    }

    /// Stops the run for which nobody waits any more, and takes such plans out of the queue.
    fn stop_left_calls(&mut self) {
        if self.plan.drop_left_calls() {
            self.control(Control::StopNow);
        }
    }

    /// Tells the agent that waits for it what was decided about the plan in this file. `call` is what waited when the person
    /// decided.
    pub(super) fn tell_decision(
        &mut self,
        file: &Path,
        call: Option<&WaitingCall>,
        authorization: &PlanAuthorization,
        for_rule: Result<Box<Binding>, &'static str>,
    ) {
        let (Some(call), Some(calls)) = (call, &self.shared.calls) else { return };
        let id = authorization.authorization_id;
        let mut note = |state: CallState, for_rule| {
            note_decision(&mut self.agents, file, authorization.decided_at_ms, |call| {
                (call.state, call.for_rule) = (state, for_rule);
                call.authorization_id = Some(id);
            });
        };
        if let AuthorizationStatus::Rejected { reason } = &authorization.status {
            if calls.deny(file, reason) {
                note(CallState::Denied(reason.clone()), None);
                self.agents.sessions.end_rules_like(file);
                self.show_next_of_session(file);
            }
            return;
        }
        match calls.permit(file) {
            // The plan runs as soon as the agent uses its ticket.
            Some(Settled::Ticket) => note(CallState::Allowed, Some(for_rule)),
            Some(Settled::Permitted) => {
                note(CallState::Permitted, None);
                self.agents.look_at(file);
                self.forget_call(file);
                self.show_next_of_session(file);
                let summary = format!("{} does it itself.", call.agent);
                let next =
                    "The evidence says that you permitted it, and not what the agent then did.";
                self.shared.notify(Tone::Dim, summary, "", next);
            }
            None => {
                self.forget_call(file);
                let summary = format!("{} waits no longer for the decision.", call.agent);
                self.shared.notify(Tone::Caution, summary, "", "Nothing was run.");
            }
        }
    }

    /// Deletes the plans of calls that are decided, done and no longer shown. The evidence has what became of them.
    fn remove_settled_calls(&mut self) {
        let Some(calls) = &self.shared.calls else { return };
        let files = calls.take_settled(|file| self.plan.needs_file(file));
        if files.is_empty() {
            return;
        }
        self.agents.end_unused(files.iter().map(PathBuf::as_path));
        for file in &files {
            self.plan.forget_open(file);
            self.change_recent(RecentChange::Remove(file.clone()));
        }
        self.shared.query_each(WithdrawCalls { files }, |app, _, _| app.inbox.refresh());
    }
}

impl PlanPage {
    /// An authorization as it is recorded, with who has asked for it. If the agent makes the call itself, it authorizes no
    /// run.
    pub(super) fn as_decided(
        call: Option<&WaitingCall>,
        authorization: PlanAuthorization,
    ) -> PlanAuthorization {
        match call {
            None => authorization,
            Some(call) if !call.runs_here => authorization.for_agent_call(&call.text),
            Some(call) => authorization.asked_by(call.asked_by.clone()),
        }
    }

    /// Whether something of the plan in this file is shown, queued or under way.
    pub(super) fn needs_file(&self, file: &Path) -> bool {
        self.sessions().any(|session| session.path() == Some(file)) || self.is_queued(file)
    }
}

impl PlanSession {
    /// Whether this is the call of an agent about which nothing is to be done any more.
    fn is_done_call(&self) -> bool {
        let is_call = self.opened.held.as_ref().is_some_and(|it| it.asked_until_ms.is_some());
        let is_decided = self.run.is_over() || matches!(self.approval, Approval::Rejected(_));
        is_call && is_decided && !self.is_live()
    }
}
