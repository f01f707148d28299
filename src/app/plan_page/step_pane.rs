//! The selected step of a plan: its tab, its preview and its record, which are fetched because the page shows them.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::PlanPage;
use crate::app::shared::Shared;
use crate::run::{ExecutionDetail, Preview};
use crate::ui::action::Tab;
use crate::worker::PreviewStep;

/// Which step is selected, and what is shown of it.
#[derive(Debug, Clone, Default)]
pub struct StepPane {
    /// The step, from 0.
    pub selected: usize,
    pub scroll_to_selected: bool,
    /// Whether the person picked the step. Otherwise the selection follows the run.
    pub is_pinned: bool,
    pub tab: Tab,
    /// By step.
    pub previews: Fetched<usize, Preview>,
    /// By id.
    pub executions: Fetched<Uuid, ExecutionDetail>,
}

impl StepPane {
    /// Selects a step and scrolls to it.
    pub fn select(&mut self, index: usize) {
        self.selected = index;
        self.scroll_to_selected = true;
    }

    /// Selects the step that the run is at, unless the person picked one.
    pub fn follow(&mut self, index: usize) {
        if !self.is_pinned {
            self.select(index);
        }
    }

    /// Lets what failed be asked for again.
    pub fn ask_again(&mut self) {
        self.previews.forget_failed();
        self.executions.forget_failed();
    }
}

/// What was asked for, by key. What failed is not asked for again until it is forgotten.
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

    /// Whether it must be asked for; from then on it counts as asked for.
    fn wants(&mut self, key: K) -> bool {
        let is_new = !self.0.contains_key(&key);
        if is_new {
            self.0.insert(key, Slot::Asked);
        }
        is_new
    }

    /// Keeps what was asked for, or that it failed.
    pub(super) fn arrived(&mut self, key: K, value: Option<V>) {
        self.0.insert(key, value.map_or(Slot::Failed, Slot::Here));
    }

    /// Lets it be asked for again.
    fn forget(&mut self, key: &K) {
        self.0.remove(key);
    }

    /// Lets everything be asked for again that is not here.
    pub(super) fn forget_missing(&mut self) {
        self.0.retain(|_, slot| matches!(slot, Slot::Here(_)));
    }

    /// Lets what failed be asked for again.
    pub(super) fn forget_failed(&mut self) {
        self.0.retain(|_, slot| !matches!(slot, Slot::Failed));
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl PlanPage {
    /// Asks for what the page wants to show and does not have yet.
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
                    // Another plan was opened: asked for again, should this one stay in front.
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
