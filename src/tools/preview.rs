//! What a step would do, for the person who decides (SPEC §2). Reads files and does nothing else.

use std::sync::Arc;

use crate::plan::ToolCall;
use crate::run::{Diff, FileChange, FileEffect, FileMode, Modes, Predicted, Preview};

use super::place::{Last, Place};
use super::write::{Existing, check, effect, target};
use super::{
    Access, Kind, Overlay, StopSignal, ToolError, Toolbox, batch, cargo, diff, engine, file,
    history, inspect, program, search, shell, simulate, splice, words,
};

/// A write that would succeed: its target and the content there after the earlier steps.
pub(super) struct Prepared<'a> {
    pub(super) place: Place<'a>,
    pub(super) before: Option<Arc<[u8]>>,
    /// The mode there; none where the file is absent, or an earlier step leaves it.
    pub(super) mode: Option<FileMode>,
    /// Whether its folder is there after the earlier steps.
    pub(super) has_folder: bool,
}

/// Looks at the target of a write, after the earlier steps.
pub(super) fn prepare<'a>(
    toolbox: &'a Toolbox,
    overlay: &Overlay,
    path: &str,
    existing: Existing,
) -> Result<Prepared<'a>, ToolError> {
    let mut place = target(&toolbox.roots, path, existing)?;
    place.kind = overlay.kind(&place);
    place.blocked |= overlay.blocks(&place.key);
    let folder = place.key.rsplit_once('/').map(|(folder, _)| folder);
    if place.parent == Kind::Absent && folder.is_some_and(|folder| overlay.has_below(folder)) {
        place.parent = Kind::Folder;
    }
    if place.kind == Kind::Folder {
        return Err(match existing {
            Existing::Refuse => ToolError::AlreadyExists { path: path.to_owned() },
            Existing::Replace => ToolError::NotAFile {
                path: path.to_owned(),
                kind: Kind::Folder,
                access: Access::Write,
            },
        });
    }
    check(&place, path, existing)?;
    let (before, mode) = content_and_mode(&place, overlay, path, Access::Write)?;
    Ok(Prepared { has_folder: place.parent == Kind::Folder, place, before, mode })
}

/// What a file holds after the earlier steps; `None` when it is absent.
pub(super) fn content(
    place: &Place<'_>,
    overlay: &Overlay,
    path: &str,
    access: Access,
) -> Result<Option<Arc<[u8]>>, ToolError> {
    Ok(content_and_mode(place, overlay, path, access)?.0)
}

/// What a file holds, and its mode; none where it is absent, and no mode of what an earlier step leaves.
pub(super) type ContentAndMode = (Option<Arc<[u8]>>, Option<FileMode>);

/// [`content`] with its mode.
pub(super) fn content_and_mode(
    place: &Place<'_>,
    overlay: &Overlay,
    path: &str,
    access: Access,
) -> Result<ContentAndMode, ToolError> {
    if let Some(content) = overlay.get(&place.key) {
        return Ok((content.cloned(), None));
    }
    let Some((file, metadata)) = place.open(path, access)? else { return Ok((None, None)) };
    let content = file::read(file, path, access)?;
    Ok((Some(Arc::from(content)), file::mode(&metadata)))
}

