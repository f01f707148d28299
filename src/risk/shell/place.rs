//! Where a path leads, from its text alone.

use super::syntax::{END, UNKNOWN};

/// Folders that belong to the system.
const SYSTEM: [&str; 18] = [
    "/etc",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/boot",
    "/var",
    "/root",
    "/sys",
    "/proc",
    "/dev",
    "/run",
    "/System",
    "/Library",
    "/Applications",
    "/opt",
];

/// Folders that hold what people made; deleting one as a whole has no reasonable use either.
const PEOPLE: [&str; 3] = ["/home", "/Users", "/srv"];

/// Parts of paths of files that keep keys or passwords; what only shows the public half is not here.
const SECRET: [&str; 29] = [
    "/etc/shadow/",
    "/etc/gshadow/",
    "/etc/master.passwd/",
    "/etc/security/opasswd/",
    "/etc/ssl/private/",
    "/etc/krb5.keytab/",
    "/.aws/credentials/",
    "/.netrc/",
    "/.pgpass/",
    "/.my.cnf/",
    "/.git-credentials/",
    "/.docker/config.json/",
    "/.kube/config/",
    "/.gnupg/private-keys",
    "/.gnupg/secring",
    "/.vault-token/",
    "/.config/gh/hosts.yml/",
    "/.config/gcloud/",
    "/.azure/accessTokens",
    "/.azure/msal_token",
    "/.password-store/",
    "/.local/share/keyrings/",
    "/Keychains/",
    "/logins.json/",
    "/key4.db/",
    "/Login Data/",
    "/wallet.dat/",
    "/.pypirc/",
    "/var/run/secrets/",
];

/// Parts of paths of files that other programs obey or that are secret.
const SENSITIVE: [&str; 50] = [
    "/.vimrc",
    "/.config/git/",
    "/.config/nvim/",
    "/.tmux.conf",
    "/.screenrc",
    "/.emacs",
    "/.psqlrc",
    "/.irbrc",
    "/.cshrc",
    "/.config/pip/",
    "/~/bin/",
    "/.local/bin/",
    "/.ssh/",
    "/.gnupg/",
    "/.aws/",
    "/.kube/",
    "/.bashrc",
    "/.bash_profile",
    "/.bash_login",
    "/.bash_logout",
    "/.profile",
    "/.zshrc",
    "/.zprofile",
    "/.zshenv",
    "/.config/systemd/",
    "/.config/autostart/",
    "/.config/fish/",
    "/LaunchAgents/",
    "/LaunchDaemons/",
    "/.git/",
    "/.cargo/",
    "/.github/workflows/",
    "/.envrc",
    "/.npmrc",
    "/.pypirc",
    "/.gitconfig",
    "/.netrc",
    "/_history",
    "/.vscode/",
    "/.bash_aliases",
    "/.zlogin",
    "/.inputrc",
    "/.xinitrc",
    "/.xprofile",
    "/.xsession",
    "/.pam_environment",
    "/.config/environment.d/",
    "/.pgpass",
    "/.my.cnf",
    "/.docker/config.json",
];

/// Files of `/dev` that lose nothing.
const HARMLESS: [&str; 7] =
    ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero", "/dev/full", "/dev/fd"];

/// A path made simple: variables of places replaced, `.` and `..` resolved, below `folder`.
pub(super) fn settle(text: &str, folder: &str) -> String {
    let home = format!("{UNKNOWN}HOME{END}");
    let here = format!("{UNKNOWN}PWD{END}");
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

fn below(path: &str, folder: &str) -> bool {
    path == folder || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// The root, a home or a folder of the system as a whole, also through a trailing pattern.
pub(super) fn is_root(path: &str) -> bool {
    let path =
        path.strip_suffix("/*").map_or(path, |head| if head.is_empty() { "/" } else { head });
    let path = if path == "*" { "" } else { path };
    path == "/" || path == "~" || path == "/*" || SYSTEM.contains(&path) || PEOPLE.contains(&path)
}

/// Below a folder of the system, where only its packages should write.
pub(super) fn is_system(path: &str) -> bool {
    path == "/"
        || (SYSTEM.iter().any(|folder| below(path, folder))
            && !below(path, "/var/tmp")
            && !below(path, "/dev/shm")
            && !HARMLESS.iter().any(|file| below(path, file)))
}

/// Anywhere but below the working directory.
pub(super) fn is_outside(path: &str) -> bool {
    (path.starts_with('/') || path.starts_with('~') || below(path, ".."))
        && !HARMLESS.iter().any(|file| below(path, file))
}

/// A file that other programs obey, or that keeps keys.
pub(super) fn is_sensitive(path: &str) -> bool {
    let path = format!("/{path}/");
    let history = format!("{UNKNOWN}HISTFILE{END}");
    if path.contains(&history) {
        return true;
    }
    SENSITIVE.iter().any(|part| match part.strip_suffix('/') {
        Some(_) => path.contains(part),
        None => path.contains(&format!("{part}/")),
    }) || path.contains("_history/")
}

/// A file that keeps keys or passwords.
pub(super) fn is_secret(path: &str) -> bool {
    let path = format!("/{path}/");
    let key = path.split_once("/.ssh/").is_some_and(|(_, name)| {
        name.starts_with("id_") && !name.trim_end_matches('/').ends_with(".pub")
    });
    let memory = path.contains("/proc/")
        && ["/environ/", "/mem/", "/maps/"].iter().any(|part| path.ends_with(part));
    let host = path.contains("/etc/ssh/ssh_host_") && !path.contains(".pub");
    key || memory
        || host
        || SECRET.iter().any(|part| path.contains(part))
        || path.ends_with(".kdbx/")
}

/// A folder of keys as a whole, also through a trailing pattern.
pub(super) fn is_keys(path: &str) -> bool {
    let path = path.strip_suffix("/*").unwrap_or(path);
    ["/.ssh", "/.gnupg", "/.aws", "/.password-store"].iter().any(|folder| path.ends_with(folder))
}

/// A whole disk; partitions are not.
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
        |(controller, space)| {
            !space.is_empty() && controller.bytes().chain(space.bytes()).all(|b| b.is_ascii_digit())
        },
    );
    ["sd", "vd", "hd", "xvd"].iter().any(|prefix| letters(prefix))
        || ["mmcblk", "disk", "rdisk"].iter().any(|prefix| numbered(prefix))
        || nvme
}

/// `host:path`, `user@host:path` or an address of a store.
pub(super) fn is_remote(text: &str) -> bool {
    text.split_once(':')
        .is_some_and(|(host, _)| !host.is_empty() && !host.contains('/') && !host.starts_with('.'))
        || text.contains("://")
}
