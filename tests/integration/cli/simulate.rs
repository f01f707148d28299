//! `simulate`: the effects of all steps of a plan together, computed on a copy (SPEC §2, §11).

use std::fs;

use serde_json::{Value, json};

use crate::harness::home::{Home, keys};
use crate::harness::tree;
use crate::harness::{create_file, read_file, write_file};

fn patch(id: &str, file: &str, symbol: &str, with: &str) -> Value {
    let arguments = json!({"file": file, "symbol": symbol, "with": with});
    json!({"step_id": id, "tool": "splice_patch", "arguments": arguments})
}

#[test]
fn simulation_shows_steps_and_total_difference() {
    let home = Home::new();
    home.write("a.rs", "fn one() {}\n\nfn two() {}\n");
    home.write("b.txt", "kept\n");
    home.plan(json!([
        read_file("look", "b.txt"),
        create_file("new", "one.rs", "fn one() {\n    1;\n}\n"),
        patch("first", "a.rs", "one", "one.rs"),
        patch("again", "a.rs", "two", "one.rs"),
        write_file("same", "b.txt", "kept\n"),
    ]));
    let before = tree(&home.file(""));
    let document = home.json(["simulate", "space/p.json"]).exits(0).document();
    assert_eq!(keys(&document), ["diff", "digest", "findings", "plan_id", "steps"]);
    assert_eq!(document["plan_id"], "p");
    let steps = document["steps"].as_array().unwrap();
    for (step, (id, tool, part)) in steps.iter().zip([
        ("look", "file_read", "Reads b.txt (5 bytes)."),
        ("new", "file_create", "Creates one.rs with 3 lines."),
        ("first", "splice_patch", "one is found once: a function, line 1, bytes 0 to 11."),
        ("again", "splice_patch", "The replacement defines one, not two."),
        ("same", "file_write", "This step changes nothing"),
    ]) {
        assert_eq!(keys(step), ["note", "predicted", "step_id", "tool"]);
        assert_eq!((&step["step_id"], &step["tool"]), (&json!(id), &json!(tool)));
        assert_eq!(step["predicted"], "exact");
        assert!(step["note"].as_str().unwrap().contains(part), "{step:#}");
    }
    assert_eq!(
        document["diff"],
        "--- a/a.rs\n+++ b/a.rs\n@@ -1,3 +1,7 @@\n-fn one() {}\n+fn one() {\n+    1;\n+}\n \n\
         -fn two() {}\n+fn one() {\n+    1;\n+}\n\
         --- /dev/null\n+++ b/one.rs\n@@ -0,0 +1,3 @@\n+fn one() {\n+    1;\n+}\n",
        "what earlier steps leave is the ground of later ones"
    );
    assert_eq!(tree(&home.file("")), before, "nothing was done");
    assert!(!home.evidence().exists(), "and nothing recorded");
}

#[test]
fn simulated_difference_equals_the_run() {
    let home = Home::new();
    home.write("a.rs", "fn one() {}\n");
    home.write("one.rs", "fn one() {\n    2;\n}\n");
    home.plan(json!([patch("first", "a.rs", "one", "one.rs"), write_file("more", "c.txt", "x")]));
    let document = home.json(["simulate", "space/p.json"]).exits(0).document();
    home.write("before.rs", fs::read(home.file("a.rs")).unwrap());
    home.json(["run", "space/p.json", "--yes"]).exits(0);
    let after = fs::read_to_string(home.file("a.rs")).unwrap();
    assert_eq!(after, "fn one() {\n    2;\n}\n");
    let added: Vec<&str> = document["diff"]
        .as_str()
        .unwrap()
        .lines()
        .filter_map(|line| line.strip_prefix('+').filter(|rest| !rest.starts_with("++")))
        .collect();
    assert_eq!(added, ["fn one() {", "    2;", "}", "x"]);
}

