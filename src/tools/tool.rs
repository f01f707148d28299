//! The trait that each tool implements (SPEC §4).

use std::time::Duration;

use serde_json::Value;

use crate::plan::PathRole;
use crate::run::{Edge, EdgeType, FileEffect, Preview, TargetKind, text};
use crate::workspace::Overlay;

use super::{CallResult, Context, ProjectedToolbox, ToolError, Toolbox};

/// A preview, and the exact file changes of the call.
pub(super) type PreviewWithEffects = (Preview, Vec<FileEffect>);

/// Paths that a call uses, with what it does with them.
pub(super) type NamedPaths = Vec<(PathRole, String)>;

/// A call: a tool with its arguments.
pub(super) trait Tool {
    /// The preview of the call in this workspace (SPEC §2). Only reads files.
    ///
    /// # Errors
    /// Why the call would fail; and a stop.
    fn preview(&self, projected: ProjectedToolbox<'_>) -> Result<PreviewWithEffects, ToolError>;

    /// Adds the changes of the call to those of the earlier steps. A call that would fail adds nothing; a
    /// splice plan adds the changes before the failure.
    ///
    /// # Errors
    /// Why the call would fail.
    fn project(&self, _: &Toolbox, _: &mut Overlay) -> Result<(), ToolError> {
        Ok(())
    }

    /// The paths that the call uses besides those in its arguments: paths in a splice plan or in the recorded
    /// history.
    ///
    /// # Errors
    /// A splice plan or a history that cannot be read.
    fn named_paths(&self, _: ProjectedToolbox<'_>) -> Result<NamedPaths, ToolError> {
        Ok(Vec::new())
    }

    /// The symbol that the call works on, as the plan writes it. It is recorded also when the call fails.
    fn symbol(&self) -> Option<(EdgeType, &str)> {
        None
    }

    /// Whether [`Self::invoke`] adds the edges to the files on which the call worked. For other calls an edge to
    /// the first path in the arguments is added.
    fn adds_file_edges(&self) -> bool {
        false
    }

    /// Executes the call.
    ///
    /// # Errors
    /// Why the call did nothing. An error after an effect is part of the returned [`CallResult`].
    fn invoke(&self, toolbox: &Toolbox, context: &Context<'_>) -> Result<CallResult, ToolError>;
}

/// Adds an empty list of effects to a preview, for calls whose file changes are none or unknown.
pub(super) fn without_effects(preview: Preview) -> PreviewWithEffects {
    (preview, Vec::new())
}

/// The preview of a call that changes no file.
pub(super) fn read_only(summary: String, notes: Vec<String>) -> PreviewWithEffects {
    without_effects(Preview::exact(summary, Vec::new(), notes))
}

/// What cargo may do besides its task.
pub(super) const BUILD_NOTE: &str = "May write the target folder and Cargo.lock. Missing dependencies are downloaded \
                                     only if the step may use the network.";

/// The note on the limits at which a program is ended; `what` is the beginning of the sentence.
pub(super) fn limits_note(what: &str, timeout: Duration, output_bytes: u64) -> String {
    let (time, bytes) = (text::duration(timeout), text::size(output_bytes));
    format!("{what} after {time}, or when one of its outputs has more than {bytes}.")
}

/// An edge to a file.
pub(super) fn file_edge(edge_type: EdgeType, path: impl Into<String>) -> Edge {
    Edge::new(edge_type, TargetKind::File, path)
}

/// Sets a field of an object.
pub(super) fn set_field(object: &mut Value, field: &str, value: impl Into<Value>) {
    if let Value::Object(fields) = object {
        fields.insert(field.to_owned(), value.into());
    }
}
