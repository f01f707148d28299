//! The records of the workspace after the earlier steps of a plan.

use std::sync::Arc;

use crate::run::{Edge, EdgeType, History, TargetKind};
use crate::tools::{After, Past, ToolError, Toolbox, Unsupported};

use super::error::HistoryError;

/// The recorded changes, with those that the earlier steps in `overlay` would add.
pub(super) fn record(at: After<'_>) -> Result<Arc<History>, ToolError> {
    let recorded = past(at.toolbox)?.history().map_err(|why| HistoryError::Unreadable { why })?;
    if at.overlay.history.is_empty() {
        return Ok(recorded);
    }
    let mut history = History::clone(&recorded);
    history.entries.extend(at.overlay.history.iter().cloned());
    Ok(Arc::new(history))
}

pub(super) fn past(toolbox: &Toolbox) -> Result<&dyn Past, ToolError> {
    let what = || "there is no record of what was changed in this workspace".to_owned();
    toolbox.past.as_deref().ok_or_else(|| Unsupported { what: what() }.into())
}

/// An edge to a file.
pub(super) fn edge(edge_type: EdgeType, path: &str) -> Edge {
    Edge::new(edge_type, TargetKind::File, path)
}
