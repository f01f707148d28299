//! Advisory file locks (SPEC §8). A run or loop is active while a process holds its lock; other locks order the setup
//! of a folder and the writes of the search index and of the kept heads. The system releases a lock when the process
//! ends for any reason.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use uuid::Uuid;

use super::error::{LOCK_TIMEOUT, Result};
use super::{EvidenceError, permissions};

const FOLDER: &str = "locks";

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    /// The open file, to which the lock belongs.
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Waits, for at most [`LOCK_TIMEOUT`], until no other process sets up this evidence folder.
    pub(super) fn setup(dir: &Path) -> Result<Self> {
        Self::take(dir, "setup", LOCK_TIMEOUT)
    }

    /// Marks a run or a loop as active. Usually waits only for a reader that is checking the lock.
    pub(super) fn run(dir: &Path, run_id: Uuid) -> Result<Self> {
        Self::take(dir, &run_id.to_string(), LOCK_TIMEOUT)
    }

    /// Waits, for at most `timeout`, until no other process writes the search index of this evidence folder.
    pub(super) fn index(dir: &Path, timeout: Duration) -> Result<Self> {
        Self::take(dir, "index", timeout)
    }

    /// Waits, for at most [`LOCK_TIMEOUT`], until no other process writes heads in this state folder.
    pub(super) fn heads(state: &Path) -> Result<Self> {
        Self::take(state, "heads", LOCK_TIMEOUT)
    }

    fn take(dir: &Path, name: &str, timeout: Duration) -> Result<Self> {
        let path = lock_path(dir, name);
        let folder = |source| EvidenceError::Folder { source, path: path.clone() };
        let open = || {
            permissions::create_private_folder(&dir.join(FOLDER))?;
            permissions::restrict_file(&path)?;
            permissions::open_for_append(&path).map_err(folder)
        };
        let file = open()?;
        let file = match file.try_lock() {
            Ok(()) => file,
            Err(TryLockError::WouldBlock) => {
                wait_for(file, timeout).map_err(folder)?.ok_or(EvidenceError::Locked)?
            }
            Err(TryLockError::Error(source)) => return Err(folder(source)),
        };
        Ok(Self { file, path })
    }

    /// Releases the lock of a run or a loop and removes its file.
    pub(super) fn remove(self) {
        // A file that remains has no effect, because nothing holds its lock.
        let _ = fs::remove_file(&self.path);
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file is not enough: a child process that is being started has a copy of it, which would keep the
        // lock.
        let _ = self.file.unlock();
    }
}

/// Locks the file, or returns `None` after the time limit. The system cannot wait with a time limit, so a thread waits.
/// If the thread gets the lock after the limit, it releases the lock at once.
fn wait_for(file: File, timeout: Duration) -> io::Result<Option<File>> {
    let (sender, locked) = sync_channel(1);
    thread::Builder::new().name("evidence-lock".to_owned()).spawn(move || {
        let _ = sender.send(file.lock().map(|()| file));
    })?;
    match locked.recv_timeout(timeout) {
        Ok(file) => file.map(Some),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(RecvTimeoutError::Disconnected) => Err(io::ErrorKind::BrokenPipe.into()),
    }
}

/// Whether a process holds the lock of this run or loop.
pub(super) fn is_alive(dir: &Path, run_id: Uuid) -> bool {
    let Ok(file) = File::open(lock_path(dir, &run_id.to_string())) else { return false };
    // A shared lock, so that two readers do not block each other.
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Whether a process holds the lock of any run or loop of this folder.
pub(super) fn is_any_alive(dir: &Path) -> bool {
    let Ok(entries) = fs::read_dir(dir.join(FOLDER)) else { return false };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let id = name.to_str().and_then(|name| name.strip_suffix(".lock")?.parse().ok());
        id.is_some_and(|id| is_alive(dir, id))
    })
}

fn lock_path(dir: &Path, name: &str) -> PathBuf {
    dir.join(FOLDER).join(format!("{name}.lock"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_with_a_held_lock_is_alive() {
        let dir = tempfile::tempdir().unwrap();
        let run = Uuid::new_v4();
        assert!(!is_alive(dir.path(), run));
        let lock = Lock::run(dir.path(), run).unwrap();
        assert!(is_alive(dir.path(), run));
        assert!(!is_alive(dir.path(), Uuid::new_v4()));
        // As in a child process between fork and exec.
        let copy = lock.file.try_clone().unwrap();
        drop(lock);
        assert!(!is_alive(dir.path(), run));
        drop(copy);
        Lock::run(dir.path(), run).unwrap().remove();
        assert!(!lock_path(dir.path(), &run.to_string()).exists());
    }

    #[test]
    fn waiting_for_a_held_lock_has_a_limit() {
        let dir = tempfile::tempdir().unwrap();
        let held = Lock::setup(dir.path()).unwrap();
        let late = Lock::take(dir.path(), "setup", Duration::from_millis(20));
        assert!(matches!(late, Err(EvidenceError::Locked)), "{late:?}");
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| Lock::setup(dir.path()));
            drop(held);
            assert!(waiting.join().unwrap().is_ok());
        });
        // The thread whose time limit was exceeded does not keep the lock.
        assert!(Lock::take(dir.path(), "setup", LOCK_TIMEOUT).is_ok());
    }
}
