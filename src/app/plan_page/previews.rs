//! Previews all steps of the plan on the page in the background, in batches on the query thread, so that the list, the
//! header and the authorization dialog know which steps would fail and how many lines they change.

use uuid::Uuid;

use super::{PlanPage, PlanSession};
use crate::app::App;
use crate::app::shared::{Prompt, Shared};
use crate::run::{PreviewProgress, PreviewedSteps};
use crate::ui::plan::Approval;
use crate::worker::{PreviewPosition, PreviewSteps};

/// The previews of all steps, as far as they are computed.
#[derive(Debug, Clone, Default)]
pub struct BackgroundPreviews {
    pub steps: PreviewedSteps,
    /// The id of the computation. The answer to a batch of an earlier one is dropped.
    id: Uuid,
}

impl BackgroundPreviews {
    /// Lets the previews be computed again, if they are still being computed.
    pub fn forget_unfinished(&mut self) {
        if self.steps.progress == PreviewProgress::Computing {
            *self = Self::default();
        }
    }
}

impl PlanPage {
    /// Begins to preview the steps of the plan on the page, unless that was done since its review.
    pub(super) fn preview_steps(&mut self, shared: &mut Shared) {
        let Some(session) = &mut self.shown else { return };
        let count = session.opened.plan.as_ref().map_or(0, |plan| plan.steps.len());
        let is_wanted = session.opened.review.is_some()
            && session.approval != Approval::Recorded
            && !session.run.has_begun()
            && session.previewed.steps.progress == PreviewProgress::Idle;
        if is_wanted && count > 0 {
            let id = Uuid::new_v4();
            session.previewed = BackgroundPreviews { steps: PreviewedSteps::new(count), id };
            session.previewed.steps.progress = PreviewProgress::Computing;
            session.preview_batch(Box::default(), shared);
        }
    }

    /// Ends a computation without its remaining steps.
    fn end_previews(&mut self, id: Uuid, shared: &mut Shared) {
        let Some(session) = self.shown.as_mut().filter(|it| it.previewed.id == id) else { return };
        session.previewed.steps.end();
        // The dialog gets a new identity with its new content: what was about to be answered was another question.
        if shared.prompt == Some(Prompt::Authorize) {
            session.renew_authorize_view();
            shared.show_prompt(Some(Prompt::Authorize));
        }
    }
}

impl PlanSession {
    /// Requests the previews of the steps from `position` on. Those after them are requested with the answer, so that
    /// other queries of the person come first.
    fn preview_batch(&self, position: Box<PreviewPosition>, shared: &mut Shared) {
        let (Some(plan), Some(review)) = (&self.opened.plan, &self.opened.review) else { return };
        let (plan, workspace, id) = (plan.clone(), review.workspace.clone(), self.previewed.id);
        let query = PreviewSteps { plan, workspace, position };
        let sent = shared.query_each(query, move |app: &mut App, batch, _| {
            let shown = app.plan.shown.as_mut().filter(|it| it.previewed.id == id);
            let Some(session) = shown else { return };
            match batch {
                // The run changes the files that the steps were compared with.
                Ok(_) if session.run.has_begun() => session.previewed = Default::default(),
                Ok(batch) => {
                    for (index, step) in batch.steps {
                        session.previewed.steps.store(index, step);
                    }
                    match batch.rest {
                        Some(rest) => session.preview_batch(rest, &mut app.shared),
                        None => app.plan.end_previews(id, &mut app.shared),
                    }
                }
                // It was stopped, because another plan is being opened. If this one stays, it begins again.
                Err(failed) if failed.is_cancelled() => session.previewed = Default::default(),
                // The person has not asked for these previews; the selected step reports its own failure.
                Err(_) => app.plan.end_previews(id, &mut app.shared),
            }
        });
        let _ = sent;
    }
}
