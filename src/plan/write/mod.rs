//! Writes plan files: continuations of a run, rollbacks, reverts and batches. One module for each dialect, as in
//! `parse`.
//!
//! Pure: the same plan, run and steps always produce the same bytes, so that a person can authorize their digest in
//! advance. The caller passes the ids of the steps that succeeded, from the evidence.

mod actions;
mod commands;
mod steps;
mod text;

use std::collections::BTreeSet;

use uuid::Uuid;

use super::{Dialect, Plan};

pub use actions::{Batch, batch_plan, revert};
pub use commands::{ProposedCommand, command_plan, rollback};
pub use text::{CONTINUED, Continuation};

/// Writes the plan that continues a run: the steps whose ids are not in `succeeded`, in order, each with the same call.
///
/// Its title, if there is one, is marked as continued; its id, except in an action plan, contains the id of the
/// original plan. A precondition on a step that succeeded is left out, and the step's reason mentions the success,
/// unless it would become too long.
pub fn continuation<C>(plan: &Plan<C>, run_id: Uuid, succeeded: &BTreeSet<String>) -> Continuation {
    let run = text::short(run_id);
    match plan.dialect {
        Dialect::StepPlan => steps::continue_plan(plan, &run, succeeded),
        Dialect::CommandPlan => commands::continue_plan(plan, &run, succeeded),
        Dialect::ActionPlan => actions::continue_plan(plan, succeeded),
    }
}

/// Helpers for the tests of the writers.
#[cfg(test)]
mod testing {
    use serde_json::Value;
    use uuid::Uuid;

    use crate::plan::{Plan, parse};

    pub(super) fn run_id() -> Uuid {
        Uuid::from_u128(0x1a2b_3c4d << 96)
    }

    pub(super) fn plan(value: &Value) -> Plan {
        let parsed = parse(value.to_string().as_bytes());
        assert!(parsed.is_valid(), "{:?}", parsed.findings);
        parsed.plan.unwrap()
    }
}
