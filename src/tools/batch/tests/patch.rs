//! Unified diffs: applied at the lines they name, and refused everywhere else.

use proptest::prelude::*;

use super::super::PatchError;
use super::super::patch::Patch;
use crate::authorization::FileState;
use crate::plan::Digest;
use crate::run::FileChange;
use crate::workspace::diff::diff;

fn apply(content: &str, diff: &str) -> Result<Option<String>, String> {
    let patch = Patch::parse(diff, "f").map_err(|error| error.to_string())?;
    let bytes = patch.apply(content.as_bytes()).map_err(|error| error.to_string())?;
    Ok(bytes.map(|bytes| String::from_utf8(bytes).unwrap()))
}

fn assert_applies(content: &str, diff: &str, new: &str) {
    assert_eq!(apply(content, diff), Ok(Some(new.to_owned())), "{diff}");
}

fn assert_fails(content: &str, diff: &str, why: &str) {
    let error = apply(content, diff).expect_err(diff);
    assert!(error.contains(why), "{error:?} instead of {why:?}");
}

const NAMES: &str = "--- a/f\n+++ b/f\n";

fn with_names(hunks: &str) -> String {
    format!("{NAMES}{hunks}")
}

#[test]
fn hunks_are_applied_at_their_lines() {
    let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let two =
        with_names("@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n@@ -8,2 +8,3 @@ fn x()\n 8\n+8b\n 9\n");
    assert_applies(old, &two, "1\ntwo\n3\n4\n5\n6\n7\n8\n8b\n9\n");
    assert_applies(old, &with_names("@@ -0,0 +1 @@\n+0\n"), &format!("0\n{old}"));
    assert_applies("1\n2\n", &with_names("@@ -2,0 +3,1 @@\n+3\n"), "1\n2\n3\n");
    assert_applies("1\n2\n3\n", &with_names("@@ -2 +1,0 @@\n-2\n"), "1\n3\n");
    assert_applies("1\n\n3\n", &with_names("@@ -1,3 +1,3 @@\n 1\n\n-3\n+4\n"), "1\n\n4\n");
    let git = "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+one";
    assert_applies("1\n", git, "one\n");
    assert_applies(
        "1\n",
        "--- f\t2026-01-01\n+++ ./f\t2026-01-02\n@@ -1 +1 @@\n-1\n+one\n",
        "one\n",
    );
    // A line inside a hunk that looks like a file name is content.
    assert_applies("-- a\n", &with_names("@@ -1 +1 @@\n--- a\n+++ b\n"), "++ b\n");
}

#[test]
fn there_is_no_fuzz_and_no_offset() {
    let old = "0\n1\n2\n3\n";
    assert_fails(
        old,
        &with_names("@@ -1,2 +1,2 @@\n 1\n-2\n+two\n"),
        "hunk 1 does not fit: line 1",
    );
    assert_fails(
        old,
        &with_names("@@ -2,3 +2,3 @@\n x\n-2\n+two\n 3\n"),
        "line 2 is to be \"x\" and is \"1\"",
    );
    assert_fails(
        old,
        &with_names("@@ -4,2 +4,2 @@\n 3\n-4\n+5\n"),
        "is behind the end of the file",
    );
    assert_fails(old, &with_names("@@ -9 +9 @@\n-1\n+2\n"), "hunk 1 does not fit: line 9");
    let back = with_names("@@ -3 +3 @@\n-2\n+two\n@@ -1 +1 @@\n-0\n+zero\n");
    assert_fails(old, &back, "hunk 2 begins before the end of the one above it");
    let overlapping = with_names("@@ -1,2 +1,2 @@\n 0\n-1\n+one\n@@ -2 +2 @@\n-1\n+one\n");
    assert_fails(old, &overlapping, "hunk 2 begins before");
}

#[test]
fn final_line_break_must_match() {
    let marker = "\\ No newline at end of file\n";
    assert_applies("1", &with_names(&format!("@@ -1 +1 @@\n-1\n{marker}+2\n")), "2\n");
    assert_applies("1\n", &with_names(&format!("@@ -1 +1 @@\n-1\n+2\n{marker}")), "2");
    assert_applies(
        "1\n2",
        &with_names(&format!("@@ -1,2 +1,2 @@\n-1\n+one\n 2\n{marker}")),
        "one\n2",
    );
    assert_fails("1", &with_names("@@ -1 +1 @@\n-1\n+2\n"), "is \"1\" without a line break");
    assert_fails(
        "1\n",
        &with_names(&format!("@@ -1 +1 @@\n-1\n{marker}+2\n")),
        "is to be \"1\" without a line",
    );
    let inside = with_names(&format!("@@ -1,2 +1,2 @@\n-1\n+one\n{marker} 2\n"));
    assert_fails("1\n2\n", &inside, "not the last");
    let before_rest = with_names(&format!("@@ -1 +1 @@\n-1\n+one\n{marker}"));
    assert_fails("1\n2\n", &before_rest, "not the last");
    let first = with_names(&format!("@@ -1 +1 @@\n{marker}-1\n+one\n"));
    assert_fails("1\n", &first, "no line above");
}

