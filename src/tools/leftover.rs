//! Finds the temporary files of killed steps, by their unique names.

use std::path::Path;

use uuid::Uuid;

use crate::workspace::{Kind, Last, temporary_name};

use super::{ToolError, Toolbox, batch, splice};

impl Toolbox {
    /// The temporary file beside the file with canonical path `key` that this execution left when it was
    /// interrupted; by its canonical path.
    ///
    /// # Errors
    /// As `Workspace::kind_of`.
    pub fn leftover(&self, key: &str, execution_id: Uuid) -> Result<Option<String>, ToolError> {
        let own = Path::new(key).file_name().map(|name| batch::waiting_names(execution_id, name));
        let names = std::iter::once(temporary_name(execution_id).into());
        for name in names.chain(own.into_iter().flatten()) {
            let path = Path::new(key).with_file_name(name);
            let place = self.resolve(&path.to_string_lossy(), Last::Keep)?;
            if place.kind == Kind::File {
                return Ok(Some(place.key));
            }
        }
        Ok(None)
    }

    /// The files that `splice` left beside the file with this canonical path when it was killed, by
    /// canonical path. `splice` is started only when these names are free.
    ///
    /// # Errors
    /// As `Workspace::kind_of`.
    pub fn left_by_splice(&self, key: &str) -> Result<Vec<String>, ToolError> {
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
