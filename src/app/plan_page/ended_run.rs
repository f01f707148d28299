//! What the page shows of a run that is over: what it did, instead of what its plan would do now.

use super::PlanSession;
use crate::plan::{Finding, Severity, ToolClass};
use crate::run::{DoneFiles, Outcome, StepState};

/// What the page shows of a run that is over.
#[derive(Debug, Clone)]
pub struct EndedRun {
    /// The findings from before the run, and errors. What else the review finds is about running the plan once more.
    pub findings: Vec<Finding>,
    /// What the run did to files.
    pub done: DoneFiles,
}

impl PlanSession {
    /// What the page shows of the run, if it is over and began here.
    pub fn ended_run(&self) -> Option<&EndedRun> {
        let (previewed, before) = self.before_run.as_ref().filter(|_| self.run.is_over())?;
        Some(self.ended_run.get_or_init(|| {
            let is_shown = |it: &&Finding| it.severity == Severity::Error || before.contains(it);
            let steps = self.opened.plan.as_ref().map_or(&[][..], |plan| plan.steps.as_slice());
            let changes_files = |index: usize| {
                let call = steps.get(index).and_then(|step| step.call.as_ref());
                call.is_some_and(|call| call.class() == ToolClass::Mutate)
            };
            let succeeded = |index: usize| {
                let outcome = self.run.steps.get(index).and_then(StepState::outcome);
                outcome == Some(Outcome::Succeeded)
            };
            EndedRun {
                findings: self.opened.findings.iter().filter(is_shown).cloned().collect(),
                done: previewed.done(|index| changes_files(index) && succeeded(index)),
            }
        }))
    }

    /// Remembers what is known of the plan while its run begins.
    pub(super) fn remember_before_run(&mut self) {
        let previewed = self.previewed.steps.clone();
        self.before_run = Some((previewed, self.opened.findings.clone()));
        self.ended_run.take();
    }
}
