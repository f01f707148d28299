//! `plan`: lets a planner propose one plan for a goal. Nothing is authorized and nothing is run.

use std::sync::Arc;

use serde_json::json;

use super::bounded::{LoopProgress, print_header, setup};
use super::evidence::say_note;
use super::output::{Output, quoted_in_line, say};
use super::progress::Progress;
use super::refusal::Refusal;
use super::signals::stop_at_interrupt;
use super::{Exit, args};
use crate::autonomy::{
    AuthorizationRequest, BoundedLoop, LoopDeps, LoopOrder, PlanAuthorizer, PlanDecision,
};
use crate::engine::{AutoDeny, ControlHandle, SystemClock};
use crate::plan::{Dialect, quoted};
use crate::run::StopCode;

/// Asks a planner for a plan and prints it.
///
/// # Errors
/// The options cannot be used, or the workspace or the host of the goal cannot be reached.
pub(super) fn plan(command: &args::Plan, out: &mut Output) -> Result<Exit, Refusal> {
    let mut setup = setup(&command.planning, &command.goal, &command.planner)?;
    setup.order = LoopOrder { plan_only: true, ..setup.order };
    let control = ControlHandle::default();
    stop_at_interrupt(&control).map_err(|error| {
        Refusal::usage(format!("interrupts (Ctrl+C) cannot be handled: {error}"), "Try again.")
    })?;
    // An error here is ignored, because evidence that cannot be read makes the loop itself fail.
    let report = setup.location.reader().head_report();
    say_note(report.unwrap_or_default().note.as_deref());
    if !out.json() {
        print_header(&setup);
    }
    let deps = LoopDeps {
        clock: Arc::new(SystemClock::default()),
        confirmation: Box::new(AutoDeny),
        progress: Arc::new(LoopProgress(Progress::new(None, out.json()))),
        control,
        authorizer: Box::new(NeverAsked),
        terminal: None,
        secrets: None,
    };
    let outcome = BoundedLoop::run(&setup, deps)?;
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
            say(&quoted(&format!("Not recorded: {} {}", failure.code, failure.message)));
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
