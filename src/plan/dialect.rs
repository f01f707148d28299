//! The dialects of plan files, with the JSON Schema of each (SPEC §1, §1.4).

use serde::{Deserialize, Serialize};

use super::words::words;

words! {
    /// The dialect of a plan file (SPEC §1).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Dialect {
        /// Steps that name tools (SPEC §1.1).
        StepPlan = "step_plan",
        /// Commands of a shell (SPEC §1.2).
        CommandPlan = "command_plan",
        /// Actions on the program (SPEC §1.3).
        ActionPlan = "action_plan",
    }
}

impl Dialect {
    /// The JSON Schema of the dialect, as text.
    pub const fn schema(self) -> &'static str {
        match self {
            Self::StepPlan => include_str!("../../assets/schema/step-plan.schema.json"),
            Self::CommandPlan => include_str!("../../assets/schema/command-plan.schema.json"),
            Self::ActionPlan => include_str!("../../assets/schema/action-plan.schema.json"),
        }
    }
}
