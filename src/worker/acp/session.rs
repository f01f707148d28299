//! One prompt for one agent, from its start to its end.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::approvals::{Approvals, Use};
use super::child::Child;
use super::mailbox::{Mail, Mailbox};
use super::proposal::{self, Asked, Proposal, Subject};
use crate::acp::{
    AgentInfo, Choice, Client, Event, Fault, Permission, StopReason, Update, WriteFile,
};
use crate::autonomy::WalledAgent;
use crate::evidence::EvidenceLocation;
use crate::plan::{Code, Digest};
use crate::risk::Policy;
use crate::run::{Failure, StopSignal};
use crate::tools::{AgentEnd, Toolbox};
use crate::worker::default_folders;

/// How long an agent may take until its session begins.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// How long an agent may take to end its turn after it was cancelled, and to end by itself at the end of its input.
const END_TIMEOUT: Duration = Duration::from_secs(5);
/// The beginning of the prompt that is recorded, in bytes.
const PROMPT_BYTES: usize = 500;

/// What an agent is started for.
#[derive(Debug, Clone)]
pub struct Order {
    /// The program of the agent and its arguments.
    pub command: Vec<String>,
    /// What it is asked to do.
    pub prompt: String,
    /// The folder in which it works.
    pub workspace: PathBuf,
    /// The policy from the person's settings.
    pub policy: Policy,
    /// The location of the evidence.
    pub location: EvidenceLocation,
}

/// What a session tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// The program is being started; what it may do and what enforces this.
    Starting {
        /// The sentence.
        limits: String,
        /// Whether walls keep the agent from changing the workspace by itself.
        is_held: bool,
    },
    /// The agent has said what it is.
    Connected(AgentInfo),
    /// The agent works. Its id of the session.
    Begun(String),
    /// The agent tells something.
    Update(Update),
    /// A request was rejected without a question, because it cannot be approved.
    NotApprovable {
        /// What the agent calls it.
        title: String,
        /// Why, as a clause.
        why: String,
    },
    /// A file that the agent sent was not written.
    Refused {
        /// The file.
        path: String,
        /// Why, as a clause.
        why: String,
        /// Whether the person was asked about it, so that its question says the same.
        asked: bool,
    },
    /// A file was written.
    Written {
        /// The file.
        path: String,
    },
    /// A part of the agent's stderr, or a line of its stdout that is no message.
    Printed(String),
}

/// What a person decides about a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is authorized, which is recorded.
    Approved,
    /// It is rejected.
    Rejected,
    /// It is rejected, and the agent is to end its turn.
    RejectedAndStop,
    /// Nobody has decided, because the session is over.
    Left,
}

/// The person at the other side of a session.
pub trait Person {
    /// Shows what a session tells.
    fn tell(&mut self, news: News);

    /// Lets the person decide about a plan, and records the decision. Blocks; must return once `over` is set, if it can.
    fn ask(&mut self, asked: &Asked, over: &Arc<StopSignal>) -> Verdict;

    /// Runs the plan with this number, which the person has authorized.
    ///
    /// # Errors
    /// Why the file was not written, as a sentence for the agent.
    fn run(&mut self, number: u64) -> Result<(), String>;
}

/// How a session has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionEnd {
    /// Why the agent has ended its turn; `None` if it has not.
    pub reason: Option<StopReason>,
    /// What went wrong; `None` if nothing did.
    pub fault: Option<Failure>,
    /// Whether the person has stopped the session.
    pub stopped: bool,
    /// The files that were approved and that the agent has not sent.
    pub unused: Vec<String>,
}

