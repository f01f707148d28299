//! The calls that wait, and the tickets, between the connections and the window.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::about::agent_lives;
use super::output::{CallOutput, CallRun};
use super::serve;
use crate::hooks::channel::Reply;
use crate::run::AgentCall;
use crate::worker::{Setup, Wake};

/// How long a ticket can be used. The agent uses it at once; its own user may have to confirm that first.
const TICKET_LIFE: Duration = Duration::from_secs(300);
/// The maximum number of tickets that are known. The oldest of those that are used or have expired are forgotten.
const MAX_TICKETS: usize = 1_000;

/// The maximum number of calls that were denied without a question and that the window has not heard of. Those beyond it
/// are not listed.
const MAX_REFUSED: usize = 1_000;

/// The maximum number of sessions whose decisions are counted.
const MAX_SESSIONS: usize = 1_000;

/// The calls of agents that wait for a person in this window.
pub struct AgentCalls {
    pub(super) desk: Arc<Desk>,
}

/// A call that an agent waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingCall {
    /// What the agent is called.
    pub agent: String,
    /// The agent's id of its session; may be empty.
    pub session: String,
    /// The call, as it is recorded if the agent makes it itself.
    pub text: String,
    /// Who asks, as it is recorded if the plan is run here.
    pub asked_by: String,
    /// Whether the plan is run here. Otherwise the agent makes the call itself.
    pub runs_here: bool,
}

/// How many calls of one session of an agent were decided here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SessionTally {
    /// Those that were authorized.
    pub authorized: usize,
    /// Those that were rejected.
    pub rejected: usize,
}

/// What has become of a call for which somebody waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// The agent has a ticket, with which the plan will be run.
    Ticket,
    /// The agent makes the call itself.
    Permitted,
}

/// What the window has to do.
#[derive(Debug)]
pub enum CallNews {
    /// A call waits for the person, whose plan is in this file.
    Arrived(PathBuf, Box<AgentCall>),
    /// A call was denied without a question, for this reason.
    Refused(Box<AgentCall>, String),
    /// Nobody waits for the decision about this plan any more.
    Withdrawn {
        /// The file of the plan, which was removed from the inbox.
        file: PathBuf,
        /// What the agent is called.
        agent: String,
        /// Why.
        why: &'static str,
    },
    /// The plan in this file is to be run, because its ticket was used.
    Run(PathBuf, CallRun),
    /// A client that waited for a run has left.
    Left,
    /// The socket cannot be served.
    Fault(String),
}

pub(super) struct Desk {
    pub(super) setup: Setup,
    wake: Wake,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    calls: BTreeMap<PathBuf, Call>,
    tickets: BTreeMap<String, Ticket>,
    news: Vec<CallNews>,
    /// The files of calls that are decided. They are deleted once the window does not show them any more.
    settled: BTreeSet<PathBuf>,
    /// What was decided in each session of an agent, by the agent and its id.
    sessions: BTreeMap<(String, String), SessionTally>,
    is_closed: bool,
    /// The socket, while it is served.
    socket: Option<PathBuf>,
}

struct Call {
    waiting: WaitingCall,
    /// The connection. Shutting down its reading side wakes the thread that waits for it.
    stream: UnixStream,
    verdict: Option<Reply>,
}

struct Ticket {
    file: PathBuf,
    made: Instant,
    /// The process of the agent with which the ticket ends; `None` if a person has decided about this very call.
    process: Option<String>,
    is_used: bool,
}

impl AgentCalls {
    /// Serves the socket in this folder on threads of its own, unless another window does.
    ///
    /// # Errors
    /// When the system cannot start a thread.
    pub fn start(folder: &Path, setup: Setup, wake: Wake) -> io::Result<Self> {
        let calls = Self { desk: Arc::new(Desk { setup, wake, state: Mutex::default() }) };
        serve::start(folder.to_owned(), Arc::clone(&calls.desk))?;
        Ok(calls)
    }

    /// The call for which an agent waits, if the plan in this file is one.
    pub fn waiting(&self, file: &Path) -> Option<WaitingCall> {
        let state = self.desk.state();
        let call = state.calls.get(file).filter(|call| call.verdict.is_none())?;
        Some(call.waiting.clone())
    }