/// The preview of one call and what it would do to files; see [`Toolbox::foresee`].
pub(super) fn foresee(
    toolbox: &Toolbox,
    call: &ToolCall,
    overlay: &Overlay,
    stop: &StopSignal,
) -> Result<(Preview, Vec<FileEffect>), ToolError> {
    let changes_nothing = |preview| (preview, Vec::new());
    let made = match call {
        ToolCall::FileRead { path } => reads(toolbox, overlay, path).map(changes_nothing),
        ToolCall::FileWrite { path, contents } => {
            writes(toolbox, overlay, path, contents, Existing::Replace)
        }
        ToolCall::FileCreate { path, contents } => {
            writes(toolbox, overlay, path, contents, Existing::Refuse)
        }
        ToolCall::FileSearch { pattern, root } => {
            search::regex(pattern)?;
            looks(toolbox, overlay, root, |place| {
                format!("Searches {place} for lines that match {pattern}.")
            })
            .map(changes_nothing)
        }
        ToolCall::FileGlob { pattern, root } => {
            search::glob(pattern)?;
            looks(toolbox, overlay, root, |place| {
                format!("Lists, of {place}, what matches {pattern}.")
            })
            .map(changes_nothing)
        }
        ToolCall::LspCheck { path } => cargo::preview(toolbox, overlay, path).map(changes_nothing),
        ToolCall::Shell { command, target, cwd, timeout_seconds } => {
            let (target, cwd) = (target.as_deref(), cwd.as_deref());
            let timeout_seconds = *timeout_seconds;
            let command = shell::Command { command, target, cwd, timeout_seconds };
            shell::preview(toolbox, &command).map(changes_nothing)
        }
        ToolCall::SplicePatch { .. } | ToolCall::SplicePlan { .. } => {
            splice::foresee(toolbox, call, overlay, stop)
        }
        ToolCall::SymbolsInFile { file_path } => {
            engine::preview(toolbox, overlay, None, Some(file_path), stop).map(changes_nothing)
        }
        ToolCall::ReferencesToSymbolName { symbol } => {
            engine::preview(toolbox, overlay, Some(symbol), None, stop).map(changes_nothing)
        }
        ToolCall::ReferencesFromFileToSymbolName { file_path, symbol } => {
            engine::preview(toolbox, overlay, Some(symbol), Some(file_path), stop)
                .map(changes_nothing)
        }
        ToolCall::Verify { .. } | ToolCall::Compile { .. } | ToolCall::Run { .. } => {
            program::preview(toolbox, overlay, call).map(changes_nothing)
        }
        ToolCall::MutateBatch(batch) => batch::foresee(toolbox, batch, overlay, stop),
        ToolCall::Inspect { query, max_results } => {
            inspect::preview(toolbox, query, *max_results, stop).map(changes_nothing)
        }
        ToolCall::Simulate(simulation) => {
            simulate::preview(toolbox, simulation, overlay, stop).map(changes_nothing)
        }
        ToolCall::History { operation, .. } => history::foresee(toolbox, operation, overlay),
    };
    toolbox.goes_on()?;
    match made {
        Err(error) if !error.is_about_the_plan() => {
            toolbox.note_limit(&error);
            let summary = format!("{}{error}.", Preview::WOULD_FAIL);
            Ok(changes_nothing(exact(summary, Vec::new(), vec![error.next()])))
        }
        made => made,
    }
}

/// See [`Toolbox::changes`].
pub(super) fn changes(toolbox: &Toolbox, overlay: &Overlay) -> Result<Vec<FileChange>, ToolError> {
    let mut changes = Vec::new();
    for (key, after) in overlay.files() {
        let place = toolbox.roots.resolve(key, Last::Follow)?;
        let before = content(&place, &Overlay::default(), key, Access::Read)?;
        changes.push(FileChange {
            path: key.to_owned(),
            before: file::state_of_bytes(before.as_deref()),
            after: file::state_of_bytes(after),
            diff: diff::diff(before.as_deref(), after),
        });
    }
    Ok(changes)
}

fn exact(summary: String, changes: Vec<FileChange>, notes: Vec<String>) -> Preview {
    Preview { predicted: Predicted::Exact, summary, changes, notes }
}

fn reads(toolbox: &Toolbox, overlay: &Overlay, path: &str) -> Result<Preview, ToolError> {
    let place = toolbox.roots.resolve(path, Last::Follow)?;
    let (size, notes) = match overlay.get(&place.key) {
        Some(content) => (
            content.map(|bytes| bytes.len() as u64),
            vec!["The content is what an earlier step leaves.".to_owned()],
        ),
        None => (place.open(path, Access::Read)?.map(|(_, metadata)| metadata.len()), Vec::new()),
    };
    let size = size.ok_or_else(|| not_found(path))?;
    Ok(exact(format!("Reads {} ({}).", place.key, words::size(size)), Vec::new(), notes))
}

fn not_found(path: &str) -> ToolError {
    ToolError::NotFound { path: path.to_owned() }
}

