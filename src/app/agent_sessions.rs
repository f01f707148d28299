//! The calls of agents by session, in the window: one page for each session, to which each call adds a row.

use std::path::Path;

use super::App;
use super::inbox::Inbox;
use super::plan_page::PlanPage;
use super::shared::Prompt;
use crate::authorization::RuleTime;
use crate::plan::drawable;
use crate::run::{AgentSessions, CallState, SessionCall, SessionKey};
use crate::ui::Page;
use crate::ui::action::AgentsAction;
use crate::ui::plan::SessionView;
use crate::worker::calls::AgentCalls;

/// Where a call is: its session, and its number there.
pub(super) type CallPlace = (SessionKey, usize);

/// What the window knows of the calls of agents.
#[derive(Debug, Default)]
pub(super) struct Agents {
    pub(super) sessions: AgentSessions,
    /// The call whose record the page shows while it shows no plan, and whether the person has chosen it.
    looked_at: Option<(CallPlace, bool)>,
    /// The rule that the open dialog is about.
    pub(super) draft: Option<(CallPlace, RuleTime)>,
}

impl Agents {
    /// Ends the authorized calls in these files that were not run, because their tickets were not used.
    pub(super) fn end_unused<'a>(&mut self, files: impl IntoIterator<Item = &'a Path>) {
        for file in files {
            if let Some(call) = self.sessions.of_file_mut(file) {
                call.note_not_run("the agent has not used its ticket");
            }
        }
    }

    /// Whether the person reads the record of a call.
    pub(super) fn is_read(&self) -> bool {
        self.looked_at.is_some_and(|(_, chosen)| chosen)
    }

    /// Shows the record of the call in this file if no plan is shown.
    pub(super) fn look_at(&mut self, file: &Path) {
        self.looked_at = self.sessions.place_of(file).map(|place| (place, false));
    }
}

impl App {
    /// The call that the page is about: the one whose plan or run is shown, otherwise the one whose record is.
    fn shown_call(&self) -> Option<CallPlace> {
        let sessions = &self.agents.sessions;
        let Some(shown) = &self.plan.shown else {
            let (place, _) = self.agents.looked_at?;
            return sessions.call(place).map(|_| place);
        };
        if let Some(path) = shown.path() {
            return sessions.place_of(path);
        }
        let run_id = shown.run.run_id.filter(|_| !sessions.all.is_empty())?;
        sessions.all.iter().find_map(|session| {
            let call = session.calls.iter().find(|it| it.run_id == Some(run_id))?;
            Some((session.key, call.number))
        })
    }

