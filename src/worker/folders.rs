//! The default folders of a user on this system, and the default workspace of a plan.

use std::path::{Path, PathBuf};

use crate::engine::{WorkspaceChoice, choose_workspace};
use crate::evidence::{EvidenceLocation, UserFolders};

/// The folders of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    /// The folder of the evidence database and its other files.
    pub evidence: PathBuf,
    /// The folder of the key that encrypts secrets in the evidence; never inside `evidence`.
    pub secrets: PathBuf,
    /// The folder of the program's state, the last head of each evidence database; never inside `evidence`.
    pub state: PathBuf,
    /// The inbox, unless the settings name another folder.
    pub inbox: PathBuf,
    /// The folder of the window's socket, over which hooks of agents ask.
    pub window: PathBuf,
    /// The folder of the settings file.
    pub settings: PathBuf,
    /// The user's home folder, which is never a workspace by default.
    pub home: PathBuf,
}

impl Folders {
    /// The folders of the evidence, its key and its state.
    pub fn location(&self) -> EvidenceLocation {
        let user_folders = UserFolders { key: self.secrets.clone(), state: self.state.clone() };
        EvidenceLocation { evidence: self.evidence.clone(), user_folders }
    }
}

/// The workspace for a plan file: `chosen`, otherwise the default one.
pub fn workspace_of(plan_file: &Path, chosen: Option<&Path>) -> WorkspaceChoice {
    let home = default_folders().map(|folders| folders.home);
    choose_workspace(plan_file, chosen, home.as_deref())
}

/// Whether this folder, a path without links, can be one in which an agent works: the home folder and those above it hold
/// more than a project.
pub fn is_project(folder: &Path) -> bool {
    let home = default_folders().and_then(|folders| std::fs::canonicalize(folders.home).ok());
    folder.parent().is_some() && !home.is_some_and(|home| home.starts_with(folder))
}

/// The default folders; `None` if the system does not provide the user's home folder.
pub fn default_folders() -> Option<Folders> {
    let project = directories::ProjectDirs::from("", "", "countersign")?;
    let base = directories::BaseDirs::new()?;
    Some(Folders {
        evidence: project.data_dir().join("evidence"),
        secrets: project.config_dir().to_owned(),
        // Only Linux has a standard folder for state.
        state: match project.state_dir() {
            Some(state) => state.to_owned(),
            None => project.data_local_dir().join("state"),
        },
        inbox: project.data_dir().join("inbox"),
        window: project.data_dir().join("window"),
        settings: project.config_dir().to_owned(),
        home: base.home_dir().to_owned(),
    })
}
