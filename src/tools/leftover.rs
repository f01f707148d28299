//! Finds the temporary files that killed steps left, by their names.

use std::path::Path;

use uuid::Uuid;

use crate::workspace::{Kind, Last, temporary_name};

use super::{ToolError, Toolbox, batch, splice};

impl Toolbox {
    /// The canonical path of the temporary file that this execution left beside the file `key` when it was
    /// interrupted. `None` if there is none.
    ///
    /// # Errors
    /// As `Workspace::kind_of`.
    pub fn leftover_file(
        &self,
        key: &str,
        execution_id: Uuid,
    ) -> Result<Option<String>, ToolError> {
        let of_batch =
            Path::new(key).file_name().map(|name| batch::temporary_names(execution_id, name));
        let names = std::iter::once(temporary_name(execution_id).into());
        for name in names.chain(of_batch.into_iter().flatten()) {
            let path = Path::new(key).with_file_name(name);
            let place = self.resolve(&path.to_string_lossy(), Last::Keep)?;
            if place.kind == Kind::File {
                return Ok(Some(place.key));
            }
        }
        Ok(None)
    }

    /// The canonical paths of the temporary files that `splice` left beside the file `key` when it was killed.
    /// Their names identify them, because `splice` is started only when these names are free.
    ///
    /// # Errors
    /// As `Workspace::kind_of`.
    pub fn splice_leftovers(&self, key: &str) -> Result<Vec<String>, ToolError> {
        let mut left = Vec::new();
        for path in splice::names_beside(Path::new(key)) {
            let place = self.resolve(&path.to_string_lossy(), Last::Keep)?;
            if place.kind == Kind::File {
                left.push(place.key);
            }
        }
        Ok(left)
    }
}