    /// Lets the agent make the call whose plan the person has authorized; `None` if it does not wait any more.
    pub fn permit(&self, file: &Path) -> Option<Settled> {
        self.permit_while(file, None)
    }

    /// As [`permit`](Self::permit), with a ticket that ends with this process of the agent.
    pub fn permit_to(&self, file: &Path, process: &str) -> Option<Settled> {
        self.permit_while(file, Some(process.to_owned()))
    }

    fn permit_while(&self, file: &Path, process: Option<String>) -> Option<Settled> {
        let mut state = self.desk.state();
        let state = &mut *state;
        let call = state.calls.get_mut(file).filter(|call| call.verdict.is_none())?;
        let (reply, settled) = match call.waiting.runs_here {
            true => {
                let ticket = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
                forget_old(&mut state.tickets);
                let made = Instant::now();
                let known = Ticket { file: file.to_owned(), made, process, is_used: false };
                state.tickets.insert(ticket.clone(), known);
                (Reply::Ticket(ticket), Settled::Ticket)
            }
            false => (Reply::Permitted, Settled::Permitted),
        };
        let session = call.session();
        call.decide(reply);
        state.tally(session).authorized += 1;
        state.settled.insert(file.to_owned());
        Some(settled)
    }

    /// Tells the agent that the person does not want the call; false if it does not wait any more.
    pub fn deny(&self, file: &Path, reason: &str) -> bool {
        let mut state = self.desk.state();
        let state = &mut *state;
        let call = state.calls.get_mut(file).filter(|call| call.verdict.is_none());
        let Some(call) = call else { return false };
        let session = call.session();
        let said = match reason.trim() {
            "" => "the person gave no reason".to_owned(),
            reason => format!("the person says: {reason}"),
        };
        call.decide(Reply::Denied(format!("The person denied this call; {said}")));
        state.tally(session).rejected += 1;
        state.settled.insert(file.to_owned());
        true
    }

    /// What was decided so far in the session of this call; `None` if no agent waits for the plan in this file.
    pub fn tally(&self, file: &Path) -> Option<SessionTally> {
        let state = self.desk.state();
        let call = state.calls.get(file)?;
        Some(state.sessions.get(&call.session()).copied().unwrap_or_default())
    }

    /// Whether the plan in this file was decided for an agent, which has not used its ticket yet.
    pub fn has_ticket(&self, file: &Path) -> bool {
        let state = self.desk.state();
        state.tickets.values().any(|it| it.file == file && !it.is_used && !it.has_expired())
    }

    /// What has happened since the last call.
    pub fn take_news(&self) -> Vec<CallNews> {
        std::mem::take(&mut self.desk.state().news)
    }

    /// The ids of the proposals of calls that are decided, except those of which `is_kept` says that they are needed. They are
    /// named once.
    pub fn take_settled(&self, is_kept: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
        let mut state = self.desk.state();
        let State { settled, tickets, news, .. } = &mut *state;
        let has_ticket = |file: &PathBuf| {
            tickets.values().any(|it| it.file == *file && !it.is_used && !it.has_expired())
        };
        // The window has not heard yet that the ticket was used.
        let is_to_run = |file: &PathBuf| {
            news.iter().any(|it| matches!(it, CallNews::Run(path, _) if path == file))
        };
        let is_done = |file: &&PathBuf| !has_ticket(file) && !is_to_run(file) && !is_kept(file);
        let done: Vec<_> = settled.iter().filter(is_done).cloned().collect();
        settled.retain(|file| !done.contains(file));
        done
    }
}

impl Drop for AgentCalls {
    fn drop(&mut self) {
        let mut state = self.desk.state();
        state.is_closed = true;
        for call in state.calls.values() {
            let _ = call.stream.shutdown(Shutdown::Both);
        }
        let socket = state.socket.take();
        drop(state);
        // Wakes the thread, which sees that the window closes.
        socket.map(UnixStream::connect);
    }
}

