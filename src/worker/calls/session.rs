//! Sessions with agents that the window has started: their questions wait like the calls of hooks.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use super::about::shortened;
use super::desk::{AgentCalls, Desk, WaitingCall};
use super::serve::{one_word, said};
use crate::engine::{Clock as _, SystemClock};
use crate::hooks::channel::Reply;
use crate::risk::RiskLevel;
use crate::run::{AgentCall, Failure, NO_DEADLINE_MS, StopSignal};
use crate::worker::Wake;
use crate::worker::acp::{
    Asked, News, Order, Person, SessionEnd, Signals, Subject, Update, Verdict, name_of, run,
};
use crate::worker::inbox::{InboxFolder, PLAN_NAME, Proposal, propose, withdraw};

/// The maximum size of what a session has told and the window has not taken, in bytes.
const MAX_TOLD: usize = 4 << 20;

/// A session with an agent. Dropping it stops it, and waits until the agent is ended.
pub struct AgentSession {
    stop: Arc<StopSignal>,
    log: Arc<Log>,
    thread: Option<JoinHandle<()>>,
}

/// What has happened in a session.
#[derive(Debug)]
pub enum SessionNews {
    /// It tells something.
    Told(News),
    /// Words of the agent were dropped, because the window did not take them; how many bytes.
    LeftOut(usize),
    /// It has ended, or could not begin. Nothing follows.
    Ended(Result<SessionEnd, Failure>),
}

struct Log {
    told: Mutex<Told>,
    wake: Wake,
}

#[derive(Default)]
struct Told {
    news: Vec<SessionNews>,
    bytes: usize,
    left_out: usize,
}

impl AgentCalls {
    /// Starts a session with an agent on a thread of its own. Its questions wait in this window.
    ///
    /// # Errors
    /// When the system cannot start a thread.
    pub fn start_session(&self, order: Order, wake: Wake) -> io::Result<AgentSession> {
        let stop = Arc::new(StopSignal::default());
        let log = Arc::new(Log { told: Mutex::default(), wake });
        let (desk, its_log, signals) =
            (Arc::clone(&self.desk), Arc::clone(&log), Signals::new(Arc::clone(&stop)));
        let builder = thread::Builder::new().name("agent-session".to_owned());
        let thread = builder.spawn(move || {
            let workspace = order.workspace.clone();
            let log = Arc::clone(&its_log);
            let mut person = WindowPerson { desk, log, workspace, tickets: BTreeMap::new() };
            let ended = run(&order, &mut person, &signals);
            its_log.add(SessionNews::Ended(ended));
        })?;
        Ok(AgentSession { stop, log, thread: Some(thread) })
    }
}

impl AgentSession {
    /// Cancels the turn of the agent, and then ends the agent.
    pub fn stop(&self) {
        self.stop.set();
    }

    /// What has happened since the last call.
    pub fn take_news(&self) -> Vec<SessionNews> {
        let mut told = self.log.told();
        let mut news = std::mem::take(&mut told.news);
        (told.bytes, told.left_out) = match std::mem::take(&mut told.left_out) {
            0 => (0, 0),
            left_out => {
                news.push(SessionNews::LeftOut(left_out));
                (0, 0)
            }
        };
        news
    }
}

impl Drop for AgentSession {
    fn drop(&mut self) {
        self.stop();
        // A panic of that thread is reported by its hook.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Log {
    fn told(&self) -> std::sync::MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, news: SessionNews) {
        let mut told = self.told();
        let size = match &news {
            SessionNews::Told(
                News::Update(Update::Words(text) | Update::Thought(text)) | News::Printed(text),
            ) => text.len(),
            _ => 0,
        };
        if size > 0 && told.bytes.saturating_add(size) > MAX_TOLD {
            told.left_out = told.left_out.saturating_add(size);
            return;
        }
        told.bytes += size;
        told.add(news);
        drop(told);
        (self.wake)();
    }
}

impl Told {
    /// Adds news; a further part of a text is added to the part before it.
    fn add(&mut self, news: SessionNews) {
        use SessionNews::Told as T;
        match (self.news.last_mut(), &news) {
            (
                Some(T(News::Update(Update::Words(before)))),
                T(News::Update(Update::Words(text))),
            )
            | (
                Some(T(News::Update(Update::Thought(before)))),
                T(News::Update(Update::Thought(text))),
            )
            | (Some(T(News::Printed(before))), T(News::Printed(text))) => before.push_str(text),
            _ => self.news.push(news),
        }
    }
}

