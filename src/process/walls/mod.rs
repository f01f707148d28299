//! Walls restrict the files that a process can read and write, and the network and processes that it can
//! reach (SPEC §7.5).
//!
//! A walled program is started through the same executable (`countersign __walled`), which restricts itself and then
//! becomes or starts the program. At level *full* it first joins namespaces that last for the run, among them a mount
//! namespace that bubblewrap made. When the approved walls cannot be put up, the start fails: there is no fallback to
//! a program without walls. Only `crate::process` starts programs behind walls; other modules describe the walls of a
//! run.
//!
//! # How a program gets behind walls
//!
//! Every start names its profile (`Profile`); only *client* and *detached* have no walls. `cli::start` handles
//! `countersign __walled` before any other command line. At level *files* the helper sets `no_new_privs`, drops
//! capabilities, applies Landlock and seccomp, and becomes the program. At level *full* the helper first joins the
//! namespaces of the run and forks, because only a child process is inside a joined pid namespace. The inner process
//! applies the same restrictions, starts the program as its child, reports the program's exact exit status, and
//! adopts orphans. The helper reports over a channel whether the program runs; a failure before that is reported as
//! a failure to start the program.
//!
//! # The state of a run
//!
//! At level *full*, a run has one keeper (`Keeper`): the first process of a pid namespace, with separate network and
//! host name. The keeper exits when its input is closed, which happens however Countersign ends, and the kernel then
//! kills all processes in the namespace. bubblewrap creates the keeper together with the view of the first step
//! (`View`): mounts for the entries of the table, devices, and the temporary folder and shared memory of the run,
//! which all views share. Later steps join that view while their table, and every file and folder on which something
//! is mounted, stay the same; otherwise bubblewrap makes another view in the same namespaces. Without root, views
//! belong to a user namespace, and steps run in a user namespace below it that maps the user to the same id. The
//! temporary folder of the run has a lock; a later run removes the folders of killed processes.
//!
//! At level *full*, processes that a step leaves running are suspended (SIGSTOP) before the end of the step is
//! evaluated, and resumed when the next program runs. So they change nothing while files are compared or mounted for
//! a step, or while a tool of Countersign itself runs. If some of them cannot be suspended, all are killed.
//!
//! # Access to files, the network and the system
//!
//! One table (`linux/table.rs`) has the access to each path; of several rules for a path, the strictest applies.
//! Every folder between a writable folder and a protected path in it is a mount of its own, because a mount
//! point cannot be renamed. `.git/config` is read without git, because git could be made to run a program.
//! Repositories nested in the workspace are searched for before every start (`linux/nested.rs`), because each
//! step can create one; wherever their `.git` leads, they grant no access outside the workspace. Files that
//! no mount can protect (links, files that do not exist yet, and at level *files* all read-only files of the
//! workspace) are compared before and after; a change is an error (E312).
//!
//! The filter of system calls is a deny list that also denies unknown calls: those with numbers above the
//! ones of Linux 6.18 and those of the x32 interface fail as missing; 32-bit programs are killed. UNIX
//! sockets are refused, because Landlock before version 9 does not cover the sockets of daemons; socket pairs
//! are allowed. Refused network access is counted at level *full* by the kernel's counters of the run's own
//! network, and at level *files* by a listener of the filter.
//!
//! `docs/threats.md` lists what this does not protect.

#[cfg_attr(target_os = "linux", path = "linux/mod.rs")]
#[cfg_attr(not(target_os = "linux"), path = "unsupported.rs")]
mod platform;

use std::path::{Path, PathBuf};

use crate::authorization::WallLevel;

use platform::State;
pub(super) use platform::Walled;
pub use platform::start_helper;

/// The folder in which programs put temporary files when they ignore `TMPDIR`.
pub const TEMPORARY: &str = "/tmp";

/// Whether full walls hide this path: it is in the folder of temporary files, and not in the workspace. Both are absolute
/// and without links.
pub fn is_hidden_temporary(path: &Path, workspace: &Path) -> bool {
    path.starts_with(TEMPORARY) && !path.starts_with(workspace)
}

/// Why walls are impossible when the workspace is the root folder.
const ROOT_WORKSPACE: &str = "the workspace is /: walls keep a program from changing what is outside of the workspace, and \
                          nothing is outside of this one; choose a folder in it as the workspace";

/// Paths that have the same access in the walls of all steps of a run.
#[derive(Debug, Clone, Default)]
pub struct WallPaths {
    /// Folders of Countersign itself (settings, key, evidence, state): unreadable behind walls.
    pub hidden: Vec<PathBuf>,
    /// Paths that no step may write, in addition to `countersign.toml` and the settings of repositories: for
    /// example the plan file.
    pub read_only: Vec<PathBuf>,
    /// Folders outside of the workspace that every step may write to.
    pub write: Vec<PathBuf>,
}

/// The walls of a run, with its temporary folder, its namespaces and the processes that its steps left running.
/// Dropping this value ends them.
#[derive(Debug)]
pub struct RunWalls {
    workspace: PathBuf,
    /// The original workspace, when `workspace` is a copy.
    original: Option<PathBuf>,
    paths: WallPaths,
    state: State,
}

