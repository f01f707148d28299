mod blocks;
mod calls;
mod formats;
mod patches;
mod ranges;
mod runbooks;
mod terraform;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;
use crate::plan::{Digest, is_valid, parse};

/// A workspace in memory, with its files by their paths.
#[derive(Default)]
struct Memory(BTreeMap<String, String>);

impl Memory {
    fn of(files: &[(&str, &str)]) -> Self {
        Self(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect())
    }
}

impl Files for Memory {
    fn workspace(&self) -> &str {
        "/work space"
    }

    fn text(&self, path: &str) -> Result<Option<String>, String> {
        match path.starts_with('/') {
            true => Err(format!("{path} is outside")),
            false => Ok(self.0.get(path).cloned()),
        }
    }

    fn beside(&self, ending: &str) -> Result<Option<Beside>, String> {
        let name = format!("plan{ending}");
        let text = self.0.get(&name);
        let digest = |text: &String| Digest::of(text.as_bytes());
        Ok(text.map(|text| Beside { folder: "infra".to_owned(), digest: digest(text), name }))
    }
}

/// What a text is opened as, in lines: the edits or commands of its plan, which must be valid, and the findings.
#[track_caller]
fn shown(text: &str, files: &[(&str, &str)]) -> String {
    let Some(opened) = open(text.as_bytes(), &Memory::of(files)) else {
        panic!("no format: {text}")
    };
    let mut shown = String::new();
    if let Some(plan) = &opened.plan {
        let parsed = parse(plan);
        assert!(is_valid(&parsed.findings), "{:?}", parsed.findings);
        let value: Value = serde_json::from_slice(plan).unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let actions = value["actions"].as_array().into_iter().flatten();
        for edit in actions.flat_map(|it| it["request"]["edits"].as_array().unwrap()) {
            let rest =
                ["to", "contents", "old", "new", "diff"].map(|name| text(&edit[name])).concat();
            let is_name = |line: &&str| line.starts_with("--- ") || line.starts_with("+++ ");
            let lines: String = rest.split_inclusive('\n').filter(|line| !is_name(line)).collect();
            let (op, path) = (text(&edit["op"]), text(&edit["path"]));
            shown.push_str(&format!("{op} {path}: {}\n", lines.trim_end()));
        }
        for step in value["steps"].as_array().into_iter().flatten() {
            let cwd = step["cwd"].as_str().map(|cwd| format!("[{cwd}] ")).unwrap_or_default();
            shown.push_str(&format!("{cwd}$ {}\n", text(&step["command"])));
        }
    }
    for Finding { severity, line, message, .. } in &opened.findings {
        shown.push_str(&format!("{} {line}: {message}\n", severity.as_str()));
    }
    shown
}

/// The edits of the plan of a text, which must be valid, and the messages about it.
fn edits(text: &str) -> (Vec<Value>, Vec<String>) {
    let opened = open(text.as_bytes(), &NoFiles).unwrap();
    let plan = opened.plan.unwrap_or_else(|| panic!("{text}\n{:?}", opened.findings));
    let parsed = parse(&plan);
    assert!(is_valid(&parsed.findings), "{:?}", parsed.findings);
    let value: Value = serde_json::from_slice(&plan).unwrap();
    let edits = value["actions"].as_array().unwrap().iter();
    let edits = edits.flat_map(|action| action["request"]["edits"].as_array().unwrap().clone());
    (edits.collect(), opened.findings.into_iter().map(|finding| finding.message).collect())
}

/// The lines and messages of the errors of a text, which must have no plan.
fn errors(text: &str) -> Vec<(usize, String)> {
    let opened = open(text.as_bytes(), &NoFiles).unwrap();
    assert_eq!(opened.plan, None, "{text}");
    opened.findings.into_iter().map(|finding| (finding.line, finding.message)).collect()
}

#[track_caller]
fn refused(text: &str, line: usize, why: &str) {
    let errors = errors(text);
    assert!(
        errors.len() == 1 && errors[0].0 == line && errors[0].1.contains(why),
        "{text}\n{errors:?}"
    );
}

