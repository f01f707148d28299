//! The operation `diff`: compares the files at two recorded moments, or at one moment and now.

use std::collections::BTreeSet;

use serde_json::json;

use super::HistoryError;
use super::effects::{projected_content, recorded_content};
use super::records::source;
use crate::run::{CheckpointName, EdgeType, FileChange, History, is_git_path};
use crate::tools::tool::{file_edge, set_field};
use crate::tools::{CallResult, ToolError, Toolbox};
use crate::workspace::file::hash;
use crate::workspace::{diff, file};

/// Compares the files. For a content that is not available, the result has only its digest.
pub(super) fn invoke(
    toolbox: &Toolbox,
    history: &History,
    from: &str,
    to: Option<&str>,
) -> Result<CallResult, ToolError> {
    let position = |name: &str| -> Result<i64, HistoryError> {
        Ok(history.position(&name.parse::<CheckpointName>()?)?)
    };
    let (start, end) = (position(from)?, to.map(position).transpose()?);
    let source = source(toolbox)?;
    let first = end.map_or(start, |end| end.min(start));
    let entries = history.entries.iter().filter(|entry| entry.position >= first);
    let paths: BTreeSet<&str> = entries
        .flat_map(|entry| &entry.files)
        .map(|file| file.path.as_str())
        .filter(|path| !is_git_path(path))
        .collect();
    let (mut files, mut missing, mut text, mut edges) =
        (Vec::new(), Vec::new(), String::new(), Vec::new());
    for path in paths {
        let state_at = |position| history.state_at(path, position);
        let (before, after, present) = match end {
            Some(end) => (state_at(start), state_at(end), None),
            None => {
                let (present, _) = projected_content(toolbox.now(), path)?;
                (state_at(start), Some(file::state_of_bytes(present.as_deref())), Some(present))
            }
        };
        let (Some(before), Some(after)) = (before, after) else {
            let why = "a step that was interrupted left it";
            text.push_str(&format!("The recorded content of {path} is not known: {why}.\n"));
            missing.push(json!({ "path": path, "why": why }));
            continue;
        };
        if before == after {
            continue;
        }
        edges.push(file_edge(EdgeType::Referenced, path));
        let mut row = json!({ "path": path, "from": hash(before), "to": hash(after) });
        let old = recorded_content(source, before);
        let new = present.map_or_else(|| recorded_content(source, after), Ok);
        match (old, new) {
            (Ok(old), Ok(new)) => {
                let diff = diff::diff(old.as_deref(), new.as_deref());
                let change = FileChange { path: path.to_owned(), before, after, diff };
                text.push_str(&change.unified());
            }
            (Err(why), _) | (_, Err(why)) => {
                text.push_str(&format!(
                    "The recorded content of {path} is not available: {why}.\n"
                ));
                missing.push(json!({ "path": path, "why": why.to_string() }));
                set_field(&mut row, "available", false);
            }
        }
        files.push(row);
    }
    let to = to.unwrap_or("now");
    let result = json!({
        "operation": "diff", "from": from, "to": to, "files": files, "not_available": missing,
    });
    Ok(CallResult { stdout: Some(text.into_bytes()), result, edges, ..CallResult::default() })
}
