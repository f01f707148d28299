//! Simulates all steps of a plan together (SPEC §11, `simulate`). Read-only.

use std::collections::HashMap;
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use super::history_source::open_tools;
use super::preconditions;
use super::review::limit_finding;
use crate::evidence::EvidenceLocation;
use crate::plan::{Finding, Plan};
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

/// Simulates the steps of a plan in order. At a step that would fail, or whose precondition would not hold, the
/// simulation ends: the previews of the following steps only name that step. A step with an unpredictable outcome is
/// assumed to succeed; its preview says so.
///
/// # Errors
/// When the workspace cannot be opened or a file can no longer be read, or after `stop` was set.
pub(super) fn simulate(
    plan: &Plan,
    workspace: &Path,
    policy: &Policy,
    evidence: Option<&EvidenceLocation>,
    stop: &Arc<StopSignal>,
) -> Result<Simulation, ToolError> {
    let toolbox = open_tools(workspace, policy, evidence, stop)?;
    let mut findings = Vec::new();
    let mut overlay = Overlay::default();
    let mut outcomes = HashMap::new();
    let mut failed_at = None;
    let mut previews = Vec::with_capacity(plan.steps.len());
    for step in &plan.steps {
        toolbox.check_cancelled()?;
        let call = &step.call;
        let preview = match failed_at {
            Some(index) => Preview::not_reached(index),
            None => {
                let context = preconditions::CheckContext {
                    after: toolbox.after(&overlay),
                    toolbox: &toolbox,
                    outcomes: &outcomes,
                    stop,
                };
                match preconditions::check(step, call, &context) {
                    Err(error) => {
                        findings.extend(limit_finding(step, error.code(), &error.to_string()));
                        failure_preview(&error, vec![error.next()])
                    }
                    Ok(_) => {
                        let preview = toolbox.preview(call, &overlay);
                        let reached = toolbox.take_limit();
                        findings.extend(
                            reached.and_then(|it| limit_finding(step, it.code, &it.message)),
                        );
                        // A path outside the workspace is reported by the review.
                        let _ = toolbox.project(call, &mut overlay);
                        preview.unwrap_or_else(|error| failure_preview(&error, vec![error.next()]))
                    }
                }
            }
        };
        if failed_at.is_none() && preview.would_fail() {
            failed_at = Some(step.step_index);
        }
        outcomes.insert(step.step_id.clone(), Outcome::Succeeded);
        previews.push(preview);
    }
    Ok(Simulation {
        previews,
        changes: toolbox.after(&overlay).changes_since(Overlay::empty())?,
        findings,
    })
}

/// The preview of a step that fails before its tool can predict an effect.
pub(super) fn failure_preview(error: impl Display, notes: Vec<String>) -> Preview {
    Preview { predicted: Predicted::Unpredictable, ..Preview::failure(error, notes) }
}
