//! The process tree on Linux, read from `/proc`.

mod stat;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirEntry};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirEntryExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{
    Pid, Signal, getpid, ioctl_tiocsctty, kill_process_group, set_child_subreaper,
    set_parent_process_death_signal, setsid,
};

use super::MARK;
use stat::Stat;

/// How long to wait for killed processes to disappear.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// How long suspending the processes may take. The time is long, because a process that still runs may start
/// another one that is missed.
const SUSPEND_TIMEOUT: Duration = Duration::from_secs(2);

/// Makes the program a subreaper and the leader of a session without a terminal. It gets SIGTERM when its parent
/// exits.
pub(in super::super) fn new_session(command: &mut Command) {
    new_session_with(command, Vec::new());
}

/// As [`new_session`]; the terminal that is the program's stdin controls the session.
pub(in super::super) fn new_terminal_session(command: &mut Command) {
    new_session(command);
    control_terminal(command);
}

/// Makes the program's stdin the controlling terminal of the session that the program begins. Must be called after the
/// function that begins it.
pub(in super::super) fn control_terminal(command: &mut Command) {
    #[expect(unsafe_code, reason = "nothing safe runs code in the child before its program")]
    // SAFETY: between fork and exec only one system call is made.
    unsafe {
        command.pre_exec(|| Ok(ioctl_tiocsctty(rustix::stdio::stdin())?));
    }
}

/// As [`new_session`]; the program also inherits these descriptors under their numbers.
pub(in super::super) fn new_session_with(command: &mut Command, inherited: Vec<OwnedFd>) {
    in_child(command, inherited, || {
        // If one of these calls fails, a stop or a crash of Countersign may leave descendants running; there
        // is no other effect.
        let _ = set_child_subreaper(Some(getpid()));
        let _ = set_parent_process_death_signal(Some(Signal::TERM));
    });
}

/// Makes the program a session leader that inherits these descriptors under their numbers.
pub(in super::super) fn plain_session_with(command: &mut Command, inherited: Vec<OwnedFd>) {
    in_child(command, inherited, || {});
}

/// Has the child start a session, keep these descriptors open, and call `more` before its program runs.
fn in_child(
    command: &mut Command,
    inherited: Vec<OwnedFd>,
    more: impl Fn() + Send + Sync + 'static,
) {
    let setup = move || {
        setsid()?;
        for descriptor in &inherited {
            fcntl_setfd(descriptor, FdFlags::empty())?;
        }
        more();
        Ok(())
    };
    #[expect(unsafe_code, reason = "nothing safe runs code in the child before its program")]
    // SAFETY: between fork and exec only system calls are made that neither allocate nor lock nor touch memory of
    // other threads.
    unsafe {
        command.pre_exec(setup);
    }
}

/// The ids of all processes, each with the inode number of its `/proc` entry. Both together identify a process
/// while it lives.
pub(in super::super) struct Listing(BTreeMap<i32, u64>);

impl Listing {
    pub(in super::super) fn now() -> Self {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let identity =
            |entry: DirEntry| Some((entry.file_name().to_str()?.parse().ok()?, entry.ino()));
        Self(entries.filter_map(identity).collect())
    }
}

/// Kills all processes that were started with this mark in their environment, and returns their names.
pub(in super::super) fn kill_marked(mark: &str) -> Vec<String> {
    let deadline = Instant::now() + KILL_TIMEOUT;
    let mut names = Vec::new();
    loop {
        let marked: Vec<Stat> =
            Stat::all().into_iter().filter(|it| !it.has_exited && it.has_mark(mark)).collect();
        names.extend(marked.iter().map(Stat::name));
        for member in &marked {
            member.send(Signal::KILL);
        }
        if marked.is_empty() || !sleep_until_gone(&marked, deadline) {
            return names;
        }
    }
}

/// The names of all descendants of the process `root` that have not exited.
pub(in super::super) fn names_below(root: i32) -> impl Iterator<Item = String> {
    descendants(root).map(|it| it.name())
}

/// All descendants of the process `root` that have not exited.
fn descendants(root: i32) -> impl Iterator<Item = Stat> {
    let all = Stat::all();
    let found = with_descendants(&all, BTreeSet::from([root]));
    all.into_iter().filter(move |it| it.id != root && !it.has_exited && found.contains(&it.id))
}

