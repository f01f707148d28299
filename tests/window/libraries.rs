//! A library of the system that is not there gives one line with its package, and no panic.

#![expect(clippy::disallowed_methods, reason = "starts the program and reads what it says")]

use std::path::PathBuf;
use std::process::Command;

use crate::screen::Screen;

/// Where the loader finds a library, without links.
fn place_of(library: &str) -> PathBuf {
    let output = Command::new("/sbin/ldconfig").arg("-p").output().expect("ldconfig");
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = listed
        .lines()
        .find(|line| line.trim_start().starts_with(&format!("{library} ")))
        .unwrap_or_else(|| panic!("{library} is not installed; `sh packaging/test.sh` does it"));
    let path = line.rsplit(' ').next().expect("a path");
    std::fs::canonicalize(path).expect("the library")
}

#[test]
fn a_missing_library_is_named_with_its_package() {
    let screen = Screen::start().unwrap_or_else(|trouble| panic!("{trouble}"));
    for (library, package) in [
        ("libX11.so.6", "libx11-6"),
        ("libX11-xcb.so.1", "libx11-xcb1"),
        ("libXcursor.so.1", "libxcursor1"),
        ("libXi.so.6", "libxi6"),
        ("libxkbcommon.so.0", "libxkbcommon0"),
        ("libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
    ] {
        // In a mount namespace of its own, so that only this program misses the library.
        let hide = format!(
            "mount --bind /dev/null '{}' && exec '{}'",
            place_of(library).display(),
            env!("CARGO_BIN_EXE_countersign")
        );
        let mut command = screen.command("unshare");
        command.args(["--mount", "--map-root-user", "sh", "-c", &hide]);
        let output = command.output().expect("unshare");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(said.lines().count(), 1, "{library}: {said}");
        assert!(said.contains(library) && said.contains(package), "{said}");
        assert_eq!(output.status.code(), Some(5), "{library}");
    }
}
