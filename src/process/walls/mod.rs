//! Puts processes behind walls (SPEC §7.5).
//!
//! A walled program is started through this same program (`countersign __walled`), which takes away what the
//! walls take and then becomes the program. At level *full* it first joins namespaces that last for the run, and
//! among them a view of the file system, which bubblewrap has made. What was asked to be walled and cannot be is
//! a start failure: no path leads from here to a program without walls.
//!
//! # How a program gets behind walls
//!
//! Every start names its profile (`Profile`); only *client* and *beside* have no walls. `countersign __walled` is
//! handled first in `cli::start`. At level *files* the helper drops capabilities, sets `no_new_privs`, applies
//! Landlock and seccomp, and becomes the program. At level *full* it first joins the namespaces of the run and
//! splits in two, because only child processes enter a namespace of processes: the inner one does the same as at
//! level *files* and stays beside the program, reports the exact status, and adopts orphans. A channel reports
//! whether the program runs; what fails before is a start failure.
//!
//! # What lasts for a run
//!
//! A run has one holder (`Keeper`): the first process of a namespace of processes, with its own network and names.
//! It ends when its input is closed, which happens however our process ends, and everything in the namespace ends
//! with it. bubblewrap makes it together with the view of the first step (`View`): mounts for what the table says,
//! own devices, and the temporary folder and shared memory of the run, which all views share. Later steps join that
//! view while their table, and every file and folder on which a mount stands, stay the same; otherwise bubblewrap
//! makes another view in the same namespaces. Views of an ordinary user belong to a user namespace, and steps run in
//! one below it that maps the user to the same number. The temporary folder of the run has a lock; the next run
//! removes those of killed processes.
//!
//! At level *full*, what a step leaves running is halted before the end of the step is evaluated, and continues when
//! the next one runs. So nothing that is compared or mounted for a step changes meanwhile, and no tool of ours runs
//! beside it. What cannot be halted is ended.
//!
//! # What a program may do where
//!
//! One table (`table.rs`): the stricter rule about a path holds. Every folder between a writable one and what is
//! protected in it is a mount of its own, because a folder that is a mount cannot be renamed. What `.git/config`
//! names is read without git, because git could be made to run something. Repositories nested in the workspace are
//! searched for before every start (`nested.rs`), because each step can create one; wherever their `.git` leads,
//! they open nothing outside the workspace. What no mount can hold (files that do not exist yet, and at *files* all
//! read-only files of the workspace) is compared before and after (E312).
//!
//! The filter of system calls lists what is refused and is closed towards the future: calls numbered above those of
//! Linux 6.18 do not exist, nor do those of the x32 interface; 32-bit programs are ended. UNIX sockets are refused,
//! socket pairs are not: below version 9 Landlock does not cover the sockets of daemons. Refused networks are
//! counted at *full* by the counters of the run's own network, at *files* by a listener of the filter.
//!
//! `docs/threats.md` lists what this does not protect.

#[cfg(target_os = "linux")]
mod bubblewrap;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod helper;
#[cfg(target_os = "linux")]
mod keeper;
#[cfg(target_os = "linux")]
mod landlock_rules;
#[cfg(target_os = "linux")]
mod lasting;
#[cfg(target_os = "linux")]
mod nested;
#[cfg(not(target_os = "linux"))]
mod other;
#[cfg(target_os = "linux")]
mod probe;
#[cfg(target_os = "linux")]
mod refused;
#[cfg(target_os = "linux")]
mod report;
#[cfg(target_os = "linux")]
mod repository;
#[cfg(target_os = "linux")]
mod start;
#[cfg(target_os = "linux")]
mod system;
#[cfg(target_os = "linux")]
mod table;
#[cfg(target_os = "linux")]
mod view;
#[cfg(target_os = "linux")]
mod watched;

use std::path::{Path, PathBuf};

use crate::authorization::WallLevel;

#[cfg(target_os = "linux")]
pub use helper::start as start_helper;
#[cfg(target_os = "linux")]
use lasting::State;
#[cfg(target_os = "linux")]
use lasting::private_folder;
#[cfg(not(target_os = "linux"))]
use other::State;
#[cfg(not(target_os = "linux"))]
pub(super) use other::Walled;
#[cfg(not(target_os = "linux"))]
pub use other::start_helper;
#[cfg(target_os = "linux")]
pub(super) use start::Walled;

/// Where programs put what is temporary, whatever they were told.
const TEMPORARY: &str = "/tmp";