/// The ids of these processes and of all their descendants, whatever the order of `all`.
fn with_descendants(all: &[Stat], mut found: BTreeSet<i32>) -> BTreeSet<i32> {
    loop {
        let before = found.len();
        let children: Vec<i32> =
            all.iter().filter(|it| found.contains(&it.parent)).map(|it| it.id).collect();
        found.extend(children);
        if found.len() == before {
            return found;
        }
    }
}

/// A child and all its descendants: the members.
pub(in super::super) struct Tree {
    pub(super) root: Pid,
    /// The mark in the environment of each member that has not cleared it.
    mark: String,
    /// Start time of the child. Processes that started earlier are not members.
    since: u64,
    /// Start times, by id, of all members found so far.
    known: BTreeMap<i32, u64>,
    /// The processes that ran before the child was started. They are no members and are skipped, because reading
    /// each of them takes time.
    before: Listing,
    /// Whether all members have exited, so that none can start another.
    is_gone: bool,
}

impl Tree {
    /// The tree of a child that was started just after `before` was listed. The child must not be reaped while
    /// this value is used, because its id could then be reused.
    pub(in super::super) fn of(child: &Child, mark: &str, before: Listing) -> Self {
        let root = Pid::from_child(child);
        let since = Stat::of(root.as_raw_pid()).map_or(0, |stat| stat.start);
        let mark = mark.to_owned();
        Self { root, mark, since, known: BTreeMap::new(), before, is_gone: false }
    }

    /// Sends SIGTERM to all members.
    pub(in super::super) fn terminate(&mut self, _: &mut Child) {
        // The members are suspended first, so that none can start another process that is missed. When they
        // are resumed, SIGTERM is pending.
        for member in suspend(|| self.members()).members {
            member.send(Signal::TERM);
            member.send(Signal::CONT);
        }
    }

    /// Kills all members, and waits until they are gone.
    pub(in super::super) fn kill(&mut self, _: &mut Child) {
        if self.is_gone {
            return;
        }
        let deadline = Instant::now() + KILL_TIMEOUT;
        let root = self.root.as_raw_pid();
        loop {
            let mut members = suspend(|| self.members()).members;
            // The child is killed last, because it adopts the orphans of the others.
            if members.iter().any(|member| member.id != root) {
                members.retain(|member| member.id != root);
            }
            for member in &members {
                member.send(Signal::KILL);
            }
            self.is_gone = members.is_empty();
            if self.is_gone || !sleep_until_gone(&members, deadline) {
                break;
            }
        }
        // This kills members of the group that were not found. The child leads the group until it is reaped.
        let _ = kill_process_group(self.root, Signal::KILL);
    }

    /// Sleeps until all members have exited; false when one has not at the deadline.
    pub(in super::super) fn wait_until_gone(&mut self, deadline: Instant) -> bool {
        let mut was_empty = false;
        loop {
            let members = self.members();
            // Checked twice, for the same reason as in `suspend`.
            if members.is_empty() && was_empty {
                return true;
            }
            was_empty = members.is_empty();
            if !sleep_until_gone(&members, deadline) {
                return false;
            }
        }
    }

    /// All members that have not exited.
    fn members(&mut self) -> Vec<Stat> {
        let Listing(now) = Listing::now();
        let started = now.into_iter().filter(|(id, entry)| self.before.0.get(id) != Some(entry));
        let all: Vec<Stat> = started.filter_map(|(id, _)| Stat::of(id)).collect();
        let root = self.root.as_raw_pid();
        let is_known = |stat: &Stat| self.known.get(&stat.id) == Some(&stat.start);
        let found: BTreeSet<i32> = all
            .iter()
            .filter(|stat| {
                stat.id == root
                    || stat.group == root
                    || stat.session == root
                    || is_known(stat)
                    || (stat.start >= self.since && !stat.has_exited && stat.has_mark(&self.mark))
            })
            .map(|stat| stat.id)
            .collect();
        let found = with_descendants(&all, found);
        let members: Vec<Stat> =
            all.into_iter().filter(|stat| found.contains(&stat.id) && !stat.has_exited).collect();
        self.known.extend(members.iter().map(|stat| (stat.id, stat.start)));
        members
    }
}

