//! The paths that a word names, and which of them are outside the working folder.

use std::sync::LazyLock;

use crate::risk::shell::listed::listed;
use crate::risk::shell::path_kind;
use crate::risk::shell::syntax::unknown;

/// Names of folders in the root directory. A text that starts with a slash may also be a route or a regular expression,
/// so it counts as a path only if one of these names or a short glob pattern follows.
const ROOT_FOLDERS: &str = "bin boot data dev etc home lib lib32 lib64 media mnt nix opt private proc root run sbin snap srv sys tmp \
    usr var Applications Library System Users Volumes workspace workspaces";

/// Folders of installed programs, which are not writable without raised privileges.
const INSTALLED: &str = "/usr /opt /bin /sbin /lib /lib32 /lib64 /nix /snap";

/// Devices that a program may use.
const DEVICES: &str = "/dev/random /dev/urandom /dev/stdin /dev/tty /dev/null /dev/fd";

/// Whether this is the usual name of a folder in the root directory.
pub(super) fn is_root_folder_name(name: &str) -> bool {
    listed(ROOT_FOLDERS, name)
}

/// How a path is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::risk::shell) enum PathUse {
    /// A program may write the path with the rights of the user. Temporary folders and folders of installed programs,
    /// which the user cannot write, do not count.
    MayWrite,
    /// The path is certainly written, or privileges are raised. Temporary folders and harmless devices do not count.
    Written,
    /// A program loads code from the path. Temporary folders count, folders of installed programs do not.
    LoadsCode,
}

/// Whether a normalized path is a hidden file, or in a hidden folder, directly in a world-writable folder.
pub(in crate::risk::shell) fn is_in_hidden_temporary(path: &str) -> bool {
    let folders = ["/tmp/", "/var/tmp/", "/dev/shm/"];
    let Some(rest) = folders.iter().find_map(|folder| path.strip_prefix(folder)) else {
        return false;
    };
    // Usual hidden names: sockets of the window system, and temporary folders of programs.
    let usual = |name: &str| {
        matches!(name, ".X11-unix" | ".ICE-unix")
            || name.starts_with(".X")
            || name.strip_prefix(".tmp").is_some_and(|rest| {
                rest.len() == 6 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
            })
    };
    // Hidden files further down belong to a project there.
    rest.split('/').next().is_some_and(|name| name.starts_with('.') && !usual(name))
}

/// Whether a normalized path is outside the working folder. Folders that are harmless for this use do not count, such
/// as temporary folders.
pub(in crate::risk::shell) fn is_elsewhere(path: &str, used: PathUse) -> bool {
    if !path_kind::is_outside(path) {
        return false;
    }
    let below = |folders: &str| folders.split(' ').any(|folder| path_kind::below(path, folder));
    if below("/tmp /var/tmp /var/folders") && !is_in_hidden_temporary(path) {
        return used == PathUse::LoadsCode;
    }
    if below(DEVICES) || path.starts_with("/dev/tty") {
        return false;
    }
    used == PathUse::Written || !below(INSTALLED)
}

