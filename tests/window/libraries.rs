//! A missing system library is reported in one line with its package, without a panic.

use crate::screen::Screen;

#[test]
fn a_missing_library_is_named_with_its_package() {
    let screen = Screen::start().unwrap_or_else(|error| panic!("{error}"));
    for (library, package) in [
        ("libX11-xcb.so.1", "libx11-xcb1"),
        ("libXcursor.so.1", "libxcursor1"),
        ("libXi.so.6", "libxi6"),
        ("libxkbcommon.so.0", "libxkbcommon0"),
        ("libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
    ] {
        // The loader stops at an empty file that has the library's name, with or without its version.
        let hiding = tempfile::tempdir().expect("a folder");
        let unversioned = library.split_inclusive(".so").next().expect("a name");
        for name in [library, unversioned] {
            std::fs::write(hiding.path().join(name), "").expect("a file");
        }
        // If the window opened all the same, it would not end by itself.
        let mut command = screen.command("timeout");
        command.args(["30", env!("CARGO_BIN_EXE_countersign")]);
        let output = command.env("LD_LIBRARY_PATH", hiding.path()).output().expect("the program");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(said.lines().count(), 1, "{library}: {said}");
        assert!(said.contains(library) && said.contains(package), "{said}");
        assert_eq!(output.status.code(), Some(5), "{library}");
    }
}