fn looks(
    toolbox: &Toolbox,
    overlay: &Overlay,
    root: &str,
    sentence: impl Fn(&str) -> String,
) -> Result<Preview, ToolError> {
    let place = toolbox.roots.resolve(root, Last::Follow)?;
    let what = match overlay.kind(&place) {
        Kind::Folder if place.key == "." => "the files of the workspace".to_owned(),
        Kind::Folder => format!("the files below {}", place.key),
        Kind::File => place.key.clone(),
        Kind::Absent => return Err(not_found(root)),
        kind => {
            return Err(ToolError::NotAFile { path: root.to_owned(), kind, access: Access::Read });
        }
    };
    Ok(exact(sentence(&what), Vec::new(), Vec::new()))
}

fn writes(
    toolbox: &Toolbox,
    overlay: &Overlay,
    path: &str,
    contents: &str,
    existing: Existing,
) -> Result<(Preview, Vec<FileEffect>), ToolError> {
    let Prepared { place, before, mode, has_folder } = prepare(toolbox, overlay, path, existing)?;
    let diff = diff::diff(before.as_deref(), Some(contents.as_bytes()));
    let mut notes = Vec::new();
    if overlay.get(&place.key).is_some() {
        notes.push(format!("An earlier step leaves {} as it is shown here.", place.key));
    }
    if !has_folder && let Some((folder, _)) = place.key.rsplit_once('/') {
        notes.push(format!("Creates the folder {folder}, which does not exist now."));
    }
    // A new file takes the place of no link.
    if existing == Existing::Replace {
        let link = toolbox.roots.resolve(path, Last::Keep)?;
        if link.key != place.key {
            notes.push(format!("{} is a link; the file it leads to is written.", link.key));
        }
    }
    if diff::is_too_large(before.as_deref()) {
        notes.push(format!("{} is too large to be shown line by line.", place.key));
    }
    if before.is_some() {
        notes.extend(file_notes(&place, path, true)?);
    }
    let effect = effect(place.key, before, contents, Modes::kept(mode));
    let change =
        FileChange { path: effect.path.clone(), before: effect.before, after: effect.after, diff };
    let summary = summary(&change, effect.before_bytes.is_some(), contents);
    Ok((exact(summary, vec![change], notes), vec![effect]))
}

/// What a person should know of a file that is replaced, beside its content.
#[cfg(unix)]
pub(super) fn file_notes(
    place: &Place<'_>,
    path: &str,
    keeps_mode: bool,
) -> Result<Vec<String>, ToolError> {
    use cap_std::fs::MetadataExt as _;
    let mut notes = Vec::new();
    if let Some((_, data)) = place.open(path, Access::Write)? {
        if keeps_mode && file::is_executable(&data) {
            notes.push(format!("{} is executable and stays so.", place.key));
        }
        if data.nlink() > 1 {
            notes.push(format!(
                "Its other names (hard links: {}) keep the old content.",
                data.nlink() - 1
            ));
        }
    }
    Ok(notes)
}

#[cfg(not(unix))]
pub(super) fn file_notes(_: &Place<'_>, _: &str, _: bool) -> Result<Vec<String>, ToolError> {
    Ok(Vec::new())
}

fn summary(change: &FileChange, existed: bool, contents: &str) -> String {
    let path = &change.path;
    match &change.diff {
        Diff::Unchanged => format!("This step changes nothing: {path} has this content already."),
        Diff::Binary { before_bytes, after_bytes } => {
            let size = |bytes: &Option<u64>| words::size(bytes.unwrap_or(0));
            format!("Replaces {path}: {} become {}.", size(before_bytes), size(after_bytes))
        }
        Diff::Text { .. } if !existed && contents.is_empty() => {
            format!("Creates {path}, which stays empty.")
        }
        Diff::Text { added, .. } if !existed => {
            format!("Creates {path} with {added} {}.", words::lines(*added))
        }
        Diff::Text { added, removed: 0, .. } => {
            format!("Adds {added} {} to {path}.", words::lines(*added))
        }
        Diff::Text { added: 0, removed, .. } => {
            format!("Removes {removed} {} from {path}.", words::lines(*removed))
        }
        Diff::Text { added, removed, .. } if added == removed => {
            format!("Replaces {added} {} of {path}.", words::lines(*added))
        }
        Diff::Text { added, removed, .. } => {
            format!("Replaces {removed} {} of {path} by {added}.", words::lines(*removed))
        }
    }
}
