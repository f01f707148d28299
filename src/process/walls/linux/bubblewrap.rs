//! Finds bubblewrap, builds its command line, and reads its messages.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek as _};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::table::{Access, Table};

/// Maximum size of a message, in bytes.
const WORDS: u64 = 4096;
const PROCESSES: &str = "/proc";

/// The mount at a path.
enum Mount<'a> {
    Kept(Access),
    /// Harmless devices, and pseudo-terminals of the view's own.
    Devices,
    /// The `/proc` of the run's pid namespace.
    Processes,
    /// A bind mount of this folder of the run.
    Folder(&'a Path),
}

/// The options with which bubblewrap makes the view for a table. Each of `folders` is a mount point with the
/// folder of the run that is mounted there.
pub(super) fn view(table: &Table, folders: &[(&Path, &Path)]) -> Vec<OsString> {
    let mut options = Vec::new();
    let mut add = |words: &[&dyn AsRef<std::ffi::OsStr>]| {
        options.extend(words.iter().map(|word| word.as_ref().to_owned()));
    };
    add(&[&"--ro-bind", &"/", &"/"]);
    let mut mounts: Vec<(&Path, Mount<'_>)> =
        table.entries().map(|(path, access)| (path, Mount::Kept(access))).collect();
    mounts.push((Path::new("/dev"), Mount::Devices));
    mounts.push((Path::new(PROCESSES), Mount::Processes));
    mounts.extend(folders.iter().map(|(seen, folder)| (*seen, Mount::Folder(folder))));
    // Parents are mounted first, because a mount covers earlier mounts below it.
    mounts.sort_by_key(|(path, _)| *path);
    for (path, mount) in &mounts {
        match mount {
            Mount::Kept(Access::Write) => add(&[&"--bind", path, path]),
            Mount::Kept(Access::ReadOnly) => add(&[&"--ro-bind", path, path]),
            Mount::Kept(Access::Hidden) if path.is_dir() => {
                add(&[&"--perms", &"0000", &"--tmpfs", path]);
            }
            Mount::Kept(Access::Hidden) => add(&[&"--ro-bind", &"/dev/null", path]),
            Mount::Devices => add(&[&"--dev", path]),
            Mount::Processes => add(&[&"--proc", path]),
            Mount::Folder(folder) => add(&[&"--bind", folder, path]),
        }
    }
    add(&[&"--remount-ro", &PROCESSES]);
    // This comes last, because mount points inside a hidden folder are created in it.
    for (path, mount) in &mounts {
        if matches!(mount, Mount::Kept(Access::Hidden)) && path.is_dir() {
            add(&[&"--remount-ro", path]);
        }
    }
    options
}

/// The options that make bubblewrap write the id of its child to this descriptor.
pub(super) fn tells(there: &OwnedFd) -> [String; 2] {
    ["--info-fd".to_owned(), there.as_raw_fd().to_string()]
}

/// The options that make the child wait until the other end of this pipe is closed.
pub(super) fn waits(for_end: &OwnedFd) -> [String; 2] {
    ["--block-fd".to_owned(), for_end.as_raw_fd().to_string()]
}

/// Reads the id of the child that bubblewrap started.
///
/// # Errors
/// When bubblewrap does not report it.
pub(super) fn child(told: &mut impl Read) -> io::Result<i32> {
    let said: serde_json::Value = serde_json::from_slice(&object(told)?)?;
    let id = said.get("child-pid").and_then(serde_json::Value::as_i64);
    id.and_then(|id| i32::try_from(id).ok())
        .ok_or_else(|| io::Error::other("bubblewrap did not report which process it started"))
}

/// The bytes up to the end of a JSON object without nested objects.
fn object(told: &mut impl Read) -> io::Result<Vec<u8>> {
    let (mut said, mut byte) = (Vec::new(), [0]);
    while said.last() != Some(&b'}') && said.len() < WORDS as usize {
        told.read_exact(&mut byte)?;
        said.extend(byte);
    }
    Ok(said)
}

/// Waits until bubblewrap writes something, for at most 10 s, which suffices on a busy computer.
///
/// # Errors
/// When it writes nothing in time.
pub(super) fn is_quick(there: &impl AsFd) -> io::Result<()> {
    let time = Timespec { tv_sec: 10, tv_nsec: 0 };
    match poll(&mut [PollFd::new(there, PollFlags::IN)], Some(&time)) {
        Ok(count) if count > 0 => Ok(()),
        Ok(_) => Err(io::Error::other("bubblewrap did not end")),
        Err(error) => Err(error.into()),
    }
}

/// The error message that bubblewrap wrote to this file.
pub(super) fn words(mut stderr: File) -> String {
    let mut said = String::new();
    let _ = stderr.rewind();
    let _ = stderr.take(WORDS).read_to_string(&mut said);
    match said.trim() {
        "" => "bubblewrap ended without a message".to_owned(),
        said => said.to_owned(),
    }
}

/// The absolute path of bubblewrap, looked up in the system folders and in `PATH`. A program in the workspace
/// is never used, because a plan could have put it there.
///
/// # Errors
/// When it is not installed, or only in the workspace.
pub(super) fn path(workspace: &Path) -> io::Result<PathBuf> {
    let named = std::env::var_os("PATH").unwrap_or_default();
    let fixed = ["/usr/bin", "/usr/local/bin", "/bin"].map(PathBuf::from);
    let mut found = fixed
        .into_iter()
        .chain(std::env::split_paths(&named))
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join("bwrap"))
        .filter(|path| path.is_file())
        .peekable();
    let why = match found.peek() {
        None => "bubblewrap (bwrap) is not installed".to_owned(),
        Some(path) => format!(
            "bubblewrap is only in the workspace ({}), where a step could replace it",
            path.display()
        ),
    };
    found
        .find(|path| !path.starts_with(workspace))
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, why))
}
