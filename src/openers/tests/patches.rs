//! `*** Begin Patch`.

use super::*;

#[test]
fn places_of_a_patch_become_patches_of_the_files() {
    let patch = "*** Begin Patch
*** Add File: new.txt
+one
+
*** Update File: src/a.rs
*** Move to: src/b.rs
@@
 fn of() {
-    old
+    new
 }
@@
-last
+later
*** End of File
*** Delete File: gone
*** End Patch
";
    let files = [("src/a.rs", "fn of() {\n    old\n}\nlast\n"), ("gone", "x\n")];
    assert_eq!(
        shown(patch, &files),
        "create new.txt: one\n\
         patch src/a.rs: @@ -1,4 +1,4 @@\n fn of() {\n-    old\n+    new\n }\n-last\n+later\n\
         rename src/a.rs: src/b.rs\n\
         delete gone: \n"
    );
    let opened = open(patch.as_bytes(), &Memory::of(&files)).unwrap();
    let plan: Value = serde_json::from_slice(&opened.plan.unwrap()).unwrap();
    let expected = &plan["actions"][0]["request"]["expected_hashes"];
    assert_eq!(
        expected,
        &json!({"src/a.rs": Digest::of(files[0].1.as_bytes()), "gone": Digest::of(b"x\n")})
    );
}

/// A file with three functions of the same body.
const THREE: &str = "fn a() {\n    x\n}\nfn b() {\n    x\n}\nfn c() {\n    x\n}\n";

#[track_caller]
fn update(file: &str, lines: &str) -> String {
    shown(&format!("*** Begin Patch\n*** Update File: f\n{lines}*** End Patch\n"), &[("f", file)])
}

#[test]
fn places_are_found_as_they_are_said() {
    for (file, lines, expected) in [
        // Behind a line of the file.
        (
            THREE,
            "@@ fn b() {\n-    x\n+    y\n",
            "patch f: @@ -2,7 +2,7 @@\n     x\n }\n fn b() {\n-    x\n+    y\n }\n fn c() {\n     x\nwarning 3: these lines are \
             there 2 times behind \"fn b() {\": the first are meant, at line 5\n",
        ),
        (
            THREE,
            "@@ fn c() {\n-    x\n+    y\n",
            "patch f: @@ -5,5 +5,5 @@\n     x\n }\n fn c() {\n-    x\n+    y\n }\n",
        ),
        // At the end.
        (
            THREE,
            "@@\n-    x\n-}\n*** End of File\n",
            "patch f: @@ -5,5 +5,3 @@\n     x\n }\n fn c() {\n-    x\n-}\n",
        ),
        ("a\n", "+b\n", "patch f: @@ -1 +1,2 @@\n a\n+b\n"),
        // The second one behind the first one.
        (
            "x\na\nx\nb\n",
            "@@\n-a\n+c\n@@\n-x\n+y\n",
            "patch f: @@ -1,4 +1,4 @@\n x\n-a\n-x\n+c\n+y\n b\n",
        ),
        // A last line without a line break gets one, as from the original.
        ("a", "-a\n+b\n", "patch f: @@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n"),
    ] {
        assert_eq!(update(file, lines), expected, "{lines}");
    }
}

#[test]
fn what_the_original_would_guess_is_an_error() {
    for (file, lines, expected) in [
        (
            THREE,
            "@@\n-    x\n+    y\n",
            "error 3: these lines are there 3 times, at the lines 2, 5, 8",
        ),
        (THREE, "@@ fn d() {\n-    x\n+    y\n", "error 3: the file has no line"),
        (THREE, "@@ }\n-    x\n+    y\n", "error 3: the file has the line \"}\" 3 times"),
        (THREE, "@@ fn b() {\n+    y\n", "error 3: lines are added, but it is not said between"),
        (
            THREE,
            "@@\n-fn a() {\n+fn A() {\n@@ fn a() {\n-    x\n",
            "error 6: the line \"fn a() {\" stands only above",
        ),
        (
            "a\nb\n",
            "@@\n-b\n+c\n@@\n-a\n+d\n",
            "error 6: these lines stand only above the place before",
        ),
        (
            "\ta\n",
            "@@\n- a\n+b\n",
            "error 3: the file has these lines only with other spaces or line ends, at line 1",
        ),
        ("a\r\n", "@@\n-a\n+b\n", "error 3: lines of the file end with CR and LF"),
        ("a\r\n", "@@\n-a\n", "error 3: the file has these lines only with other spaces"),
        ("a\n", "@@\n-b\n", "error 3: the file does not have these lines"),
        ("a\nb\n", "@@\n-a\n*** End of File\n", "error 3: the file does not end with these lines"),
        ("a\n", "@@ -1,2 +1,2 @@\n-a\n", "error 3: behind `@@` stands a line of the file"),
        ("a\n", "@@\n a\n", "error 3: nothing is changed"),
        ("a\n", "@@\n", "error 3: a place without lines"),
        ("a\n", "@@\n-a\nb\n", "error 5: a line of a place begins with"),
        ("a\n", "", "error 2: nothing of the file is changed"),
    ] {
        let found = update(file, lines);
        assert!(found.starts_with(expected), "{lines}\n{found}");
    }
}

#[test]
fn files_of_a_patch_must_be_there_or_not() {
    for (patch, expected) in [
        ("*** Add File: a\n+x\n", "error 2: a is there already"),
        ("*** Delete File: b\n", "error 2: b is not in the workspace"),
        ("*** Update File: b\n-x\n", "error 2: b is not in the workspace"),
        ("*** Update File: a\n*** Move to: c\n-x\n", "error 3: c is there already"),
        ("*** Update File: a\n-x\n*** Update File: a\n-y\n", "error 4: a is named before"),
        ("*** Update File: ./a\n-x\n", "error 2: \"./a\" is no plain path"),
        ("*** Update File: /etc/passwd\n-x\n", "error 2: /etc/passwd is outside"),
        ("*** Add File: d\nb\n", "error 3: each line of a new file begins with `+`"),
        ("*** Rename File: a\n", "error 2: \"*** Rename File: a\" is no part of a patch"),
        ("", "error 1: it changes no file"),
    ] {
        let text = format!("*** Begin Patch\n{patch}*** End Patch\n");
        let found = shown(&text, &[("a", "x\ny\n"), ("c", "")]);
        assert!(found.starts_with(expected), "{patch}\n{found}");
    }
    for (text, expected) in [
        ("*** Begin Patch\n*** Delete File: a\n", "error 2: a patch ends with"),
        (
            "*** Begin Patch\n*** Delete File: a\n*** End Patch\nwords\n",
            "error 4: there is text behind",
        ),
        (
            "words\n*** Begin Patch\n*** Delete File: a\n*** End Patch\n",
            "error 1: a patch begins with",
        ),
    ] {
        let found = shown(text, &[("a", "")]);
        assert!(found.starts_with(expected), "{text}\n{found}");
    }
    // Spaces around marks are no part of them.
    let padded = "  *** Begin Patch \n *** Delete File: a \n*** End Patch  \n";
    assert_eq!(shown(padded, &[("a", "")]), "delete a: \n");
}
