//! What is known of a command besides its text.

use std::path::PathBuf;

use super::repository::Repositories;

/// What is known of a command besides its text. The caller finds it out, because no file is read here.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// The folders of this program, which make a command dangerous that names one; absolute.
    pub own_folders: &'a [PathBuf],
    /// What the settings of repositories make git run.
    pub repositories: &'a Repositories,
    /// The working folder of the command, as the plan has it; `None` for the workspace.
    pub cwd: Option<&'a str>,
}

impl Surroundings<'_> {
    /// No folder at all: for judging the rules themselves.
    pub(super) const NONE: Surroundings<'static> =
        Surroundings { own_folders: &[], repositories: &Repositories::NameNothing, cwd: None };
}
