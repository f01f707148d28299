//! The state of the walls that the programs of a run share: namespaces, private folders, and cached folder listings
//! of the workspace.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::keeper::Keeper;
use super::nested::Listings;
use super::view::ViewInputs;
use super::{RunWalls, bubblewrap};
use crate::process::tree::Suspended;
use crate::process::{Scratch, tree};

/// The folder of POSIX shared memory.
pub(super) const SHARED_MEMORY: &str = "/dev/shm";

/// The folder in which the temporary folders of runs are created.
fn temporary_folders() -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    std::env::temp_dir().join(format!("countersign-runs-{user}"))
}

/// Creates a private folder that is removed on drop. Also removes the folders of killed processes.
pub(super) fn private_folder() -> io::Result<Scratch> {
    Scratch::create(&temporary_folders())
}

/// The state of the walls of a run.
#[derive(Debug, Default)]
pub(in super::super) struct State(Shared, Mutex<Listings>);

/// The part of the state that a running program needs, shared with it.
#[derive(Debug, Default, Clone)]
pub(super) struct Shared(Arc<Mutex<WallState>>);

/// The namespaces, processes and folders of a run.
#[derive(Debug, Default)]
pub(super) struct WallState {
    // This field is dropped first, so that no process uses the temporary folder when that folder is removed.
    keeper: Option<Keeper>,
    /// The processes that steps left running at level full, suspended between steps. So they do not change the
    /// workspace while it is examined, and each change is attributed to the step during which it was made.
    suspended: Option<Suspended>,
    /// The marks of programs started at level files, by which their processes are found: there is no pid
    /// namespace at that level.
    pub(super) marks: Vec<String>,
    temporary: Option<Scratch>,
    /// A folder in memory, mounted at [`SHARED_MEMORY`] in every view.
    shared_memory: Option<Scratch>,
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, WallState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    pub(super) fn shared(&self) -> Shared {
        self.0.clone()
    }

    /// Cached listings of the workspace's folders.
    pub(super) fn nested(&self) -> MutexGuard<'_, Listings> {
        self.1.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in super::super) fn end(&self) -> Vec<String> {
        self.0.lock().end()
    }
}

impl WallState {
    /// Suspends the processes that steps left running at level full. If some cannot be suspended, all are killed.
    pub(super) fn suspend(&mut self) {
        let Some(keeper) =
            self.keeper.as_ref().filter(|it| self.suspended.is_none() && !it.is_alone())
        else {
            return;
        };
        self.suspended = Suspended::below(keeper.id);
        if self.suspended.is_none() {
            self.keeper = None;
        }
    }

    /// Resumes the suspended processes.
    pub(super) fn resume(&mut self) {
        self.suspended = None;
    }

    /// The temporary folder of the run, which is created on the first call.
    pub(super) fn temporary(&mut self) -> io::Result<PathBuf> {
        Ok(match &self.temporary {
            Some(temporary) => temporary.target(),
            None => self.temporary.insert(private_folder()?).target(),
        })
    }

    /// The folder in memory of the run; `None` when it cannot be created in [`SHARED_MEMORY`].
    pub(super) fn shared_memory(&mut self) -> Option<PathBuf> {
        if self.shared_memory.is_none() {
            let user = rustix::process::geteuid().as_raw();
            let folder = Path::new(SHARED_MEMORY).join(format!("countersign-runs-{user}"));
            self.shared_memory = Scratch::create(&folder).ok();
        }
        self.shared_memory.as_ref().map(Scratch::target)
    }

    /// The keeper of the run's namespaces. It is created, together with the view for `wanted`, for the first program
    /// that needs it, and again if it has exited.
    pub(super) fn keeper(
        &mut self,
        run: &RunWalls,
        wanted: &ViewInputs,
    ) -> io::Result<&mut Keeper> {
        if self.keeper.as_mut().is_some_and(|keeper| !keeper.is_running()) {
            self.keeper = None;
        }
        match self.keeper {
            Some(ref mut keeper) => Ok(keeper),
            None => {
                let program = bubblewrap::path(&run.workspace)?;
                Ok(self.keeper.insert(Keeper::start(&program, wanted.clone())?))
            }
        }
    }

    /// Kills the processes that steps left running, and returns their names, sorted.
    fn end(&mut self) -> Vec<String> {
        let mut names = self.keeper.as_ref().map_or_else(Vec::new, Keeper::processes);
        self.keeper = None;
        for mark in std::mem::take(&mut self.marks) {
            names.extend(tree::kill_marked(&mark));
        }
        names.sort();
        names
    }
}

impl Drop for WallState {
    fn drop(&mut self) {
        self.end();
    }
}
