//! `plan`: lets a planner propose one plan for a goal. Nothing is authorized and nothing is run.

use serde_json::json;

use super::output::{Output, quoted_in_line, say};
use super::refusal::Refusal;
use super::{Exit, args, bounded};
use crate::autonomy::{AuthorizationRequest, LoopOrder, PlanAuthorizer, PlanDecision};
use crate::engine::AutoDeny;
use crate::plan::{Dialect, quoted};
use crate::run::StopCode;

/// Asks a planner for a plan and prints it.
///
/// # Errors
/// The options cannot be used, or the workspace or the host of the goal cannot be reached.
pub(super) fn plan(command: &args::Plan, out: &mut Output) -> Result<Exit, Refusal> {
    let mut setup = bounded::setup(&command.planning, &command.goal, &command.planner)?;
    setup.order = LoopOrder { plan_only: true, ..setup.order };
    let outcome = bounded::run(&setup, AutoDeny, NeverAsked, out)?;
    let has_plan = outcome.stop_reason.code == StopCode::Planned;
    let plan = outcome.plan.as_ref().filter(|_| has_plan);
    if out.json() {
        let source = plan.map(|plan| String::from_utf8_lossy(&plan.source));
        out.document(&json!({
            "plan": source,
            "digest": plan.map(|plan| plan.digest),
            "loop": outcome,
        }));
    } else if let Some(plan) = plan {
        out.plan(&plan.source);
        let target = setup.order.target.as_ref().filter(|_| plan.dialect == Dialect::CommandPlan);
        if let Some(target) = target {
            say(&quoted(&format!("Run it with --target {target}.")));
        }
    } else {
        let reason = &outcome.stop_reason;
        say(&quoted_in_line(&format!("{}: {}", reason.code.as_str(), reason.message)));
        say(reason.code.next());
    }
    Ok(match &outcome.not_recorded {
        Some(failure) => {
            say(&quoted_in_line(&format!("Not recorded: {} {}", failure.code, failure.message)));
            Exit::Evidence
        }
        None if has_plan => Exit::Done,
        None => Exit::InvalidPlan,
    })
}

/// The authorizer of a loop that ends with its plan.
struct NeverAsked;

impl PlanAuthorizer for NeverAsked {
    fn authorize(&mut self, _: &AuthorizationRequest<'_>) -> PlanDecision {
        PlanDecision::Stop
    }
}
