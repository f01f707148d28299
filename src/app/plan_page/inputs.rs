//! The inputs of the plan on the page: what is missing, and what a person gives.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::{Chosen, PlanPage, PlanSession};
use crate::app::shared::Shared;
use crate::authorization::{Secret, SecretInputs};
use crate::plan::{self, Revision, is_valid};
use crate::ui::Tone;
use crate::ui::action::Typed;
use crate::ui::dialog::FillInView;
use crate::worker::{RevisePlan, RevisionBase, RevisionEdit};

impl PlanSession {
    /// Why the plan cannot be filled in; `None` if it can.
    pub(super) fn not_fillable(&self) -> Option<&'static str> {
        let plan = self.opened.plan.as_ref();
        match plan {
            None => Some("The file cannot be read as a plan."),
            Some(plan) if plan.inputs.iter().all(|input| input.name.is_empty()) => {
                Some("The plan has no inputs.")
            }
            _ if !self.can_choose() => Some("Only a plan that you opened can be filled in."),
            _ => self.not_rejectable(),
        }
    }

    /// Whether inputs are all that the plan lacks before it can be authorized.
    pub(super) fn lacks_inputs(&self) -> bool {
        let findings = &self.opened.findings;
        !is_valid(findings) && plan::lacks_only_inputs(findings)
    }

    /// What the dialog shows.
    pub(in crate::app) fn fill_in_view(&self) -> Option<FillInView> {
        let plan = self.opened.plan.as_ref().filter(|_| self.not_fillable().is_none())?;
        let secrets = &self.choices.secret_inputs;
        let named = plan.inputs.iter().filter(|input| !input.name.is_empty());
        Some(FillInView {
            file: self.opened.base().to_owned(),
            name: plan.name().to_owned(),
            inputs: named.map(|it| (it.clone(), secrets.get(&it.name).is_some())).collect(),
        })
    }

    /// The file that is revised, with what was changed in it already.
    fn revision_base(&self) -> Option<RevisionBase> {
        Some(match &self.opened.revised {
            Some(revised) => RevisionBase {
                path: revised.base.clone(),
                plan: Arc::clone(&revised.plan),
                revision: revised.revision.clone(),
            },
            None => RevisionBase {
                path: self.path()?.to_owned(),
                plan: self.opened.plan.clone()?,
                revision: Revision::default(),
            },
        })
    }
}

impl PlanPage {
    /// Gives the shown plan values of its inputs. Values make a revision, which is opened in its place; secrets are kept
    /// with the session.
    pub(in crate::app) fn fill_in(
        &mut self,
        file: &Path,
        values: Vec<(String, String)>,
        secrets: Vec<(String, Typed)>,
        shared: &mut Shared,
    ) {
        let shown = self.shown.as_mut().filter(|it| it.fill_in_view().is_some());
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
        let Some(plan) = session.opened.plan.clone() else { return };
        let is_new = |(name, value): &(String, String)| {
            let input = plan.inputs.iter().find(|input| input.name == *name);
            input.is_none_or(|input| input.value.as_ref() != Some(value))
        };
        let values: BTreeMap<String, String> = values.into_iter().filter(is_new).collect();
        let base = session.revision_base();
        let (Some(base), false) = (base, values.is_empty()) else {
            return self.review_again(false, shared);
        };
        let chosen: Chosen = session.chosen();
        let query = RevisePlan {
            base,
            shown: plan,
            edit: RevisionEdit::FillIn(values),
            workspace: chosen.workspace.clone(),
            choices: chosen.choices.clone(),
        };
        shared.query_latest(query, |app, revised| match revised {
            Ok(revised) => app.plan.show_opened(revised.opened, chosen, &mut app.shared),
            Err(failed) if failed.is_cancelled() => {}
            Err(failed) => app.plan.open_failed(failed, &mut app.shared),
        });
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
