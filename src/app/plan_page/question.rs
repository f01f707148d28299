//! Whether what a waiting question shows is still so.

use super::{PlanPage, Shared};
use crate::worker::ChangedFiles;

impl PlanPage {
    /// After a watched change, finds out which files of the waiting question are no longer as it shows them. Its step would
    /// fail then, because the run compares the files again before it does anything.
    pub(super) fn check_question(&mut self, shared: &mut Shared) {
        let changed_at_ms = self.watch.latest();
        let Some(session) = self.running_mut() else { return };
        let (Some(request), Some(workspace)) = (session.request(), session.reviewed_workspace())
        else {
            return;
        };
        let asked = (request.run_id, request.step_index);
        let changes = request.preview.changes.iter();
        let files: Vec<_> = changes.map(|it| (it.path.clone(), it.before)).collect();
        if files.is_empty() || session.confirmation.checked_at_ms == changed_at_ms {
            return;
        }
        session.confirmation.checked_at_ms = changed_at_ms;
        shared.query(ChangedFiles { workspace, files }, move |app, changed| {
            let Some(session) = app.plan.running_mut() else { return };
            if session.request().is_some_and(|it| (it.run_id, it.step_index) == asked) {
                session.confirmation.changed = changed;
            }
        });
    }
}
