//! What only a command plan says (SPEC §1.2): about itself, and about each of its commands.

use serde::{Deserialize, Serialize};

use super::words::words;

words! {
    /// Risk levels in ascending order.
    ///
    /// [`crate::risk`] decides them; the enum is here because a plan may state a level itself.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum RiskLevel {
        /// Only reads.
        Safe = "safe",
        /// Ordinary work that changes something.
        Caution = "caution",
        /// Stops for a person.
        Dangerous = "dangerous",
        /// Makes the plan unauthorizable.
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
    /// Why.
    pub reason: Option<String>,
    /// A warning to show before approval.
    pub warning: Option<String>,
}

/// What a command plan states besides its steps: shown, never evaluated.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanNotes {
    /// The author's criteria for success.
    pub success_criteria: Vec<String>,
    /// The rollback commands; they never run by themselves.
    pub rollback: Vec<String>,
    /// The author's estimate of the duration.
    pub estimated_time: Option<String>,
}
