//! From a plan to the bytes of another: what a run left undone, and what takes changes back. A file for each
//! dialect, as in `parse`.
//!
//! Pure: the same plan, run and steps always give the same bytes, so that they have a digest a person
//! can authorize beforehand. Absent on purpose: which steps succeeded, which the evidence knows.

mod actions;
mod commands;
mod steps;
mod text;

use std::collections::BTreeSet;

use uuid::Uuid;

use super::{Dialect, Plan};

pub use actions::{Batch, batch_plan, revert};
pub use commands::rollback;

/// What is left of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Continuation {
    /// The exact bytes of a plan, in the same dialect, of the steps that did not succeed.
    Rest(Vec<u8>),
    /// Every step succeeded.
    NothingLeft,
    /// The rest, with its ids written out, is over the limit of a plan file.
    TooLarge,
}

/// The plan of the steps whose ids are not among `succeeded`, in order, each with the same call.
///
/// Its id and title name where it comes from. A precondition on a step that succeeded holds already:
/// it becomes `none`, and the step's reason says so.
pub fn continuation<C>(plan: &Plan<C>, run_id: Uuid, succeeded: &BTreeSet<String>) -> Continuation {
    let run = text::short(run_id);
    let left = match plan.dialect {
        Dialect::StepPlan => steps::rest(plan, &run, succeeded),
        Dialect::CommandPlan => commands::rest(plan, &run, succeeded),
        Dialect::ActionPlan => actions::rest(plan, succeeded),
    };
    match left {
        None => Continuation::NothingLeft,
        Some(bytes) => bytes.map_or(Continuation::TooLarge, Continuation::Rest),
    }
}

/// What the tests of the writers share.
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
