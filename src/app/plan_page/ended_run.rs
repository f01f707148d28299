//! What the page shows of a run that is over: what it did, instead of what its plan would do now.

use super::PlanSession;
use crate::plan::{Finding, PathRole, Severity, ToolCall, ToolClass};
use crate::run::{DoneFiles, FileFate, Outcome, StepState};

/// What the page shows of a run that is over.
#[derive(Debug, Clone)]
pub struct EndedRun {
    /// The findings from before the run, and errors. What else the review finds is about running the plan once more.
    pub findings: Vec<Finding>,
    /// What the run did to files.
    pub done: DoneFiles,
}

/// What becomes of a file that a step has in this role; `None` if the step does not change it.
fn fate_of(role: PathRole) -> Option<FileFate> {
    match role {
        PathRole::Creates | PathRole::RenamesTo => Some(FileFate::New),
        PathRole::Deletes | PathRole::Renames => Some(FileFate::Deleted),
        role => role.changes().then_some(FileFate::Written),
    }
}

impl PlanSession {
    /// What the page shows of the run, if it is over and began here.
    pub fn ended_run(&self) -> Option<&EndedRun> {
        let (previewed, before) = self.before_run.as_ref().filter(|_| self.run.is_over())?;
        Some(self.ended_run.get_or_init(|| {
            let is_shown = |it: &&Finding| it.severity == Severity::Error || before.contains(it);
            let steps = self.opened.plan.as_ref().map_or(&[][..], |plan| plan.steps.as_slice());
            let call = |index: usize| steps.get(index).and_then(|step| step.call.as_ref());
            let did_change = |index: &usize| {
                let outcome = self.run.steps.get(*index).and_then(StepState::outcome);
                call(*index).is_some_and(|call| call.class() == ToolClass::Mutate)
                    && outcome == Some(Outcome::Succeeded)
            };
            let changing: Vec<usize> = (0..steps.len()).filter(did_change).collect();
            let named = |index| {
                let paths = call(index).map(ToolCall::paths).unwrap_or_default();
                paths.iter().filter_map(|it| Some((it.path, fate_of(it.role)?))).collect()
            };
            EndedRun {
                findings: self.opened.findings.iter().filter(is_shown).cloned().collect(),
                done: previewed.done(&changing, named),
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

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use super::*;
    use crate::run::RunEvent;
    use crate::ui::tests::fixture;
    use crate::worker::OpenedPlan;

    /// A class authorizes the plan of an attempt as soon as there is one.
    #[test]
    fn a_run_without_previews_did_what_its_steps_name() {
        let plan = crate::plan::parse(
            br#"{"plan_id": "p", "intent": "MUTATE", "title": "Egg", "steps": [{"step_id": "a",
                "tool": "file_create", "arguments": {"path": "egg", "contents": "heron"}}]}"#,
        );
        let plan = crate::plan::ShownPlan::from(plan.plan.unwrap());
        let result = fixture::result(&plan, 0, Outcome::Succeeded, 1);
        let opened =
            OpenedPlan { plan: Some(Arc::new(plan)), ..OpenedPlan::without_plan(PathBuf::new()) };
        let mut session = PlanSession::from_opened(opened, None);
        session.begin_attempt(true, 0);
        session.apply_event(&RunEvent::StepCompleted { result }, 1);
        session.apply_event(&RunEvent::RunCompleted { step_count: 1 }, 1);
        let files = vec![("egg".to_owned(), FileFate::New)];
        assert_eq!(session.ended_run().unwrap().done, DoneFiles { files, is_all: false });
    }
}
