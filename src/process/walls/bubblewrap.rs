//! bubblewrap: where it is, its command line, and what it says.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek as _};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::table::{Access, Table};

/// Most bytes of what it says.
const WORDS: u64 = 4096;
const PROCESSES: &str = "/proc";

/// What stands at a path.
enum Mount<'a> {
    Kept(Access),
    /// Devices that do no harm, and terminals of the view's own.
    Devices,
    /// The processes of the run.
    Processes,
    /// A folder of the run.
    Folder(&'a Path),
}

/// The options that make the view of a table. The folders of the run stand where the first path of each says.
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
    // Parents first: what is said of a path covers what was said of what is in it.
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
    // Last, because the folders of what stands in a hidden one are made in it.
    for (path, mount) in &mounts {
        if matches!(mount, Mount::Kept(Access::Hidden)) && path.is_dir() {
            add(&[&"--remount-ro", path]);
        }
    }
    options
}

/// The options by which it tells there which process it started.
pub(super) fn tells(there: &OwnedFd) -> [String; 2] {
    ["--info-fd".to_owned(), there.as_raw_fd().to_string()]
}

/// The options by which it waits with the program until the other end of this pipe is closed.
pub(super) fn waits(for_end: &OwnedFd) -> [String; 2] {
    ["--block-fd".to_owned(), for_end.as_raw_fd().to_string()]
}

/// The number of the process that it started.
///
/// # Errors
/// When it does not say it.
pub(super) fn child(told: &mut impl Read) -> io::Result<i32> {
    let said: serde_json::Value = serde_json::from_slice(&object(told)?)?;
    let id = said.get("child-pid").and_then(serde_json::Value::as_i64);
    id.and_then(|id| i32::try_from(id).ok())
        .ok_or_else(|| io::Error::other("bubblewrap does not say which process it started"))
}

/// The bytes up to the end of an object in which there is no other one.
fn object(told: &mut impl Read) -> io::Result<Vec<u8>> {
    let (mut said, mut byte) = (Vec::new(), [0]);
    while said.last() != Some(&b'}') && said.len() < WORDS as usize {
        told.read_exact(&mut byte)?;
        said.extend(byte);
    }
    Ok(said)
}

/// Waits until it says something, for as long as a busy computer may need to make namespaces.
///
/// # Errors
/// When it does not.
pub(super) fn is_quick(there: &impl AsFd) -> io::Result<()> {
    let time = Timespec { tv_sec: 10, tv_nsec: 0 };
    match poll(&mut [PollFd::new(there, PollFlags::IN)], Some(&time)) {
        Ok(count) if count > 0 => Ok(()),
        Ok(_) => Err(io::Error::other("bubblewrap does not come to an end")),
        Err(error) => Err(error.into()),
    }
}

/// What it said about what it cannot do.
pub(super) fn words(mut stderr: File) -> String {
    let mut said = String::new();
    let _ = stderr.rewind();
    let _ = stderr.take(WORDS).read_to_string(&mut said);
    match said.trim() {
        "" => "bubblewrap ended without a word".to_owned(),
        said => said.to_owned(),
    }
}

/// Its whole path: from the folders of the system and those of `PATH`, but nowhere in the workspace, where a plan
/// could have put it.
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
