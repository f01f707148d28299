//! The selected step of a plan: its tab, its preview and its record, which are requested when the page shows them.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::PlanPage;
use crate::app::shared::Shared;
use crate::run::{ExecutionDetail, Preview};
use crate::ui::action::Tab;
use crate::worker::PreviewStep;

/// The selected step, and what is shown of it.
#[derive(Debug, Clone, Default)]
pub struct StepPane {
    /// The index of the step, from 0.
    pub selected: usize,
    pub scroll_to_selected: bool,
    /// Whether the person picked the step. Otherwise the selection follows the run.
    pub is_pinned: bool,
    pub tab: Tab,
    /// Previews by step index.
    pub previews: Fetched<usize, Preview>,
    /// Records by execution id.
    pub executions: Fetched<Uuid, ExecutionDetail>,
}

impl StepPane {
    /// Selects a step and scrolls to it.
    pub fn select(&mut self, index: usize) {
        self.selected = index;
        self.scroll_to_selected = true;
    }

    /// Selects the current step of the run, unless the person picked one.
    pub fn follow(&mut self, index: usize) {
        if !self.is_pinned {
            self.select(index);
        }
    }

    /// Allows failed requests to be repeated.
    pub fn ask_again(&mut self) {
        self.previews.forget_failed();
        self.executions.forget_failed();
    }
}

/// Requested values by key. A failed request is not repeated until its failure is forgotten.
#[derive(Debug, Clone)]
pub struct Fetched<K, V>(BTreeMap<K, Slot<V>>);

#[derive(Debug, Clone)]
enum Slot<V> {
    Asked,
    Here(V),
    Failed,
}

impl<K, V> Default for Fetched<K, V> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord, V> Fetched<K, V> {
    pub fn get(&self, key: &K) -> Option<&V> {
        match self.0.get(key) {
            Some(Slot::Here(value)) => Some(value),
            _ => None,
        }
    }

    /// Whether the value must be requested. Marks it as requested.
    fn wants(&mut self, key: K) -> bool {
        let is_new = !self.0.contains_key(&key);
        if is_new {
            self.0.insert(key, Slot::Asked);
        }
        is_new
    }

    /// Stores a value that has arrived, or the failure of its request.
    pub(super) fn arrived(&mut self, key: K, value: Option<V>) {
        self.0.insert(key, value.map_or(Slot::Failed, Slot::Here));
    }

    /// Removes a key, so that its value is requested again.
    fn forget(&mut self, key: &K) {
        self.0.remove(key);
    }

    /// Removes keys without a value, so that their values are requested again.
    pub(super) fn forget_missing(&mut self) {
        self.0.retain(|_, slot| matches!(slot, Slot::Here(_)));
    }

    /// Removes failed keys, so that their values are requested again.
    pub(super) fn forget_failed(&mut self) {
        self.0.retain(|_, slot| !matches!(slot, Slot::Failed));
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl PlanPage {
    /// Requests the preview and the record that the page shows and does not have yet.
    pub fn prefetch(&mut self, shared: &mut Shared) {
        let Some(session) = &mut self.shown else { return };
        let (step_index, digest) = (session.pane.selected, session.opened.digest);
        if let (Some(plan), Some(review)) = (&session.opened.plan, &session.opened.review)
            && plan.steps.get(step_index).is_some_and(|step| step.call.is_some())
            && session.pane.previews.wants(step_index)
        {
            let (plan, workspace) = (plan.clone(), review.workspace.clone());
            let query = PreviewStep { plan, workspace, step_index };
            shared.ask_each(query, move |app, preview, latest| {
                let is_cancelled = matches!(&preview, Err(it) if it.is_cancelled());
                let (preview, unanswered) = match preview {
                    Ok(preview) => (Some(preview), None),
                    Err(unanswered) => (None, Some(unanswered)),
                };
                if let Some(session) =
                    app.plan.shown.as_mut().filter(|it| it.opened.digest == digest)
                {
                    // The request was stopped, for example because another plan is being opened. If this plan stays
                    // on the page, its preview is requested again.
                    if is_cancelled {
                        session.pane.previews.forget(&step_index);
                    } else {
                        session.pane.previews.arrived(step_index, preview);
                    }
                }
                if let Some(unanswered) = unanswered.filter(|_| latest && !is_cancelled) {
                    app.shared.report(unanswered);
                }
            });
        }
        if let Some(id) = session.selected_execution()
            && matches!(session.pane.tab, Tab::Output | Tab::Artifacts | Tab::Evidence)
            && session.pane.executions.wants(id)
        {
            shared.read_execution(id);
        }
    }
}
