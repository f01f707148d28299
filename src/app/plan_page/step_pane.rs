//! The pane of the selected step: its tab, preview and record. Previews and records are requested when the page shows
//! them.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::PlanPage;
use crate::app::shared::Shared;
use crate::run::{ExecutionDetail, Preview, PreviewProgress, PreviewedStep};
use crate::ui::action::Tab;
use crate::worker::PreviewStep;

/// The selected step and the data of its pane.
#[derive(Debug, Clone, Default)]
pub struct StepPane {
    /// The index of the step, from 0.
    pub selected: usize,
    pub scroll_to_selected: bool,
    /// Whether the person selected the step. Otherwise the selection follows the run.
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

    /// Selects the current step of the run, unless the person selected one.
    pub fn follow(&mut self, index: usize) {
        if !self.is_pinned {
            self.select(index);
        }
    }

    /// Allows failed requests to be repeated.
    pub fn allow_retry(&mut self) {
        self.previews.forget_failed();
        self.executions.forget_failed();
    }
}

/// Requested values by key. A failed request is not repeated until its failure is forgotten.
#[derive(Debug, Clone)]
pub struct Fetched<K, V>(BTreeMap<K, Slot<V>>);

#[derive(Debug, Clone)]
enum Slot<V> {
    Requested,
    Ready(V),
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
            Some(Slot::Ready(value)) => Some(value),
            _ => None,
        }
    }

    /// Marks a value as requested. Returns false if it was requested before.
    fn mark_requested(&mut self, key: K) -> bool {
        let is_new = !self.0.contains_key(&key);
        if is_new {
            self.0.insert(key, Slot::Requested);
        }
        is_new
    }

    /// Stores a value, or with `None` the failure of its request.
    pub(super) fn store(&mut self, key: K, value: Option<V>) {
        self.0.insert(key, value.map_or(Slot::Failed, Slot::Ready));
    }

    /// Removes a key, so that its value is requested again.
    fn forget(&mut self, key: &K) {
        self.0.remove(key);
    }

    /// Removes keys without a value, so that their values are requested again.
    pub(super) fn forget_missing(&mut self) {
        self.0.retain(|_, slot| matches!(slot, Slot::Ready(_)));
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
    /// Requests the preview and the record of the selected step, if they are shown and were not requested before.
    pub fn prefetch(&mut self, shared: &mut Shared) {
        let Some(session) = &mut self.shown else { return };
        let (step_index, digest) = (session.pane.selected, session.opened.digest);
        if let Some(request) = &session.opened.request {
            // Nothing here says what the steps would do on the other computer.
            if session.pane.previews.mark_requested(step_index) {
                session.pane.previews.store(step_index, request.previews.get(step_index).cloned());
            }
            if session.previewed.steps.progress == PreviewProgress::Idle {
                session.previewed.steps = request.previewed();
            }
            return;
        }
        if let (Some(plan), Some(review)) = (&session.opened.plan, &session.opened.review)
            && plan.steps.get(step_index).is_some_and(|step| step.call.is_some())
            && !session.run.has_begun_step(step_index)
            && session.pane.previews.mark_requested(step_index)
        {
            let (plan, workspace) = (plan.clone(), review.workspace.clone());
            let query = PreviewStep { plan, workspace, step_index };
            shared.query_each(query, move |app, preview, latest| {
                let is_cancelled = matches!(&preview, Err(it) if it.is_cancelled());
                let (preview, failed) = match preview {
                    Ok(preview) => (Some(preview), None),
                    Err(failed) => (None, Some(failed)),
                };
                if let Some(session) =
                    app.plan.shown.as_mut().filter(|it| it.opened.digest == digest)
                {
                    // The request was stopped, for example because another plan is being opened. If this plan stays
                    // on the page, the preview is requested again.
                    // What a step has changed since it began says nothing about what it would do.
                    if is_cancelled || session.run.has_begun_step(step_index) {
                        session.pane.previews.forget(&step_index);
                    } else {
                        // Also of a step beyond the limits of the previews of all steps. What a run has changed since says
                        // nothing about the plan.
                        if let Some(preview) = preview.as_ref().filter(|_| !session.run.has_begun())
                        {
                            let step = PreviewedStep::of(preview);
                            session.previewed.steps.store(step_index, step);
                        }
                        session.pane.previews.store(step_index, preview);
                    }
                }
                if let Some(failed) = failed.filter(|_| latest && !is_cancelled) {
                    app.shared.report(failed);
                }
            });
        }
        if let Some(id) = session.selected_execution()
            && !matches!(session.pane.tab, Tab::Arguments | Tab::Diagnostics)
            && session.pane.executions.mark_requested(id)
        {
            shared.read_execution(id);
        }
        self.preview_steps(shared);
    }
}
