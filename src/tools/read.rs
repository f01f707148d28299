//! `file_read` (SPEC §4): the exact bytes of one file.

use serde_json::json;

use crate::plan::Digest;
use crate::run::{Edge, EdgeType, TargetKind};

use super::place::{Last, Roots};
use super::{Access, Context, Invocation, ToolError, file};

/// Reads it.
pub(super) fn invoke(
    roots: &Roots,
    path: &str,
    context: &Context<'_>,
) -> Result<Invocation, ToolError> {
    if context.stop.is_set() {
        return Err(ToolError::Cancelled);
    }
    let place = roots.resolve(path, Last::Follow)?;
    let Some((file, _)) = place.open(path, Access::Read)? else {
        return Err(ToolError::NotFound { path: path.to_owned() });
    };
    let bytes = file::read(file, path, Access::Read)?;
    let mut result = json!({
        "path": place.key,
        "bytes": bytes.len(),
        "sha256": Digest::of(&bytes),
    });
    // Lines are counted only where the content is text.
    if let (Ok(text), Some(fields)) = (std::str::from_utf8(&bytes), result.as_object_mut()) {
        fields.insert("lines".to_owned(), json!(text.split_inclusive('\n').count()));
    }
    Ok(Invocation {
        stdout: Some(bytes),
        result,
        edges: vec![Edge {
            edge_type: EdgeType::ExecutedOn,
            target_kind: TargetKind::File,
            target: place.key,
        }],
        ..Invocation::default()
    })
}
