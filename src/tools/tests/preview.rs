//! Previews, as a person reads them before approving.

use super::*;
use crate::run::{Diff, LineKind};

fn preview(workspace: &TestWorkspace, call: &ToolCall) -> Preview {
    workspace.tools.preview(call, &Overlay::default()).unwrap()
}

/// The difference in the format of `diff -u`, with `~` for omitted lines and `$` for a missing line break at the end.
fn drawn(diff: &Diff) -> Vec<String> {
    let Diff::Text { lines, .. } = diff else { panic!("no text: {diff:?}") };
    lines
        .iter()
        .map(|line| {
            let sign = match line.kind {
                LineKind::Context => ' ',
                LineKind::Added => '+',
                LineKind::Removed => '-',
                LineKind::Gap => '~',
            };
            let end = if line.missing_newline { "$" } else { "" };
            format!("{sign}{}{end}", line.text)
        })
        .collect()
}

#[test]
fn diff_has_three_lines_of_context() {
    let workspace = test_workspace();
    let old: String = (1..=20).map(|n| format!("line {n}\n")).collect();
    workspace.put("f", &old);
    let preview = preview(&workspace, &write("f", &old.replace("line 10\n", "other\nmore\n")));
    assert_eq!(preview.summary, "Replaces 1 line of f by 2.");
    let diff = &preview.changes[0].diff;
    assert_eq!(
        drawn(diff),
        [
            "~6 unchanged lines",
            " line 7",
            " line 8",
            " line 9",
            "-line 10",
            "+other",
            "+more",
            " line 11",
            " line 12",
            " line 13",
            "~7 unchanged lines",
        ]
    );
    let Diff::Text { lines, added: 2, removed: 1 } = diff else { panic!("{diff:?}") };
    assert_eq!((lines[1].before, lines[1].after), (Some(7), Some(7)));
    assert_eq!((lines[4].before, lines[4].after), (Some(10), None));
    assert_eq!((lines[6].before, lines[6].after), (None, Some(11)));
    assert_eq!((lines[7].before, lines[7].after), (Some(11), Some(12)));
    assert_eq!(workspace.content("f"), old.as_bytes(), "a preview changes nothing");
}

#[test]
fn line_endings_are_content() {
    let workspace = test_workspace();
    workspace.put("f", "a\r\nb");
    let preview = preview(&workspace, &write("f", "a\nb\n"));
    assert_eq!(preview.summary, "Replaces 2 lines of f.");
    assert_eq!(drawn(&preview.changes[0].diff), ["-a\r", "-b$", "+a", "+b"]);
}

#[test]
fn each_kind_of_change_has_its_summary() {
    let workspace = test_workspace();
    workspace.put("f", "a\nb\n");
    workspace.put("empty", "");
    workspace.put("binary", b"\xff");
    let summary = |call: &ToolCall| preview(&workspace, call).summary;
    assert_eq!(
        summary(&write("f", "a\nb\n")),
        "This step changes nothing: f has this content already."
    );
    assert_eq!(summary(&write("f", "a\nb\nc\n")), "Adds 1 line to f.");
    assert_eq!(summary(&write("f", "")), "Removes 2 lines from f.");
    assert_eq!(summary(&write("f", "A\nB\n")), "Replaces 2 lines of f.");
    assert_eq!(summary(&write("empty", "x")), "Adds 1 line to empty.");
    assert_eq!(summary(&write("new", "x\ny\n")), "Creates new with 2 lines.");
    assert_eq!(summary(&write("new", "")), "Creates new, which stays empty.");
    assert_eq!(summary(&write("binary", "xy")), "Replaces binary: 1 byte before, 2 bytes after.");
    assert_eq!(summary(&create("f", "x")), "Would fail: cannot create f: it exists already.");
    assert_eq!(
        summary(&write("no/f", "x")),
        "Would fail: cannot write no/f: its folder does not exist."
    );
    assert_eq!(summary(&read("f")), "Reads f (4 bytes).");
    workspace.put("f", "x".repeat(2100));
    assert_eq!(summary(&read("f")), "Reads f (2 KiB).");
    assert_eq!(
        summary(&search("a+", ".")),
        "Searches the files of the workspace for lines that match a+."
    );
    assert_eq!(summary(&search("a+", "f")), "Searches f for lines that match a+.");
    let made = preview(&workspace, &create("a/b/c", "x\n"));
    assert_eq!(made.notes, ["Creates the folder a/b, which does not exist now."]);
    assert_eq!(workspace.names(), ["binary", "empty", "f"], "previews leave nothing behind");
}