#[test]
fn formats_are_recognised_by_their_first_mark() {
    let format = |text: &str| open(text.as_bytes(), &NoFiles).map(|opened| opened.format);
    assert_eq!(format("diff --git a/x b/x\n"), Some(Format::Diff));
    assert_eq!(format("words\n--- a\n+++ a\n"), Some(Format::Diff));
    assert_eq!(format("\n*** Begin Patch\r\n"), Some(Format::BeginPatch));
    assert_eq!(
        format("a.rs\n```rust\n<<<<<<< SEARCH\n--- a\n+++ a\n"),
        Some(Format::SearchReplace)
    );
    for text in [
        "",
        "words",
        "---\n+++ x",
        "--- a\nb\n+++ c",
        " {\"goal\": \"\\n--- a\\n+++ b\"}",
        "{\n--- a\n+++ b\n",
    ] {
        assert_eq!(format(text), None, "{text}");
    }
    let opened = open(b"--- a\n+++ a\n@@ -1 +1 @@\n-\xff\n+b\n", &NoFiles).unwrap();
    assert!(opened.plan.is_none() && opened.findings[0].message.contains("not UTF-8"));
}

#[test]
fn every_change_of_a_git_diff_is_an_edit() {
    let diff = "diff --git a/new.txt b/new.txt
new file mode 100644
index 000..111
--- /dev/null
+++ b/new.txt
@@ -0,0 +1,2 @@
+--- one
+two
\\ No newline at end of file
diff --git a/empty b/empty
new file mode 100644
index 000..e69
diff --git a/gone b/gone
deleted file mode 100755
index 111..000
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
--- words
diff --git a/gone empty b/gone empty
deleted file mode 100644
index e69de29..000
diff --git a/old b/new
similarity index 100%
rename from old
rename to new
diff --git \"a/\\303\\244 \\\"x\\\"\" b/plain
similarity index 90%
rename from \"\\303\\244 \\\"x\\\"\"
rename to plain
index 1..2 100755
--- \"a/\\303\\244 \\\"x\\\"\"
+++ b/plain
@@ -1 +1 @@ fn of()
-a
+b
";
    let (edits, messages) = edits(diff);
    assert_eq!(messages, Vec::<String>::new());
    assert_eq!(
        edits,
        [
            json!({"op": "create", "path": "new.txt", "contents": "--- one\ntwo"}),
            json!({"op": "create", "path": "empty", "contents": ""}),
            json!({"op": "patch", "path": "gone", "diff": "--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n--- words\n"}),
            json!({"op": "delete", "path": "gone empty"}),
            json!({"op": "rename", "path": "old", "to": "new"}),
            json!({"op": "rename", "path": "ä \"x\"", "to": "plain"}),
            json!({"op": "patch", "path": "plain", "diff": "--- a/plain\n+++ b/plain\n@@ -1 +1 @@ fn of()\n-a\n+b\n"}),
        ]
    );
}

#[test]
fn names_of_a_diff_are_one_path() {
    let hunk = "@@ -1 +1 @@\n-a\n+b\n";
    for (before, after, path) in [
        ("a/src/x.rs", "b/src/x.rs", "src/x.rs"),
        ("src/x.rs", "src/x.rs", "src/x.rs"),
        ("old/src/x.rs\t2026-01-01", "new/src/x.rs\t2026-01-02", "src/x.rs"),
        ("a/a/x", "b/a/x", "a/x"),
        ("\"a/t\\tb\"", "\"b/t\\tb\"", "t\tb"),
    ] {
        let (edits, _) = edits(&format!("--- {before}\n+++ {after}\n{hunk}"));
        assert_eq!(edits[0]["path"], path, "{before}");
    }
    for (before, after) in [("a/x", "b/y"), ("x", "x.orig"), ("x/y", "z/w")] {
        refused(&format!("--- {before}\n+++ {after}\n{hunk}"), 1, "two files");
    }
    let of_git = |names: &str| format!("diff --git {names}\nnew file mode 100644\n");
    assert_eq!(edits(&of_git("a/b b/x b/b b/x")).0[0]["path"], "b b/x");
    refused(&of_git("x y z"), 1, "not clear of which file");
}

#[test]
fn lines_around_a_diff_are_said() {
    let mail = "From 1234 Mon Sep 17 00:00:00 2001\nSubject: words\n\n---\n x | 2 +-\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n\
                @@ -1 +1 @@\n-a\n+b\n-- \n2.39.5\n\n";
    let (edits, messages) = edits(mail);
    assert_eq!(edits.len(), 1);
    assert!(messages[0].starts_with("6 lines around"), "{messages:?}");
}

