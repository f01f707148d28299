//! Changes of files by a tool, and links from an execution to what it touched: data that the tools produce and the
//! evidence stores (SPEC §4, §8).

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Modes;
use crate::authorization::FileState;
use crate::plan::words::words;

/// The change of one file by a call: a prediction before the call, the actual change after it.
#[derive(Clone, PartialEq, Eq)]
pub struct FileEffect {
    /// The file's canonical path: relative to the workspace with `/`, or absolute outside of it.
    pub path: String,
    /// The state before the call.
    pub before: FileState,
    /// The state after the call.
    pub after: FileState,
    /// The content before the call; `None` when the file is absent.
    pub before_bytes: Option<Arc<[u8]>>,
    /// The content after the call; `None` when the file is absent.
    pub after_bytes: Option<Arc<[u8]>>,
    /// The permission bits before and after.
    pub modes: Modes,
}

impl fmt::Debug for FileEffect {
    /// Sizes instead of contents, which may be large and may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = |bytes: &Option<Arc<[u8]>>| bytes.as_ref().map(|bytes| bytes.len());
        f.debug_struct("FileEffect")
            .field("path", &self.path)
            .field("before", &self.before)
            .field("after", &self.after)
            .field("before_bytes", &size(&self.before_bytes))
            .field("after_bytes", &size(&self.after_bytes))
            .field("modes", &self.modes)
            .finish()
    }
}

words! {
    /// How an execution is related to a target (SPEC §8).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "SCREAMING_SNAKE_CASE")]
    #[expect(missing_docs, reason = "the four words of SPEC §8")]
    pub enum EdgeType {
        ExecutedOn = "EXECUTED_ON",
        Affected = "AFFECTED",
        Referenced = "REFERENCED",
        Produced = "PRODUCED",
    }
}

impl EdgeType {
    /// The type as it is shown.
    pub const fn words(self) -> &'static str {
        match self {
            Self::ExecutedOn => "called on",
            Self::Affected => "changed",
            Self::Referenced => "refers to",
            Self::Produced => "reported",
        }
    }
}

words! {
    /// The kind of an edge's target.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[expect(missing_docs, reason = "the three words of SPEC §8")]
    pub enum TargetKind {
        File = "file",
        Symbol = "symbol",
        Diagnostic = "diagnostic",
    }
}

/// One link from an execution to a file, symbol or diagnostic.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Edge {
    /// How the execution is related to the target.
    pub edge_type: EdgeType,
    /// The kind of the target.
    pub target_kind: TargetKind,
    /// The path, the symbol or the diagnostic code.
    pub target: String,
}

impl Edge {
    /// A link to this target.
    pub fn new(edge_type: EdgeType, target_kind: TargetKind, target: impl Into<String>) -> Self {
        Self { edge_type, target_kind, target: target.into() }
    }

    /// The number of files that an execution with these links changed. They are all there, while of a long difference
    /// only the beginning is; `None` if it has none.
    pub fn changed_files(edges: &[Self]) -> Option<usize> {
        let is_changed = |edge: &&Self| {
            edge.edge_type == EdgeType::Affected && edge.target_kind == TargetKind::File
        };
        Some(edges.iter().filter(is_changed).count()).filter(|files| *files > 0)
    }
}
