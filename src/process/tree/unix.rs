//! The process tree on other Unix systems: the process group that the child leads.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::time::Instant;

use rustix::process::{Pid, Signal, ioctl_tiocsctty, kill_process_group, setsid};

/// Makes the program the leader of its own process group.
pub(in super::super) fn new_session(command: &mut Command) {
    command.process_group(0);
}

/// Makes the program the leader of a session, controlled by the terminal that is its stdin.
pub(in super::super) fn new_terminal_session(command: &mut Command) {
    #[expect(unsafe_code, reason = "nothing safe runs code in the child before its program")]
    // SAFETY: between fork and exec only system calls are made that neither allocate nor lock nor touch memory of
    // other threads.
    unsafe {
        command.pre_exec(|| {
            setsid()?;
            Ok(ioctl_tiocsctty(rustix::stdio::stdin())?)
        });
    }
}

/// Empty, because signals are sent to the process group without listing its members.
pub(in super::super) struct Listing;

impl Listing {
    pub(in super::super) fn now() -> Self {
        Self
    }
}

/// The process group of a child.
pub(in super::super) struct Tree {
    pub(super) root: Pid,
}

impl Tree {
    /// The group of a child that was just started. The child must not be reaped while this value is used, because
    /// its id could then be reused.
    pub(in super::super) fn of(child: &Child, _: &str, _: Listing) -> Self {
        Self { root: Pid::from_child(child) }
    }

    /// Sends SIGTERM to the group.
    pub(in super::super) fn terminate(&mut self, _: &mut Child) {
        let _ = kill_process_group(self.root, Signal::TERM);
    }

    /// Kills the group.
    pub(in super::super) fn kill(&mut self, _: &mut Child) {
        let _ = kill_process_group(self.root, Signal::KILL);
    }

    /// Always false, because the members of the group cannot be listed here; the caller then kills the group.
    pub(in super::super) fn wait_until_gone(&mut self, _: Instant) -> bool {
        false
    }
}
