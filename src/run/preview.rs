//! What a step would do, computed without doing it (SPEC §2): data that a person can read.

use serde::Serialize;

use crate::authorization::FileState;

/// How sure a preview is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Predicted {
    /// This and nothing else happens to these files.
    Exact,
    /// Part of it can be said.
    Partial,
    /// Nothing can be said before it runs.
    Unpredictable,
}

/// The preview of one step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Preview {
    /// How sure it is.
    pub predicted: Predicted,
    /// One sentence: what the step would do.
    pub summary: String,
    /// The files it would change, in order.
    pub changes: Vec<FileChange>,
    /// What a person should know besides; for instance that the file is absent now.
    pub notes: Vec<String>,
}

impl Preview {
    /// How the summary of a step begins that would not get through.
    pub const WOULD_FAIL: &'static str = "Would fail: ";

    /// Whether the step would fail as things stand now.
    pub fn would_fail(&self) -> bool {
        self.summary.starts_with(Self::WOULD_FAIL)
    }
}

/// What would happen to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileChange {
    /// The file, by its path inside the workspace.
    pub path: String,
    /// Its state now.
    pub before: FileState,
    /// Its state afterwards.
    pub after: FileState,
    /// The difference.
    pub diff: Diff,
}

/// A difference between two contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Diff {
    /// Nothing would change.
    Unchanged,
    /// Lines with three lines of context around each change.
    Text {
        /// The lines, in order; [`LineKind::Gap`] stands for lines left out.
        lines: Vec<DiffLine>,
        /// How many lines are added.
        added: usize,
        /// How many lines are removed.
        removed: usize,
    },
    /// At least one side is no UTF-8 text; sizes in bytes.
    Binary {
        /// Size before; none when absent.
        before_bytes: Option<u64>,
        /// Size after; none when absent.
        after_bytes: Option<u64>,
    },
}

/// What a line of a difference is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum LineKind {
    Context,
    Added,
    Removed,
    Gap,
}

/// One line of a difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiffLine {
    /// What it is.
    pub kind: LineKind,
    /// Its number before, from 1.
    pub before: Option<usize>,
    /// Its number after, from 1.
    pub after: Option<usize>,
    /// Its text without the line break.
    pub text: String,
    /// Whether the file ends here without a line break.
    pub missing_newline: bool,
}
