//! `file_read` (SPEC §4): the exact bytes of one file.

use serde_json::json;

use crate::plan::Digest;
use crate::run::{Edge, EdgeType, StopSignal, TargetKind, text};
use crate::workspace::{Access, Last, WorkspaceError, check_cancelled, file};

use super::tool::{PreviewWithEffects, Tool, reads_only, set};
use super::{After, Context, Invocation, ToolError, Toolbox};

/// A read of one whole file.
pub(super) struct FileRead<'a> {
    pub(super) path: &'a str,
}

impl Tool for FileRead<'_> {
    fn preview(&self, at: After<'_>, _: &StopSignal) -> Result<PreviewWithEffects, ToolError> {
        let place = at.toolbox.resolve(self.path, Last::Follow)?;
        let (size, notes) = match at.overlay.get(&place.key) {
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
        Ok(reads_only(format!("Reads {} ({}).", place.key, text::size(size)), notes))
    }

    fn invoke(&self, toolbox: &Toolbox, context: &Context<'_>) -> Result<Invocation, ToolError> {
        check_cancelled(context.stop)?;
        let place = toolbox.resolve(self.path, Last::Follow)?;
        let (file, _) = place.open(self.path, Access::Read)?.ok_or_else(|| self.not_found())?;
        let bytes = file::read(file, self.path, Access::Read)?;
        let mut result = json!({
            "path": place.key,
            "bytes": bytes.len(),
            "sha256": Digest::of(&bytes),
        });
        // Lines are counted only in UTF-8 text.
        if let Ok(text) = std::str::from_utf8(&bytes) {
            set(&mut result, "lines", text.split_inclusive('\n').count());
        }
        Ok(Invocation {
            stdout: Some(bytes),
            result,
            edges: vec![Edge::new(EdgeType::ExecutedOn, TargetKind::File, place.key)],
            ..Invocation::default()
        })
    }
}

impl FileRead<'_> {
    fn not_found(&self) -> WorkspaceError {
        WorkspaceError::NotFound { path: self.path.to_owned() }
    }
}