    /// The session that the page is about.
    pub(super) fn session_view(&self) -> Option<SessionView<'_>> {
        let (key, selected) = self.shown_call()?;
        Some(SessionView {
            session: self.agents.sessions.session(key)?,
            selected,
            offer: self.rule_offer((key, selected)),
        })
    }

    pub(super) fn apply_agents(&mut self, action: AgentsAction) {
        match action {
            AgentsAction::Open(key) => self.open_session(key),
            AgentsAction::Forget(key) => self.agents.sessions.forget(key),
            AgentsAction::Show(key, number) => self.show_session_call((key, number)),
            AgentsAction::OfferRule(key, number) => self.offer_rule((key, number)),
            AgentsAction::ChooseTime(time) => {
                if let Some((_, chosen)) = &mut self.agents.draft {
                    *chosen = time;
                }
            }
            AgentsAction::TakeBack(rule_id) => self.take_back_rule(rule_id),
        }
    }

    /// Shows a session: the call that waits longest, otherwise the last one.
    fn open_session(&mut self, key: SessionKey) {
        let Some(session) = self.agents.sessions.session(key) else { return };
        let call = session.waiting().next().or(session.calls.back());
        if let Some(number) = call.map(|it| it.number) {
            self.show_session_call((key, number));
        }
    }

    /// Shows a call: its plan as long as there is one, otherwise what became of it.
    fn show_session_call(&mut self, place: CallPlace) {
        let Some(call) = self.agents.sessions.call(place) else { return };
        let file = call.file.clone();
        let file = file.filter(|it| !call.state.is_over() || self.plan.needs_file(it));
        self.shared.page = Page::Plan;
        match file {
            Some(file) => self.plan.show_open(&file, &mut self.shared),
            None => {
                if self.plan.shown.is_some() {
                    self.plan.close(&mut self.shared);
                }
                self.agents.looked_at = Some((place, true));
            }
        }
    }

    /// Shows the next call of the same session that waits, if the page shows the one in this file.
    pub(super) fn show_next_of_session(&mut self, file: &Path) {
        let is_shown = match &self.plan.shown {
            Some(shown) => shown.path() == Some(file),
            None => !self.agents.is_read(),
        };
        let place = self.agents.sessions.place_of(file).filter(|_| is_shown);
        let session = place.and_then(|(key, _)| self.agents.sessions.session(key));
        let next = session.and_then(|it| it.waiting().next()).map(|it| it.number);
        if let (Some((key, _)), Some(number)) = (place, next) {
            self.show_session_call((key, number));
        }
    }

    /// Notes what has become of calls whose runs this window knows.
    pub(super) fn note_call_runs(&mut self) {
        for session in self.plan.sessions() {
            let call = session.path().and_then(|path| self.agents.sessions.of_file_mut(path));
            if let Some(call) = call {
                call.note_run(&session.run);
            }
        }
        for (file, why) in self.plan.take_refused_calls() {
            if let Some(call) = self.agents.sessions.of_file_mut(&file) {
                call.note_not_run(drawable(&why));
            }
        }
        if self.plan.shown.is_some() {
            self.agents.looked_at = None;
        }
        // The session may have been forgotten meanwhile.
        if self.shared.prompt == Some(Prompt::SessionRule) && self.rule_view().is_none() {
            self.shared.prompt = None;
        }
    }

    /// Whether the plan of the run that is not shown is a call that a rule has authorized.
    pub(super) fn is_live_by_rule(&self) -> bool {
        let path = self.plan.live.as_ref().and_then(|live| live.path());
        let place = path.and_then(|path| self.agents.sessions.place_of(path));
        place.and_then(|it| self.agents.sessions.call(it)).is_some_and(|it| it.by_rule.is_some())
    }

    /// Lists the inbox without the calls that are listed in their sessions.
    pub(super) fn list_inbox(&mut self) {
        self.inbox.list_without(&self.agents.sessions);
    }
}

impl Inbox {
    fn list_without(&mut self, sessions: &AgentSessions) {
        let entries = self.list.entries.iter().zip(&self.waits);
        let others = entries.filter(|(entry, _)| sessions.place_of(&entry.path).is_none());
        let (entries, waits) = others.map(|(entry, waits)| (entry.clone(), *waits)).unzip();
        self.others.entries = entries;
        self.others.omitted = self.list.omitted;
        self.others.fault.clone_from(&self.list.fault);
        self.others_wait = waits;
    }
}

/// Notes a decision about the call in this file.
pub(super) fn note_decision(
    agents: &mut Agents,
    file: &Path,
    now_ms: i64,
    change: impl FnOnce(&mut SessionCall),
) {
    if let Some(call) = agents.sessions.of_file_mut(file) {
        call.decided_at_ms = Some(now_ms);
        change(call);
    }
}

impl PlanPage {
    /// Whether the plan in this file may be answered by a rule: the page does not show it, and its agent still waits.
    pub(super) fn leaves_to_rule(&self, file: &Path, calls: Option<&AgentCalls>) -> bool {
        let waits = calls.and_then(|calls| calls.waiting(file)).is_some_and(|it| it.runs_here);
        waits && self.sessions().all(|it| it.path() != Some(file))
    }
}

/// Whether a call still waits for the person.
pub(super) fn waits(call: Option<&SessionCall>) -> bool {
    call.is_some_and(|it| it.state == CallState::Waits)
}
