//! The state of the workspace after the earlier steps of a plan, for a review (SPEC §2).

use std::collections::BTreeMap;

use crate::plan::{Plan, Step, ToolCall};
use crate::tools::Toolbox;
use crate::workspace::Overlay;

/// The projected effect of earlier steps. It is computed only for a step that needs it, because computing it reads and
/// parses files.
#[derive(Default)]
pub(super) struct ProjectedSteps {
    overlay: Overlay,
    /// The number of steps that are included.
    steps: usize,
}

impl ProjectedSteps {
    /// The projected state before `step`, if the files of the step depend on it: the step runs a splice plan that an
    /// earlier step writes, or it takes changes back. For any other step, the present state. `written` has the first
    /// step that writes each file.
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
            return Overlay::empty();
        }
        // Selected by index, because the faulty steps of a plan are missing here.
        let missing = self.steps..step.step_index;
        for earlier in plan.steps.iter().filter(|step| missing.contains(&step.step_index)) {
            // An error of an earlier step has its own finding.
            let _ = toolbox.project(&earlier.call, &mut self.overlay);
        }
        self.steps = step.step_index.max(self.steps);
        &self.overlay
    }
}
