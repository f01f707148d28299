//! Runs the program without root's powers, and with limited disk space.
//!
//! File modes do not restrict root. If the tests run as root, the home is therefore given to the user 65534,
//! and the program runs as that user by `setpriv`. A full disk is simulated by the limit on file size
//! (`prlimit`), which applies to root too. Both programs belong to util-linux; without them the tests fail.

use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use assert_cmd::Command;

use crate::harness::home::{Done, Home, PROGRAM};
use crate::harness::set_mode;

/// The unprivileged user, by number because its name differs between systems.
const NOBODY: u32 = 65534;

/// Executes the program `$1` as the user 65534, through an open descriptor, because that user may not have
/// access to the folder of the program.
const BECOME_NOBODY: &str = r#"exec 9<"$1" && shift &&
    exec setpriv --reuid=65534 --regid=65534 --clear-groups /proc/self/fd/9 "$@""#;

/// Executes the program `$2` with files limited to `$1` bytes. Writing more fails as on a full disk, instead
/// of ending the program by a signal.
const LIMIT_FILES: &str =
    r#"trap '' XFSZ && limit=$1 && shift && exec prlimit --fsize="$limit" "$@""#;

/// A home in which the program runs without root's powers.
pub struct Unprivileged<'h> {
    home: &'h Home,
    /// Paths with changed modes, and their modes before.
    forbidden: RefCell<Vec<(PathBuf, u32)>>,
}

impl<'h> Unprivileged<'h> {
    /// Gives everything in the home to the unprivileged user.
    pub fn of(home: &'h Home) -> Self {
        if is_root() {
            give(home.path());
        }
        Self { home, forbidden: RefCell::default() }
    }

    /// Sets a mode until the end of the test.
    pub fn forbid(&self, path: &Path, mode: u32) {
        let before = fs::metadata(path).unwrap().permissions().mode();
        self.forbidden.borrow_mut().push((path.to_owned(), before));
        set_mode(path, mode);
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
        // Modes are restored in reverse order, so that a parent folder that was changed last is accessible
        // first.
        for (path, mode) in self.forbidden.borrow().iter().rev() {
            let _ = fs::set_permissions(path, fs::Permissions::from_mode(*mode));
        }
    }
}

/// Runs the program with files limited to this size.
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