#[test]
fn preview_follows_earlier_steps() {
    let workspace = test_workspace();
    workspace.put("f", "old\n");
    let mut overlay = Overlay::default();
    for call in [write("f", "new\n"), create("docs/a.md", "a\n"), write("no/x", "fails")] {
        workspace.tools.project(&call, &mut overlay).unwrap();
    }
    let preview = |call: &ToolCall| workspace.tools.preview(call, &overlay).unwrap();
    let again = preview(&write("f", "newer\n"));
    assert_eq!(drawn(&again.changes[0].diff), ["-new", "+newer"]);
    assert_eq!(again.changes[0].before, content("new\n"));
    assert_eq!(preview(&read("f")).summary, "Reads f (4 bytes).");
    assert_eq!(preview(&read("docs/a.md")).summary, "Reads docs/a.md (2 bytes).");
    assert_eq!(preview(&write("docs/b.md", "b\n")).summary, "Creates docs/b.md with 1 line.");
    assert_eq!(preview(&write("docs/deep/b.md", "")).summary.split(':').next(), Some("Would fail"));
    for path in ["docs/a.md", "docs", "docs/a.md/x"] {
        assert!(preview(&create(path, "x")).summary.starts_with("Would fail"), "{path}");
    }
    assert!(preview(&read("no/x")).summary.starts_with("Would fail"));
    assert_eq!(
        preview(&glob("*.md", "docs")).summary,
        "Lists, of the files below docs, what matches *.md."
    );
    let outside = workspace.tools.project(&write("../x", ""), &mut overlay);
    assert!(matches!(outside.unwrap_err().get(), Some(WorkspaceError::Outside { .. })));
    assert_eq!(workspace.names(), ["f"]);
}

#[test]
fn preview_notes_links_modes_and_hard_links() {
    use std::os::unix::fs::PermissionsExt;
    let workspace = test_workspace();
    workspace.put("tool", "x");
    fs::set_permissions(workspace.path("tool"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::hard_link(workspace.path("tool"), workspace.path("twin")).unwrap();
    workspace.link("link", "tool");
    assert!(workspace.tools.now().key_and_is_executable("link").unwrap().1);
    workspace.put("plain", "x");
    assert!(!workspace.tools.now().key_and_is_executable("plain").unwrap().1);
    assert!(!workspace.tools.now().key_and_is_executable("absent").unwrap().1);
    assert_eq!(
        preview(&workspace, &write("link", "y")).notes,
        [
            "link is a link; the file it leads to is written.",
            "tool is executable and stays so.",
            "Its other names (hard links: 1) keep the old content.",
        ]
    );
}

// The comparison may end early at its deadline; the diff is still correct.
#[test]
fn diff_of_a_huge_rewrite_is_correct() {
    let workspace = test_workspace();
    let lines = |seed: usize| -> String {
        (0..60_000).map(|n| format!("{}\n", (n * 7919 + seed * 104_729) % 50_021)).collect()
    };
    workspace.put("f", lines(1));
    let after = lines(2);
    let preview = preview(&workspace, &write("f", &after));
    let Diff::Text { lines: shown, added, removed } = &preview.changes[0].diff else { panic!() };
    assert_eq!(added, removed, "both sides have the same number of lines");
    // Correct even when truncated: added and kept lines make up the new file.
    assert!(shown.iter().filter(|line| line.kind == LineKind::Added).count() == *added);
}

#[test]
fn oversized_content_is_summarized_by_size() {
    let workspace = test_workspace();
    workspace.put("f", "x\n".repeat((8 << 20) + 1));
    let preview = preview(&workspace, &write("f", ""));
    assert_eq!(preview.summary, "Replaces f: 16 MiB before, 0 bytes after.");
    assert_eq!(preview.notes, ["f is too large to be shown line by line."]);
    assert!(matches!(preview.changes[0].diff, Diff::Binary { after_bytes: Some(0), .. }));
}
