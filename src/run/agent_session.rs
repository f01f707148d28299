//! The calls of agents that a window knows, by session: what was asked, what was decided, and what became of it.
//!
//! This is the memory of one window. What was decided is in the evidence, whatever is forgotten here.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::{Outcome, RunState, StepState};
use crate::authorization::{Binding, CallIdentity, SessionRule};
use crate::plan::Digest;

/// The maximum number of calls of one session that are kept. Beyond it, the oldest one that is over is forgotten.
pub const MAX_CALLS: usize = 500;
/// The maximum number of sessions. Beyond it, the one is forgotten whose last call is the oldest.
pub const MAX_SESSIONS: usize = 50;

/// A call that an agent wants to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCall {
    /// What the agent is called.
    pub agent: String,
    /// The agent's id of its session; may be empty.
    pub session: String,
    /// The folder of the agent, without links.
    pub workspace: PathBuf,
    /// The name of the tool.
    pub tool: String,
    /// What the call is about, shortened; empty if it is about nothing that is known here.
    pub subject: String,
    /// The whole command, if it is short enough for a rule to show all of it.
    pub command: Option<String>,
    /// When it was asked, in Unix milliseconds.
    pub at_ms: i64,
    /// Until when the agent waits, in Unix milliseconds.
    pub until_ms: i64,
    /// The digest of its plan; `None` if there is no plan.
    pub digest: Option<Digest>,
    /// What a call must be identical with; `None` if not all of it is known.
    pub identity: Option<CallIdentity>,
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallState {
    /// The agent waits for the person.
    Waits,
    /// It was authorized, and its run has not begun.
    Allowed,
    /// Its run is under way.
    Runs,
    /// Its run is over.
    Ran {
        /// How its step ended; `None` if that is not known.
        outcome: Option<Outcome>,
        /// The exit code of its command.
        exit_code: Option<i32>,
    },
    /// It was authorized, and the agent makes it itself.
    Permitted,
    /// The person has denied it, with these words.
    Denied(String),
    /// It was denied without a question, for this reason.
    Refused(String),
    /// The agent waits no longer for the decision, for this reason.
    Withdrawn(&'static str),
    /// It was authorized, and is not run, for this reason.
    NotRun(String),
}

impl CallState {
    /// Whether nothing more can become of the call.
    pub const fn is_over(&self) -> bool {
        !matches!(self, Self::Waits | Self::Allowed | Self::Runs)
    }
}

/// A call with what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionCall {
    /// Its number in its session, from 1.
    pub number: usize,
    /// The call.
    pub call: AgentCall,
    /// The file of its plan; `None` if it has none.
    pub file: Option<PathBuf>,
    /// What became of it.
    pub state: CallState,
    /// When that was decided, in Unix milliseconds.
    pub decided_at_ms: Option<i64>,
    /// The recorded decision.
    pub authorization_id: Option<Uuid>,
    /// The rule that has authorized it; `None` if a person has.
    pub by_rule: Option<Uuid>,
    /// Its run.
    pub run_id: Option<Uuid>,
    /// What a rule for identical calls would cover, or why there can be none; `None` if no person has authorized it here.
    pub for_rule: Option<Result<Box<Binding>, &'static str>>,
}

impl SessionCall {
    /// Notes what is known of its run.
    pub fn note_run(&mut self, run: &RunState) {
        if !matches!(self.state, CallState::Allowed | CallState::Runs) || !run.has_begun() {
            return;
        }
        self.run_id = run.run_id.or(self.run_id);
        self.state = match run.steps.first() {
            _ if !run.is_over() => CallState::Runs,
            Some(StepState::Done(result)) => {
                CallState::Ran { outcome: Some(result.outcome), exit_code: result.exit_code }
            }
            _ => CallState::Ran { outcome: None, exit_code: None },
        };
    }

    /// Ends a call that was authorized and is not run.
    pub fn note_not_run(&mut self, why: impl Into<String>) {
        if matches!(self.state, CallState::Allowed | CallState::Runs) {
            self.state = CallState::NotRun(why.into());
        }
    }
}

/// A session among those that a window knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionKey(pub u64);

/// One session of an agent in one folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSession {
    /// Which one it is in this window.
    pub key: SessionKey,
    /// What the agent is called.
    pub agent: String,
    /// The agent's id of it; may be empty.
    pub session: String,
    /// The folder of the agent, without links.
    pub workspace: PathBuf,
    /// Its calls, in the order in which they were asked.
    pub calls: VecDeque<SessionCall>,
    /// The number of its calls, with those that are forgotten.
    pub total: usize,
    /// The rules that count in it.
    pub rules: Vec<SessionRule>,
}

