//! The state of one process, read from `/proc`.

use std::fs::{self, DirEntry, File};
use std::io::Read as _;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::{Listing, MARK};

/// Maximum size of `/proc/ID/stat`, in bytes: about 50 numbers and a name of 64 bytes.
const STAT_BYTES: usize = 2048;

/// The fields of `/proc/ID/stat` that are used here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) id: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// The start time in ticks since boot. It identifies a process together with the id.
    pub(super) start: u64,
    /// Whether all its threads have exited, so that it only waits to be reaped.
    pub(super) has_exited: bool,
    /// Whether all its threads that have not exited are stopped, and there is one.
    pub(super) is_suspended: bool,
    /// Whether its first thread is in uninterruptible sleep, for example waiting for a `vfork` child. SIGSTOP then
    /// takes effect later.
    pub(super) is_uninterruptible: bool,
}

/// The states of the threads of a process.
fn states_of_threads(id: i32) -> Vec<String> {
    let threads = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    let state = |thread: DirEntry| {
        let text = fs::read(thread.path().join("stat")).ok()?;
        let text = String::from_utf8_lossy(&text);
        Some(text.rsplit_once(") ")?.1.split(' ').next()?.to_owned())
    };
    threads.filter_map(state).collect()
}

impl Stat {
    /// Reads the state of the process with this id; `None` if there is none.
    pub(super) fn of(id: i32) -> Option<Self> {
        let mut text = [0; STAT_BYTES];
        // The file is read with a single system call, because there are hundreds of processes.
        let length = File::open(format!("/proc/{id}/stat")).ok()?.read(&mut text).ok()?;
        Self::parse(id, &String::from_utf8_lossy(text.get(..length)?))
    }

    /// Parses the text of `/proc/ID/stat`. If the first thread does not run, also reads the states of the others.
    pub(super) fn parse(id: i32, text: &str) -> Option<Self> {
        // The name of the program is in parentheses, and may itself contain spaces and parentheses.
        let mut fields = text.rsplit_once(") ")?.1.split(' ');
        let state = fields.next()?;
        let mut number = || fields.next()?.parse().ok();
        let (parent, group, session) = (number()?, number()?, number()?);
        // Counted in all fields, the thread count is the 20th and the start time the 22nd; the session was the
        // 6th.
        let threads = fields.nth(13)?.parse::<u32>().ok()?;
        let start = fields.nth(1)?.parse().ok()?;
        let mut states = vec![state.to_owned()];
        // The first thread may have exited or be stopped while others run.
        if threads > 1 && matches!(state, "Z" | "X" | "T" | "t") {
            states.extend(states_of_threads(id));
        }
        let all = |wanted: &[&str]| states.iter().all(|state| wanted.contains(&state.as_str()));
        Some(Self {
            id,
            parent,
            group,
            session,
            start,
            has_exited: all(&["Z", "X"]),
            is_suspended: all(&["T", "t", "Z", "X"]) && !all(&["Z", "X"]),
            is_uninterruptible: state == "D",
        })
    }

    /// The states of all processes.
    pub(super) fn all() -> Vec<Self> {
        Listing::now().0.into_keys().filter_map(Self::of).collect()
    }

    /// The name of the process according to `/proc/ID/comm`; empty if the process is gone.
    pub(super) fn name(&self) -> String {
        let name = fs::read_to_string(format!("/proc/{}/comm", self.id)).unwrap_or_default();
        name.trim_end().to_owned()
    }

    /// A pidfd of this process; `None` when the process is gone, even if its id was reused.
    pub(super) fn open_pidfd(&self) -> Option<OwnedFd> {
        let handle = pidfd_open(Pid::from_raw(self.id)?, PidfdFlags::empty()).ok()?;
        (Self::of(self.id)?.start == self.start).then_some(handle)
    }

    /// Whether the environment with which it was started contains this mark. False for a process of another user,
    /// whose environment cannot be read.
    pub(super) fn has_mark(&self, mark: &str) -> bool {
        let environment = fs::read(format!("/proc/{}/environ", self.id)).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| {
            let value = variable.strip_prefix(MARK.as_bytes()).and_then(|it| it.strip_prefix(b"="));
            value.is_some_and(|marks| {
                marks.split(|byte| *byte == b',').any(|it| it == mark.as_bytes())
            })
        })
    }

    /// Sends a signal. False when permission is denied, as for a process of another user that `sudo` started. A
    /// process that is gone counts as signalled.
    pub(super) fn send(&self, signal: Signal) -> bool {
        self.open_pidfd()
            .is_none_or(|handle| pidfd_send_signal(&handle, signal) != Err(Errno::PERM))
    }
}
