//! The command line of bubblewrap: what a walled program sees of the file system.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::TEMPORARY;
use super::table::{Access, Table};

/// What stands at a path.
enum Mount {
    Kept(Access),
    /// The devices that the namespaces of the run have.
    Devices,
    /// The temporary folder of the run.
    Temporary(PathBuf),
}

/// The options up to the program, for a step in `folder`.
pub(super) fn options(
    table: &Table,
    temporary: Option<&Path>,
    folder: &Path,
    is_in_user_namespace: bool,
) -> Vec<OsString> {
    let mut options = Vec::new();
    let mut add = |words: &[&dyn AsRef<std::ffi::OsStr>]| {
        options.extend(words.iter().map(|word| word.as_ref().to_owned()));
    };
    let user = rustix::process::getuid();
    if is_in_user_namespace {
        let group = rustix::process::getgid().as_raw().to_string();
        add(&[&"--unshare-user", &"--uid", &user.as_raw().to_string(), &"--gid", &group]);
    }
    add(&[&"--die-with-parent", &"--cap-drop", &"ALL"]);
    if user.is_root() {
        add(&[&"--cap-add", &"CAP_DAC_OVERRIDE", &"--cap-add", &"CAP_FOWNER"]);
    }
    add(&[&"--ro-bind", &"/", &"/"]);
    let mut mounts: Vec<(&Path, Mount)> =
        table.entries().map(|(path, access)| (path, Mount::Kept(access))).collect();
    mounts.push((Path::new("/dev"), Mount::Devices));
    if let Some(temporary) = temporary {
        mounts.push((Path::new(TEMPORARY), Mount::Temporary(temporary.to_owned())));
    }
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
            Mount::Devices => add(&[&"--dev-bind", path, path]),
            Mount::Temporary(temporary) => add(&[&"--bind", temporary, path]),
        }
    }
    // Last, because the folders of what stands in a hidden one are made in it.
    for (path, mount) in &mounts {
        if matches!(mount, Mount::Kept(Access::Hidden)) && path.is_dir() {
            add(&[&"--remount-ro", path]);
        }
    }
    add(&[&"--chdir", &folder]);
    options
}
