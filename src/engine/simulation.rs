//! Simulates all steps of a plan together (SPEC §11, `simulate`). Read-only.

use std::collections::HashMap;
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use super::history_source::open_tools;
use super::preconditions;
use super::review::{faulty_preview, limit_finding};
use crate::evidence::EvidenceLocation;
use crate::plan::{Finding, ShownPlan};
use crate::risk::Policy;
use crate::run::{FileChange, Outcome, Predicted, Preview, StopSignal};
use crate::tools::ToolError;
use crate::workspace::Overlay;

/// The result of a simulation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Simulation {
    /// One preview for each step, in the state after the steps before it.
    pub previews: Vec<Preview>,
    /// The differences between the present files and their final state, by path.
    pub changes: Vec<FileChange>,
    /// An error for each step at which a limit was reached.
    pub findings: Vec<Finding>,
}

/// Simulates the steps of a plan in order. At a faulty step, and at a step that would fail or whose precondition would
/// not hold, the simulation ends: the previews of the following steps only name that step. A step with an
/// unpredictable outcome is assumed to succeed; its preview says so.
///
/// # Errors
/// When the workspace cannot be opened or a file can no longer be read, or after `stop` was set.
pub fn simulate_shown(
    plan: &ShownPlan,
    workspace: &Path,
    policy: &Policy,
    evidence: Option<&EvidenceLocation>,
    stop: &Arc<StopSignal>,
) -> Result<Simulation, ToolError> {
    let toolbox = open_tools(workspace, policy, evidence, stop)?;
    let mut simulation = Simulation::default();
    let mut overlay = Overlay::default();
    let mut outcomes = HashMap::new();
    let mut ended_at = None;
    for step in &plan.steps {
        toolbox.check_cancelled()?;
        let preview = match (ended_at, &step.call) {
            (Some(index), _) => Preview::not_reached(index),
            (None, None) => faulty_preview(),
            (None, Some(call)) => {
                let checked = preconditions::check(step, call, toolbox.after(&overlay), &outcomes);
                match checked {
                    Err(error) => {
                        simulation.findings.extend(limit_finding(step, &error.failure()));
                        failure_preview(&error, vec![error.next()])
                    }
                    Ok(_) => {
                        let preview = toolbox.preview(call, &overlay);
                        let reached = toolbox.take_limit();
                        let limit = reached.and_then(|reached| limit_finding(step, &reached));
                        simulation.findings.extend(limit);
                        // A path outside the workspace is reported by the review.
                        let _ = toolbox.project(call, &mut overlay);
                        preview.unwrap_or_else(|error| failure_preview(&error, vec![error.next()]))
                    }
                }
            }
        };
        if ended_at.is_none() && (step.call.is_none() || preview.would_fail()) {
            ended_at = Some(step.step_index);
        }
        outcomes.insert(step.step_id.clone(), Outcome::Succeeded);
        simulation.previews.push(preview);
    }
    simulation.changes = toolbox.after(&overlay).changes_since(Overlay::empty())?;
    Ok(simulation)
}

/// The preview of a step that fails before its tool can predict an effect.
pub(super) fn failure_preview(error: impl Display, notes: Vec<String>) -> Preview {
    Preview { predicted: Predicted::Unpredictable, ..Preview::failure(error, notes) }
}