#[test]
fn what_a_plan_cannot_say_is_an_error_at_its_line() {
    let git = |lines: &str| format!("diff --git a/x b/x\n{lines}");
    for (text, line, why) in [
        (git("old mode 100644\nnew mode 100755\n"), 2, "mode"),
        (git("new file mode 100755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n"), 2, "executable"),
        (
            git("new file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n"),
            2,
            "symbolic link",
        ),
        (git("index 1..2 160000\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"), 2, "submodule"),
        (git("similarity index 90%\ncopy from x\ncopy to y\n"), 3, "copy"),
        (git("index 1..2\nBinary files a/x and b/x differ\n"), 3, "binary"),
        (git("index 1..2\nGIT binary patch\nliteral 0\n"), 3, "binary"),
        (git("index 1..2\n"), 1, "nothing of the file is changed"),
        (git("rename from x\n"), 1, "contradicts itself"),
        (git("new file mode 100644\nrename from x\nrename to y\n"), 1, "contradicts itself"),
        (
            git("rename from x\nrename to y\n--- a/z\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n"),
            1,
            "contradicts itself",
        ),
        ("diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n".to_owned(), 1, "several versions"),
        ("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n".to_owned(), 3, "fewer lines"),
        ("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\nx\n".to_owned(), 5, "fewer lines"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n+c\n".to_owned(), 6, "more lines"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n-b\n".to_owned(), 5, "other lines"),
        ("--- a/x\n+++ b/x\n@@ one @@\n".to_owned(), 3, "this is no"),
        ("--- a/x\n+++ b/x\n".to_owned(), 1, "without a hunk"),
        ("--- x\n+++ x\n@@ -0,0 +1 @@\n+a\n".to_owned(), 1, "not clear whether the file is there"),
        ("--- /dev/null\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n".to_owned(), 3, "a new file has one hunk"),
        ("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n".to_owned(), 1, "both names"),
    ] {
        refused(&text, line, why);
    }
    // All faults are said, and the files without one do not become a plan.
    let two = format!("{}{}", git("old mode 100644\n"), git("copy from y\n"));
    assert_eq!(errors(&two).len(), 2);
}

#[test]
fn large_diffs_are_several_batches() {
    let file = |n: usize| format!("diff --git a/{n} b/{n}\nnew file mode 100644\n");
    let (edits, messages) = edits(&(0..300).map(file).collect::<String>());
    assert_eq!(edits.len(), 300);
    assert!(messages[0].contains("each of the 3 batches"), "{messages:?}");
    refused(&(0..128 * 32 + 1).map(file).collect::<String>(), 1, "more than a plan can have");
}

/// Whatever the bytes are, a plan that is made of them is one that the parser reads.
#[test]
fn every_plan_can_be_read() {
    use proptest::prelude::*;
    let line = proptest::sample::select(vec![
        "diff --git a/x b/x",
        "--- a/x",
        "+++ b/x",
        "--- /dev/null",
        "+++ /dev/null",
        "@@ -1 +1 @@",
        "@@ -0,0 +1 @@",
        "-a",
        "+b",
        " c",
        "",
        "\\ No newline at end of file",
        "new file mode 100644",
        "rename from x",
        "rename to y",
        "*** Begin Patch",
        "*** End Patch",
        "*** Add File: a",
        "*** Update File: a",
        "*** Move to: b",
        "@@",
        "<<<<<<< SEARCH",
        "=======",
        ">>>>>>> REPLACE",
        "deleted file mode 100644",
        "\u{e9}\r",
    ]);
    proptest!(|(lines in proptest::collection::vec(line, 0..14), break_at_end in any::<bool>())| {
        let mut text = lines.join("\n");
        text.push_str(if break_at_end { "\n" } else { "" });
        let files = Memory::of(&[("x", "a\n c\n"), ("a", "c\na\n"), ("y", "")]);
        if let Some(opened) = open(text.as_bytes(), &files) {
            prop_assert_eq!(opened.plan.is_some(), is_valid(&opened.findings));
            let findings = opened.plan.map(|plan| parse(&plan).findings).unwrap_or_default();
            // Only what a file name may be is left to the parser and to the review.
            prop_assert!(is_valid(&findings), "{text}\n{findings:?}");
        }
    });
}
