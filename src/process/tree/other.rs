//! Where there are no process groups: the child alone. Its end is known by that of its outputs.

use std::process::{Child, Command, ExitStatus};
use std::time::Instant;

/// Nothing sets it apart here.
pub(in super::super) fn new_session(_: &mut Command) {}

/// Nothing is listed here.
pub(in super::super) struct Listing;

impl Listing {
    pub(in super::super) fn now() -> Self {
        Self
    }
}

/// A child.
pub(in super::super) struct Tree;

impl Tree {
    /// The child that was just started.
    pub(in super::super) fn of(_: &Child, _: &str, _: Listing) -> Self {
        Self
    }

    /// The queue knows by the end of the outputs; nothing more is to be said.
    pub(in super::super) fn wait_for_end(
        &self,
        _: impl FnOnce() + Send + 'static,
    ) -> impl FnOnce() + Send + 'static {
        || {}
    }

    /// There is no way to ask.
    pub(in super::super) fn ask_to_end(&mut self, child: &mut Child) {
        self.kill(child);
    }

    /// Ends it.
    pub(in super::super) fn kill(&mut self, child: &mut Child) {
        let _ = child.kill();
    }

    /// What it started is not known.
    pub(in super::super) fn wait_until_gone(&mut self, _: Instant) -> bool {
        true
    }
}

/// The status of a child whose outputs have ended.
pub(in super::super) fn status(child: &mut Child) -> Option<ExitStatus> {
    child.wait().ok()
}
