//! What the earlier steps of a plan leave in the workspace, for a review (SPEC §2).

use std::collections::BTreeMap;

use crate::plan::{Plan, Step, ToolCall};
use crate::tools::Toolbox;
use crate::workspace::Overlay;

/// What earlier steps leave, worked out only for a step that needs it: that reads and parses their files.
#[derive(Default)]
pub(super) struct ProjectedSteps {
    overlay: Overlay,
    /// How many steps are in it.
    steps: usize,
}

impl ProjectedSteps {
    /// What the steps before `step` leave when that says which files it works on: when it follows a
    /// splice plan that one of them writes, or takes changes back. Nothing for any other step.
    pub(super) fn before(
        &mut self,
        step: &Step,
        plan: &Plan,
        toolbox: &Toolbox,
        written: &BTreeMap<String, usize>,
    ) -> &Overlay {
        let depends = match &step.call {
            ToolCall::SplicePlan { plan_file } => {
                toolbox.key_of(plan_file).is_ok_and(|key| written.contains_key(&key))
            }
            ToolCall::History { operation, .. } => operation.changes_files(),
            _ => false,
        };
        if !depends {
            return Overlay::nothing();
        }
        // By the index: of a faulty plan only the sound steps are here.
        let since = self.steps..step.step_index;
        for earlier in plan.steps.iter().filter(|it| since.contains(&it.step_index)) {
            // What an earlier step is faulty in is a finding of its own.
            let _ = toolbox.project(&earlier.call, &mut self.overlay);
        }
        self.steps = step.step_index.max(self.steps);
        &self.overlay
    }
}
