//! Data of the selected step that is asked for without a command, because the page shows it.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::App;
use crate::run::StepState;
use crate::ui::action::Tab;
use crate::worker::{PreviewStep, ReadExecution};

/// What was asked for, by key. What failed is not asked for again until it is forgotten.
#[derive(Debug, Clone)]
pub(super) struct Fetched<K, V>(BTreeMap<K, Slot<V>>);

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
    pub(super) fn get(&self, key: &K) -> Option<&V> {
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

    pub(super) fn insert(&mut self, key: K, value: V) {
        self.0.insert(key, Slot::Here(value));
    }

    fn fail(&mut self, key: K) {
        self.0.insert(key, Slot::Failed);
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

impl App {
    /// Asks for what the page wants to show and does not have yet.
    pub(super) fn prefetch(&mut self) {
        let Some(session) = &mut self.shown else { return };
        let (step_index, digest) = (session.selected, session.digest);
        let record = session.selected_execution().filter(|id| {
            matches!(session.run.steps.get(step_index), Some(StepState::Done(_)))
                && matches!(session.tab, Tab::Output | Tab::Artifacts | Tab::Evidence)
                && session.executions.wants(*id)
        });
        if let (Some(plan), Some(review)) = (&session.plan, &session.review)
            && plan.steps.get(step_index).is_some_and(|step| step.call.is_some())
            && session.previews.wants(step_index)
        {
            let (plan, workspace) = (plan.clone(), review.workspace.clone());
            let query = PreviewStep { plan, workspace, step_index };
            self.ask_each(query, move |app, preview, latest| {
                if let Some(session) = app.shown.as_mut().filter(|it| it.digest == digest) {
                    match &preview {
                        Ok(preview) => session.previews.insert(step_index, preview.clone()),
                        Err(it) if it.is_cancelled() => session.previews.forget(&step_index),
                        Err(_) => session.previews.fail(step_index),
                    }
                }
                if let Err(unanswered) = preview
                    && latest
                    && !unanswered.is_cancelled()
                {
                    app.report(unanswered);
                }
            });
        }
        if let Some(id) = record {
            self.read_execution(id);
        }
    }

    /// Reads the record of an execution for each page that shows it.
    pub(super) fn read_execution(&mut self, id: Uuid) {
        self.ask_each(ReadExecution(id), move |app, record, latest| match record {
            Ok((detail, attempt)) => {
                app.attempts.extend(attempt.map(|attempt| (detail.row.run_id, attempt)));
                if app.evidence.selected == Some(id) {
                    app.evidence.detail = Some(detail.clone());
                }
                if let Some(session) = &mut app.shown {
                    session.executions.insert(id, detail);
                }
            }
            Err(unanswered) => {
                if let Some(session) = &mut app.shown {
                    session.executions.fail(id);
                }
                if latest {
                    app.report(unanswered);
                }
            }
        });
    }
}
