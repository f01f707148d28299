//! `file_write` and `file_create` (SPEC §4): write whole files atomically.

use std::sync::Arc;

use serde_json::json;

use super::changes::{changed_files, earlier_step_note, file_change, too_large_note};
use super::tool::{PreviewWithEffects, Tool, file_edge, set_field};
use super::{CallResult, Context, ProjectedToolbox, ToolError, Toolbox};
use crate::run::{Diff, EdgeType, FileChange, Modes, Preview, text};
use crate::workspace::{Existing, Last, Overlay, Prepared, Written, effect, write};

/// `file_write` or `file_create`: writes the complete content of one file.
pub(super) struct FileWrite<'a> {
    pub(super) path: &'a str,
    pub(super) contents: &'a str,
    pub(super) existing: Existing,
}

impl Tool for FileWrite<'_> {
    fn preview(&self, projected: ProjectedToolbox<'_>) -> Result<PreviewWithEffects, ToolError> {
        let Self { path, contents, existing } = *self;
        let Prepared { place, before, mode, has_folder } =
            projected.toolbox.prepare(projected.overlay, path, existing)?;
        let existed = before.is_some();
        let effect =
            effect(place.key.clone(), before, Some(contents.as_bytes().into()), Modes::kept(mode));
        let mut notes = Vec::new();
        if projected.overlay.get(&place.key).is_some() {
            notes.push(earlier_step_note(&place.key));
        }
        if !has_folder && let Some((folder, _)) = place.key.rsplit_once('/') {
            notes.push(format!("Creates the folder {folder}, which does not exist now."));
        }
        // `file_create` refuses a link, so only `file_write` needs this note.
        if existing == Existing::Replace {
            let link = projected.toolbox.resolve(path, Last::Keep)?;
            if link.key != place.key {
                notes.push(format!("{} is a link; the file it leads to is written.", link.key));
            }
        }
        notes.extend(too_large_note(&effect));
        if existed {
            notes.extend(place.notes(path, true)?);
        }
        let change = file_change(&effect);
        let summary = summary(&change, existed, contents);
        Ok((Preview::exact(summary, vec![change], notes), vec![effect]))
    }

    fn project(&self, toolbox: &Toolbox, overlay: &mut Overlay) -> Result<(), ToolError> {
        let key = toolbox.prepare(overlay, self.path, self.existing)?.place.key;
        overlay.insert(key, Some(Arc::from(self.contents.as_bytes())));
        Ok(())
    }

    fn invoke(&self, toolbox: &Toolbox, context: &Context<'_>) -> Result<CallResult, ToolError> {
        let Self { path, contents, existing } = *self;
        let Written { effect, created_folders, not_flushed, lost } =
            write(toolbox, path, contents, existing, &context.write())?;
        let mut result = json!({
            "changed_files": changed_files([&effect]),
            "bytes": contents.len(),
        });
        if existing == Existing::Refuse {
            set_field(&mut result, "created_folders", created_folders);
        }
        if !lost.is_empty() {
            set_field(&mut result, "warnings", lost);
        }
        let edge = |edge_type| file_edge(edge_type, effect.path.as_str());
        Ok(CallResult {
            result,
            edges: vec![edge(EdgeType::ExecutedOn), edge(EdgeType::Affected)],
            files: vec![effect],
            error: not_flushed.map(ToolError::from),
            ..CallResult::default()
        })
    }
}

fn summary(change: &FileChange, existed: bool, contents: &str) -> String {
    let path = &change.path;
    match &change.diff {
        Diff::Unchanged => format!("This step changes nothing: {path} has this content already."),
        Diff::Binary { before_bytes, after_bytes } => {
            let size = |bytes: &Option<u64>| text::size(bytes.unwrap_or(0));
            format!("Replaces {path}: {} before, {} after.", size(before_bytes), size(after_bytes))
        }
        Diff::Text { .. } if !existed && contents.is_empty() => {
            format!("Creates {path}, which stays empty.")
        }
        Diff::Text { added, .. } if !existed => {
            format!("Creates {path} with {added} {}.", text::lines(*added))
        }
        Diff::Text { added, removed: 0, .. } => {
            format!("Adds {added} {} to {path}.", text::lines(*added))
        }
        Diff::Text { added: 0, removed, .. } => {
            format!("Removes {removed} {} from {path}.", text::lines(*removed))
        }
        Diff::Text { added, removed, .. } if added == removed => {
            format!("Replaces {added} {} of {path}.", text::lines(*added))
        }
        Diff::Text { added, removed, .. } => {
            format!("Replaces {removed} {} of {path} by {added}.", text::lines(*removed))
        }
    }
}