/// Runs a session to its end. `over` stops it, and is set once the agent has ended.
///
/// # Errors
/// The agent cannot be started.
pub fn run(
    order: &Order,
    person: &mut dyn Person,
    over: &Arc<StopSignal>,
) -> Result<SessionEnd, Failure> {
    let folder = std::fs::canonicalize(&order.workspace);
    let folder = folder.map_err(|error| unusable(order, &error.to_string()))?;
    let home = default_folders().and_then(|folders| std::fs::canonicalize(folders.home).ok());
    if folder.parent().is_none() || Some(&folder) == home.as_ref() {
        let why = "an agent works in the folder of a project, and not in the home folder or in /";
        return Err(unusable(order, why));
    }
    let Some(cwd) = folder.to_str() else { return Err(unusable(order, "its name is not Unicode")) };
    let own = order.location.folders();
    let failure = |error: crate::tools::ToolError| error.failure();
    let agent = WalledAgent::new(&order.command, &folder, &order.policy, own).map_err(failure)?;
    let toolbox = Toolbox::open(&folder, &order.policy).map_err(failure)?.without_folders(own);
    person.tell(News::Starting { limits: agent.limits.clone(), is_held: agent.is_held() });
    let mailbox = Arc::new(Mailbox::default());
    let waker: Arc<dyn Fn() + Send + Sync> = {
        let mailbox = Arc::clone(&mailbox);
        Arc::new(move || mailbox.wake())
    };
    over.listen(&waker);
    let child = Child::start(agent, &mailbox, over).map_err(|error| Failure {
        code: Code::CommandFailed,
        message: format!("the agent cannot be started: {error}"),
        next: String::new(),
    })?;
    let session = Session {
        order,
        client: Client::new(cwd.to_owned(), order.prompt.clone()),
        child,
        mailbox,
        over,
        person,
        toolbox,
        approvals: Approvals::default(),
        agent: order.command.first().cloned().unwrap_or_default(),
        session: String::new(),
        asked: 0,
        reason: None,
    };
    Ok(session.run())
}

fn unusable(order: &Order, why: &str) -> Failure {
    Failure {
        code: Code::BadValue,
        message: format!("{} cannot be the workspace: {why}", order.workspace.display()),
        next: "Name another folder with --workspace.".to_owned(),
    }
}

struct Session<'a> {
    order: &'a Order,
    client: Client,
    child: Child,
    mailbox: Arc<Mailbox>,
    over: &'a Arc<StopSignal>,
    person: &'a mut dyn Person,
    /// For reading files; the executor opens tools of its own.
    toolbox: Toolbox,
    approvals: Approvals,
    /// What the agent is called.
    agent: String,
    session: String,
    /// The number of questions so far.
    asked: u64,
    reason: Option<StopReason>,
}

/// Why a session does not go on.
enum Halt {
    /// The agent has ended its turn.
    Done,
    /// The person has stopped it.
    Stopped,
    /// The agent is of no use.
    Fault(Failure),
    /// The program of the agent has ended.
    Ended(Result<AgentEnd, Failure>),
}

/// An id of the agent in a sentence.
fn one_word(text: &str) -> String {
    text.chars().filter(|it| !it.is_whitespace() && !it.is_control()).take(60).collect()
}

/// Why a file was not written.
struct NotWritten {
    why: String,
    /// Whether the person was asked about it.
    asked: bool,
    /// Whether the session goes on.
    halt: Result<(), Halt>,
}

impl NotWritten {
    fn refused(why: String) -> Self {
        Self { why, asked: false, halt: Ok(()) }
    }

    fn failed(why: String) -> Self {
        Self { asked: true, ..Self::refused(why) }
    }
}

