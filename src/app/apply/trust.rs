//! Answers to the question whether the commands of a workspace may be run.

use super::super::{App, Prompt};
use crate::plan::Digest;
use crate::run::CommandsReview;
use crate::worker::RecordTrust;

impl App {
    /// Has the decision written down; what would run the commands is looked at again once that is done.
    pub(super) fn trust(&mut self, digest: Digest, trusted: bool) {
        let Some(prompt) = self.prompt.take() else { return };
        let asked = self.asked_to_trust(prompt);
        // What was shown is what is decided about.
        let Some((workspace, shown)) = asked.filter(|(_, shown)| shown.digest == digest) else {
            return;
        };
        let (workspace, commands) = (workspace.to_owned(), shown.clone());
        let query = RecordTrust { workspace, commands, trusted };
        self.ask_each(query, |app, recorded, _| app.trust_changed(recorded));
    }

    /// The workspace and its commands, where this asks whether they are trusted: because of the plan that is
    /// shown, or because of the loop that is to start.
    pub(in super::super) fn asked_to_trust(
        &self,
        prompt: Prompt,
    ) -> Option<(&str, &CommandsReview)> {
        match prompt {
            Prompt::Trust => {
                let review = self.shown.as_ref()?.review.as_deref()?;
                Some((&review.binding.workspace, review.workspace_commands.as_ref()?))
            }
            Prompt::TrustPlace => {
                let place = self.place()?;
                Some((&place.workspace, place.commands.as_ref().ok()?.as_ref()?))
            }
            Prompt::Authorize | Prompt::Reject | Prompt::Close => None,
        }
    }
}
