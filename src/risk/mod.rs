//! How dangerous a step is (SPEC §7.1), decided without trusting the plan's author.
//!
//! Pure: called by the review, the engine and the headless commands. Absent on purpose: anything
//! that reads a file. What a plan says about itself can only raise a verdict.

mod policy;
mod shell;
mod tools;

use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use policy::{EngineChoice, Policy};
pub use shell::{
    BadRule, BuiltinVerdict, CommandVerdict, Reading, Shell, SimpleCommand, UserRule, UserRules,
    Word, first_reading, of_command, refused, second_reading,
};
pub use tools::{of_step, of_written_path, of_written_program};

/// How dangerous something is; ordered, the worst is the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RiskLevel {
    /// Only reads.
    Safe,
    /// Ordinary work that changes something.
    Caution,
    /// Stops for a person.
    Dangerous,
    /// Makes the plan unauthorizable.
    Blocked,
}

impl RiskLevel {
    /// The level's word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Caution => "caution",
            Self::Dangerous => "dangerous",
            Self::Blocked => "blocked",
        }
    }
}

/// A level with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// How dangerous.
    pub level: RiskLevel,
    /// The rule that decided.
    pub rule: &'static str,
    /// The bytes of the decisive argument that matched.
    pub span: Option<Range<usize>>,
    /// Why.
    pub reason: String,
    /// A safer way, where there is one.
    pub suggestion: Option<String>,
}
