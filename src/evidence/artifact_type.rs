//! The kinds of artifacts (SPEC §8).

use crate::plan::words::words;

words! {
    /// The kind of an artifact (SPEC §8).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[expect(missing_docs, reason = "the seven words of SPEC §8")]
    pub enum ArtifactType {
        Stdout = "stdout",
        Stderr = "stderr",
        Diagnostics = "diagnostics",
        Result = "result",
        StepContext = "step_context",
        Diff = "diff",
        Preview = "preview",
    }
}
