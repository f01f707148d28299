//! `file_search` and `file_glob`.

use serde_json::{Value, json};

use super::*;
use crate::run::{EdgeType, TargetKind};

fn output(workspace: &TestWorkspace, call: &ToolCall) -> Value {
    serde_json::from_slice(&workspace.succeeds(call).stdout.unwrap()).unwrap()
}

fn paths(output: &Value) -> Vec<&str> {
    let rows = output.as_array().unwrap();
    rows.iter().map(|row| row.as_str().or_else(|| row["path"].as_str()).unwrap()).collect()
}

#[test]
fn a_search_names_path_line_column_and_text() {
    let workspace = test_workspace();
    workspace.put("src/a.rs", "fn one() {}\r\n  é fn two() {}\n\nno match\nfn three()");
    assert_eq!(
        output(&workspace, &search(r"fn \w+", "src")),
        json!([
            {"path": "src/a.rs", "line": 1, "column": 1, "text": "fn one() {}"},
            {"path": "src/a.rs", "line": 2, "column": 6, "text": "  é fn two() {}"},
            {"path": "src/a.rs", "line": 5, "column": 1, "text": "fn three()"},
        ])
    );
    let call_result = workspace.succeeds(&search("fn", "src/a.rs"));
    assert_eq!(
        call_result.result,
        json!({"matches": 3, "files_with_matches": 1, "files": 1, "problems": []})
    );
    assert_eq!(call_result.stderr, None);
    assert!(call_result.edges.contains(&Edge {
        edge_type: EdgeType::Referenced,
        target_kind: TargetKind::File,
        target: "src/a.rs".to_owned(),
    }));
    assert_eq!(output(&workspace, &search("nowhere", ".")), json!([]), "empty is no error");
}

#[test]
fn results_are_sorted_by_path_bytes() {
    let workspace = test_workspace();
    for path in ["b", "a/b", "a-b", "a.b", "a/a", "é", "Z"] {
        workspace.put(path, "x");
    }
    let order = ["Z", "a-b", "a.b", "a/a", "a/b", "b", "é"];
    assert_eq!(paths(&output(&workspace, &search("x", "."))), order);
    assert_eq!(paths(&output(&workspace, &glob("**", "."))), order);
}

#[test]
fn hidden_ignored_and_binary_files_are_left_out() {
    let workspace = test_workspace();
    workspace.put(".hidden", "x");
    workspace.put(".dir/a", "x");
    workspace.put("binary", "x\0");
    workspace.put("late", format!("x\n{}\0", "y\n".repeat(100_000)));
    workspace.put("ignored.log", "x");
    workspace.put(".gitignore", "*.log\n");
    workspace.put("by_ignore.txt", "x");
    workspace.put(".ignore", "by_ignore.txt\n");
    workspace.put("shown", "x");
    assert_eq!(
        paths(&output(&workspace, &search("x", "."))),
        ["ignored.log", "shown"],
        ".gitignore means nothing outside a repository"
    );
    fs::create_dir(workspace.path(".git")).unwrap();
    assert_eq!(paths(&output(&workspace, &search("x", "."))), ["shown"]);
    assert_eq!(paths(&output(&workspace, &glob("*", "."))), ["binary", "late", "shown"]);
    assert_eq!(
        paths(&output(&workspace, &search("x", ".dir"))),
        [".dir/a"],
        "a root that is named is looked at"
    );
}

/// A tree with every kind of ignore file; some contradict each other.
fn put_ignore_files(workspace: &TestWorkspace) {
    for (path, content) in [
        (".gitignore", "\u{feff}*.log\r\n/top\n!kept.log\n"),
        (".ignore", "by_ignore\n!.shown\n"),
        (".rgignore", "!by_ignore/but_not\n*.rg\n"),
        (".git/info/exclude", "excluded\n"),
        ("sub/.gitignore", "!again.log\n/only_here\n"),
        ("sub/.ignore", "again.log\n"),
        ("inner/.git", "gitdir: elsewhere\n"),
        ("inner/.gitignore", "inner_only\n"),
        ("bad/.ignore", "a\n{\nb\n"),
    ] {
        workspace.put(path, content);
    }
    for path in [
        "a.log",
        "kept.log",
        "top",
        "sub/top",
        "by_ignore",
        "sub/by_ignore",
        ".shown",
        ".hidden",
        "a.rg",
        "excluded",
        "sub/excluded",
        "sub/again.log",
        "sub/b.log",
        "sub/only_here",
        "sub/deep/only_here",
        "inner/a.log",
        "inner/inner_only",
        "inner/excluded",
        "inner/a.rg",
        "bad/a",
        "bad/b",
        "bad/c",
        "deep/deep/deep/x",
        "deep/deep/deep/x.log",
    ] {
        workspace.put(path, "x\n");
    }
}

#[test]
fn ignore_files_apply_as_in_ripgrep() {
    let workspace = test_workspace();
    // Ignore files above the workspace apply too.
    fs::write(workspace.folder.path().join(".ignore"), "ws/deep/deep/deep/x\n").unwrap();
    put_ignore_files(&workspace);
    assert_eq!(
        paths(&output(&workspace, &search("x", "."))),
        [
            ".shown",
            "bad/c",
            "inner/a.log",
            "inner/excluded",
            "kept.log",
            "sub/deep/only_here",
            "sub/top"
        ]
    );
    assert_eq!(paths(&output(&workspace, &search("x", "sub"))), ["sub/deep/only_here", "sub/top"]);
    assert_eq!(paths(&output(&workspace, &search("x", "top"))), ["top"], "it is named");
    assert_eq!(paths(&output(&workspace, &glob("*", "inner"))), ["inner/a.log", "inner/excluded"]);
}

