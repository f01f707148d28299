//! `schema`: the JSON Schema of a dialect, as it ships.

use super::Exit;
use super::args;
use super::output::Output;
use crate::plan::Dialect;

const ACTION_PLAN: &str = include_str!("../../assets/schema/action-plan.schema.json");
const COMMAND_PLAN: &str = include_str!("../../assets/schema/command-plan.schema.json");
const STEP_PLAN: &str = include_str!("../../assets/schema/step-plan.schema.json");

/// Prints the schema; it is JSON with or without `--json`.
pub(super) fn schema(command: &args::Schema, out: &mut Output) -> Exit {
    let text = match Dialect::from(command.dialect) {
        Dialect::StepPlan => STEP_PLAN,
        Dialect::CommandPlan => COMMAND_PLAN,
        Dialect::ActionPlan => ACTION_PLAN,
    };
    out.line(text.trim_end());
    Exit::Done
}
