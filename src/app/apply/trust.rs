//! Answers to the question whether the commands of a workspace may be run.

use super::super::purpose::Purpose;
use super::super::{App, Prompt};
use crate::plan::Digest;
use crate::worker::Request;

impl App {
    /// Has the decision written down; the plan is looked at again once that is done.
    pub(super) fn trust(&mut self, digest: Digest, trusted: bool) {
        if self.prompt.take() != Some(Prompt::Trust) {
            return;
        }
        let Some(review) = self.shown.as_ref().and_then(|session| session.review.as_ref()) else {
            return;
        };
        // What was shown is what is decided about.
        let shown = review.workspace_commands.as_ref().filter(|shown| shown.digest == digest);
        let Some(commands) = shown.cloned().map(Box::new) else { return };
        let workspace = review.binding.workspace.clone();
        self.ask(Request::Trust(workspace, commands, trusted), Purpose::Trust);
    }
}
