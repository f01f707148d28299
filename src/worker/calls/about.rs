//! What the window remembers about a call, and who makes it.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use super::serve::one_word;
use crate::authorization::CallIdentity;
use crate::engine::folder_id;
use crate::hooks::{Agent, HookCall};
use crate::run::AgentCall;

/// The maximum length of what is remembered of the subject of a call, in bytes.
const MAX_SUBJECT: usize = 400;
/// The maximum length of a command that can have a rule, in bytes: the dialog about the rule shows all of it.
const MAX_COMMAND: usize = 16 << 10;
/// The maximum number of shells between an agent and its hook.
#[cfg(target_os = "linux")]
const MAX_SHELLS: usize = 8;
/// The shells through which agents start their hooks.
#[cfg(target_os = "linux")]
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "fish", "busybox"];

/// The call at the other end of a connection.
pub(super) fn about(
    stream: &UnixStream,
    (agent, call): (Agent, &HookCall),
    ticket: bool,
    (at_ms, until_ms): (i64, i64),
) -> AgentCall {
    let folder = PathBuf::from(&call.folder);
    let workspace = std::fs::canonicalize(&folder).unwrap_or(folder);
    let session = one_word(&call.session);
    let runs_here = ticket && call.runs_command();
    let subject = call.subject();
    let identity = (runs_here && !call.session.is_empty()).then(|| {
        Some(CallIdentity {
            agent: agent.name().to_owned(),
            session: call.session.clone(),
            process: agent_process(stream)?,
            folder: call.folder.clone(),
            workspace: folder_identity(&workspace)?,
            tool: call.tool.clone(),
            arguments: call.arguments_digest(),
        })
    });
    AgentCall {
        agent: agent.name().to_owned(),
        session,
        workspace,
        tool: one_word(&call.tool),
        command: (runs_here && subject.len() <= MAX_COMMAND).then(|| subject.to_owned()),
        subject: shortened(subject),
        at_ms,
        until_ms,
        digest: None,
        identity: identity.flatten(),
    }
}

/// What is remembered of a subject.
pub(super) fn shortened(text: &str) -> String {
    let end = text.floor_char_boundary(MAX_SUBJECT);
    let cut = if end < text.len() { "…" } else { "" };
    format!("{}{cut}", text.get(..end).unwrap_or_default())
}

/// A folder and what tells it from another one that takes its place.
fn folder_identity(folder: &Path) -> Option<String> {
    Some(format!("{} {}", folder.to_str()?, folder_id(folder)?))
}

/// The process of the agent whose hook is at the other end: the first ancestor of the hook that is no shell, with the time
/// at which it was started. Another process that names the same session is another one.
#[cfg(target_os = "linux")]
fn agent_process(stream: &UnixStream) -> Option<String> {
    let hook = rustix::net::sockopt::socket_peercred(stream).ok()?.pid;
    let mut pid = Process::read(hook.as_raw_nonzero().get())?.parent;
    for _ in 0..MAX_SHELLS {
        let process = Process::read(pid).filter(|_| pid > 1)?;
        if !SHELLS.contains(&&*process.name) {
            return Some(format!("{pid}@{}", process.started));
        }
        pid = process.parent;
    }
    None
}

/// Without it no rule is offered.
#[cfg(not(target_os = "linux"))]
fn agent_process(_: &UnixStream) -> Option<String> {
    None
}

/// Whether the process of an agent, as [`CallIdentity::process`] names it, has not ended.
#[cfg(target_os = "linux")]
pub fn agent_lives(process: &str) -> bool {
    let (pid, started) = process.split_once('@').unwrap_or_default();
    let found = pid.parse().ok().and_then(Process::read);
    found.is_some_and(|it| it.started.to_string() == started && !ENDED.contains(&it.state))
}

/// Without it no rule is offered.
#[cfg(not(target_os = "linux"))]
pub fn agent_lives(_: &str) -> bool {
    false
}

/// The states of a process that has ended, and only has to be waited for by its parent.
#[cfg(target_os = "linux")]
const ENDED: [char; 3] = ['Z', 'X', 'x'];

#[cfg(target_os = "linux")]
#[derive(Debug, PartialEq, Eq)]
struct Process {
    name: String,
    state: char,
    parent: i32,
    /// Clock ticks since the system was started.
    started: u64,
}

#[cfg(target_os = "linux")]
impl Process {
    fn read(pid: i32) -> Option<Self> {
        Self::parse(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Reads `/proc/PID/stat`. The name in it can contain any character.
    fn parse(stat: &str) -> Option<Self> {
        let (before, after) = stat.rsplit_once(')')?;
        let name = before.split_once('(')?.1.to_owned();
        let fields: Vec<&str> = after.split_ascii_whitespace().collect();
        let (parent, started) = (fields.get(1)?.parse().ok()?, fields.get(19)?.parse().ok()?);
        let state = fields.first()?.chars().next()?;
        Some(Self { name, state, parent, started })
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_parent_and_start() {
        let own = Process::read(i32::try_from(std::process::id()).unwrap()).unwrap();
        let parent = std::os::unix::process::parent_id();
        assert_eq!(own.parent, i32::try_from(parent).unwrap());
        assert!(own.started > 0);
        let stat = "7 (a ) (b) S 3 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 9 9";
        let name = "a ) (b".to_owned();
        let expected = Process { name, state: 'S', parent: 3, started: 4_711 };
        assert_eq!(Process::parse(stat), Some(expected));
        assert_eq!(Process::parse("7 (a) S"), None);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a process that ends when the test wants it")]
    fn an_agent_that_has_ended_does_not_live() {
        let mut child = std::process::Command::new("cat");
        let mut child = child.stdin(std::process::Stdio::piped()).spawn().unwrap();
        let pid = child.id();
        let started = Process::read(i32::try_from(pid).unwrap()).unwrap().started;
        let process = format!("{pid}@{started}");
        assert!(agent_lives(&process));
        assert!(!agent_lives(&format!("{pid}@{}", started + 1)), "another process with its id");
        drop(child.stdin.take());
        // It has ended before anybody has waited for it.
        let ended = rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT;
        let id = rustix::process::Pid::from_child(&child);
        rustix::process::waitid(rustix::process::WaitId::Pid(id), ended).unwrap();
        assert!(!agent_lives(&process));
        child.wait().unwrap();
        assert!(!agent_lives(&process) && !agent_lives("") && !agent_lives("1"));
    }

    #[test]
    fn a_folder_that_takes_the_place_of_another_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let [place, moved] = ["place", "moved"].map(|name| folder.path().join(name));
        std::fs::create_dir(&place).unwrap();
        let before = folder_identity(&place).unwrap();
        assert_eq!(folder_identity(&place).as_ref(), Some(&before));
        std::fs::rename(&place, moved).unwrap();
        assert_eq!(folder_identity(&place), None);
        std::fs::create_dir(&place).unwrap();
        assert_ne!(folder_identity(&place), Some(before));
    }
}
