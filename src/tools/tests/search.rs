//! `file_search` and `file_glob`.

use serde_json::{Value, json};

use super::*;
use crate::run::{EdgeType, TargetKind};

fn answer(house: &House, call: &ToolCall) -> Value {
    serde_json::from_slice(&house.succeeds(call).stdout.unwrap()).unwrap()
}

fn paths(answer: &Value) -> Vec<&str> {
    let rows = answer.as_array().unwrap();
    rows.iter().map(|row| row.as_str().or_else(|| row["path"].as_str()).unwrap()).collect()
}

#[test]
fn a_search_names_path_line_column_and_text() {
    let house = house();
    house.put("src/a.rs", "fn one() {}\r\n  é fn two() {}\n\nno match\nfn three()");
    assert_eq!(
        answer(&house, &search(r"fn \w+", "src")),
        json!([
            {"path": "src/a.rs", "line": 1, "column": 1, "text": "fn one() {}"},
            {"path": "src/a.rs", "line": 2, "column": 6, "text": "  é fn two() {}"},
            {"path": "src/a.rs", "line": 5, "column": 1, "text": "fn three()"},
        ])
    );
    let invocation = house.succeeds(&search("fn", "src/a.rs"));
    assert_eq!(
        invocation.result,
        json!({"matches": 3, "files_with_matches": 1, "files": 1, "problems": []})
    );
    assert_eq!(invocation.stderr, None);
    assert!(invocation.edges.contains(&Edge {
        edge_type: EdgeType::Referenced,
        target_kind: TargetKind::File,
        target: "src/a.rs".to_owned(),
    }));
    assert_eq!(answer(&house, &search("nowhere", ".")), json!([]), "empty is no error");
}

#[test]
fn answers_are_sorted_by_the_bytes_of_the_path() {
    let house = house();
    for path in ["b", "a/b", "a-b", "a.b", "a/a", "é", "Z"] {
        house.put(path, "x");
    }
    let order = ["Z", "a-b", "a.b", "a/a", "a/b", "b", "é"];
    assert_eq!(paths(&answer(&house, &search("x", "."))), order);
    assert_eq!(paths(&answer(&house, &glob("**", "."))), order);
}

#[test]
fn hidden_ignored_and_binary_files_are_left_out() {
    let house = house();
    house.put(".hidden", "x");
    house.put(".dir/a", "x");
    house.put("binary", "x\0");
    house.put("late", format!("x\n{}\0", "y\n".repeat(100_000)));
    house.put("ignored.log", "x");
    house.put(".gitignore", "*.log\n");
    house.put("by_ignore.txt", "x");
    house.put(".ignore", "by_ignore.txt\n");
    house.put("shown", "x");
    assert_eq!(
        paths(&answer(&house, &search("x", "."))),
        ["ignored.log", "shown"],
        ".gitignore means nothing outside a repository"
    );
    fs::create_dir(house.path(".git")).unwrap();
    assert_eq!(paths(&answer(&house, &search("x", "."))), ["shown"]);
    assert_eq!(paths(&answer(&house, &glob("*", "."))), ["binary", "late", "shown"]);
    assert_eq!(
        paths(&answer(&house, &search("x", ".dir"))),
        [".dir/a"],
        "a root that is named is looked at"
    );
}

#[test]
fn a_search_follows_no_link() {
    let house = house();
    house.put("a", "secret");
    house.link("out", house.folder.path().join("outside"));
    house.link("file", house.folder.path().join("outside/secret"));
    house.link("inner", "a");
    assert_eq!(paths(&answer(&house, &search("secret", "."))), ["a"]);
    assert_eq!(paths(&answer(&house, &glob("**", "."))), ["a"]);
    assert_eq!(paths(&answer(&house, &search("secret", "inner"))), ["a"], "its canonical path");
}

#[test]
fn a_star_stays_in_one_folder_and_two_do_not() {
    let house = house();
    for path in ["src/a.rs", "src/deep/b.rs", "src/c.txt", "d.rs"] {
        house.put(path, "");
    }
    let found = |pattern: &str, root: &str| answer(&house, &glob(pattern, root));
    assert_eq!(found("*.rs", "."), json!(["d.rs"]));
    assert_eq!(found("**/*.rs", "."), json!(["d.rs", "src/a.rs", "src/deep/b.rs"]));
    assert_eq!(found("*.rs", "src"), json!(["src/a.rs"]), "matched from the root on");
    assert_eq!(found("src/?.{rs,txt}", "."), json!(["src/a.rs", "src/c.txt"]));
    assert_eq!(found("[ab].rs", "src/a.rs"), json!(["src/a.rs"]), "a root may be a file");
    assert_eq!(found("*.md", "."), json!([]));
}

#[test]
fn bad_patterns_and_roots_are_refused() {
    let house = house();
    // Well formed, and too large for any machine to match.
    let large = "?".repeat(1_000_000);
    for call in [
        search("(", "."),
        search("a\nb", "."),
        search("(?:\\w{1000}){1000}", "."),
        glob("[", "."),
        glob("{a", "."),
        glob(&large, "."),
    ] {
        assert_eq!(house.fails(&call).0, Code::BadArgument, "{call:?}");
        assert!(house.tools.preview(&call, &Overlay::default()).is_err());
    }
    for call in [search("x", "missing"), glob("*", "missing")] {
        assert_eq!(house.fails(&call).0, Code::ReadFailed, "{call:?}");
        let preview = house.tools.preview(&call, &Overlay::default()).unwrap();
        assert!(preview.summary.starts_with("Would fail"), "{}", preview.summary);
    }
}

#[test]
fn what_is_no_utf8_is_replaced_and_utf16_is_read() {
    let house = house();
    house.put("latin", b"caf\xe9 x\n");
    house.put("wide", b"\xff\xfex\0y\0");
    let found = answer(&house, &search("x", "."));
    assert_eq!(found[0]["text"], "caf\u{fffd} x");
    assert_eq!(found[0]["column"], 6, "bytes of the file");
    assert_eq!(found[1]["text"], "xy");
}
