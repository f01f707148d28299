//! Applies one edit, in memory, to the result of the earlier edits (SPEC §9).

use std::sync::Arc;

use super::error::MAX_TIMES;
use super::files::Files;
use super::patch::Patch;
use super::{BatchError, NewMode, PatchError};
use crate::code;
use crate::code::{CodeError, Language, Source};
use crate::plan::Edit;
use crate::symbols::SymbolsError;
use crate::tools::ToolError;
use crate::workspace::{Existing, Prepared, WorkspaceError};

/// Applies `edit` to `files`.
///
/// # Errors
/// Why the edit cannot be applied. The contents in `files` are then unchanged.
pub(super) fn apply(files: &mut Files<'_>, edit: &Edit) -> Result<(), ToolError> {
    match edit {
        Edit::Write { path, contents } => {
            let Prepared { place, .. } = files.writable(path, Existing::Replace)?;
            files.set_content(&place.key, Some(bytes(contents)));
        }
        Edit::Create { path, contents } => create(files, path, bytes(contents))?,
        Edit::Delete { path } => {
            let (place, _) = files.removable(path)?;
            files.set_content(&place.key, None);
        }
        Edit::Rename { path, to } => rename(files, path, to)?,
        Edit::Replace { path, old, new } => {
            let (place, content) = files.existing(path)?;
            let new = replaced(path, &content, old, new)?;
            files.set_content(&place.key, Some(new));
        }
        Edit::Patch { path, diff } => patch(files, path, diff)?,
        Edit::Splice { path, symbol, contents, kind } => {
            splice(files, path, (symbol, kind.as_deref()), contents)?;
        }
    }
    Ok(())
}

fn bytes(text: &str) -> Arc<[u8]> {
    Arc::from(text.as_bytes())
}

fn create(files: &mut Files<'_>, path: &str, content: Arc<[u8]>) -> Result<(), ToolError> {
    let Prepared { place, has_folder, .. } = files.writable(path, Existing::Refuse)?;
    if !has_folder && let Some((folder, _)) = place.key.rsplit_once('/') {
        files.note_once(format!("Creates the folder {folder}, which does not exist now."));
    }
    files.set_content(&place.key, Some(content));
    Ok(())
}

fn rename(files: &mut Files<'_>, path: &str, to: &str) -> Result<(), ToolError> {
    let (from, content) = files.removable(path)?;
    create(files, to, content)?;
    let to = files.toolbox.key_of(to)?;
    files.note_once(format!("{} becomes {to} and keeps its mode.", from.key));
    let modes = &mut files.computed.modes;
    let mode = modes.remove(&from.key).unwrap_or_else(|| NewMode::Of(from.key.clone()));
    modes.insert(to, mode);
    files.set_content(&from.key, None);
    Ok(())
}

/// The content with the only occurrence of `old` replaced by `new`.
fn replaced(path: &str, content: &[u8], old: &str, new: &str) -> Result<Arc<[u8]>, ToolError> {
    let path = || path.to_owned();
    let Ok(text) = std::str::from_utf8(content) else {
        return Err(BatchError::NotText { path: path() }.into());
    };
    let occurrences = occurrences(text, old);
    let [start] = occurrences.as_slice() else {
        let with_crlf = || text.contains(&old.replace('\n', "\r\n"));
        let hint = match occurrences.len() {
            0 if !old.contains('\r') && old.contains('\n') && with_crlf() => {
                ", but would with CRLF line endings"
            }
            _ => "",
        };
        return Err(BatchError::Text { path: path(), times: occurrences.len(), hint }.into());
    };
    let mut text = text.to_owned();
    text.replace_range(*start..start + old.len(), new);
    Ok(bytes(&text))
}

/// The byte offsets of `part` in `text`, at most [`MAX_TIMES`] of them. Occurrences may overlap: `aa` occurs
/// twice in `aaa`. An empty `part` occurs before and after every character.
fn occurrences(text: &str, part: &str) -> Vec<usize> {
    let mut occurrences = Vec::new();
    let mut from = 0;
    while let Some(found) = text.get(from..).and_then(|rest| rest.find(part)) {
        let start = from + found;
        occurrences.push(start);
        let step = text.get(start..).and_then(|rest| rest.chars().next()).map(char::len_utf8);
        let (Some(step), false) = (step, occurrences.len() == MAX_TIMES) else { break };
        from = start + step;
    }
    occurrences
}

fn patch(files: &mut Files<'_>, path: &str, diff: &str) -> Result<(), ToolError> {
    let failed = |source| BatchError::Patch { path: path.to_owned(), source };
    let patch = Patch::parse(diff, path).map_err(failed)?;
    if patch.creates() {
        let content = patch.apply(&[]).map_err(failed)?;
        return match create(files, path, content.unwrap_or_default().into()) {
            Err(error) if matches!(error.get(), Some(WorkspaceError::AlreadyExists { .. })) => {
                Err(failed(PatchError::Exists).into())
            }
            created => created,
        };
    }
    let (place, content) = files.existing(path)?;
    match patch.apply(&content).map_err(failed)? {
        Some(new) => files.set_content(&place.key, Some(new.into())),
        None => {
            let (place, _) = files.removable(path)?;
            files.set_content(&place.key, None);
        }
    }
    Ok(())
}

fn splice(
    files: &mut Files<'_>,
    path: &str,
    (symbol, kind): (&str, Option<&str>),
    contents: &str,
) -> Result<(), ToolError> {
    let (place, content) = files.existing(path)?;
    let failed = |source| SymbolsError::Code { path: place.key.clone(), source };
    let language = Language::of_path(&place.relative)
        .ok_or_else(|| SymbolsError::NoGrammar { path: place.key.clone() })?;
    let text =
        std::str::from_utf8(&content).map_err(|_| BatchError::NotText { path: path.to_owned() })?;
    if contents.trim().is_empty() {
        return Err(failed(CodeError::EmptyReplacement).into());
    }
    let stop = || files.stop.is_set();
    let parsed = Source::parse(language, text, &stop);
    files.toolbox.search_budget(files.stop).count_parsed(&parsed)?;
    let source = parsed.map_err(failed)?;
    let patched = code::patch(&source, symbol, kind, contents, &stop).map_err(failed)?;
    if let Some(name) = &patched.defines_instead {
        let replaced = &patched.definition.name;
        files.note_once(format!(
            "In {}, the replacement defines {name}, not {replaced}.",
            place.key
        ));
    }
    files.computed.symbols.push(patched.definition.fqn);
    files.set_content(&place.key, Some(bytes(&patched.text)));
    Ok(())
}