/// Why nothing can be walled in a workspace that is the root folder.
const EVERYTHING: &str = "the workspace is /: walls keep a program from changing what is outside of the workspace, and \
                          nothing is outside of this one; choose a folder in it as the workspace";

/// What the walls of every step of a run have in common.
#[derive(Debug, Clone, Default)]
pub struct WallPlace {
    /// The folders of this program (settings, key, evidence, state): nothing walled can read them.
    pub hidden: Vec<PathBuf>,
    /// Files that no step writes besides `countersign.toml` and what belongs to the repository: the plan's own.
    pub read_only: Vec<PathBuf>,
    /// Folders beside the workspace in which every step writes.
    pub write: Vec<PathBuf>,
}

/// The walls of a run: its temporary folder, its network and its processes. They end when this is dropped.
#[derive(Debug)]
pub struct RunWalls {
    workspace: PathBuf,
    /// Of what the workspace is a copy, where it is one.
    original: Option<PathBuf>,
    place: WallPlace,
    state: State,
}

/// What walls refused a program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WallReport {
    /// Attempts to reach the network.
    pub refused: u64,
    /// Protected files that changed all the same, where the walls can only compare.
    pub changed: Vec<PathBuf>,
    /// Where it may write; nothing where it had no walls.
    pub writable: Vec<PathBuf>,
}

/// The best level of this computer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WallProbe {
    /// The level that was tried and held.
    pub level: WallLevel,
    /// Why it is not a better one; none at the best.
    pub why_not_better: Option<String>,
}

impl RunWalls {
    /// The walls of a run in this workspace. Nothing is started before the first walled program.
    pub fn new(workspace: PathBuf, place: WallPlace) -> Self {
        Self { workspace, original: None, place, state: State::default() }
    }

    /// The workspace, and what it is a copy of.
    pub(super) fn workspaces(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(&self.workspace).chain(&self.original).map(PathBuf::as_path)
    }

    /// Why no walls can be put around this workspace; none where they can.
    pub fn impossible(&self) -> Option<&'static str> {
        self.workspace.parent().is_none().then_some(EVERYTHING)
    }

    /// The same walls before anything is started behind them, with what else they hide and keep from being written.
    pub(crate) fn also(
        mut self,
        hidden: impl IntoIterator<Item = PathBuf>,
        read_only: impl IntoIterator<Item = PathBuf>,
    ) -> Self {
        self.place.hidden.extend(hidden);
        self.place.read_only.extend(read_only);
        self
    }

    /// The walls of a simulation: its copy is all that it can write, and it sees no other one.
    pub(crate) fn of_copy(&self, copy: &Path, target: &Path, simulations: &Path) -> Self {
        let mut place = WallPlace { write: vec![target.to_owned()], ..self.place.clone() };
        place.hidden.push(simulations.to_owned());
        Self { original: Some(self.workspace.clone()), ..Self::new(copy.to_owned(), place) }
    }

    /// Ends what steps left running, and with it the network of the run; the names of what was ended, sorted.
    pub fn end(&self) -> Vec<String> {
        self.state.end()
    }
}

/// What systems say when they refuse a path.
const REFUSALS: [&str; 3] =
    ["permission denied", "read-only file system", "operation not permitted"];

impl WallReport {
    /// What walls refused several programs together.
    pub(crate) fn of_all<'a>(reports: impl Iterator<Item = &'a Self>) -> Self {
        reports.fold(Self::default(), |mut all, report| {
            all.refused += report.refused;
            all.changed.extend_from_slice(&report.changed);
            all.writable.extend_from_slice(&report.writable);
            all
        })
    }

    /// The first absolute path outside of what may be written that stands in a line of this text which tells of
    /// a refusal: perhaps a wall. A guess for a person, and nothing more.
    pub fn perhaps(&self, stderr: &str) -> Option<PathBuf> {
        if self.writable.is_empty() {
            return None;
        }
        let lines = stderr.lines().filter(|line| {
            let line = line.to_ascii_lowercase();
            REFUSALS.iter().any(|refusal| line.contains(refusal))
        });
        let ends = |it: char| it.is_whitespace() || "'\"`:,;()<>[]‘’“”".contains(it);
        lines
            // A line begins with who says it.
            .map(|line| match line.split_once(": ") {
                Some((who, rest)) if who.starts_with('/') && rest.contains('/') => rest,
                _ => line,
            })
            .flat_map(|line| line.split(ends))
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
            assert_eq!(report.perhaps(stderr), wanted.map(PathBuf::from), "{stderr}");
        }
        assert_eq!(WallReport::default().perhaps("/usr/x: Permission denied"), None);
    }
}
