//! The process tree on systems without process groups: only the child. The end of its outputs stands for its
//! exit.

use std::process::{Child, Command, ExitStatus};
use std::time::Instant;

/// Does nothing: there are no sessions here.
pub(in super::super) fn new_session(_: &mut Command) {}

/// Empty: processes are not listed here.
pub(in super::super) struct Listing;

impl Listing {
    pub(in super::super) fn now() -> Self {
        Self
    }
}

/// Only the child itself.
pub(in super::super) struct Tree;

impl Tree {
    /// The child that was just started.
    pub(in super::super) fn of(_: &Child, _: &str, _: Listing) -> Self {
        Self
    }

    /// Does nothing: the queue takes the end of the outputs for the exit.
    pub(in super::super) fn wait_for_end(
        &self,
        _: impl FnOnce() + Send + 'static,
    ) -> impl FnOnce() + Send + 'static {
        || {}
    }

    /// Kills it, because there is no request to end here.
    pub(in super::super) fn ask_to_end(&mut self, child: &mut Child) {
        self.kill(child);
    }

    /// Kills the child.
    pub(in super::super) fn kill(&mut self, child: &mut Child) {
        let _ = child.kill();
    }

    /// Always true: descendants are not known here.
    pub(in super::super) fn wait_until_gone(&mut self, _: Instant) -> bool {
        true
    }
}

/// The exit status of a child whose outputs have ended.
pub(in super::super) fn status(child: &mut Child) -> Option<ExitStatus> {
    child.wait().ok()
}
