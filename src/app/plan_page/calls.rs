//! The runs that agents wait for: plans of calls whose tickets were used.

use std::path::{Path, PathBuf};

use super::PlanPage;
use crate::ui::plan::{Approval, QueuedPlan};
use crate::worker::calls::{CallRun, Watched};

impl PlanPage {
    /// Puts the authorized plan in this file into the queue, for an agent that waits for its run.
    /// `called` names it if it has not been shown.
    pub fn enqueue_call(&mut self, file: PathBuf, called: Option<String>, run: CallRun) {
        let shown = self.sessions().find(|it| it.path() == Some(&*file));
        let name = shown.map(|it| it.name().to_owned()).or_else(|| self.open_name(&file));
        let is_authorized = match shown {
            Some(shown) => matches!(shown.approval, Approval::Approved { .. }),
            None => self.set_aside.contains_key(&file),
        };
        if !is_authorized {
            let why = "its authorization is void, has expired, or was used in the window";
            return self.refuse_call(file, run, why);
        }
        if !self.queue.has_room() {
            return self.refuse_call(file, run, "too many plans wait to be run");
        }
        let name = name.or(called).unwrap_or_else(|| "call of an agent".to_owned());
        self.queue.push(QueuedPlan { path: file.clone(), name });
        self.orders.insert(file, run);
    }

    /// Whether a plan is in the queue.
    pub fn is_queued(&self, file: &Path) -> bool {
        self.queue.place_of(file).is_some()
    }

    /// Tells the agents whose plans a person has taken out of the queue that they are not run.
    pub fn refuse_removed_calls(&mut self) {
        let queue = &self.queue;
        let removed = self.orders.extract_if(.., |file, _| queue.place_of(file).is_none());
        for (file, run) in removed.collect::<Vec<_>>() {
            self.refuse_call(file, run, "the person took the plan out of the queue");
        }
    }

    /// Tells an agent that waits for the run of its call why there is none.
    pub(super) fn refuse_call(&mut self, file: PathBuf, run: CallRun, why: &str) {
        run.refuse(why);
        self.refused_calls.push((file, why.to_owned()));
    }

    /// The calls that were authorized and are not run, with the reasons. They are named once.
    pub fn take_refused_calls(&mut self) -> Vec<(PathBuf, String)> {
        std::mem::take(&mut self.refused_calls)
    }

    /// Ends the authorization of a plan that is not shown and has not begun, and takes the plan out of the queue.
    pub fn void(&mut self, file: &Path) {
        self.set_aside.remove(file);
        self.unqueue(file);
        let shown = self.shown.as_mut().filter(|it| it.path() == Some(file));
        if let Some(session) = shown.filter(|it| matches!(it.approval, Approval::Approved { .. })) {
            (session.approval, session.authorization) = (Approval::Void(Vec::new()), None);
        }
        self.refused_calls.push((file.to_owned(), "its rule was taken back".to_owned()));
    }

    /// Takes the plans out of the queue for whose runs nobody waits any more. Returns whether that is so of the run under way.
    pub fn drop_left_calls(&mut self) -> bool {
        let left = self.orders.extract_if(.., |_, run| run.is_abandoned());
        let files: Vec<PathBuf> = left.map(|(file, _)| file).collect();
        files.iter().for_each(|file| self.unqueue(file));
        self.call_run.as_ref().is_some_and(Watched::is_abandoned)
    }
}
