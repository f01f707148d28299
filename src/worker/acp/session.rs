//! One prompt for one agent, from its start to its end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::approvals::Approvals;
use super::child::Child;
use super::faults::{DEAF_HELP, SILENCE_HELP, START_HELP, ended_early, failure_of, fault_of};
use super::mailbox::{Mail, Mailbox};
use super::person::{News, Order, Person, SessionEnd};
use super::signals::Signals;
use crate::acp::{Client, Event, StopReason};
use crate::autonomy::WalledAgent;
use crate::plan::Code;
use crate::run::Failure;
use crate::tools::{AgentEnd, ToolError, Toolbox};
use crate::worker::is_project;

/// How long an agent may take until its session begins.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// How long an agent may send nothing, unless the order says otherwise. Longer than a build or a test run takes.
pub const SILENCE: Duration = Duration::from_secs(1_800);
/// How long an agent may take to end its turn after it was cancelled, and to end by itself at the end of its input.
const END_TIMEOUT: Duration = Duration::from_secs(3);

/// Runs a session to its end, or until it is stopped by one of the signals.
///
/// # Errors
/// The agent cannot be started.
pub fn run(
    order: &Order,
    person: &mut dyn Person,
    signals: &Signals,
) -> Result<SessionEnd, Failure> {
    let folder = std::fs::canonicalize(&order.workspace);
    let folder = folder.map_err(|error| unusable(order, &error.to_string()))?;
    if !is_project(&folder) {
        let why =
            "an agent works in the folder of a project, and not in the home folder or above it";
        return Err(unusable(order, why));
    }
    let Some(cwd) = folder.to_str() else { return Err(unusable(order, "its name is not Unicode")) };
    let own = order.location.folders();
    let failure = |error: ToolError| error.failure();
    let agent = WalledAgent::new(&order.command, &folder, &order.policy, own).map_err(failure)?;
    let toolbox = Toolbox::open(&folder, &order.policy).map_err(failure)?.without_folders(own);
    person.tell(News::Starting { limits: agent.limits.clone(), is_held: agent.is_held() });
    let mailbox = Arc::new(Mailbox::default());
    let waker: Arc<dyn Fn() + Send + Sync> = {
        let mailbox = Arc::clone(&mailbox);
        Arc::new(move || mailbox.wake())
    };
    signals.over.listen(&waker);
    let child = Child::start(agent, &mailbox, &signals.over).map_err(|error| Failure {
        code: Code::CommandFailed,
        message: format!("the agent cannot be started: {error}"),
        next: String::new(),
    })?;
    log::info!("agent started");
    let session = Session {
        order,
        client: Client::new(cwd.to_owned(), order.prompt.clone()),
        child,
        mailbox,
        signals,
        person,
        toolbox,
        approvals: Approvals::default(),
        agent: order.command.first().cloned().unwrap_or_default(),
        session: String::new(),
        asked: 0,
        reason: None,
        is_deaf: false,
        is_quiet: false,
        has_ended: false,
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

/// A session under way.
pub(super) struct Session<'a> {
    pub(super) order: &'a Order,
    client: Client,
    child: Child,
    mailbox: Arc<Mailbox>,
    pub(super) signals: &'a Signals,
    pub(super) person: &'a mut dyn Person,
    /// For reading files; the executor opens tools of its own.
    pub(super) toolbox: Toolbox,
    pub(super) approvals: Approvals,
    /// What the agent is called.
    pub(super) agent: String,
    pub(super) session: String,
    /// The number of questions so far.
    pub(super) asked: u64,
    reason: Option<StopReason>,
    /// Whether the agent has not taken something that it was sent.
    is_deaf: bool,
    /// Whether what the agent tells is not told any more, because the person has stopped it.
    is_quiet: bool,
    /// Whether the program of the agent has ended.
    has_ended: bool,
}

/// Why a session does not go on.
pub(super) enum Halt {
    /// The agent has ended its turn.
    Done,
    /// The person has stopped it.
    Stopped,
    /// The agent is of no use.
    Fault(Failure),
    /// The program of the agent has ended.
    Ended(Result<AgentEnd, Failure>),
}

impl Session<'_> {
    fn run(mut self) -> SessionEnd {
        let halt = self.work();
        let stopped = matches!(halt, Halt::Stopped);
        let fault = match halt {
            Halt::Done if self.is_deaf => {
                let message = "the agent has not read the answers to what it asked".to_owned();
                Some(fault_of(message, DEAF_HELP))
            }
            Halt::Done => None,
            Halt::Stopped => {
                // What the agent still asks is not asked any more.
                self.signals.over.set();
                self.cancel();
                None
            }
            Halt::Fault(failure) => Some(failure),
            Halt::Ended(ended) => Some(ended_early(ended, self.client.has_begun())),
        };
        if fault.is_none() {
            // An agent that has ended its turn may still write down its session.
            self.child.close_input();
            self.wait_for_end();
        }
        self.child.end();
        match &fault {
            None => log::info!("agent ended asked={} stopped={stopped}", self.asked),
            Some(fault) => log::warn!("agent failed asked={} code={}", self.asked, fault.code),
        }
        let unused = self.approvals.unused().map(str::to_owned).collect();
        SessionEnd { reason: self.reason, fault, stopped, unused }
    }

    /// Handles messages until the turn is over.
    fn work(&mut self) -> Halt {
        let begin = self.client.begin();
        self.send(begin);
        let start = Instant::now() + START_TIMEOUT;
        // Counted from the last message, and not while a person decides.
        let mut heard = Instant::now();
        loop {
            let has_begun = self.client.has_begun();
            let until = if has_begun { heard.checked_add(self.order.silence) } else { Some(start) };
            match self.mailbox.take(until, Some(&self.signals.over)) {
                Some(mail) => {
                    let is_message = matches!(mail, Mail::Line(_));
                    if let Err(halt) = self.receive(mail) {
                        return halt;
                    }
                    if is_message {
                        heard = Instant::now();
                    }
                }
                None if self.signals.stop.is_set() => return Halt::Stopped,
                None if self.signals.over.is_set() => return self.rest(),
                None if has_begun => {
                    let seconds = self.order.silence.as_secs();
                    let message = format!("the agent has sent nothing for {seconds} seconds");
                    return Halt::Fault(fault_of(message, SILENCE_HELP));
                }
                None => {
                    let seconds = START_TIMEOUT.as_secs();
                    let message = format!("the agent has not answered within {seconds} seconds");
                    return Halt::Fault(fault_of(message, START_HELP));
                }
            }
        }
    }

    /// Handles what an agent that has ended has left. Its end is the last mail.
    fn rest(&mut self) -> Halt {
        let mut halt = None;
        while let Some(mail) = self.mailbox.take(Some(Instant::now()), None) {
            match mail {
                Mail::Ended(ended) => {
                    self.has_ended = true;
                    return halt.unwrap_or(Halt::Ended(ended));
                }
                mail if halt.is_none() => halt = self.receive(mail).err(),
                _ => {}
            }
        }
        halt.unwrap_or(Halt::Stopped)
    }

    fn receive(&mut self, mail: Mail) -> Result<(), Halt> {
        let line = match mail {
            Mail::Line(line) => line,
            Mail::Stderr(bytes) => {
                self.printed(&bytes);
                return Ok(());
            }
            Mail::Ended(ended) => {
                self.has_ended = true;
                return Err(Halt::Ended(ended));
            }
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
            Event::Update(_) if self.is_quiet => {}
            Event::Update(update) => self.person.tell(News::Update(update)),
            Event::Permission(permission) => return self.permission(&permission),
            Event::Write(write) => return self.write(&write),
            Event::Malformed(why) => {
                let title = "a request without a usable form".to_owned();
                self.person.tell(News::NotApprovable { title, why });
            }
            Event::Noise(_) if self.is_quiet => {}
            Event::Noise(line) => self.person.tell(News::Printed(format!("{line}\n"))),
            Event::Ended(reason) => {
                self.reason = Some(reason);
                return Err(Halt::Done);
            }
        }
        Ok(())
    }

    pub(super) fn send(&mut self, line: Vec<u8>) {
        if !self.child.send(line) {
            self.child.close_input();
            self.is_deaf = true;
        }
    }

    /// Tells the agent that its turn is over, and waits for the end of it.
    fn cancel(&mut self) {
        self.is_quiet = true;
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

    /// Waits for the end of the program. What it asks now is not answered any more.
    fn wait_for_end(&mut self) {
        let until = Instant::now() + END_TIMEOUT;
        while !self.has_ended
            && let Some(mail) = self.mailbox.take(Some(until), None)
        {
            match mail {
                Mail::Ended(_) => self.has_ended = true,
                Mail::Stderr(bytes) => self.printed(&bytes),
                Mail::Line(line) => self.too_late(&line),
            }
        }
    }

    /// Lists what an agent asks for behind the end of its turn, which nobody is asked about.
    fn too_late(&mut self, line: &[u8]) {
        for event in self.client.receive(line).unwrap_or_default() {
            let title = match event {
                Event::Permission(permission) => permission.call.title.clone(),
                Event::Write(write) => write.path.clone(),
                Event::Malformed(_) => "a request without a usable form".to_owned(),
                _ => continue,
            };
            let why = "it came after the agent had ended its turn".to_owned();
            self.person.tell(News::NotApprovable { title, why });
        }
    }

    fn printed(&mut self, bytes: &[u8]) {
        if self.is_quiet {
            return;
        }
        self.person.tell(News::Printed(String::from_utf8_lossy(bytes).into_owned()));
    }
}