impl AgentSession {
    /// The calls that wait for the person.
    pub fn waiting(&self) -> impl Iterator<Item = &SessionCall> {
        self.calls.iter().filter(|it| it.state == CallState::Waits)
    }

    /// The number of earlier calls that are forgotten here.
    pub fn forgotten(&self) -> usize {
        self.total - self.calls.len()
    }

    /// The call with this number.
    pub fn call(&self, number: usize) -> Option<&SessionCall> {
        let index = self.calls.binary_search_by_key(&number, |it| it.number).ok()?;
        self.calls.get(index)
    }

    /// The calls that are identical with this one.
    pub fn identical<'a>(
        &'a self,
        identity: &'a CallIdentity,
    ) -> impl Iterator<Item = &'a SessionCall> {
        self.calls.iter().filter(move |it| it.call.identity.as_ref() == Some(identity))
    }

    fn is_idle(&self) -> bool {
        self.calls.iter().all(|it| it.state.is_over())
    }

    fn last_ms(&self) -> i64 {
        self.calls.back().map_or(0, |it| it.call.at_ms)
    }
}

/// All sessions that a window knows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentSessions {
    /// The sessions, the first one first.
    pub all: Vec<AgentSession>,
    /// Where the calls are whose plans have files.
    files: BTreeMap<PathBuf, (SessionKey, usize)>,
    last_key: u64,
}

impl AgentSessions {
    /// Adds a call. Returns where it is.
    pub fn add(
        &mut self,
        call: AgentCall,
        file: Option<PathBuf>,
        state: CallState,
    ) -> (SessionKey, usize) {
        let is_same = |it: &AgentSession| {
            (&it.agent, &it.session, &it.workspace) == (&call.agent, &call.session, &call.workspace)
        };
        let index = match self.all.iter().position(is_same) {
            Some(index) => index,
            None => {
                self.make_room();
                self.last_key += 1;
                self.all.push(AgentSession {
                    key: SessionKey(self.last_key),
                    agent: call.agent.clone(),
                    session: call.session.clone(),
                    workspace: call.workspace.clone(),
                    calls: VecDeque::new(),
                    total: 0,
                    rules: Vec::new(),
                });
                self.all.len() - 1
            }
        };
        let Some(session) = self.all.get_mut(index) else { return (SessionKey(0), 0) };
        if session.calls.len() >= MAX_CALLS
            && let Some(oldest) = session.calls.iter().position(|it| it.state.is_over())
            && let Some(SessionCall { file: Some(file), .. }) = session.calls.remove(oldest)
        {
            self.files.remove(&file);
        }
        session.total += 1;
        let place = (session.key, session.total);
        if let Some(file) = &file {
            self.files.insert(file.clone(), place);
        }
        session.calls.push_back(SessionCall {
            number: session.total,
            call,
            file,
            state,
            decided_at_ms: None,
            authorization_id: None,
            by_rule: None,
            run_id: None,
            for_rule: None,
        });
        place
    }

    fn make_room(&mut self) {
        if self.all.len() < MAX_SESSIONS {
            return;
        }
        let idle = self.all.iter().filter(|it| it.is_idle());
        if let Some(key) = idle.min_by_key(|it| it.last_ms()).map(|it| it.key) {
            self.forget(key);
        }
    }

    /// Forgets a session, unless a call of it is not over. Its rules end with it.
    pub fn forget(&mut self, key: SessionKey) {
        if self.session(key).is_some_and(AgentSession::is_idle) {
            self.all.retain(|it| it.key != key);
            self.files.retain(|_, (of, _)| *of != key);
        }
    }

    /// The session with this key.
    pub fn session(&self, key: SessionKey) -> Option<&AgentSession> {
        self.all.iter().find(|it| it.key == key)
    }

    /// The same, to change it.
    pub fn session_mut(&mut self, key: SessionKey) -> Option<&mut AgentSession> {
        self.all.iter_mut().find(|it| it.key == key)
    }

    /// Where the call is whose plan is in this file.
    pub fn place_of(&self, file: &Path) -> Option<(SessionKey, usize)> {
        self.files.get(file).copied()
    }

    /// The call at this place.
    pub fn call(&self, (key, number): (SessionKey, usize)) -> Option<&SessionCall> {
        self.session(key)?.call(number)
    }

    /// The same, to change it.
    pub fn call_mut(&mut self, (key, number): (SessionKey, usize)) -> Option<&mut SessionCall> {
        let session = self.session_mut(key)?;
        let index = session.calls.binary_search_by_key(&number, |it| it.number).ok()?;
        session.calls.get_mut(index)
    }

