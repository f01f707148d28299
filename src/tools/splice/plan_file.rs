//! The form of a splice plan: `{"steps": [{file, symbol, with, kind?}]}` (SPEC §4).

use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;

use crate::authorization::FileState;
use crate::plan::limits;

use crate::symbols::SymbolsError;
use crate::workspace::{Access, Last, Projected, WorkspaceError, file};

/// One replacement. In a splice plan its paths are relative to the folder of the plan or absolute; elsewhere they are
/// relative to the workspace or absolute.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Patch {
    pub(super) file: String,
    pub(super) symbol: String,
    pub(super) with: String,
    pub(super) kind: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    steps: Vec<Patch>,
}

/// A splice plan. It is read once, so that the bytes that are compared with the authorized state are the bytes that are
/// parsed.
pub(super) struct PlanFile {
    /// The path in the call.
    path: String,
    /// The canonical path of the plan.
    pub(super) key: String,
    /// `None` if the file does not exist.
    bytes: Option<Arc<[u8]>>,
}

impl PlanFile {
    /// Reads the plan as the earlier steps would leave it.
    ///
    /// # Errors
    /// A path that cannot be used, or a file that cannot be read.
    pub(super) fn read(projected: Projected<'_>, path: &str) -> Result<Self, WorkspaceError> {
        let place = projected.workspace.resolve(path, Last::Follow)?;
        let (bytes, _) = projected.content_and_mode(&place, path, Access::Read)?;
        Ok(Self { path: path.to_owned(), key: place.key.clone(), bytes })
    }

    /// The state of the plan file, for the comparison with the authorized state.
    pub(super) fn state(&self) -> FileState {
        file::state_of_bytes(self.bytes.as_deref())
    }

    /// The replacements of the plan, with their paths relative to the workspace or absolute.
    ///
    /// # Errors
    /// A plan that is missing, faulty, or over a limit.
    pub(super) fn patches(&self) -> Result<Vec<Patch>, SymbolsError> {
        let path = &self.path;
        let missing = || SymbolsError::Missing { what: "the splice plan", path: path.to_owned() };
        let bytes = self.bytes.as_ref().ok_or_else(missing)?;
        let invalid = |message: String| SymbolsError::Plan { path: path.to_owned(), message };
        if bytes.len() > limits::PLAN_BYTES {
            return Err(invalid(format!("it has more than {} bytes", limits::PLAN_BYTES)));
        }
        let plan: Plan =
            serde_json::from_slice(bytes).map_err(|error| invalid(error.to_string()))?;
        if plan.steps.is_empty() {
            return Err(invalid("it has no steps".to_owned()));
        }
        if plan.steps.len() > limits::STEPS {
            return Err(invalid(format!("it has more than {} steps", limits::STEPS)));
        }
        let folder = Path::new(&self.key).parent().unwrap_or(Path::new(""));
        let mut patches = Vec::with_capacity(plan.steps.len());
        for (index, step) in plan.steps.into_iter().enumerate() {
            let fields = [("file", &step.file), ("symbol", &step.symbol), ("with", &step.with)];
            for (name, value) in fields {
                if value.is_empty() {
                    return Err(invalid(format!("the {name} of step {} is empty", index + 1)));
                }
            }
            let (file, with) = (in_workspace(folder, &step.file), in_workspace(folder, &step.with));
            patches.push(Patch { file, with, ..step });
        }
        Ok(patches)
    }
}

/// Converts a path that is relative to `folder` to one that is relative to the workspace; an absolute path stays as it
/// is. `folder` is canonical, so resolving `..` by name gives the same folder as on the disk, also for a folder that an
/// earlier step has yet to create.
fn in_workspace(folder: &Path, path: &str) -> String {
    let (mut folder, mut path) = (folder, Path::new(path));
    while let (Some(outer), Ok(rest)) = (folder.parent(), path.strip_prefix("..")) {
        (folder, path) = (outer, rest);
    }
    folder.join(path).to_string_lossy().into_owned()
}
