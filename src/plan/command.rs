//! Statements of a command plan about itself and its commands (SPEC §1.2), and the risk levels of all plans.

use serde::{Deserialize, Serialize};

use super::words::words;

words! {
    /// Risk levels in ascending order.
    ///
    /// [`crate::risk`] determines the level of a step. The type is defined here because a plan may state levels, too.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum RiskLevel {
        /// Only reads.
        Safe = "safe",
        /// May change something, as ordinary work does.
        Caution = "caution",
        /// A person must confirm the step just before it runs.
        Dangerous = "dangerous",
        /// The plan cannot be authorized.
        Blocked = "blocked",
    }
}

/// The author's statement about the risk of a command. It can only raise the level.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct StatedRisk {
    /// The highest level stated.
    pub level: Option<RiskLevel>,
    /// The author's word for the kind of risk.
    pub category: Option<String>,
    /// The author's reason.
    pub reason: Option<String>,
    /// A warning to show before approval.
    pub warning: Option<String>,
}

/// Statements of a command plan about itself. They are displayed and do not affect the run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanNotes {
    /// The author's criteria for success.
    pub success_criteria: Vec<String>,
    /// The rollback commands. They run only as a plan of their own that a person authorizes.
    pub rollback: Vec<String>,
    /// The author's estimate of the duration.
    pub estimated_time: Option<String>,
}
