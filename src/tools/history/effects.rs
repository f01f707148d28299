//! Computes the exact file changes that restore recorded states, or finds the conflicts with later work.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::records::source;
use super::targets::Restoration;
use super::{Conflict, HistoryError};
use crate::authorization::FileState;
use crate::run::{FileChange, FileEffect, FileMode, FileReversal, History, Modes};
use crate::tools::batch::NewMode;
use crate::tools::{HistorySource, NotAvailable, ProjectedToolbox, ToolError, batch};
use crate::workspace::{Access, ContentAndMode, Kind, Last, diff, file};

/// The result of comparing the files with the history.
#[derive(Default)]
pub(super) struct Comparison {
    /// The changes; a file that already has its target state has none.
    pub(super) effects: Vec<FileEffect>,
    /// The state of each file before the operation, by canonical path.
    pub(super) states: BTreeMap<String, FileState>,
    /// The recorded modes to restore, including bits that [`FileMode::plain`] removes.
    pub(super) recorded_modes: BTreeMap<String, FileMode>,
}

impl Comparison {
    /// The modes to set on files that do not keep their present mode.
    pub(super) fn modes(&self) -> BTreeMap<String, NewMode> {
        let mut modes = batch::rename_modes(&self.effects);
        let recorded = self.recorded_modes.iter();
        modes.extend(recorded.map(|(path, mode)| (path.clone(), NewMode::Recorded(mode.plain()))));
        modes
    }
}

/// Computes the changes and loads the recorded contents. The inner `Err` lists the files with later work.
///
/// # Errors
/// Contents that are not available or cannot be read; a link, a folder or another kind of file instead of the
/// file.
pub(super) fn compare_with_records(
    projected: ProjectedToolbox<'_>,
    history: &History,
    restoration: &Restoration,
) -> Result<Result<Comparison, Vec<Conflict>>, ToolError> {
    let source = source(projected.toolbox)?;
    let mut comparison = Comparison::default();
    let (mut conflicts, mut missing) = (Vec::new(), Vec::new());
    for way in &restoration.files {
        let (before_bytes, mode) = projected_content(projected, &way.path)?;
        let before = file::state_of_bytes(before_bytes.as_deref());
        comparison.states.insert(way.path.clone(), before);
        if before == way.target {
            continue;
        }
        if way.gap.is_some() || !way.left.contains(&before) {
            let bytes = before_bytes.as_deref();
            conflicts.push(conflict(source, history, way, (before, bytes), restoration.last));
            continue;
        }
        let after_bytes = match recorded_content(source, way.target) {
            Ok(after_bytes) => after_bytes,
            Err(why) => {
                missing.push((way.path.clone(), why));
                continue;
            }
        };
        let mut after = None;
        if after_bytes.is_some() {
            let recorded = way.recorded_mode(before_bytes.is_some(), mode);
            comparison.recorded_modes.extend(recorded.map(|mode| (way.path.clone(), mode)));
            after = recorded.map(FileMode::plain).or(mode);
        }
        comparison.effects.push(FileEffect {
            path: way.path.clone(),
            before,
            after: way.target,
            before_bytes,
            after_bytes,
            modes: Modes { before: mode, after },
        });
    }
    // Conflicts come first: they prevent every write, so missing contents do not matter then.
    if !conflicts.is_empty() {
        return Ok(Err(conflicts));
    }
    if !missing.is_empty() {
        return Err(HistoryError::NotAvailable { files: missing }.into());
    }
    Ok(Ok(comparison))
}

/// The content and mode of a file after the earlier steps; the content is `None` when the file is absent.
///
/// # Errors
/// A link, a folder or another kind of file at this path, or a link or a file in the place of one of its folders; a
/// file that cannot be read.
pub(super) fn projected_content(
    projected: ProjectedToolbox<'_>,
    path: &str,
) -> Result<ContentAndMode, ToolError> {
    let place = projected.toolbox.resolve(path, Last::Keep)?;
    let in_the_way =
        |what: &str| HistoryError::InTheWay { path: path.to_owned(), what: what.to_owned() };
    // Recorded paths are canonical, so a link in place of one of the folders was created later.
    if place.key != path {
        return Err(in_the_way("behind a link").into());
    }
    match projected.overlay.kind(&place) {
        Kind::File | Kind::Absent if place.blocked || projected.overlay.blocks(path) => {
            Err(in_the_way("below a file").into())
        }
        Kind::File | Kind::Absent => Ok(projected.content_and_mode(&place, path, Access::Read)?),
        kind => Err(in_the_way(&kind.to_string()).into()),
    }
}

/// The content of a recorded state; `None` for an absent file.
pub(super) fn recorded_content(
    source: &dyn HistorySource,
    state: FileState,
) -> Result<Option<Arc<[u8]>>, NotAvailable> {
    match state {
        FileState::Absent => Ok(None),
        FileState::Content(digest) => source.content(&digest).map(Some),
    }
}

/// Describes the conflict for a file whose present state is `now`. `last` is the position of the last reversed
/// change.
fn conflict(
    source: &dyn HistorySource,
    history: &History,
    way: &FileReversal,
    (now, bytes): (FileState, Option<&[u8]>),
    last: i64,
) -> Conflict {
    let left = way.left.first().copied().unwrap_or(way.target);
    // If the file is as the last reversed change left it, the conflict is between two of the changes. The
    // difference is then from the target state.
    let from = if left == now { way.target } else { left };
    let difference = recorded_content(source, from).ok().map(|old| FileChange {
        path: way.path.clone(),
        before: from,
        after: now,
        diff: diff::diff(old.as_deref(), bytes),
    });
    let changed_by = history.left_by(&way.path, now, last).map(|entry| entry.execution_id);
    let gap = way.gap.filter(|_| way.left.contains(&now));
    Conflict { path: way.path.clone(), left, now, changed_by, gap, difference }
}
