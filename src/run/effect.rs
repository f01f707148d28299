//! What a tool does to files and what it touched: the shape that the hands hand to the memory
//! (SPEC §4, §8).

use std::fmt;
use std::sync::Arc;

use super::Modes;
use crate::authorization::FileState;
use crate::plan::words::words;

/// One file before and after a call; predicted before the call, actual after it.
#[derive(Clone, PartialEq, Eq)]
pub struct FileEffect {
    /// The file, by its canonical path: inside the workspace with `/`, else absolute.
    pub path: String,
    /// Its state before.
    pub before: FileState,
    /// Its state afterwards.
    pub after: FileState,
    /// Its content before; none when absent.
    pub before_bytes: Option<Arc<[u8]>>,
    /// Its content afterwards; none when absent.
    pub after_bytes: Option<Arc<[u8]>>,
    /// Its permission bits.
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
    /// What an execution has to do with a target (SPEC §8).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[expect(missing_docs, reason = "the four words of SPEC §8")]
    pub enum EdgeType {
        ExecutedOn = "EXECUTED_ON",
        Affected = "AFFECTED",
        Referenced = "REFERENCED",
        Produced = "PRODUCED",
    }
}

words! {
    /// What kind of thing an edge points at.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[expect(missing_docs, reason = "the three words of SPEC §8")]
    pub enum TargetKind {
        File = "file",
        Symbol = "symbol",
        Diagnostic = "diagnostic",
    }
}

/// One link from an execution to a file, symbol or diagnostic.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// What the execution has to do with it.
    pub edge_type: EdgeType,
    /// What kind of thing it is.
    pub target_kind: TargetKind,
    /// The path, symbol or code.
    pub target: String,
}

impl Edge {
    /// A link to this target.
    pub fn new(edge_type: EdgeType, target_kind: TargetKind, target: impl Into<String>) -> Self {
        Self { edge_type, target_kind, target: target.into() }
    }
}
