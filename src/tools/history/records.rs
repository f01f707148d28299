//! The recorded history of the workspace after the earlier steps of a plan.

use std::sync::Arc;

use super::HistoryError;
use crate::run::History;
use crate::tools::{HistorySource, ProjectedToolbox, ToolError, Toolbox, Unsupported};

/// The recorded changes, and those that earlier undo steps of the plan would add.
pub(super) fn history(projected: ProjectedToolbox<'_>) -> Result<Arc<History>, ToolError> {
    let recorded =
        source(projected.toolbox)?.history().map_err(|why| HistoryError::Unreadable { why })?;
    if projected.overlay.history.is_empty() {
        return Ok(recorded);
    }
    let mut history = History::clone(&recorded);
    history.entries.extend(projected.overlay.history.iter().cloned());
    Ok(Arc::new(history))
}

/// The source of the recorded history.
///
/// # Errors
/// The toolbox has none.
pub(super) fn source(toolbox: &Toolbox) -> Result<&dyn HistorySource, ToolError> {
    let what = || "there is no record of what was changed in this workspace".to_owned();
    toolbox.history.as_deref().ok_or_else(|| Unsupported { what: what() }.into())
}
