//! What the page wants to show and does not have yet.

use super::App;
use super::purpose::Purpose;
use crate::run::StepState;
use crate::ui::action::Tab;
use crate::worker::Request;

impl App {
    /// Asks for what the page wants to show and does not have yet.
    pub(super) fn ask_for_what_is_shown(&mut self) {
        let Some(session) = &self.shown else { return };
        let step = session.selected;
        let mut wanted = Vec::new();
        if let (Some(plan), Some(review)) = (&session.plan, &session.review)
            && plan.steps.get(step).is_some_and(|step| step.call.is_some())
            && !session.previews.contains_key(&step)
            && !session.without_preview.contains(&step)
        {
            let digest = session.digest;
            let open = |purpose: &Purpose| matches!(purpose, Purpose::Preview(d, s) if *d == digest && *s == step);
            if !self.purposes.any(open) {
                let request = Request::Preview {
                    plan: plan.clone(),
                    workspace: review.workspace.clone(),
                    step_index: step,
                };
                wanted.push((request, Purpose::Preview(digest, step)));
            }
        }
        let done = matches!(session.run.steps.get(step), Some(StepState::Done(_)));
        if let Some(id) = session.selected_execution()
            && done
            && matches!(session.tab, Tab::Output | Tab::Artifacts | Tab::Evidence)
            && !session.executions.contains_key(&id)
            && !session.without_record.contains(&id)
            && !self
                .purposes
                .any(|purpose| matches!(purpose, Purpose::Execution(other) if *other == id))
        {
            wanted.push((Request::Execution(id), Purpose::Execution(id)));
        }
        for (request, purpose) in wanted {
            self.ask(request, purpose);
        }
    }
}
