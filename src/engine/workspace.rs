//! Selects the workspace folder of a plan if the person has not chosen one (SPEC §4).

use std::path::{Component, Path, PathBuf};

use crate::run::RunSummary;

/// A workspace folder, with the reason for its selection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceChoice {
    /// The folder.
    pub folder: PathBuf,
    /// The reason, as a sentence.
    pub reason: String,
}

impl WorkspaceChoice {
    /// The folder that a person chose.
    pub fn chosen(folder: PathBuf) -> Self {
        Self { folder, reason: "You chose it.".to_owned() }
    }

    /// The folder of a run, for a plan that is made from it.
    pub fn of_run(run: &RunSummary) -> Self {
        let reason = "It is the workspace of the run that the plan comes from.".to_owned();
        Self { folder: run.workspace.clone().into(), reason }
    }
}

/// The workspace for a plan file: `chosen`, else the nearest folder above the plan that has a
/// `Cargo.toml` or a `.git` and is neither `home` nor the root of the file system, else the plan's
/// own folder.
pub fn choose_workspace(
    plan_file: &Path,
    chosen: Option<&Path>,
    home: Option<&Path>,
) -> WorkspaceChoice {
    if let Some(folder) = chosen {
        return WorkspaceChoice::chosen(folder.to_owned());
    }
    let absolute = std::path::absolute(plan_file).unwrap_or_else(|_| plan_file.to_owned());
    // The path may reach the home folder through a link.
    let real = |folder: &Path| std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let own = absolute.parent().unwrap_or(&absolute);
    // The folders before a `..` are not above the plan.
    let goes_up = own.components().any(|name| name == Component::ParentDir);
    let own = if goes_up { real(own) } else { own.to_owned() };
    let home = home.map(real);
    let eligible = |folder: &&Path| folder.parent().is_some() && Some(real(folder)) != home;
    for folder in own.ancestors().filter(eligible) {
        for marker in ["Cargo.toml", ".git"] {
            if folder.join(marker).exists() {
                return WorkspaceChoice {
                    folder: folder.to_owned(),
                    reason: format!("It is the nearest folder above the plan with a {marker}."),
                };
            }
        }
    }
    WorkspaceChoice {
        folder: own,
        reason: "It is the plan's own folder; none above it has a Cargo.toml or .git.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workspace_is_nearest_marked_folder_except_home() {
        let temp = tempfile::tempdir().unwrap();
        let project = temp.path().join("home/project");
        let plans = project.join("plans");
        std::fs::create_dir_all(&plans).unwrap();
        std::fs::create_dir(temp.path().join("home/.git")).unwrap();
        let plan = plans.join("p.json");
        let home = temp.path().join("home");
        let choose = |chosen| choose_workspace(&plan, chosen, Some(&home));

        assert_eq!(choose(None).folder, plans, "home is skipped, and nothing above it is marked");
        std::fs::write(project.join("Cargo.toml"), "").unwrap();
        assert_eq!(choose(None).folder, project);
        assert!(choose(None).reason.contains("Cargo.toml"));
        let outside = plans.join("../../p.json");
        let expected = std::fs::canonicalize(&home).unwrap();
        assert_eq!(choose_workspace(&outside, None, None).folder, expected, "not below project");
        assert_eq!(choose(Some(Path::new("/x"))).folder, Path::new("/x"));
    }

    #[cfg(unix)]
    #[test]
    fn home_behind_a_link_is_recognized() {
        let temp = tempfile::tempdir().unwrap();
        let plans = temp.path().join("data/someone/plans");
        std::fs::create_dir_all(&plans).unwrap();
        std::fs::create_dir(temp.path().join("data/someone/.git")).unwrap();
        std::os::unix::fs::symlink("data/someone", temp.path().join("home")).unwrap();
        let home = temp.path().join("home");
        let choice = choose_workspace(&plans.join("p.json"), None, Some(&home));
        assert_eq!(choice.folder, plans);
    }
}
