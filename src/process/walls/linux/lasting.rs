//! The state of the walls that lasts for a run: its namespaces, its private folders, and the cached folder
//! listings of the workspace.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::RunWalls;
use super::bubblewrap;
use super::keeper::Keeper;
use super::nested::Listings;
use super::view::Ingredients;
use crate::process::Scratch;
use crate::process::tree::{self, Halted};

/// The folder of POSIX shared memory.
pub(super) const MEMORY: &str = "/dev/shm";

/// The folder in which the temporary folders of runs are created.
fn temporary_folders() -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    std::env::temp_dir().join(format!("countersign-runs-{user}"))
}

/// A private folder that is removed on drop. Folders of killed processes are removed too.
pub(super) fn private_folder() -> io::Result<Scratch> {
    Scratch::create(&temporary_folders())
}

/// The state of the walls of a run.
#[derive(Debug, Default)]
pub(in super::super) struct State(Shared, Mutex<Listings>);

/// The part of the state that a running program needs.
#[derive(Debug, Default, Clone)]
pub(super) struct Shared(Arc<Mutex<Lasting>>);

#[derive(Debug, Default)]
pub(super) struct Lasting {
    // This field is dropped first, so that no process uses the temporary folder when that is removed.
    keeper: Option<Keeper>,
    /// The processes that steps left running at level full, stopped (SIGSTOP) between steps. So they do not
    /// change the workspace while it is examined, and each change is attributed to the step during which it
    /// was made.
    halted: Option<Halted>,
    /// The marks of programs started at level files, by which their processes are found: there is no pid
    /// namespace at that level.
    pub(super) marks: Vec<String>,
    temporary: Option<Scratch>,
    /// A folder in memory, mounted at [`MEMORY`] in every view.
    memory: Option<Scratch>,
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, Lasting> {
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

impl Lasting {
    /// Stops the processes that steps left running. If some cannot be stopped, all are killed.
    pub(super) fn halt(&mut self) {
        let Some(keeper) =
            self.keeper.as_ref().filter(|it| self.halted.is_none() && !it.is_alone())
        else {
            return;
        };
        self.halted = Halted::below(keeper.id);
        if self.halted.is_none() {
            self.keeper = None;
        }
    }

    /// Continues the stopped processes.
    pub(super) fn go_on(&mut self) {
        self.halted = None;
    }

    /// The temporary folder of the run.
    pub(super) fn temporary(&mut self) -> io::Result<PathBuf> {
        Ok(match &self.temporary {
            Some(temporary) => temporary.target(),
            None => self.temporary.insert(private_folder()?).target(),
        })
    }

    /// A folder in memory; `None` when the system has no [`MEMORY`] folder.
    pub(super) fn memory(&mut self) -> Option<PathBuf> {
        if self.memory.is_none() {
            let user = rustix::process::geteuid().as_raw();
            let folder = Path::new(MEMORY).join(format!("countersign-runs-{user}"));
            self.memory = Scratch::create(&folder).ok();
        }
        self.memory.as_ref().map(Scratch::target)
    }

    /// The keeper of the run's namespaces. It is created for the first program that needs it, together with
    /// the view for that program, and again if it has exited.
    pub(super) fn keeper(
        &mut self,
        run: &RunWalls,
        wanted: &Ingredients,
    ) -> io::Result<&mut Keeper> {
        if self.keeper.as_mut().is_some_and(|keeper| !keeper.stands()) {
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

    fn end(&mut self) -> Vec<String> {
        let mut names = self.keeper.as_ref().map_or_else(Vec::new, Keeper::processes);
        self.keeper = None;
        for mark in std::mem::take(&mut self.marks) {
            names.extend(tree::end_marked(&mark));
        }
        names.sort();
        names
    }
}

impl Drop for Lasting {
    fn drop(&mut self) {
        self.end();
    }
}
