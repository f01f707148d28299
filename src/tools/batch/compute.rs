//! Computes the result of a batch in memory, from the contents of the files alone.

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::{Code, Digest, Edit};
use crate::run::StopSignal;
use crate::tools::{After, ToolError};
use crate::workspace::check_cancelled;

use super::edits;
use super::error::Fault;
use super::files::{Computed, Files};

/// Applies all edits in order, each to the result of the edits before it. An edit that depends on a failed
/// edit gets no fault of its own, because its input is unknown.
///
/// # Errors
/// A stop. Faults of the edits are no errors, but part of the result.
pub(in super::super) fn compute(
    at: After<'_>,
    batch: &[Edit],
    expected: &BTreeMap<String, Digest>,
    stop: &StopSignal,
) -> Result<Computed, ToolError> {
    let mut files = Files {
        toolbox: at.toolbox,
        stop,
        overlay: at.overlay.clone(),
        named: Vec::new(),
        before: BTreeMap::new(),
        modes: BTreeMap::new(),
        bytes: 0,
        done: Computed::default(),
    };
    for (path, expected) in expected {
        check_cancelled(stop)?;
        if let Err(error) = files.expect(path, *expected) {
            let error = Box::new(error);
            files.done.faults.push(Fault { edit: None, path: path.clone(), error });
        }
    }
    let mut doubtful = BTreeSet::new();
    for (index, edit) in batch.iter().enumerate() {
        check_cancelled(stop)?;
        let keys = || edit.paths().filter_map(|path| at.toolbox.key_of(path).ok());
        if keys().any(|key| doubtful.contains(&key)) {
            doubtful.extend(keys());
            continue;
        }
        match edits::make(&mut files, edit) {
            Ok(()) => {}
            Err(error) if error.code() == Code::Cancelled => return Err(error),
            Err(error) => {
                doubtful.extend(keys());
                let path = edit.paths().next().unwrap_or_default().to_owned();
                let edit = Some((index, edit.op()));
                files.done.faults.push(Fault { edit, path, error: Box::new(error) });
            }
        }
    }
    Ok(files.finish())
}