impl State {
    fn tally(&mut self, session: (String, String)) -> &mut SessionTally {
        // A session that is forgotten begins anew with 0.
        if self.sessions.len() >= MAX_SESSIONS && !self.sessions.contains_key(&session) {
            self.sessions.clear();
        }
        self.sessions.entry(session).or_default()
    }
}

impl Call {
    fn session(&self) -> (String, String) {
        (self.waiting.agent.clone(), self.waiting.session.clone())
    }

    fn decide(&mut self, reply: Reply) {
        self.verdict = Some(reply);
        // Wakes the thread of the connection, which sends the answer. If the agent has left, nothing is lost.
        let _ = self.stream.shutdown(Shutdown::Read);
    }
}

impl Ticket {
    fn has_expired(&self) -> bool {
        self.made.elapsed() > TICKET_LIFE
    }
}

fn forget_old(tickets: &mut BTreeMap<String, Ticket>) {
    while tickets.len() >= MAX_TICKETS {
        let is_over = |ticket: &Ticket| ticket.is_used || ticket.has_expired();
        let over = tickets.iter().filter(|(_, it)| is_over(it));
        let oldest = over.min_by_key(|(_, it)| it.made).or_else(|| tickets.iter().next());
        let Some(name) = oldest.map(|(name, _)| name.clone()) else { return };
        tickets.remove(&name);
    }
}

impl Desk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that this socket is served now. Returns false if the window closes.
    pub(super) fn serves(&self, socket: &Path) -> bool {
        let mut state = self.state();
        state.socket = Some(socket.to_owned());
        !state.is_closed
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state().is_closed
    }

    /// Tells the window.
    pub(super) fn tell(&self, news: CallNews) {
        self.state().news.push(news);
        (self.wake)();
    }

    /// Tells the window of a call that was denied without a question.
    pub(super) fn tell_refused(&self, call: AgentCall, why: &str) {
        let mut state = self.state();
        if state.news.len() < MAX_REFUSED {
            state.news.push(CallNews::Refused(Box::new(call), why.to_owned()));
        }
        drop(state);
        (self.wake)();
    }

    /// Adds a call whose plan is in the inbox. Returns false if the window closes.
    pub(super) fn add(
        &self,
        file: &Path,
        waiting: WaitingCall,
        call: AgentCall,
        stream: UnixStream,
    ) -> bool {
        let mut state = self.state();
        if state.is_closed {
            return false;
        }
        state.calls.insert(file.to_owned(), Call { waiting, stream, verdict: None });
        drop(state);
        self.tell(CallNews::Arrived(file.to_owned(), Box::new(call)));
        true
    }

    /// Ends the wait for a decision about this call. Returns the decision, if there is one: then it counts, whatever happened
    /// meanwhile.
    pub(super) fn take(&self, file: &Path, why: &'static str) -> Option<Reply> {
        let mut state = self.state();
        let call = state.calls.remove(file)?;
        if call.verdict.is_some() {
            return call.verdict;
        }
        let agent = call.waiting.agent;
        drop(state);
        self.tell(CallNews::Withdrawn { file: file.to_owned(), agent, why });
        None
    }

    /// The output of the run that this ticket stands for, which begins now.
    ///
    /// # Errors
    /// Why the ticket cannot be used.
    pub(super) fn redeem(self: &Arc<Self>, ticket: &str) -> Result<CallOutput, &'static str> {
        let mut state = self.state();
        let known = state.tickets.get_mut(ticket);
        let known = known.ok_or("this window has not issued the ticket, or it is too old")?;
        if known.is_used {
            return Err("the ticket was used already; each counts once");
        }
        if known.has_expired() {
            return Err("the ticket has expired");
        }
        if known.process.as_deref().is_some_and(|it| !agent_lives(it)) {
            return Err("the agent that got the ticket by a rule has ended");
        }
        known.is_used = true;
        let file = known.file.clone();
        let desk = Arc::clone(self);
        let output = CallOutput::new(Arc::new(move || desk.tell(CallNews::Left)));
        // With the ticket, so that its plan counts as needed all the time.
        state.news.push(CallNews::Run(file, CallRun::new(output.clone())));
        drop(state);
        (self.wake)();
        Ok(output)
    }
}
