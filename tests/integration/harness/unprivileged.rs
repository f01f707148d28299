//! The same home for somebody without root's powers, and with less disk.
//!
//! Root may read and write everything, whatever its mode says. So root gives the home to the user
//! 65534 and becomes that user with `setpriv`; whoever is an ordinary user stays one. A disk that is full is
//! made by the limit for the size of a file (`prlimit`), which holds for everybody. Both programs are of
//! util-linux; without them the tests fail.

use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use assert_cmd::Command;

use crate::harness::home::{Done, Home, PROGRAM};
use crate::harness::set_mode;

/// The user that owns nothing, by number: no system calls it by the same name.
const NOBODY: u32 = 65534;

/// Begins the program in `$1` as that user. Through an open file, because the folders that lead to the
/// program may be closed to it.
const BECOME_NOBODY: &str = r#"exec 9<"$1" && shift &&
    exec setpriv --reuid=65534 --regid=65534 --clear-groups /proc/self/fd/9 "$@""#;

/// Begins the program in `$2` with files of at most `$1` bytes. Beyond, writing is to fail as on a full
/// disk, not to end the program with a signal.
const LIMIT_FILES: &str =
    r#"trap '' XFSZ && limit=$1 && shift && exec prlimit --fsize="$limit" "$@""#;

/// A home and somebody in it without any powers.
pub struct Unprivileged<'h> {
    home: &'h Home,
    /// What was forbidden, with the mode that it had.
    forbidden: RefCell<Vec<(PathBuf, u32)>>,
}

impl<'h> Unprivileged<'h> {
    /// Everything that is in the home now is theirs.
    pub fn of(home: &'h Home) -> Self {
        if is_root() {
            give(home.path());
        }
        Self { home, forbidden: RefCell::default() }
    }

    /// Sets the mode until the end of the test.
    pub fn forbid(&self, path: &Path, mode: u32) {
        let before = fs::metadata(path).unwrap().permissions().mode();
        self.forbidden.borrow_mut().push((path.to_owned(), before));
        set_mode(&path, mode);
    }

    fn command(&self) -> Command {
        if !is_root() {
            return self.home.command();
        }
        let mut command = self.home.command_of("sh");
        command.args(["-c", BECOME_NOBODY, "sh", PROGRAM]);
        command
    }

    /// Runs the command with these arguments, the evidence folder of the home and `--json`.
    #[must_use]
    pub fn json(&self, arguments: &[&str]) -> Done {
        let mut command = self.command();
        command.args(arguments).arg("--evidence").arg(self.home.evidence()).arg("--json");
        Done::of(&mut command)
    }
}

impl Drop for Unprivileged<'_> {
    fn drop(&mut self) {
        // In the opposite order, so that the folder above opens first where it was closed last.
        for (path, mode) in self.forbidden.borrow().iter().rev() {
            let _ = fs::set_permissions(path, fs::Permissions::from_mode(*mode));
        }
    }
}

/// Runs the command where no file can grow beyond this.
#[must_use]
pub fn with_files_up_to(bytes: u64, home: &Home, arguments: &[&str]) -> Done {
    let mut command = home.command_of("sh");
    command.args(["-c", LIMIT_FILES, "sh", &bytes.to_string(), PROGRAM]);
    command.args(arguments).arg("--evidence").arg(home.evidence()).arg("--json");
    Done::of(&mut command)
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn give(path: &Path) {
    chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| give(&entry.unwrap().path()));
    }
}
