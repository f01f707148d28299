//! What this computer is. No program is started for it.

use std::path::PathBuf;

use crate::logging;

/// The variables of the session whose values are in the report.
const VARIABLES: [&str; 7] = [
    "XDG_SESSION_TYPE",
    "XDG_CURRENT_DESKTOP",
    "WAYLAND_DISPLAY",
    "DISPLAY",
    "LANG",
    "LIBGL_ALWAYS_SOFTWARE",
    logging::VARIABLE,
];

/// The system: its name, kernel and processor.
pub(super) fn system() -> Vec<(String, String)> {
    let mut facts = vec![
        ("system".to_owned(), std::env::consts::OS.to_owned()),
        ("processor".to_owned(), std::env::consts::ARCH.to_owned()),
    ];
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").ok();
    facts.extend(name.map(|name| ("name".to_owned(), name.trim_matches('"').to_owned())));
    facts.extend(kernel.map(|kernel| ("kernel".to_owned(), kernel.trim().to_owned())));
    facts
}

/// The session of the desktop.
pub(super) fn session() -> Vec<(String, String)> {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    // As the window chooses between them.
    let kind = match (
        is_set("WAYLAND_DISPLAY") || is_set("WAYLAND_SOCKET"),
        is_set("DISPLAY") || cfg!(not(unix)) || cfg!(target_os = "macos"),
    ) {
        (true, _) => "Wayland",
        (false, true) if cfg!(all(unix, not(target_os = "macos"))) => "X11",
        (false, true) => "of the system",
        (false, false) => "none",
    };
    let mut facts = vec![("display".to_owned(), kind.to_owned())];
    facts.extend(VARIABLES.into_iter().filter_map(|name| {
        let value = std::env::var_os(name)?;
        Some((name.to_owned(), value.to_string_lossy().into_owned()))
    }));
    facts
}

/// The first program with this name in the absolute folders of `PATH`. It is not started.
pub(super) fn program(name: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    let mut files = std::env::split_paths(&paths)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX)));
    files.find(|file| std::fs::metadata(file).is_ok_and(|metadata| is_program(&metadata)))
}

#[cfg(unix)]
fn is_program(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_program(metadata: &std::fs::Metadata) -> bool {
    metadata.is_file()
}
