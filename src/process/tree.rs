//! A child and everything it started: how it is set apart, asked to end and killed (SPEC §3).
//!
//! A program may leave its group and its parent. On Linux the child is made the one to which such
//! orphans are given, so that while it lives all of them are found below it; who was found once is
//! remembered, with its start time, because process ids are given again. Once the child is gone, they are
//! found by a mark in the environment that all of them were started with. Nobody runs while they are
//! counted. A signal goes through a handle of the very process that was looked at. On other systems only
//! the group is reached.

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

/// The variable that holds the marks of a program and of those that started this process in turn.
pub(super) const MARK: &str = "COUNTERSIGN_CHILD";

#[cfg(unix)]
use rustix::io::Errno;
#[cfg(unix)]
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// Sleeps until the child has ended, and leaves its status and its id with it: until the status is
/// taken nobody else gets the id.
#[cfg(unix)]
fn sleep_until_ended(root: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while let Err(Errno::INTR) = waitid(WaitId::Pid(root), options) {}
}

/// The status of a child that has ended.
#[cfg(unix)]
pub(super) fn status(child: &mut Child) -> Option<ExitStatus> {
    child.try_wait().ok().flatten()
}
