//! Classifies paths by their text alone.

use super::super::sensitive;
use super::listed::listed;
use super::syntax::{UNKNOWN, unknown};

/// System folders.
const SYSTEM: &str = "/etc /usr /bin /sbin /lib /lib32 /lib64 /boot /var /root /sys /proc /dev /run /System /Library \
    /Applications /opt";

/// Folders with the files of users. Deleting one of them as a whole is never reasonable.
const USER_FOLDERS: [&str; 3] = ["/home", "/Users", "/srv"];

/// Files of `/dev` that are harmless to write.
const HARMLESS: [&str; 7] =
    ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero", "/dev/full", "/dev/fd"];

/// How far a word of a command reaches if it names a file or a host, as far as its text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// A file that swallows what is written to it, such as `/dev/null`.
    Nothing,
    /// Something below the working folder, or no file at all.
    Inside,
    /// The working folder as a whole, or a pattern in it.
    Folder,
    /// Another place: an absolute path, the home folder, another host or an address.
    Elsewhere,
    /// The root, a whole system folder, everything above the working folder, or what only the shell knows.
    Anything,
}

impl Reach {
    /// The reach of a word as it is written in a command.
    pub fn of(word: &str) -> Self {
        let path = normalize(word, "");
        let is_above = !path.is_empty() && path.split('/').all(|part| part == "..");
        let is_expanded = word.contains(['$', '`', '{', '\\']);
        if is_expanded || is_above || is_root(&path) {
            Self::Anything
        } else if HARMLESS.iter().any(|file| below(&path, file)) {
            Self::Nothing
        } else if is_outside(&path)
            || word.contains('@')
            || word.trim_end_matches(':').contains(':')
        {
            Self::Elsewhere
        } else if path.is_empty() || path.contains(['*', '?', '[']) {
            Self::Folder
        } else {
            Self::Inside
        }
    }
}

/// Normalizes a path: replaces `HOME` and `PWD`, prepends `folder` to a relative path, and resolves `.` and `..`.
pub(super) fn normalize(text: &str, folder: &str) -> String {
    let home = unknown("HOME");
    let here = unknown("PWD");
    let text = text.replace(&home, "~").replace(&here, ".");
    let joined = if text.starts_with(['/', '~', UNKNOWN]) || folder.is_empty() {
        text
    } else {
        format!("{folder}/{text}")
    };
    let rooted = joined.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.last().is_some_and(|last| *last != ".." && !last.starts_with('~')) {
                    parts.pop();
                } else if !rooted {
                    parts.push("..");
                }
            }
            other => parts.push(other),
        }
    }
    format!("{}{}", if rooted { "/" } else { "" }, parts.join("/"))
}

