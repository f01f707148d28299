//! `convert`, and the commands that take such files as they are.

use crate::harness::home::Home;

const DIFF: &str =
    "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n";

#[test]
fn a_diff_is_printed_checked_and_run_as_the_same_plan() {
    let home = Home::new();
    home.write("a.txt", "one\n");
    home.write("x.patch", DIFF);
    let plan = home.run(["convert", "space/x.patch"]).exits(0);
    home.write("plan.json", &plan.stdout);
    assert_eq!(
        home.run(["convert", "space/plan.json"]).exits(0).stdout,
        plan.stdout,
        "a plan is unchanged"
    );
    let digest = |file: &str| {
        let document = home.json(["check", file]).exits(0).document();
        document["digest"].as_str().unwrap().to_owned()
    };
    assert_eq!(digest("space/x.patch"), digest("space/plan.json"));
    let document = home.json(["convert", "space/x.patch"]).exits(0).document();
    assert_eq!(
        (document["format"].as_str(), document["findings"].as_array().unwrap().len()),
        (Some("diff"), 0)
    );
    assert_eq!(document["plan"]["actions"][0]["request"]["edits"][0]["path"], "a.txt");
    let _ = home.run(["run", "space/x.patch", "--yes", "--confirm", "approve"]).exits(0);
    assert_eq!(std::fs::read_to_string(home.file("a.txt")).unwrap(), "two\n");
}

#[test]
fn what_cannot_be_a_plan_is_said_and_nothing_is_printed() {
    let home = Home::new();
    home.write("x.patch", DIFF.replace("---", "old mode 100644\nnew mode 100755\n---"));
    let refused = home.run(["convert", "space/x.patch"]).exits(2);
    assert_eq!(refused.stdout, "");
    assert!(
        refused.stderr.contains("2:1: error E014: a plan does not change the mode"),
        "{}",
        refused.stderr
    );
    let document = home.json(["convert", "space/x.patch"]).exits(2).document();
    assert_eq!(
        (&document["plan"], document["findings"][0]["line"].as_u64()),
        (&serde_json::Value::Null, Some(2))
    );
    let checked = home.run(["check", "space/x.patch"]).exits(2);
    assert!(checked.stdout.contains("does not change the mode"), "{}", checked.stdout);
    home.write("words", "only words\n");
    assert!(home.run(["convert", "space/words"]).exits(2).stderr.contains("E010"));
    assert!(home.run(["convert", "space/absent"]).exits(2).stderr.contains("cannot read"));
}
