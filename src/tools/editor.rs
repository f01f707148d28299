//! Starts the person's editor, the only program that is started and not supervised.

use std::path::{Path, PathBuf};

use super::{ToolError, Toolbox};
use crate::plan::Code;
use crate::process;
use crate::process::Profile;
use crate::run::Failure;
use crate::workspace::{Kind, WorkspaceError};

impl Toolbox {
    /// The absolute path of the file at `path`, for an external program. A file outside the roots, as in a
    /// compiler message, must have an absolute path.
    ///
    /// # Errors
    /// There is no file at this path, or it is outside the roots and not absolute.
    pub fn absolute_file_path(&self, path: &str) -> Result<PathBuf, ToolError> {
        let absolute = Path::new(path);
        match self.kind_of(path) {
            Ok(Kind::File) => Ok(self.workspace().join(self.key_of(path)?)),
            _ if absolute.is_absolute() && absolute.is_file() => Ok(absolute.to_owned()),
            _ => Err(WorkspaceError::NotFound { path: path.to_owned() }.into()),
        }
    }

    /// Starts a program in the workspace and does not wait for it.
    ///
    /// # Errors
    /// A program that is missing or cannot be started.
    pub fn start_detached(&self, program: &str, arguments: &[String]) -> Result<(), Failure> {
        let named = Path::new(program);
        let found = if named.is_absolute() {
            Some(named.to_owned()).filter(|path| path.is_file())
        } else {
            self.find_command(program)
        };
        let failed = |message: String| Failure {
            code: Code::CommandFailed,
            message,
            next: "Correct editor_command in the settings.".to_owned(),
        };
        let found = found.ok_or_else(|| {
            let place = match named.is_absolute() {
                true => "there".to_owned(),
                false => self.launcher.programs.where_searched(program),
            };
            failed(format!("{program} is not {place}"))
        })?;
        process::start_detached(Profile::Detached, &found, arguments, self.workspace())
            .map_err(|source| failed(format!("cannot start {program}: {source}")))
    }
}
