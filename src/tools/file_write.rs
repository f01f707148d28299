//! `file_write` and `file_create` (SPEC §4): write whole files atomically.

use std::sync::Arc;

use serde_json::json;

use crate::run::{
    Diff, Edge, EdgeType, FileChange, Modes, Predicted, Preview, StopSignal, TargetKind, text,
};
use crate::workspace::file::hash;
use crate::workspace::{Existing, Last, Overlay, Prepared, Written, diff, effect, write};

use super::tool::{Foreseen, Tool, set};
use super::{After, Context, Invocation, ToolError, Toolbox};

/// A write of one whole file.
pub(super) struct FileWrite<'a> {
    pub(super) path: &'a str,
    pub(super) contents: &'a str,
    pub(super) existing: Existing,
}

impl Tool for FileWrite<'_> {
    fn preview(&self, at: After<'_>, _: &StopSignal) -> Result<Foreseen, ToolError> {
        let Self { path, contents, existing } = *self;
        let Prepared { place, before, mode, has_folder } = at.prepare(path, existing)?;
        let diff = diff::diff(before.as_deref(), Some(contents.as_bytes()));
        let mut notes = Vec::new();
        if at.overlay.get(&place.key).is_some() {
            notes.push(format!("An earlier step leaves {} as it is shown here.", place.key));
        }
        if !has_folder && let Some((folder, _)) = place.key.rsplit_once('/') {
            notes.push(format!("Creates the folder {folder}, which does not exist now."));
        }
        // `file_create` never writes through a link, so only `file_write` needs this note.
        if existing == Existing::Replace {
            let link = at.toolbox.resolve(path, Last::Keep)?;
            if link.key != place.key {
                notes.push(format!("{} is a link; the file it leads to is written.", link.key));
            }
        }
        if diff::is_too_large(before.as_deref()) {
            notes.push(format!("{} is too large to be shown line by line.", place.key));
        }
        if before.is_some() {
            notes.extend(place.notes(path, true)?);
        }
        let effect = effect(place.key, before, contents, Modes::kept(mode));
        let existed = effect.before_bytes.is_some();
        let change = FileChange {
            path: effect.path.clone(),
            before: effect.before,
            after: effect.after,
            diff,
        };
        let summary = summary(&change, existed, contents);
        let changes = vec![change];
        let preview = Preview { predicted: Predicted::Exact, summary, changes, notes };
        Ok((preview, vec![effect]))
    }

    fn project(&self, toolbox: &Toolbox, overlay: &mut Overlay) -> Result<(), ToolError> {
        let key = toolbox.projected(overlay).prepare(self.path, self.existing)?.place.key;
        overlay.put(key, Some(Arc::from(self.contents.as_bytes())));
        Ok(())
    }

    fn invoke(&self, toolbox: &Toolbox, context: &Context<'_>) -> Result<Invocation, ToolError> {
        let Self { path, contents, existing } = *self;
        let Written { effect, created_folders, not_flushed, lost } =
            write(toolbox, path, contents, existing, &context.write())?;
        let mut result = json!({
            "changed_files": [{
                "path": effect.path, "before": hash(effect.before), "after": hash(effect.after),
            }],
            "bytes": contents.len(),
        });
        if existing == Existing::Refuse {
            set(&mut result, "created_folders", created_folders);
        }
        if !lost.is_empty() {
            set(&mut result, "warnings", lost);
        }
        let edge = |edge_type| Edge {
            edge_type,
            target_kind: TargetKind::File,
            target: effect.path.clone(),
        };
        Ok(Invocation {
            result,
            edges: vec![edge(EdgeType::ExecutedOn), edge(EdgeType::Affected)],
            files: vec![effect],
            error: not_flushed.map(ToolError::from),
            ..Invocation::default()
        })
    }
}

fn summary(change: &FileChange, existed: bool, contents: &str) -> String {
    let path = &change.path;
    match &change.diff {
        Diff::Unchanged => format!("This step changes nothing: {path} has this content already."),
        Diff::Binary { before_bytes, after_bytes } => {
            let size = |bytes: &Option<u64>| text::size(bytes.unwrap_or(0));
            format!("Replaces {path}: {} become {}.", size(before_bytes), size(after_bytes))
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
