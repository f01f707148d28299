//! What an action plan asks for (SPEC §1.3, §9): the typed requests of its actions, the
//! planner's metadata, and the planner's report that it has no plan.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::words::words;
use super::{Digest, ToolCall, ToolClass};

/// The one version of the action dialect that is read.
pub const VERSION: &str = "2026-02-19";

/// A batch of edits that is applied as a whole or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MutateBatch {
    /// What is done, in this order.
    pub edits: Vec<Edit>,
    /// Required contents before the batch, by path as written in the plan.
    pub expected_hashes: BTreeMap<String, Digest>,
    /// Compute and check only.
    pub dry_run: bool,
}

/// One edit of a file, as a plan writes it. Paths are the plan's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
#[expect(missing_docs, reason = "variants and fields are the edits of SPEC §9")]
pub enum Edit {
    Write {
        path: String,
        contents: String,
    },
    Create {
        path: String,
        contents: String,
    },
    Delete {
        path: String,
    },
    Rename {
        path: String,
        to: String,
    },
    /// `old` must stand in the file exactly once.
    Replace {
        path: String,
        old: String,
        new: String,
    },
    /// A unified diff of this one file, applied without fuzz.
    Patch {
        path: String,
        diff: String,
    },
    /// The definition of `symbol` becomes `contents`.
    Splice {
        path: String,
        symbol: String,
        contents: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        kind: Option<String>,
    },
}

impl Edit {
    /// Every `op`, as a plan writes it.
    pub const OPS: [&'static str; 7] =
        ["write", "create", "delete", "rename", "replace", "patch", "splice"];

    /// The edit's `op`.
    pub const fn op(&self) -> &'static str {
        match self {
            Self::Write { .. } => "write",
            Self::Create { .. } => "create",
            Self::Delete { .. } => "delete",
            Self::Rename { .. } => "rename",
            Self::Replace { .. } => "replace",
            Self::Patch { .. } => "patch",
            Self::Splice { .. } => "splice",
        }
    }

    /// Whether the edit deletes a file; a rename does not.
    pub fn deletes(&self) -> bool {
        match self {
            Self::Delete { .. } => true,
            // Lenient: any line that looks like the header of a deletion counts.
            Self::Patch { diff, .. } => diff.lines().any(|line| line.starts_with("+++ /dev/null")),
            _ => false,
        }
    }
}

words! {
    /// How much a `verify` looks at.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum VerifyScope {
        /// The quick check, by default `cargo check`.
        #[default]
        Local = "local",
        /// Everything, with tests.
        Full = "full",
    }
}

words! {
    /// How far the compiler optimises.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
    #[expect(missing_docs, reason = "the four words of SPEC §9")]
    pub enum OptLevel {
        #[default]
        O0 = "O0",
        O1 = "O1",
        O2 = "O2",
        O3 = "O3",
    }
}

/// What is built, and how.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Build {
    /// How far the compiler optimises.
    pub opt_level: OptLevel,
    /// A binary or an example; none for the default binary.
    pub entry_function: Option<String>,
    /// For which platform; none for this one.
    pub target_triple: Option<String>,
    /// Whether the build carries what a debugger needs.
    pub debug_symbols: bool,
}

/// What is simulated on a scratch copy of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Simulation {
    /// Edits, as in a batch.
    Edits {
        /// What is done, in this order.
        edits: Vec<Edit>,
        /// Whether and how the outcome is verified.
        verify: Option<VerifyScope>,
    },
    /// Steps, as in a step plan.
    Steps {
        /// What is called, in this order.
        steps: Vec<ToolCall>,
        /// Whether and how the outcome is verified.
        verify: Option<VerifyScope>,
    },
    /// A binary, example or test, built and run.
    Function {
        /// Its name.
        function: String,
        /// The arguments that it is given.
        inputs: Vec<String>,
        /// Whether it is run with backtraces.
        trace_enabled: bool,
    },
}

impl Simulation {
    /// Whether it runs code of the workspace.
    pub fn runs_code(&self) -> bool {
        let checks = |step: &ToolCall| match step {
            // The result of a splice is checked.
            ToolCall::SplicePatch { .. } | ToolCall::SplicePlan { .. } => true,
            step => step.class() == ToolClass::Check,
        };
        match self {
            Self::Edits { verify, .. } => verify.is_some(),
            Self::Steps { steps, verify } => verify.is_some() || steps.iter().any(checks),
            Self::Function { .. } => true,
        }
    }
}

/// What an `inspect` looks at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum InspectQuery {
    /// An overview of the program.
    #[default]
    Overview,
    /// Lines that contain this text.
    Search(String),
    /// Definitions with this name.
    Symbol(String),
    /// The code graph.
    Semantic,
}

/// What a `history` does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HistoryOperation {
    /// Lists what was changed, the newest first.
    ListEntries,
    /// Lists the states that can be restored.
    ListCheckpoints,
    /// Undoes the last change, or the changes of this run, execution or loop attempt.
    Undo {
        /// `run:ID`, `execution:ID` or `loop:ID:N`; none for the last change that stands.
        checkpoint: Option<String>,
    },
    /// Reapplies the last change that was undone.
    Redo,
    /// Restores the files to a checkpoint.
    RestoreCheckpoint {
        /// Its name.
        checkpoint: String,
    },
    /// The difference between two checkpoints, or one and now.
    Diff {
        /// From this one.
        from: String,
        /// To this one; none for now.
        to: Option<String>,
    },
}

impl HistoryOperation {
    /// The operation's word.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::ListEntries => "list_entries",
            Self::ListCheckpoints => "list_checkpoints",
            Self::Undo { .. } => "undo",
            Self::Redo => "redo",
            Self::RestoreCheckpoint { .. } => "restore_checkpoint",
            Self::Diff { .. } => "diff",
        }
    }

    /// Whether it changes files.
    pub const fn changes_files(&self) -> bool {
        matches!(self, Self::Undo { .. } | Self::Redo | Self::RestoreCheckpoint { .. })
    }
}

/// What a planner states about its plan; not verified.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Metadata {
    /// Which planner.
    pub planner: Option<String>,
    /// Which model.
    pub model: Option<String>,
    /// Notes for the person.
    pub notes: Option<String>,
    /// Confidence from 0 to 1, as written.
    pub confidence: Option<String>,
}

/// A planner's report that it has no plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlannerFailure {
    /// Why: `clarification_needed`, `unsupported_goal`, `unsafe_plan`, `planner_unavailable`, `validation_failed`, or
    /// a code of the planner's own.
    pub code: String,
    /// Why, in words.
    pub message: String,
    /// More about it, as the planner gives it: a text, or other JSON as text.
    pub detail: Option<String>,
    /// Whether asking again may help.
    pub retryable: bool,
}
