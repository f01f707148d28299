//! `check` on valid and invalid plan files (SPEC §1.4, §11).

use std::fs;

use serde_json::{Value, json};

use crate::harness::home::{Home, keys};
use crate::harness::{asking, create_file, read_file};

/// The exit code and document of `check` for a plan file with this content.
fn check(contents: impl AsRef<[u8]>) -> (i32, Value) {
    let home = Home::new();
    home.write("p.json", contents);
    let done = home.json(["check", "space/p.json"]);
    let document = done.document();
    let mut fields = keys(&document);
    // Only a plan that was reviewed has choices, and only one that is valid may be known to fail.
    fields.retain(|field| !["choices", "would_fail"].contains(field));
    assert_eq!(fields, ["dialect", "digest", "findings", "plan", "risk", "valid"], "{document:#}");
    assert_eq!(document["valid"] == true, done.code == 0, "{done:#?}");
    (done.code, document)
}

fn codes(document: &Value) -> Vec<&str> {
    document["findings"].as_array().unwrap().iter().map(|it| it["code"].as_str().unwrap()).collect()
}

#[test]
fn valid_plan_is_described_in_full() {
    let home = Home::new();
    home.write("a.txt", "old\n");
    home.plan(json!([read_file("look", "a.txt"), asking(create_file("make", "b.txt", "new\n"))]));
    let document = home.json(["check", "space/p.json"]).exits(0).document();

    assert_eq!(document["valid"], true);
    assert_eq!(document["dialect"], "step_plan");
    assert_eq!(document["findings"], json!([]));
    let digest = document["digest"].as_str().unwrap();
    assert!(digest.starts_with("sha256:") && digest.len() == 71, "{digest}");
    assert_eq!(document["plan"]["plan_id"], "p");
    assert_eq!(document["plan"]["steps"][1]["step_id"], "make");
    assert_eq!(document["plan"]["steps"][1]["tool"], "file_create");
    assert_eq!(document["plan"]["steps"][1]["arguments"]["contents"], "new\n");
    assert_eq!(document["plan"]["steps"][1]["requires_confirmation"], true);
    assert_eq!(document["risk"]["worst"], "caution");
    let risks = document["risk"]["steps"].as_array().unwrap();
    assert_eq!(risks.len(), 2);
    assert_eq!(risks[0]["level"], "safe");
    assert_eq!(
        keys(&risks[0]),
        ["asks", "level", "reason", "rule", "span", "step_id", "step_index", "suggestion"]
    );
    assert!(risks[0]["asks"].is_null() && risks[1]["asks"].is_string());
    assert!(!home.file("b.txt").exists() && !home.evidence().exists(), "nothing was run");
}

#[test]
fn table_shows_the_digest() {
    let home = Home::new();
    home.plan(json!([create_file("make", "b\u{202e}.txt", "x")]));
    let done = home.run(["check", "space/p.json"]).exits(0);
    assert!(done.stdout.contains("Valid. `--authorize sha256:"), "{done:#?}");
    assert!(done.stdout.contains("b⟨U+202E⟩.txt"), "{done:#?}");
    assert!(!done.stdout.contains('\u{202e}'), "{done:#?}");
}

#[test]
fn each_finding_has_its_place() {
    let (code, document) = check(
        "{\"plan_id\": \"p\", \"intent\": \"MUTATE\",\n \"steps\": [\n  {\"tool\": \"file_reed\", \"arguments\": {}}]}",
    );
    assert_eq!(code, 2);
    let finding = &document["findings"][0];
    assert_eq!(finding["code"], "E201");
    assert_eq!(finding["severity"], "error");
    assert_eq!(finding["pointer"], "/steps/0/tool");
    assert_eq!((&finding["line"], &finding["column"]), (&json!(3), &json!(12)));
    assert!(finding["message"].as_str().unwrap().contains("file_read"));
    assert!(document["plan"].is_object(), "a faulty plan is shown all the same");
}

#[test]
fn outside_path_is_found_with_line() {
    let (code, document) = check(
        "{\"plan_id\": \"p\", \"intent\": \"MUTATE\", \"steps\": [\n{\"tool\": \"file_read\", \"arguments\":\n{\"path\": \"../secret\"}}]}",
    );
    assert_eq!(code, 2);
    assert_eq!(codes(&document), ["E204"]);
    assert_eq!(document["findings"][0]["pointer"], "/steps/0/arguments/path");
    assert_eq!(document["findings"][0]["line"], 3);
}

#[test]
fn bytes_that_are_no_plan_are_findings() {
    let mut nested = "[".repeat(40);
    nested.push_str(&"]".repeat(40));
    for (contents, code) in [
        (&b""[..], "E010"),
        (b"   \n", "E010"),
        (b"\xff\xfe{}", "E010"),
        (b"{\"plan_id\": \"p\", \"intent\": \"MUTATE\", \"steps\": [", "E010"),
        (b"not json", "E010"),
        (nested.as_bytes(), "E018"),
        (b"{\"plan_id\":\"p\",\"intent\":\"MUTATE\",\"plan_id\":\"q\",\"steps\":[{\"tool\":\"file_read\",\"arguments\":{\"path\":\"x\"}}]}", "E011"),
        (b"{\"plan_id\":\"p\",\"intent\":\"MUTATE\",\"stepz\":1,\"steps\":[{\"tool\":\"file_read\",\"arguments\":{\"path\":\"x\"}}]}", "E012"),
        (b"{\"plan_id\":\"p\",\"intent\":\"MUTATE\",\"steps\":[{\"tool\":\"file_read\",\"requires_confirmaton\":true,\"arguments\":{\"path\":\"x\"}}]}", "E012"),
        (b"{\"plan_id\":\"p\",\"intent\":\"MUTATE\",\"steps\":[]}", "E013"),
        (b"{}", "E019"),
    ] {
        let (exit, document) = check(contents);
        let what = String::from_utf8_lossy(contents);
        assert_eq!(exit, 2, "{what}");
        assert!(codes(&document).contains(&code), "{what}: {document:#}");
        assert!(document["digest"].is_string(), "{what}");
        assert!(document["findings"][0]["line"].as_u64().unwrap() >= 1, "{what}");
    }
}

