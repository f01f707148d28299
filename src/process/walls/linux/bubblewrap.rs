//! Finds bubblewrap, builds its options, and reads its messages.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek as _};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::system;
use super::table::{Access, Table};

/// Maximum size of a message that is read, in bytes.
const MESSAGE_BYTES: u64 = 4096;
/// How long to wait for output of bubblewrap; suffices on a busy computer.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(10);
const PROC: &str = "/proc";

/// The mount at a path.
enum Mount<'a> {
    /// The path itself, with this access.
    Same(Access),
    /// Harmless devices, and pseudo-terminals of the view's own.
    Devices,
    /// The `/proc` of the run's pid namespace.
    Processes,
    /// A bind mount of this folder of the run.
    Folder(&'a Path),
}

/// The options with which bubblewrap makes the view for a table. `folders` has more mount points, each with the folder
/// of the run that is mounted there.
pub(super) fn view(table: &Table, folders: &[(&Path, &Path)]) -> Vec<OsString> {
    let mut options = Vec::new();
    let mut add = |arguments: &[&dyn AsRef<std::ffi::OsStr>]| {
        options.extend(arguments.iter().map(|argument| argument.as_ref().to_owned()));
    };
    add(&[&"--ro-bind", &"/", &"/"]);
    let mut mounts: Vec<(&Path, Mount<'_>)> =
        table.entries().map(|(path, access)| (path, Mount::Same(access))).collect();
    mounts.push((Path::new("/dev"), Mount::Devices));
    mounts.push((Path::new(PROC), Mount::Processes));
    mounts.extend(folders.iter().map(|(path, folder)| (*path, Mount::Folder(folder))));
    // Parents are mounted first, because a mount covers earlier mounts below it.
    mounts.sort_by_key(|(path, _)| *path);
    for (path, mount) in &mounts {
        match mount {
            Mount::Same(Access::Write) => add(&[&"--bind", path, path]),
            Mount::Same(Access::ReadOnly) => add(&[&"--ro-bind", path, path]),
            Mount::Same(Access::Hidden) if path.is_dir() => {
                add(&[&"--perms", &"0000", &"--tmpfs", path]);
            }
            Mount::Same(Access::Hidden) => add(&[&"--ro-bind", &"/dev/null", path]),
            Mount::Devices => add(&[&"--dev", path]),
            Mount::Processes => add(&[&"--proc", path]),
            Mount::Folder(folder) => add(&[&"--bind", folder, path]),
        }
    }
    add(&[&"--remount-ro", &PROC]);
    // Hidden folders become read-only last, because mount points are created in them.
    for (path, mount) in &mounts {
        if matches!(mount, Mount::Same(Access::Hidden)) && path.is_dir() {
            add(&[&"--remount-ro", path]);
        }
    }
    options
}

/// The option of bubblewrap to write the id of its child to a descriptor.
pub(super) const INFORMATION: &str = "--info-fd";
/// The option of bubblewrap that makes its child wait until the other end of a pipe is closed.
pub(super) const BLOCK: &str = "--block-fd";

/// Reads the id of the child that bubblewrap started.
///
/// # Errors
/// When bubblewrap does not report it.
pub(super) fn child_id(information: &mut impl Read) -> io::Result<i32> {
    let object: serde_json::Value = serde_json::from_slice(&read_object(information)?)?;
    let id = object.get("child-pid").and_then(serde_json::Value::as_i64);
    id.and_then(|id| i32::try_from(id).ok())
        .ok_or_else(|| io::Error::other("bubblewrap did not report which process it started"))
}

/// Reads up to the end of a JSON object without nested objects, and no further, because the pipe may stay open.
fn read_object(information: &mut impl Read) -> io::Result<Vec<u8>> {
    let (mut bytes, mut byte) = (Vec::new(), [0]);
    while bytes.last() != Some(&b'}') && bytes.len() < MESSAGE_BYTES as usize {
        information.read_exact(&mut byte)?;
        bytes.extend(byte);
    }
    Ok(bytes)
}

/// Waits until bubblewrap writes to this pipe or closes it, for at most [`OUTPUT_TIMEOUT`].
///
/// # Errors
/// When bubblewrap does neither in time.
pub(super) fn wait_for_output(pipe: &impl AsFd) -> io::Result<()> {
    match system::is_readable_within(pipe, OUTPUT_TIMEOUT)? {
        true => Ok(()),
        false => Err(io::Error::other("bubblewrap did not end")),
    }
}

/// The error message that bubblewrap wrote to this file.
pub(super) fn error_text(mut stderr: File) -> String {
    let mut text = String::new();
    let _ = stderr.rewind();
    let _ = stderr.take(MESSAGE_BYTES).read_to_string(&mut text);
    match text.trim() {
        "" => "bubblewrap ended without a message".to_owned(),
        text => text.to_owned(),
    }
}

/// The absolute path of bubblewrap, looked up in the system folders and then in `PATH`. A program in the workspace is
/// never used, because a plan could have put it there.
///
/// # Errors
/// When it is not installed, or only in the workspace.
pub(super) fn path(workspace: &Path) -> io::Result<PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let fixed = ["/usr/bin", "/usr/local/bin", "/bin"].map(PathBuf::from);
    let mut candidates = fixed
        .into_iter()
        .chain(std::env::split_paths(&paths))
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join("bwrap"))
        .filter(|path| path.is_file())
        .peekable();
    let why = match candidates.peek() {
        None => "bubblewrap (bwrap) is not installed".to_owned(),
        Some(path) => format!(
            "bubblewrap is only in the workspace ({}), where a step could replace it",
            path.display()
        ),
    };
    candidates
        .find(|path| !path.starts_with(workspace))
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, why))
}
