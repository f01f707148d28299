//! The contents of an action plan (SPEC §1.3, §9): the typed requests of its actions, the planner's metadata, and a
//! planner's failure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::patch::patch;
use super::words::words;
use super::{Digest, ToolCall, ToolClass, limits};

/// The only supported version of the action dialect.
pub const VERSION: &str = "2026-02-19";

/// A batch of edits that is applied completely or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MutateBatch {
    /// The edits, in the order in which they are applied.
    pub edits: Vec<Edit>,
    /// Required contents before the batch, by path as written in the plan.
    pub expected_hashes: BTreeMap<String, Digest>,
    /// Whether the batch is only computed and checked, without writing.
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
    /// Replaces `old` by `new`; `old` must occur in the file exactly once.
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
    /// Replaces the definition of `symbol` by `contents`.
    Splice {
        path: String,
        symbol: String,
        contents: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        kind: Option<String>,
    },
}

impl Edit {
    /// All values of `op` in plan files.
    pub const OPS: [&'static str; 7] =
        ["write", "create", "delete", "rename", "replace", "patch", "splice"];

    /// The value of `op` in plan files.
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

    /// A patch that turns one text of a file into another.
    pub fn patch(path: &str, before: &str, after: &str) -> Self {
        Self::Patch { path: path.to_owned(), diff: patch(path, before, after) }
    }

    /// Whether one of its texts is longer than an argument may be.
    pub fn is_too_long(&self) -> bool {
        let is_long = |text: &String| text.len() > limits::ARGUMENT_BYTES;
        match self {
            Self::Write { contents, .. } | Self::Create { contents, .. } => is_long(contents),
            Self::Splice { contents, .. } => is_long(contents),
            Self::Replace { old, new, .. } => is_long(old) || is_long(new),
            Self::Patch { diff, .. } => is_long(diff),
            Self::Delete { .. } | Self::Rename { .. } => false,
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
    /// The scope of a verification.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum VerifyScope {
        /// The quick check, by default `cargo check`.
        #[default]
        Local = "local",
        /// The workspace's command for a full verification, or the quick check and the tests.
        Full = "full",
    }
}

words! {
    /// The optimization level of the compiler.
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

/// The options of a build.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Build {
    /// The optimization level of the compiler.
    pub opt_level: OptLevel,
    /// A binary or an example; `None` for the default binary.
    pub entry_function: Option<String>,
    /// The target platform; `None` for that of this computer.
    pub target_triple: Option<String>,
    /// Whether the build contains debug information.
    pub debug_symbols: bool,
}

/// A simulation on a scratch copy of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Simulation {
    /// Edits, as in a batch.
    Edits {
        /// The edits, in the order in which they are applied.
        edits: Vec<Edit>,
        /// Verification scope, or `None` to skip verification.
        verify: Option<VerifyScope>,
    },
    /// Steps, as in a step plan.
    Steps {
        /// The calls, in the order in which they run.
        steps: Vec<ToolCall>,
        /// Verification scope, or `None` to skip verification.
        verify: Option<VerifyScope>,
    },
    /// A binary, example or test that is built and run.
    Function {
        /// The name of the binary, example or test.
        function: String,
        /// The arguments of the program; for a test, names of further tests.
        inputs: Vec<String>,
        /// Whether backtraces are enabled.
        trace_enabled: bool,
    },
}

impl Simulation {
    /// Whether the simulation may run code of the workspace.
    pub fn runs_code(&self) -> bool {
        let checks = |step: &ToolCall| match step {
            // cargo checks the result of a splice and may run build scripts.
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

/// The subject of an `inspect` action.
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

impl InspectQuery {
    /// The forms of a query, as they are written in a plan.
    pub const FORMS: [&str; 4] = ["overview", "search:TEXT", "symbol:NAME", "semantic"];

    /// Reads a query as it is written in a plan; `None` if it is unknown.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text.split_once(':') {
            None if text == "overview" => Self::Overview,
            None if text == "semantic" => Self::Semantic,
            Some(("search", text)) if !text.is_empty() => Self::Search(text.to_owned()),
            Some(("symbol", name)) if !name.trim().is_empty() => {
                Self::Symbol(name.trim().to_owned())
            }
            _ => return None,
        })
    }
}

/// The operation of a `history` action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HistoryOperation {
    /// Lists the recorded changes, newest first.
    ListEntries,
    /// Lists the checkpoints that can be restored.
    ListCheckpoints,
    /// Undoes the last change, or all changes of a run, execution or loop attempt.
    Undo {
        /// `run:ID`, `execution:ID` or `loop:ID:N`; `None` for the last change that is not undone.
        checkpoint: Option<String>,
    },
    /// Reapplies the last change that was undone.
    Redo,
    /// Restores the files to a checkpoint.
    RestoreCheckpoint {
        /// The checkpoint, as in `Undo`.
        checkpoint: String,
    },
    /// Compares two checkpoints, or a checkpoint with the current files.
    Diff {
        /// The first checkpoint.
        from: String,
        /// The second checkpoint; `None` for the current files.
        to: Option<String>,
    },
}

impl HistoryOperation {
    /// The name of the operation in plan files.
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

    /// Whether the operation changes files.
    pub const fn changes_files(&self) -> bool {
        matches!(self, Self::Undo { .. } | Self::Redo | Self::RestoreCheckpoint { .. })
    }
}

/// A planner's statements about its plan, which are shown and not verified.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Metadata {
    /// The name of the planner.
    pub planner: Option<String>,
    /// The name of the model.
    pub model: Option<String>,
    /// Notes for the person.
    pub notes: Option<String>,
    /// Confidence from 0 to 1, as written.
    pub confidence: Option<String>,
}

/// A planner's report that it has no plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlannerFailure {
    /// The reason: `clarification_needed`, `unsupported_goal`, `unsafe_plan`, `planner_unavailable`,
    /// `validation_failed`, or a code that the planner defines.
    pub code: String,
    /// The explanation for a person.
    pub message: String,
    /// Details from the planner: a text, or other JSON in its text form.
    pub detail: Option<String>,
    /// Whether another request may succeed.
    pub retryable: bool,
}
