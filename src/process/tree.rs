//! A child and all its descendants: starts the child in its own session, and sends SIGTERM and SIGKILL to all
//! of them (SPEC §3).
//!
//! A process may leave its process group and its parent. On Linux the child is made a subreaper: while it
//! lives, orphaned descendants become its children and are found below it. Each process found is remembered
//! with its start time, because process ids are reused. After the child has exited, its descendants are found
//! by a mark in the environment that all of them inherited. Processes are suspended (SIGSTOP) while they are
//! listed. Signals are sent through a pidfd of the listed process. On other systems signals reach only the
//! process group.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod unix;

use std::process::{Child, ExitStatus};

use rustix::io::Errno;
use rustix::process::{WaitId, WaitIdOptions, waitid};

#[cfg(target_os = "linux")]
pub(super) use linux::{
    Listing, Suspended, Tree, control_terminal, kill_marked, names_below, new_session,
    new_session_with, new_terminal_session, plain_session_with,
};
#[cfg(not(target_os = "linux"))]
pub(super) use unix::{Listing, Tree, new_session, new_terminal_session};

/// The variable that holds a program's mark, after the marks that this process was started with.
pub(super) const MARK: &str = "COUNTERSIGN_CHILD";

impl Tree {
    /// The body of a thread that waits for the child to exit and then calls `on_exit`. It does not reap the child, so
    /// that its id is not reused yet.
    pub(super) fn exit_waiter(
        &self,
        on_exit: impl FnOnce() + Send + 'static,
    ) -> impl FnOnce() + Send + 'static {
        let root = self.root;
        move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while let Err(Errno::INTR) = waitid(WaitId::Pid(root), options) {}
            on_exit();
        }
    }
}

/// Reaps the child and returns its exit status; `None` if it has not exited.
pub(super) fn status(child: &mut Child) -> Option<ExitStatus> {
    child.try_wait().ok().flatten()
}