/// The person in the window.
struct WindowPerson {
    desk: Arc<Desk>,
    log: Arc<Log>,
    workspace: PathBuf,
    /// The tickets of the files that were approved, by the number of the question.
    tickets: BTreeMap<u64, String>,
}

impl WindowPerson {
    /// Puts a plan into the inbox and waits for the decision about it.
    ///
    /// # Errors
    /// Why nobody can be asked.
    fn wait(&mut self, asked: &Asked, over: &Arc<StopSignal>) -> Result<Verdict, String> {
        let inbox = InboxFolder::open(&self.desk.setup.inbox).map_err(|error| said(&error))?;
        let proposal = Proposal {
            bytes: asked.plan.clone(),
            name: name_of(&asked.subject),
            folder: None,
            workspace: self.workspace.clone(),
            from: asked.agent.chars().take(200).collect(),
            at_ms: SystemClock::default().now_ms(),
            asked_until_ms: Some(NO_DEADLINE_MS),
        };
        let handle = propose(&inbox, &proposal, &self.desk.setup.policy);
        let handle = handle.map_err(|error| said(&error))?;
        if handle.plan.worst == Some(RiskLevel::Blocked) {
            withdraw(&inbox, &handle.id);
            return Err("Countersign never runs such a command, whoever authorizes it".to_owned());
        }
        let file = inbox.path().join(&handle.id).join(PLAN_NAME);
        let (text, runs_here) = match &asked.subject {
            Subject::Write { .. } => (asked.asked_by.clone(), true),
            Subject::Command { call, .. } => (format!("{}; {call}", asked.asked_by), false),
        };
        let (tool, subject) = match &asked.subject {
            Subject::Write { path, .. } => ("write", path),
            Subject::Command { command, .. } => ("command", command),
        };
        let about = AgentCall {
            agent: proposal.from.clone(),
            session: one_word(&asked.session),
            workspace: proposal.workspace,
            tool: tool.to_owned(),
            subject: shortened(subject),
            // The agent itself runs its commands, so no rule is offered.
            command: None,
            at_ms: proposal.at_ms,
            until_ms: NO_DEADLINE_MS,
            digest: Some(handle.digest),
            identity: None,
        };
        let waiting = WaitingCall {
            agent: proposal.from,
            session: one_word(&asked.session),
            text,
            asked_by: asked.asked_by.clone(),
            runs_here,
        };
        // The decision shuts the stream down, and so does the end of the session. Nothing is ever sent.
        let pair = UnixStream::pair().and_then(|(stream, peer)| {
            let (of_desk, of_session) = (stream.try_clone()?, stream.try_clone()?);
            Ok((stream, peer, of_desk, of_session))
        });
        let (mut stream, _peer, of_desk, of_session) = pair.map_err(|error| {
            withdraw(&inbox, &handle.id);
            error.to_string()
        })?;
        let ends: Arc<dyn Fn() + Send + Sync> = Arc::new(move || {
            let _ = of_session.shutdown(Shutdown::Read);
        });
        over.listen(&ends);
        if !self.desk.add(&file, waiting, about, of_desk) || over.is_set() {
            let _ = self.desk.take(&file, "the session is over");
            withdraw(&inbox, &handle.id);
            return Ok(Verdict::Left);
        }
        let _ = stream.read(&mut [0]);
        Ok(match self.desk.take(&file, "its session is over") {
            Some(Reply::Ticket(ticket)) => {
                self.tickets.insert(asked.number, ticket);
                Verdict::Approved
            }
            Some(Reply::Permitted) => Verdict::Approved,
            Some(_) => Verdict::Rejected,
            None => {
                withdraw(&inbox, &handle.id);
                Verdict::Left
            }
        })
    }
}

impl Person for WindowPerson {
    fn tell(&mut self, news: News) {
        self.log.add(SessionNews::Told(news));
    }

    fn ask(&mut self, asked: &Asked, over: &Arc<StopSignal>) -> Verdict {
        self.wait(asked, over).unwrap_or_else(|why| {
            self.tell(News::NotApprovable { title: asked.title.clone(), why });
            Verdict::Rejected
        })
    }

    fn run(&mut self, number: u64) -> Result<(), String> {
        let ticket = self.tickets.remove(&number);
        let ticket = ticket.ok_or_else(|| "the approval was used already".to_owned())?;
        let output = self.desk.redeem(&ticket)?;
        while let Some(reply) = output.next() {
            if let Reply::End { code, message } = reply {
                return match code {
                    0 => Ok(()),
                    _ => Err(message),
                };
            }
        }
        Err("the window was closed before the file was written".to_owned())
    }
}
