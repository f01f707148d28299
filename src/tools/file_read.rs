//! `file_read` (SPEC §4): the exact bytes of one file.

use serde_json::json;

use super::tool::{PreviewWithEffects, Tool, file_edge, read_only, set_field};
use super::{CallResult, Context, ProjectedToolbox, ToolError, Toolbox};
use crate::plan::Digest;
use crate::run::{EdgeType, text};
use crate::workspace::{Access, Last, WorkspaceError, check_cancelled, file};

/// Reads one file completely.
pub(super) struct FileRead<'a> {
    pub(super) path: &'a str,
}

impl Tool for FileRead<'_> {
    fn preview(&self, projected: ProjectedToolbox<'_>) -> Result<PreviewWithEffects, ToolError> {
        let place = projected.toolbox.resolve(self.path, Last::Follow)?;
        let (size, notes) = match projected.overlay.get(&place.key) {
            Some(content) => (
                content.map(|bytes| bytes.len() as u64),
                vec!["The content is what an earlier step leaves.".to_owned()],
            ),
            None => {
                let opened = place.open(self.path, Access::Read)?;
                (opened.map(|(_, metadata)| metadata.len()), Vec::new())
            }
        };
        let size = size.ok_or_else(|| self.not_found())?;
        Ok(read_only(format!("Reads {} ({}).", place.key, text::size(size)), notes))
    }

    fn invoke(&self, toolbox: &Toolbox, context: &Context<'_>) -> Result<CallResult, ToolError> {
        check_cancelled(context.stop)?;
        let place = toolbox.resolve(self.path, Last::Follow)?;
        let (file, _) = place.open(self.path, Access::Read)?.ok_or_else(|| self.not_found())?;
        let bytes = file::read(file, self.path, Access::Read)?;
        let mut result = json!({
            "path": place.key,
            "bytes": bytes.len(),
            "sha256": Digest::of(&bytes),
        });
        if let Ok(text) = std::str::from_utf8(&bytes) {
            set_field(&mut result, "lines", text.split_inclusive('\n').count());
        }
        Ok(CallResult {
            stdout: Some(bytes),
            result,
            edges: vec![file_edge(EdgeType::ExecutedOn, place.key)],
            ..CallResult::default()
        })
    }
}

impl FileRead<'_> {
    fn not_found(&self) -> WorkspaceError {
        WorkspaceError::NotFound { path: self.path.to_owned() }
    }
}
