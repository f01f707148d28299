//! Computes the exact file changes that restore recorded states, or the conflicts with later work.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::authorization::FileState;
use crate::run::{FileChange, FileEffect, FileMode, FileReversal, History, Modes};

use crate::tools::batch::{self, NewMode};
use crate::tools::{After, NotAvailable, Past, ToolError};
use crate::workspace::{Access, ContentAndMode, Kind, Last, diff, file};

use super::error::{Conflict, HistoryError};
use super::records::past;
use super::way::Intended;

/// The result of comparing the files with the records.
#[derive(Default)]
pub(super) struct Found {
    /// The changes; a file that already has its target state has none.
    pub(super) effects: Vec<FileEffect>,
    /// The present state of each file, by canonical path.
    pub(super) seen: BTreeMap<String, FileState>,
    /// The recorded modes to restore, including bits that [`FileMode::plain`] removes.
    pub(super) recorded: BTreeMap<String, FileMode>,
}

impl Found {
    /// The modes to set on files that do not keep their present mode.
    pub(super) fn modes(&self) -> BTreeMap<String, NewMode> {
        let mut modes = batch::moved(&self.effects);
        let recorded = self.recorded.iter();
        modes.extend(recorded.map(|(path, mode)| (path.clone(), NewMode::Recorded(mode.plain()))));
        modes
    }
}

/// Computes the changes and loads the recorded contents. The inner `Err` lists the files that hold later
/// work.
///
/// # Errors
/// Contents that are not available; a link or a folder in the place of a file.
pub(super) fn find(
    at: After<'_>,
    history: &History,
    intended: &Intended,
) -> Result<Result<Found, Vec<Conflict>>, ToolError> {
    let past = past(at.toolbox)?;
    let mut found = Found::default();
    let (mut conflicts, mut missing) = (Vec::new(), Vec::new());
    for way in &intended.ways {
        let (before_bytes, mode) = now(at, &way.path)?;
        let before = file::state_of_bytes(before_bytes.as_deref());
        found.seen.insert(way.path.clone(), before);
        if before == way.target {
            continue;
        }
        if way.gap.is_some() || !way.left.contains(&before) {
            let bytes = before_bytes.as_deref();
            conflicts.push(conflict(past, history, way, (before, bytes), intended.last));
            continue;
        }
        let after_bytes = match state_bytes(past, way.target) {
            Ok(after_bytes) => after_bytes,
            Err(why) => {
                missing.push((way.path.clone(), why));
                continue;
            }
        };
        let mut after = None;
        if after_bytes.is_some() {
            let recorded = way.recorded_mode(before_bytes.is_some(), mode);
            found.recorded.extend(recorded.map(|mode| (way.path.clone(), mode)));
            after = recorded.map(FileMode::plain).or(mode);
        }
        found.effects.push(FileEffect {
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
    Ok(Ok(found))
}

/// The content and mode of a file after the earlier steps; the content is `None` when the file is absent.
pub(super) fn now(at: After<'_>, path: &str) -> Result<ContentAndMode, ToolError> {
    let place = at.toolbox.resolve(path, Last::Keep)?;
    let in_the_way =
        |what: &str| HistoryError::InTheWay { path: path.to_owned(), what: what.to_owned() };
    // Recorded paths are canonical, so a link on the way was made later.
    if place.key != path {
        return Err(in_the_way("behind a link").into());
    }
    match at.overlay.kind(&place) {
        Kind::File | Kind::Absent if place.blocked || at.overlay.blocks(path) => {
            Err(in_the_way("below a file").into())
        }
        Kind::File | Kind::Absent => Ok(at.content_and_mode(&place, path, Access::Read)?),
        kind => Err(in_the_way(&kind.to_string()).into()),
    }
}

/// The content of a recorded state; `None` for an absent file.
pub(super) fn state_bytes(
    past: &dyn Past,
    state: FileState,
) -> Result<Option<Arc<[u8]>>, NotAvailable> {
    match state {
        FileState::Absent => Ok(None),
        FileState::Content(digest) => past.content(&digest).map(Some),
    }
}

fn conflict(
    past: &dyn Past,
    history: &History,
    way: &FileReversal,
    (now, bytes): (FileState, Option<&[u8]>),
    last: i64,
) -> Conflict {
    let left = way.left.first().copied().unwrap_or(way.target);
    // If the file is as the last recorded change left it, the conflict lies between two recorded changes. The
    // file is then compared with the target state.
    let from = if left == now { way.target } else { left };
    let difference = state_bytes(past, from).ok().map(|old| FileChange {
        path: way.path.clone(),
        before: from,
        after: now,
        diff: diff::diff(old.as_deref(), bytes),
    });
    let changed_by = history.left_by(&way.path, now, last).map(|entry| entry.execution_id);
    let gap = way.gap.filter(|_| way.left.contains(&now));
    Conflict { path: way.path.clone(), left, now, changed_by, gap, difference }
}