/// The result of [`suspend`].
struct SuspendResult {
    /// All listed processes that have not exited.
    members: Vec<Stat>,
    /// The ids of the processes to which SIGSTOP was sent.
    signalled: BTreeSet<i32>,
    are_all_suspended: bool,
}

/// Sends SIGSTOP to the listed processes, and lists again until none of them runs or the time is up.
fn suspend(mut list: impl FnMut() -> Vec<Stat>) -> SuspendResult {
    let deadline = Instant::now() + SUSPEND_TIMEOUT;
    let (mut signalled, mut refused) = (BTreeSet::new(), BTreeSet::new());
    let mut were_suspended = false;
    loop {
        let members = list();
        let running: Vec<&Stat> = members
            .iter()
            .filter(|it| !(it.is_suspended || it.is_uninterruptible && signalled.contains(&it.id)))
            .filter(|it| !refused.contains(&it.id))
            .collect();
        // No process may run in two successive rounds: processes are listed before their states are read, and a
        // process that ran until its state was read may have started another one in between.
        let are_suspended = running.is_empty();
        if are_suspended && were_suspended || Instant::now() >= deadline {
            let are_all_suspended = are_suspended && refused.is_empty();
            return SuspendResult { members, signalled, are_all_suspended };
        }
        were_suspended = are_suspended;
        for member in running {
            if !member.send(Signal::STOP) {
                refused.insert(member.id);
            }
            signalled.insert(member.id);
        }
    }
}

/// Suspended processes; dropping this value resumes them.
#[derive(Debug)]
pub(in super::super) struct Suspended(Vec<Stat>);

impl Suspended {
    /// Suspends all descendants of the process `root`; `None` when some of them cannot be suspended.
    pub(in super::super) fn below(root: i32) -> Option<Self> {
        let SuspendResult { mut members, signalled, are_all_suspended } =
            suspend(|| descendants(root).collect());
        // Processes that were suspended before stay suspended.
        members.retain(|member| signalled.contains(&member.id));
        are_all_suspended.then_some(Self(members))
    }
}

impl Drop for Suspended {
    fn drop(&mut self) {
        for member in &self.0 {
            member.send(Signal::CONT);
        }
    }
}

/// Sleeps until all of these have exited; false when one has not at the deadline, or cannot be waited for.
fn sleep_until_gone(members: &[Stat], deadline: Instant) -> bool {
    members.iter().all(|member| {
        let Some(handle) = member.open_pidfd() else {
            return Stat::of(member.id)
                .is_none_or(|now| now.start != member.start || now.has_exited);
        };
        let remaining = deadline.saturating_duration_since(Instant::now());
        // A pidfd becomes readable when its process exits. An interrupted poll also counts, because callers
        // check again.
        let mut handles = [PollFd::new(&handle, PollFlags::IN)];
        Timespec::try_from(remaining)
            .is_ok_and(|remaining| poll(&mut handles, Some(&remaining)) != Ok(0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_is_parsed_despite_parentheses_in_name() {
        let text = "42 (a) R 1 2 3) S 7 8 9 0 -1 1 2 3 4 5 6 7 8 9 20 0 1 0 4711 100 200";
        let stat = Stat::parse(42, text).unwrap();
        let wanted = Stat {
            id: 42,
            parent: 7,
            group: 8,
            session: 9,
            start: 4711,
            has_exited: false,
            is_suspended: false,
            is_uninterruptible: false,
        };
        assert_eq!(stat, wanted);
        assert!(Stat::parse(42, "42 (a) Z 7 8").is_none());
    }

    #[test]
    fn this_process_is_listed_with_its_parent() {
        let me = Stat::all().into_iter().find(|stat| stat.id == getpid().as_raw_pid()).unwrap();
        assert_eq!(Some(me.parent), rustix::process::getppid().map(Pid::as_raw_pid));
        assert!(!me.has_exited);
        assert!(me.open_pidfd().is_some());
        assert!(
            Stat { start: me.start + 1, ..me }.open_pidfd().is_none(),
            "another with the same id"
        );
    }
}
