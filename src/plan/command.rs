//! What only a command plan says (SPEC §1.2): about itself, and about each of its commands.

use serde::{Deserialize, Serialize};

use super::words::words;

words! {
    /// How dangerous something is; ordered, the worst is the greatest.
    ///
    /// The verdict is made in [`crate::risk`]; the word stands here because a plan may say it of itself.
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

/// What the author of a plan says about the risk of a command. It can only raise the care taken.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StatedRisk {
    /// The worst level that is named.
    pub level: Option<RiskLevel>,
    /// The author's word for the kind of risk.
    pub category: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// What a person is to read before they say yes.
    pub warning: Option<String>,
}

/// What a command plan says besides its steps: data for a person, never judged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outlook {
    /// How the author would tell that the goal is reached.
    pub success_criteria: Vec<String>,
    /// The commands that would take it back; they never run by themselves.
    pub rollback: Vec<String>,
    /// How long it may take, as the author puts it.
    pub estimated_time: Option<String>,
}
