//! The person's own editor, beside the window: the one program that is started and not waited for.

use std::path::{Path, PathBuf};

use crate::plan::Code;
use crate::process::{self, Profile};
use crate::run::Failure;
use crate::workspace::{Kind, WorkspaceError};

use super::{ToolError, Toolbox};

impl Toolbox {
    /// The file at `path` for a program outside: absolute. A file outside the roots, which a compiler may
    /// name, is taken by its absolute path.
    ///
    /// # Errors
    /// A file that is not there.
    pub fn file_for_programs(&self, path: &str) -> Result<PathBuf, ToolError> {
        let absolute = Path::new(path);
        let absolute = match self.kind_of(path) {
            Ok(Kind::File) => self.workspace().join(self.key_of(path)?),
            _ if absolute.is_absolute() && absolute.is_file() => absolute.to_owned(),
            _ => return Err(WorkspaceError::NotFound { path: path.to_owned() }.into()),
        };
        Ok(absolute)
    }

    /// Starts a program of the person in the workspace and lets it go: its end changes nothing here.
    ///
    /// # Errors
    /// A program that is not there or cannot be started.
    pub fn start_beside(&self, program: &str, arguments: &[String]) -> Result<(), Failure> {
        let named = Path::new(program);
        let found = if named.is_absolute() {
            Some(named.to_owned()).filter(|path| path.is_file())
        } else {
            self.command_available(program)
        };
        let failed = |message: String| Failure {
            code: Code::CommandFailed,
            message,
            next: "Correct editor_command in the settings.".to_owned(),
        };
        let found = found.ok_or_else(|| {
            let place = match named.is_absolute() {
                true => "there".to_owned(),
                false => self.launcher.programs.nowhere(program),
            };
            failed(format!("{program} is not {place}"))
        })?;
        process::start_beside(Profile::Beside, &found, arguments, self.workspace())
            .map_err(|source| failed(format!("cannot start {program}: {source}")))
    }
}