/// The report of the walls of one program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WallReport {
    /// The number of refused attempts to reach the network.
    pub refused: u64,
    /// The protected files that changed; only a comparison can detect such a change.
    pub changed: Vec<PathBuf>,
    /// The paths that the program could write to; empty when it had no walls.
    pub writable: Vec<PathBuf>,
    /// Whether a limit was reached, so that some repositories may not have been protected.
    pub is_incomplete: bool,
}

/// The best wall level that works on this computer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WallProbe {
    /// The best level whose trial succeeded.
    pub level: WallLevel,
    /// Why a better level does not work; `None` at the best level.
    pub why_not_better: Option<String>,
}

impl RunWalls {
    /// The walls of a run in this workspace. Nothing is set up before the first walled program.
    pub fn new(workspace: PathBuf, paths: WallPaths) -> Self {
        Self { workspace, original: None, paths, state: State::default() }
    }

    /// The workspace, and the original workspace when it is a copy.
    pub(super) fn workspaces(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(&self.workspace).chain(&self.original).map(PathBuf::as_path)
    }

    /// Why this workspace cannot have walls; `None` when it can.
    pub fn unsupported_reason(&self) -> Option<&'static str> {
        self.workspace.parent().is_none().then_some(ROOT_WORKSPACE)
    }

    /// Adds hidden and read-only paths. Must be called before a program is started behind these walls.
    pub(crate) fn with_paths(
        mut self,
        hidden: impl IntoIterator<Item = PathBuf>,
        read_only: impl IntoIterator<Item = PathBuf>,
    ) -> Self {
        self.paths.hidden.extend(hidden);
        self.paths.read_only.extend(read_only);
        self
    }

    /// The walls of a simulation: it can write only its copy and its build output, and cannot read other simulations.
    pub(crate) fn of_copy(&self, copy: &Path, target: &Path, simulations: &Path) -> Self {
        let mut paths = WallPaths { write: vec![target.to_owned()], ..self.paths.clone() };
        paths.hidden.push(simulations.to_owned());
        Self { original: Some(self.workspace.clone()), ..Self::new(copy.to_owned(), paths) }
    }

    /// Kills the processes that steps left running, and ends the run's namespaces. Returns the names of the processes,
    /// sorted.
    pub fn end(&self) -> Vec<String> {
        self.state.end()
    }
}

/// The error messages of programs for a refused path, in lower case.
const REFUSALS: [&str; 3] =
    ["permission denied", "read-only file system", "operation not permitted"];

impl WallReport {
    /// Merges the reports of several programs.
    pub(crate) fn merged<'a>(reports: impl Iterator<Item = &'a Self>) -> Self {
        reports.fold(Self::default(), |mut all, report| {
            all.refused += report.refused;
            all.changed.extend_from_slice(&report.changed);
            all.writable.extend_from_slice(&report.writable);
            all.is_incomplete |= report.is_incomplete;
            all
        })
    }

    /// The first absolute path outside the writable ones in a line of `stderr` that reports a refused path; `None`
    /// without walls. It is only a guess to show to a person: the refusal need not come from a wall.
    pub fn likely_refused_path(&self, stderr: &str) -> Option<PathBuf> {
        if self.writable.is_empty() {
            return None;
        }
        let lines = stderr.lines().filter(|line| {
            let line = line.to_ascii_lowercase();
            REFUSALS.iter().any(|refusal| line.contains(refusal))
        });
        let is_delimiter = |it: char| it.is_whitespace() || "'\"`:,;()<>[]‘’“”".contains(it);
        lines
            // A line may begin with the name of the program that prints it.
            .map(|line| match line.split_once(": ") {
                Some((program, rest)) if program.starts_with('/') && rest.contains('/') => rest,
                _ => line,
            })
            .flat_map(|line| line.split(is_delimiter))
            .filter(|word| word.len() > 1 && word.starts_with('/'))
            .map(PathBuf::from)
            .find(|path| !self.writable.iter().any(|writable| path.starts_with(writable)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_path_outside_is_named() {
        let writable = vec![PathBuf::from("/w"), PathBuf::from("/tmp")];
        let report = WallReport { writable, ..WallReport::default() };
        for (stderr, wanted) in [
            ("touch: cannot touch '/usr/x y': Read-only file system", Some("/usr/x")),
            ("x\nmkdir: cannot create directory ‘/opt/a’: Permission denied\n", Some("/opt/a")),
            ("/w/a: Permission denied", None),
            ("/usr/bin/bash: line 1: /opt/b: Permission denied", Some("/opt/b")),
            ("/usr/x: No such file or directory", None),
            ("cp: /w/a -> /home/u/b: Operation not permitted", Some("/home/u/b")),
        ] {
            assert_eq!(report.likely_refused_path(stderr), wanted.map(PathBuf::from), "{stderr}");
        }
        assert_eq!(WallReport::default().likely_refused_path("/usr/x: Permission denied"), None);
    }
}
