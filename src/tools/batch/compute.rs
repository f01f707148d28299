//! Computes the result of a batch in memory, from the contents of the files alone.

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::{Code, Digest, Edit};
use crate::tools::{ProjectedToolbox, ToolError};
use crate::workspace::check_cancelled;

use super::edits;
use super::error::Fault;
use super::files::{Computed, Files};

/// Applies all edits in order, each to the result of the edits before it. An edit that depends on a failed
/// edit gets no fault of its own, because its input is unknown.
///
/// # Errors
/// A stop. Faults of the edits are part of the result and not errors.
pub(in super::super) fn compute(
    projected: ProjectedToolbox<'_>,
    batch: &[Edit],
    expected: &BTreeMap<String, Digest>,
) -> Result<Computed, ToolError> {
    let mut files = Files {
        toolbox: projected.toolbox,
        stop: projected.stop,
        overlay: projected.overlay.clone(),
        named: Vec::new(),
        before: BTreeMap::new(),
        modes: BTreeMap::new(),
        bytes: 0,
        computed: Computed::default(),
    };
    for (path, expected) in expected {
        check_cancelled(projected.stop)?;
        if let Err(error) = files.check_expected(path, *expected) {
            let error = Box::new(error);
            files.computed.faults.push(Fault { edit: None, path: path.clone(), error });
        }
    }
    let mut unknown = BTreeSet::new();
    for (index, edit) in batch.iter().enumerate() {
        check_cancelled(projected.stop)?;
        let keys = || edit.paths().filter_map(|path| projected.toolbox.key_of(path).ok());
        if keys().any(|key| unknown.contains(&key)) {
            unknown.extend(keys());
            continue;
        }
        match edits::apply(&mut files, edit) {
            Ok(()) => {}
            Err(error) if error.code() == Code::Cancelled => return Err(error),
            Err(error) => {
                unknown.extend(keys());
                let path = edit.paths().next().unwrap_or_default().to_owned();
                let edit = Some((index, edit.op()));
                files.computed.faults.push(Fault { edit, path, error: Box::new(error) });
            }
        }
    }
    Ok(files.finish())
}