#[test]
fn oversized_file_is_refused_without_digest() {
    let (exit, document) = check(vec![b' '; (16 << 20) + 1]);
    assert_eq!(exit, 2);
    assert_eq!(codes(&document), ["E018"]);
    assert!(document["digest"].is_null(), "it was not read as a whole");
    // A file of exactly the limit is read, and has other findings.
    assert_eq!(codes(&check(vec![b' '; 16 << 20]).1), ["E010"]);
}

#[test]
fn unreadable_file_is_finding_at_line_one() {
    let home = Home::new();
    for path in ["space/absent.json", "space", "space/p.json/x"] {
        let done = home.json(["check", path]).exits(2);
        let document = done.document();
        assert_eq!(document["valid"], false, "{path:?}");
        assert!(document["digest"].is_null() && document["plan"].is_null(), "{path:?}");
        assert_eq!(document["findings"].as_array().unwrap().len(), 1, "{path:?}");
        assert_eq!(document["findings"][0]["line"], 1, "{path:?}");
        assert_eq!(document["risk"], json!({"worst": null, "steps": []}), "{path:?}");
    }
}

#[test]
fn the_workspace_can_be_chosen_and_must_exist() {
    let home = Home::new();
    fs::create_dir_all(home.file("inner")).unwrap();
    let plan = home.plan(json!([read_file("look", "../space/p.json")]));
    let plan = plan.to_str().unwrap();
    home.json(["check", plan]).exits(0);
    home.json(["check", plan, "--workspace", "space/inner"]).exits(2);
    let absent = home.json(["check", plan, "--workspace", "nowhere"]).exits(5);
    assert_eq!(absent.error_code(), "E301");
}

#[test]
fn a_plan_of_the_greatest_length_is_checked() {
    let steps: Vec<Value> = (0..10_000).map(|n| read_file(&format!("s{n}"), "a.txt")).collect();
    let (exit, document) =
        check(json!({"plan_id": "p", "intent": "MUTATE", "steps": steps}).to_string());
    assert_eq!(exit, 0);
    assert_eq!(document["risk"]["steps"].as_array().unwrap().len(), 10_000);

    // The list of its files is longer than any width that can be padded to.
    let home = Home::new();
    home.plan(
        (0..10_000).map(|n| create_file(&format!("s{n}"), &format!("{n}.txt"), "x")).collect(),
    );
    let done = home.run(["check", "space/p.json"]).exits(0);
    assert!(done.stdout.contains(", 9999.txt\n"), "{:?}", done.stderr);
}

#[test]
fn a_step_that_would_fail_is_told() {
    let home = Home::new();
    home.write("a.txt", "x\n");
    let steps = |second: &str| {
        json!([read_file("one", "a.txt"), read_file("two", second), read_file("three", "a.txt")])
    };
    home.plan(steps("absent.txt"));
    let done = home.run(["check", "space/p.json"]).exits(0);
    let said = "Warning: Step 2 would fail as things are now: cannot read absent.txt";
    assert!(done.stdout.contains(said), "{done:#?}");
    assert!(done.stdout.contains("The step after it would not be reached."), "{done:#?}");
    let document = home.json(["check", "space/p.json"]).exits(0).document();
    assert_eq!(document["would_fail"]["step_index"], 1);
    assert_eq!(document["would_fail"]["step_id"], "two");
    assert!(document["would_fail"]["reason"].as_str().unwrap().contains("absent.txt"));

    home.plan(steps("a.txt"));
    let document = home.json(["check", "space/p.json"]).exits(0).document();
    assert!(document.get("would_fail").is_none(), "{document}");
    assert!(!home.run(["check", "space/p.json"]).exits(0).stdout.contains("would fail"));
}

/// What an earlier step of the plan makes is missing now, but not when the step begins.
#[test]
fn a_folder_that_an_earlier_step_makes_is_not_missing() {
    let home = Home::new();
    let with = |mut step: Value, precondition: &str| {
        step["precondition"] = json!(precondition);
        step
    };
    let list = |id: &str, root: &str| json!({ "step_id": id, "tool": "file_glob", "arguments": { "pattern": "*", "root": root } });
    home.plan(json!([
        with(list("early", "gen"), "root exists"),
        create_file("make", "gen/a/one.txt", "x\n"),
        with(list("later", "gen"), "root exists"),
        with(create_file("beside", "gen/a/two.txt", "x\n"), "parent exists"),
        with(list("other", "ge"), "root exists"),
    ]));
    let shown = home.run(["check", "space/p.json"]).exits(0).stdout;
    let line = |number: usize| {
        let start = format!("  {number}  ");
        shown.lines().find(|line| line.starts_with(&start)).unwrap_or_default()
    };
    let fails = |number: usize| line(number).contains("fails now");
    assert_eq!([1, 2, 3, 4, 5].map(fails), [true, false, false, false, true], "{shown}");
}
