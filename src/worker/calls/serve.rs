//! The threads that serve the socket: one accepts connections, and each connection has one of its own.

use std::fs::{File, Permissions};
use std::io::{self, BufReader, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::about::about;
use super::desk::{CallNews, Desk, WaitingCall};
use super::output::REFUSED;
use super::socket::{is_this_user, socket_path};
use crate::engine::{Clock as _, SystemClock};
use crate::hooks::channel::{Ask, Reply, Request, VERSION, line, read};
use crate::hooks::{Agent, HookCall};
use crate::plan::Severity;
use crate::risk::RiskLevel;
use crate::run::AgentCall;
use crate::worker::inbox::{
    Handle, InboxError, InboxFolder, Proposal, propose, remove_calls, withdraw,
};
use crate::worker::is_project;

/// Time within which a connection must have sent its question, and must take each answer.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum number of connections. An agent waits for each of its calls, so that ordinary use stays far below.
const MAX_CONNECTIONS: usize = 1_024;
/// The longest time that a person is waited for: a day.
const MAX_WAIT: Duration = Duration::from_secs(86_400);
/// The maximum length of the words of an agent that are shown or recorded, in bytes.
const MAX_CALL_TEXT: usize = 16 << 10;
/// The file whose lock says which window serves.
const LOCK: &str = "lock";

/// Starts the thread.
pub(super) fn start(folder: PathBuf, desk: Arc<Desk>) -> io::Result<()> {
    let serve = move || {
        if let Err(error) = serve(&folder, &desk) {
            log::error!("hooks of agents are not served reason={:?}", error.to_string());
            desk.tell(CallNews::Fault(error.to_string()));
        }
    };
    thread::Builder::new().name("countersign-calls".to_owned()).spawn(serve).map(drop)
}

fn serve(folder: &Path, desk: &Arc<Desk>) -> io::Result<()> {
    let path = socket_path(folder)?;
    let folder = path.parent().unwrap_or(folder);
    let private = InboxFolder::private(folder).map_err(io::Error::other)?;
    let lock = File::create(private.path().join(LOCK))?;
    // Waits until no other window serves. The system unlocks the file of a window that was killed.
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive)?;
    if desk.is_closed() {
        return Ok(());
    }
    // Whoever has the lock knows that nobody listens to a socket that is there.
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // What a window that was killed has left: nobody waits for it any more.
    if let Ok(inbox) = InboxFolder::open(&desk.setup.inbox) {
        remove_calls(&inbox);
    }
    let listener = UnixListener::bind(&path)?;
    std::fs::set_permissions(&path, Permissions::from_mode(0o600))?;
    if !desk.serves(&path) {
        return Ok(());
    }
    log::info!("hooks of agents are served");
    let count = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        let stream = stream?;
        if desk.is_closed() {
            break;
        }
        if count.fetch_add(1, Ordering::SeqCst) >= MAX_CONNECTIONS {
            log::warn!("call of an agent refused reason=\"too many connections\"");
            count.fetch_sub(1, Ordering::SeqCst);
            continue;
        }
        let (desk, counted) = (Arc::clone(desk), Counted(Arc::clone(&count)));
        let connection = move || {
            let _counted = counted;
            // A connection that fails gets no answer, which is a denial.
            if let Err(error) = answer(stream, &desk) {
                log::warn!("connection of an agent failed reason={:?}", error.to_string());
            }
        };
        let builder = thread::Builder::new().name("countersign-call".to_owned());
        // Without a thread the connection is closed, which is a denial, too.
        let _ = builder.spawn(connection);
    }
    let _ = std::fs::remove_file(&path);
    Ok(())
}

/// A connection that counts until it is over, whatever ends it.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn answer(stream: UnixStream, desk: &Arc<Desk>) -> io::Result<()> {
    if !is_this_user(&stream)? {
        return Ok(());
    }
    stream.set_read_timeout(Some(SEND_TIMEOUT))?;
    stream.set_write_timeout(Some(SEND_TIMEOUT))?;
    let mut input = BufReader::new(stream);
    let Some(Request { version, ask }) = read(&mut input)? else { return Ok(()) };
    // A client sends no more than its question.
    let is_alone = input.buffer().is_empty();
    let mut stream = input.into_inner();
    if version != VERSION || !is_alone {
        return send(
            &mut stream,
            &Reply::Denied("the hook and the window differ in version".into()),
        );
    }
    match ask {
        Ask::Exec { ticket } => exec(stream, desk, &ticket),
        Ask::Call { agent, session, folder, tool, input, timeout_ms, ticket } => {
            let begun = Instant::now();
            let Some(agent) = Agent::from_word(&agent) else {
                return send(&mut stream, &Reply::Denied("the agent is not known".to_owned()));
            };
            log::info!("agent asks for a call");
            let call = HookCall { session, folder, tool, input };
            let wait = Duration::from_millis(timeout_ms).min(MAX_WAIT);
            let at_ms = SystemClock::default().now_ms();
            let wait_ms = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
            let until = Until {
                deadline: begun + wait,
                wait,
                at_ms,
                wall_ms: at_ms.saturating_add(wait_ms),
            };
            let about = about(&stream, (agent, &call), ticket, (at_ms, until.wall_ms));
            match put(desk, agent, &call, &until) {
                Ok(put) => wait_for(stream, desk, (agent, call, about), put, ticket, &until),
                Err(why) => {
                    desk.tell_refused(about, &why);
                    send(&mut stream, &Reply::Denied(why))
                }
            }
        }
    }
}

struct Until {
    deadline: Instant,
    wait: Duration,
    /// When the call was made, in Unix milliseconds.
    at_ms: i64,
    /// The deadline, in Unix milliseconds.
    wall_ms: i64,
}

