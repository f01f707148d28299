//! The operation `diff`: compares the files at two recorded moments, or at one moment with the present files.

use std::collections::BTreeSet;

use serde_json::json;

use crate::run::{CheckpointName, EdgeType, FileChange, History, is_git_path};

use crate::tools::tool::set;
use crate::tools::{Invocation, ToolError, Toolbox};
use crate::workspace::file::hash;
use crate::workspace::{diff, file};

use super::effects::{now, state_bytes};
use super::error::HistoryError;
use super::records::{edge, past};

/// Compares the files. Where a content is not available, the result has only the digests.
pub(super) fn invoke(
    toolbox: &Toolbox,
    history: &History,
    from: &str,
    to: Option<&str>,
) -> Result<Invocation, ToolError> {
    let place = |name: &str| -> Result<i64, HistoryError> {
        Ok(history.place(&name.parse::<CheckpointName>()?)?)
    };
    let (start, end) = (place(from)?, to.map(place).transpose()?);
    let past = past(toolbox)?;
    let first = end.map_or(start, |end| end.min(start));
    let entries = history.entries.iter().filter(|entry| entry.place >= first);
    let paths: BTreeSet<&str> = entries
        .flat_map(|entry| &entry.files)
        .map(|file| file.path.as_str())
        .filter(|path| !is_git_path(path))
        .collect();
    let (mut files, mut missing, mut text, mut edges) =
        (Vec::new(), Vec::new(), String::new(), Vec::new());
    for path in paths {
        let at = |place| history.state_at(path, place);
        let (before, after, found) = match end {
            Some(end) => (at(start), at(end), None),
            None => {
                let (found, _) = now(toolbox.now(), path)?;
                (at(start), Some(file::state_of_bytes(found.as_deref())), Some(found))
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
        edges.push(edge(EdgeType::Referenced, path));
        let mut said = json!({ "path": path, "from": hash(before), "to": hash(after) });
        let old = state_bytes(past, before);
        let new = found.map_or_else(|| state_bytes(past, after), Ok);
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
                set(&mut said, "available", false);
            }
        }
        files.push(said);
    }
    let to = to.unwrap_or("now");
    let result = json!({
        "operation": "diff", "from": from, "to": to, "files": files, "not_available": missing,
    });
    Ok(Invocation { stdout: Some(text.into_bytes()), result, edges, ..Invocation::default() })
}
