//! On other Unix systems: the group of the child, which it leads.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process_group};

use super::sleep_until_ended;

/// A group of its own.
pub(in super::super) fn new_session(command: &mut Command) {
    command.process_group(0);
}

/// Who was there before is not needed: what belongs to a child is in its group.
pub(in super::super) struct Listing;

impl Listing {
    pub(in super::super) fn now() -> Self {
        Self
    }
}

/// The group of a child.
pub(in super::super) struct Tree {
    root: Pid,
}

impl Tree {
    /// The group of a child that was just started. Its status must not be taken while this is used: it
    /// keeps the id from being given again.
    pub(in super::super) fn of(child: &Child, _: &str, _: Listing) -> Self {
        Self { root: Pid::from_child(child) }
    }

    /// Waits for the end of the child, on a thread of its own, and says so.
    pub(in super::super) fn wait_for_end(
        &self,
        tell: impl FnOnce() + Send + 'static,
    ) -> impl FnOnce() + Send + 'static {
        let root = self.root;
        move || {
            sleep_until_ended(root);
            tell();
        }
    }

    /// Asks all of it to end.
    pub(in super::super) fn ask_to_end(&mut self, _: &mut Child) {
        let _ = kill_process_group(self.root, Signal::TERM);
    }

    /// Ends all of it.
    pub(in super::super) fn kill(&mut self, _: &mut Child) {
        let _ = kill_process_group(self.root, Signal::KILL);
    }

    /// Never said for certain, so that what is left of the group is killed.
    pub(in super::super) fn wait_until_gone(&mut self, _: Instant) -> bool {
        false
    }
}
