//! Who is alive (SPEC §8): each run holds an advisory lock on a file of its own, which the system
//! releases when its process ends, however it ends.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use uuid::Uuid;

const FOLDER: &str = "locks";

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    /// Held open, because closing it releases the lock.
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Waits until no other process sets up this evidence folder.
    pub(super) fn setup(dir: &Path) -> io::Result<Self> {
        Self::take(dir, "setup")
    }

    /// Marks a run as alive. Waits only for readers that look at the lock at this moment.
    pub(super) fn run(dir: &Path, run_id: Uuid) -> io::Result<Self> {
        Self::take(dir, &run_id.to_string())
    }

    fn take(dir: &Path, name: &str) -> io::Result<Self> {
        fs::create_dir_all(dir.join(FOLDER))?;
        let path = lock_path(dir, name);
        let file = OpenOptions::new().create(true).append(true).open(&path)?;
        file.lock()?;
        Ok(Self { file, path })
    }

    /// Releases the lock and removes its file: an ended run needs neither.
    pub(super) fn end(self) {
        // The row of the run's end is what counts; a file that stays behind is only untidy.
        let _ = fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}

/// Whether a living process holds the lock of this run.
pub(super) fn is_alive(dir: &Path, run_id: Uuid) -> bool {
    let Ok(file) = File::open(lock_path(dir, &run_id.to_string())) else { return false };
    // Shared, so that two readers do not take each other for the run.
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

fn lock_path(dir: &Path, name: &str) -> PathBuf {
    dir.join(FOLDER).join(format!("{name}.lock"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_alive_while_its_lock_is_held() {
        let dir = tempfile::tempdir().unwrap();
        let run = Uuid::new_v4();
        assert!(!is_alive(dir.path(), run));
        let lock = Lock::run(dir.path(), run).unwrap();
        assert!(is_alive(dir.path(), run));
        assert!(!is_alive(dir.path(), Uuid::new_v4()));
        // A process that dies closes the file and says nothing.
        drop(lock);
        assert!(!is_alive(dir.path(), run));
        Lock::run(dir.path(), run).unwrap().end();
        assert!(!lock_path(dir.path(), &run.to_string()).exists());
    }
}
