//! Telling formats, and files with more than one.

use super::*;

#[test]
fn a_file_has_one_format() {
    let diff = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n";
    let patch = "*** Begin Patch\n*** Delete File: f\n*** End Patch\n";
    let block = "f\n```\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n";
    let commands = "```bash\nls\n```\n";
    for (text, line) in [
        (format!("{diff}\nThen:\n{patch}"), 8),
        (format!("{patch}{commands}"), 4),
        (format!("{block}{commands}"), 9),
        (format!("{commands}{block}"), 6),
        (format!("{commands}\n{diff}"), 5),
    ] {
        let found = shown(&text, &[("f", "a\n")]);
        assert!(found.starts_with(&format!("error {line}: here begins")), "{text}\n{found}");
    }
    // An edit block may stand in a fence of commands, and the text of a block may look like another format.
    let script =
        "f\n```sh\n<<<<<<< SEARCH\na\n=======\nx\n```bash\n*** Begin Patch\n>>>>>>> REPLACE\n```\n";
    assert!(shown(script, &[("f", "a\n")]).starts_with("patch f:"));
    let badge = "[![CI](https://x)](https://y)\n\n```sh\nls\n```\n";
    assert_eq!(shown(badge, &[]), "$ ls\n");
    let front = "---\nx: |\n  ```bash\n  rm hidden\n  ```\n---\n\n```bash\nls\n```\n";
    assert_eq!(shown(front, &[]), "$ ls\n");
}

#[test]
fn names_of_a_diff_that_git_refuses_are_errors() {
    let hunk = "@@ -1 +1 @@\n-a\n+b\n";
    let diff = format!("--- a/f\n+++ b/f\n{hunk}");
    for (text, why) in [
        (format!("{diff}Only in b: new.txt\n"), "a change that a plan cannot be made of"),
        (
            format!("Binary files a/z and b/z differ\n{diff}"),
            "a change that a plan cannot be made of",
        ),
        (format!("{diff}GIT binary patch\nliteral 0\n"), "a change that a plan cannot be made of"),
        (format!("{diff}rename from f\nrename to g\n"), "a change that a plan cannot be made of"),
        (format!("{diff}deleted file mode 100644\n"), "a change that a plan cannot be made of"),
        (format!("{diff}Property changes on: f\n"), "a change that a plan cannot be made of"),
        (format!("--- a/.git/config\n+++ b/.git/config\n{hunk}"), "belongs to git"),
        (format!("--- a/s/.GIT/x\n+++ b/s/.GIT/x\n{hunk}"), "belongs to git"),
        (format!("--- a/GIT~1/x\n+++ b/GIT~1/x\n{hunk}"), "belongs to git"),
        (format!("--- a/../x\n+++ b/../x\n{hunk}"), "no path below"),
        (format!("--- a//etc/x\n+++ b//etc/x\n{hunk}"), "no path below"),
        (format!("diff --git i/x w/x\n--- i/x\n+++ w/x\n{hunk}"), "other folders in front"),
        (
            "diff --git i/n w/n\nnew file mode 100644\n--- /dev/null\n+++ w/n\n@@ -0,0 +1 @@\n+a\n"
                .to_owned(),
            "is not clear",
        ),
        (
            "diff --git a/n b/n\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\n".to_owned(),
            "new file mode",
        ),
        (
            "diff --git a/x b/x\ndeleted file mode 100644\nindex 1234567..0000000\n".to_owned(),
            "are not shown",
        ),
        (
            "--- x\t2020-01-01 00:00\n+++ x\t1970-01-01 00:00:00\n@@ -1 +0,0 @@\n-a\n".to_owned(),
            "by its date",
        ),
    ] {
        let found = shown(&text, &[]);
        assert!(found.starts_with("error ") && found.contains(why), "{text}\n{found}");
    }
    let empty = "diff --git a/x b/x\ndeleted file mode 100644\nindex e69de29..0000000\n";
    assert_eq!(shown(empty, &[]), "delete x: \n");
}
