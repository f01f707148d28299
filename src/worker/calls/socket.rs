//! The place of the socket, and who is at its other end.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// The name of the socket in its folder.
const NAME: &str = "calls";
/// The longest path of a socket, in bytes: the system's limit of 108 with its last zero.
const MAX_PATH: usize = 107;

/// The path of the window's socket: in `folder`, or if that path is too long for a socket, in a folder of the user's runtime
/// folder.
///
/// # Errors
/// Both are too long, or the system has no runtime folder.
pub fn socket_path(folder: &Path) -> io::Result<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR");
    choose(folder, runtime.as_deref())
}

fn choose(folder: &Path, runtime: Option<&OsStr>) -> io::Result<PathBuf> {
    let fits = |path: &PathBuf| path.as_os_str().as_bytes().len() <= MAX_PATH;
    let runtime = runtime.map(Path::new).filter(|folder| folder.is_absolute());
    let other = runtime.map(|folder| folder.join("countersign").join(NAME));
    Some(folder.join(NAME)).filter(fits).or(other.filter(fits)).ok_or_else(|| {
        let path = folder.join(NAME);
        io::Error::other(format!(
            "{} is too long for a socket, and XDG_RUNTIME_DIR names no shorter place",
            path.display()
        ))
    })
}

/// Whether the other end of a connection is a process of this user.
#[cfg(target_os = "linux")]
pub(super) fn is_this_user(stream: &UnixStream) -> io::Result<bool> {
    let peer = rustix::net::sockopt::socket_peercred(stream)?;
    Ok(peer.uid == rustix::process::geteuid())
}

/// The folder of the socket can be entered only by this user.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_this_user(_: &UnixStream) -> io::Result<bool> {
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_path_falls_back_to_the_runtime_folder() {
        let short = Path::new("/home/ada/.local/share/countersign/window");
        assert_eq!(choose(short, None).unwrap(), short.join("calls"));
        let long = PathBuf::from(format!("/{}", "x".repeat(MAX_PATH)));
        let runtime = OsStr::new("/run/user/7");
        let fallback = Path::new("/run/user/7/countersign/calls");
        assert_eq!(choose(&long, Some(runtime)).unwrap(), fallback);
        for useless in [None, Some(OsStr::new("relative")), Some(long.as_os_str())] {
            assert!(choose(&long, useless).unwrap_err().to_string().contains("too long"));
        }
        let exact = PathBuf::from(format!("/{}", "x".repeat(MAX_PATH - 1 - "/calls".len())));
        assert_eq!(choose(&exact, None).unwrap().as_os_str().len(), MAX_PATH);
    }
}