/// A call whose plan is in the inbox.
struct Put {
    inbox: InboxFolder,
    handle: Handle,
}

impl Put {
    fn file(&self) -> PathBuf {
        self.inbox.path().join(&self.handle.id).join(crate::worker::inbox::PLAN_NAME)
    }
}

/// Puts the plan of a call into the inbox.
///
/// # Errors
/// Why the call is denied without a question.
fn put(desk: &Desk, agent: Agent, call: &HookCall, until: &Until) -> Result<Put, String> {
    let workspace = PathBuf::from(&call.folder);
    let real = std::fs::canonicalize(&workspace).unwrap_or_else(|_| workspace.clone());
    if !is_project(&real) {
        return Err(format!(
            "{} is no folder of a project: start the agent in one, and not in the home folder or above it",
            real.display()
        ));
    }
    let inbox = InboxFolder::open(&desk.setup.inbox).map_err(|error| said(&error))?;
    let proposal = Proposal {
        bytes: call.to_json(),
        name: format!("{} call", one_word(&call.tool)),
        folder: None,
        workspace,
        from: agent.name().to_owned(),
        at_ms: until.at_ms,
        asked_until_ms: Some(until.wall_ms),
    };
    let handle = propose(&inbox, &proposal, &desk.setup.policy).map_err(|error| said(&error))?;
    let put = Put { inbox, handle };
    if put.handle.plan.worst == Some(RiskLevel::Blocked) {
        withdraw(&put.inbox, &put.handle.id);
        return Err("Countersign never runs such a command, whoever authorizes it".to_owned());
    }
    Ok(put)
}

/// An error of the inbox in a sentence for the agent, which can mend some of them.
pub(super) fn said(error: &InboxError) -> String {
    let InboxError::NoPlan { findings, .. } = error else { return error.to_string() };
    let errors = findings.iter().filter(|it| it.severity == Severity::Error);
    let texts: Vec<&str> = errors.take(5).map(|it| it.message.as_str()).collect();
    format!("the call cannot be shown as a plan: {}", texts.join("; "))
}

/// Who asks for a call that is run by a ticket, for the record. Behind the word `session`, an id would be taken for a secret.
pub fn asked_by_hook(agent: &str, session: &str) -> String {
    format!("asked by the hook of {agent} in its conversation {session}; run by a ticket")
}

/// A text without spaces and control characters, and not too long.
pub(super) fn one_word(text: &str) -> String {
    text.chars().filter(|it| !it.is_whitespace() && !it.is_control()).take(60).collect()
}

/// Waits until the person has decided, the agent leaves, or its time is over.
fn wait_for(
    mut stream: UnixStream,
    desk: &Arc<Desk>,
    (agent, call, about): (Agent, HookCall, AgentCall),
    put: Put,
    ticket: bool,
    until: &Until,
) -> io::Result<()> {
    let file = put.file();
    let text = String::from_utf8_lossy(&call.to_json()).into_owned();
    let end = text.floor_char_boundary(MAX_CALL_TEXT);
    let rest = text.len() - end;
    let mut shown = text.get(..end).unwrap_or_default().to_owned();
    if rest > 0 {
        let digest = crate::plan::Digest::of(text.as_bytes());
        shown.push_str(&format!("[… {rest} more bytes; all of it is {digest}]"));
    }
    let session = one_word(&call.session);
    let asked_by = asked_by_hook(agent.name(), &session);
    let waiting = WaitingCall {
        agent: agent.name().to_owned(),
        session,
        asked_by,
        text: format!("{}: {shown}", agent.name()),
        runs_here: ticket && call.runs_command(),
    };
    drop(call);
    let about = AgentCall { digest: Some(put.handle.digest), ..about };
    if !desk.add(&file, waiting, about, stream.try_clone()?) {
        withdraw(&put.inbox, &put.handle.id);
        return Ok(());
    }
    let left = until.deadline.saturating_duration_since(Instant::now());
    stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
    let why = match stream.read(&mut [0]) {
        Err(error)
            if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) =>
        {
            "its time is over"
        }
        _ => "it has left",
    };
    match desk.take(&file, why) {
        Some(reply) => send(&mut stream, &reply),
        None => {
            withdraw(&put.inbox, &put.handle.id);
            let seconds = until.wait.as_secs();
            let reason = format!("nobody decided about the call within {seconds} seconds");
            send(&mut stream, &Reply::Denied(reason))
        }
    }
}

/// Streams the output of the run of a ticket.
fn exec(mut stream: UnixStream, desk: &Arc<Desk>, ticket: &str) -> io::Result<()> {
    let output = match desk.redeem(ticket) {
        Ok(output) => output,
        Err(why) => {
            return send(&mut stream, &Reply::End { code: REFUSED, message: why.to_owned() });
        }
    };
    let mut watched = stream.try_clone()?;
    watched.set_read_timeout(None)?;
    let of_watcher = output.clone();
    let watch = move || {
        // The client says nothing more. The end of its side ends the run.
        let _ = watched.read(&mut [0]);
        of_watcher.abandon();
    };
    let started = thread::Builder::new().name("countersign-exec".to_owned()).spawn(watch);
    if let Err(error) = started {
        output.abandon();
        return Err(error);
    }
    let mut sent = Ok(());
    while let Some(reply) = output.next() {
        sent = send(&mut stream, &reply);
        if sent.is_err() || matches!(reply, Reply::End { .. }) {
            break;
        }
    }
    if sent.is_err() {
        output.abandon();
    }
    // Ends the thread that watches.
    let _ = stream.shutdown(Shutdown::Both);
    sent
}

fn send(stream: &mut UnixStream, reply: &Reply) -> io::Result<()> {
    stream.write_all(&line(reply)?)
}
