//! The kinds of artifacts (SPEC §8).

/// What kind of artifact (SPEC §8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the seven words of SPEC §8")]
pub enum ArtifactType {
    Stdout,
    Stderr,
    Diagnostics,
    Result,
    StepContext,
    Diff,
    Preview,
}

impl ArtifactType {
    /// The word as it stands in the evidence.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::Diagnostics => "diagnostics",
            Self::Result => "result",
            Self::StepContext => "step_context",
            Self::Diff => "diff",
            Self::Preview => "preview",
        }
    }
}