#[test]
fn carriage_returns_are_content() {
    assert_applies(
        "1\r\n2\r\n",
        &with_names("@@ -1,2 +1,2 @@\n-1\r\n+one\r\n 2\r\n"),
        "one\r\n2\r\n",
    );
    assert_fails(
        "1\r\n",
        &with_names("@@ -1 +1 @@\n-1\n+one\n"),
        "is to be \"1\" and is \"1\" with CRLF",
    );
    assert_applies("1\n", &with_names("@@ -1 +1 @@\n-1\n+one\r\n"), "one\r\n");
}

#[test]
fn dev_null_creates_and_deletes_files() {
    let new = "diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+1\n+2\n";
    assert!(Patch::parse(new, "f").unwrap().creates());
    assert_applies("", new, "1\n2\n");
    let gone = "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-1\n-2\n";
    assert_eq!(apply("1\n2\n", gone), Ok(None));
    assert_fails("1\n2\n3\n", gone, "leaves a part of it");
    assert_fails("", "--- /dev/null\n+++ /dev/null\n@@ -0,0 +0,0 @@\n", "both names");
}

#[test]
fn diff_of_another_file_is_refused() {
    let body = "@@ -1 +1 @@\n-1\n+one\n";
    for names in [
        "--- a/g\n+++ b/g\n",
        "--- a/f\n+++ b/g\n",
        "--- a/f\n+++ a/f\n",
        "--- /f\n+++ /f\n",
        "--- a/../f\n+++ b/../f\n",
    ] {
        assert_fails("1\n", &format!("{names}{body}"), "the diff is of");
    }
    let more = format!("{NAMES}{body}--- a/g\n+++ b/g\n{body}");
    assert_fails("1\n", &more, "more than one file");
    let quoted = "--- \"a/\\303\\244\"\n+++ \"b/\\303\\244\"\n@@ -1 +1 @@\n-1\n+one\n";
    assert!(Patch::parse(quoted, "ä").is_ok());
    assert_eq!(
        Patch::parse(quoted, "a").unwrap_err(),
        PatchError::OtherFile { named: "a/ä".to_owned() }
    );
}

#[test]
fn malformed_diff_is_refused_with_its_line() {
    let cases = [
        ("", "line 1"),
        ("hello\n", "line 1 of the diff cannot be read: a unified diff begins"),
        ("--- a/f\n", "line 2"),
        ("--- a/f\n+++ b/f\n", "there is no hunk"),
        ("--- a/f\n+++ b/f\n@@ nonsense @@\n", "line 3"),
        ("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-1\n", "fewer lines"),
        ("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n-2\n+3\n", "more lines"),
        ("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+2\n+3\n", "a hunk begins with"),
        ("--- a/f\n+++ b/f\n@@ -1 +1 @@\n*1\n", "none of blank"),
        ("--- a/f\n+++ b/f\n@@ -0 +1 @@\n-1\n+2\n", "a hunk begins"),
        ("--- a/f\n+++ b/f\n@@ -99999999999999999999 +1 @@\n-1\n+2\n", "a hunk begins"),
        ("old mode 100644\nnew mode 100755\n", "does not change the mode"),
        ("new file mode 100755\n--- /dev/null\n+++ b/f\n", "no mode"),
        ("rename from g\nrename to f\n", "use rename"),
        ("diff --git a/f b/f\nGIT binary patch\n", "binary patch"),
    ];
    for (diff, why) in cases {
        assert_fails("1\n", diff, why);
    }
}

proptest! {
    /// The diff shown between two texts turns the first into the second. On any other text it is refused,
    /// or the lines that it changes occur there unchanged.
    #[test]
    fn shown_diff_can_be_applied(
        old in "([ab]?(\r)?\n){0,9}[ab]{0,2}",
        new in "([abc]?(\r)?\n){0,9}[ab]{0,2}",
        other in "([ab]?\n){0,9}",
    ) {
        prop_assume!(old != new);
        let state = |text: &str| FileState::Content(Digest::of(text.as_bytes()));
        let change = FileChange {
            path: "f".to_owned(),
            before: state(&old),
            after: state(&new),
            diff: diff(Some(old.as_bytes()), Some(new.as_bytes())),
        };
        let unified = change.unified();
        let patch = Patch::parse(&unified, "f").map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(patch.apply(old.as_bytes()), Ok(Some(new.clone().into_bytes())), "{}", unified);
        if let Ok(Some(applied)) = patch.apply(other.as_bytes()) {
            let lines = |text: &[u8]| text.split_inclusive(|byte| *byte == b'\n').count();
            let grown = lines(&applied) as i64 - lines(other.as_bytes()) as i64;
            prop_assert_eq!(grown, lines(new.as_bytes()) as i64 - lines(old.as_bytes()) as i64);
        }
    }
}