    /// The call whose plan is in this file, to change it.
    pub fn of_file_mut(&mut self, file: &Path) -> Option<&mut SessionCall> {
        self.call_mut(self.place_of(file)?)
    }

    /// The rule with this id.
    pub fn rule_mut(&mut self, rule_id: Uuid) -> Option<&mut SessionRule> {
        let mut rules = self.all.iter_mut().flat_map(|it| &mut it.rules);
        rules.find(|it| it.rule_id == rule_id)
    }

    /// Ends the rule about calls like the one in this file, which the person does not want any more.
    pub fn end_rules_like(&mut self, file: &Path) {
        let place = self.place_of(file);
        let identity = place.and_then(|it| self.call(it)?.call.identity.clone());
        let session = place.and_then(|(key, _)| self.session_mut(key));
        if let Some((session, identity)) = session.zip(identity) {
            session.rules.retain(|rule| rule.identity != identity);
        }
    }

    /// Ends the rule with this id. Returns it, if it counted.
    pub fn end_rule(&mut self, rule_id: Uuid) -> Option<SessionRule> {
        self.all.iter_mut().find_map(|session| {
            let index = session.rules.iter().position(|it| it.rule_id == rule_id)?;
            Some(session.rules.remove(index))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(session: &str, at_ms: i64) -> AgentCall {
        AgentCall {
            agent: "Gemini CLI".to_owned(),
            session: session.to_owned(),
            workspace: "/w".into(),
            tool: "run_shell_command".to_owned(),
            subject: "ls".to_owned(),
            command: None,
            at_ms,
            until_ms: at_ms + 1,
            digest: None,
            identity: None,
        }
    }

    fn add(sessions: &mut AgentSessions, session: &str, at_ms: i64, state: CallState) -> usize {
        sessions.add(call(session, at_ms), Some(format!("/{session}/{at_ms}").into()), state).1
    }

    #[test]
    fn calls_of_one_session_and_folder_are_together() {
        let mut sessions = AgentSessions::default();
        add(&mut sessions, "a", 1, CallState::Waits);
        add(&mut sessions, "b", 2, CallState::Waits);
        add(&mut sessions, "a", 3, CallState::Permitted);
        let elsewhere = AgentCall { workspace: "/v".into(), ..call("a", 4) };
        sessions.add(elsewhere, None, CallState::Waits);
        let other = AgentCall { agent: "Codex".to_owned(), ..call("a", 5) };
        sessions.add(other, None, CallState::Waits);
        let counts: Vec<_> =
            sessions.all.iter().map(|it| (it.total, it.waiting().count())).collect();
        assert_eq!(counts, [(2, 1), (1, 1), (1, 1), (1, 1)]);
        let place = sessions.place_of(Path::new("/a/3")).unwrap();
        assert_eq!(sessions.call(place).unwrap().number, 2);
        sessions.of_file_mut(Path::new("/a/1")).unwrap().state = CallState::Runs;
        assert_eq!(sessions.all[0].waiting().count(), 0);
    }

    /// What still waits is never forgotten, and what is forgotten is counted.
    #[test]
    fn a_long_session_keeps_its_last_calls_and_those_that_wait() {
        let mut sessions = AgentSessions::default();
        add(&mut sessions, "a", 0, CallState::Waits);
        for at_ms in 1..5_000 {
            add(&mut sessions, "a", at_ms, CallState::Permitted);
        }
        let session = &sessions.all[0];
        assert_eq!((session.calls.len(), session.total), (MAX_CALLS, 5_000));
        assert_eq!(session.forgotten(), 5_000 - MAX_CALLS);
        assert_eq!(session.call(1).unwrap().state, CallState::Waits);
        assert_eq!(session.call(2), None);
        assert_eq!(session.call(5_000).unwrap().call.at_ms, 4_999);
        assert_eq!(sessions.files.len(), MAX_CALLS, "no file of a forgotten call is kept");
        assert_eq!(sessions.place_of(Path::new("/a/1")), None);
    }

    #[test]
    fn the_session_that_was_idle_longest_is_forgotten_first() {
        let mut sessions = AgentSessions::default();
        add(&mut sessions, "waits", 0, CallState::Waits);
        for number in 1..=MAX_SESSIONS {
            add(&mut sessions, &number.to_string(), number as i64, CallState::Permitted);
        }
        assert_eq!(sessions.all.len(), MAX_SESSIONS);
        assert_eq!(sessions.all[0].session, "waits");
        assert_eq!(sessions.all[1].session, "2");
        let waits = sessions.all[0].key;
        sessions.forget(waits);
        assert!(sessions.session(waits).is_some(), "a call of it is not over");
        assert_eq!(sessions.files.len(), MAX_SESSIONS);
    }
}