#[test]
fn faulty_ignore_rule_is_reported() {
    let workspace = test_workspace();
    put_ignore_files(&workspace);
    let call_result = workspace.succeeds(&search("x", "bad"));
    let problems = call_result.result["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 1, "{problems:?}");
    let problem = problems[0].as_str().unwrap();
    assert!(problem.contains("bad/.ignore: line 2: "), "{problem}");
}

/// Search results depend on ignore files, so reading one from outside would reveal its content.
#[test]
fn ignore_files_outside_are_never_read() {
    let workspace = test_workspace();
    let outside = workspace.folder.path().join("outside");
    fs::write(outside.join("list"), "seen\n").unwrap();
    fs::create_dir_all(outside.join("git/info")).unwrap();
    fs::write(outside.join("git/info/exclude"), "seen\n").unwrap();
    workspace.put("seen", "x");
    workspace.put("list", "by_link\n");
    workspace.put("by_link", "x");
    workspace.link(".ignore", outside.join("list"));
    workspace.link(".git", outside.join("git"));
    workspace.link(".gitignore", "../outside/list");
    workspace.link(".rgignore", "list");
    assert_eq!(
        paths(&output(&workspace, &search("x", "."))),
        ["seen"],
        "a link inside is followed"
    );
    fs::remove_file(workspace.path(".git")).unwrap();
    workspace.put(".git", format!("gitdir: {}\n", outside.join("git").display()));
    assert_eq!(paths(&output(&workspace, &search("x", "."))), ["seen"]);
}

#[test]
fn large_tree_is_listed_whole_unless_stopped() {
    let workspace = test_workspace();
    let mut expected = Vec::new();
    for index in 0..400 {
        expected.push(format!("many/{index:03}"));
        expected.push(format!("wide/{index:03}/x"));
    }
    expected.push(format!("{}x", "deep/".repeat(300)));
    expected.sort();
    expected.iter().for_each(|path| workspace.put(path, "x"));
    assert_eq!(paths(&output(&workspace, &glob("**", "."))), expected);
    workspace.stop.set();
    let (code, _) = workspace.fails(&glob("**", "."));
    assert_eq!(code, Code::Cancelled);
}

#[test]
fn a_search_follows_no_link() {
    let workspace = test_workspace();
    workspace.put("a", "secret");
    workspace.link("out", workspace.folder.path().join("outside"));
    workspace.link("file", workspace.folder.path().join("outside/secret"));
    workspace.link("inner", "a");
    assert_eq!(paths(&output(&workspace, &search("secret", "."))), ["a"]);
    assert_eq!(paths(&output(&workspace, &glob("**", "."))), ["a"]);
    assert_eq!(paths(&output(&workspace, &search("secret", "inner"))), ["a"], "its canonical path");
}

#[test]
fn only_two_stars_match_across_folders() {
    let workspace = test_workspace();
    for path in ["src/a.rs", "src/deep/b.rs", "src/c.txt", "d.rs"] {
        workspace.put(path, "");
    }
    let found = |pattern: &str, root: &str| output(&workspace, &glob(pattern, root));
    assert_eq!(found("*.rs", "."), json!(["d.rs"]));
    assert_eq!(found("**/*.rs", "."), json!(["d.rs", "src/a.rs", "src/deep/b.rs"]));
    assert_eq!(found("*.rs", "src"), json!(["src/a.rs"]), "matched from the root on");
    assert_eq!(found("src/?.{rs,txt}", "."), json!(["src/a.rs", "src/c.txt"]));
    assert_eq!(found("[ab].rs", "src/a.rs"), json!(["src/a.rs"]), "a root may be a file");
    assert_eq!(found("*.md", "."), json!([]));
}

#[test]
fn bad_patterns_and_roots_are_refused() {
    let workspace = test_workspace();
    // A valid pattern that is too large to compile.
    let large = "?".repeat(1_000_000);
    for call in [
        search("(", "."),
        search("a\nb", "."),
        search("(?:\\w{1000}){1000}", "."),
        glob("[", "."),
        glob("{a", "."),
        glob(&large, "."),
    ] {
        assert_eq!(workspace.fails(&call).0, Code::BadArgument, "{call:?}");
        assert!(workspace.tools.preview(&call, &Overlay::default()).is_err());
    }
    for call in [search("x", "missing"), glob("*", "missing")] {
        assert_eq!(workspace.fails(&call).0, Code::ReadFailed, "{call:?}");
        let preview = workspace.tools.preview(&call, &Overlay::default()).unwrap();
        assert!(preview.summary.starts_with("Would fail"), "{}", preview.summary);
    }
}

#[test]
fn invalid_utf8_is_replaced_utf16_is_read() {
    let workspace = test_workspace();
    workspace.put("latin", b"caf\xe9 x\n");
    workspace.put("wide", b"\xff\xfex\0y\0");
    let found = output(&workspace, &search("x", "."));
    assert_eq!(found[0]["text"], "caf\u{fffd} x");
    assert_eq!(found[0]["column"], 6, "bytes of the file");
    assert_eq!(found[1]["text"], "xy");
}
