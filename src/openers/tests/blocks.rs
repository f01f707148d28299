//! SEARCH/REPLACE.

use super::*;

#[test]
fn edit_blocks_are_patches() {
    let blocks = "Words.\n\nsrc/a.rs\n```rust\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n```\n\nMore words.\n\n```rust\n\
                  <<<<<<< SEARCH\ntwo\n=======\n>>>>>>> REPLACE\n```\n\nnew.rs\n```\n<<<<<<< SEARCH\n=======\nall\n>>>>>>> REPLACE\n```\n\
                  src/a.rs\n<<<<<<< SEARCH\nnew\n=======\nnewer\n>>>>>>> REPLACE\n";
    assert_eq!(
        shown(blocks, &[("src/a.rs", "one\nold\ntwo\nbold\n")]),
        "create new.rs: all\npatch src/a.rs: @@ -1,4 +1,3 @@\n one\n-old\n-two\n+newer\n bold\n\
         note 1: 2 lines around the blocks are not part of them, and of the plan\n"
    );
}

#[test]
fn blocks_that_are_not_clear_are_errors() {
    let block = |above: &str, old: &str, new: &str| {
        format!("{above}<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n")
    };
    for (text, line, why) in [
        (block("", "a\n", "b\n"), 1, "names its file"),
        // The line above is empty, and so no name.
        (block("f\n\n", "a\n", "b\n"), 3, "names its file"),
        (block("`f`\n", "a\n", "b\n"), 2, "is more than a path"),
        (block("f:\n```\n", "a\n", "b\n"), 3, "is more than a path"),
        (block("# f\n", "a\n", "b\n"), 2, "is more than a path"),
        (block("```f.rs\n", "a\n", "b\n"), 2, "a path behind the fence"),
        (block("f\n", "a\n", "a\n"), 2, "nothing is changed"),
        (block("f\n", "f\na\n", "b\n"), 2, "may be the name of the file"),
        (block("f\n", "a\n", "```\nb\n```\n"), 2, "may be the name of the file or a fence"),
        (block("f\n", "a\n", "b\n\n"), 2, "ends with an empty line"),
        (block("f\n", "", "b\n"), 2, "f is there already"),
        (block("f\n", "b\n", "c\n"), 2, "are there 2 times"),
        (block("f\n", "bb\n", "c\n"), 2, "does not have these lines"),
        (block("f\n", " a\n", "c\n"), 2, "only with other spaces"),
        (block("g\n", "a\n", "c\n"), 2, "g is not in the workspace"),
        ("f\n<<<<<<< SEARCH\na\n=======\nb\n".to_owned(), 2, "no line"),
        ("f\n<<<<<<< SEARCH\na\n<<<<<<< SEARCH\n".to_owned(), 4, "begins before"),
        (block("f\n", "a\n", "b\n=======\nc\n"), 2, "more than one line"),
    ] {
        let found = shown(&text, &[("f", "a\nb\nb\nabb\n")]);
        let expected = format!("error {line}: ");
        assert!(
            found.lines().any(|it| it.starts_with(&expected) && it.contains(why)),
            "{text}\n{found}"
        );
    }
}
