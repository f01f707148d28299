//! The JSON Schema of each dialect, as it ships (SPEC §1.4).

use super::Dialect;

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 3] = [Self::StepPlan, Self::CommandPlan, Self::ActionPlan];

    /// The dialect as it is written in data.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::StepPlan => "step_plan",
            Self::CommandPlan => "command_plan",
            Self::ActionPlan => "action_plan",
        }
    }

    /// The text of its JSON Schema.
    pub const fn schema(self) -> &'static str {
        match self {
            Self::StepPlan => include_str!("../../assets/schema/step-plan.schema.json"),
            Self::CommandPlan => include_str!("../../assets/schema/command-plan.schema.json"),
            Self::ActionPlan => include_str!("../../assets/schema/action-plan.schema.json"),
        }
    }
}