/// Whether a path is a folder or below it.
pub(super) fn below(path: &str, folder: &str) -> bool {
    path == folder || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Whether a path is the root, the home folder, a system folder or a folder of users as a whole, also with a trailing
/// `/*`.
pub(super) fn is_root(path: &str) -> bool {
    let path =
        path.strip_suffix("/*").map_or(path, |head| if head.is_empty() { "/" } else { head });
    let path = if path == "*" { "" } else { path };
    path == "/"
        || path == "~"
        || path == "/*"
        || listed(SYSTEM, path)
        || USER_FOLDERS.contains(&path)
        || is_home(path)
}

/// Whether a path is the whole home folder of a user, by the place of such folders or by the user's name.
fn is_home(path: &str) -> bool {
    let of_user = ["/home/", "/Users/", "~"].iter().find_map(|place| path.strip_prefix(place));
    of_user.is_some_and(|user| !user.is_empty() && !user.contains('/'))
}

/// Whether a path is a system folder or below one, where only packages should write.
pub(super) fn is_system(path: &str) -> bool {
    path == "/"
        || (SYSTEM.split(' ').any(|folder| below(path, folder))
            && !below(path, "/var/tmp")
            && !below(path, "/dev/shm")
            && !HARMLESS.iter().any(|file| below(path, file)))
}

/// Whether a path is not below the working folder. Harmless files of `/dev` do not count.
pub(super) fn is_outside(path: &str) -> bool {
    (path.starts_with('/') || path.starts_with('~') || below(path, ".."))
        && !HARMLESS.iter().any(|file| below(path, file))
}

/// Whether a path is a plain file in a temporary folder. Its content is not kept, and behind walls these folders are
/// private. Hidden files and files in the folders for sockets of other programs do not count.
fn is_temporary_file(path: &str) -> bool {
    let rest = path.strip_prefix("/tmp/").map(|rest| (rest, 3));
    let rest = rest.or_else(|| path.strip_prefix("/var/tmp/").map(|rest| (rest, 1)));
    rest.is_some_and(|(rest, max_names)| {
        let plain = |part: &str| {
            part.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
                && part.chars().all(|c| c.is_ascii_alphanumeric() || "._+@%,=-".contains(c))
        };
        let others = ["ssh-", "systemd-", "tmux-", "snap", "dbus-", "gpg-", "krb5", "vscode-"];
        rest.split('/').count() <= max_names
            && rest.split('/').all(plain)
            && !others.iter().any(|begin| rest.starts_with(begin))
    })
}

/// Whether a path is neither below the working folder nor a plain temporary file.
pub(super) fn is_beyond(path: &str) -> bool {
    is_outside(path) && !is_temporary_file(path)
}

/// Whether a text, as in `container:path`, names a system file inside a container. Files that web servers publish do
/// not count.
pub(super) fn is_inside_system(text: &str) -> bool {
    let Some((name, path)) = text.split_once(':') else { return false };
    let shown = ["/usr/share/nginx", "/usr/src", "/var/www", "/usr/local/apache2/htdocs"];
    let named = |c: char| c.is_ascii_alphanumeric() || "_.-/".contains(c);
    let path = normalize(path, "");
    !name.is_empty()
        && !name.starts_with(['.', '/', '~'])
        && name.chars().all(named)
        && (is_system(&path) || is_sensitive(&path))
        && !below(&path, "/opt")
        && !below(&path, "/var/tmp")
        && !shown.iter().any(|folder| below(&path, folder))
}

/// Whether a file configures other programs or contains keys.
pub(super) fn is_sensitive(path: &str) -> bool {
    let history = unknown("HISTFILE");
    path.contains(&history) || sensitive::find_sensitive(path).is_some()
}

/// Whether a file contains keys or passwords, or is the memory or the environment of a process. Public keys do not
/// count.
pub(super) fn is_secret(path: &str) -> bool {
    let whole = format!("/{path}/");
    let memory = whole.contains("/proc/")
        && ["/environ/", "/mem/", "/maps/"].iter().any(|part| whole.ends_with(part));
    memory || sensitive::is_secret_file(path)
}

/// As [`is_project_file`], for a path that is not normalized.
pub(super) fn is_in_project(text: &str) -> bool {
    is_project_file(&normalize(text, ""))
}

/// Whether a path is a file or a whole folder with keys or passwords.
pub(super) fn holds_keys(path: &str) -> bool {
    is_secret(path) || is_keys(path)
}

/// Whether a path is a file or folder with keys or passwords, or a file that configures other programs.
pub(super) fn is_private(path: &str) -> bool {
    holds_keys(path) || is_sensitive(path)
}

/// Whether a path is a whole folder of keys, also with a trailing `/*`.
pub(super) fn is_keys(path: &str) -> bool {
    let path = path.strip_suffix("/*").unwrap_or(path);
    ["/.ssh", "/.gnupg", "/.aws", "/.password-store"].iter().any(|folder| path.ends_with(folder))
}

/// Whether a normalized path is known, is in the project, and neither configures other programs nor contains keys.
pub(super) fn is_project_file(path: &str) -> bool {
    !is_outside(path)
        && !is_sensitive(path)
        && !is_secret(path)
        && !path.contains(['*', '|', '<', '>', ':', '\\', UNKNOWN])
}

/// Whether a path is a whole disk, as opposed to a partition.
pub(super) fn is_disk(path: &str) -> bool {
    let Some(name) = path.strip_prefix("/dev/") else { return false };
    let letters = |prefix: &str| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_lowercase()))
    };
    let numbered = |prefix: &str| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    let nvme = name.strip_prefix("nvme").and_then(|rest| rest.split_once('n')).is_some_and(
        |(controller, namespace)| {
            !namespace.is_empty()
                && controller.bytes().chain(namespace.bytes()).all(|b| b.is_ascii_digit())
        },
    );
    ["sd", "vd", "hd", "xvd"].iter().any(|prefix| letters(prefix))
        || ["mmcblk", "disk", "rdisk"].iter().any(|prefix| numbered(prefix))
        || nvme
}

/// Whether a text is `host:path`, `user@host:path`, or a URL.
pub(super) fn is_remote(text: &str) -> bool {
    text.split_once(':')
        .is_some_and(|(host, _)| !host.is_empty() && !host.contains('/') && !host.starts_with('.'))
        || text.contains("://")
}
