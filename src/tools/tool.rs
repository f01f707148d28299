//! What a tool says about itself (SPEC §4): everything that the rest of the program asks of a call.

use crate::plan::PathRole;
use crate::run::{EdgeType, FileEffect, Predicted, Preview, StopSignal};
use crate::workspace::Overlay;

use super::{After, Context, Invocation, ToolError, Toolbox};

/// A preview, and exactly what the call would do to files.
pub(super) type Foreseen = (Preview, Vec<FileEffect>);

/// One call: a tool with its arguments.
pub(super) trait Tool {
    /// What the call would do on this workspace, for the person who decides (SPEC §2). Reads files and does
    /// nothing else.
    ///
    /// # Errors
    /// Why the call would fail; and a stop.
    fn preview(&self, at: After<'_>, stop: &StopSignal) -> Result<Foreseen, ToolError>;

    /// Adds what the call would leave to what the earlier steps leave. A call that would fail leaves nothing,
    /// or of several files those before the one that fails.
    ///
    /// # Errors
    /// Why the call would fail.
    fn project(&self, _: &Toolbox, _: &mut Overlay) -> Result<(), ToolError> {
        Ok(())
    }

    /// The paths that the call works on beside those in its arguments: those that files or records name.
    ///
    /// # Errors
    /// What names them cannot be read.
    fn named(&self, _: After<'_>) -> Result<Vec<(PathRole, String)>, ToolError> {
        Ok(Vec::new())
    }

    /// The symbol that the call works on whatever becomes of it, as it is written.
    fn symbol(&self) -> Option<(EdgeType, &str)> {
        None
    }

    /// Whether the answer of the call says which files it worked on. Of any other it is the first that its
    /// arguments name.
    fn tells_files(&self) -> bool {
        false
    }

    /// Does it.
    ///
    /// # Errors
    /// Why nothing was done. What went wrong after an effect is in the answer.
    fn invoke(&self, toolbox: &Toolbox, context: &Context<'_>) -> Result<Invocation, ToolError>;
}

/// The preview of a call that changes no file in a way that can be told.
pub(super) fn changes_nothing(preview: Preview) -> Foreseen {
    (preview, Vec::new())
}

/// The preview of a call that changes no file.
pub(super) fn reads_only(summary: String, notes: Vec<String>) -> Foreseen {
    let changes = Vec::new();
    changes_nothing(Preview { predicted: Predicted::Exact, summary, changes, notes })
}
