//! The inputs of the plan on the page: what is missing, and what a person gives.

use std::collections::BTreeMap;
use std::path::Path;

use super::revising::Finishes;
use super::{PlanPage, PlanSession};
use crate::app::shared::Shared;
use crate::authorization::{Secret, SecretInputs};
use crate::plan::{is_valid, lacks_only_inputs};
use crate::ui::Tone;
use crate::ui::action::{FilledIn, Typed};
use crate::ui::dialog::FillInView;
use crate::worker::RevisionEdit;

impl PlanSession {
    /// Whether inputs are all that the plan lacks before it can be authorized.
    pub(super) fn lacks_inputs(&self) -> bool {
        let findings = &self.opened.findings;
        !is_valid(findings) && lacks_only_inputs(findings)
    }

    /// What the dialog shows; `None` for a plan without inputs.
    fn fill_in_view(&self) -> Option<FillInView> {
        let plan = self.opened.plan.as_ref()?;
        let secrets = &self.choices.secret_inputs;
        let mut named = plan.inputs.iter().filter(|input| !input.name.is_empty()).peekable();
        named.peek()?;
        Some(FillInView {
            file: self.opened.base().to_owned(),
            name: plan.name().to_owned(),
            inputs: named.map(|it| (it.clone(), secrets.get(&it.name).is_some())).collect(),
        })
    }
}

impl PlanPage {
    /// Why the shown plan cannot be filled in; `None` if it can.
    pub(super) fn not_fillable(&self) -> Option<&'static str> {
        let has_inputs = self.shown.as_ref().is_some_and(|it| it.fill_in_view().is_some());
        let why_not = || (!has_inputs).then_some("The plan has no inputs.");
        self.not_revisable().or_else(why_not)
    }

    /// What the dialog shows, while the plan can be filled in.
    pub(in crate::app) fn fill_in_view(&self) -> Option<FillInView> {
        self.shown.as_ref().filter(|_| self.not_fillable().is_none())?.fill_in_view()
    }

    /// Gives the shown plan values of its inputs. Values make a revision, which is opened in its place; secrets are kept
    /// with the session.
    pub(in crate::app) fn fill_in(&mut self, given: FilledIn, shared: &mut Shared) {
        let FilledIn { file, values, secrets } = given;
        let is_open = self.fill_in_view().is_some();
        let shown = self.shown.as_mut().filter(|_| is_open);
        let Some(session) = shown.filter(|it| it.opened.base() == file) else {
            let summary =
                "The values were not used: you gave them for a plan that is no longer shown.";
            shared.notify_here(Tone::Caution, summary, file.display().to_string(), "");
            return;
        };
        session.change_choices(|session| {
            for (name, Typed(bytes)) in secrets {
                session.choices.secret_inputs.give(name, Secret::new(bytes));
            }
        });
        let inputs = session.opened.plan.as_ref().map(|plan| plan.inputs.as_slice());
        let is_new = |(name, value): &(String, String)| {
            let input = inputs.unwrap_or_default().iter().find(|input| input.name == *name);
            input.is_none_or(|input| input.value.as_ref() != Some(value))
        };
        let values: BTreeMap<String, String> = values.into_iter().filter(is_new).collect();
        match values.is_empty() {
            true => self.review_again(false, shared),
            false => self.send_revision(RevisionEdit::FillIn(values), Finishes::Nothing, shared),
        }
    }

    /// Forgets the secrets that were given for the plan in this file. The worker has those of the run.
    pub(super) fn forget_secrets(&mut self, path: &Path) {
        for session in self.sessions_mut().filter(|session| session.path() == Some(path)) {
            session.choices.secret_inputs = SecretInputs::default();
        }
        if let Some(left) = self.left.get_mut(path) {
            left.chosen.choices.secret_inputs = SecretInputs::default();
        }
    }
}