#[test]
fn steps_after_a_failure_are_not_reached() {
    let home = Home::new();
    home.write("a.rs", "fn one() {}\n");
    home.plan(json!([patch("absent", "a.rs", "two", "a.rs"), write_file("never", "b.txt", "x"),]));
    let document = home.json(["simulate", "space/p.json"]).exits(0).document();
    let note = |index: usize| document["steps"][index]["note"].as_str().unwrap().to_owned();
    assert!(note(0).starts_with("Would fail: a.rs: no definition of two"), "{}", note(0));
    assert_eq!(note(1), "Not reached: step 1 would end the run.");
    assert_eq!(document["steps"][1]["predicted"], "unpredictable");
    assert_eq!(document["diff"], "");
}

#[test]
fn faulty_plan_is_simulated_in_part() {
    let home = Home::new();
    home.plan(json!([write_file("out", "../out.txt", "x"), {"step_id": "b", "tool": "nothing"}]));
    let done = home.json(["simulate", "space/p.json"]).exits(2);
    let document = done.document();
    assert!(!document["findings"].as_array().unwrap().is_empty());
    assert_eq!(document["steps"].as_array().unwrap().len(), 2);
    assert!(!home.path().join("out.txt").exists());
    let document = home.json(["simulate", "space/absent.json"]).exits(2).document();
    assert!(document["digest"].is_null() && document["plan_id"].is_null());
}

#[test]
fn text_output_shows_hidden_characters() {
    let home = Home::new();
    home.plan(json!([create_file("new", "a.txt", "ab\u{202e}c\n")]));
    let done = home.run(["simulate", "space/p.json"]).exits(0);
    assert!(done.stdout.contains("+ab⟨U+202E⟩c"), "{done:#?}");
    assert!(!done.stdout.contains('\u{202e}'), "{done:#?}");
}

#[test]
fn preconditions_are_checked_after_earlier_steps() {
    let home = Home::new();
    home.write("a.rs", "fn one() {}\n");
    home.write("two.rs", "fn two() {}\n");
    let with = |mut step: Value, precondition: &str| {
        step["precondition"] = json!(precondition);
        step
    };
    home.plan(json!([
        with(create_file("new", "new/b.txt", "x\n"), "file does not exist"),
        with(write_file("again", "new/b.txt", "y\n"), "file exists"),
        with(write_file("beside", "new/c.txt", "z\n"), "parent exists"),
        with(patch("rename", "a.rs", "one", "two.rs"), "symbol exists"),
        with(patch("gone", "a.rs", "two", "two.rs"), "file contains symbol 'two'"),
        with(write_file("after", "d.txt", "x\n"), "gone succeeded"),
        // It existed before the first patch and is gone after it.
        with(patch("absent", "a.rs", "one", "two.rs"), "symbol exists"),
        with(write_file("never", "e.txt", "x\n"), "none"),
    ]));
    let document = home.json(["simulate", "space/p.json"]).exits(0).document();
    let note = |index: usize| document["steps"][index]["note"].as_str().unwrap().to_owned();
    for index in 0..6 {
        assert!(!note(index).starts_with("Would fail"), "{}", note(index));
    }
    assert!(note(6).starts_with("Would fail: "), "{}", note(6));
    assert!(note(6).contains("nothing in a.rs defines one"), "{}", note(6));
    assert_eq!(note(7), "Not reached: step 7 would end the run.");
    assert!(!document["diff"].as_str().unwrap().contains("e.txt"));
}

#[test]
fn cargo_checks_are_simulated_in_part() {
    let home = crate::harness::cargo_project::cargo_project();
    let step = patch("gated", "src/lib.rs", "old_function", "patches/fix.rs");
    home.plan(json!([step]));
    let document = home.json(["simulate", "space/p.json"]).exits(0).document();
    let step = &document["steps"][0];
    assert_eq!(step["predicted"], "partial", "{step:#}");
    let note = step["note"].as_str().unwrap();
    assert!(note.contains("cargo check runs once you approve"), "{note}");
}