/// The paths in a text: the text itself, parts after separators of names and values, and the value attached to an
/// option.
pub(in crate::risk::shell) fn paths(text: &str) -> Vec<String> {
    static HOME: LazyLock<[(String, &str); 5]> = LazyLock::new(|| {
        [
            ("HOME", "~"),
            ("XDG_CONFIG_HOME", "~/.config"),
            ("XDG_DATA_HOME", "~/.local/share"),
            ("XDG_STATE_HOME", "~/.local/state"),
            ("XDG_CACHE_HOME", "~/.cache"),
        ]
        .map(|(name, path)| (unknown(name), path))
    });
    let mut text = text.to_owned();
    for (mark, path) in HOME.iter() {
        if text.contains(mark.as_str()) {
            text = text.replace(mark.as_str(), path);
        }
    }
    let is_path = |piece: &str| {
        piece.strip_prefix('~').is_some_and(|rest| {
            // A home folder, as opposed to a version or a number.
            let user = rest.split('/').next().unwrap_or_default();
            !user.starts_with(|c: char| c.is_ascii_digit())
                && user.chars().all(|c| c.is_ascii_alphanumeric() || "_-.*".contains(c))
        }) || piece == ".."
            || piece.starts_with("../")
            || piece.contains("/../")
            || piece.ends_with("/..")
            || piece.strip_prefix('/').is_some_and(|rest| {
                let rest = rest.trim_start_matches(['/', '.']);
                let first = rest.split(['/', ' ', '\n', ';', ':', ',']).next().unwrap_or_default();
                // In a text of several words a path needs more than one name.
                (listed(ROOT_FOLDERS, first)
                    && (!piece.contains(' ')
                        || rest.get(first.len()..).is_some_and(|it| it.starts_with('/'))))
                    || first.contains(['*', '?', '[']) && first.len() < 8
            })
    };
    let mut found: Vec<String> = Vec::new();
    if matches!(text.as_str(), "/" | "/." | "/*") {
        found.push("/".to_owned());
    }
    let url = text.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.ends_with("file") && scheme.len() < 12 && !scheme.contains(['=', ' '])
    });
    if url {
        return found;
    }
    let text = text.replace("file://", "=");
    // A text with blanks that starts like a path is taken as one path. Of any other, only the first word counts.
    let head = if text.starts_with(['/', '~']) || !text.contains([' ', '\n']) {
        text.as_str()
    } else {
        text.split([' ', '\n']).next().unwrap_or_default()
    };
    for piece in head.split(['=', ':', ',', '@', '<', '>', '(', '\'', '"', '#']) {
        if is_path(piece) {
            found.push(piece.to_owned());
        }
    }
    if let Some(letters) = head.strip_prefix('-').filter(|rest| !rest.starts_with('-')) {
        let index = ["/", "~/", "../"].iter().filter_map(|begin| letters.find(begin)).min();
        if let Some(piece) = index.filter(|index| *index > 0).and_then(|index| letters.get(index..))
            && is_path(piece)
        {
            found.push(piece.to_owned());
        }
    }
    found
}

/// The local path of a container mount; `None` if the mount is read-only or the text is no mount.
pub(super) fn writable_mount(text: &str) -> Option<&str> {
    let text = text.trim_start_matches("--volume=").trim_start_matches("-v");
    if let Some(source) = text.split(',').find_map(|part| {
        part.strip_prefix("source=")
            .or_else(|| part.strip_prefix("src="))
            .or_else(|| part.strip_prefix("dest="))
    }) {
        return (!text.contains("readonly") && !text.contains(",ro")).then_some(source);
    }
    let (source, target) = text.split_once(':')?;
    let read_only =
        target.rsplit(':').next().is_some_and(|mode| mode.split(',').any(|it| it == "ro"));
    (!read_only).then_some(source)
}

/// For a call of `tar`: whether it creates an archive, and the indices of the words with the archive, its snapshot file
/// (if attached to `-g`) and, when creating, the values of other long options, which may be written. The other paths
/// are read when creating, and may be written when extracting. `None` for other programs.
pub(super) fn tar_archive(
    program: &str,
    arguments: &[(String, bool)],
) -> Option<(bool, Vec<usize>)> {
    if !matches!(program, "tar" | "bsdtar" | "gtar") {
        return None;
    }
    let (mut creates, mut named, mut written) = (false, Vec::new(), Vec::new());
    for (index, (text, _)) in arguments.iter().enumerate() {
        let letters = text.strip_prefix('-').or((index == 0).then_some(text.as_str()));
        let Some(letters) = letters else { continue };
        if let Some(long) = letters.strip_prefix('-') {
            creates |= matches!(long, "create" | "append" | "update" | "concatenate" | "catenate");
            match long.strip_prefix("file") {
                Some("") => named.push(index + 1),
                Some(value) if value.starts_with('=') => named.push(index),
                // Further files that are written while an archive is created.
                _ if long.contains('=') && !long.starts_with("exclude") => written.push(index),
                _ => {}
            }
            continue;
        }
        let known = letters.split(['/', '~', '=']).next().unwrap_or_default();
        let value = known.find(['f', 'C', 'g', 'X', 'T', 'I', 'H', 'b']);
        let bundle = known.get(..value.map_or(known.len(), |index| index + 1)).unwrap_or_default();
        creates |= bundle.contains(['c', 'r', 'u', 'A']);
        match bundle.chars().next_back() {
            Some('f') if index == 0 && !text.starts_with('-') => named.push(1),
            Some('f') if bundle.len() == letters.len() => named.push(index + 1),
            Some('f' | 'g') => named.push(index),
            _ => {}
        }
    }
    if creates {
        named.append(&mut written);
    }
    Some((creates, named))
}
