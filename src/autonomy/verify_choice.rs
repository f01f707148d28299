//! The verification that a loop adds where its plans have none.

use crate::plan::VerifyScope;

/// The verification that the loop adds where a plan has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerifyChoice {
    /// With this scope.
    Scope(VerifyScope),
    /// None: `completed` then reports that nothing was verified.
    None,
}

impl VerifyChoice {
    /// Verification scope, or `None` to skip verification.
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
