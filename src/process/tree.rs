//! A child and everything it started: its own session, SIGTERM and SIGKILL for all of it (SPEC §3).
//!
//! A process may leave its process group and its parent. On Linux the child is made a subreaper: while it
//! lives, orphaned descendants become its children and are found below it. Each one found is remembered with
//! its start time, because process ids are reused. After the child has exited, its descendants are found by a
//! mark in the environment that all of them inherited. They are stopped (SIGSTOP) while they are listed.
//! Signals go through a pidfd of the process that was listed. On other systems signals reach only the process
//! group.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(unix))]
mod other;
#[cfg(all(unix, not(target_os = "linux")))]
mod unix;

#[cfg(target_os = "linux")]
pub(super) use linux::{
    Halted, Listing, Process, Tree, end_marked, new_session, new_session_with, pass_on,
};
#[cfg(not(unix))]
pub(super) use other::{Listing, Tree, new_session, status};
#[cfg(all(unix, not(target_os = "linux")))]
pub(super) use unix::{Listing, Tree, new_session};

#[cfg(unix)]
use std::process::{Child, ExitStatus};

/// The variable that holds a program's mark, after the marks that this process was started with.
pub(super) const MARK: &str = "COUNTERSIGN_CHILD";

#[cfg(unix)]
use rustix::io::Errno;
#[cfg(unix)]
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// Sleeps until the child has exited, without reaping it: its id is not reused until its status is taken.
#[cfg(unix)]
fn sleep_until_ended(root: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while let Err(Errno::INTR) = waitid(WaitId::Pid(root), options) {}
}

/// The exit status of a child that has exited.
#[cfg(unix)]
pub(super) fn status(child: &mut Child) -> Option<ExitStatus> {
    child.try_wait().ok().flatten()
}
