//! How a loop verifies where its plans do not.

use crate::plan::VerifyScope;

/// Whether the loop verifies by itself where a plan did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerifyChoice {
    /// With this scope.
    Scope(VerifyScope),
    /// Not at all: `completed` then says that nothing was verified.
    None,
}

impl VerifyChoice {
    /// How much is verified; none where nothing is.
    pub const fn scope(self) -> Option<VerifyScope> {
        match self {
            Self::Scope(scope) => Some(scope),
            Self::None => None,
        }
    }

    /// Whether a verification by the plan itself looked at enough.
    pub(super) fn is_met_by(self, scope: VerifyScope) -> bool {
        self != Self::Scope(VerifyScope::Full) || scope == VerifyScope::Full
    }

    /// The choice as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scope(scope) => scope.as_str(),
            Self::None => "none",
        }
    }
}
