//! Canonical program names, without folders, versions and flavours.

use super::listed::listed;
use super::path_kind;

/// Folders with programs of the system.
const FOLDERS: &str = "/bin/ /sbin/ /usr/bin/ /usr/sbin/ /usr/local/bin/ /usr/local/sbin/ /opt/homebrew/bin/ /snap/bin/ \
    /usr/games/ /usr/libexec/ /usr/lib/git-core/ /usr/libexec/git-core/ /lib64/ /lib/";

/// Programs that are installed with a version in the name, such as `python3.12`.
const VERSIONED: &str = "python python3 python2 pypy pypy3 perl ruby irb node nodejs lua luajit php tclsh wish guile gcc g++ clang \
    clang++ pip pip3 bash zsh ksh sh erl julia ghc psql gawk vim java pg_ctl";

/// Suffixes that distributions use for variants of a program.
const FLAVOURS: &str =
    ".exe .traditional .openbsd .basic .tiny .nox .gtk3 .busybox .distrib -static .real .orig";

/// The name under which the tables list a program; `None` for a path outside the usual folders, unless the program is
/// known at any path.
pub(super) fn program_of(text: &str) -> Option<String> {
    let plain = plain_path(text);
    if text.contains('/') && !plain.contains('/') {
        // A program in the working folder, such as `./build`.
        return project(&plain);
    }
    let (folder, name) = plain.rsplit_once('/').map_or(("", plain.as_str()), |(_, name)| {
        (plain.strip_suffix(name).unwrap_or_default(), name)
    });
    if folder == "/etc/init.d/" {
        return Some("/etc/init.d/".to_owned());
    }
    if folder.is_empty()
        || listed(FOLDERS, folder)
        // A relative path to a system folder.
        || (folder.starts_with("../") && FOLDERS.split(' ').any(|known| folder.ends_with(known)))
        || is_loader(name)
    {
        return Some(canonical(name));
    }
    project(name)
}

/// The name of a program that projects contain and that is known at any path; `None` for any other name.
fn project(name: &str) -> Option<String> {
    matches!(name, "rails" | "gradlew" | "mvnw" | "rake").then(|| name.to_owned())
}

/// Whether a name is that of the dynamic loader, which runs the program that its first operand names.
fn is_loader(name: &str) -> bool {
    (name.starts_with("ld-") || name.starts_with("ld.") || name.starts_with("ld64."))
        && name.contains("so")
}

/// Normalizes a path, including the root as seen through `/proc`.
fn plain_path(text: &str) -> String {
    if !text.contains('/') {
        return text.to_owned();
    }
    let mut plain = path_kind::normalize(text, "");
    for _ in 0..8 {
        let Some(rest) = plain.strip_prefix("/proc/") else { break };
        let mut parts = rest.splitn(3, '/');
        let (Some(_), Some("root"), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
            break;
        };
        plain = path_kind::normalize(&format!("/{rest}"), "");
    }
    plain
}

/// A name without its version or flavour.
pub(super) fn canonical(name: &str) -> String {
    if is_loader(name) {
        return "ld.so".to_owned();
    }
    let mut name = name;
    for flavour in FLAVOURS.split(' ') {
        name = name.strip_suffix(flavour).filter(|rest| !rest.is_empty()).unwrap_or(name);
    }
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    if bare.len() < name.len() && !matches!(name, "python2" | "python3" | "pip3" | "pypy3") {
        let digits = name.strip_prefix(bare).unwrap_or_default();
        let major = format!("{bare}{}", digits.chars().next().unwrap_or_default());
        if listed(VERSIONED, &major) && digits.len() > 1 {
            return major;
        }
        if listed(VERSIONED, bare) {
            return bare.to_owned();
        }
    }
    match name {
        "original-awk" => "awk".to_owned(),
        "batcat" => "bat".to_owned(),
        "grm" | "gcp" | "gmv" | "gdd" | "gchmod" | "gchown" | "gln" | "gsort" | "gsplit"
        | "gtee" | "gtruncate" | "gshred" | "gxargs" | "genv" | "gtimeout" | "ginstall" | "gls"
        | "gcat" | "ghead" | "gtail" => name.chars().skip(1).collect(),
        _ => name.to_owned(),
    }
}
