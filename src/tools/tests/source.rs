//! Source lines shown to a person: which files they may come from, and which paths are refused.

use super::*;
use crate::run::SourceLine;

fn texts(lines: &[SourceLine]) -> Vec<String> {
    lines.iter().map(|line| format!("{} {}", line.number, line.text)).collect()
}

#[test]
fn source_lines_are_counted_like_a_compiler() {
    let workspace = test_workspace();
    workspace.put("src/a.rs", b"\xef\xbb\xbfone\r\ntwo\nthr\xffee\nfour");
    let lines = workspace.tools.source_lines("src/a.rs", &[1..=1, 3..=9]).unwrap();
    assert_eq!(texts(&lines), ["1 one", "3 thr\u{fffd}ee", "4 four"]);
    assert!(workspace.tools.source_lines("src/a.rs", &[]).unwrap().is_empty());
    workspace.put("long.rs", "x".repeat(2 << 20));
    let lines = workspace.tools.source_lines("long.rs", &[1..=1]).unwrap();
    assert_eq!(lines[0].text.chars().count(), 1_001, "and what was left out is seen");
}

#[test]
fn source_lines_come_only_from_workspace_files() {
    let workspace = test_workspace();
    workspace.link("away", workspace.folder.path().join("outside"));
    workspace.put("src/a.rs", "");
    for (path, code) in [
        ("../outside/secret", Code::OutsideWorkspace),
        ("away/secret", Code::OutsideWorkspace),
        ("/etc/passwd", Code::OutsideWorkspace),
        ("gone.rs", Code::ReadFailed),
        ("src", Code::ReadFailed),
    ] {
        let error = workspace.tools.source_lines(path, &[1..=1]).unwrap_err();
        assert_eq!(error.code(), code, "{path}: {error}");
    }
}

#[test]
fn only_existing_files_go_to_the_editor() {
    let workspace = test_workspace();
    workspace.put("src/a.rs", "");
    let file = |path: &str| workspace.tools.absolute_file_path(path);
    assert_eq!(file("src/a.rs").unwrap(), workspace.path("src/a.rs"));
    let outside = workspace.folder.path().join("outside/secret");
    // The compiler also names files of other crates.
    assert_eq!(file(outside.to_str().unwrap()).unwrap(), outside);
    for path in ["gone.rs", "src", "/nowhere/a.rs", "-x", ""] {
        assert!(file(path).is_err(), "{path}");
    }
}