impl Session<'_> {
    fn run(mut self) -> SessionEnd {
        let halt = self.work();
        let stopped = matches!(halt, Halt::Stopped);
        let fault = match halt {
            Halt::Done => None,
            Halt::Stopped => {
                self.cancel();
                None
            }
            Halt::Fault(failure) => Some(failure),
            Halt::Ended(ended) => Some(self.ended_early(ended)),
        };
        if fault.is_none() {
            // An agent that has ended its turn may still write down its session.
            self.child.close_input();
            self.wait_for_end();
        }
        self.child.end();
        let unused = self.approvals.unused().map(str::to_owned).collect();
        SessionEnd { reason: self.reason, fault, stopped, unused }
    }

    /// Handles messages until the turn is over.
    fn work(&mut self) -> Halt {
        let begin = self.client.begin();
        self.send(begin);
        let start = Instant::now() + START_TIMEOUT;
        loop {
            let until = (!self.client.has_begun()).then_some(start);
            match self.mailbox.take(until, Some(self.over)) {
                Some(mail) => {
                    if let Err(halt) = self.receive(mail) {
                        return halt;
                    }
                }
                // The end of the agent sets the signal, too.
                None if self.over.is_set() => return self.rest().unwrap_or(Halt::Stopped),
                None => {
                    let seconds = START_TIMEOUT.as_secs();
                    let message = format!("the agent has not answered within {seconds} seconds");
                    return Halt::Fault(fault_of(message, START_HELP));
                }
            }
        }
    }

    /// Handles what an agent that has ended has left; `None` if it has not ended.
    fn rest(&mut self) -> Option<Halt> {
        let mut halt = None;
        while let Some(mail) = self.mailbox.take(Some(Instant::now()), None) {
            match mail {
                Mail::Ended(ended) => return Some(halt.unwrap_or(Halt::Ended(ended))),
                mail if halt.is_none() => halt = self.receive(mail).err(),
                _ => {}
            }
        }
        halt.filter(|halt| matches!(halt, Halt::Done))
    }

    fn receive(&mut self, mail: Mail) -> Result<(), Halt> {
        let line = match mail {
            Mail::Line(line) => line,
            Mail::Stderr(bytes) => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                self.person.tell(News::Printed(text));
                return Ok(());
            }
            Mail::Ended(ended) => return Err(Halt::Ended(ended)),
        };
        let events = self.client.receive(&line).map_err(|fault| Halt::Fault(failure_of(&fault)))?;
        events.into_iter().try_for_each(|event| self.handle(event))
    }

    fn handle(&mut self, event: Event) -> Result<(), Halt> {
        match event {
            Event::Send(line) => self.send(line),
            Event::Connected(info) => {
                if !info.name.is_empty() {
                    self.agent = format!("{} {}", info.name, info.version).trim_end().to_owned();
                }
                self.person.tell(News::Connected(info));
            }
            Event::Begun(session) => {
                self.session.clone_from(&session);
                self.person.tell(News::Begun(session));
            }
            Event::Update(update) => self.person.tell(News::Update(update)),
            Event::Permission(permission) => return self.permission(&permission),
            Event::Write(write) => return self.write(&write),
            Event::Malformed(why) => {
                let title = "a request without a usable form".to_owned();
                self.person.tell(News::NotApprovable { title, why });
            }
            Event::Noise(line) => self.person.tell(News::Printed(format!("{line}\n"))),
            Event::Ended(reason) => {
                self.reason = Some(reason);
                return Err(Halt::Done);
            }
        }
        Ok(())
    }

    fn send(&mut self, line: Vec<u8>) {
        // An agent that does not read is ended by its time limit or by the person.
        if !self.child.send(line) {
            self.child.close_input();
        }
    }

    /// Asks the person about a request, and answers it.
    fn permission(&mut self, permission: &Permission) -> Result<(), Halt> {
        let title = &permission.call.title;
        let proposal = match proposal::of_permission(permission, &self.toolbox, &self.order.policy)
        {
            Ok(proposal) => proposal,
            Err(why) => {
                if let [diff] = permission.call.diffs.as_slice()
                    && let Ok(path) = proposal::key_of(&diff.path, &self.toolbox)
                {
                    self.approvals.reject(path);
                }
                self.person.tell(News::NotApprovable { title: title.clone(), why });
                self.send(permission.answer(Choice::Reject));
                return Ok(());
            }
        };
        let call = format!("tool call {:?}", permission.call.id);
        let (number, subject, verdict) = self.ask(proposal, title, &call);
        match (verdict, subject) {
            (Verdict::Approved, subject) => {
                if let Subject::Write { path, content } = subject {
                    self.approvals.approve(path, number, content);
                }
                self.send(permission.answer(Choice::Allow));
                Ok(())
            }
            (Verdict::Left, _) => {
                self.send(permission.answer(Choice::Cancelled));
                Ok(())
            }
            (rejected, subject) => {
                if let Subject::Write { path, .. } = subject {
                    self.approvals.reject(path);
                }
                self.send(permission.answer(Choice::Reject));
                ends(rejected)
            }
        }
    }

    /// Writes a file that the agent sends, if it is approved, or asks about it.
    fn write(&mut self, write: &WriteFile) -> Result<(), Halt> {
        let (answer, halt) = match self.try_write(write) {
            Ok(path) => {
                self.person.tell(News::Written { path });
                (write.answer(Ok(())), Ok(()))
            }
            Err(NotWritten { why, asked, halt }) => {
                let answer = write.answer(Err(&why));
                self.person.tell(News::Refused { path: write.path.clone(), why, asked });
                (answer, halt)
            }
        };
        self.send(answer);
        halt
    }

    fn try_write(&mut self, write: &WriteFile) -> Result<String, NotWritten> {
        let path = proposal::key_of(&write.path, &self.toolbox).map_err(NotWritten::refused)?;
        match self.approvals.take(&path, &write.content) {
            Use::Run(number) => self.person.run(number).map_err(NotWritten::failed)?,
            Use::Refuse(why) => return Err(NotWritten::refused(why.to_owned())),
            Use::Ask => {
                let proposal = proposal::of_write(write, &self.toolbox);
                let proposal = proposal.map_err(NotWritten::refused)?;
                let title = format!("Write {path}");
                let (number, _, verdict) = self.ask(proposal, &title, "a write without a request");
                match verdict {
                    Verdict::Approved => {
                        self.approvals.used(path.clone(), write.content.clone());
                        self.person.run(number).map_err(NotWritten::failed)?;
                    }
                    Verdict::Left => {
                        return Err(NotWritten::failed("the session is over".to_owned()));
                    }
                    rejected => {
                        self.approvals.reject(path);
                        let why = "the person has rejected the change of this file".to_owned();
                        return Err(NotWritten { halt: ends(rejected), ..NotWritten::failed(why) });
                    }
                }
            }
        }
        Ok(path)
    }

    /// Asks the person about a plan. Returns its number and what it is about.
    fn ask(&mut self, proposal: Proposal, title: &str, call: &str) -> (u64, Subject, Verdict) {
        self.asked += 1;
        let Proposal { plan, subject } = proposal;
        let asked = Asked {
            number: self.asked,
            plan,
            subject: subject.clone(),
            title: title.to_owned(),
            asked_by: self.asked_by(call),
            agent: self.agent.clone(),
            session: self.session.clone(),
        };
        let verdict = match self.over.is_set() {
            true => Verdict::Left,
            false => self.person.ask(&asked, self.over),
        };
        (self.asked, subject, verdict)
    }

    /// Who asks, for the record.
    fn asked_by(&self, call: &str) -> String {
        let prompt = &self.order.prompt;
        let digest = Digest::of(prompt.as_bytes());
        let end = prompt.floor_char_boundary(PROMPT_BYTES);
        let more = if end < prompt.len() { "…" } else { "" };
        let prompt = prompt.get(..end).unwrap_or_default();
        format!(
            "asked by {:?} ({}) over the Agent Client Protocol in its conversation {}, {call}; its prompt is {prompt:?}{more}, {digest}",
            self.agent,
            self.order.command.join(" "),
            one_word(&self.session),
        )
    }

    /// Tells the agent that its turn is over, and waits for the end of it.
    fn cancel(&mut self) {
        let Some(line) = self.client.cancel() else { return };
        self.send(line);
        let until = Instant::now() + END_TIMEOUT;
        while let Some(mail) = self.mailbox.take(Some(until), None) {
            // Questions are answered with a cancellation, because the session is over.
            if self.receive(mail).is_err() {
                return;
            }
        }
    }

    fn wait_for_end(&self) {
        let until = Instant::now() + END_TIMEOUT;
        while let Some(mail) = self.mailbox.take(Some(until), None) {
            if matches!(mail, Mail::Ended(_)) {
                return;
            }
        }
    }

    fn ended_early(&self, ended: Result<AgentEnd, Failure>) -> Failure {
        let end = match ended {
            Ok(end) => end,
            Err(failure) => return failure,
        };
        let how = end.failure.unwrap_or_else(|| "the agent ended".to_owned());
        let when = match self.client.has_begun() {
            true => "before the end of its turn",
            false => "before its session began",
        };
        let last = end.stderr.lines().map(str::trim).rfind(|line| !line.is_empty());
        let last = last.map(|line| format!(": {line}")).unwrap_or_default();
        fault_of(format!("{how} {when}{last}"), START_HELP)
    }
}

/// What to do about an agent that does not begin.
const START_HELP: &str = "Read what it has printed. The command must start the agent in its mode for the Agent Client \
                          Protocol, such as gemini --acp, and somebody must be logged in to it.";

fn ends(verdict: Verdict) -> Result<(), Halt> {
    if verdict == Verdict::RejectedAndStop { Err(Halt::Stopped) } else { Ok(()) }
}

fn fault_of(message: String, next: &str) -> Failure {
    Failure { code: Code::CommandFailed, message, next: next.to_owned() }
}

fn failure_of(fault: &Fault) -> Failure {
    let next = match fault {
        Fault::Version(_) => "Use a version of the agent that speaks version 1.".to_owned(),
        Fault::Login { logins, .. } => {
            let ways = match logins.is_empty() {
                true => String::new(),
                false => format!(" It offers: {}.", logins.join(", ")),
            };
            format!("Start the agent by itself and log in, or set its variable with the key.{ways}")
        }
        Fault::Noise => START_HELP.to_owned(),
        Fault::Refused { .. } | Fault::Answer { .. } => {
            "Read what the agent has printed, and try it by itself.".to_owned()
        }
    };
    fault_of(fault.to_string(), &next)
}
