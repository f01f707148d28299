//! The question about the only step of a plan before the plan is authorized, for an agent that waits for the answer
//! (SPEC §13).

use std::sync::Arc;

use uuid::Uuid;

use super::history_source::open_tools;
use crate::evidence::EvidenceLocation;
use crate::plan::Plan;
use crate::risk::Policy;
use crate::run::{ConfirmationRequest, Review};
use crate::tools::{ToolError, Unsupported};
use crate::workspace::Overlay;

/// The question about the only step of a plan, with everything that a person must see before they answer. `why` says why
/// they are asked. No run has begun, so the id of the run is nil.
///
/// # Errors
/// The plan has not exactly one step, the workspace cannot be opened, or the step cannot be previewed.
pub fn step_question(
    plan: &Plan,
    review: &Review,
    policy: &Policy,
    evidence: Option<&EvidenceLocation>,
    why: &str,
) -> Result<ConfirmationRequest, ToolError> {
    let ([step], [risk]) = (plan.steps.as_slice(), review.risks.as_slice()) else {
        return Err(Unsupported { what: "a question about several steps".to_owned() }.into());
    };
    let toolbox = open_tools(&review.workspace, policy, evidence, &Arc::default())?;
    let preview = toolbox.preview(&step.call, &Overlay::default())?;
    Ok(ConfirmationRequest {
        run_id: Uuid::nil(),
        step_id: step.step_id.clone(),
        step_index: step.step_index,
        step_count: 1,
        tool: step.tool_name.clone(),
        purpose: step.title.clone().or_else(|| step.reason.clone()),
        explanation: step.title.as_ref().and(step.reason.clone()),
        arguments: step.arguments.clone(),
        target: None,
        host: None,
        cwd: toolbox.working_directory(&step.call).display().to_string(),
        user: toolbox.user(),
        risk: risk.clone(),
        warning: step.stated.warning.clone(),
        why: why.to_owned(),
        required: true,
        unwalled: false,
        needs: step.needs.clone(),
        walls: None,
        needed_by: Vec::new(),
        guided: false,
        run_by_agent: false,
        preview,
    })
}
